//! The audit trail in the store. Entries are written together with their subject, sealed into blocks afterwards, and
//! checked from the first block to the last (`anamnesis_core::audit`, docs/audit.md). Sealing has a separate
//! transaction, so that writers of one organisation do not wait for each other.

pub mod acts;
mod coverage;
pub mod runs;
mod verification;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::{AuditStore, PageRequest, StoreError};
use crate::statements::audit_trail as sql;
use crate::statements::erasure::statements::EVENT;
use anamnesis_core::audit::{self, Actor, AuditEntry, Block, Hash, Head, Salt, Salter, StoredEntry};
use anamnesis_core::clock::ordered_id;
use anamnesis_core::event::{AuditSealed, EventData as _};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{PlatformKey, first_half};
use anamnesis_sql::{Access, Arg, DbError, Row, Transaction};

pub use coverage::{RowCoverage, rows_are_covered, rows_covered};

/// Entries of one block at most: sealing stays a short transaction.
const MOST_ENTRIES: i64 = 5_000;

/// The chain of acts that belong to no organisation. An id that no organisation has: nil names none in a transaction.
pub const PLATFORM: OrgId = OrgId(Uuid::from_u128(0x616e_616d_6e65_8973_8000_706c_6174_666f));

/// Salts under the platform's key.
struct PlatformSalt<'a>(&'a PlatformKey);

impl Salter for PlatformSalt<'_> {
    fn salt(&self, content: &[u8]) -> Salt {
        first_half(self.0.hash("audit", &[content]))
    }
}

/// The type of the event that carries a head.
pub(crate) const SEALED: &str = AuditSealed::TYPE;

/// Seconds between two events of one chain, at least.
const ANNOUNCED_EVERY: i64 = 3_600;

/// An act and its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedAction<'a> {
    pub org: OrgId,
    pub patient: Option<PatientId>,
    /// Code of the act.
    pub action: &'a str,
    pub subject: Option<Uuid>,
    /// Code of how it ended: done, refused, withheld …
    pub outcome: &'a str,
}

impl<'a> AuditedAction<'a> {
    pub fn to(scope: Scope, action: &'a str) -> Self {
        Self { org: scope.org(), patient: Some(scope.patient()), action, subject: None, outcome: "done" }
    }

    pub fn in_organization(org: OrgId, action: &'a str) -> Self {
        Self { org, patient: None, action, subject: None, outcome: "done" }
    }

    #[must_use]
    pub(crate) fn on(self, subject: Uuid) -> Self {
        Self { subject: Some(subject), ..self }
    }

    #[must_use]
    pub(crate) fn ended(self, outcome: &'a str) -> Self {
        Self { outcome, ..self }
    }

    /// The entry of this id.
    pub(crate) fn entry(self, id: Uuid, at: DateTime<Utc>, actor: &Actor) -> AuditEntry {
        AuditEntry {
            org: self.org.0,
            id,
            at,
            patient: self.patient.map_or(Uuid::nil(), |patient| patient.0),
            actor: actor.id.clone(),
            role: actor.role.clone(),
            purpose: actor.purpose.map(|purpose| purpose.code().to_owned()),
            reason: actor.reason.as_ref().map(|reason| reason.as_str().to_owned()),
            action: self.action.to_owned(),
            subject: self.subject,
            outcome: self.outcome.to_owned(),
        }
    }
}

/// Writes entries into a transaction of their organisation. Those that are there already stay as they are.
///
/// # Errors
/// Of the database.
pub(crate) async fn write(tx: &mut Transaction, key: &PlatformKey, entries: &[AuditEntry]) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let salter = PlatformSalt(key);
    let row = |entry: &AuditEntry| sql::write::Row {
        org_id: entry.org.into(),
        patient_id: entry.patient.into(),
        id: entry.id.into(),
        at: entry.at.into(),
        actor: entry.actor.as_str().into(),
        role: entry.role.as_deref().into(),
        purpose: entry.purpose.as_deref().into(),
        reason: entry.reason.as_deref().into(),
        action: entry.action.as_str().into(),
        subject_id: entry.subject.into(),
        outcome: entry.outcome.as_str().into(),
        salt: salter.salt(&entry.content()).to_vec().into(),
        created_at: entry.at.into(),
        updated_at: entry.at.into(),
    };
    tx.bulk(&sql::WRITE, entries.iter().map(|entry| row(entry).into()).collect()).await?;
    Ok(())
}

