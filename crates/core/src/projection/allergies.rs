//! "No known allergies" covers every substance. Before a substance is known, it ends where the first one begins. After,
//! it is a claim against the known substances, and changes nothing (model.md, "Clinical wins").

use super::replay::Replay;
use crate::finding::{EntityType, Polarity};
use crate::memory::{Class, State};

/// Sets the statements of the group against its substances, once all are walked.
pub(super) fn resolve(walk: &mut Replay<'_>) {
    let active = |walk: &Replay<'_>, blanket: bool| -> Vec<usize> {
        let is = |at: &usize| {
            let m = &walk.memories[*at];
            m.entity == EntityType::Allergy && m.is_active() && m.blanket == blanket && !m.folded.contested
        };
        (0..walk.memories.len()).filter(is).collect()
    };
    for statement in active(walk, true) {
        for substance in active(walk, false) {
            if walk.memories[substance].polarity == Polarity::Negated {
                continue;
            }
            let said = last_said(walk, statement);
            let known = walk.memories[substance].folded.began_at();
            if is_inferred(walk, substance) && !is_inferred(walk, statement) {
                // A finding of a model contradicts nothing: a person is asked whether it is so.
                walk.contradict_at(statement, substance, known.max(said));
                continue;
            }
            if known <= said {
                walk.contradict_at(substance, statement, said);
                let id = walk.memories[substance].folded.id;
                if let Some((_, at)) = walk.confirmed.iter().find(|(of, at)| *of == id && *at >= said).copied() {
                    // A person said that the substance holds: the statement is history.
                    walk.conflicts.last_mut().expect("just found").answered = true;
                    walk.memories[statement].become_state(State::Resolved, at, Some(id.0));
                    walk.memories[statement].folded.valid_to = Some(at);
                }
            } else {
                let by = walk.memories[substance].folded.id;
                let from = walk.memories[substance].folded.valid_from;
                walk.memories[statement].superseded(by, from, known);
            }
            break;
        }
    }
}

/// Found by a model alone.
fn is_inferred(walk: &Replay<'_>, at: usize) -> bool {
    walk.memories[at].class == Class::Inference
}

fn last_said(walk: &Replay<'_>, at: usize) -> chrono::DateTime<chrono::Utc> {
    let folded = &walk.memories[at].folded;
    folded.last_confirmed_at.unwrap_or(folded.valid_from)
}
