//! Confidence at creation (seed 004), its decay, reinforcement and verification (seed 001, sections 5, 6, 8), with the
//! numbers of model.md, "Confidence". Confidences are 0.0–1.0.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::coded_enum::codes;
use super::ids::derive;
use super::memory::{Class, Kind};

/// A number that no rule can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConfidenceError {
    /// Not within 0.0–1.0 (or not a number).
    #[error("confidence is out of range")]
    Confidence,
    /// Not within 0–100 (or not a number).
    #[error("cognitive_state is out of range")]
    CognitiveState,
}

impl ConfidenceError {
    /// The name of the offending field, as the contract spells it.
    pub fn field(self) -> &'static str {
        match self {
            Self::Confidence => "confidence",
            Self::CognitiveState => "cognitive_state",
        }
    }
}

codes!(
    /// Where the first confidence came from; trends read `given` and `cognitive_state` only.
    ConfidenceBasis {
        Proxy = "proxy",
        Given = "given",
        CognitiveState = "cognitive_state",
        /// By consolidation or a model.
        Formed = "formed",
        Default = "default",
    }
);

codes!(
    /// Why a confidence changed: the `reason` of `confidence_history`.
    ConfidenceReason {
        Created = "created",
        Reinforced = "reinforced",
        Verified = "verified",
        Superseded = "superseded",
    }
);

/// The facts that are known when a memory is made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CreationFacts {
    pub is_proxy: bool,
    /// As the producer gave it. `None` is "not given"; 0.0 and 1.0 are values like others (seed 004's own code took 1.0
    /// for "not given").
    pub given: Option<f64>,
    /// The patient's, 0–100.
    pub cognitive_state: Option<f64>,
    /// Set when consolidation or a model formed it: the effective confidence of the weakest parent (1.0 without parents).
    pub formed_from: Option<f64>,
}

/// The first confidence of a memory, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InitialConfidence {
    pub confidence: f64,
    pub basis: ConfidenceBasis,
}

/// Highest initial confidence of a memory that consolidation forms: seed 001's default of `belief()`.
const FORMED: f64 = 0.8;

/// Confidence at creation (seed 004, "Decision"): proxy → 1.0; given → as given; formed → 0.8 or its weakest parent,
/// never the fallback; cognitive state / 100; else 1.0.
///
/// # Errors
/// When a number is outside its range or not a number.
pub fn initial(creation: &CreationFacts) -> Result<InitialConfidence, ConfidenceError> {
    let unit = |value: f64| if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(ConfidenceError::Confidence) };
    let given = creation.given.map(unit).transpose()?;
    let weakest = creation.formed_from.map(unit).transpose()?;
    let cognitive = match creation.cognitive_state {
        Some(state) if !(0.0..=100.0).contains(&state) => return Err(ConfidenceError::CognitiveState),
        other => other,
    };
    let (confidence, basis) = if creation.is_proxy {
        (1.0, ConfidenceBasis::Proxy)
    } else if let Some(given) = given {
        (given, ConfidenceBasis::Given)
    } else if let Some(weakest) = weakest {
        (weakest.min(FORMED), ConfidenceBasis::Formed)
    } else if let Some(state) = cognitive {
        (state / 100.0, ConfidenceBasis::CognitiveState)
    } else {
        (1.0, ConfidenceBasis::Default)
    };
    Ok(InitialConfidence { confidence, basis })
}

/// How one kind of memory fades: `rate` is lost per `period_days`, down to `floor`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecayRate {
    pub rate: f64,
    pub period_days: f64,
    pub floor: f64,
}

/// Rates by kind (seed 001, section 6). Policy, not law: `jobs/decay.toml` may say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DecayPolicy {
    pub episode: DecayRate,
    pub note: DecayRate,
    pub belief: DecayRate,
    pub value: DecayRate,
    pub goal: DecayRate,
    pub drive: DecayRate,
    pub relationship: DecayRate,
    /// Below it a memory is uncertain (seed 001, section 8).
    pub uncertain_below: f64,
}

impl Default for DecayPolicy {
    fn default() -> Self {
        let standard = DecayRate { rate: 0.01, period_days: 30.0, floor: 0.5 };
        Self {
            episode: standard,
            note: DecayRate { rate: 0.015, period_days: 30.0, floor: 0.4 },
            belief: standard,
            value: DecayRate { rate: 0.005, period_days: 60.0, floor: 0.7 },
            goal: standard,
            drive: DecayRate { rate: 0.005, period_days: 60.0, floor: 0.6 },
            relationship: standard,
            uncertain_below: 0.5,
        }
    }
}