/// Writes down that a run of a job changed something, in the transaction of its last batch. A run twice is one entry.
///
/// # Errors
/// Of the database.
pub async fn job_ran(
    tx: &mut Transaction,
    key: &PlatformKey,
    org: OrgId,
    (job, as_of): (&str, &str),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let id = derive("audit.job", &[org.0.as_bytes(), job.as_bytes(), as_of.as_bytes()]);
    write_by_job(tx, key, org, (&format!("job_{job}"), id), now).await
}

/// An entry of the program itself, in the chain of an organisation.
async fn write_by_job(
    tx: &mut Transaction,
    key: &PlatformKey,
    org: OrgId,
    (action, id): (&str, Uuid),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let entry = AuditedAction::in_organization(org, action).entry(id, now, &Actor::program("job"));
    write(tx, key, &[entry]).await
}

/// Records that a row of the ledger of runs was forged, and that the run starts again.
///
/// # Errors
/// Of the database.
pub async fn run_forged(
    tx: &mut Transaction,
    key: &PlatformKey,
    org: OrgId,
    (job, as_of): (&str, &str),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let at = anamnesis_core::clock::micros(now).to_be_bytes();
    let id = derive("audit.run_forged", &[org.0.as_bytes(), job.as_bytes(), as_of.as_bytes(), &at]);
    write_by_job(tx, key, org, ("run_forged", id), now).await
}

/// A filter of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFilter {
    pub org: OrgId,
    pub patient: Option<PatientId>,
    /// Empty: any.
    pub action: String,
    /// Empty for any actor.
    pub actor: String,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    pub most: i64,
}

/// An entry as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntryView {
    pub id: Uuid,
    pub at: DateTime<Utc>,
    pub(crate) organization_id: Uuid,
    /// `None`: on no patient, or erased.
    pub patient_id: Option<Uuid>,
    pub actor: String,
    pub role: Option<String>,
    pub purpose: Option<String>,
    pub reason: Option<String>,
    pub action: String,
    pub subject_id: Option<Uuid>,
    pub outcome: String,
    /// `None` until it is sealed.
    pub(crate) block: Option<u64>,
    pub erased: bool,
}

impl From<StoredEntry> for AuditEntryView {
    fn from(StoredEntry { entry, block, erased, .. }: StoredEntry) -> Self {
        Self {
            id: entry.id,
            at: entry.at,
            organization_id: entry.org,
            patient_id: Some(entry.patient).filter(|patient| !patient.is_nil()),
            actor: entry.actor,
            role: entry.role,
            purpose: entry.purpose,
            reason: entry.reason,
            action: entry.action,
            subject_id: entry.subject,
            outcome: entry.outcome,
            block,
            erased: erased.is_some(),
        }
    }
}

/// The result of sealing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SealingResult {
    pub entries: u64,
    /// Entries whose salt is not that of their content: they were written or changed without the key of the store.
    pub not_authentic: u64,
}

