//! The effects of one organisation's messages on the store. They are put together per batch, and split again if a
//! message is rejected.

use std::sync::Arc;

use super::admission::AttemptBatch;
use super::answers::NewAnswer;
use super::consents::{CheckedConsents, NewConsent};
use super::records::{EphemeralChange, InboxEntry, NewDocument, NewFinding, NewMemoryAct, ProfileChange, RiskAlarm};
use anamnesis_core::ids::DocumentId;
use anamnesis_core::scope::Scope;

/// All effects of the messages of one organisation that share a transaction.
#[derive(Debug, Default)]
pub struct OrgBatch {
    /// The attempt that ends with these effects, where it is one of several messages.
    pub begun: Option<AttemptBatch>,
    /// The consents that decided of whom something may be stored, as read at that time.
    pub looked: Arc<CheckedConsents>,
    pub inbox: Vec<InboxEntry>,
    pub documents: Vec<NewDocument>,
    pub findings: Vec<NewFinding>,
    pub profiles: Vec<ProfileChange>,
    pub consents: Vec<NewConsent>,
    pub acts: Vec<NewMemoryAct>,
    pub ephemeral: Vec<EphemeralChange>,
    pub alarms: Vec<RiskAlarm>,
    /// Answers to requests that these effects carry out.
    pub answers: Vec<NewAnswer>,
    /// The traces that events of this batch continue.
    pub traces: Vec<EventTrace>,
    pub generation: i64,
}

/// The trace of one message of a batch. Events of its document, or else of its patient, continue it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTrace {
    pub scope: Scope,
    pub document: Option<DocumentId>,
    /// W3C trace context of the work on the message.
    pub traceparent: String,
}

/// The number of effects of each kind in a part of a batch, so that the batch can be split there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchMark([usize; 10]);

impl OrgBatch {
    /// Appends the effects of another message, and returns their numbers.
    pub fn append(&mut self, mut one: Self) -> BatchMark {
        self.generation = one.generation;
        BatchMark([
            moved(&mut one.inbox, &mut self.inbox),
            moved(&mut one.documents, &mut self.documents),
            moved(&mut one.findings, &mut self.findings),
            moved(&mut one.profiles, &mut self.profiles),
            moved(&mut one.consents, &mut self.consents),
            moved(&mut one.acts, &mut self.acts),
            moved(&mut one.ephemeral, &mut self.ephemeral),
            moved(&mut one.alarms, &mut self.alarms),
            moved(&mut one.answers, &mut self.answers),
            moved(&mut one.traces, &mut self.traces),
        ])
    }

    /// Splits off the effects of the message that was appended last.
    pub fn cut_last(&mut self, BatchMark(of): BatchMark) -> Self {
        Self {
            begun: None,
            looked: Arc::clone(&self.looked),
            inbox: cut(&mut self.inbox, of[0]),
            documents: cut(&mut self.documents, of[1]),
            findings: cut(&mut self.findings, of[2]),
            profiles: cut(&mut self.profiles, of[3]),
            consents: cut(&mut self.consents, of[4]),
            acts: cut(&mut self.acts, of[5]),
            ephemeral: cut(&mut self.ephemeral, of[6]),
            alarms: cut(&mut self.alarms, of[7]),
            answers: cut(&mut self.answers, of[8]),
            traces: cut(&mut self.traces, of[9]),
            generation: self.generation,
        }
    }
}

fn moved<T>(from: &mut Vec<T>, to: &mut Vec<T>) -> usize {
    let count = from.len();
    to.append(from);
    count
}

fn cut<T>(list: &mut Vec<T>, last: usize) -> Vec<T> {
    list.split_off(list.len().saturating_sub(last))
}
