//! One memory while the log is walked: opened by a finding, changed by later entries.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Assertion, HistoryChange, KeyHash, PersonAct, ProjectedMemory, ResumedHistory};
use crate::confidence::{reinforced, verified, weakened};
use crate::finding::{EntityType, Polarity};
use crate::ids::MemoryId;
use crate::lifecycle::{self, LifecyclePolicy, LifecycleTimes};
use crate::memory::{Class, SetBy, State};
use crate::provenance::Trust;
use crate::supersede::CurrentValue;

/// A memory in the making.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MemoryInterval {
    pub(crate) folded: ProjectedMemory,
    pub(crate) attribute: KeyHash,
    pub(crate) polarity: Polarity,
    pub(crate) entity: EntityType,
    pub(crate) class: Class,
    pub(crate) trust: Trust,
    pub(crate) blanket: bool,
    /// A claim that the fact is over, from a source that may not end it.
    pub(crate) ending: bool,
    /// A denial for all time up to then.
    pub(crate) never: bool,
    /// It was opened as history: the fact was over when it was stated.
    pub(crate) history: bool,
    /// When a person said so last.
    pub(crate) last_said: DateTime<Utc>,
    recorded_at: DateTime<Utc>,
    /// Its own end of life, as stated.
    asked_expiry: Option<DateTime<Utc>>,
    /// Sources that were counted: evidence reinforces once. A checkpoint knows those of before together.
    #[serde(skip)]
    evidence: Vec<Uuid>,
    /// Texts that were counted: another copy of one is no other evidence. Stored like the sources.
    #[serde(skip)]
    texts: Vec<KeyHash>,
    told: usize,
}

/// An affirmed allergy or intolerance that a person stated.
fn holds_an_allergy(a: &Assertion) -> bool {
    matches!(a.entity, EntityType::Allergy | EntityType::Intolerance)
        && a.polarity == Polarity::Affirmed
        && a.class != Class::Inference
}

/// Whether the statement's own end counts: of lasting facts only a medicine is taken until a day.
fn may_end(a: &Assertion) -> bool {
    a.class != Class::LongLivedFact || a.entity == EntityType::Medication
}

impl MemoryInterval {
    pub(crate) fn open(id: MemoryId, a: &Assertion, policy: &LifecyclePolicy) -> Self {
        let confirmed = matches!(a.class, Class::TimeBoundState | Class::LongLivedFact | Class::HealthSignal);
        let created = HistoryChange {
            at: a.asserted_at,
            action: "created",
            old: None,
            new: Some(a.initial_confidence),
            cause: Some(a.id.0),
        };
        let folded = ProjectedMemory {
            id,
            opened_by: a.id,
            told_by: a.id,
            sources: vec![a.id],
            details: a.details.clone(),
            state: State::Active,
            state_at: a.asserted_at,
            contested: false,
            ungrounded: !a.live,
            set_by: a.set_by,
            confidence: a.initial_confidence,
            times_reinforced: 0,
            verification_count: 0,
            last_verified: None,
            is_protected: a.class == Class::LongLivedFact,
            cycle: 0,
            valid_from: a.valid_from,
            valid_to: None,
            last_confirmed_at: confirmed.then_some(a.asserted_at),
            expires_at: None,
            // No producer's date ends an allergy: only a person's word does.
            ends_at: a.ends_at.filter(|_| !holds_an_allergy(a)),
            supersedes: None,
            superseded_by: None,
            history: vec![created],
            earlier: ResumedHistory::default(),
            vouched: false,
        };
        let mut interval = Self {
            folded,
            attribute: a.attribute,
            polarity: a.polarity,
            entity: a.entity,
            class: a.class,
            trust: a.trust,
            blanket: a.blanket,
            ending: a.ending,
            never: a.never && a.polarity == Polarity::Negated,
            // A symptom that is an event is one of the past.
            history: a.past || a.ending || (a.entity == EntityType::Symptom && a.class == Class::Event),
            last_said: a.asserted_at,
            recorded_at: a.recorded_at.min(a.asserted_at),
            asked_expiry: a.expires_at.filter(|_| may_end(a)),
            evidence: vec![a.source],
            texts: a.text.into_iter().collect(),
            told: a.details.count(),
        };
        interval.set_expiry(policy);
        interval
    }

    /// Whether the finding sets a new last day of this medicine. The later statement counts, and one without a day
    /// changes nothing. Only a clinician or a profile sets the end of a medicine that a clinician or a profile set.
    fn may_set_last_day(&self, a: &Assertion) -> bool {
        let in_charge = a.set_by.is_authoritative() || !self.folded.set_by.is_authoritative();
        self.entity == EntityType::Medication && a.expires_at.is_some() && in_charge
    }

    /// The same with all that came so far as earlier: the part that a checkpoint stores.
    pub(crate) fn shortened(&self) -> Self {
        Self { folded: self.folded.shortened(), evidence: Vec::new(), texts: Vec::new(), ..*self }
    }

    /// Whether a finding says the same of the same.
    pub(crate) fn says(&self, a: &Assertion) -> bool {
        self.polarity == a.polarity && self.folded.details.agrees(&a.details)
    }

