//! Builds one generation of vectors next to another: reads passages in the order of their key and which of them have a
//! vector of a generation, measures how far two generations agree, and removes generations that no search reads any
//! more.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::PageRequest;
use crate::pending_embeddings::PendingPassage;
use crate::statements::vectors::rebuild as sql;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::vector;
pub use anamnesis_core::vector::is_sound;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};
use anamnesis_text::Span;

/// (patient, passage).
pub type PassageKey = (Uuid, Uuid);

/// A passage on the way through all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageStep {
    pub key: PassageKey,
    document: Uuid,
    revision: u32,
    span: Span,
    seen: DateTime<Utc>,
    /// It has no vector of the active generation: the embedding batch makes it.
    pub embedding_pending: bool,
    /// It came while another generation was made.
    pub missing_next_generation: bool,
}

impl PassageStep {
    /// Whether the passage is in the 1-in-`every` sample. Sampling uses the id (a hash), so retries pick the same
    /// passages.
    pub fn is_sampled(&self, every: u64) -> bool {
        self.key.1.as_u64_pair().1.is_multiple_of(every.max(1))
    }
}

fn step(row: &Row) -> Result<PassageStep, DbError> {
    let number = |at: usize| row.i64(at).and_then(|n| u32::try_from(n).map_err(|_| DbError::Decode { index: at }));
    Ok(PassageStep {
        key: (row.uuid(sql::walk::PATIENT_ID)?, row.uuid(sql::walk::ID)?),
        document: row.uuid(sql::walk::DOCUMENT_ID)?,
        revision: number(sql::walk::REVISION)?,
        span: Span::new(number(sql::walk::START_OFFSET)? as usize, number(sql::walk::END_OFFSET)? as usize),
        seen: row.time(sql::walk::UPDATED_AT)?,
        embedding_pending: row.bool(sql::walk::EMBEDDING_PENDING)?,
        missing_next_generation: row.bool(sql::walk::MISSING_NEXT_GENERATION)?,
    })
}

/// The next passages after a key, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn walk(
    tx: &mut Transaction,
    org: OrgId,
    PageRequest { after, limit }: PageRequest<PassageKey>,
) -> Result<Vec<PassageStep>, DbError> {
    let args = vec![org.0.into(), after.0.into(), after.1.into(), limit.into()];
    tx.fetch_all(&sql::WALK, args).await?.iter().map(step).collect()
}

/// How many passages there are.
///
/// # Errors
/// Of the database.
pub async fn count(tx: &mut Transaction, org: OrgId) -> Result<u64, DbError> {
    counted(tx, &sql::COUNT, org).await
}

/// How many newly arrived passages lack a vector of the generation that is being built; as many rows are read.
///
/// # Errors
/// Of the database.
pub async fn count_backlog(tx: &mut Transaction, org: OrgId) -> Result<u64, DbError> {
    counted(tx, &sql::COUNT_MISSING_NEXT_GENERATION, org).await
}

/// The answer of `COUNT`, or of `COUNT_MISSING_NEXT_GENERATION`, which has the same column.
async fn counted(tx: &mut Transaction, sql: &Sql, org: OrgId) -> Result<u64, DbError> {
    let row = tx.fetch_optional(sql, vec![org.0.into()]).await?;
    Ok(row.map(|row| row.i64(sql::count::PASSAGES)).transpose()?.map_or(0, i64::unsigned_abs))
}

/// The vectors of one generation that these passages have.
///
/// # Errors
/// Of the database.
pub async fn vectors(
    tx: &mut Transaction,
    org: OrgId,
    generation: i64,
    steps: &[PassageStep],
) -> Result<HashMap<PassageKey, Vec<u8>>, DbError> {
    let pairs = Arg::Pairs(steps.iter().map(|step| (step.key.0, step.key.1.as_bytes().to_vec())).collect());
    let rows = tx.fetch_all(&sql::VECTORS, vec![org.0.into(), pairs, generation.into()]).await?;
    let vector = |row: &Row| {
        let key = (row.uuid(sql::vectors::PATIENT_ID)?, row.uuid(sql::vectors::PASSAGE_ID)?);
        Ok((key, row.blob(sql::vectors::VECTOR)?))
    };
    rows.iter().map(vector).collect()
}

