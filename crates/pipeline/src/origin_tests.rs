//! Speaker, source of knowledge and trust of each statement of a document.

use serde_json::{Value, json};

use super::*;
use crate::fixture::{ACTOR, document};
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_text::Span;

const SPEAKERS: [Speaker; 5] =
    [Speaker::Patient, Speaker::Clinician, Speaker::Family, Speaker::Agent, Speaker::Unknown];

fn submitted(document_type: &str, provenance: Value) -> DocumentSubmitted {
    document(document_type, &json!({"text": "Duerme mal desde el martes.", "provenance": provenance}))
}

fn signed() -> DocumentSubmitted {
    submitted("analysis", json!({"signed_by": ACTOR}))
}

fn origin(document: &DocumentSubmitted) -> StatementOrigin<'_> {
    StatementOrigin::from_document(document, Vec::new(), None)
}

fn turns(speakers: &[Speaker]) -> Vec<Turn> {
    speakers.iter().map(|speaker| Turn { speaker: *speaker, span: Span::new(0, 1), at_ms: None }).collect()
}

#[test]
fn a_turn_is_its_speakers_and_a_text_without_turns_is_its_types() {
    let transcript = submitted("session_transcript", json!({}));
    let tellers: Vec<Teller> = SPEAKERS.iter().map(|speaker| origin(&transcript).teller(Some(*speaker))).collect();
    assert_eq!(tellers, [Teller::Patient, Teller::Clinician, Teller::Family, Teller::Agent, Teller::Unknown]);
    for (document_type, teller) in [
        ("session_transcript", Teller::Unknown),
        ("clinical_note", Teller::Clinician),
        ("chat_message", Teller::Patient),
        ("intake_form", Teller::Patient),
        ("analysis", Teller::Agent),
        ("uploaded_document", Teller::Unknown),
    ] {
        assert_eq!(origin(&submitted(document_type, json!({}))).teller(None), teller, "{document_type}");
    }
}

#[test]
fn the_signer_of_an_analysis_is_the_speaker_of_all_of_it() {
    let signed = signed();
    let origin = origin(&signed);
    assert!(SPEAKERS.iter().all(|speaker| origin.teller(Some(*speaker)) == Teller::Clinician));
    assert!(!origin.is_model_output() && !origin.infers());
    assert_eq!(origin.set_by(Teller::Clinician), SetBy::Clinician);
    assert_eq!(origin.class(Class::LongLivedFact), Class::LongLivedFact);
    assert_eq!(origin.trust(SourceType::DirectExperience, Teller::Clinician), Trust::T1);
}

#[test]
fn model_output_is_an_inference_of_an_agent_whatever_it_quotes() {
    let analysis = submitted("analysis", json!({"source_type": "direct_experience"}));
    let origin = origin(&analysis);
    assert!(origin.is_model_output() && origin.infers());
    for teller in Teller::ALL {
        assert_eq!(origin.set_by(*teller), SetBy::Agent);
        assert_eq!(origin.source_type(*teller, false), SourceType::Inference);
    }
    assert_eq!(origin.class(Class::LongLivedFact), Class::Inference);
    assert!(origin.trust(SourceType::DirectExperience, Teller::Patient) >= Trust::T4);
}

#[test]
fn how_a_statement_is_known_follows_from_who_makes_it_unless_its_producer_says_so() {
    let plain = submitted("session_transcript", json!({}));
    let known: Vec<SourceType> = Teller::ALL.iter().map(|teller| origin(&plain).source_type(*teller, false)).collect();
    assert_eq!(
        known,
        [
            SourceType::DirectExperience,
            SourceType::DirectExperience,
            SourceType::External,
            SourceType::Inference,
            SourceType::Observation,
            SourceType::Observation,
        ]
    );
    assert_eq!(origin(&plain).source_type(Teller::Patient, true), SourceType::Inference, "read between the lines");
    let stated = submitted("chat_message", json!({"source_type": "seed", "source": "heard from Claire"}));
    assert_eq!(origin(&stated).source_type(Teller::Patient, false), SourceType::Seed, "a code wins over words");
    assert_eq!(origin(&stated).source_type(Teller::Patient, true), SourceType::Inference);
}

#[test]
fn a_source_in_words_names_another_entity() {
    let heard = submitted("chat_message", json!({"source": "heard from Claire"}));
    let origin = origin(&heard);
    assert_eq!(origin.entity.as_deref(), Some("claire"));
    assert_eq!(origin.source_type(Teller::Patient, false), SourceType::External);
    let nobody = submitted("chat_message", json!({}));
    assert_eq!(StatementOrigin::from_document(&nobody, Vec::new(), None).entity, None);
}

