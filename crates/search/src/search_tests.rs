//! The fields of a hit.

use super::*;
use crate::fixture::{DOCUMENT, TEXT, WORLD, id, memory};
use anamnesis_store::records::StoredFile;
use uuid::Uuid;

/// "Duerme mejor."
fn candidate() -> PassageCandidate {
    let start = TEXT.find("Duerme").unwrap();
    PassageCandidate {
        id: PassageId(Uuid::from_u128(7)),
        document: DOCUMENT,
        revision: 1,
        document_type: DocumentType::ClinicalNote,
        occurred_at: WORLD.document.occurred_at,
        span: Span::new(start, TEXT.len()),
        terms: Vec::new(),
        length: 2,
        similarity: Some(0.8),
    }
}

const PARTS: ScoreParts = ScoreParts { meaning: Some(0.8), words: 0.0, concepts: 0.5, goes_on: false };
const FUSED: FusedScore = FusedScore { place: 0, weight: 0.0, parts: PARTS };
/// From which cosine on two texts are related.
const RELATED: f64 = 0.3;

/// A hit as shown, with all these memories available.
fn shown(fused: &FusedScore, c: &PassageCandidate, document: &StoredDocument, memories: &[Memory]) -> SearchHit {
    let opened = CitedDocuments {
        documents: [((document.id, document.revision), document.clone())].into(),
        memories: memories.to_vec(),
    };
    opened.hit(fused, std::slice::from_ref(c), RELATED).unwrap()
}

fn resting(n: u128, start: usize, end: usize, confidence: f64) -> Memory {
    memory(|m| {
        m.id = id(n);
        let quote = m.evidence.as_mut().unwrap();
        (quote.start, quote.end) = (start, end);
        m.status.effective_confidence = confidence;
    })
}

#[test]
fn a_hit_quotes_its_passage_and_carries_its_scores() {
    let c = candidate();
    let found = shown(&FUSED, &c, &WORLD.document, &[]);
    assert_eq!((found.fragment.as_str(), found.start, found.end), ("Duerme mejor.", c.span.start, c.span.end));
    assert_eq!((found.score, found.similarity, found.keyword, found.concept), (0.5, Some(0.8), None, Some(0.5)));
    assert_eq!((found.use_, found.keyword_only, found.low_confidence), (PermittedUse::History, false, false));
    assert_eq!((found.effective_confidence, found.memories.len()), (1.0, 0), "nothing rests on it");
    assert_eq!(found.source, "document: clinical_note, 2026-03-02");
    assert_eq!((found.passage_id, found.document_id, found.revision), (c.id, DOCUMENT, 1));
    let by_concept = FusedScore { parts: ScoreParts { meaning: Some(0.1), ..PARTS }, ..FUSED };
    let by_concept = shown(&by_concept, &c, &WORLD.document, &[]);
    assert!(by_concept.keyword_only && !by_concept.weak);
    let by_nothing = FusedScore { parts: ScoreParts { meaning: Some(0.1), concepts: 0.0, ..PARTS }, ..FUSED };
    let by_nothing = shown(&by_nothing, &c, &WORLD.document, &[]);
    assert!(by_nothing.weak && !by_nothing.keyword_only);
}

#[test]
fn an_answer_brings_the_question_before_it_and_what_is_asked_or_doubted_loses_weight() {
    let mut document = WORLD.document.clone();
    document.content.text = "¿Duerme? Duerme mejor.".into();
    let question = PassageCandidate { span: Span::new(0, "¿Duerme?".len()), ..candidate() };
    let answer = PassageCandidate { span: Span::new("¿Duerme? ".len(), document.content.text.len()), ..candidate() };
    let held = [question, answer];
    let doubt = resting(1, held[1].span.start, held[1].span.end, 0.5);
    let opened =
        CitedDocuments { documents: [((document.id, document.revision), document)].into(), memories: vec![doubt] };
    let found = |at, goes_on| {
        let fused = FusedScore { place: at, parts: ScoreParts { goes_on, ..PARTS }, ..FUSED };
        opened.hit(&fused, &held, RELATED).unwrap().asked
    };
    assert_eq!(found(1, true).as_deref(), Some("¿Duerme?"));
    assert_eq!((found(1, false), found(0, false)), (None, None));
    assert!((opened.against(&held, 0) - ASKS).abs() < 1e-9);
    assert!((opened.against(&held, 1) - DOUBT / 2.0).abs() < 1e-9);
}