    pub(crate) fn is_active(&self) -> bool {
        self.folded.state == State::Active
    }

    /// Only a person in charge, or an answered task, may end it: any allergy, and what a person in charge set in the
    /// clinical store (model.md, "Clinical wins").
    pub(crate) fn is_guarded(&self) -> bool {
        matches!(self.entity, EntityType::Allergy | EntityType::Intolerance)
            || (self.entity.is_clinical() && self.folded.set_by.is_authoritative())
    }

    /// An allergy or an intolerance that holds: no act of a patient or a program takes it away. A missed one kills.
    pub(crate) fn is_allergy(&self) -> bool {
        let kind = matches!(self.entity, EntityType::Allergy | EntityType::Intolerance);
        kind && self.polarity == Polarity::Affirmed && self.is_active()
    }

    pub(crate) fn current(&self) -> CurrentValue {
        // The value "no allergy" is guarded like another clinical value: a later report of an allergy must be accepted.
        let no_allergy =
            matches!(self.entity, EntityType::Allergy | EntityType::Intolerance) && self.polarity == Polarity::Negated;
        CurrentValue {
            trust: self.trust,
            set_by: self.folded.set_by,
            entity: Some(if no_allergy { EntityType::Condition } else { self.entity }),
            class: Some(self.class),
            valid_from: Some(self.folded.valid_from),
        }
    }

    /// The same fact again from another place: the clock restarts, and new evidence reinforces (seed 001, section 5).
    pub(crate) fn confirm(&mut self, a: &Assertion, policy: &LifecyclePolicy) {
        self.last_said = self.last_said.max(a.asserted_at);
        self.never |= a.never && a.polarity == Polarity::Negated;
        if self.folded.sources.contains(&a.id) {
            return;
        }
        self.folded.sources.push(a.id);
        self.folded.ends_at = self.folded.ends_at.zip(a.ends_at).map(|(one, other)| one.max(other));
        if a.details.count() > self.told {
            self.told = a.details.count();
            self.folded.told_by = a.id;
        }
        self.folded.details.absorb(&a.details);
        if self.may_set_last_day(a) {
            self.asked_expiry = a.expires_at;
        }
        if a.set_by.is_authoritative() && !self.folded.set_by.is_authoritative() {
            self.folded.set_by = a.set_by;
        }
        if self.evidence.contains(&a.source) {
            return self.set_expiry(policy);
        }
        self.evidence.push(a.source);
        if self.copies(a) {
            // No other evidence; stated again later, it still shows that a passing state goes on.
            let later = self.folded.last_confirmed_at.is_some_and(|last| a.asserted_at > last);
            if self.class != Class::TimeBoundState || !later {
                return self.set_expiry(policy);
            }
        } else {
            self.texts.extend(a.text);
            self.reinforce(a);
        }
        self.restart(a.asserted_at, policy);
    }

    /// Whether the finding is in a text that was counted already, under whatever document.
    pub(crate) fn copies(&self, a: &Assertion) -> bool {
        a.text.is_some_and(|text| self.texts.contains(&text))
    }

    /// A model's text says an inference again: only that a copy of that text adds nothing.
    pub(crate) fn repeated(&mut self, a: &Assertion) {
        self.texts.extend(a.text.filter(|_| self.class == Class::Inference));
    }

    /// An inference is as old as the first mention of its document: a revision makes it no younger.
    pub(crate) fn asserted_again_since(&mut self, at: DateTime<Utc>, policy: &LifecyclePolicy) {
        self.recorded_at = self.recorded_at.min(at);
        self.set_expiry(policy);
    }

    fn reinforce(&mut self, a: &Assertion) {
        self.grow(a.asserted_at, a.id.0);
    }

    /// A person names something else that speaks for it: once each.
    pub(crate) fn reinforced_by(&mut self, at: DateTime<Utc>, evidence: Uuid) {
        if !self.evidence.contains(&evidence) {
            self.evidence.push(evidence);
            self.grow(at, evidence);
        }
    }

    /// An episode teaches something of a belief, and nothing of an illness, a medicine or an allergy. What an
    /// authority set, verified or protected is weakened by an authority only.
    pub(crate) fn may_be_weakened(&self, by: SetBy) -> bool {
        let folded = &self.folded;
        let held = folded.set_by.is_authoritative() || folded.verification_count > 0 || folded.is_protected;
        self.is_active() && !self.entity.is_clinical() && (by.is_authoritative() || !held)
    }

    /// Subtracts a first reinforcement for each act. The clock of decay runs on: no statement says that it holds.
    pub(crate) fn weakened_by(&mut self, at: DateTime<Utc>, evidence: Uuid) {
        let new = weakened(self.folded.confidence);
        self.change(at, "weakened", Some(new), Some(evidence));
    }

    fn grow(&mut self, at: DateTime<Utc>, evidence: Uuid) {
        self.folded.times_reinforced += 1;
        let new = reinforced(self.folded.confidence, self.folded.times_reinforced);
        self.change(at, "reinforced", Some(new), Some(evidence));
        self.folded.last_verified = Some(at);
    }