#[test]
fn words_made_from_an_inference_infer_and_are_trusted_no_more() {
    let chat = submitted("chat_message", json!({}));
    for (parents, infers, trust) in [
        (vec![], false, Trust::T1),
        (vec![Trust::T1, Trust::T3], false, Trust::T3),
        (vec![Trust::T1, Trust::T4], true, Trust::T4),
        (vec![Trust::T5, Trust::T2], true, Trust::T5),
    ] {
        let origin = StatementOrigin::from_document(&chat, parents.clone(), None);
        assert_eq!(origin.infers(), infers, "{parents:?}");
        assert_eq!(origin.trust(SourceType::DirectExperience, Teller::Patient), trust, "{parents:?}");
        let class = if infers { Class::Inference } else { Class::Event };
        assert_eq!(origin.class(Class::Event), class, "{parents:?}");
    }
}

#[test]
fn only_a_first_hand_word_is_better_known_than_what_it_replaces() {
    let chat = submitted("chat_message", json!({}));
    let origin = StatementOrigin::from_document(&chat, Vec::new(), Some(Trust::T5));
    assert_eq!(origin.trust(SourceType::DirectExperience, Teller::Patient), Trust::T1);
    assert_eq!(origin.trust(SourceType::External, Teller::Family), Trust::T5);
}

#[test]
fn a_capture_is_trusted_like_the_least_of_its_speakers() {
    let transcript = submitted("session_transcript", json!({}));
    let capture = |speakers: &[Speaker]| origin(&transcript).capture(&turns(speakers));
    assert_eq!(capture(&[Speaker::Patient, Speaker::Clinician]), Trust::T1);
    assert_eq!(capture(&[Speaker::Patient, Speaker::Family]), Trust::T3);
    assert_eq!(capture(&[Speaker::Agent, Speaker::Patient, Speaker::Family]), Trust::T4);
    assert_eq!(capture(&[]), Trust::T3, "nobody knows who speaks");
    let note = submitted("clinical_note", json!({}));
    assert_eq!(origin(&note).capture(&[]), Trust::T1);
    let proxy = submitted("clinical_note", json!({"is_proxy": true}));
    assert_eq!(origin(&proxy).capture(&[]), Trust::T3);
}

#[test]
fn a_capture_names_each_speaker_or_the_document_as_a_whole() {
    let transcript = submitted("session_transcript", json!({}));
    let set_by = origin(&transcript).tellers(&turns(&SPEAKERS));
    assert_eq!(set_by, [SetBy::Patient, SetBy::Clinician, SetBy::Family, SetBy::Agent, SetBy::Unknown]);
    assert_eq!(origin(&transcript).tellers(&[]), [SetBy::Unknown]);
    assert_eq!(origin(&submitted("intake_form", json!({}))).tellers(&[]), [SetBy::Patient]);
    assert_eq!(origin(&transcript).set_by(Teller::Device), SetBy::Device);
}

#[test]
fn the_patients_state_weighs_the_patients_own_words_and_no_others() {
    let tired = submitted("chat_message", json!({"cognitive_state": 40.0}));
    let first = |document: &DocumentSubmitted, source_type, teller, trust| {
        let initial = origin(document).confidence(source_type, teller, trust).unwrap();
        (initial.confidence, initial.basis)
    };
    let own = (SourceType::DirectExperience, Teller::Patient, Trust::T1);
    assert_eq!(first(&tired, own.0, own.1, own.2), (0.4, ConfidenceBasis::CognitiveState));
    let family = first(&tired, SourceType::External, Teller::Family, Trust::T3);
    assert_eq!(family, (1.0, ConfidenceBasis::Default));
    let formed = first(&tired, SourceType::Inference, Teller::Patient, Trust::T4);
    assert_eq!(formed, (0.8, ConfidenceBasis::Formed));
    let given = submitted("chat_message", json!({"confidence": 0.25, "cognitive_state": 40.0}));
    assert_eq!(first(&given, own.0, own.1, own.2), (0.25, ConfidenceBasis::Given));
    let proxy = submitted("chat_message", json!({"is_proxy": true, "confidence": 0.25}));
    assert!(origin(&proxy).is_proxy() && !origin(&given).is_proxy());
    assert_eq!(first(&proxy, own.0, own.1, own.2), (1.0, ConfidenceBasis::Proxy));
}

#[test]
fn a_number_out_of_range_gives_no_confidence() {
    let mut wrong = submitted("chat_message", json!({}));
    wrong.provenance.as_mut().unwrap().confidence = Some(1.5);
    assert_eq!(origin(&wrong).confidence(SourceType::DirectExperience, Teller::Patient, Trust::T1), None);
}
