//! The walk over a group's log.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use super::validity::MemoryInterval;
use super::{Assertion, Conflict, Details, GroupLog, KeyHash, MemoryAction, PersonAct, Projection, memory_id};
use crate::finding::Polarity;
use crate::ids::MemoryId;
use crate::lifecycle::LifecyclePolicy;
use crate::memory::{Class, SetBy, State};
use crate::provenance::{SourceType, Trust};
use crate::scope::Scope;
use crate::supersede::{self, ArrivingValue};

type FactIdentity = (KeyHash, Polarity, Details);

/// Memories of the group so far.
pub(super) struct Replay<'a> {
    scope: Scope,
    policy: &'a LifecyclePolicy,
    pub(crate) memories: Vec<MemoryInterval>,
    pub(crate) conflicts: Vec<Conflict>,
    pub(super) ordinals: HashMap<FactIdentity, u32>,
    /// Facts that something live supports: statements of a replaced revision about them no longer count.
    retired: Vec<&'a Assertion>,
    /// Ids of memories whose words are gone.
    purged: BTreeSet<MemoryId>,
    /// Confirmations of people, with their time.
    pub(crate) confirmed: Vec<(MemoryId, DateTime<Utc>)>,
    /// Ends, denials, corrections and answers of people, with their time.
    pub(crate) judged: Vec<(MemoryId, DateTime<Utc>)>,
    /// A memory takes over evidence that the walk was not given: it was resumed, and needs the whole log.
    pub(super) lacks_evidence: bool,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(scope: Scope, log: &'a GroupLog, policy: &'a LifecyclePolicy) -> Self {
        let mut retired: Vec<&Assertion> = log.assertions.iter().filter(|a| !a.live).collect();
        retired.sort_by_key(|a| (a.asserted_at, a.source, a.id));
        retired.dedup_by_key(|a| a.id);
        let purged = log.assertions.iter().filter_map(|a| a.tombstone).collect();
        let (memories, conflicts, ordinals) = (Vec::new(), Vec::new(), HashMap::new());
        Self {
            scope,
            policy,
            memories,
            conflicts,
            ordinals,
            retired,
            purged,
            confirmed: Vec::new(),
            judged: Vec::new(),
            lacks_evidence: false,
        }
    }

    /// A finding is walked over. What its own revision no longer says changes nothing; see [`Replay::finish`].
    pub(crate) fn assert(&mut self, a: &Assertion) {
        if !a.live {
            return;
        }
        self.pass_time(a.asserted_at);
        if self.is_said_already(a) {
            return;
        }
        if a.ending {
            return self.end(a);
        }
        if a.past && a.polarity == Polarity::Affirmed {
            return self.remember(a);
        }
        // That the fact is over is not the same as that it holds: only a person in charge settles such a claim.
        let same = |m: &MemoryInterval| {
            let comparable = !m.ending || a.set_by.is_authoritative();
            m.attribute == a.attribute && m.is_active() && m.says(a) && comparable
        };
        if let Some(known) = self.newest(|m| same(m) && !m.folded.contested) {
            return self.again(known, a);
        }
        let claim = self.newest(same);
        match claim {
            Some(claim) if !a.set_by.is_authoritative() => self.again(claim, a),
            _ => self.value(claim, a),
        }
    }

    /// Whether a model's text says it once more, under another document: an inference that ended does not come back with a
    /// copy of its words.
    fn is_said_already(&self, a: &Assertion) -> bool {
        let by_copy = |m: &MemoryInterval| m.class == Class::Inference && m.attribute == a.attribute && m.copies(a);
        a.class == Class::Inference
            && self.memories.iter().any(|m| by_copy(m) && m.says(a) && m.folded.state != State::Inactive)
    }

    /// A value that the attribute does not have yet. A person in charge states a value that was only claimed so far:
    /// the claim is settled by it.
    fn value(&mut self, claim: Option<usize>, a: &Assertion) {
        let current = self.newest(|m| m.attribute == a.attribute && m.is_active() && !m.folded.contested);
        let new = match current {
            Some(current) => self.other_value(current, a),
            None => self.open(a),
        };
        if let Some(claim) = claim.filter(|_| !self.memories[new].folded.contested) {
            let by = self.memories[new].folded.id;
            self.memories[claim].superseded(by, a.valid_from, a.asserted_at);
        }
    }

    /// The same fact again: better standing opens a new memory over an inferred one; model output confirms nothing. The
    /// same text once more is better only as a person's own word.
    pub(super) fn again(&mut self, same: usize, a: &Assertion) {
        if self.memories[same].trust >= Trust::T4 && a.trust < Trust::T4 {
            if a.trust > Trust::T1 && self.memories[same].copies(a) {
                return;
            }
            let new = self.open(a);
            self.link(same, new, a);
        } else if a.trust < Trust::T4 || self.recurs(same, a) {
            self.memories[same].confirm(a, self.policy);
        } else {
            self.memories[same].repeated(a);
        }
    }

    /// Another mention of what consolidation formed makes it surer (seed 001, section 7).
    fn recurs(&self, same: usize, a: &Assertion) -> bool {
        self.memories[same].class == Class::Pattern && a.source_type == SourceType::Consolidation
    }

    /// Consolidation reads another value of something that it formed itself and no one verified: it follows the latest
    /// statement. The statements that it was read from preserve both sides.
    fn restates(&self, current: usize, a: &Assertion) -> bool {
        self.recurs(current, a) && a.class == Class::Pattern && self.memories[current].folded.verification_count == 0
    }

    fn other_value(&mut self, current: usize, a: &Assertion) -> usize {
        let arriving = ArrivingValue {
            trust: a.trust,
            set_by: a.set_by,
            document_type: a.document_type,
            valid_from: Some(a.valid_from),
            same_fact: false,
        };
        let outcome = match self.restates(current, a) {
            true => supersede::later(self.memories[current].folded.valid_from, a.valid_from),
            false => supersede::outcome(&self.memories[current].current(), &arriving),
        };
        let new = self.open(a);
        match outcome {
            supersede::SupersedeOutcome::Supersede => self.link(current, new, a),
            supersede::SupersedeOutcome::CloseBackdated => {
                let successor = (self.memories[current].folded.id, self.memories[current].folded.valid_from);
                self.memories[new].superseded(successor.0, successor.1, a.asserted_at);
            }
            _ => self.contradict(current, new, a),
        }
        new
    }

    pub(crate) fn contradict(&mut self, kept: usize, claim: usize, a: &Assertion) {
        self.contradict_at(kept, claim, a.asserted_at);
    }

    pub(crate) fn contradict_at(&mut self, kept: usize, claim: usize, at: DateTime<Utc>) {
        let ids = (self.memories[kept].folded.id, self.memories[claim].folded.id);
        self.memories[claim].folded.contested = true;
        self.memories[claim].change(at, "contradicts", None, Some(ids.0.0));
        self.memories[kept].change(at, "contradicted", None, Some(ids.1.0));
        let negation = self.memories[kept].polarity != self.memories[claim].polarity;
        self.conflicts.push(Conflict { kept: ids.0, claim: ids.1, at, negation, answered: false });
    }

    /// "Tuvo anorexia": history, unless it is known already. It neither confirms nor ends an active fact.
    fn remember(&mut self, a: &Assertion) {
        if self.newest(|m| m.attribute == a.attribute && m.says(a)).is_none() {
            let new = self.open(a);
            self.memories[new].become_state(State::Resolved, a.asserted_at, Some(a.id.0));
        }
    }

    /// A person's act on a memory that this group holds.
    pub(crate) fn act(&mut self, act: &PersonAct) {
        self.pass_time(act.at);
        let Some(at) = self.memories.iter().position(|m| m.folded.id == act.memory) else { return };
        let (when, cause) = (act.at, act.id.0);
        if matches!(
            act.deed,
            MemoryAction::Ended | MemoryAction::Denied | MemoryAction::Corrected | MemoryAction::Answered
        ) {
            self.judged.push((act.memory, when));
        }
        if matches!(act.deed, MemoryAction::Confirmed | MemoryAction::Verified)
            && !act.by.is_authoritative()
            && let Some(allergy) = self.allergy_against(at)
        {
            return self.dispute(allergy, act);
        }
        let memory = &mut self.memories[at];
        match act.deed {
            MemoryAction::Verified => {
                memory.verified_by_person(when, cause);
                self.vouch(at, act);
            }
            MemoryAction::Confirmed if memory.folded.state == State::ResolvedUnconfirmed => self.reopen(at, act),
            MemoryAction::Confirmed if memory.is_active() => {
                memory.confirmed_by_person(when, cause, self.policy);
                self.decide(at, act);
            }
            MemoryAction::Confirmed => {}
            MemoryAction::Ended if memory.is_active() && memory.is_guarded() && !act.by.is_authoritative() => {
                self.dispute(at, act);
            }
            MemoryAction::Denied | MemoryAction::Forgotten if memory.is_allergy() && !act.by.is_authoritative() => {
                self.dispute(at, act);
            }
            MemoryAction::Ended | MemoryAction::Denied => {
                let claims = self.settle_end_claims(at);
                for n in std::iter::once(at).chain(claims) {
                    self.memories[n].become_state(State::Resolved, when, Some(cause));
                    self.memories[n].folded.valid_to = Some(when);
                }
                self.answer_dispute(at);
            }
            MemoryAction::Reinforced if memory.is_active() => memory.reinforced_by(when, act.evidence.unwrap_or(cause)),
            MemoryAction::Weakened if memory.may_be_weakened(act.by) => {
                memory.weakened_by(when, act.evidence.unwrap_or(cause))
            }
            MemoryAction::Reinforced | MemoryAction::Weakened => {}
            // A finding of a model ends with its day, whatever is said of it, unless a person vouches for it.
            MemoryAction::Protected if memory.class == Class::Inference => {}
            MemoryAction::Protected => memory.folded.is_protected = true,
            MemoryAction::Unprotected => memory.folded.is_protected = false,
            MemoryAction::Forgotten => memory.become_state(State::Inactive, when, Some(cause)),
            MemoryAction::Recovered if memory.folded.state == State::Inactive => {
                memory.become_state(State::Active, when, Some(cause));
            }
            MemoryAction::Recovered => {}
            MemoryAction::Corrected | MemoryAction::Answered => self.instead(at, act),
        }
    }

    /// The allergy that this contradicts, on either side: a person who insists on this says that it is over.
    fn allergy_against(&self, insisted: usize) -> Option<usize> {
        let id = self.memories[insisted].folded.id;
        let open = |known: &&Conflict| known.kept != known.claim && !known.answered;
        let other = |known: &Conflict| match (known.kept == id, known.claim == id) {
            (true, false) => Some(known.claim),
            (false, true) => Some(known.kept),
            _ => None,
        };
        let others: Vec<MemoryId> = self.conflicts.iter().filter(open).filter_map(other).collect();
        self.memories.iter().position(|m| m.is_allergy() && others.contains(&m.folded.id))
    }

    /// An end without authority: nothing changes, and a person is asked (model.md, "Clinical wins").
    fn dispute(&mut self, at: usize, act: &PersonAct) {
        let memory = &mut self.memories[at];
        let id = memory.folded.id;
        memory.change(act.at, "disputed", None, Some(act.id.0));
        if !self.conflicts.iter().any(|known| known.kept == id && known.claim == id && !known.answered) {
            self.conflicts.push(Conflict { kept: id, claim: id, at: act.at, negation: true, answered: false });
        }
    }

    /// A person in charge said whether it holds: that it was disputed is answered.
    fn answer_dispute(&mut self, at: usize) {
        let id = self.memories[at].folded.id;
        let disputed = self.conflicts.iter_mut().filter(|known| known.kept == id && known.claim == id);
        disputed.for_each(|known| known.answered = true);
    }

    /// A person says of one side of a conflict that it holds: the conflict is answered. Of patterns and preferences both
    /// sides stay (seed 001, section 9).
    fn decide(&mut self, holds: usize, act: &PersonAct) {
        self.confirmed.push((self.memories[holds].folded.id, act.at));
        let id = self.memories[holds].folded.id;
        if act.by.is_authoritative() {
            self.answer_dispute(holds);
        }
        for n in 0..self.conflicts.len() {
            let Conflict { kept, claim, answered, .. } = self.conflicts[n];
            if answered || kept == claim || (kept != id && claim != id) {
                continue;
            }
            self.conflicts[n].answered = true;
            let other = if kept == id { claim } else { kept };
            let Some(other) = self.memories.iter().position(|m| m.folded.id == other && m.is_active()) else {
                continue;
            };
            let allergy = self.memories[other].is_allergy() && !act.by.is_authoritative();
            if allergy || matches!(self.memories[other].class, Class::Pattern | Class::Preference) {
                continue;
            }
            if claim == id && self.memories[holds].ending {
                // The valid statement is that the fact is over.
                for n in [other, holds] {
                    self.memories[n].become_state(State::Resolved, act.at, Some(act.id.0));
                    self.memories[n].folded.valid_to = Some(act.at);
                }
            } else if claim == id && self.memories[other].attribute == self.memories[holds].attribute {
                let from = self.memories[holds].folded.valid_from;
                self.memories[other].superseded(id, from, act.at);
                self.memories[holds].replaces(kept, act.at);
            } else if kept == id {
                self.memories[other].become_state(State::Resolved, act.at, Some(act.id.0));
                self.memories[other].folded.valid_to = Some(act.at);
            }
        }
    }

    /// A correction has separate findings, which came before this act: they replaced the memory, said it again, or
    /// speak of something else, and then it ends here. A patient's correction ends nothing that a clinician set and no
    /// allergy, and a patient's answer no allergy either (model.md, "Clinical wins"): a person is asked.
    fn instead(&mut self, at: usize, act: &PersonAct) {
        let memory = &mut self.memories[at];
        let said_again = memory.last_said == act.at;
        if !memory.is_active() || said_again {
            return;
        }
        let answered = act.deed == MemoryAction::Answered && !memory.is_allergy();
        if answered || act.by.is_authoritative() || !memory.is_guarded() {
            memory.become_state(State::Resolved, act.at, Some(act.id.0));
            memory.folded.valid_to = Some(act.at);
            return;
        }
        // Where its own words contradict it already, the question is asked.
        let id = memory.folded.id;
        if !self.conflicts.iter().any(|known| known.kept == id && !known.answered) {
            self.dispute(at, act);
        }
    }

    /// A person verifies an inferred or formed memory: a new memory states it on that person's authority, derived from
    /// the old one, which it replaces (model.md, "Confidence").
    fn vouch(&mut self, at: usize, act: &PersonAct) {
        let old = &self.memories[at];
        if !old.is_inferred() || !old.is_active() || !matches!(act.by, SetBy::Patient | SetBy::Clinician) {
            return;
        }
        let (mut next, old_id) = (old.clone(), old.folded.id);
        self.lacks_evidence |= next.folded.earlier.sources > 0;
        let fact = (next.attribute, next.polarity, next.folded.details.clone());
        next.vouched(self.next_id(fact), act, self.policy);
        next.replaces(old_id, act.at);
        self.memories[at].superseded(next.folded.id, act.at, act.at);
        self.memories.push(next);
    }

    /// Confirmed after it had lapsed: a new active interval; the old one stays (model.md, "States").
    fn reopen(&mut self, at: usize, act: &PersonAct) {
        let mut next = self.memories[at].clone();
        self.lacks_evidence |= next.folded.earlier.sources > 0;
        let fact = (next.attribute, next.polarity, next.folded.details.clone());
        next.folded.id = self.next_id(fact);
        next.folded.state = State::Active;
        next.folded.state_at = act.at;
        next.folded.valid_from = act.at;
        next.folded.valid_to = None;
        next.folded.last_confirmed_at = Some(act.at);
        next.folded.history.clear();
        next.change(act.at, "created", None, Some(act.id.0));
        next.confirmed_by_person(act.at, act.id.0, self.policy);
        self.memories.push(next);
    }

    pub(super) fn open(&mut self, a: &Assertion) -> usize {
        let id = a.tombstone.unwrap_or_else(|| self.next_id((a.attribute, a.polarity, a.details.clone())));
        let mut memory = MemoryInterval::open(id, a, self.policy);
        if let Some(first) = self.first_asserted(a) {
            memory.asserted_again_since(first, self.policy);
        }
        self.memories.push(memory);
        self.memories.len() - 1
    }

    /// When a replaced revision or a copy that is gone stated an inference first.
    fn first_asserted(&self, a: &Assertion) -> Option<DateTime<Utc>> {
        let same = |r: &&&Assertion| {
            (r.source == a.source || r.text.is_some_and(|text| a.text == Some(text)))
                && r.attribute == a.attribute
                && r.polarity == a.polarity
                && r.details.agrees(&a.details)
        };
        let inferred = self.retired.iter().filter(|_| a.class == Class::Inference);
        inferred.filter(same).map(|r| r.recorded_at.min(r.asserted_at)).min()
    }

    fn next_id(&mut self, fact: FactIdentity) -> MemoryId {
        let ordinal = self.ordinals.entry(fact.clone()).or_insert(0);
        loop {
            let id = memory_id(self.scope, &fact.0, fact.1, &fact.2, *ordinal);
            *ordinal += 1;
            // A memory whose words are gone retains its id: a new statement is another memory.
            if !self.purged.contains(&id) {
                return id;
            }
        }
    }

    /// Old and new value are linked both ways; the new one inherits the evidence (seed 001, section 5).
    fn link(&mut self, old: usize, new: usize, a: &Assertion) {
        let (old_id, new_id) = (self.memories[old].folded.id, self.memories[new].folded.id);
        self.lacks_evidence |= self.memories[old].folded.earlier.sources > 0;
        let inherited = self.memories[old].folded.sources.clone();
        let from = self.memories[new].folded.valid_from;
        self.memories[old].superseded(new_id, from, a.asserted_at);
        self.memories[new].replaces(old_id, a.asserted_at);
        self.memories[new].folded.sources.extend(inherited);
    }

    /// Whether a person has judged one of these memories since then.
    pub(super) fn judged_since(&self, memories: &[MemoryId], since: DateTime<Utc>) -> bool {
        self.judged.iter().any(|(of, when)| memories.contains(of) && *when >= since)
    }

    pub(super) fn newest(&self, matches: impl Fn(&MemoryInterval) -> bool) -> Option<usize> {
        self.memories.iter().rposition(matches)
    }

    fn pass_time(&mut self, to: DateTime<Utc>) {
        for memory in &mut self.memories {
            memory.pass_time(to, self.policy);
        }
    }

    /// The result of the group at `now`. A fact that only a replaced revision stated stays, flagged as ungrounded; a
    /// memory that a run formed of things that no longer exist goes with them.
    pub(crate) fn finish(mut self, now: DateTime<Utc>) -> Projection {
        let retired = std::mem::take(&mut self.retired);
        for a in retired {
            let known = self.memories.iter().any(|m| m.attribute == a.attribute && m.says(a));
            if !known && !a.ending && a.source_type != SourceType::Consolidation {
                self.open(a);
            }
        }
        self.pass_time(now);
        Projection { memories: self.memories.into_iter().map(|m| m.folded).collect(), conflicts: self.conflicts }
    }
}
