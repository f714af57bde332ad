//! What profile events and commands set on the patient's own row: kept as it came, and projected
//! (`domain::profile`), so that the order of arrival does not matter.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use uuid::Uuid;

use super::Writer;
use super::nightly::Shift;
use crate::StoreError;
use crate::covered::{self, Covered};
use crate::records::{EphemeralChange, ProfileChange};
use crate::seal::{Sealer, hash_row, open_record, open_text};
use anamnesis_core::ids::PatientId;
use anamnesis_core::profile::{CognitiveCourse, EphemeralCourse, ProfileStatement, Stamp, StatedProfile, fold};
use anamnesis_core::retention::{PrivacyTier, country};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Cell, PatientKeys};
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Row, Sql, Transaction};

const STATEMENT_COLUMNS: [Column; 12] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("stated_at", ColumnType::Int),
    ("cognitive_state", ColumnType::Float),
    ("disclaimer_accepted_at", ColumnType::Int),
    ("region_sealed", ColumnType::Bytes),
    ("privacy_tier_sealed", ColumnType::Bytes),
    ("emergency_contacts_sealed", ColumnType::Bytes),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static STATEMENT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new("profile_statement", &STATEMENT_COLUMNS, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});
pub(super) static STATED: covered::Lazy = LazyLock::new(|| {
    let columns = ["id", "stated_at", "cognitive_state", "disclaimer_accepted_at"];
    Covered::new("profile_statement", &columns, &STATEMENT_COLUMNS, "").since(2)
});
static STATEMENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, stated_at, cognitive_state, disclaimer_accepted_at, region_sealed, privacy_tier_sealed, \
         emergency_contacts_sealed FROM profile_statement WHERE org_id = $1 AND patient_id IN {uuids $2}",
    )
});
static PROJECT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("cognitive_state", ColumnType::Float),
        ("cognitive_state_at", ColumnType::Int),
        ("disclaimer_accepted_at", ColumnType::Int),
        ("region_sealed", ColumnType::Bytes),
        ("privacy_tier_sealed", ColumnType::Bytes),
        ("emergency_contacts_sealed", ColumnType::Bytes),
        ("profile_at", ColumnType::Int),
        ("privacy_tier", ColumnType::Text),
        ("country", ColumnType::Text),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::over(
        "UPDATE patient_profile SET cognitive_state = r.cognitive_state, cognitive_state_at = r.cognitive_state_at, \
         disclaimer_accepted_at = r.disclaimer_accepted_at, region_sealed = r.region_sealed, \
         privacy_tier_sealed = r.privacy_tier_sealed, emergency_contacts_sealed = r.emergency_contacts_sealed, \
         profile_at = r.profile_at, privacy_tier = r.privacy_tier, country = r.country, updated_at = r.updated_at FROM {rows} AS r \
         WHERE patient_profile.org_id = r.org_id AND patient_profile.patient_id = r.patient_id",
        &columns,
    )
});
// Another tier or country: when each source is due is reckoned anew.
static UNRECKON: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE documents SET reckoned = 0 WHERE org_id = $1 AND patient_id IN {uuids $2} AND fate IS NULL AND reckoned = 1",
    )
});
static COURSE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, stated_at, cognitive_state FROM profile_statement \
         WHERE org_id = $1 AND patient_id IN {uuids $2} AND cognitive_state IS NOT NULL",
    )
});
// What rests on no confidence of its own depends on how the patient was when it was said.
static WEIGHED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT DISTINCT patient_id, group_hash FROM extracted_findings WHERE org_id = $1 AND patient_id IN {uuids $2} \
         AND confidence_basis = 'default' AND document_type IS NOT NULL",
    )
});
static PREFERENCE: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("key_hash", ColumnType::Bytes),
        ("key_sealed", ColumnType::Bytes),
        ("value_sealed", ColumnType::Bytes),
        ("source", ColumnType::Text),
        ("confidence", ColumnType::Float),
        ("stated_at", ColumnType::Int),
        ("stated_by", ColumnType::Uuid),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new(
        "conversation_preferences",
        &columns,
        "ON CONFLICT (org_id, patient_id, key_hash) DO UPDATE SET key_sealed = excluded.key_sealed, \
         value_sealed = excluded.value_sealed, source = excluded.source, confidence = excluded.confidence, \
         stated_at = excluded.stated_at, stated_by = excluded.stated_by, updated_at = excluded.updated_at \
         WHERE excluded.stated_at > conversation_preferences.stated_at \
           OR (excluded.stated_at = conversation_preferences.stated_at AND (conversation_preferences.stated_by IS NULL \
             OR excluded.stated_by > conversation_preferences.stated_by))",
    )
});
const MODE_COLUMNS: [Column; 8] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("from_at", ColumnType::Int),
    ("is_on", ColumnType::Bool),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static MODE: LazyLock<Bulk> =
    LazyLock::new(|| Bulk::new("ephemeral_mode", &MODE_COLUMNS, "ON CONFLICT (org_id, patient_id, id) DO NOTHING"));
