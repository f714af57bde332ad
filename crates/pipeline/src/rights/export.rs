//! All that is held of a patient, a record a line.

use serde_json::{Value, json};

use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_store::read::{MemoryFilter, ReadInstant, TimeWindow};
use anamnesis_store::{Store, StoreError};

/// The records of an export. Forgotten memories can be recovered for a while, and are exported to no one meanwhile.
///
/// # Errors
/// Of the store; [`StoreError::Erased`].
pub async fn records(store: &Store, scope: Scope) -> Result<Vec<Value>, StoreError> {
    let mut all = Vec::new();
    if let Some(profile) = store.read().profile(scope).await? {
        let preferences = store.read().preferences(scope, ReadInstant::Now).await?;
        all.push(json!({"type": "profile", "profile": profile, "preferences": preferences}));
    }
    for document in store.read().documents(scope, TimeWindow::default(), usize::MAX, ReadInstant::Now).await? {
        all.push(json!({"type": "document", "document_id": document.id, "revision": document.revision,
            "document_type": document.document_type, "occurred_at": document.occurred_at,
            "text": document.content.text, "unread": document.content.unread, "themes": document.content.themes,
            "file": document.content.file}));
    }
    for one in store.erasure().archived(scope).await? {
        all.push(json!({"type": "archived", "document": one, "text": one.content.text}));
    }
    let kept = State::ALL.iter().copied().filter(|state| *state != State::Inactive);
    let filter = MemoryFilter { states: kept.collect(), ..MemoryFilter::default() };
    for memory in store.read().memories(scope, &filter, ReadInstant::Now).await? {
        all.push(json!({"type": "memory", "memory": memory}));
    }
    for (format, record) in store.intake().legacy_records(scope).await? {
        all.push(json!({"type": "legacy", "format": format, "record": record}));
    }
    Ok(all)
}
