//! How soon a person must look (docs/risk.md): from the class, whether it is past, what else the document says, and what found it.

use std::ops::Range;

use super::temporality::{is_past, says_past, stopped_long_ago};
use crate::analysis::AnalyzedDocument;
use crate::dates::DateDirection;
use crate::{Experiencer, Risk, RiskClass, RiskLevel, Temporality};
use anamnesis_core::fact_date::FactDate;
use anamnesis_text::Span;

/// Bytes after a passage in which its date may come, on the same line.
const AFTER: usize = 60;
/// The same before it.
const BEFORE: usize = 40;
/// Words of a sentence that says little but when.
const ALONE: usize = 5;

/// Gives findings their dates, their time and their levels.
pub(super) fn grade(doc: &AnalyzedDocument<'_>, found: &mut [Risk]) {
    for risk in found.iter_mut() {
        risk.at = date(doc, risk.span);
        let words = doc.reading.words_at(risk.span);
        let own = risk.denied && risk.experiencer == Experiencer::Patient && risk.class == RiskClass::SelfHarm;
        if own && stopped_long_ago(doc, &words) {
            (risk.denied, risk.temporality) = (false, Temporality::Historical);
        }
        if is_past(doc, risk, &words) {
            risk.temporality = Temporality::Historical;
        }
        if risk.experiencer == Experiencer::Family {
            risk.relation = relation(doc, &words);
        }
    }
    let current = |risk: &Risk, classes: &[RiskClass]| {
        risk.is_own()
            && risk.learned.is_none()
            && risk.temporality != Temporality::Historical
            && classes.contains(&risk.class)
    };
    use RiskClass::{ActiveIdeation, AttemptHistory, PassiveIdeation, PlanOrMeans, SelfHarm};
    let wishes = found.iter().any(|risk| current(risk, &[ActiveIdeation, PassiveIdeation, AttemptHistory]));
    let acts = found.iter().any(|risk| current(risk, &[PlanOrMeans, AttemptHistory]));
    let more = found.iter().any(|risk| current(risk, &[ActiveIdeation, PlanOrMeans, AttemptHistory, SelfHarm]));
    for risk in found.iter_mut() {
        let words = doc.reading.words_at(risk.span);
        let (armed, over) = (is_armed(doc, &words), risk.at.is_some() || says_past(doc, &words));
        risk.level = level(risk, NearbyEvidence { wishes, acts, more, armed, over });
    }
}

/// Removes denials of one kind of abuse or self-harm where another is present: "hits her", "sexual violence: no".
pub(super) fn drop_contradicted(found: &mut Vec<Risk>) {
    let tells = |class: RiskClass| {
        found.iter().any(|risk| {
            risk.is_own()
                && risk.learned.is_none()
                && risk.temporality != Temporality::Historical
                && risk.class == class
        })
    };
    let stated = [RiskClass::Abuse, RiskClass::SelfHarm].map(|class| (class, tells(class)));
    found.retain(|risk| {
        let own = risk.denied && risk.experiencer == Experiencer::Patient;
        !(own && stated.contains(&(risk.class, true)))
    });
}

/// Other facts of the document next to a finding.
#[derive(Clone, Copy)]
struct NearbyEvidence {
    wishes: bool,
    acts: bool,
    more: bool,
    armed: bool,
    /// The passage itself says that it is over.
    over: bool,
}

fn level(risk: &Risk, nearby: NearbyEvidence) -> RiskLevel {
    if risk.denied {
        return RiskLevel::None;
    }
    // No call for a risk of another person's past, for the patient's own past, or for a finding of the classifier
    // alone.
    let past = risk.temporality == Temporality::Historical;
    if risk.learned.is_some() || risk.experiencer != Experiencer::Patient || past && nearby.over {
        return RiskLevel::Low;
    }
    if past {
        // An attempt without a day may be today's.
        return if risk.class == RiskClass::AttemptHistory { RiskLevel::Medium } else { RiskLevel::Low };
    }
    let high = match risk.class {
        RiskClass::PlanOrMeans => nearby.wishes,
        RiskClass::ActiveIdeation => nearby.acts,
        RiskClass::AttemptHistory => true,
        RiskClass::HarmToOthers | RiskClass::Abuse => nearby.armed,
        RiskClass::SelfHarm => false,
        RiskClass::PassiveIdeation => return if nearby.more { RiskLevel::Medium } else { RiskLevel::Low },
    };
    if high { RiskLevel::High } else { RiskLevel::Medium }
}

