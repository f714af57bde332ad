//! How soon a person must look (docs/risk.md): from the class, whether it is past, what else the document says, and what found it.

use std::ops::Range;

use super::passage_dates;
use super::temporality::{is_past, says_past, stopped_long_ago};
use crate::analysis::AnalyzedDocument;
use crate::{Experiencer, Risk, RiskClass, RiskLevel, Temporality};

/// Gives findings their dates, their time and their levels.
pub(super) fn grade(doc: &AnalyzedDocument<'_>, found: &mut [Risk]) {
    for risk in found.iter_mut() {
        let dated = passage_dates::date(doc, risk);
        risk.at = dated.map(|dated| dated.date);
        let of_entry = dated.is_some_and(|dated| dated.of_entry);
        let words = doc.reading.words_at(risk.span);
        let own = risk.denied && risk.experiencer == Experiencer::Patient && risk.class == RiskClass::SelfHarm;
        if own && stopped_long_ago(doc, &words) {
            (risk.denied, risk.temporality) = (false, Temporality::Historical);
        }
        // What an attempt or a denial is dated from is over; anything else goes on since then.
        let lasts = risk.class != RiskClass::AttemptHistory && !risk.denied && !says_past(doc, &words);
        if !(lasts && dated.is_some_and(|dated| dated.goes_on)) && is_past(doc, risk, &words, of_entry) {
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
