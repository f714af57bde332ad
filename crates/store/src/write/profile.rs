//! Facts that profile events and commands set on the patient's own row. They are stored as they arrived and projected
//! (`core::profile`), so that the order of arrival has no effect.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use uuid::Uuid;

use super::BatchWriter;
use super::maintenance::MaintenanceWriter;
use crate::StoreError;
use crate::covered::{self, CoveredTable};
use crate::encrypted_columns::{Sealer, hash_row, open_record, open_text};
use crate::records::{EphemeralChange, ProfileChange};
use crate::statements::write::profile as sql;
use anamnesis_core::ids::PatientId;
use anamnesis_core::profile::{
    CognitiveHistory, EphemeralHistory, ProfileStatement, StatedProfile, StatementStamp, project,
};
use anamnesis_core::retention::{PrivacyTier, country};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys};
use anamnesis_sql::{Arg, Row, Sql, Transaction};

pub(super) static STATED: covered::LazyCoveredTable = LazyLock::new(|| {
    let columns = ["id", "stated_at", "cognitive_state", "disclaimer_accepted_at"];
    CoveredTable::new("profile_statement", &columns, &sql::statement::COLUMNS, "").since(2)
});
pub(super) static COVERED: covered::LazyCoveredTable =
    LazyLock::new(|| CoveredTable::new("ephemeral_mode", &["id", "from_at", "is_on"], &sql::mode::COLUMNS, ""));

/// Cells of the profile row.
pub(crate) fn profile_cell(scope: Scope, column: &'static str) -> ColumnRef {
    ColumnRef { table: "patient_profile", row: scope.patient().0, column }
}

/// Cells of a profile event.
fn statement_cell(id: Uuid, column: &'static str) -> ColumnRef {
    ColumnRef { table: "profile_statement", row: id, column }
}

/// Cells of a preference.
pub(crate) fn preference_cell(key_hash: &[u8; 32], column: &'static str) -> ColumnRef {
    ColumnRef { table: "conversation_preferences", row: hash_row(key_hash), column }
}

/// The query for ephemeral modes and how to read its rows; admission uses the same.
pub(crate) fn modes() -> &'static Sql {
    &sql::MODES_OF
}

/// The query for statements, whose rows [`statement`] reads.
pub(crate) fn stated() -> &'static Sql {
    &sql::STATEMENTS_OF
}

/// A row of [`stated`].
pub(crate) fn statement(keys: &PatientKeys, row: &Row) -> Result<ProfileStatement, StoreError> {
    let id = row.uuid(sql::statements_of::ID)?;
    let open = |at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, statement_cell(id, column), &sealed)).transpose()
    };
    let contacts = row.opt_blob(sql::statements_of::EMERGENCY_CONTACTS_SEALED)?;
    Ok(ProfileStatement {
        stamp: (row.time(sql::statements_of::STATED_AT)?, id),
        cognitive_state: row.opt_f64(sql::statements_of::COGNITIVE_STATE)?,
        disclaimer_accepted_at: row.opt_time(sql::statements_of::DISCLAIMER_ACCEPTED_AT)?,
        region: open(sql::statements_of::REGION_SEALED, "region")?,
        privacy_tier: open(sql::statements_of::PRIVACY_TIER_SEALED, "privacy_tier")?,
        emergency_contacts: contacts
            .map(|sealed| open_record(keys, statement_cell(id, "emergency_contacts"), &sealed))
            .transpose()?,
    })
}

/// The unencrypted columns of a patient's row for a profile: the tier and the country.
pub(crate) fn clear(profile: &StatedProfile) -> (Option<String>, Option<String>) {
    let tier = profile.privacy_tier.as_deref().and_then(PrivacyTier::read).map(|tier| tier.code().to_owned());
    (tier, profile.region.as_deref().and_then(country))
}

