//! A lineage ends at the document, names repeated memories, and follows no cycle.

use super::*;
use crate::fixture::{DOCUMENT, WORLD, id, memory, scope};
use anamnesis_core::memory::State;
use anamnesis_store::records::StoredFile;

fn traced(id: MemoryId, direction: LineageDirection) -> Option<LineageNode> {
    WORLD.runtime.block_on(trace(&WORLD.store, scope(), id, direction)).unwrap()
}

fn tree(memories: &[Memory], documents: &[StoredDocument], direction: LineageDirection) -> Tree {
    let memories = memories.iter().map(|m| (m.id.0, m.clone())).collect();
    Tree { edges: HashMap::new(), memories, documents: documents.to_vec(), shown: HashSet::new(), direction }
}

fn label_of(change: impl FnOnce(&mut StoredDocument)) -> Option<String> {
    let mut document = WORLD.document.clone();
    change(&mut document);
    tree(std::slice::from_ref(&WORLD.raw), &[document], LineageDirection::Up)
        .document(WORLD.raw.id.0)
        .map(|node| node.label)
}

#[test]
fn a_memory_goes_up_to_its_capture_and_the_capture_to_its_document() {
    let known = memory(|_| ());
    let start = traced(known.id, LineageDirection::Up).unwrap();
    assert_eq!((start.kind.as_str(), start.id, start.relation.as_deref()), ("note", known.id.0, None));
    assert_eq!(start.label, "Medication: sertraline 50 mg (active, 2026-03-02)");
    let raw = start.children.iter().find(|node| node.kind == "raw").unwrap();
    assert_eq!(raw.id, WORLD.raw.id.0);
    let document = &raw.children[0];
    assert_eq!((document.kind.as_str(), document.id), ("document", DOCUMENT.0));
    assert_eq!(document.relation.as_deref(), Some("captured_from"));
    assert_eq!(document.label, "document: clinical_note, 2026-03-02, revision 1");
}

#[test]
fn a_capture_goes_down_to_what_was_made_of_it_and_not_to_its_document() {
    let start = traced(WORLD.raw.id, LineageDirection::Down).unwrap();
    assert!(start.children.iter().all(|node| node.kind != "document"), "{start:?}");
    assert!(start.children.iter().any(|node| node.id == memory(|_| ()).id.0));
    assert_eq!(traced(id(99), LineageDirection::Up), None, "another patient's, or nobody's");
}

#[test]
fn a_document_says_its_revision_its_file_and_whether_it_was_replaced() {
    let plain = "document: clinical_note, 2026-03-02, revision 1";
    assert_eq!(label_of(|_| ()).as_deref(), Some(plain));
    let replaced = format!("{plain}, replaced by a later revision");
    assert_eq!(label_of(|d| d.current = false), Some(replaced.clone()));
    let uploaded = label_of(|d| {
        d.current = false;
        let (name, media_type) = ("informe.pdf".to_owned(), "application/pdf".to_owned());
        let sha256 = "ab12".to_owned();
        d.content.file = Some(StoredFile { name, media_type, sha256, uri: None, pages: vec![], starts: vec![] });
    });
    assert_eq!(uploaded, Some(format!("{replaced}, sha256 ab12")));
    assert_eq!(label_of(|d| d.revision = 2).as_deref(), Some("document: no longer held"));
}

#[test]
fn only_a_capture_on_its_way_up_ends_at_a_document() {
    let known = memory(|_| ());
    let all = [WORLD.raw.clone(), known.clone()];
    assert!(tree(&all, &[], LineageDirection::Up).document(WORLD.raw.id.0).is_some());
    assert!(tree(&all, &[], LineageDirection::Down).document(WORLD.raw.id.0).is_none());
    assert!(tree(&all, &[], LineageDirection::Up).document(known.id.0).is_none());
}

#[test]
fn what_was_shown_before_is_named_and_not_walked_again() {
    let mut tree = tree(std::slice::from_ref(&WORLD.raw), std::slice::from_ref(&WORLD.document), LineageDirection::Up);
    let first = tree.node("raw", WORLD.raw.id.0, None, 0);
    assert_eq!((first.repeated, first.children.len()), (false, 1));
    let again = tree.node("raw", WORLD.raw.id.0, Some("derived_from".to_owned()), 1);
    assert_eq!((again.repeated, again.children.len(), &again.label), (true, 0, &first.label));
    assert_eq!(again.relation.as_deref(), Some("derived_from"));
}

#[test]
fn a_chain_is_cut_at_its_greatest_depth() {
    let cut = |depth| {
        let mut tree = tree(std::slice::from_ref(&WORLD.raw), &[], LineageDirection::Up);
        tree.node("raw", WORLD.raw.id.0, None, depth).children.len()
    };
    assert_eq!((cut(DEEPEST - 1), cut(DEEPEST)), (1, 0));
}

#[test]
fn a_memory_that_is_gone_is_no_longer_held_and_a_profile_event_needs_no_words() {
    let ended = memory(|m| m.status.state = State::Resolved);
    let tree = tree(std::slice::from_ref(&ended), &[], LineageDirection::Up);
    assert_eq!(tree.label("note", ended.id.0), "Medication: sertraline 50 mg (resolved, 2026-03-02)");
    assert_eq!(tree.label("event", id(8).0), "profile event");
    assert_eq!(tree.label("note", id(8).0), "no longer held");
}
