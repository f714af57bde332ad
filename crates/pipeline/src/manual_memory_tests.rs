//! The sources of a command decide the trust of its words.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::fixture::{admitted, document, document_message};
use anamnesis_core::memory::SetBy;
use anamnesis_core::provenance::{SourceType, Teller};

fn id(n: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(n))
}

fn named(n: u128, trust: Trust) -> ReferencedMemory {
    ReferencedMemory { kind: Kind::Note, id: id(n), trust }
}

fn references(named: Vec<ReferencedMemory>, replaced: Option<u128>) -> CommandReferences {
    CommandReferences { named, replaced: replaced.map(id), ..CommandReferences::default() }
}

#[test]
fn grounds_are_weak_where_any_of_them_is_inferred_or_unknown() {
    for (trust, weak) in [
        (vec![], false),
        (vec![Trust::T1], false),
        (vec![Trust::T2, Trust::T3], false),
        (vec![Trust::T1, Trust::T4], true),
        (vec![Trust::T5], true),
    ] {
        let all = trust.iter().zip(1..).map(|(trust, n)| named(n, *trust)).collect();
        assert_eq!(references(all, None).are_weak(), weak, "{trust:?}");
    }
}

#[test]
fn what_is_replaced_is_no_ground_of_what_replaces_it() {
    let all = vec![named(1, Trust::T2), named(2, Trust::T5)];
    assert!(references(all.clone(), Some(1)).are_weak());
    assert!(!references(all, Some(2)).are_weak());
}

#[test]
fn the_words_of_a_command_inherit_from_their_grounds_and_from_what_they_replace() {
    let said = document("chat_message", &json!({"text": "Ahora duerme mejor."}));
    let trust = |references: CommandReferences, source_type, teller| {
        let mut entry = admitted(document_message("chat_message", &json!({"text": "Ahora duerme mejor."})));
        entry.references = references;
        entry.origin(&said).trust(source_type, teller)
    };
    let own = (SourceType::DirectExperience, Teller::Patient);
    let heard = (SourceType::External, Teller::Family);
    assert_eq!(trust(CommandReferences::default(), own.0, own.1), Trust::T1);
    assert_eq!(trust(references(vec![named(1, Trust::T4)], None), own.0, own.1), Trust::T4);
    assert_eq!(
        trust(references(vec![named(1, Trust::T4)], Some(1)), own.0, own.1),
        Trust::T1,
        "first-hand stands alone"
    );
    assert_eq!(trust(references(vec![named(1, Trust::T4)], Some(1)), heard.0, heard.1), Trust::T4);
    assert_eq!(trust(references(vec![named(1, Trust::T1)], Some(1)), heard.0, heard.1), Trust::T3);
    assert_eq!(trust(references(vec![named(1, Trust::T5)], Some(9)), own.0, own.1), Trust::T5, "another was replaced");
}

#[test]
fn a_document_of_a_message_comes_from_its_speaker() {
    let entry = admitted(document_message("clinical_note", &json!({"text": "Refiere insomnio."})));
    let origin = entry.origin(entry.document().unwrap());
    assert_eq!((origin.tellers(&[]), origin.infers()), (vec![SetBy::Clinician], false));
}
