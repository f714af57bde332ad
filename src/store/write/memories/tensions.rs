//! What a patient said and said otherwise: preferences, wishes and relationships that oppose each other stay both, linked and
//! typed (model.md, "Change of mind"; seed 001, sections 5 and 9). A clinical value that meets another is the fold's.
//!
//! The pairs are a projection of what is active: whichever message came first, the same pairs are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde_json::json;
use uuid::Uuid;

use super::conflicts::CONFLICT;
use super::rows::memory_cell;
use super::{Changed, Writer};
use crate::domain::contradiction::{Claim, ContradictionPolicy, ContradictionType, contradiction, shares_subject};
use crate::domain::finding::{EntityType, Experiencer};
use crate::domain::fold::KeyHash;
use crate::domain::ids::{MemoryId, derive};
use crate::domain::memory::State;
use crate::domain::scope::Scope;
use crate::store::StoreError;
use crate::store::engine::{Arg, Row, Sql};
use crate::store::records::FindingWords;
use crate::store::seal::{open_record, open_text};

/// The newest statements of a patient that a new one is compared with.
const MOST: usize = 200;

static STATED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, experiencer, valid_from, content_sealed, evidence_sealed FROM memory \
         WHERE org_id = $1 AND patient_id IN {uuids $2} AND state = 'active' \
           AND entity_type IN ('preference', 'goal', 'relationship') ORDER BY valid_from DESC, id",
    )
});
static DELETE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "DELETE FROM contradiction WHERE org_id = $1 AND (patient_id, group_hash) IN {keyed $2} \
         AND (kept_id IN {uuids $3} OR claim_id IN {uuids $4})",
    )
});

/// Whether statements of this kind can oppose each other without one of them being wrong.
pub(super) fn is_soft(entity: EntityType) -> bool {
    matches!(entity, EntityType::Preference | EntityType::Goal | EntityType::Relationship)
}

/// An active statement in the clear.
struct Stated {
    id: MemoryId,
    experiencer: Experiencer,
    /// Which relative, where it is known.
    person: Option<String>,
    valid_from: DateTime<Utc>,
    text: String,
}

