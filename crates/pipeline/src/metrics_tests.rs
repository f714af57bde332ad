//! Under which words failures, writes and changes of state are counted.

use anamnesis_core::memory::Kind;

use super::*;

fn change(from: Option<State>, to: State) -> MemoryChange {
    MemoryChange { kind: Kind::Note, from, to, contested: false }
}

#[test]
fn a_reason_is_an_error_of_the_stage_that_quarantined_the_message() {
    let of = |stage: Option<Stage>| -> Vec<Reason> {
        Reason::ALL.iter().copied().filter(|reason| stage_of(*reason) == stage).collect()
    };
    let decode = [Reason::Malformed, Reason::SchemaUnknown, Reason::TooLarge, Reason::NulOrControl];
    assert_eq!(of(Some(Stage::Decode)), decode);
    assert_eq!(of(Some(Stage::Redact)), [Reason::RedactionFailed, Reason::UnsupportedLanguage]);
    let embed = [Reason::EmbeddingDimension, Reason::EmbeddingNotFinite, Reason::TransientExhausted];
    assert_eq!(of(Some(Stage::Embed)), embed);
    assert_eq!(of(Some(Stage::Store)), [Reason::CrashSuspect, Reason::ConstraintViolation]);
    assert_eq!(of(Some(Stage::Extract)), []);
    assert_eq!(of(None).len(), 8, "what is not permitted is no error of a stage: {:?}", of(None));
}

#[test]
fn a_failure_of_the_store_is_the_keys_the_stores_or_the_inputs() {
    for (error, code) in [
        (StoreError::Key(anamnesis_crypto::KeyError::Transient), ErrorCode::Key),
        (StoreError::Race, ErrorCode::Store),
        (StoreError::Db(DbError::Transient("busy")), ErrorCode::Store),
        (StoreError::Shape, ErrorCode::Invalid),
        (StoreError::Ungrounded, ErrorCode::Invalid),
        (StoreError::Erased, ErrorCode::Invalid),
        (StoreError::NoConsent, ErrorCode::Invalid),
    ] {
        assert_eq!(store_code(&error), code, "{error:?}");
    }
}

#[test]
fn a_new_memory_is_created_or_contradicts_and_an_old_one_changes() {
    assert_eq!(outcome(&change(None, State::Active)), WriteOutcome::Created);
    let contested = MemoryChange { contested: true, ..change(None, State::Active) };
    assert_eq!(outcome(&contested), WriteOutcome::Contradicted);
    let known = MemoryChange { contested: true, ..change(Some(State::Active), State::Active) };
    assert_eq!(outcome(&known), WriteOutcome::Reconfirmed, "what was contested before is not counted again");
    for (from, to, wanted) in [
        (State::Stale, State::Active, WriteOutcome::Reconfirmed),
        (State::Resolved, State::Resolved, WriteOutcome::Reconfirmed),
        (State::Superseded, State::Superseded, WriteOutcome::Reconfirmed),
        (State::Active, State::Superseded, WriteOutcome::Superseded),
        (State::Active, State::Resolved, WriteOutcome::Ended),
        (State::Active, State::Inactive, WriteOutcome::Ended),
    ] {
        assert_eq!(outcome(&change(Some(from), to)), wanted, "{from} to {to}");
    }
}

#[test]
fn only_the_rows_of_the_table_of_states_are_transitions() {
    let mut rows = Vec::new();
    for from in State::ALL {
        for to in State::ALL {
            rows.extend(transition(&change(Some(*from), *to)).map(|row| (*from, *to, row)));
        }
    }
    let wanted = [
        (State::Active, State::Resolved, Transition::Ended),
        (State::Active, State::ResolvedUnconfirmed, Transition::ResolvedUnconfirmed),
        (State::Active, State::Expired, Transition::Expired),
        (State::Active, State::Superseded, Transition::Superseded),
        (State::Active, State::Inactive, Transition::Forgotten),
        (State::Active, State::Quarantined, Transition::Quarantined),
        (State::ResolvedUnconfirmed, State::Active, Transition::Reactivated),
        (State::Stale, State::Active, Transition::Refreshed),
        (State::Inactive, State::Active, Transition::Recovered),
    ];
    assert_eq!(rows.len(), wanted.len(), "{rows:?}");
    assert!(wanted.iter().all(|row| rows.contains(row)), "{rows:?}");
    assert_eq!(transition(&change(None, State::Active)), None, "to be made is no change of state");
}

#[test]
fn each_class_of_risk_has_its_own_label() {
    for (class, label) in [
        (RiskClass::PassiveIdeation, Risk::PassiveIdeation),
        (RiskClass::ActiveIdeation, Risk::ActiveIdeation),
        (RiskClass::PlanOrMeans, Risk::PlanOrMeans),
        (RiskClass::AttemptHistory, Risk::AttemptHistory),
        (RiskClass::SelfHarm, Risk::SelfHarm),
        (RiskClass::HarmToOthers, Risk::HarmToOthers),
        (RiskClass::Abuse, Risk::Abuse),
    ] {
        assert_eq!(risk_label(class), label);
    }
}

#[test]
fn only_an_answer_about_the_text_itself_is_final() {
    assert_eq!(reason_of(&EmbedError::Dimension), Some(Reason::EmbeddingDimension));
    assert_eq!(reason_of(&EmbedError::NotFinite), Some(Reason::EmbeddingNotFinite));
    assert_eq!(reason_of(&EmbedError::Rejected), Some(Reason::TransientExhausted));
    for open in [EmbedError::Transient { after: None }, EmbedError::Misconfigured, EmbedError::BadAnswer] {
        assert_eq!(reason_of(&open), None, "{open:?}");
    }
}
