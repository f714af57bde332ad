//! What an organisation says of itself: its zone, its privacy tier, the country it works in.

use std::sync::LazyLock;

use serde::Serialize;

use super::{Store, StoreError, auditing, covered};
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::ids::OrgId;
use anamnesis_core::retention::PrivacyTier;
use anamnesis_crypto::{PlatformKey, first_half};
use anamnesis_sql::{Access, DbError, Row, Sql, Transaction};

static LIST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, time_zone, redaction_policy, consent_required, privacy_tier, country, withdrawal, \
         emergency_text_en, emergency_text_es FROM organization \
         ORDER BY org_id",
    )
});
static SET: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE organization SET time_zone = coalesce($2, time_zone), privacy_tier = coalesce($3, privacy_tier), \
         country = coalesce($4, country), consent_required = coalesce($5, consent_required), \
         withdrawal = coalesce($6, withdrawal), \
         emergency_text_en = nullif(coalesce($7, emergency_text_en), ''), \
         emergency_text_es = nullif(coalesce($8, emergency_text_es), ''), updated_at = $9 WHERE org_id = $1",
    )
});

// What decides of patients and their rows; which generation of vectors is searched is no policy.
static POLICY: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT mac, time_zone, redaction_policy, consent_required, privacy_tier, country, withdrawal, emergency_text_en, \
         emergency_text_es FROM organization WHERE org_id = $1",
    )
});
static COVER: LazyLock<Sql> = LazyLock::new(|| Sql::new("UPDATE organization SET mac = $2 WHERE org_id = $1"));

pub fn statements() -> Vec<&'static Sql> {
    vec![&LIST, &SET, &POLICY, &COVER]
}

/// Whether an organisation's policy is as this program set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Authentic,
    /// It was changed without the key of the store.
    Forged,
    /// Of a version before policies had a hash.
    Uncovered,
}

/// Compares the policy of an organisation with its keyed hash.
///
/// # Errors
/// Of the database.
pub async fn policy(tx: &mut Transaction, org: OrgId, key: &PlatformKey) -> Result<Policy, DbError> {
    let Some(row) = tx.fetch_optional(&POLICY, vec![org.0.into()]).await? else { return Ok(Policy::Authentic) };
    Ok(match row.opt_blob(0)? {
        None => Policy::Uncovered,
        Some(own) if own == mac(org, &row, key) => Policy::Authentic,
        Some(_) => Policy::Forged,
    })
}

/// Writes the keyed hash of an organisation's policy as it is now: the person who set it has seen it.
///
/// # Errors
/// Of the database.
pub async fn cover_policy(tx: &mut Transaction, org: OrgId, key: &PlatformKey) -> Result<(), DbError> {
    if let Some(row) = tx.fetch_optional(&POLICY, vec![org.0.into()]).await? {
        tx.execute(&COVER, vec![org.0.into(), mac(org, &row, key).to_vec().into()]).await?;
    }
    Ok(())
}

/// Of a row of [`POLICY`].
fn mac(org: OrgId, row: &Row, key: &PlatformKey) -> [u8; 16] {
    let content = covered::content(row.0.get(1..).unwrap_or_default());
    first_half(key.hash("organization", &[org.0.as_bytes(), &content]))
}

/// One organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrganizationRow {
    #[serde(rename = "organization_id")]
    pub org: OrgId,
    /// An IANA name.
    pub time_zone: String,
    pub redaction_policy: String,
    /// Nothing is stored of a patient without a permit.
    pub consent_required: bool,
    /// What becomes of memories when a patient withdraws consent.
    pub withdrawal: Withdrawal,
    /// What it asks for where a patient said nothing.
    pub privacy_tier: Option<PrivacyTier>,
    /// ISO 3166-1, two letters.
    pub country: Option<String>,
    /// What is shown in an emergency instead of the text of the country.
    pub emergency_text_en: Option<String>,
    pub emergency_text_es: Option<String>,
}

/// What an organisation is to say of itself from now on; `None` leaves it as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrganizationChange {
    pub time_zone: Option<String>,
    pub privacy_tier: Option<PrivacyTier>,
    pub country: Option<String>,
    pub consent_required: Option<bool>,
    pub withdrawal: Option<Withdrawal>,
    /// Empty: the text of the country again.
    pub emergency_text_en: Option<String>,
    pub emergency_text_es: Option<String>,
    /// Whether a person has looked at the policy as it is.
    pub seen: bool,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    Done,
    /// The store does not know the organisation.
    Unknown,
    /// The policy was changed without the key of the store, and nothing was changed now.
    Forged,
}

impl Store {
    /// All organisations that the store knows.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn organization_rows(&self) -> Result<Vec<OrganizationRow>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&LIST, Vec::new()).await?;
        let read = |row: &anamnesis_sql::Row| {
            Ok(OrganizationRow {
                org: OrgId(row.uuid(0)?),
                time_zone: row.text(1)?,
                redaction_policy: row.text(2)?,
                consent_required: row.bool(3)?,
                withdrawal: Withdrawal::from_code(&row.text(6)?).unwrap_or_default(),
                privacy_tier: row.opt_text(4)?.as_deref().and_then(PrivacyTier::from_code),
                country: row.opt_text(5)?,
                emergency_text_en: row.opt_text(7)?,
                emergency_text_es: row.opt_text(8)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Changes what is given. A policy that was changed behind the program is changed by nobody who has not seen it: it would
    /// become the program's own.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_organization(&self, org: OrgId, set: &OrganizationChange) -> Result<Set, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let is_own = match policy(&mut tx, org, self.keys.platform()).await? {
            Policy::Authentic => true,
            Policy::Forged => false,
            Policy::Uncovered => {
                let coverage = auditing::rows_are_covered(&mut tx, org, self.clock.now()).await?;
                coverage.version < covered::WITH_ACTS
            }
        };
        if !set.seen && !is_own {
            return Ok(Set::Forged);
        }
        let args = vec![
            org.0.into(),
            set.time_zone.clone().into(),
            set.privacy_tier.map(|tier| tier.code().to_owned()).into(),
            set.country.clone().into(),
            set.consent_required.map(i64::from).into(),
            set.withdrawal.map(|withdrawal| withdrawal.code().to_owned()).into(),
            set.emergency_text_en.clone().into(),
            set.emergency_text_es.clone().into(),
            self.clock.now().into(),
        ];
        let set = tx.execute(&SET, args).await? > 0;
        cover_policy(&mut tx, org, self.keys.platform()).await?;
        tx.commit().await?;
        Ok(if set { Set::Done } else { Set::Unknown })
    }
}
