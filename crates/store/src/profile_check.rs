//! Compares a patient's row with the patient's statements. Projected from events are the tier that decides when sources
//! are removed, the country, the cognitive state that weights statements, the emergency contacts and the ephemeral
//! mode.

use std::collections::HashMap;

use uuid::Uuid;

use crate::encrypted_columns::{open_record, open_text};
use crate::statements::profile_check as sql;
use crate::statements::write::profile::statements_of;
use crate::write::profile;
use crate::{Keys, StoreError};
use anamnesis_core::ids::OrgId;
use anamnesis_core::profile::{EphemeralHistory, ProfileStatement, StatedProfile, project};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Row, Transaction};

/// Those of these patients whose rows differ from their statements, or do not open, and whose keys are available.
/// Differences are read twice, because another process may write between two statements.
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
    let of_patient = |row: &Row, at: usize| -> Result<Option<(Scope, &PatientKeys)>, StoreError> {
        let scope = Scope::new(org, row.uuid(at)?.into()).ok();
        Ok(scope.and_then(|scope| Some((scope, keys.get(&scope)?.as_ref()))))
    };
    let mut stated: HashMap<Uuid, Result<Vec<ProfileStatement>, StoreError>> = HashMap::new();
    for row in tx.fetch_all(profile::stated(), of()).await? {
        let Some((scope, keys)) = of_patient(&row, statements_of::PATIENT_ID)? else { continue };
        let all = stated.entry(scope.patient().0).or_insert_with(|| Ok(Vec::new()));
        match (profile::statement(keys, &row), all.as_mut()) {
            (Ok(statement), Ok(all)) => all.push(statement),
            (Err(error), _) => *all = Err(error),
            (Ok(_), Err(_)) => {}
        }
    }
    let mut courses: HashMap<Uuid, EphemeralHistory> = HashMap::new();
    for row in tx.fetch_all(profile::modes(), of()).await? {
        profile::add_mode(&mut courses, &row)?;
    }
    let mut differ = Vec::new();
    for row in tx.fetch_all(&sql::PROFILES, of()).await? {
        let Some((scope, keys)) = of_patient(&row, sql::profiles::PATIENT_ID)? else { continue };
        let patient = scope.patient().0;
        let ephemeral = courses.get(&patient).and_then(EphemeralHistory::latest).unwrap_or(false);
        let stated = stated.remove(&patient).unwrap_or_else(|| Ok(Vec::new()));
        let is_same = stated.is_ok_and(|stated| {
            let expected = project(stated);
            row.bool(sql::profiles::EPHEMERAL).is_ok_and(|is_on| is_on == ephemeral)
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
type TierAndCountry = (Option<String>, Option<String>);

/// The profile that a row of [`sql::PROFILES`] holds.
fn held(scope: Scope, keys: &PatientKeys, row: &Row) -> Result<(StatedProfile, TierAndCountry), StoreError> {
    let open = |at: usize, column| -> Result<Option<String>, StoreError> {
        row.opt_blob(at)?.map(|sealed| open_text(keys, profile::profile_cell(scope, column), &sealed)).transpose()
    };
    let cell = profile::profile_cell(scope, "emergency_contacts");
    let contacts = row.opt_blob(sql::profiles::EMERGENCY_CONTACTS_SEALED)?;
    let profile = StatedProfile {
        cognitive_state: row.opt_f64(sql::profiles::COGNITIVE_STATE)?,
        cognitive_state_at: row.opt_time(sql::profiles::COGNITIVE_STATE_AT)?,
        disclaimer_accepted_at: row.opt_time(sql::profiles::DISCLAIMER_ACCEPTED_AT)?,
        region: open(sql::profiles::REGION_SEALED, "region")?,
        privacy_tier: open(sql::profiles::PRIVACY_TIER_SEALED, "privacy_tier")?,
        emergency_contacts: contacts.map(|sealed| open_record(keys, cell, &sealed)).transpose()?,
        profile_at: row.opt_time(sql::profiles::PROFILE_AT)?,
    };
    Ok((profile, (row.opt_text(sql::profiles::PRIVACY_TIER)?, row.opt_text(sql::profiles::COUNTRY)?)))
}
