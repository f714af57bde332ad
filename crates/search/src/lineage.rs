//! Lineage as a tree: from a memory up to the raw capture and its document, or down to what was derived from it (seed
//! 001, section 4). A memory that was visited before is named and not expanded again, so that cycles end.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use uuid::Uuid;

use super::memory_item::{document_label, statement};
use anamnesis_core::ids::{DocumentId, MemoryId};
use anamnesis_core::memory::Kind;
use anamnesis_core::scope::Scope;
use anamnesis_store::read::{LineageDirection, LineageEdge, Memory, MemoryFilter, ReadInstant, StoredDocument};
use anamnesis_store::{Store, StoreError};

/// Deeper chains are cut; a summary of a summary of a summary has three.
const DEEPEST: usize = 64;

/// One step of lineage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineageNode {
    /// A memory's kind, `document`, or `event` for a profile event.
    pub kind: String,
    pub id: Uuid,
    /// The relation to its neighbour; `None` at the start.
    pub relation: Option<String>,
    pub label: String,
    /// Shown before, with its lineage.
    pub repeated: bool,
    pub children: Vec<LineageNode>,
}

/// The lineage of a memory; `None` when this patient has none of this id.
///
/// # Errors
/// When the store cannot be read.
pub async fn trace(
    store: &Store,
    scope: Scope,
    id: MemoryId,
    direction: LineageDirection,
) -> Result<Option<LineageNode>, StoreError> {
    let Some(start) = store.read().memory(scope, id, ReadInstant::Now).await? else { return Ok(None) };
    let edges = walk(store, scope, id.0, direction).await?;
    let mut ids: BTreeSet<Uuid> = edges.values().flatten().map(|edge| edge.to).collect();
    ids.insert(id.0);
    let filter = MemoryFilter::ids(ids.into_iter().map(MemoryId).collect());
    let memories: HashMap<Uuid, Memory> =
        store.read().memories(scope, &filter, ReadInstant::Now).await?.into_iter().map(|m| (m.id.0, m)).collect();
    let wanted: BTreeSet<DocumentId> =
        memories.values().filter(|m| m.kind == Kind::Raw).filter_map(|m| m.document_id).collect();
    let documents = store.read().revisions(scope, &wanted.into_iter().collect::<Vec<_>>()).await?;
    let mut tree = Tree { edges, memories, documents, shown: HashSet::new(), direction };
    Ok(Some(tree.node(start.kind.code(), id.0, None, 0)))
}

/// All edges that can be reached, by where they start.
async fn walk(
    store: &Store,
    scope: Scope,
    from: Uuid,
    direction: LineageDirection,
) -> Result<HashMap<Uuid, Vec<LineageEdge>>, StoreError> {
    let mut edges: HashMap<Uuid, Vec<LineageEdge>> = HashMap::new();
    let mut met = HashSet::from([from]);
    let mut frontier = vec![from];
    for _ in 0..DEEPEST {
        if frontier.is_empty() {
            break;
        }
        let found = store.read().links(scope, &frontier, direction).await?;
        frontier = found.iter().map(|edge| edge.to).filter(|to| met.insert(*to)).collect();
        for edge in found {
            edges.entry(edge.from).or_default().push(edge);
        }
    }
    Ok(edges)
}

struct Tree {
    edges: HashMap<Uuid, Vec<LineageEdge>>,
    memories: HashMap<Uuid, Memory>,
    documents: Vec<StoredDocument>,
    shown: HashSet<Uuid>,
    direction: LineageDirection,
}

impl Tree {
    fn node(&mut self, kind: &str, id: Uuid, relation: Option<String>, depth: usize) -> LineageNode {
        let repeated = !self.shown.insert(id);
        let mut children = Vec::new();
        if !repeated && depth < DEEPEST {
            children.extend(self.document(id));
            for edge in self.edges.get(&id).cloned().unwrap_or_default() {
                children.push(self.node(&edge.to_kind, edge.to, Some(edge.relation), depth + 1));
            }
        }
        // A link names a kind or only that it leads to a memory.
        let known = self.memories.get(&id).map(|memory| memory.kind.code());
        let label = self.label(kind, id);
        LineageNode { kind: known.unwrap_or(kind).to_owned(), id, relation, label, repeated, children }
    }

    /// Where every chain ends: the document that a raw capture is of.
    fn document(&self, id: Uuid) -> Option<LineageNode> {
        let raw = self.memories.get(&id).filter(|m| m.kind == Kind::Raw && self.direction == LineageDirection::Up)?;
        let held = self.documents.iter().find(|d| Some(d.id) == raw.document_id && Some(d.revision) == raw.revision);
        let document = raw.document_id?;
        let label = match held {
            Some(d) => {
                let label = document_label(d.document_type, d.occurred_at, &[]);
                let replaced = if d.current { "" } else { ", replaced by a later revision" };
                let file = d.content.file.as_ref().map(|file| format!(", sha256 {}", file.sha256)).unwrap_or_default();
                format!("{label}, revision {}{replaced}{file}", d.revision)
            }
            None => "document: no longer held".to_owned(),
        };
        let relation = Some("captured_from".to_owned());
        Some(LineageNode {
            kind: "document".into(),
            id: document.0,
            relation,
            label,
            repeated: false,
            children: Vec::new(),
        })
    }

    fn label(&self, kind: &str, id: Uuid) -> String {
        match self.memories.get(&id) {
            Some(memory) => {
                format!("{} ({}, {})", statement(memory), memory.status.state, memory.said_at.date_naive())
            }
            None if kind == "event" => "profile event".to_owned(),
            None => "no longer held".to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "lineage_tests.rs"]
mod tests;