/// The date within a passage, right after or before it on its line, or alone in the sentence next to it.
fn date(doc: &AnalyzedDocument<'_>, passage: Span) -> Option<FactDate> {
    let today = doc.input.today?;
    let dated = doc.input.dates.iter().filter_map(|mention| {
        let nearness = nearness(doc, passage, mention.span)?;
        let date = mention.said.resolve(today, DateDirection::Back).filter(|date| date.day <= today)?;
        Some((nearness, date))
    });
    dated.min_by_key(|(nearness, _)| *nearness).map(|(_, date)| date)
}

/// How near a date is to a passage, 0 within it; `None` where it dates something else.
fn nearness(doc: &AnalyzedDocument<'_>, passage: Span, span: Span) -> Option<usize> {
    if passage.overlaps(&span) {
        return Some(0);
    }
    let ends = ['\n', '.', ';', '?', '!'];
    let between = |from: usize, to: usize| doc.text().get(from..to).unwrap_or("\n");
    if span.start >= passage.end {
        let gap = between(passage.end, span.start);
        if gap.len() <= AFTER && !gap.contains(ends) {
            return Some(1);
        }
    } else {
        // "On 15/1 denies intent", "On Sunday, she …": a statement after a later comma is another one.
        let gap = between(span.end, passage.start);
        if gap.len() <= BEFORE && !gap.contains(ends) && !gap.trim_start_matches([']', ',']).contains([',', '(', ':']) {
            return Some(2);
        }
    }
    is_alone_in_passage(doc, passage, span).then_some(3)
}

/// "El jueves pasado. Me subí a la azotea.": a sentence next to the passage, of the same speaker, that says little but when.
fn is_alone_in_passage(doc: &AnalyzedDocument<'_>, passage: Span, span: Span) -> bool {
    let reading = doc.reading;
    let words = reading.words_at(passage);
    let (first, last) = (reading.sentence_of(words.start), reading.sentence_of(words.end.saturating_sub(1)));
    let here = reading.sentence_of(reading.words_at(span).start);
    if here + 1 != first && here != last + 1 {
        return false;
    }
    let (own, nearby) = (&reading.sentences[first.min(last)], &reading.sentences[here]);
    let line = passage.start.min(span.start)..passage.end.max(span.end);
    let same_line = own.turn.is_some() && own.turn == nearby.turn
        || own.turn.is_none() && doc.text().get(line).is_some_and(|text| !text.contains('\n'));
    let spoken = nearby.words.clone().filter(|word| !reading.words[*word].punctuation).count();
    same_line && own.speaker == nearby.speaker && spoken <= ALONE
}

/// A weapon, a poison or fire in a threat.
fn is_armed(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| {
        matches!(
            doc.reading.word(word),
            "knife"
                | "gun"
                | "pistol"
                | "rifle"
                | "shotgun"
                | "hammer"
                | "machete"
                | "bat"
                | "kill"
                | "stab"
                | "shoot"
                | "strangle"
                | "strangled"
                | "choked"
                | "cuchillo"
                | "pistola"
                | "escopeta"
                | "navaja"
                | "matar"
                | "matarlo"
                | "matarla"
                | "tiros"
                | "quemar"
                | "bala"
                | "arma"
                | "fierro"
                | "martillo"
                | "apunalar"
                | "acuchillar"
        )
    })
}

/// The relative that a passage names, in English.
fn relation(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> Option<&'static str> {
    words.clone().find_map(|word| {
        let word = doc.reading.word(word);
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "mother" | "mom" | "mum" | "mam" | "madre" | "mama" => "mother",
            "father" | "dad" | "padre" | "papa" => "father",
            "brother" | "hermano" | "hermanito" | "carnal" => "brother",
            "sister" | "hermana" | "hermanita" => "sister",
            "uncle" | "tio" => "uncle",
            "aunt" | "auntie" | "tia" => "aunt",
            "cousin" | "primo" | "prima" => "cousin",
            "son" | "hijo" => "son",
            "daughter" | "hija" => "daughter",
            "grandmother" | "grandma" | "nana" | "nan" | "abuela" => "grandmother",
            "grandfather" | "grandpa" | "abuelo" => "grandfather",
            "nephew" | "sobrino" => "nephew",
            "niece" | "sobrina" => "niece",
            "husband" | "marido" | "esposo" => "husband",
            "wife" | "esposa" => "wife",
            _ => return None,
        })
    })
}