impl Writer<'_> {
    /// Compares the statements that this batch changed with all that the patient holds, and writes the pairs.
    ///
    /// # Errors
    /// When the store cannot be read or written, or a cell does not open.
    pub(super) async fn write_tensions(
        &mut self,
        gone: &[(Scope, MemoryId)],
        changed: &[Changed<'_>],
    ) -> Result<(), StoreError> {
        let soft: Vec<&Changed<'_>> = changed.iter().filter(|c| is_soft(c.opening().entity)).collect();
        // What vanished may have been soft: its pairs go by its id.
        let touched = soft.iter().map(|c| (c.scope, c.folded.id)).chain(gone.iter().copied());
        let touched: BTreeSet<(Scope, MemoryId)> = touched.collect();
        if touched.is_empty() {
            return Ok(());
        }
        self.delete_tensions(&touched).await?;
        let fresh: BTreeSet<MemoryId> =
            soft.iter().filter(|c| c.was != Some(State::Active.code())).map(|c| c.folded.id).collect();
        let scopes: BTreeSet<Scope> = soft.iter().map(|c| c.scope).collect();
        let mut rows = Vec::new();
        for (scope, stated) in self.stated(&scopes).await? {
            let newest = &stated[..stated.len().min(MOST)];
            let is_touched = |one: &Stated| touched.contains(&(scope, one.id));
            // One sentence may have given two memories: it opposes another sentence once.
            let mut seen = BTreeSet::new();
            for (at, one) in newest.iter().enumerate() {
                let others = newest[at + 1..].iter().filter(|other| is_touched(one) || is_touched(other));
                let opposed = others.filter_map(|other| Some((other, opposition(one, other)?)));
                let opposed = opposed.filter(|(other, _)| seen.insert((one.text.as_str(), other.text.as_str())));
                for (earlier, type_) in opposed.collect::<Vec<_>>() {
                    let id = derive("contradiction", &[earlier.id.0.as_bytes(), one.id.0.as_bytes()]);
                    rows.push(self.tension_row(scope, id, (earlier, one), type_)?);
                    if fresh.contains(&one.id) || fresh.contains(&earlier.id) {
                        self.done.contradictions.push(type_.code());
                        let body = json!({"contradiction_id": id, "kept_memory_id": earlier.id,
                            "claim_memory_id": one.id, "type": type_.code()});
                        self.events.push(scope, "anamnesis.contradiction.found.v1", &[id.as_bytes()], body);
                    }
                }
            }
        }
        self.tx.bulk(&CONFLICT, rows).await?;
        Ok(())
    }

    async fn delete_tensions(&mut self, touched: &BTreeSet<(Scope, MemoryId)>) -> Result<(), StoreError> {
        let scopes: BTreeSet<Scope> = touched.iter().map(|(scope, _)| *scope).collect();
        let groups = scopes.iter().map(|scope| Ok((scope.patient().0, self.tension_group(*scope)?.to_vec())));
        let groups = Arg::Pairs(groups.collect::<Result<_, StoreError>>()?);
        let ids = Arg::Uuids(touched.iter().map(|(_, id)| id.0).collect());
        self.tx.execute(&DELETE, vec![self.target.org.0.into(), groups, ids.clone(), ids]).await?;
        Ok(())
    }

    /// A group of its own: folding a clinical attribute leaves these pairs alone.
    fn tension_group(&self, scope: Scope) -> Result<KeyHash, StoreError> {
        Ok(self.keys_of(scope)?.hash("tensions", b""))
    }

    /// The active statements of each patient, newest first.
    async fn stated(&mut self, scopes: &BTreeSet<Scope>) -> Result<BTreeMap<Scope, Vec<Stated>>, StoreError> {
        let patients = Arg::Uuids(scopes.iter().map(|scope| scope.patient().0).collect());
        let rows = self.tx.fetch_all(&STATED, vec![self.target.org.0.into(), patients]).await?;
        let mut stated: BTreeMap<Scope, Vec<Stated>> = BTreeMap::new();
        for row in rows {
            let patient = row.uuid(0)?;
            if let Some(scope) = scopes.iter().find(|scope| scope.patient().0 == patient) {
                stated.entry(*scope).or_default().push(self.opened(*scope, &row)?);
            }
        }
        Ok(stated)
    }

    fn opened(&self, scope: Scope, row: &Row) -> Result<Stated, StoreError> {
        let keys = self.keys_of(scope)?;
        let id = row.uuid(1)?;
        let words: FindingWords = open_record(keys, memory_cell(id, "content"), &row.blob(4)?)?;
        let quote = row.opt_blob(5)?.filter(|sealed| !sealed.is_empty());
        let quote = quote.map(|sealed| open_text(keys, memory_cell(id, "evidence"), &sealed)).transpose()?;
        Ok(Stated {
            id: MemoryId(id),
            experiencer: Experiencer::from_code(&row.text(2)?).ok_or(StoreError::Shape)?,
            person: words.person,
            valid_from: row.time(3)?,
            text: quote.unwrap_or(words.mention),
        })
    }

    fn tension_row(
        &self,
        scope: Scope,
        id: Uuid,
        (kept, claim): (&Stated, &Stated),
        type_: ContradictionType,
    ) -> Result<Vec<Arg>, StoreError> {
        let now = Arg::from(self.target.now);
        Ok(vec![
            scope.org().0.into(),
            scope.patient().0.into(),
            id.into(),
            self.tension_group(scope)?.into(),
            kept.id.0.into(),
            claim.id.0.into(),
            type_.code().into(),
            "open".into(),
            claim.valid_from.into(),
            now.clone(),
            now,
        ])
    }
}

/// How two statements of a patient oppose each other.
fn opposition(one: &Stated, other: &Stated) -> Option<ContradictionType> {
    if one.person != other.person {
        return None;
    }
    let claim = |stated: &'_ Stated| Claim { experiencer: Some(stated.experiencer), ..Claim::of("") };
    let (left, right) = (Claim { text: &one.text, ..claim(one) }, Claim { text: &other.text, ..claim(other) });
    // No vector is at hand here: that one speaks of all that the other speaks of stands for nearness.
    let near = shares_subject(&one.text, &other.text).then_some(1.0);
    contradiction(&left, &right, near, &ContradictionPolicy::default())
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&STATED, &DELETE]
}
