//! Laboratory values, vital signs, scores and sizes of the body: a name, and the value that the same clause gives it.

mod amount;
mod number_words;
mod units;

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::analysis::AnalyzedDocument;
use super::lexicon::{Concept, ConceptMention, Lexicon, LexiconList};
use super::phrase_trie::TrieBuilder;
use super::structure::Section;
use super::substances::counts_drinks;
use super::{Entity, EntityType};
use amount::{AmountParser, MeasuredAmount};
use anamnesis_core::fact_date::{DatePrecision, FactDate};
use anamnesis_core::finding::{Experiencer, Temporality};
use anamnesis_core::measured::Measured;
use anamnesis_core::wording::{person, plain_words};
use anamnesis_text::{Span, Speaker};

pub(super) const FILE: &str = include_str!("../lexicon/measurements.tsv");

/// Words of a question that a bare value answers.
const LONGEST_QUESTION: usize = 10;
/// Bytes of a clause that are quoted before and looked at after a name.
const REACH: usize = 110;

const TEMPERATURE: Concept = Concept { group: "vital", name: "temperature", code: Some("30..110") };

/// Finds measurements; see the module.
pub(crate) struct MeasurementRules {
    lexicon: Lexicon,
}

/// Words that put a value on another day than that of the document.
const ELSEWHEN: &[&str] = &[
    "admission",
    "admitted",
    "arrival",
    "previous",
    "previously",
    "prior",
    "baseline",
    "initial",
    "last",
    "before",
    "was",
    "earlier",
    "ingreso",
    "ingresar",
    "llegada",
    "previo",
    "previa",
    "anterior",
    "basal",
    "inicial",
    "ultimo",
    "ultima",
    "antes",
    "era",
];
/// Words before a value in which those are looked for.
const LOOKED_BACK: usize = 8;

/// A value that the document gives without a day was measured on the day of the document.
pub(super) fn date_undated_values(doc: &AnalyzedDocument<'_>, today: NaiveDate, entities: &mut [Entity]) {
    for entity in entities.iter_mut().filter(|entity| entity.kind == EntityType::Measurement && entity.at.is_none()) {
        let words = doc.reading.words_at(entity.span);
        let near = words.start.saturating_sub(LOOKED_BACK)..words.end;
        let own =
            entity.context.experiencer == Experiencer::Patient && entity.context.temporality == Temporality::Recent;
        if own && !near.clone().any(|word| ELSEWHEN.contains(&doc.reading.word(word))) {
            entity.at = Some(FactDate::new(today, DatePrecision::Day));
        }
    }
}

/// A name with its value.
pub(crate) struct NamedAmount {
    mention: ConceptMention,
    amount: MeasuredAmount,
    /// Of the name and the value together.
    span: Span,
}

impl MeasurementRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self { lexicon: Lexicon::load(trie, LexiconList::Measurements) }
    }

    /// The measurements of a document, each value once.
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
        let mut known: BTreeSet<(String, String, Option<&'static str>)> = BTreeSet::new();
        for (index, _) in doc.sentences() {
            let readings = self.readings(doc, index);
            let among_labs = readings.iter().filter(|r| kind(&r.mention) == "lab").count();
            for reading in &readings {
                let labs = doc.section(reading.mention.words.start) == Some(Section::Labs);
                let company = among_labs > usize::from(kind(&reading.mention) == "lab");
                if !is_measured(doc, reading, labs || company) {
                    continue;
                }
                let Some(entity) = entity(doc, index, reading) else { continue };
                let value = entity.measured.as_ref().map(Measured::said).unwrap_or_default();
                if known.insert((entity.value.clone(), value, Some(entity.context.experiencer.code()))) {
                    out.push(entity);
                }
            }
        }
    }

    /// All names of a sentence that have a value. A value belongs to one name.
    fn readings(&self, doc: &AnalyzedDocument<'_>, index: usize) -> Vec<NamedAmount> {
        let (sentence, words) = (doc.reading.sentences[index].span, doc.reading.sentences[index].words.clone());
        let answer = answer_to(doc, index).map(|at| doc.reading.sentences[at].span);
        let reading = doc.reading;
        let mentions = self.lexicon.find(reading, words);
        let starts: Vec<usize> = mentions.iter().map(|m| reading.source(&m.words).start).collect();
        let mut out: Vec<NamedAmount> = Vec::new();
        for (at, mut mention) in mentions.into_iter().enumerate() {
            let name = reading.source(&mention.words);
            // The raised a of "Tª" folds into the letters of the blood pressure.
            if matches!(name.slice(doc.text()), "Tª" | "Tº" | "T°") {
                mention.concept = TEMPERATURE;
            }
            let end = starts.get(at + 1).copied().unwrap_or(sentence.end).min(sentence.end);
            let end = doc.text().floor_char_boundary(end.min(name.end + REACH)).max(name.end);
            let from = out.last().map_or(sentence.start, |before| before.span.end).min(name.start);
            let reader =
                AmountParser { text: doc.text(), language: doc.input.document.language, dates: doc.input.dates };
            let group = mention.concept.group;
            let amount = reader
                .after(Span::new(name.end, end), group, mention.concept.name)
                .or_else(|| reader.before(Span::new(from, name.start), group, mention.concept.name));
            let last = at + 1 == starts.len();
            let amount = amount
                .or_else(|| answer.filter(|_| last).and_then(|place| reader.after(place, group, mention.concept.name)));
            let Some(amount) = amount.filter(|amount| units::fits(&mention.concept, amount)) else { continue };
            let span = Span::new(name.start.min(amount.span.start), name.end.max(amount.span.end));
            out.push(NamedAmount { mention, amount, span });
        }
        out
    }
}

