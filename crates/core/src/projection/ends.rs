//! The effect of a stated end: on its memory, and on claims that it had ended already.

use super::Assertion;
use super::replay::Replay;
use super::validity::MemoryInterval;
use crate::finding::Polarity;
use crate::memory::State;
use crate::supersede::{self, ArrivingValue};

impl Replay<'_> {
    /// "Ya no …": the fact is over, unless the speaker may not say so. It ends the fact and the claims about it: a
    /// patient's earlier statement never prevents a clinician from stopping a prescription.
    pub(super) fn end(&mut self, a: &Assertion) {
        let targets = self.ended_by(a);
        if targets.is_empty() {
            // Nothing known has ended, but that it ended is known: history.
            let new = self.open(a);
            self.memories[new].become_state(State::Resolved, a.asserted_at, Some(a.id.0));
            self.memories[new].folded.valid_to = Some(a.valid_from);
            return;
        }
        let arriving = ArrivingValue {
            trust: a.trust,
            set_by: a.set_by,
            document_type: a.document_type,
            valid_from: Some(a.valid_from),
            same_fact: false,
        };
        let mut disputed = Vec::new();
        for target in targets {
            match supersede::outcome(&self.memories[target].current(), &arriving) {
                supersede::SupersedeOutcome::Supersede => self.over(target, a),
                // It ended before it was said to hold: an older interval, nothing to change.
                supersede::SupersedeOutcome::CloseBackdated => {}
                _ => disputed.push(target),
            }
        }
        if !disputed.is_empty() {
            self.claim_end(&disputed, a);
        }
    }

    /// The active memories that a stated end speaks of. The dose that is named with the end may be an older one: it is the
    /// same medicine.
    fn ended_by(&self, a: &Assertion) -> Vec<usize> {
        let taken = |m: &MemoryInterval| {
            m.attribute == a.attribute && m.is_active() && m.polarity == Polarity::Affirmed && !m.ending
        };
        let named: Vec<usize> = (0..self.memories.len())
            .filter(|&n| taken(&self.memories[n]) && self.memories[n].folded.details.agrees(&a.details))
            .collect();
        match named.is_empty() {
            true => self.newest(|m| taken(m) && !m.folded.contested).into_iter().collect(),
            false => named,
        }
    }

    /// The fact ends, and with it every claim that it had ended already.
    fn over(&mut self, target: usize, a: &Assertion) {
        let claims = self.settle_end_claims(target);
        for n in std::iter::once(target).chain(claims) {
            let memory = &mut self.memories[n];
            let from = a.valid_from.max(memory.folded.valid_from);
            memory.become_state(State::Resolved, a.asserted_at, Some(a.id.0));
            memory.folded.valid_to = Some(from);
            memory.folded.sources.push(a.id);
        }
    }

    /// The active claims that this memory had ended. Their conflicts are answered.
    pub(super) fn settle_end_claims(&mut self, target: usize) -> Vec<usize> {
        let id = self.memories[target].folded.id;
        let mut claims = Vec::new();
        for known in self.conflicts.iter_mut().filter(|known| known.kept == id && !known.answered) {
            let claim = self.memories.iter().position(|m| m.folded.id == known.claim && m.ending && m.is_active());
            known.answered |= claim.is_some();
            claims.extend(claim);
        }
        claims
    }

    /// A source that may not end the facts says that they are over: one claim against them all, however often it is said.
    fn claim_end(&mut self, disputed: &[usize], a: &Assertion) {
        let known = self.newest(|m| m.attribute == a.attribute && m.is_active() && m.ending && m.says(a));
        let claim = match known {
            Some(claim) => {
                self.again(claim, a);
                claim
            }
            None => self.open(a),
        };
        let claimed = self.memories[claim].folded.id;
        for &target in disputed {
            let kept = self.memories[target].folded.id;
            if !self.conflicts.iter().any(|known| known.kept == kept && known.claim == claimed) {
                self.contradict(target, claim, a);
            }
        }
    }
}