impl DecayPolicy {
    /// Distinguishes one policy from another.
    pub fn fingerprint(&self) -> Uuid {
        let text = serde_json::to_vec(self).expect("a policy is JSON");
        derive("decay_policy", &[&text])
    }

    /// `None` for raw, which does not decay: it is never used for decisions.
    pub(crate) fn rate(&self, kind: Kind) -> Option<&DecayRate> {
        match kind {
            Kind::Raw => None,
            Kind::Episode => Some(&self.episode),
            Kind::Note => Some(&self.note),
            Kind::Belief => Some(&self.belief),
            Kind::Value => Some(&self.value),
            Kind::Goal => Some(&self.goal),
            Kind::Drive => Some(&self.drive),
            Kind::Relationship => Some(&self.relationship),
        }
    }
}

/// Whether time leaves the confidence alone: protected by a person, or a long-lived fact.
pub fn is_protected(flag: bool, class: Class) -> bool {
    flag || class == Class::LongLivedFact
}

/// Whole days since the decay clock was last reset: by verification or reinforcement, else at recording. Never negative.
pub fn age_days(recorded_at: DateTime<Utc>, last_verified: Option<DateTime<Utc>>, now: DateTime<Utc>) -> i64 {
    (now - last_verified.unwrap_or(recorded_at)).num_days().max(0)
}

/// Effective confidence (seed 001, section 6): a pure function of the stored row, computed on read. The floor never
/// raises a value, and a protected memory or one under a day old is as stored. `days` are cut to whole days.
pub fn effective(policy: &DecayPolicy, kind: Kind, stored: f64, days: f64, protected: bool) -> f64 {
    let days = days.floor();
    let Some(decay) = policy.rate(kind).filter(|_| !protected && days >= 1.0) else { return stored };
    let faded = stored - decay.rate * days / decay.period_days;
    settled(faded.max(decay.floor.min(stored)))
}

/// Uncertain below `threshold`, or at it when decay brought it there: with a floor equal to the threshold a strict
/// comparison could never fire (seed 001's own code).
pub fn uncertain(effective: f64, stored: f64, threshold: f64) -> bool {
    effective < threshold || (effective <= threshold && effective < stored)
}

/// Farther away than this is never: a hundred thousand years.
const NEVER_DAYS: u32 = 36_525_000;

/// Days after the last reset of its clock at which decay alone makes a memory uncertain, counted from 1 to 36,525,000. `None`
/// when that never happens: it does not decay, its floor lies above the threshold, or it was uncertain from the beginning.
pub fn days_until_uncertain(policy: &DecayPolicy, kind: Kind, stored: f64, protected: bool) -> Option<u32> {
    let decay = policy.rate(kind).filter(|decay| !protected && decay.rate > 0.0)?;
    let threshold = policy.uncertain_below;
    let is_uncertain = |days: u32| {
        let now = effective(policy, kind, stored, f64::from(days), protected);
        uncertain(now, stored, threshold)
    };
    if is_uncertain(0) {
        return None;
    }
    let estimate = ((stored - threshold) * decay.period_days / decay.rate).clamp(0.0, f64::from(u32::MAX / 2)) as u32;
    // The rule itself decides; the estimate only shows where to look.
    (estimate.saturating_sub(2).max(1)..=estimate + 2)
        .find(|days| is_uncertain(*days))
        .filter(|days| *days <= NEVER_DAYS)
}

/// The instant of [`days_until_uncertain`].
pub fn uncertain_at(
    policy: &DecayPolicy,
    kind: Kind,
    stored: f64,
    protected: bool,
    since: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let days = days_until_uncertain(policy, kind, stored, protected)?;
    since.checked_add_signed(TimeDelta::days(i64::from(days)))
}

/// No reinforcement lifts a confidence above this; only a person's verification does.
const REINFORCED_CEILING: f64 = 0.99;

/// One piece of evidence against it: the confidence after it, never below nought.
pub(crate) fn weakened(old: f64) -> f64 {
    settled((old - STEP / 1.1).max(0.0))
}

/// Gain of a reinforcement before it diminishes.
const STEP: f64 = 0.05;

/// One reinforcement (seed 001, section 5), diminishing: the confidence after the `n`-th, counted from 1. Never lowers.
pub fn reinforced(old: f64, n: u32) -> f64 {
    let boost = STEP / (1.0 + 0.1 * f64::from(n));
    old.max((old + boost).min(REINFORCED_CEILING))
}

/// One verification by a person (seed 001, section 8): +0.1, at most 1.
pub fn verified(old: f64) -> f64 {
    settled((old + 0.1).min(1.0))
}

/// Cuts the noise of binary fractions, so that a value on a boundary is on the same side of it on every machine.
fn settled(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

#[cfg(test)]
#[path = "confidence_tests.rs"]
mod tests;
