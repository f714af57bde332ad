//! The surroundings of a finding as features: the speaker, its attributes, the words of its clause, and other findings
//! of the document.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use crate::Entity;
use crate::analysis::AnalyzedDocument;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_text::Speaker;

pub(super) const WORDS: &str = include_str!("words.tsv");

/// Classes of words by word; a word may be of several.
static CLASSES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut classes: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in WORDS.lines().filter(|line| !line.starts_with('#')) {
        let Some((class, words)) = line.split_once('\t') else { continue };
        words.split(' ').for_each(|word| classes.entry(word).or_default().push(class));
    }
    classes
});

/// The marks of each finding, in the order of the findings.
pub(super) fn features_by_finding(doc: &AnalyzedDocument<'_>, entities: &[Entity]) -> Vec<Vec<String>> {
    let mut in_clause: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for entity in entities {
        *in_clause.entry((entity.evidence.start, entity.evidence.end)).or_default() += 1;
    }
    let of_finding = |entity: &Entity| {
        let neighbours = in_clause.get(&(entity.evidence.start, entity.evidence.end)).copied().unwrap_or(1);
        let alike = || entities.iter().filter(|other| other.kind == entity.kind && other.value == entity.value);
        let mut marks = reading(doc, entity);
        marks.extend(clause(doc, entity));
        marks.push(format!("neighbours:{}", neighbours.min(5)));
        marks.push(format!("again:{}", alike().count().saturating_sub(1).min(2)));
        if alike().any(|other| other.context.negated != entity.context.negated) {
            marks.push("opposed:yes".to_owned());
        }
        marks
    };
    entities.iter().map(of_finding).collect()
}

/// Its attributes and its speaker.
fn reading(doc: &AnalyzedDocument<'_>, entity: &Entity) -> Vec<String> {
    let context = entity.context;
    let words = doc.reading.words_at(entity.span);
    let speaker = match doc.reading.sentences.get(doc.reading.sentence_of(words.start)).map(|it| it.speaker) {
        Some(Speaker::Patient) => "patient",
        Some(Speaker::Clinician) => "clinician",
        Some(Speaker::Family) => "family",
        Some(Speaker::Agent) => "agent",
        Some(Speaker::Unknown) | None => "unknown",
    };
    let regimen = match (&entity.dose, &entity.frequency) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "dose",
        (None, Some(_)) => "frequency",
        (None, None) => "none",
    };
    let surface = entity.span.slice(doc.text());
    let short = surface.len() <= 5 && surface.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let mut marks = vec![
        format!("speaker:{speaker}"),
        format!("type:{}", doc.input.document_type.map_or("none", DocumentType::code)),
        format!("status:{}", entity.status.as_deref().unwrap_or("none")),
        format!("person:{}", context.experiencer.code()),
        format!("time:{}", context.temporality.code()),
        format!("words:{}", words.len().min(4)),
        format!("value:{}", entity.value.split(' ').count().min(4)),
        format!("is:{}", entity.value),
    ];
    if let Some(section) = doc.section(words.start) {
        marks.push(format!("section:{}", section.code()));
    }
    for (mark, is) in [
        ("denied:yes", context.negated),
        ("uncertain:yes", context.uncertain),
        ("coded:yes", entity.code.is_some()),
        ("reaction:yes", entity.reaction.is_some()),
        ("dated:yes", entity.at.is_some()),
        ("abbreviation:yes", short),
    ] {
        if is {
            marks.push(mark.to_owned());
        }
    }
    if entity.kind == EntityType::Medication {
        marks.push(format!("regimen:{regimen}"));
    }
    marks
}

/// The words of its clause.
fn clause(doc: &AnalyzedDocument<'_>, entity: &Entity) -> Vec<String> {
    let own = entity.context.experiencer == Experiencer::Patient;
    let text = entity.evidence.slice(doc.text());
    let words = doc.reading.words_at(entity.evidence);
    let said = words.clone().filter(|word| !doc.reading.words[*word].punctuation).count();
    let length = match said {
        0..=3 => "note",
        4..=8 => "short",
        9..=16 => "middle",
        17..=30 => "long",
        _ => "passage",
    };
    let commas = text.matches(',').count().min(3);
    let mut marks = vec![format!("clause:{length}"), format!("commas:{commas}")];
    let mut classes: Vec<&str> =
        words.filter_map(|word| CLASSES.get(doc.reading.word(word))).flatten().copied().collect();
    classes.sort_unstable();
    classes.dedup();
    // A relative in a clause about a relative is no doubt.
    let of_patient = |class: &&str| own || *class != "kin";
    marks.extend(classes.iter().filter(|class| of_patient(class)).map(|class| format!("word:{class}")));
    for (mark, is) in [
        ("name:yes", own && text.contains("[PERSON")),
        ("question:yes", text.contains('?')),
        ("arrow:yes", ["→", "->", "="].iter().any(|sign| text.contains(sign))),
        ("box:yes", ["☐", "☑", "[ ]", "[x]", "[X]", "___"].iter().any(|sign| text.contains(sign))),
        ("bullet:yes", text.trim_start().starts_with(['-', '•', '*'])),
        ("quoted:yes", text.contains(['«', '"', '“'])),
    ] {
        if is {
            marks.push(mark.to_owned());
        }
    }
    marks
}
