//! Settings of an organisation: its time zone, its privacy tier, its country.

use serde::Serialize;

use super::{OrganizationStore, StoreError, audit_trail, covered};
use crate::statements::organizations as sql;
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::ids::OrgId;
use anamnesis_core::retention::PrivacyTier;
use anamnesis_crypto::{PlatformKey, first_half};
use anamnesis_sql::{Access, DbError, Row, Transaction};

/// Whether an organisation's policy is as this program set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyAuthenticity {
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
pub(crate) async fn policy(tx: &mut Transaction, org: OrgId, key: &PlatformKey) -> Result<PolicyAuthenticity, DbError> {
    let Some(row) = tx.fetch_optional(&sql::POLICY, vec![org.0.into()]).await? else {
        return Ok(PolicyAuthenticity::Authentic);
    };
    Ok(match row.opt_blob(sql::policy::MAC)? {
        None => PolicyAuthenticity::Uncovered,
        Some(own) if own == mac(org, &row, key) => PolicyAuthenticity::Authentic,
        Some(_) => PolicyAuthenticity::Forged,
    })
}

/// Writes the keyed hash of an organisation's policy as it is now: the person who set it has seen it.
///
/// # Errors
/// Of the database.
pub async fn cover_policy(tx: &mut Transaction, org: OrgId, key: &PlatformKey) -> Result<(), DbError> {
    if let Some(row) = tx.fetch_optional(&sql::POLICY, vec![org.0.into()]).await? {
        tx.execute(&sql::COVER_POLICY, vec![org.0.into(), mac(org, &row, key).to_vec().into()]).await?;
    }
    Ok(())
}

/// Of a row of [`sql::POLICY`]: all that comes after the hash is hashed alike.
fn mac(org: OrgId, row: &Row, key: &PlatformKey) -> [u8; 16] {
    let content = covered::content(row.0.get(sql::policy::MAC + 1..).unwrap_or_default());
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
    /// The effect of a withdrawal of consent on memories.
    pub withdrawal: Withdrawal,
    /// The tier of patients who stated none.
    pub privacy_tier: Option<PrivacyTier>,
    /// ISO 3166-1, two letters.
    pub country: Option<String>,
    /// The emergency text that replaces that of the country.
    pub emergency_text_en: Option<String>,
    pub emergency_text_es: Option<String>,
}

/// A change of an organisation's settings; `None` leaves a setting as it is.
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
    /// Whether a person has confirmed the current policy.
    pub seen: bool,
}

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrganizationUpdate {
    Applied,
    /// The store does not know the organisation.
    Unknown,
    /// The policy was changed without the key of the store, and nothing was changed now.
    Forged,
}

impl OrganizationStore<'_> {
    /// All organisations that the store knows.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn organization_rows(self) -> Result<Vec<OrganizationRow>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&sql::LIST, Vec::new()).await?;
        let read = |row: &anamnesis_sql::Row| {
            Ok(OrganizationRow {
                org: OrgId(row.uuid(sql::list::ORG_ID)?),
                time_zone: row.text(sql::list::TIME_ZONE)?,
                redaction_policy: row.text(sql::list::REDACTION_POLICY)?,
                consent_required: row.bool(sql::list::CONSENT_REQUIRED)?,
                withdrawal: Withdrawal::from_code(&row.text(sql::list::WITHDRAWAL)?).unwrap_or_default(),
                privacy_tier: row.opt_text(sql::list::PRIVACY_TIER)?.as_deref().and_then(PrivacyTier::from_code),
                country: row.opt_text(sql::list::COUNTRY)?,
                emergency_text_en: row.opt_text(sql::list::EMERGENCY_TEXT_EN)?,
                emergency_text_es: row.opt_text(sql::list::EMERGENCY_TEXT_ES)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Changes the given settings. A policy that was changed outside the program is only overwritten for a person who
    /// has seen it, because saving would make it the program's own.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_organization(
        self,
        org: OrgId,
        set: &OrganizationChange,
    ) -> Result<OrganizationUpdate, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let is_own = match policy(&mut tx, org, self.keys.platform()).await? {
            PolicyAuthenticity::Authentic => true,
            PolicyAuthenticity::Forged => false,
            PolicyAuthenticity::Uncovered => {
                let coverage = audit_trail::rows_are_covered(&mut tx, org, self.clock.now()).await?;
                coverage.version < covered::WITH_ACTS
            }
        };
        if !set.seen && !is_own {
            return Ok(OrganizationUpdate::Forged);
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
        let set = tx.execute(&sql::UPDATE, args).await? > 0;
        cover_policy(&mut tx, org, self.keys.platform()).await?;
        tx.commit().await?;
        Ok(if set { OrganizationUpdate::Applied } else { OrganizationUpdate::Unknown })
    }
}