/// The sentence that answers a short question of a dialogue: "BP? – 96 over 58."
fn answer_to(doc: &AnalyzedDocument<'_>, index: usize) -> Option<usize> {
    let (asked, given) = (&doc.reading.sentences[index], doc.reading.sentences.get(index + 1)?);
    let short = asked.words.len() <= LONGEST_QUESTION;
    (doc.is_dialogue() && short && asked.turn != given.turn && given.speaker != Speaker::Agent).then_some(index + 1)
}

/// The kind of a name without the mark of a short one.
fn kind(mention: &ConceptMention) -> &'static str {
    mention.concept.group.trim_end_matches("-short")
}

/// Whether the value is a measurement: no target, no condition, no dose. `company`: other laboratory values surround
/// it.
fn is_measured(doc: &AnalyzedDocument<'_>, reading: &NamedAmount, company: bool) -> bool {
    let text = doc.text();
    let name = doc.reading.source(&reading.mention.words);
    let short = reading.mention.concept.group.ends_with("-short");
    let raw = name.slice(text);
    if short
        && !(raw.starts_with(|c: char| !c.is_lowercase()) && reading.amount.is_close && !follows_number(text, name))
    {
        return false;
    }
    // "Vitamin D was forty-one": an amount that is taken "is" not.
    let verb = || {
        let between = text.get(name.end..reading.amount.span.start).unwrap_or_default().to_lowercase();
        let words: Vec<&str> = between.split_whitespace().collect();
        words.iter().any(|word| {
            matches!(*word, "was" | "were" | "came" | "level" | "salio" | "salió" | "estaba" | "tenia" | "tenía")
        })
    };
    // "ETOH 2 beers/day" is a habit.
    let counted = doc.reading.words_at(reading.amount.span).end;
    if reading.mention.concept.name == "blood alcohol"
        && counted < doc.reading.words.len()
        && counts_drinks(doc.reading.word(counted))
    {
        return false;
    }
    if kind(&reading.mention) == "level" && !(company || units::is_concentration(&reading.amount) || verb()) {
        return false;
    }
    !units::is_wished_for(text, name.start.min(reading.amount.span.start))
}

/// "20 mg", "4 hr": the letters are a unit of the number before them.
fn follows_number(text: &str, name: Span) -> bool {
    let unit = matches!(name.slice(text).to_lowercase().as_str(), "mg" | "hr" | "k" | "m");
    unit && text[..name.start].trim_end_matches(' ').ends_with(|c: char| c.is_ascii_digit()) && name.slice(text) != "K"
}

fn entity(doc: &AnalyzedDocument<'_>, sentence: usize, reading: &NamedAmount) -> Option<Entity> {
    let answer = answer_to(doc, sentence).filter(|at| doc.reading.sentences[*at].span.contains(&reading.amount.span));
    let mut assertion = match answer {
        Some(answer) => doc.answered(sentence, answer, &reading.mention.words),
        None => doc.assertion(sentence, &reading.mention.words)?,
    };
    let words = doc.reading.words_at(reading.span);
    let place = doc.reading.sentences[sentence].span;
    // A measured value exists: a denial or a doubt of the same sentence concerns other things.
    assertion.context.negated = false;
    assertion.context.uncertain = false;
    let quote = clause(doc.text(), place, reading.span).slice(doc.text());
    if assertion.context.experiencer != Experiencer::Patient
        && !plain_words(quote).iter().any(|word| person(&word.folded).is_some())
    {
        assertion.context.experiencer = Experiencer::Patient;
    }
    assertion.context.temporality = Temporality::Recent;
    assertion.evidence = clause(doc.text(), place, reading.span);
    assertion.confidence = if reading.mention.concept.group.ends_with("-short") { 0.8 } else { 0.9 };
    let mut entity =
        doc.entity(EntityType::Measurement, &words, reading.mention.concept.name.to_owned(), &assertion)?;
    entity.measured = Some(reading.amount.measured.clone());
    Some(entity)
}

/// The quoted words: around a value up to the next sign that ends a clause.
pub(super) fn clause(text: &str, sentence: Span, found: Span) -> Span {
    let from = text.ceil_char_boundary(found.start.saturating_sub(REACH / 2)).max(sentence.start);
    let before = &text[from..found.start];
    let start = before.rfind([',', ';', '\n', '|']).map_or_else(
        || if from == sentence.start { from } else { from + before.find(' ').map_or(0, |at| at + 1) },
        |at| from + at + 1,
    );
    let start = start + (text[start..found.start].len() - text[start..found.start].trim_start().len());
    Span::new(start.min(found.start), found.end)
}
