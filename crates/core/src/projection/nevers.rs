//! "I have never smoked" and "ex-smoker": a denial for all time opposes the past, whichever is stated first. Both are
//! stored, and a person is asked (seed 001, section 9). What begins after the denial opposes nothing.

use super::Conflict;
use super::replay::Replay;
use super::validity::MemoryInterval;
use crate::finding::{EntityType, Polarity};
use crate::ids::MemoryId;
use crate::memory::{Class, State};

/// Applies denials for all time to past facts, once all are walked.
pub(super) fn apply(walk: &mut Replay<'_>) {
    let denials = (0..walk.memories.len()).filter(|&at| walk.memories[at].never);
    let pairs: Vec<(usize, usize)> = denials
        .flat_map(|denial| (0..walk.memories.len()).map(move |stated| (denial, stated)))
        .filter(|&(denial, stated)| opposes(&walk.memories[denial], &walk.memories[stated]))
        .collect();
    for (denial, stated) in pairs {
        let (one, other) = (&walk.memories[denial].folded, &walk.memories[stated].folded);
        let ids = (one.id, other.id);
        let known = |c: &Conflict| (c.kept, c.claim) == ids || (c.claim, c.kept) == ids;
        if walk.conflicts.iter().any(known) {
            continue;
        }
        let denied_later = one.began_at() >= other.began_at();
        let (kept, claim) = if denied_later { (ids.1, ids.0) } else { ids };
        let at = one.began_at().max(other.began_at());
        let said = |of: MemoryId| walk.confirmed.iter().find(|(id, when)| *id == of && *when >= at).copied();
        let (holds, judged) = (said(ids.0).or_else(|| said(ids.1)), walk.judged_since(&[ids.0, ids.1], at));
        walk.conflicts.push(Conflict { kept, claim, at, negation: true, answered: holds.is_some() || judged });
        if let Some((id, when)) = holds {
            // A person said which of the two holds: the other is history.
            let over = if id == ids.0 { stated } else { denial };
            if walk.memories[over].is_active() {
                walk.memories[over].become_state(State::Resolved, when, Some(id.0));
                walk.memories[over].folded.valid_to = Some(when);
            }
        }
    }
}

/// `denial` is one for all time.
fn opposes(denial: &MemoryInterval, stated: &MemoryInterval) -> bool {
    let compared = |m: &MemoryInterval| {
        m.folded.state != State::Inactive && m.class != Class::Inference && m.entity != EntityType::Allergy
    };
    let was = stated.folded.began_at() <= denial.last_said
        || stated.history
        || stated.folded.valid_from < denial.folded.began_at();
    stated.polarity == Polarity::Affirmed
        && denial.attribute == stated.attribute
        && compared(denial)
        && compared(stated)
        && was
}
