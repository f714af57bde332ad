//! How soon somebody must look (docs/risk.md): from the class, whether it is past, what else the document says, and who heard it.

use std::ops::Range;

use crate::domain::fact_date::FactDate;
use crate::extract::dates::Direction;
use crate::extract::scene::Scene;
use crate::extract::{Experiencer, Risk, RiskClass, RiskLevel, Temporality};
use crate::text::Span;

/// Days after which what happened is history.
const RECENT: i64 = 60;
/// Bytes behind a passage in which its date may stand, on the same line.
const BEHIND: usize = 60;

/// Gives findings their dates, their time and their levels.
pub(super) fn grade(scene: &Scene<'_>, found: &mut [Risk]) {
    for risk in found.iter_mut() {
        risk.at = date(scene, risk.span);
        let words = scene.reading.words_at(risk.span);
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
        let (armed, over) = (is_armed(scene, &words), risk.at.is_some() || says(scene, &words, PAST));
        risk.level = level(risk, Beside { wishes, acts, more, armed, over });
    }
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

/// The date that a passage says, or that stands right behind it on its line: the nearest to its end.
fn date(scene: &Scene<'_>, passage: Span) -> Option<FactDate> {
    let today = scene.input.today?;
    let reaches = |span: Span| {
        let between = scene.text().get(passage.end..span.start).unwrap_or("\n");
        passage.overlaps(&span)
            || (span.start >= passage.end && between.len() <= BEHIND && !between.contains(['\n', '.', ';', '?']))
    };
    let near = scene.input.dates.iter().filter(|mention| reaches(mention.span));
    let dated = near.filter_map(|mention| Some((mention.span, mention.said.resolve(today, Direction::Back)?)));
    dated.filter(|(_, date)| date.day <= today).max_by_key(|(span, _)| passage.overlaps(span)).map(|(_, date)| date)
}

fn is_past(scene: &Scene<'_>, risk: &Risk, words: &Range<usize>) -> bool {
    if let (Some(at), Some(today)) = (risk.at, scene.input.today) {
        return (today - at.day).num_days()
            > RECENT
                + match at.precision {
                    crate::domain::fact_date::DatePrecision::Year => 365,
                    _ => 31,
                };
    }
    // An attempt that is told without a day is one of the past, as far as its time goes; its level takes care (below).
    let now = says(scene, words, NOW);
    !now && (risk.class == RiskClass::AttemptHistory || says(scene, words, PAST))
}

fn says(scene: &Scene<'_>, words: &Range<usize>, list: &[&str]) -> bool {
    let held = |phrase: &&str| {
        let count = phrase.split(' ').count();
        words.clone().any(|word| {
            phrase.split(' ').enumerate().all(|(at, part)| scene.reading.word(word + at) == part)
                && word + count <= words.end
        })
    };
    list.iter().any(held)
}

const PAST: &[&str] = &[
    "used to",
    "years ago",
    "year ago",
    "as a child",
    "in childhood",
    "in school",
    "in college",
    "when i was",
    "when she was",
    "when he was",
    "previous",
    "previously",
    "prev",
    "prior",
    "past",
    "history",
    "hx",
    "hace anos",
    "de nina",
    "de nino",
    "previo",
    "previos",
    "anterior",
    "anteriores",
    "antecedente",
    "antecedentes",
    "cuando era",
    "antes",
    "ex",
    "no longer",
    "ya no",
    "infancia",
    "old",
    "antiguas",
    "antigua",
    "in yr",
    "in year",
    "at age",
    "aged",
];

const NOW: &[&str] = &[
    "today",
    "tonight",
    "last night",
    "this morning",
    "yesterday",
    "just now",
    "hoy",
    "anoche",
    "ayer",
    "esta manana",
    "esta noche",
    "ahora",
    "traido",
    "traida",
    "brought",
    "overnight",
    "fresh",
    "recent",
    "frescos",
    "frescas",
    "recientes",
    "reciente",
    "this week",
    "last week",
    "esta semana",
    "this afternoon",
    "intentional",
    "voluntaria",
    "this evening",
];

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
