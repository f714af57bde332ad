//! Seeded bugs: in builds with debug assertions `ANAMNESIS_BUG=name` breaks one promise on purpose, so that the proofs
//! can show that they would notice. In release builds nothing of it exists.

/// Every bug that can be switched on, with the promise that it breaks.
pub(crate) const BUGS: &[(&str, &str)] = &[
    ("ack_before_commit", "a message is acknowledged after its effects are committed"),
    ("no_inbox", "the message's key is written in the transaction of its effects"),
    ("no_body_check", "the same id with another body is quarantined"),
    ("ignore_ack_false", "an acknowledgement that was not sent counts as none"),
    ("ack_over_open", "acknowledging many never covers a message that is still worked on"),
    ("retry_without_confirm", "a message leaves its queue when its retry is confirmed"),
    ("no_mandatory", "an event that no queue takes stays in the outbox"),
    ("publish_unconfirmed", "an event is marked when it was confirmed"),
    ("outbox_watermark", "every committed event is published, whatever the order of commits"),
    ("quarantine_unwritten", "a message is acknowledged when its quarantine is written"),
    ("attempt_after_work", "an attempt is recorded before the work"),
    ("error_text_logged", "no text of a message reaches the log"),
    ("fence_ignored", "an owner of a run that was replaced commits nothing more"),
    ("session_set", "nothing is set for a session: the next borrower of a connection finds nothing of the last"),
    ("deferred_begin", "a transaction that writes holds the write lock from its beginning"),
    ("vectors_unmarked", "what comes while a generation of vectors is made has one of it before the swap"),
    ("env_proxy", "no HTTP client asks the environment for a proxy"),
    ("refused_is_ok", "an event that a callback did not take waits; only 410 is its last word"),
    ("amqp_plain", "beyond this machine the broker is reached by amqps only"),
    ("keys_reminted", "a missing key store is not made anew for a store that knows patients"),
    ("master_swapped", "another master key is refused, for new patients too"),
    ("absent_is_erased", "a key that the key store does not have is no erased patient"),
    ("restore_foreign_keys", "a restore refuses keys that do not belong to the store"),
    ("header_flood", "requests that are begun and never finished stop nobody else"),
    ("spool_by_path", "a file of the spool is claimed before it is read"),
    ("migrate_unlocked", "of several programs that find a new file one migrates"),
    ("migrate_under_others", "no program migrates a file under an older program that runs"),
    ("refusal_blamed", "a store that refuses is a retry and no message's fault"),
    ("checkpoint_outlived", "what is said of a time before a checkpoint makes the fold begin anew"),
    ("erase_keeps_quarantine", "what waits in quarantine goes with the patient"),
    ("quarantine_under_platform", "a quarantined message of a known patient is sealed with that patient's key"),
    ("quarantine_forever", "the body of a quarantined message goes when its term ends"),
    ("emergency_reads_hypotheses", "emergency logic reads decision-grade clinical rows alone"),
    ("answers_for_ever", "the answer to a person's request goes when its term ends"),
    ("erase_unseen", "a batch under way writes nothing of a patient who is erased meanwhile"),
    ("role_from_body", "a role is the producer's to lend, whatever a message calls itself"),
    ("any_scope_consents", "a permit of another scope opens no memory"),
    ("chain_cut", "each block of the audit trail follows the one before"),
    ("read_unaudited", "a read of a patient's record is written down"),
    ("waits_counted", "a try that a refusing store ended does not count against its message"),
    ("erase_keeps_cache", "a vector of words that were erased goes with them"),
    ("erase_keeps_accounts", "accounts of what was erased go with it"),
    ("no_hash_is_old", "a row that lost its hash counts as changed"),
    ("acts_unread", "what people did and set is compared with the trail"),
    ("answer_counts_asked", "an answer says what was done, not what was asked for"),
    ("receipt_unproven", "an erasure that this program did not write down is not carried out"),
    ("records_for_ever", "a record ends twenty-six years after the last word about its patient"),
];

/// Whether a bug is switched on.
pub fn is(name: &str) -> bool {
    // A misspelt name would break nothing, and its proof would seem to pass.
    debug_assert!(BUGS.iter().any(|(known, _)| *known == name), "a bug that is not in the table");
    cfg!(debug_assertions) && std::env::var_os("ANAMNESIS_BUG").is_some_and(|on| on == name)
}

/// The last migration that this program knows, where `ANAMNESIS_SCHEMA` makes an older program of it.
pub fn schema() -> Option<i64> {
    // In release builds no variable changes the program.
    if !cfg!(debug_assertions) {
        return None;
    }
    std::env::var("ANAMNESIS_SCHEMA").ok().and_then(|version| version.parse().ok())
}

/// After how many steps a fold makes a checkpoint, where `ANAMNESIS_CHECKPOINT_EVERY` says so: with 1 every test is a test of
/// folding on.
pub(crate) fn checkpoint_every() -> Option<usize> {
    if !cfg!(debug_assertions) {
        return None;
    }
    std::env::var("ANAMNESIS_CHECKPOINT_EVERY").ok().and_then(|every| every.parse().ok())
}

/// Ends the process when `ANAMNESIS_DIE_OF` names a word of this text: a message that kills anyone who works it.
pub fn die_of(text: &str) {
    if is_named("ANAMNESIS_DIE_OF", text) {
        // No panic: a handler could catch it, and a crash is what is tested.
        std::process::abort();
    }
}

/// Panics where `ANAMNESIS_PANIC_OF` names a word of this text: a defect in the task that works with it.
///
/// # Panics
/// That is what it is for.
pub fn panic_of(text: &str) {
    assert!(!is_named("ANAMNESIS_PANIC_OF", text), "a word that ANAMNESIS_PANIC_OF names");
}

/// Whether redaction is to leave this text unchanged, since `ANAMNESIS_LEAK_OF` names a word of it: the later stages
/// must notice.
pub fn leaks(text: &str) -> bool {
    is_named("ANAMNESIS_LEAK_OF", text)
}

/// Whether a variable names a word of this text, in builds with debug assertions.
fn is_named(variable: &str, text: &str) -> bool {
    cfg!(debug_assertions) && std::env::var(variable).is_ok_and(|word| !word.is_empty() && text.contains(&word))
}

/// Where a test may kill the process: `ANAMNESIS_CRASH_AT=name` in builds with debug assertions, nothing in others.
pub fn crash_at(name: &str) {
    if cfg!(debug_assertions) && std::env::var_os("ANAMNESIS_CRASH_AT").is_some_and(|at| at == name) {
        std::process::abort();
    }
}