    fn restart(&mut self, at: DateTime<Utc>, policy: &LifecyclePolicy) {
        self.folded.cycle += 1;
        if let Some(confirmed) = self.folded.last_confirmed_at {
            self.folded.last_confirmed_at = Some(confirmed.max(at));
        }
        self.set_expiry(policy);
    }

    /// A person confirms it as true now.
    pub(crate) fn confirmed_by_person(&mut self, at: DateTime<Utc>, cause: Uuid, policy: &LifecyclePolicy) {
        self.change(at, "confirmed", None, Some(cause));
        self.folded.last_verified = Some(at);
        self.folded.contested = false;
        self.restart(at, policy);
    }

    /// A person verifies it (seed 001, section 8).
    pub(crate) fn verified_by_person(&mut self, at: DateTime<Utc>, cause: Uuid) {
        self.folded.verification_count += 1;
        let new = verified(self.folded.confidence);
        self.change(at, "verified", Some(new), Some(cause));
        self.folded.last_verified = Some(at);
    }

    /// Whether it is only inferred: a pattern, a model's hypothesis, or a clinical fact that a person thinks possible.
    pub(crate) fn is_inferred(&self) -> bool {
        let of_class = matches!(self.class, Class::Inference | Class::Pattern);
        self.trust == Trust::T4 || (self.trust > Trust::T4 && (of_class || self.entity.is_clinical()))
    }

    /// The same on a person's own word: it no longer ends with an inference's day.
    pub(crate) fn vouched(&mut self, id: MemoryId, act: &PersonAct, policy: &LifecyclePolicy) {
        self.folded.id = id;
        self.folded.vouched = true;
        self.class = self.class.vouched(self.entity);
        self.trust = Trust::T1;
        let confirmed = matches!(self.class, Class::TimeBoundState | Class::LongLivedFact | Class::HealthSignal);
        if self.folded.last_confirmed_at.is_some() || confirmed {
            self.folded.last_confirmed_at = Some(act.at);
        }
        self.folded.is_protected |= self.class == Class::LongLivedFact;
        // The last day of a medicine is part of the person's verification.
        self.asked_expiry = self.asked_expiry.filter(|end| self.entity == EntityType::Medication && *end > act.at);
        self.folded.ends_at = None;
        self.folded.set_by = act.by;
        self.folded.contested = false;
        self.folded.valid_from = act.at;
        self.folded.state_at = act.at;
        self.folded.history.clear();
        self.change(act.at, "created", None, Some(act.id.0));
        self.set_expiry(policy);
    }

    /// Moves to another state, if it is not there yet.
    pub(crate) fn become_state(&mut self, state: State, at: DateTime<Utc>, cause: Option<Uuid>) {
        if self.folded.state != state {
            self.folded.state = state;
            self.folded.state_at = at;
            self.change(at, state.code(), None, cause);
        }
    }

    /// The value ends where its successor begins.
    pub(crate) fn superseded(&mut self, by: MemoryId, from: DateTime<Utc>, at: DateTime<Utc>) {
        self.become_state(State::Superseded, at, Some(by.0));
        self.folded.valid_to = Some(from.max(self.folded.valid_from));
        self.folded.superseded_by = Some(by);
    }

    /// The other end of [`Self::superseded`]: both histories say so.
    pub(crate) fn replaces(&mut self, old: MemoryId, at: DateTime<Utc>) {
        self.folded.supersedes = Some(old);
        self.change(at, "supersedes", None, Some(old.0));
    }

    pub(crate) fn change(&mut self, at: DateTime<Utc>, action: &'static str, new: Option<f64>, cause: Option<Uuid>) {
        let old = Some(self.folded.confidence);
        self.folded.confidence = new.unwrap_or(self.folded.confidence);
        self.folded.history.push(HistoryChange { at, action, old, new: Some(self.folded.confidence), cause });
    }

    /// The effect of time alone by `now`.
    pub(crate) fn pass_time(&mut self, now: DateTime<Utc>, policy: &LifecyclePolicy) {
        let moment = lifecycle::status_at(&self.life(), now, policy);
        if moment.state != self.folded.state {
            let since = moment.since.unwrap_or(now);
            self.become_state(moment.state, since, None);
            self.folded.valid_to = Some(since);
        }
    }

    fn life(&self) -> LifecycleTimes {
        LifecycleTimes {
            class: self.class,
            state: self.folded.state,
            state_since: Some(self.folded.state_at),
            recorded_at: self.recorded_at,
            last_confirmed_at: self.folded.last_confirmed_at,
            synced_at: self.folded.last_confirmed_at,
            expires_at: self.folded.expires_at,
            ends_at: self.folded.ends_at,
        }
    }

    fn set_expiry(&mut self, policy: &LifecyclePolicy) {
        let since = match self.class {
            // An inference ages from when its words were said: reading an old document makes it no younger, and
            // nothing that follows prolongs it.
            Class::Inference => self.recorded_at,
            _ => self.folded.last_confirmed_at.unwrap_or(self.recorded_at),
        };
        let own = policy.expires_at(self.class, since, self.asked_expiry);
        self.folded.expires_at = own.into_iter().chain(self.folded.ends_at).min();
    }
}
