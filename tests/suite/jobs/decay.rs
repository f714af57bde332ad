//! Memories that become uncertain by decay: a job run finds the same as projection at that time.

use std::sync::Arc;

use anamnesis_core::clock::SeededEntropy;
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis_core::ids::FindingId;
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::projection::Assertion;
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore as _;
use anamnesis_jobs::JobName;
use anamnesis_sql::{Access, Arg};
use anamnesis_store::Store;
use anamnesis_store::decay_index::level;
use anamnesis_store::records::{FindingWords, InboxEntry, MessageAct, NewFinding, OrgBatch};
use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::app::{JobFixture, ORG, count, insert, memory, patient, utc};

#[tokio::test]
async fn a_memory_that_fell_below_its_threshold_is_asked_about_once_and_no_confidence_is_rewritten() {
    let fixture = JobFixture::new().await;
    fixture.seed(2).await;
    let scheduler = fixture.scheduler("a").build();
    let stored = "SELECT hex(id) || confidence FROM memory ORDER BY 1";
    let before = fixture.rows(stored).await;
    let first = fixture.run(&scheduler, fixture.due(JobName::Decay, "2026-03-10")).await;
    assert_eq!((count(&first, "belief"), count(&first, "taken_back"), count(&first, "examined")), (2, 0, 2));
    assert_eq!(
        fixture.rows("SELECT 'x' FROM memory WHERE review_due_at = recorded_at + 1200 * 86400000000").await.len(),
        2
    );
    let asked = "SELECT 'x' FROM outbox WHERE event_type = 'anamnesis.reconfirmation.due.v1'";
    assert_eq!(fixture.rows(asked).await.len(), 2);
    // The other two fell one second after the first run.
    let second = fixture.run(&scheduler, fixture.due(JobName::Decay, "2026-03-11")).await;
    assert_eq!((count(&second, "belief"), count(&second, "examined")), (2, 2));
    let third = fixture.run(&scheduler, fixture.due(JobName::Decay, "2026-03-12")).await;
    assert_eq!((third.changed, third.examined), (0, 0));
    assert_eq!(fixture.rows(asked).await.len(), 4);
    assert_eq!(fixture.rows(stored).await, before);
}

#[tokio::test]
async fn another_rate_counts_from_the_next_run_and_withdraws_requests_that_it_would_not_have_raised() {
    let fixture = JobFixture::new().await;
    fixture.seed(2).await;
    let due = |date| fixture.due(JobName::Decay, date);
    fixture.run(&fixture.scheduler("a").build(), due("2026-03-10")).await;
    let mut slower = fixture.scheduler("slower").build();
    slower.policies.decay.thresholds.belief.rate = 0.005;
    let report = fixture.run(&slower, due("2026-03-11")).await;
    assert_eq!((count(&report, "taken_back"), count(&report, "belief"), count(&report, "examined")), (2, 0, 2));
    assert!(fixture.rows("SELECT 'x' FROM memory WHERE review_due_at IS NOT NULL").await.is_empty());
    assert_eq!(fixture.run(&slower, due("2026-03-12")).await.examined, 0, "once");
    let mut faster = fixture.scheduler("faster").build();
    faster.policies.decay.thresholds.belief.rate = 0.02;
    assert_eq!(count(&fixture.run(&faster, due("2026-03-13")).await, "belief"), 4);
    let asked = "SELECT 'x' FROM memory WHERE review_due_at = recorded_at + 600 * 86400000000";
    assert_eq!(fixture.rows(asked).await.len(), 4, "asked since they fell under this policy");
}

#[tokio::test]
async fn adjacent_levels_are_reviewed_page_by_page_and_a_rate_between_them_decides_each() {
    let fixture = JobFixture::new().await;
    fixture.seed(1).await;
    // Three confidences within one thousandth, one in another; all are as old.
    let mut tx = fixture.database.begin(Access::Organization(ORG)).await.unwrap();
    let scope = [("org_id", Arg::from(ORG.0)), ("patient_id", patient(0).0.into())];
    for (n, confidence) in [0.9, 0.9001, 0.9009, 0.95].into_iter().cycle().take(40).enumerate() {
        let id = Uuid::from_u128(0x9_0000 + n as u128);
        let mut row = memory(id, "pattern", utc("2026-03-10T04:40:00Z") - TimeDelta::days(1_200), None);
        row.retain(|(name, _)| !["confidence", "decay_bucket"].contains(name));
        let level = level(Kind::Belief, confidence, false);
        row.extend([("confidence", confidence.into()), ("decay_bucket", level.into())]);
        insert(&mut tx, "memory", &[scope.to_vec(), row].concat()).await;
    }
    tx.commit().await.unwrap();
    let mut scheduler = fixture.scheduler("pages").build();
    scheduler.policies.decay.run.batch_size = 7;
    let first = fixture.run(&scheduler, fixture.due(JobName::Decay, "2026-03-10")).await;
    assert_eq!(count(&first, "belief"), 11, "ten of 0.9 and the patient's own");
    // One day lowers a belief by a third of a thousandth: 0.9001 falls within the next day, 0.9009 within the third.
    let later = ["2026-03-11", "2026-03-12", "2026-03-13"].map(|date| fixture.due(JobName::Decay, date));
    let mut fell = Vec::new();
    for due in later {
        fell.push(count(&fixture.run(&scheduler, due).await, "belief"));
    }
    assert_eq!(fell, [11, 0, 10]);
}