/// Passages with their documents, to be embedded. One whose document went meanwhile is left out.
///
/// # Errors
/// Of the database.
pub async fn with_documents(
    tx: &mut Transaction,
    org: OrgId,
    steps: Vec<PassageStep>,
) -> Result<Vec<PendingPassage>, DbError> {
    let mut wanted: Vec<PassageKey> = steps.iter().map(|step| (step.key.0, step.document)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let pairs = Arg::Pairs(wanted.into_iter().map(|(patient, id)| (patient, id.as_bytes().to_vec())).collect());
    let mut contents: HashMap<(Uuid, Uuid, i64), Arc<Vec<u8>>> = HashMap::new();
    for row in tx.fetch_all(&sql::CONTENTS, vec![org.0.into(), pairs]).await? {
        let (patient, document) = (row.uuid(sql::contents::PATIENT_ID)?, row.uuid(sql::contents::DOCUMENT_ID)?);
        let content = Arc::new(row.blob(sql::contents::CONTENT_SEALED)?);
        contents.insert((patient, document, row.i64(sql::contents::REVISION)?), content);
    }
    let waiting = |step: PassageStep| {
        let PassageStep { key: (patient, passage), document, revision, span, seen, .. } = step;
        let sealed = Arc::clone(contents.get(&(patient, document, i64::from(revision)))?);
        Some(PendingPassage { patient: PatientId(patient), passage, document, revision, span, seen, sealed })
    };
    Ok(steps.into_iter().filter_map(waiting).collect())
}

/// Whether a newly arrived passage lacks a vector of the generation that is being built.
///
/// # Errors
/// Of the database.
pub async fn has_backlog(tx: &mut Transaction, org: OrgId) -> Result<bool, DbError> {
    Ok(tx.fetch_optional(&sql::ANY_MISSING_NEXT_GENERATION, vec![org.0.into()]).await?.is_some())
}

/// How far two generations agree on the nearest neighbours of one passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighborAgreement {
    /// Share of the nearest `k` that both name.
    pub overlap: f64,
    /// Spearman's, over all passages of the patient that both hold.
    pub(crate) rank_agreement: f64,
}

/// The passages of the same patient nearest to this one, by each of two generations, among those that both hold; the passage
/// itself is left out. `None` where the patient has too few to choose from.
///
/// # Errors
/// Of the database.
pub async fn neighbor_agreement(
    tx: &mut Transaction,
    org: OrgId,
    key: PassageKey,
    k: usize,
    both: [(i64, &[u8]); 2],
) -> Result<Option<NeighborAgreement>, DbError> {
    let (patient, passage) = key;
    let mut sides: [Vec<(Uuid, f64)>; 2] = Default::default();
    for ((generation, own), side) in both.into_iter().zip(&mut sides) {
        let query = crate::admission::vector_of(own);
        let args = vec![org.0.into(), patient.into(), generation.into(), Arg::Vector(own.to_vec())];
        for row in tx.fetch_all(&sql::SIMILARITIES, args).await? {
            let other = row.uuid(sql::similarities::PASSAGE_ID)?;
            let similarity = row.similarity(sql::similarities::SIMILARITY, Some(&query))?;
            side.extend(similarity.filter(|_| other != passage).map(|similarity| (other, similarity)));
        }
    }
    // A passage that only one of them has arrived in the meantime, so it is no difference between them.
    let held: [HashSet<Uuid>; 2] = [0, 1].map(|side| sides[side].iter().map(|(other, _)| *other).collect());
    for (side, others) in sides.iter_mut().zip(held.iter().rev()) {
        side.retain(|(other, _)| others.contains(other));
    }
    let [one, other] = &sides;
    let overlap = vector::overlap_at(k, one, other);
    Ok(overlap
        .zip(vector::rank_agreement(one, other))
        .map(|(overlap, rank_agreement)| NeighborAgreement { overlap, rank_agreement }))
}

/// The key of a stored vector: patient, generation and passage.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoredVectorKey {
    pub patient: Uuid,
    pub generation: i64,
    pub passage: Uuid,
}

impl StoredVectorKey {
    /// Before every other.
    pub const START: Self = Self { patient: Uuid::nil(), generation: i64::MIN, passage: Uuid::nil() };

    /// A row of `KEPT_VECTORS`, or of another statement with the same columns.
    pub(crate) fn from_row(row: &Row) -> Result<Self, DbError> {
        Ok(Self {
            patient: row.uuid(sql::kept_vectors::PATIENT_ID)?,
            generation: row.i64(sql::kept_vectors::GENERATION)?,
            passage: row.uuid(sql::kept_vectors::PASSAGE_ID)?,
        })
    }
}

/// Stored vectors of all generations after one, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn kept(
    tx: &mut Transaction,
    org: OrgId,
    PageRequest { after, limit }: PageRequest<&StoredVectorKey>,
) -> Result<Vec<StoredVectorKey>, DbError> {
    let args = vec![org.0.into(), after.patient.into(), after.generation.into(), after.passage.into(), limit.into()];
    tx.fetch_all(&sql::KEPT_VECTORS, args).await?.iter().map(StoredVectorKey::from_row).collect()
}

/// Removes stored vectors, by a statement for each generation among them.
///
/// # Errors
/// Of the database.
pub async fn forget<'k>(
    tx: &mut Transaction,
    org: OrgId,
    kept: impl Iterator<Item = &'k StoredVectorKey>,
) -> Result<(), DbError> {
    let mut by_generation: HashMap<i64, Vec<(Uuid, Vec<u8>)>> = HashMap::new();
    for one in kept {
        by_generation.entry(one.generation).or_default().push((one.patient, one.passage.as_bytes().to_vec()));
    }
    for (generation, pairs) in by_generation {
        tx.execute(&sql::FORGET_VECTORS, vec![org.0.into(), generation.into(), Arg::Pairs(pairs)]).await?;
    }
    Ok(())
}