#[test]
fn only_the_next_passage_of_the_same_document_follows() {
    let first = PassageCandidate { span: Span::new(0, 10), ..candidate() };
    let next = |start, revision| PassageCandidate { span: Span::new(start, 30), revision, ..candidate() };
    assert!(follows(&first, &next(11, 1)));
    assert!(!follows(&first, &next(11, 2)), "another revision");
    assert!(!follows(&first, &next(29, 1)), "one between them was forgotten");
    assert!(!follows(&next(11, 1), &first), "time goes one way");
}

#[test]
fn a_hit_is_as_sure_as_the_least_certain_memory_that_rests_on_it() {
    let c = candidate();
    let (start, end) = (c.span.start, c.span.end);
    let mut other_revision = resting(4, start, end, 0.1);
    other_revision.revision = Some(2);
    let mut other_document = resting(5, start, end, 0.1);
    other_document.document_id = None;
    let mut quoteless = resting(6, start, end, 0.1);
    quoteless.evidence = None;
    let all = [
        resting(1, start, end, 0.6),
        resting(2, start - 3, start + 1, 0.9),
        resting(3, 0, start, 0.2),
        other_revision,
        other_document,
        quoteless,
    ];
    let found = shown(&FUSED, &c, &WORLD.document, &all);
    assert_eq!(found.memories, [id(1), id(2)]);
    assert!((found.effective_confidence - 0.6).abs() < 1e-9 && !found.low_confidence);
    let mut doubtful = resting(1, start, end, 0.9);
    doubtful.status.low_confidence = true;
    assert!(shown(&FUSED, &c, &WORLD.document, &[doubtful]).low_confidence);
}

#[test]
fn each_speaker_of_a_passage_is_named_once_and_others_are_not() {
    let c = candidate();
    let (start, end) = (c.span.start, c.span.end);
    let mut document = WORLD.document.clone();
    document.content.turns = vec![
        (Speaker::Family, 0, start),
        (Speaker::Clinician, start, start + 6),
        (Speaker::Patient, start + 6, end - 1),
        (Speaker::Clinician, end - 1, end),
    ];
    let found = shown(&FUSED, &c, &document, &[]);
    assert_eq!(found.speakers, [Speaker::Patient, Speaker::Clinician]);
    assert_eq!(found.source, "document: clinical_note, 2026-03-02 (patient, clinician)");
}

#[test]
fn model_output_is_a_hypothesis_until_a_clinician_signs_it() {
    let c = PassageCandidate { document_type: DocumentType::Analysis, ..candidate() };
    let mut document = WORLD.document.clone();
    assert_eq!(shown(&FUSED, &c, &document, &[]).use_, PermittedUse::Hypothesis);
    document.signed_by = Some(Uuid::from_u128(5));
    assert_eq!(shown(&FUSED, &c, &document, &[]).use_, PermittedUse::History);
}

#[test]
fn a_hit_in_a_file_names_the_page_on_which_it_begins() {
    let c = candidate();
    let mut document = WORLD.document.clone();
    let (name, media_type, sha256) = ("a.pdf".to_owned(), "application/pdf".to_owned(), "ab12".to_owned());
    let starts = vec![0, c.span.start, c.span.end];
    document.content.file = Some(StoredFile { name, media_type, sha256, uri: None, pages: vec![], starts });
    let found = shown(&FUSED, &c, &document, &[]);
    assert_eq!(found.file.and_then(|file| file.page), Some(2));
    assert_eq!(found.source, "document: clinical_note, 2026-03-02, page 2");
}
