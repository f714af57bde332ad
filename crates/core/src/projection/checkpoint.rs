//! A projection that goes on where an earlier one ended: the result of a long log so far, so that one more finding does
//! not cost the whole log again. Resuming and projecting everything give the same outcome; where resuming is
//! impossible, everything is projected.

use aws_lc_rs::digest::{SHA256, digest};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::replay::Replay;
use super::validity::MemoryInterval;
use super::{
    Assertion, Conflict, Details, GroupLog, KeyHash, LogStep, Projection, StepKey, allergies, nevers, plans, steps,
};
use crate::failpoints;
use crate::finding::Polarity;
use crate::ids::MemoryId;
use crate::lifecycle::LifecyclePolicy;
use crate::scope::Scope;

/// The version of the projection rules under a checkpoint. Raise it with every change to the result of a projection:
/// checkpoints of another version are not resumed.
const VERSION: u32 = 3;

/// Steps between checkpoints: at most so many, and those of one batch, are replayed.
const EVERY: usize = 16;

/// The result of a log up to and with one of its steps, before the time since then is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    /// The beginning of a digest of the lifecycle's rules.
    policy: u64,
    last: StepKey,
    memories: Vec<MemoryInterval>,
    conflicts: Vec<Conflict>,
    ordinals: Vec<(KeyHash, Polarity, Details, u32)>,
    confirmed: Vec<(MemoryId, DateTime<Utc>)>,
    judged: Vec<(MemoryId, DateTime<Utc>)>,
    /// Marks of all sources and texts that were counted.
    seen: Vec<u32>,
}

/// An outcome, and the checkpoint for the next projection of the same log.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumableProjection {
    pub outcome: Projection,
    /// `None` after few steps, and where findings were retired or purged: such a log is folded whole each time.
    pub checkpoint: Option<Checkpoint>,
}

impl Checkpoint {
    /// The time of its last step. Later entries are not in it; an earlier entry that was missing when it was made
    /// invalidates it.
    #[must_use]
    pub fn last_at(&self) -> DateTime<Utc> {
        self.last.0
    }

    /// Whether a source or a text was counted already, or another one with the same mark.
    fn has_seen(&self, a: &Assertion) -> bool {
        marks(a).any(|mark| self.seen.contains(&mark))
    }
}

/// Marks by which a finding's source and text are known again: FNV-1a in 32 bits, since ids of one producer may begin alike.
/// Two that share a mark cost a fold of the whole log and change nothing.
fn marks(a: &Assertion) -> impl Iterator<Item = u32> {
    let mark = |bytes: &[u8]| {
        bytes.iter().fold(0x811C_9DC5u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    };
    std::iter::once(mark(a.source.as_bytes())).chain(a.text.map(|text| mark(&text)))
}

fn policy_mark(policy: &LifecyclePolicy) -> u64 {
    let digest = digest(&SHA256, format!("{policy:?}").as_bytes());
    digest.as_ref().first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

/// Projects a whole log as of `now`, and returns the checkpoint for the next projection.
#[must_use]
pub fn replay(scope: Scope, log: &GroupLog, now: DateTime<Utc>, policy: &LifecyclePolicy) -> ResumableProjection {
    let mut walk = Replay::new(scope, log, policy);
    let walked = go_on(&mut walk, log, None);
    let checkpoint = match is_whole(log) {
        true => checkpoint(&walk, walked, Vec::new(), policy),
        false => None,
    };
    ResumableProjection { outcome: settled(walk, now), checkpoint }
}

/// Projects on from a checkpoint: `log` holds the entries after it, and may hold some of the entries in it. `None` when
/// the whole log is needed: for another policy or version, where a finding is not live, repeats an earlier source or
/// text, or takes over earlier evidence.
#[must_use]
pub fn resume(
    scope: Scope,
    from: &Checkpoint,
    log: &GroupLog,
    now: DateTime<Utc>,
    policy: &LifecyclePolicy,
) -> Option<ResumableProjection> {
    let after = |a: &&Assertion| key_of(a) > from.last;
    let resumable = from.version == VERSION
        && from.policy == policy_mark(policy)
        && is_whole(log)
        && !log.assertions.iter().filter(after).any(|a| from.has_seen(a));
    if !resumable {
        return None;
    }
    let mut walk = Replay::new(scope, log, policy);
    walk.memories.clone_from(&from.memories);
    walk.conflicts.clone_from(&from.conflicts);
    walk.confirmed.clone_from(&from.confirmed);
    walk.judged.clone_from(&from.judged);
    let fact = |(attribute, polarity, details, n): &(KeyHash, Polarity, Details, u32)| {
        ((*attribute, *polarity, details.clone()), *n)
    };
    walk.ordinals = from.ordinals.iter().map(fact).collect();
    let walked = go_on(&mut walk, log, Some(from.last));
    if walk.lacks_evidence {
        return None;
    }
    let checkpoint = checkpoint(&walk, walked, from.seen.clone(), policy);
    Some(ResumableProjection { outcome: settled(walk, now), checkpoint })
}

/// Whether all of it counts and has its words.
fn is_whole(log: &GroupLog) -> bool {
    log.assertions.iter().all(|a| a.live && a.tombstone.is_none())
}

fn key_of(a: &Assertion) -> StepKey {
    (a.asserted_at, a.source, a.id.0)
}

/// The steps that were replayed.
struct ReplayedSteps {
    steps: usize,
    last: Option<StepKey>,
    marks: Vec<u32>,
}

/// Walks over the steps after `from`.
fn go_on(walk: &mut Replay<'_>, log: &GroupLog, from: Option<StepKey>) -> ReplayedSteps {
    let mut walked = ReplayedSteps { steps: 0, last: from, marks: Vec::new() };
    for (key, step) in steps(log) {
        if from.is_some_and(|from| key <= from) {
            continue;
        }
        match step {
            LogStep::Assertion(at) => {
                walk.assert(&log.assertions[at]);
                walked.marks.extend(marks(&log.assertions[at]));
            }
            LogStep::Act(at) => walk.act(&log.acts[at]),
        }
        walked.last = Some(key);
        walked.steps += 1;
    }
    walked
}

fn checkpoint(
    walk: &Replay<'_>,
    walked: ReplayedSteps,
    mut seen: Vec<u32>,
    policy: &LifecyclePolicy,
) -> Option<Checkpoint> {
    let last = walked.last.filter(|_| walked.steps >= failpoints::checkpoint_every().unwrap_or(EVERY))?;
    seen.extend(walked.marks);
    let ordinals = walk.ordinals.iter();
    let mut ordinals: Vec<_> =
        ordinals.map(|((attribute, polarity, details), n)| (*attribute, *polarity, details.clone(), *n)).collect();
    ordinals.sort();
    Some(Checkpoint {
        version: VERSION,
        policy: policy_mark(policy),
        last,
        memories: walk.memories.iter().map(MemoryInterval::shortened).collect(),
        conflicts: walk.conflicts.clone(),
        ordinals,
        confirmed: walk.confirmed.clone(),
        judged: walk.judged.clone(),
        seen,
    })
}

fn settled(mut walk: Replay<'_>, now: DateTime<Utc>) -> Projection {
    allergies::resolve(&mut walk);
    plans::apply(&mut walk);
    nevers::apply(&mut walk);
    walk.finish(now)
}
