//! What an organisation says of itself: its zone, its privacy tier, the country it works in.

use std::sync::LazyLock;

use serde::Serialize;

use super::engine::{Access, Sql};
use super::{Store, StoreError};
use crate::domain::ids::OrgId;
use crate::domain::retention::PrivacyTier;

static LIST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, time_zone, redaction_policy, consent_required, privacy_tier, country FROM organization ORDER BY org_id",
    )
});
static SET: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE organization SET time_zone = coalesce($2, time_zone), privacy_tier = coalesce($3, privacy_tier), \
         country = coalesce($4, country), updated_at = $5 WHERE org_id = $1",
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&LIST, &SET]
}

/// One organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrganizationRow {
    #[serde(rename = "organization_id")]
    pub org: OrgId,
    /// An IANA name.
    pub time_zone: String,
    pub redaction_policy: String,
    pub consent_required: bool,
    /// What it asks for where a patient said nothing.
    pub privacy_tier: Option<PrivacyTier>,
    /// ISO 3166-1, two letters.
    pub country: Option<String>,
}

impl Store {
    /// All organisations that the store knows.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn organization_rows(&self) -> Result<Vec<OrganizationRow>, StoreError> {
        let mut tx = self.db.read(Access::Platform).await?;
        let rows = tx.fetch_all(&LIST, Vec::new()).await?;
        let read = |row: &super::engine::Row| {
            Ok(OrganizationRow {
                org: OrgId(row.uuid(0)?),
                time_zone: row.text(1)?,
                redaction_policy: row.text(2)?,
                consent_required: row.bool(3)?,
                privacy_tier: row.opt_text(4)?.as_deref().and_then(PrivacyTier::from_code),
                country: row.opt_text(5)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Changes what is given; false when the store does not know the organisation.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_organization(
        &self,
        org: OrgId,
        time_zone: Option<&str>,
        tier: Option<PrivacyTier>,
        country: Option<&str>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let args = vec![
            org.0.into(),
            time_zone.map(str::to_owned).into(),
            tier.map(|tier| tier.code().to_owned()).into(),
            country.map(str::to_owned).into(),
            self.clock.now().into(),
        ];
        let set = tx.execute(&SET, args).await? > 0;
        tx.commit().await?;
        Ok(set)
    }
}
