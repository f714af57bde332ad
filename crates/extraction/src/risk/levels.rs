//! How soon somebody must look (docs/risk.md): from the class, whether it is past, what else the document says, and who heard it.

use std::ops::Range;

use super::past::{is_past, says_past, stopped_long_ago};
use crate::dates::Direction;
use crate::scene::Scene;
use crate::{Experiencer, Risk, RiskClass, RiskLevel, Temporality};
use anamnesis_core::fact_date::FactDate;
use anamnesis_text::Span;

/// Bytes behind a passage in which its date may stand, on the same line.
const BEHIND: usize = 60;
/// The same before it.
const BEFORE: usize = 40;
/// Words of a sentence that says little but when.
const ALONE: usize = 5;

/// Gives findings their dates, their time and their levels.
pub(super) fn grade(scene: &Scene<'_>, found: &mut [Risk]) {
    for risk in found.iter_mut() {
        risk.at = date(scene, risk.span);
        let words = scene.reading.words_at(risk.span);
        let own = risk.denied && risk.experiencer == Experiencer::Patient && risk.class == RiskClass::SelfHarm;
        if own && stopped_long_ago(scene, &words) {
            (risk.denied, risk.temporality) = (false, Temporality::Historical);
        }
        if is_past(scene, risk, &words) {
            risk.temporality = Temporality::Historical;
        }
        if risk.experiencer == Experiencer::Family {
            risk.relation = relation(scene, &words);
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
        let words = scene.reading.words_at(risk.span);
        let (armed, over) = (is_armed(scene, &words), risk.at.is_some() || says_past(scene, &words));
        risk.level = level(risk, Beside { wishes, acts, more, armed, over });
    }
}

/// Takes away denials of one kind of abuse or self-harm where another is told of now: "hits her", "sexual violence: no".
pub(super) fn drop_contradicted(found: &mut Vec<Risk>) {
    let tells = |class: RiskClass| {
        found.iter().any(|risk| {
            risk.is_own()
                && risk.learned.is_none()
                && risk.temporality != Temporality::Historical
                && risk.class == class
        })
    };
    let told = [RiskClass::Abuse, RiskClass::SelfHarm].map(|class| (class, tells(class)));
    found.retain(|risk| {
        let own = risk.denied && risk.experiencer == Experiencer::Patient;
        !(own && told.contains(&(risk.class, true)))
    });
}

/// What the document says beside a finding.
#[derive(Clone, Copy)]
struct Beside {
    wishes: bool,
    acts: bool,
    more: bool,
    armed: bool,
    /// The passage itself says that it is over.
    over: bool,
}

fn level(risk: &Risk, beside: Beside) -> RiskLevel {
    if risk.denied {
        return RiskLevel::None;
    }
    // Nobody is called for another's past, for the patient's own, or for what the ear alone heard.
    let past = risk.temporality == Temporality::Historical;
    if risk.learned.is_some() || risk.experiencer != Experiencer::Patient || past && beside.over {
        return RiskLevel::Low;
    }
    if past {
        // An attempt without a day may be today's.
        return if risk.class == RiskClass::AttemptHistory { RiskLevel::Medium } else { RiskLevel::Low };
    }
    let high = match risk.class {
        RiskClass::PlanOrMeans => beside.wishes,
        RiskClass::ActiveIdeation => beside.acts,
        RiskClass::AttemptHistory => true,
        RiskClass::HarmToOthers | RiskClass::Abuse => beside.armed,
        RiskClass::SelfHarm => false,
        RiskClass::PassiveIdeation => return if beside.more { RiskLevel::Medium } else { RiskLevel::Low },
    };
    if high { RiskLevel::High } else { RiskLevel::Medium }
}

/// The date that a passage says, or that stands right behind or before it on its line, or alone in the sentence beside it.
fn date(scene: &Scene<'_>, passage: Span) -> Option<FactDate> {
    let today = scene.input.today?;
    let dated = scene.input.dates.iter().filter_map(|mention| {
        let nearness = nearness(scene, passage, mention.span)?;
        let date = mention.said.resolve(today, Direction::Back).filter(|date| date.day <= today)?;
        Some((nearness, date))
    });
    dated.min_by_key(|(nearness, _)| *nearness).map(|(_, date)| date)
}

/// How near a date stands to a passage, 0 within it; `None` where it dates something else.
fn nearness(scene: &Scene<'_>, passage: Span, span: Span) -> Option<usize> {
    if passage.overlaps(&span) {
        return Some(0);
    }
    let ends = ['\n', '.', ';', '?', '!'];
    let between = |from: usize, to: usize| scene.text().get(from..to).unwrap_or("\n");
    if span.start >= passage.end {
        let gap = between(passage.end, span.start);
        if gap.len() <= BEHIND && !gap.contains(ends) {
            return Some(1);
        }
    } else {
        // "On 15/1 denies intent", "On Sunday, she …": what a comma parts further on is another statement.
        let gap = between(span.end, passage.start);
        if gap.len() <= BEFORE && !gap.contains(ends) && !gap.trim_start_matches([']', ',']).contains([',', '(', ':']) {
            return Some(2);
        }
    }
    stands_alone_beside(scene, passage, span).then_some(3)
}

/// "El jueves pasado. Me subí a la azotea.": a sentence beside the passage, of the same speaker, that says little but when.
fn stands_alone_beside(scene: &Scene<'_>, passage: Span, span: Span) -> bool {
    let reading = scene.reading;
    let words = reading.words_at(passage);
    let (first, last) = (reading.sentence_of(words.start), reading.sentence_of(words.end.saturating_sub(1)));
    let here = reading.sentence_of(reading.words_at(span).start);
    if here + 1 != first && here != last + 1 {
        return false;
    }
    let (own, beside) = (&reading.sentences[first.min(last)], &reading.sentences[here]);
    let line = passage.start.min(span.start)..passage.end.max(span.end);
    let same_line = own.turn.is_some() && own.turn == beside.turn
        || own.turn.is_none() && scene.text().get(line).is_some_and(|text| !text.contains('\n'));
    let spoken = beside.words.clone().filter(|word| !reading.words[*word].punctuation).count();
    same_line && own.speaker == beside.speaker && spoken <= ALONE
}

/// A weapon, a poison or fire in a threat.
fn is_armed(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| {
        matches!(
            scene.reading.word(word),
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
fn relation(scene: &Scene<'_>, words: &Range<usize>) -> Option<&'static str> {
    words.clone().find_map(|word| {
        let word = scene.reading.word(word);
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
