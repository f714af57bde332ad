//! The names of dispositions, whether they stay open, and how they are counted.

use super::*;
use anamnesis_observability::metrics::Identity;

const ALL: [Disposition; 6] = [
    Disposition::Stored,
    Disposition::Duplicate,
    Disposition::Ephemeral,
    Disposition::Quarantined(Reason::NoConsent),
    Disposition::Retry,
    Disposition::Waits,
];

#[test]
fn a_message_is_offered_again_only_where_something_outside_failed() {
    let open: Vec<bool> = ALL.iter().map(|one| one.is_open()).collect();
    assert_eq!(open, [false, false, false, false, true, true]);
}

#[test]
fn a_wait_and_a_retry_share_one_word_and_all_others_have_their_own() {
    let codes: Vec<&str> = ALL.iter().map(|one| one.code()).collect();
    assert_eq!(codes, ["stored", "duplicate", "ephemeral", "quarantined", "retry", "retry"]);
}

#[test]
fn a_tally_adds_up_by_word_whatever_the_reason() {
    let mut tally = DispositionCounts::default();
    for one in ALL {
        tally.add(one);
    }
    tally.add(Disposition::Quarantined(Reason::Malformed));
    tally.add(Disposition::Stored);
    for (code, count) in [("stored", 2), ("duplicate", 1), ("ephemeral", 1), ("quarantined", 2), ("retry", 2), ("x", 0)]
    {
        assert_eq!(tally.count(code), count, "{code}");
    }
    assert_eq!(tally.total(), 8);
    assert_eq!(tally.iter().count(), 7, "each reason has its own line");
    assert!(tally.iter().any(|line| line == (Disposition::Quarantined(Reason::Malformed), 1)));
}

#[test]
fn every_message_is_counted_as_received_and_once_as_what_became_of_it() {
    let metrics = Metrics::new(&Identity::default()).unwrap();
    for one in ALL {
        count(&metrics, Queue::Bulk, MessageType::Profile, one);
    }
    assert_eq!(metrics.ingest.received.with_labels((Queue::Bulk, MessageType::Profile)).get(), 6);
    let outcome = |label| metrics.ingest.processed.with_labels((Queue::Bulk, MessageType::Profile, label)).get();
    assert_eq!(outcome(labels::Disposition::Stored), 1);
    assert_eq!(outcome(labels::Disposition::Duplicate), 1);
    assert_eq!(outcome(labels::Disposition::Ephemeral), 1);
    assert_eq!(outcome(labels::Disposition::Quarantined), 1);
    assert_eq!(outcome(labels::Disposition::Retried), 2);
    assert_eq!(metrics.ingest.quarantined.with_labels(Reason::NoConsent).get(), 1);
    assert_eq!(metrics.ingest.quarantined.with_labels(Reason::Malformed).get(), 0);
}

#[test]
fn each_type_of_message_has_its_own_label() {
    for (kind, wanted) in [
        (intake::MessageType::DocumentSubmitted, MessageType::Document),
        (intake::MessageType::HealthSignalRecorded, MessageType::HealthSignal),
        (intake::MessageType::ProfileUpdated, MessageType::Profile),
        (intake::MessageType::ConsentRecorded, MessageType::Consent),
        (intake::MessageType::MemoryCommand, MessageType::Command),
    ] {
        assert_eq!(label(kind), wanted);
    }
}