/// One symptom that a patient stated at an instant, as the pipeline hands it to the store.
fn asserted_batch(n: u8, at: DateTime<Utc>) -> OrgBatch {
    let scope = Scope::new(ORG, patient(7)).unwrap();
    let assertion = Assertion {
        id: FindingId(Uuid::from_u128(n.into())),
        source: Uuid::from_u128(0x50 + u128::from(n)),
        text: None,
        live: true,
        attribute: [3; 32],
        entity: EntityType::Symptom,
        kind: Kind::Note,
        class: Class::TimeBoundState,
        polarity: Polarity::Affirmed,
        experiencer: Experiencer::Patient,
        details: Default::default(),
        ending: false,
        past: false,
        blanket: false,
        never: false,
        set_by: SetBy::Patient,
        document_type: Some(DocumentType::ChatMessage),
        source_type: SourceType::External,
        epistemic: Epistemic::Explicit,
        trust: Trust::T1,
        is_proxy: false,
        extraction_confidence: 0.9,
        initial_confidence: 1.0,
        basis: ConfidenceBasis::Default,
        asserted_at: at,
        valid_from: at,
        expires_at: None,
        ends_at: None,
        recorded_at: at,
        tombstone: None,
    };
    let finding = NewFinding {
        scope,
        group: [4; 32],
        assertion,
        revision: 1,
        uncertain: false,
        temporality: Temporality::Recent,
        words: FindingWords { concept: "headache".into(), mention: "headache".into(), ..FindingWords::default() },
        evidence: None,
        extractor_version: "1".into(),
    };
    let entry =
        InboxEntry { message: [n; 32], body: [n; 32], scope, message_type: "document", done: MessageAct::default() };
    OrgBatch { inbox: vec![entry], findings: vec![finding], ..OrgBatch::default() }
}

impl JobFixture {
    /// Stores it at an instant, which folds the memory as of then.
    async fn store(&self, now: DateTime<Utc>, batch: OrgBatch) {
        self.clock.set(now);
        let keys = self.keys.ensure(&[batch.inbox[0].scope]).await.unwrap().known;
        let entropy = Arc::new(SeededEntropy::new(3));
        let store = Store::new(self.database.clone(), self.keys.clone(), self.clock.clone(), entropy);
        store.intake().commit(ORG, &batch, &keys).await.unwrap();
    }

    async fn projection(&self) -> Vec<String> {
        let mut all = self
            .rows("SELECT hex(id) || state || state_at || coalesce(valid_to, '-') || cycle FROM memory ORDER BY 1")
            .await;
        all.extend(self.rows("SELECT hex(memory_id) || status FROM symptom_states ORDER BY 1").await);
        all.extend(self.rows("SELECT hex(memory_id) || action || at FROM memory_event ORDER BY 1").await);
        all
    }
}

#[tokio::test]
async fn a_job_run_finds_what_projecting_the_log_at_that_time_finds() {
    let said = utc("2026-03-01T12:00:00Z");
    let (nightly, late) = (JobFixture::new().await, JobFixture::new().await);
    nightly.store(said + TimeDelta::minutes(1), asserted_batch(1, said)).await;
    assert_eq!(nightly.states().await.into_keys().collect::<Vec<_>>(), ["time_bound_state active"]);
    let due = nightly.due(JobName::Expiry, "2026-03-09");
    assert_eq!(nightly.run(&nightly.scheduler("a").build(), due).await.changed, 1);
    late.store(due.cutoff, asserted_batch(1, said)).await;
    assert_eq!(late.states().await.into_keys().collect::<Vec<_>>(), ["time_bound_state resolved_unconfirmed"]);
    assert_eq!(nightly.projection().await, late.projection().await);

    // A repetition begins another interval; the old one stays, and no event says that it was confirmed.
    let before = nightly.rows("SELECT hex(id) FROM outbox").await.len();
    for fixture in [&nightly, &late] {
        fixture.store(due.cutoff + TimeDelta::hours(5), asserted_batch(2, due.cutoff + TimeDelta::hours(4))).await;
    }
    assert_eq!(nightly.projection().await, late.projection().await);
    assert_eq!(nightly.states().await.len(), 2);
    assert_eq!(nightly.rows("SELECT hex(id) FROM outbox").await.len(), before + 1);
}
