//! Where memories come from and what became of them: links both ways, history, contradictions. Content-free.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::number;
use crate::{Store, StoreError};
use anamnesis_core::ids::{ContradictionId, MemoryId};
use anamnesis_core::lineage::Origins;
use anamnesis_core::provenance::SourceType;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Sql};

// `processed_into` is `derived_from` told by the parent: it is walked downwards only, and each pair counts once.
static UP: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT relation, from_kind, from_id, to_kind, to_id FROM memory_link WHERE org_id = $1 AND patient_id = $2 \
         AND from_id IN {uuids $3} AND relation <> 'processed_into' ORDER BY relation, from_id, to_id",
    )
});
static DOWN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT relation, to_kind, to_id, from_kind, from_id FROM memory_link WHERE org_id = $1 AND patient_id = $2 \
         AND to_id IN {uuids $3} AND relation <> 'processed_into' \
         UNION ALL SELECT relation, from_kind, from_id, to_kind, to_id FROM memory_link AS made WHERE org_id = $1 \
         AND patient_id = $2 AND from_id IN {uuids $3} AND relation = 'processed_into' AND NOT EXISTS (SELECT 1 \
           FROM memory_link AS told WHERE told.org_id = made.org_id AND told.patient_id = made.patient_id \
           AND told.from_id = made.to_id AND told.to_id = made.from_id) ORDER BY 1, 3, 5",
    )
});
static HISTORY: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT at, action, source, derived, old_confidence, new_confidence, evidence_kind, evidence_id FROM memory_event \
         WHERE org_id = $1 AND patient_id = $2 AND memory_id = $3 \
         ORDER BY at, CASE action WHEN 'created' THEN 0 ELSE 1 END, id",
    )
});
static CONTRADICTIONS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, kept_id, claim_id, type, state, found_at FROM contradiction WHERE org_id = $1 AND patient_id = $2 \
         ORDER BY found_at DESC, id",
    )
});

static ORIGINS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT m.id, m.source_type, l.relation, count(l.to_id), \
         count(CASE WHEN l.to_kind = 'event' OR p.id IS NOT NULL THEN 1 END), count(CASE WHEN p.kind = 'raw' THEN 1 END) FROM memory AS m \
         LEFT JOIN memory_link AS l ON l.org_id = m.org_id AND l.patient_id = m.patient_id AND l.from_id = m.id \
           AND l.relation IN ('derived_from', 'source_episode') \
         LEFT JOIN memory AS p ON p.org_id = l.org_id AND p.patient_id = l.patient_id AND p.id = l.to_id \
         WHERE m.org_id = $1 AND m.patient_id = $2 AND m.id IN {uuids $3} GROUP BY m.id, m.source_type, l.relation",
    )
});

static READ_BY: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT f.extractor_version FROM memory AS m JOIN extracted_findings AS f ON f.org_id = m.org_id \
           AND f.patient_id = m.patient_id AND f.id = m.finding_id \
         WHERE m.org_id = $1 AND m.patient_id = $2 AND m.id = $3",
    )
});

/// Which way lineage is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To what it was made from.
    Up,
    /// To what was made from it.
    Down,
}

/// One step of lineage in the direction that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
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
    /// `fold` for what the log tells; a role or a job for who acted.
    pub source: String,
    /// Told by the fold, rather than done by somebody.
    pub derived: bool,
    pub old_confidence: Option<f64>,
    pub new_confidence: Option<f64>,
    pub(crate) evidence_kind: Option<String>,
    pub evidence_id: Option<Uuid>,
}

/// Two memories that cannot both be so (seed 001, section 9; seed 002, section 6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    pub id: ContradictionId,
    /// The one that stands until a person answers.
    pub kept: MemoryId,
    pub claim: MemoryId,
    #[serde(rename = "type")]
    pub type_: String,
    pub state: String,
    pub found_at: DateTime<Utc>,
}

impl Store {
    /// One step of lineage from these memories.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn links(&self, scope: Scope, ids: &[Uuid], direction: Direction) -> Result<Vec<Edge>, StoreError> {
        let sql = if direction == Direction::Up { &UP } else { &DOWN };
        let rows = self.rows(sql, scope, vec![Arg::Uuids(ids.to_vec())]).await?;
        rows.iter()
            .map(|row| {
                Ok(Edge {
                    relation: row.text(0)?,
                    from_kind: row.text(1)?,
                    from: row.uuid(2)?,
                    to_kind: row.text(3)?,
                    to: row.uuid(4)?,
                })
            })
            .collect()
    }

    /// What memories have to show for where they come from. A profile event is a message: it is not lost.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn origins(&self, scope: Scope, ids: &[MemoryId]) -> Result<HashMap<MemoryId, Origins>, StoreError> {
        let list = Arg::Uuids(ids.iter().map(|id| id.0).collect());
        let mut found: HashMap<MemoryId, Origins> = HashMap::new();
        for row in self.rows(&ORIGINS, scope, vec![list]).await? {
            let origins = found.entry(MemoryId(row.uuid(0)?)).or_default();
            origins.has_source = row.text(1)? != SourceType::Unknown.code();
            let (all, left) = (number(&row, 3)? as usize, number(&row, 4)? as usize);
            match row.opt_text(2)?.as_deref() {
                Some("derived_from") => {
                    (origins.derived_from, origins.derived_from_left) = (all, left);
                    origins.captures = number(&row, 5)? as usize;
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
    pub async fn read_by(&self, scope: Scope, id: MemoryId) -> Result<Option<String>, StoreError> {
        let rows = self.rows(&READ_BY, scope, vec![id.0.into()]).await?;
        Ok(rows.first().map(|row| row.text(0)).transpose()?)
    }

    /// What happened to a memory, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn history(&self, scope: Scope, id: MemoryId) -> Result<Vec<HistoryEntry>, StoreError> {
        let rows = self.rows(&HISTORY, scope, vec![id.0.into()]).await?;
        rows.iter()
            .map(|row| {
                Ok(HistoryEntry {
                    at: row.time(0)?,
                    action: row.text(1)?,
                    source: row.text(2)?,
                    derived: row.bool(3)?,
                    old_confidence: row.opt_f64(4)?,
                    new_confidence: row.opt_f64(5)?,
                    evidence_kind: row.opt_text(6)?,
                    evidence_id: row.opt_uuid(7)?,
                })
            })
            .collect()
    }

    /// Contradictions of a patient, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn contradictions(&self, scope: Scope) -> Result<Vec<Contradiction>, StoreError> {
        let rows = self.rows(&CONTRADICTIONS, scope, Vec::new()).await?;
        rows.iter()
            .map(|row| {
                Ok(Contradiction {
                    id: ContradictionId(row.uuid(0)?),
                    kept: MemoryId(row.uuid(1)?),
                    claim: MemoryId(row.uuid(2)?),
                    type_: row.text(3)?,
                    state: row.text(4)?,
                    found_at: row.time(5)?,
                })
            })
            .collect()
    }
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&UP, &DOWN, &ORIGINS, &READ_BY, &HISTORY, &CONTRADICTIONS]
}
