//! Where memories come from and what became of them: links both ways, history, contradictions. Content-free.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::number;
use crate::statements::read::lineage as sql;
use crate::{MemoryReader, StoreError};
use anamnesis_core::ids::{ContradictionId, MemoryId};
use anamnesis_core::lineage::MemoryOrigins;
use anamnesis_core::provenance::SourceType;
use anamnesis_core::scope::Scope;
use anamnesis_sql::Arg;

/// The direction of a lineage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineageDirection {
    /// Towards its sources.
    Up,
    /// Towards memories that were made from it.
    Down,
}

/// One step of lineage in the direction that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineageEdge {
    pub relation: String,
    pub(crate) from_kind: String,
    pub from: Uuid,
    pub to_kind: String,
    pub to: Uuid,
}

/// One line of a memory's history (seed 001, section 5).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    pub at: DateTime<Utc>,
    pub action: String,
    /// `fold` for the log; a role or a job for the actor.
    pub source: String,
    /// Said by the fold, rather than done by a person.
    pub derived: bool,
    pub old_confidence: Option<f64>,
    pub new_confidence: Option<f64>,
    pub(crate) evidence_kind: Option<String>,
    pub evidence_id: Option<Uuid>,
}

/// Two memories that cannot both be so (seed 001, section 9; seed 002, section 6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredContradiction {
    pub id: ContradictionId,
    /// The memory that counts until a person answers.
    pub kept: MemoryId,
    pub claim: MemoryId,
    #[serde(rename = "type")]
    pub type_: String,
    pub state: String,
    pub found_at: DateTime<Utc>,
}

impl MemoryReader<'_> {
    /// One step of lineage from these memories.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn links(
        self,
        scope: Scope,
        ids: &[Uuid],
        direction: LineageDirection,
    ) -> Result<Vec<LineageEdge>, StoreError> {
        let sql = if direction == LineageDirection::Up { &sql::UP } else { &sql::DOWN };
        let rows = self.rows(sql, scope, vec![Arg::Uuids(ids.to_vec())]).await?;
        rows.iter()
            .map(|row| {
                Ok(LineageEdge {
                    relation: row.text(sql::up::RELATION)?,
                    from_kind: row.text(sql::up::FROM_KIND)?,
                    from: row.uuid(sql::up::FROM_ID)?,
                    to_kind: row.text(sql::up::TO_KIND)?,
                    to: row.uuid(sql::up::TO_ID)?,
                })
            })
            .collect()
    }

    /// The origins of memories. A profile event is a message, so its memories are no orphans.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn origins(self, scope: Scope, ids: &[MemoryId]) -> Result<HashMap<MemoryId, MemoryOrigins>, StoreError> {
        let list = Arg::Uuids(ids.iter().map(|id| id.0).collect());
        let mut found: HashMap<MemoryId, MemoryOrigins> = HashMap::new();
        for row in self.rows(&sql::ORIGINS, scope, vec![list]).await? {
            let origins = found.entry(MemoryId(row.uuid(sql::origins::ID)?)).or_default();
            origins.has_source = row.text(sql::origins::SOURCE_TYPE)? != SourceType::Unknown.code();
            let all = number(&row, sql::origins::LINKS)? as usize;
            let left = number(&row, sql::origins::LINKS_LEFT)? as usize;
            match row.opt_text(sql::origins::RELATION)?.as_deref() {
                Some("derived_from") => {
                    (origins.derived_from, origins.derived_from_left) = (all, left);
                    origins.captures = number(&row, sql::origins::CAPTURES)? as usize;
                }
                Some(_) => (origins.evidence, origins.evidence_left) = (all, left),
                None => {}
            }
        }
        Ok(found)
    }

    /// Version of the rules and lexicons that read the finding whose words a memory has.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read_by(self, scope: Scope, id: MemoryId) -> Result<Option<String>, StoreError> {
        let rows = self.rows(&sql::READ_BY, scope, vec![id.0.into()]).await?;
        Ok(rows.first().map(|row| row.text(sql::read_by::EXTRACTOR_VERSION)).transpose()?)
    }

    /// The history of a memory, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn history(self, scope: Scope, id: MemoryId) -> Result<Vec<HistoryEntry>, StoreError> {
        let rows = self.rows(&sql::HISTORY, scope, vec![id.0.into()]).await?;
        rows.iter()
            .map(|row| {
                Ok(HistoryEntry {
                    at: row.time(sql::history::AT)?,
                    action: row.text(sql::history::ACTION)?,
                    source: row.text(sql::history::SOURCE)?,
                    derived: row.bool(sql::history::DERIVED)?,
                    old_confidence: row.opt_f64(sql::history::OLD_CONFIDENCE)?,
                    new_confidence: row.opt_f64(sql::history::NEW_CONFIDENCE)?,
                    evidence_kind: row.opt_text(sql::history::EVIDENCE_KIND)?,
                    evidence_id: row.opt_uuid(sql::history::EVIDENCE_ID)?,
                })
            })
            .collect()
    }

    /// Contradictions of a patient, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn contradictions(self, scope: Scope) -> Result<Vec<StoredContradiction>, StoreError> {
        let rows = self.rows(&sql::CONTRADICTIONS, scope, Vec::new()).await?;
        rows.iter()
            .map(|row| {
                Ok(StoredContradiction {
                    id: ContradictionId(row.uuid(sql::contradictions::ID)?),
                    kept: MemoryId(row.uuid(sql::contradictions::KEPT_ID)?),
                    claim: MemoryId(row.uuid(sql::contradictions::CLAIM_ID)?),
                    type_: row.text(sql::contradictions::TYPE)?,
                    state: row.text(sql::contradictions::STATE)?,
                    found_at: row.time(sql::contradictions::FOUND_AT)?,
                })
            })
            .collect()
    }
}
