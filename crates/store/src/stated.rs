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

/// Those of these patients whose rows differ from what was stated, or do not open, and whose keys are at hand. Looked at again
/// before it is said: another process may write between two statements.
///
/// # Errors
/// Of the database.
pub(crate) async fn differing(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[Uuid],
    keys: &Keys,
) -> Result<Vec<Uuid>, StoreError> {
    let first = compared(tx, org, patients, keys).await?;
    if first.is_empty() { Ok(first) } else { compared(tx, org, &first, keys).await }
}

async fn compared(tx: &mut Transaction, org: OrgId, patients: &[Uuid], keys: &Keys) -> Result<Vec<Uuid>, StoreError> {
    let of = || vec![org.0.into(), Arg::Uuids(patients.to_vec())];
    let of_patient = |row: &Row| -> Result<Option<(Scope, &PatientKeys)>, StoreError> {
        let scope = Scope::new(org, row.uuid(0)?.into()).ok();
        Ok(scope.and_then(|scope| Some((scope, keys.get(&scope)?.as_ref()))))
    };
    let mut stated: HashMap<Uuid, Result<Vec<ProfileStatement>, StoreError>> = HashMap::new();
    for row in tx.fetch_all(profile::stated(), of()).await? {
        let Some((scope, keys)) = of_patient(&row)? else { continue };
        let all = stated.entry(scope.patient().0).or_insert_with(|| Ok(Vec::new()));
        match (profile::statement(keys, &row), all.as_mut()) {
            (Ok(statement), Ok(all)) => all.push(statement),
            (Err(error), _) => *all = Err(error),
            (Ok(_), Err(_)) => {}
        }
    }
    let mut courses: HashMap<Uuid, EphemeralCourse> = HashMap::new();
    for row in tx.fetch_all(profile::modes(), of()).await? {
        profile::add_mode(&mut courses, &row)?;
    }
    let mut differ = Vec::new();
    for row in tx.fetch_all(&PROFILES, of()).await? {
        let Some((scope, keys)) = of_patient(&row)? else { continue };
        let patient = scope.patient().0;
        let ephemeral = courses.get(&patient).and_then(EphemeralCourse::latest).unwrap_or(false);
        let stated = stated.remove(&patient).unwrap_or_else(|| Ok(Vec::new()));
        let is_same = stated.is_ok_and(|stated| {
            let expected = fold(stated);
            row.bool(7).is_ok_and(|is_on| is_on == ephemeral)
                && held(scope, keys, &row)
                    .is_ok_and(|(profile, clear)| clear == profile::clear(&expected) && profile == expected)
        });
        if !is_same {
            differ.push(patient);
        }
    }
    Ok(differ)
}

/// The tier and the country of a row.
type Clear = (Option<String>, Option<String>);

/// The profile that a row of [`PROFILES`] holds.
fn held(scope: Scope, keys: &PatientKeys, row: &Row) -> Result<(StatedProfile, Clear), StoreError> {
    let open = |at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, profile::profile_cell(scope, column), &sealed)).transpose()
    };
    let contacts = profile::profile_cell(scope, "emergency_contacts");
    let profile = StatedProfile {
        cognitive_state: row.opt_f64(1)?,
        cognitive_state_at: row.opt_time(2)?,
        disclaimer_accepted_at: row.opt_time(3)?,
        region: open(8, "region")?,
        privacy_tier: open(9, "privacy_tier")?,
        emergency_contacts: row.opt_blob(10)?.map(|sealed| open_record(keys, contacts, &sealed)).transpose()?,
        profile_at: row.opt_time(4)?,
    };
    Ok((profile, (row.opt_text(5)?, row.opt_text(6)?)))
}
