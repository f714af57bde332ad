//! A patient's own row against what was stated of the patient: the tier by which sources are dropped, the country, the cognitive
//! state by which words are weighed, the contacts of an emergency and the ephemeral mode are projected from events, and are
//! compared with them.

use std::collections::HashMap;
use std::sync::LazyLock;

use uuid::Uuid;

use crate::seal::{open_record, open_text};
use crate::write::profile;
use crate::{Keys, StoreError};
use anamnesis_core::ids::OrgId;
use anamnesis_core::profile::{EphemeralCourse, ProfileStatement, StatedProfile, fold};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Row, Sql, Transaction};

static PROFILES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, cognitive_state, cognitive_state_at, disclaimer_accepted_at, profile_at, privacy_tier, country, \
         ephemeral, region_sealed, privacy_tier_sealed, emergency_contacts_sealed FROM patient_profile \
         WHERE org_id = $1 AND patient_id IN {uuids $2}",
    )
});

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&PROFILES]
}

/// How many of these patients' rows differ from what was stated, of those whose keys are at hand.
///
/// # Errors
/// Of the database, or when a cell does not open.
pub(crate) async fn differing(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[Uuid],
    keys: &Keys,
) -> Result<u64, StoreError> {
    let of = || vec![org.0.into(), Arg::Uuids(patients.to_vec())];
    let of_patient = |row: &Row| -> Result<Option<(Scope, &PatientKeys)>, StoreError> {
        let scope = Scope::new(org, row.uuid(0)?.into()).ok();
        Ok(scope.and_then(|scope| Some((scope, keys.get(&scope)?.as_ref()))))
    };
    let mut stated: HashMap<Uuid, Vec<ProfileStatement>> = HashMap::new();
    for row in tx.fetch_all(profile::stated(), of()).await? {
        if let Some((scope, keys)) = of_patient(&row)? {
            stated.entry(scope.patient().0).or_default().push(profile::statement(keys, &row)?);
        }
    }
    let mut courses: HashMap<Uuid, EphemeralCourse> = HashMap::new();
    for row in tx.fetch_all(profile::modes(), of()).await? {
        profile::add_mode(&mut courses, &row)?;
    }
    let mut differ = 0;
    for row in tx.fetch_all(&PROFILES, of()).await? {
        let Some((scope, keys)) = of_patient(&row)? else { continue };
        let patient = scope.patient().0;
        let expected = fold(stated.remove(&patient).unwrap_or_default());
        let ephemeral = courses.get(&patient).and_then(EphemeralCourse::latest).unwrap_or(false);
        let (tier, country) = profile::clear(&expected);
        let is_same = row.bool(7)? == ephemeral
            && row.opt_text(5)?.as_deref() == tier
            && row.opt_text(6)? == country
            && held(scope, keys, &row)? == expected;
        differ += u64::from(!is_same);
    }
    Ok(differ)
}

/// The profile that a row of [`PROFILES`] holds.
fn held(scope: Scope, keys: &PatientKeys, row: &Row) -> Result<StatedProfile, StoreError> {
    let open = |at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, profile::profile_cell(scope, column), &sealed)).transpose()
    };
    let contacts = profile::profile_cell(scope, "emergency_contacts");
    Ok(StatedProfile {
        cognitive_state: row.opt_f64(1)?,
        cognitive_state_at: row.opt_time(2)?,
        disclaimer_accepted_at: row.opt_time(3)?,
        region: open(8, "region")?,
        privacy_tier: open(9, "privacy_tier")?,
        emergency_contacts: row.opt_blob(10)?.map(|sealed| open_record(keys, contacts, &sealed)).transpose()?,
        profile_at: row.opt_time(4)?,
    })
}