pub(super) static COVERED: covered::Lazy =
    LazyLock::new(|| Covered::new("ephemeral_mode", &["id", "from_at", "is_on"], &MODE_COLUMNS, ""));
static MODES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT patient_id, id, from_at, is_on FROM ephemeral_mode WHERE org_id = $1 AND patient_id IN {uuids $2}")
});
static PROJECT_MODE: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("ephemeral", ColumnType::Bool),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::over(
        "UPDATE patient_profile SET ephemeral = r.ephemeral, updated_at = r.updated_at FROM {rows} AS r \
         WHERE patient_profile.org_id = r.org_id AND patient_profile.patient_id = r.patient_id",
        &columns,
    )
});

/// Cells of the profile row.
pub(crate) fn profile_cell(scope: Scope, column: &'static str) -> Cell {
    Cell { table: "patient_profile", row: scope.patient().0, column }
}

/// Cells of a profile event.
fn statement_cell(id: Uuid, column: &'static str) -> Cell {
    Cell { table: "profile_statement", row: id, column }
}

/// Cells of a preference.
pub(crate) fn preference_cell(key_hash: &[u8; 32], column: &'static str) -> Cell {
    Cell { table: "conversation_preferences", row: hash_row(key_hash), column }
}

/// The query for ephemeral modes and how to read its rows: admission asks the same.
pub(crate) fn modes() -> &'static Sql {
    &MODES
}

/// The query for what was stated, whose rows [`statement`] reads.
pub(crate) fn stated() -> &'static Sql {
    &STATEMENTS
}

/// A row of [`stated`].
pub(crate) fn statement(keys: &PatientKeys, row: &Row) -> Result<ProfileStatement, StoreError> {
    let id = row.uuid(1)?;
    let open = |at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, statement_cell(id, column), &sealed)).transpose()
    };
    let contacts = row.opt_blob(7)?;
    Ok(ProfileStatement {
        stamp: (row.time(2)?, id),
        cognitive_state: row.opt_f64(3)?,
        disclaimer_accepted_at: row.opt_time(4)?,
        region: open(5, "region")?,
        privacy_tier: open(6, "privacy_tier")?,
        emergency_contacts: contacts
            .map(|sealed| open_record(keys, statement_cell(id, "emergency_contacts"), &sealed))
            .transpose()?,
    })
}

/// What the columns in clear of a patient's row are for a profile: the tier and the country.
pub(crate) fn clear(profile: &StatedProfile) -> (Option<String>, Option<String>) {
    let tier = profile.privacy_tier.as_deref().and_then(PrivacyTier::read).map(|tier| tier.code().to_owned());
    (tier, profile.region.as_deref().and_then(country))
}

/// Adds a row of [`modes`] to its patient's course.
pub(crate) fn add_mode(courses: &mut HashMap<Uuid, EphemeralCourse>, row: &Row) -> Result<(), StoreError> {
    courses.entry(row.uuid(0)?).or_default().add((row.time(2)?, row.uuid(1)?), row.bool(3)?);
    Ok(())
}