impl AuditStore<'_> {
    /// Writes down one act in a separate transaction.
    ///
    /// # Errors
    /// Of the database: the act is not written down.
    pub async fn audit(self, actor: &Actor, done: AuditedAction<'_>) -> Result<(), StoreError> {
        let now = self.clock.now();
        let entry = done.entry(ordered_id(now, self.entropy.as_ref()), now, actor);
        let mut tx = self.db.begin(Access::Organization(done.org)).await?;
        write(&mut tx, self.keys.platform(), &[entry]).await?;
        Ok(tx.commit().await?)
    }

    /// Entries, newest first.
    ///
    /// # Errors
    /// Of the database.
    pub async fn audit_entries(self, which: &AuditFilter) -> Result<Vec<AuditEntryView>, StoreError> {
        let mut tx = self.db.read(Access::Organization(which.org)).await?;
        let common = |more: Vec<Arg>| [vec![Arg::from(which.org.0)], more].concat();
        let filters = vec![
            which.action.as_str().into(),
            which.actor.as_str().into(),
            which.since.into(),
            which.until.into(),
            which.most.into(),
        ];
        let rows = match which.patient {
            Some(patient) => tx.fetch_all(&sql::OF_PATIENT, common([vec![patient.0.into()], filters].concat())).await?,
            None => tx.fetch_all(&sql::LIST, common(filters)).await?,
        };
        rows.iter().map(|row| stored(row).map(AuditEntryView::from)).collect()
    }

    /// Every organisation that has entries, and the platform's own.
    ///
    /// # Errors
    /// Of the database.
    pub async fn audited_organizations(self) -> Result<Vec<OrgId>, StoreError> {
        Ok(std::iter::once(PLATFORM).chain(self.stats().every_organization().await?).collect())
    }

    /// Seals the entries since the last block. Of two concurrent sealers, one writes the block.
    ///
    /// # Errors
    /// Of the database.
    pub async fn seal_audit(self, org: OrgId) -> Result<SealingResult, StoreError> {
        let mut sealed = SealingResult::default();
        loop {
            let one = self.seal_one(org).await?;
            sealed.entries += one.entries;
            sealed.not_authentic += one.not_authentic;
            if one.entries < MOST_ENTRIES.unsigned_abs() {
                return Ok(sealed);
            }
        }
    }

    async fn seal_one(self, org: OrgId) -> Result<SealingResult, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        // Read before the pending entries: if another sealer writes this block in the meantime, this one writes none.
        let before = tx.fetch_optional(&sql::LAST_BLOCK, vec![org.0.into()]).await?;
        let before = before.map(|row| block(org, &row)).transpose()?;
        let first = tx.fetch_optional(&sql::FIRST_BLOCK, vec![org.0.into()]).await?;
        let first = first.map(|row| block(org, &row)).transpose()?;
        let waiting = tx.fetch_all(&sql::UNSEALED, vec![org.0.into(), MOST_ENTRIES.into()]).await?;
        if waiting.is_empty() {
            return Ok(SealingResult::default());
        }
        let waiting = waiting.iter().map(stored).collect::<Result<Vec<_>, _>>()?;
        let leaves: Vec<Hash> = waiting.iter().map(StoredEntry::leaf).collect();
        let mut next = Block::seal(org.0, before.as_ref(), &leaves, self.clock.now());
        if failpoints::is("chain_cut") {
            next = Block { number: next.number, ..Block::seal(org.0, None, &leaves, next.sealed_at) };
        }
        let number = i64::try_from(next.number).map_err(|_| StoreError::Shape)?;
        let columns = vec![
            org.0.into(),
            number.into(),
            i64::try_from(next.entries).unwrap_or(i64::MAX).into(),
            next.sealed_at.into(),
            next.leaves.to_vec().into(),
            next.previous.to_vec().into(),
            next.hash.to_vec().into(),
        ];
        if tx.execute(&sql::INSERT_BLOCK, columns).await? == 0 {
            return Ok(SealingResult::default());
        }
        let ids: Vec<Uuid> = waiting.iter().map(|stored| stored.entry.id).collect();
        let count = ids.len() as u64;
        if tx.execute(&sql::SEAL, vec![org.0.into(), Arg::Uuids(ids), number.into()]).await? != count {
            return Ok(SealingResult::default());
        }
        let hour = |block: &Block| block.sealed_at.timestamp().div_euclid(ANNOUNCED_EVERY);
        let announced = org != PLATFORM && before.as_ref().is_none_or(|before| hour(before) != hour(&next));
        if announced {
            self.announce_head(&mut tx, &next).await?;
        }
        tx.commit().await?;
        if announced {
            self.outbox_notifier.notify_org(org);
        }
        let salter = PlatformSalt(self.keys.platform());
        let unsigned_are_old = audit::unsigned_are_old(first.as_ref().map(|first| first.sealed_at), next.sealed_at);
        let forged = |stored: &&StoredEntry| {
            stored.erased.is_none()
                && stored.salt.map_or(!unsigned_are_old, |salt| salt != salter.salt(&stored.entry.content()))
        };
        let not_authentic = waiting.iter().filter(forged).count() as u64;
        Ok(SealingResult { entries: waiting.len() as u64, not_authentic })
    }

    /// The first block of an hour is published as an event, so that a subscriber stores it out of reach of this store.
    async fn announce_head(self, tx: &mut Transaction, block: &Block) -> Result<(), StoreError> {
        let id = derive("event", &[block.org.as_bytes(), SEALED.as_bytes(), &block.number.to_be_bytes()]);
        let head = block.head();
        let Head { org: organization_id, block: number, hash, sealed_at } = head;
        let body = json!(AuditSealed { organization_id, block: number, hash, sealed_at });
        let sealed = self.keys.platform().seal(id, body.to_string().as_bytes(), self.entropy.as_ref());
        let nobody = Uuid::nil();
        let args = [block.org.into(), id.into(), nobody.into(), SEALED.into(), sealed.into(), block.sealed_at.into()];
        tx.execute(&EVENT, args.into()).await?;
        Ok(())
    }

    /// The newest blocks' heads at an instant, one for each organisation that has any.
    ///
    /// # Errors
    /// Of the database.
    pub async fn audit_heads(self, orgs: &[OrgId], as_of: DateTime<Utc>) -> Result<Vec<Head>, StoreError> {
        let mut heads = Vec::new();
        for org in orgs {
            let mut tx = self.db.read(Access::Organization(*org)).await?;
            let row = tx.fetch_optional(&sql::LAST_BLOCK_AT, vec![org.0.into(), as_of.into()]).await?;
            heads.extend(row.map(|row| block(*org, &row)).transpose()?.map(|block| block.head()));
        }
        Ok(heads)
    }

    /// Removes entries of the platform's own chain that were sealed before an instant: no organisation's job does.
    ///
    /// # Errors
    /// Of the database.
    pub async fn purge_platform_audit(self, before: DateTime<Utc>) -> Result<u64, StoreError> {
        let mut tx = self.db.begin(Access::Organization(PLATFORM)).await?;
        let blocks = purgeable(&mut tx, PLATFORM, before, PageRequest { after: i64::MIN, limit: 100 }).await?;
        let gone = purge(&mut tx, PLATFORM, &blocks, before).await?;
        tx.commit().await?;
        Ok(gone)
    }
}

