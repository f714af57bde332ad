//! `anamnesis.profile.updated.v1`: explicit clinical facts that a person or a clinical system set (seed 002 §5, §6).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rules::{self, Checked};
use super::{PartialDate, SensitiveText};
use crate::rejection::Problem;
use anamnesis_core::coded_enum::codes;
use anamnesis_core::ids::{OrgId, PatientId};

/// Facts of the clinical profile. A list that is absent is not touched; one that is there names the facts to upsert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileUpdated {
    pub(crate) organization_id: OrgId,
    pub(crate) patient_id: PatientId,
    /// Who set the facts.
    pub actor: Uuid,
    pub recorded_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub cognitive_state: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<ConditionFact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allergies: Option<Vec<AllergyFact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medications: Option<Vec<MedicationFact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emergency_contacts: Option<Vec<EmergencyContact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<BTreeMap<SensitiveText, SensitiveText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclaimer_accepted_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy_tier: Option<SensitiveText>,
}

/// A condition. Without a status it is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionFact {
    pub name: SensitiveText,
    /// ICD-10 or another code, as the producer writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ConditionStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<PartialDate>,
}

codes!(
    /// FHIR R4 condition-clinical codes.
    ConditionStatus {
        Active = "active",
        Recurrence = "recurrence",
        Relapse = "relapse",
        Inactive = "inactive",
        Remission = "remission",
        Resolved = "resolved",
    }
);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllergyFact {
    pub substance: SensitiveText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction: Option<SensitiveText>,
}

/// A medication as prescribed. Without a status it is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MedicationFact {
    pub name: SensitiveText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dose: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MedicationStatus>,
}

codes!(
    /// FHIR R4 medication-statement-status codes, with `_`; FHIR's own `-` is read too.
    MedicationStatus {
        Active = "active",
        Completed = "completed",
        #[serde(alias = "entered-in-error")]
        EnteredInError = "entered_in_error",
        Intended = "intended",
        Stopped = "stopped",
        #[serde(alias = "on-hold")]
        OnHold = "on_hold",
        Unknown = "unknown",
        #[serde(alias = "not-taken")]
        NotTaken = "not_taken",
    }
);

/// Whom to call, as a reference into the producer's own directory or as text; stored encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmergencyContact {
    pub reference: SensitiveText,
}

impl ProfileUpdated {
    pub(super) fn check(&self) -> Checked {
        rules::scope(self.organization_id, self.patient_id)?;
        rules::id(self.actor, "actor")?;
        rules::instant(self.recorded_at, "recorded_at")?;
        rules::within(self.cognitive_state, 0.0, 100.0, "cognitive_state")?;
        rules::all_filled(self.conditions.iter().flatten().map(|fact| &fact.name), "conditions", "name")?;
        rules::all_filled(self.allergies.iter().flatten().map(|fact| &fact.substance), "allergies", "substance")?;
        rules::all_filled(self.medications.iter().flatten().map(|fact| &fact.name), "medications", "name")?;
        let contacts = self.emergency_contacts.iter().flatten().map(|contact| &contact.reference);
        rules::all_filled(contacts, "emergency_contacts", "reference")?;
        let named = self.preferences.iter().flatten().all(|(key, _)| !key.is_blank());
        rules::ensure(named, Problem::Empty, "preferences")?;
        self.disclaimer_accepted_at.map_or(Ok(()), |at| rules::instant(at, "disclaimer_accepted_at"))
    }
}