/// Adds a row of [`modes`] to its patient's course.
pub(crate) fn add_mode(courses: &mut HashMap<Uuid, EphemeralHistory>, row: &Row) -> Result<(), StoreError> {
    let stamp = (row.time(sql::modes_of::FROM_AT)?, row.uuid(sql::modes_of::ID)?);
    courses.entry(row.uuid(sql::modes_of::PATIENT_ID)?).or_default().add(stamp, row.bool(sql::modes_of::IS_ON)?);
    Ok(())
}

impl BatchWriter<'_> {
    pub(super) async fn profiles(&mut self, profiles: &[ProfileChange]) -> Result<(), StoreError> {
        if profiles.is_empty() {
            return Ok(());
        }
        let rows = profiles.iter().map(|p| self.statement_row(p)).collect::<Result<Vec<_>, _>>()?;
        self.tx.bulk(&sql::STATEMENT, rows).await?;
        let scopes: BTreeMap<Uuid, Scope> = profiles.iter().map(|p| (p.scope.patient().0, p.scope)).collect();
        self.project(&scopes).await?;
        let tiers = profiles.iter().filter(|p| p.statement.privacy_tier.is_some() || p.statement.region.is_some());
        let moved: Vec<Uuid> = tiers.map(|p| p.scope.patient().0).collect();
        if !moved.is_empty() {
            self.tx.execute(&sql::MARK_RETENTION_UNEVALUATED, vec![self.org().0.into(), Arg::Uuids(moved)]).await?;
        }
        let preferences = self.preference_rows(profiles)?;
        self.tx.bulk(&sql::PREFERENCE, preferences).await?;
        let weighing: Vec<Uuid> =
            profiles.iter().filter(|p| p.statement.cognitive_state.is_some()).map(|p| p.scope.patient().0).collect();
        if !weighing.is_empty() {
            let args = vec![self.org().0.into(), Arg::Uuids(weighing)];
            for row in self.tx.fetch_all(&sql::GROUPS_WEIGHED, args).await? {
                if let Some(scope) = scopes.get(&row.uuid(sql::groups_weighed::PATIENT_ID)?) {
                    self.touched.insert((*scope, row.bytes(sql::groups_weighed::GROUP_HASH)?));
                }
            }
        }
        Ok(())
    }

    /// How the cognitive state of these patients went, by patient.
    pub(super) async fn cognitive_courses(
        &mut self,
        patients: BTreeSet<Uuid>,
    ) -> Result<HashMap<Uuid, CognitiveHistory>, StoreError> {
        let mut courses: HashMap<Uuid, CognitiveHistory> = HashMap::new();
        let patients = Arg::Uuids(patients.into_iter().collect());
        for row in self.tx.fetch_all(&sql::COGNITIVE_STATES, vec![self.org().0.into(), patients]).await? {
            let patient = row.uuid(sql::cognitive_states::PATIENT_ID)?;
            let stamp = (row.time(sql::cognitive_states::STATED_AT)?, row.uuid(sql::cognitive_states::ID)?);
            courses.entry(patient).or_default().add(stamp, row.f64(sql::cognitive_states::COGNITIVE_STATE)?);
        }
        Ok(courses)
    }

    pub(super) async fn ephemeral_modes(&mut self, changes: &[EphemeralChange]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let (org, now) = (Arg::from(self.org().0), Arg::from(self.target.now));
        let row = |c: &EphemeralChange| {
            let row = sql::mode::Row {
                org_id: org.clone(),
                patient_id: c.scope.patient().0.into(),
                id: c.stamp.1.into(),
                from_at: c.stamp.0.into(),
                is_on: c.on.into(),
                created_at: now.clone(),
                updated_at: now.clone(),
                mac: Arg::Null,
            };
            Ok(COVERED.seal_row(self.keys_of(c.scope)?, row))
        };
        let rows = changes.iter().map(row).collect::<Result<_, StoreError>>()?;
        self.tx.bulk(&sql::MODE, rows).await?;
        let patients: BTreeSet<Uuid> = changes.iter().map(|c| c.scope.patient().0).collect();
        let courses = self.project_modes(patients).await?;
        // Messages that were quarantined since then may have been sent in that period.
        for change in changes.iter().filter(|change| change.on) {
            self.drop_quarantined(change.scope, change.stamp.0).await?;
        }
        let began = changes.iter().filter(|change| change.on).map(|change| change.scope).collect();
        self.remove_ephemeral(&courses, &began).await
    }

    /// Whether each of these patients is in ephemeral mode, from all switches; the courses that say so.
    async fn project_modes(&mut self, patients: BTreeSet<Uuid>) -> Result<HashMap<Uuid, EphemeralHistory>, StoreError> {
        let (org, now) = (Arg::from(self.org().0), Arg::from(self.target.now));
        let mut courses = HashMap::new();
        let args = vec![org.clone(), Arg::Uuids(patients.into_iter().collect())];
        for row in self.tx.fetch_all(&sql::MODES_OF, args).await? {
            add_mode(&mut courses, &row)?;
        }
        let row = |(patient, course): (&Uuid, &EphemeralHistory)| {
            let row = sql::project_mode::Row {
                org_id: org.clone(),
                patient_id: (*patient).into(),
                ephemeral: course.latest().unwrap_or(false).into(),
                updated_at: now.clone(),
            };
            row.into()
        };
        self.tx.bulk(&sql::PROJECT_MODE, courses.iter().map(row).collect()).await?;
        Ok(courses)
    }

    /// The patient's row after some statements are removed, and everything that was weighted by them.
    pub(super) async fn stated_again(&mut self, scope: Scope) -> Result<(), StoreError> {
        let patients = || Arg::Uuids(vec![scope.patient().0]);
        self.project(&BTreeMap::from([(scope.patient().0, scope)])).await?;
        self.tx.execute(&sql::MARK_RETENTION_UNEVALUATED, vec![self.org().0.into(), patients()]).await?;
        for row in self.tx.fetch_all(&sql::GROUPS_WEIGHED, vec![self.org().0.into(), patients()]).await? {
            self.touched.insert((scope, row.bytes(sql::groups_weighed::GROUP_HASH)?));
        }
        Ok(())
    }

    async fn project(&mut self, scopes: &BTreeMap<Uuid, Scope>) -> Result<(), StoreError> {
        let args = vec![self.org().0.into(), Arg::Uuids(scopes.keys().copied().collect())];
        let mut stated: BTreeMap<Uuid, Vec<ProfileStatement>> = scopes.keys().map(|id| (*id, Vec::new())).collect();
        for row in self.tx.fetch_all(&sql::STATEMENTS_OF, args).await? {
            let patient = row.uuid(sql::statements_of::PATIENT_ID)?;
            let Some(scope) = scopes.get(&patient) else { continue };
            let statement = statement(self.keys_of(*scope)?, &row)?;
            stated.entry(patient).or_default().push(statement);
        }
        let mut rows = Vec::with_capacity(stated.len());
        for (patient, statements) in stated {
            if let Some(scope) = scopes.get(&patient) {
                rows.push(self.projected_row(*scope, &project(statements))?);
            }
        }
        self.tx.bulk(&sql::PROJECT, rows).await?;
        Ok(())
    }

    fn statement_row(&self, p: &ProfileChange) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys: self.keys_of(p.scope)?, entropy: self.entropy };
        let said = &p.statement;
        let (at, id): StatementStamp = said.stamp;
        let now = Arg::from(self.target.now);
        let contacts = said.emergency_contacts.as_ref();
        let row = sql::statement::Row {
            org_id: self.org().0.into(),
            patient_id: p.scope.patient().0.into(),
            id: id.into(),
            stated_at: at.into(),
            cognitive_state: said.cognitive_state.into(),
            disclaimer_accepted_at: said.disclaimer_accepted_at.into(),
            region_sealed: sealer.optional(statement_cell(id, "region"), said.region.as_deref()),
            privacy_tier_sealed: sealer.optional(statement_cell(id, "privacy_tier"), said.privacy_tier.as_deref()),
            emergency_contacts_sealed: sealer.optional_record(statement_cell(id, "emergency_contacts"), contacts)?,
            created_at: now.clone(),
            updated_at: now,
            mac: Arg::Null,
        };
        Ok(STATED.seal_row(sealer.keys, row))
    }

    fn projected_row(&self, scope: Scope, profile: &StatedProfile) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys: self.keys_of(scope)?, entropy: self.entropy };
        let contacts = profile.emergency_contacts.as_ref();
        let (tier, country) = clear(profile);
        let row = sql::project::Row {
            org_id: self.org().0.into(),
            patient_id: scope.patient().0.into(),
            cognitive_state: profile.cognitive_state.into(),
            cognitive_state_at: profile.cognitive_state_at.into(),
            disclaimer_accepted_at: profile.disclaimer_accepted_at.into(),
            region_sealed: sealer.optional(profile_cell(scope, "region"), profile.region.as_deref()),
            privacy_tier_sealed: sealer.optional(profile_cell(scope, "privacy_tier"), profile.privacy_tier.as_deref()),
            emergency_contacts_sealed: sealer.optional_record(profile_cell(scope, "emergency_contacts"), contacts)?,
            profile_at: profile.profile_at.into(),
            privacy_tier: tier.into(),
            country: country.into(),
            updated_at: self.target.now.into(),
        };
        Ok(row.into())
    }

    /// One row per key: the latest of the batch.
    fn preference_rows(&self, profiles: &[ProfileChange]) -> Result<Vec<Vec<Arg>>, StoreError> {
        let mut latest: BTreeMap<(Uuid, [u8; 32]), (StatementStamp, Vec<Arg>)> = BTreeMap::new();
        let now = Arg::from(self.target.now);
        for p in profiles {
            let keys = self.keys_of(p.scope)?;
            let sealer = Sealer { keys, entropy: self.entropy };
            let (patient, stamp) = (p.scope.patient().0, p.statement.stamp);
            for (key, value) in &p.preferences {
                let hash = keys.hash("preference", anamnesis_text::fold(key).as_bytes());
                if latest.get(&(patient, hash)).is_some_and(|(known, _)| *known >= stamp) {
                    continue;
                }
                let row = sql::preference::Row {
                    org_id: self.org().0.into(),
                    patient_id: patient.into(),
                    key_hash: hash.into(),
                    key_sealed: sealer.text(preference_cell(&hash, "key"), key),
                    value_sealed: sealer.text(preference_cell(&hash, "value"), value),
                    source: "profile".into(),
                    confidence: 1.0.into(),
                    stated_at: stamp.0.into(),
                    stated_by: stamp.1.into(),
                    created_at: now.clone(),
                    updated_at: now.clone(),
                };
                latest.insert((patient, hash), (stamp, row.into()));
            }
        }
        Ok(latest.into_values().map(|(_, row)| row).collect())
    }
}

impl MaintenanceWriter<'_> {
    /// Projects the rows of patients again from their statements.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn project_again(&self, tx: &mut Transaction, patients: &[PatientId]) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(patients.iter().map(|patient| patient.0).collect()).await?;
        let scopes = patients.iter().filter_map(|patient| Scope::new(self.org, *patient).ok());
        let known = scopes.filter(|scope| self.keys.contains_key(scope)).map(|scope| (scope.patient().0, scope));
        let known: BTreeMap<Uuid, Scope> = known.collect();
        writer.project(&known).await?;
        writer.project_modes(known.keys().copied().collect()).await?;
        let patients = Arg::Uuids(known.keys().copied().collect());
        writer.tx.execute(&sql::MARK_RETENTION_UNEVALUATED, vec![self.org.0.into(), patients]).await?;
        Ok(())
    }
}