/// Removes the entries of blocks, whose hashes stay; returns how many entries. On PostgreSQL the role is one that runs jobs.
pub(crate) async fn purge(
    tx: &mut Transaction,
    org: OrgId,
    blocks: &[i64],
    before: DateTime<Utc>,
) -> Result<u64, DbError> {
    if blocks.is_empty() {
        return Ok(0);
    }
    tx.execute(&sql::MARK_PURGED, vec![org.0.into(), Arg::Ints(blocks.to_vec()), before.into()]).await?;
    tx.execute(&sql::PURGE, vec![org.0.into(), Arg::Ints(blocks.to_vec())]).await
}

/// Numbers of blocks that were sealed before an instant and have their entries, after one.
pub(crate) async fn purgeable(
    tx: &mut Transaction,
    org: OrgId,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<i64>,
) -> Result<Vec<i64>, DbError> {
    let rows = tx.fetch_all(&sql::PURGEABLE, vec![org.0.into(), until.into(), after.into(), limit.into()]).await?;
    rows.iter().map(|row| row.i64(sql::purgeable::NUMBER)).collect()
}

/// An entry: a row of `LIST`, or of another statement with the same columns.
fn stored(row: &Row) -> Result<StoredEntry, StoreError> {
    use sql::list as of;
    // An entry of another shape was not written by this program: it is faulty, but does not stop the check.
    let salt = row.opt_blob(of::SALT)?.map(|salt| salt.try_into().unwrap_or([0; 16]));
    let (leaf, by) = (row.opt_blob(of::LEAF)?, row.opt_uuid(of::ERASED_BY)?);
    let erased = (leaf.is_some() || by.is_some())
        .then(|| (leaf.and_then(|leaf| leaf.try_into().ok()).unwrap_or([0; 32]), by.unwrap_or_default()));
    let entry = AuditEntry {
        org: row.uuid(of::ORG_ID)?,
        id: row.uuid(of::ID)?,
        patient: row.uuid(of::PATIENT_ID)?,
        at: row.time(of::AT)?,
        actor: row.text(of::ACTOR)?,
        role: row.opt_text(of::ROLE)?,
        purpose: row.opt_text(of::PURPOSE)?,
        reason: row.opt_text(of::REASON)?,
        action: row.text(of::ACTION)?,
        subject: row.opt_uuid(of::SUBJECT_ID)?,
        outcome: row.text(of::OUTCOME)?,
    };
    let block = row.opt_i64(of::BLOCK)?.map(i64::unsigned_abs);
    Ok(StoredEntry { entry, salt, block, erased })
}

/// A row of `LAST_BLOCK`, or of another statement with the same columns.
fn block(org: OrgId, row: &Row) -> Result<Block, StoreError> {
    use sql::last_block as of;
    let hash_at = |at| row.blob(at).map(|bytes| bytes.try_into().unwrap_or([0; 32]));
    Ok(Block {
        org: org.0,
        number: row.i64(of::NUMBER)?.unsigned_abs(),
        entries: row.i64(of::ENTRIES)?.unsigned_abs(),
        sealed_at: row.time(of::SEALED_AT)?,
        leaves: hash_at(of::LEAVES)?,
        previous: hash_at(of::PREVIOUS)?,
        hash: hash_at(of::HASH)?,
        purged_before: row.opt_time(of::PURGED_BEFORE)?,
    })
}