impl Writer<'_> {
    pub(super) async fn profiles(&mut self, profiles: &[ProfileChange]) -> Result<(), StoreError> {
        if profiles.is_empty() {
            return Ok(());
        }
        let rows = profiles.iter().map(|p| self.statement_row(p)).collect::<Result<Vec<_>, _>>()?;
        self.tx.bulk(&STATEMENT, rows).await?;
        let scopes: BTreeMap<Uuid, Scope> = profiles.iter().map(|p| (p.scope.patient().0, p.scope)).collect();
        self.project(&scopes).await?;
        let tiers = profiles.iter().filter(|p| p.statement.privacy_tier.is_some() || p.statement.region.is_some());
        let moved: Vec<Uuid> = tiers.map(|p| p.scope.patient().0).collect();
        if !moved.is_empty() {
            self.tx.execute(&UNRECKON, vec![self.org().0.into(), Arg::Uuids(moved)]).await?;
        }
        let preferences = self.preference_rows(profiles)?;
        self.tx.bulk(&PREFERENCE, preferences).await?;
        let weighing: Vec<Uuid> =
            profiles.iter().filter(|p| p.statement.cognitive_state.is_some()).map(|p| p.scope.patient().0).collect();
        if !weighing.is_empty() {
            for row in self.tx.fetch_all(&WEIGHED, vec![self.org().0.into(), Arg::Uuids(weighing)]).await? {
                if let Some(scope) = scopes.get(&row.uuid(0)?) {
                    self.touched.insert((*scope, row.bytes(1)?));
                }
            }
        }
        Ok(())
    }

    /// How the cognitive state of these patients went, by patient.
    pub(super) async fn cognitive_courses(
        &mut self,
        patients: BTreeSet<Uuid>,
    ) -> Result<HashMap<Uuid, CognitiveCourse>, StoreError> {
        let mut courses: HashMap<Uuid, CognitiveCourse> = HashMap::new();
        let patients = Arg::Uuids(patients.into_iter().collect());
        for row in self.tx.fetch_all(&COURSE, vec![self.org().0.into(), patients]).await? {
            courses.entry(row.uuid(0)?).or_default().add((row.time(2)?, row.uuid(1)?), row.f64(3)?);
        }
        Ok(courses)
    }

    pub(super) async fn ephemeral_modes(&mut self, changes: &[EphemeralChange]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let (org, now) = (Arg::from(self.org().0), Arg::from(self.target.now));
        let row = |c: &EphemeralChange| {
            let patient = c.scope.patient().0.into();
            let row =
                vec![org.clone(), patient, c.stamp.1.into(), c.stamp.0.into(), c.on.into(), now.clone(), now.clone()];
            Ok(COVERED.seal(self.keys_of(c.scope)?, row))
        };
        let rows = changes.iter().map(row).collect::<Result<_, StoreError>>()?;
        self.tx.bulk(&MODE, rows).await?;
        let patients: BTreeSet<Uuid> = changes.iter().map(|c| c.scope.patient().0).collect();
        let courses = self.project_modes(patients).await?;
        // What was set aside since then may have been said then.
        for change in changes.iter().filter(|change| change.on) {
            self.drop_aside(change.scope, change.stamp.0).await?;
        }
        let began = changes.iter().filter(|change| change.on).map(|change| change.scope).collect();
        self.remove_ephemeral(&courses, &began).await
    }

    /// Whether each of these patients is in ephemeral mode, from all switches; the courses that say so.
    async fn project_modes(&mut self, patients: BTreeSet<Uuid>) -> Result<HashMap<Uuid, EphemeralCourse>, StoreError> {
        let (org, now) = (Arg::from(self.org().0), Arg::from(self.target.now));
        let mut courses = HashMap::new();
        let args = vec![org.clone(), Arg::Uuids(patients.into_iter().collect())];
        for row in self.tx.fetch_all(&MODES, args).await? {
            add_mode(&mut courses, &row)?;
        }
        let row = |(patient, course): (&Uuid, &EphemeralCourse)| {
            vec![org.clone(), (*patient).into(), course.latest().unwrap_or(false).into(), now.clone()]
        };
        self.tx.bulk(&PROJECT_MODE, courses.iter().map(row).collect()).await?;
        Ok(courses)
    }

    /// The patient's row after some of what was stated is gone, and what was weighed by it.
    pub(super) async fn stated_again(&mut self, scope: Scope) -> Result<(), StoreError> {
        let patients = || Arg::Uuids(vec![scope.patient().0]);
        self.project(&BTreeMap::from([(scope.patient().0, scope)])).await?;
        self.tx.execute(&UNRECKON, vec![self.org().0.into(), patients()]).await?;
        for row in self.tx.fetch_all(&WEIGHED, vec![self.org().0.into(), patients()]).await? {
            self.touched.insert((scope, row.bytes(1)?));
        }
        Ok(())
    }

    async fn project(&mut self, scopes: &BTreeMap<Uuid, Scope>) -> Result<(), StoreError> {
        let args = vec![self.org().0.into(), Arg::Uuids(scopes.keys().copied().collect())];
        let mut stated: BTreeMap<Uuid, Vec<ProfileStatement>> = scopes.keys().map(|id| (*id, Vec::new())).collect();
        for row in self.tx.fetch_all(&STATEMENTS, args).await? {
            let patient = row.uuid(0)?;
            let Some(scope) = scopes.get(&patient) else { continue };
            let statement = statement(self.keys_of(*scope)?, &row)?;
            stated.entry(patient).or_default().push(statement);
        }
        let mut rows = Vec::with_capacity(stated.len());
        for (patient, statements) in stated {
            if let Some(scope) = scopes.get(&patient) {
                rows.push(self.projected_row(*scope, &fold(statements))?);
            }
        }
        self.tx.bulk(&PROJECT, rows).await?;
        Ok(())
    }

    fn statement_row(&self, p: &ProfileChange) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys: self.keys_of(p.scope)?, entropy: self.entropy };
        let said = &p.statement;
        let (at, id): Stamp = said.stamp;
        let now = Arg::from(self.target.now);
        let contacts = said.emergency_contacts.as_ref();
        let row = vec![
            self.org().0.into(),
            p.scope.patient().0.into(),
            id.into(),
            at.into(),
            said.cognitive_state.into(),
            said.disclaimer_accepted_at.into(),
            sealer.optional(statement_cell(id, "region"), said.region.as_deref()),
            sealer.optional(statement_cell(id, "privacy_tier"), said.privacy_tier.as_deref()),
            sealer.optional_record(statement_cell(id, "emergency_contacts"), contacts)?,
            now.clone(),
            now,
        ];
        Ok(STATED.seal(sealer.keys, row))
    }

    fn projected_row(&self, scope: Scope, profile: &StatedProfile) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys: self.keys_of(scope)?, entropy: self.entropy };
        let contacts = profile.emergency_contacts.as_ref();
        let (tier, country) = clear(profile);
        Ok(vec![
            self.org().0.into(),
            scope.patient().0.into(),
            profile.cognitive_state.into(),
            profile.cognitive_state_at.into(),
            profile.disclaimer_accepted_at.into(),
            sealer.optional(profile_cell(scope, "region"), profile.region.as_deref()),
            sealer.optional(profile_cell(scope, "privacy_tier"), profile.privacy_tier.as_deref()),
            sealer.optional_record(profile_cell(scope, "emergency_contacts"), contacts)?,
            profile.profile_at.into(),
            tier.into(),
            country.into(),
            self.target.now.into(),
        ])
    }

    /// One row per key: the latest of the batch.
    fn preference_rows(&self, profiles: &[ProfileChange]) -> Result<Vec<Vec<Arg>>, StoreError> {
        let mut latest: BTreeMap<(Uuid, [u8; 32]), (Stamp, Vec<Arg>)> = BTreeMap::new();
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
                let row = vec![
                    self.org().0.into(),
                    patient.into(),
                    hash.into(),
                    sealer.text(preference_cell(&hash, "key"), key),
                    sealer.text(preference_cell(&hash, "value"), value),
                    "profile".into(),
                    1.0.into(),
                    stamp.0.into(),
                    stamp.1.into(),
                    now.clone(),
                    now.clone(),
                ];
                latest.insert((patient, hash), (stamp, row));
            }
        }
        Ok(latest.into_values().map(|(_, row)| row).collect())
    }
}

impl Shift<'_> {
    /// Projects the own rows of patients once more from what was stated of them.
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
        writer.tx.execute(&UNRECKON, vec![self.org.0.into(), patients]).await?;
        Ok(())
    }
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    let bulks = [&STATEMENT, &PROJECT, &PREFERENCE, &MODE, &PROJECT_MODE].map(|bulk| bulk.sql());
    [&*STATEMENTS, &*UNRECKON, &*COURSE, &*WEIGHED, &*MODES].into_iter().chain(bulks).collect()
}
