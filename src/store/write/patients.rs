//! Patients: the row that everything else hangs on, what profile events set, consent, ephemeral mode.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::Writer;
use crate::crypto::Cell;
use crate::domain::scope::Scope;
use crate::store::StoreError;
use crate::store::engine::{Arg, Bulk, ColumnType, Sql};
use crate::store::records::{NewConsent, OrgBatch, ProfileChange};
use crate::store::seal::{Sealer, hash_row};

static PATIENT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("patient_profile", &columns, "ON CONFLICT (org_id, patient_id) DO NOTHING")
});
// A later event wins field by field; an older one that arrives late fills only what nobody set.
static PROFILE: LazyLock<Bulk> = LazyLock::new(|| {
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
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new(
        "patient_profile",
        &columns,
        "ON CONFLICT (org_id, patient_id) DO UPDATE SET \
         cognitive_state = CASE WHEN patient_profile.cognitive_state_at IS NULL OR excluded.cognitive_state_at >= patient_profile.cognitive_state_at \
           THEN coalesce(excluded.cognitive_state, patient_profile.cognitive_state) ELSE patient_profile.cognitive_state END, \
         cognitive_state_at = CASE WHEN patient_profile.cognitive_state_at IS NULL OR excluded.cognitive_state_at >= patient_profile.cognitive_state_at \
           THEN coalesce(excluded.cognitive_state_at, patient_profile.cognitive_state_at) ELSE patient_profile.cognitive_state_at END, \
         disclaimer_accepted_at = coalesce(patient_profile.disclaimer_accepted_at, excluded.disclaimer_accepted_at), \
         region_sealed = CASE WHEN patient_profile.profile_at IS NULL OR excluded.profile_at >= patient_profile.profile_at \
           THEN coalesce(excluded.region_sealed, patient_profile.region_sealed) ELSE coalesce(patient_profile.region_sealed, excluded.region_sealed) END, \
         privacy_tier_sealed = CASE WHEN patient_profile.profile_at IS NULL OR excluded.profile_at >= patient_profile.profile_at \
           THEN coalesce(excluded.privacy_tier_sealed, patient_profile.privacy_tier_sealed) ELSE coalesce(patient_profile.privacy_tier_sealed, excluded.privacy_tier_sealed) END, \
         emergency_contacts_sealed = CASE WHEN patient_profile.profile_at IS NULL OR excluded.profile_at >= patient_profile.profile_at \
           THEN coalesce(excluded.emergency_contacts_sealed, patient_profile.emergency_contacts_sealed) ELSE coalesce(patient_profile.emergency_contacts_sealed, excluded.emergency_contacts_sealed) END, \
         profile_at = CASE WHEN patient_profile.profile_at > excluded.profile_at THEN patient_profile.profile_at ELSE excluded.profile_at END, \
         updated_at = excluded.updated_at",
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
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new(
        "conversation_preferences",
        &columns,
        "ON CONFLICT (org_id, patient_id, key_hash) DO UPDATE SET key_sealed = excluded.key_sealed, \
         value_sealed = excluded.value_sealed, source = excluded.source, confidence = excluded.confidence, \
         stated_at = excluded.stated_at, updated_at = excluded.updated_at \
         WHERE excluded.stated_at >= conversation_preferences.stated_at",
    )
});
static CONSENT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("scope_hash", ColumnType::Bytes),
        ("provision", ColumnType::Text),
        ("from_at", ColumnType::Int),
        ("until_at", ColumnType::Int),
        ("recorded_by", ColumnType::Uuid),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("consent", &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});
static AUDIT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("id", ColumnType::Uuid),
        ("at", ColumnType::Int),
        ("actor", ColumnType::Text),
        ("action", ColumnType::Text),
        ("subject_id", ColumnType::Uuid),
        ("outcome", ColumnType::Text),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("action_audit", &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});
// What is folded is read, decided and written: another worker's half of the same patient must not come in between.
static HOLD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id IN {uuids $2} ORDER BY patient_id {for_update}",
    )
});
static EPHEMERAL: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE patient_profile SET ephemeral = $2, updated_at = $4 WHERE org_id = $1 AND patient_id IN {uuids $3}",
    )
});

/// Cells of the profile row.
pub(in crate::store) fn profile_cell(scope: Scope, column: &'static str) -> Cell {
    Cell { table: "patient_profile", row: scope.patient().0, column }
}

/// Cells of a preference.
pub(in crate::store) fn preference_cell(key_hash: &[u8; 32], column: &'static str) -> Cell {
    Cell { table: "conversation_preferences", row: hash_row(key_hash), column }
}

impl Writer<'_> {
    pub(super) async fn patients(&mut self, batch: &OrgBatch) -> Result<(), StoreError> {
        let org = self.org().0;
        let now = Arg::from(self.target.now);
        let patients: BTreeSet<Scope> = batch.inbox.iter().map(|m| m.scope).collect();
        let rows = patients.iter().map(|s| vec![org.into(), s.patient().0.into(), now.clone(), now.clone()]).collect();
        self.tx.bulk(&PATIENT, rows).await?;
        let held = Arg::Uuids(patients.iter().map(|s| s.patient().0).collect());
        self.tx.fetch_all(&HOLD, vec![org.into(), held]).await?;
        let mut profiles = batch.profiles.iter().collect::<Vec<_>>();
        // One row per patient and statement: later ones are merged in order.
        profiles.sort_by_key(|p| (p.scope, p.at));
        while !profiles.is_empty() {
            let mut seen = BTreeSet::new();
            let (round, rest): (Vec<_>, Vec<_>) = profiles.into_iter().partition(|p| seen.insert(p.scope));
            let rows = round.iter().map(|p| self.profile_row(p)).collect::<Result<Vec<_>, _>>()?;
            self.tx.bulk(&PROFILE, rows).await?;
            let preferences = round.iter().map(|p| self.preference_rows(p)).collect::<Result<Vec<_>, _>>()?;
            self.tx.bulk(&PREFERENCE, preferences.concat()).await?;
            profiles = rest;
        }
        let consents = batch.consents.iter().map(|c| self.consent_row(c)).collect::<Result<Vec<_>, _>>()?;
        self.tx.bulk(&CONSENT, consents).await?;
        self.tx.bulk(&AUDIT, self.audit_rows(batch)).await?;
        for (mode, on) in [(1i64, true), (0, false)] {
            let patients: Vec<_> =
                batch.ephemeral.iter().filter(|(_, want)| *want == on).map(|(s, _)| s.patient().0).collect();
            if !patients.is_empty() {
                self.tx.execute(&EPHEMERAL, vec![org.into(), mode.into(), Arg::Uuids(patients), now.clone()]).await?;
            }
        }
        Ok(())
    }

    fn profile_row(&self, p: &ProfileChange) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys: self.keys_of(p.scope)?, entropy: self.entropy };
        let contacts = match &p.emergency_contacts {
            Some(contacts) => sealer.record(profile_cell(p.scope, "emergency_contacts"), contacts)?,
            None => Arg::Null,
        };
        let now = Arg::from(self.target.now);
        Ok(vec![
            self.org().0.into(),
            p.scope.patient().0.into(),
            p.cognitive_state.into(),
            p.cognitive_state.map(|_| p.at).into(),
            p.disclaimer_accepted_at.into(),
            sealer.optional(profile_cell(p.scope, "region"), p.region.as_deref()),
            sealer.optional(profile_cell(p.scope, "privacy_tier"), p.privacy_tier.as_deref()),
            contacts,
            p.at.into(),
            now.clone(),
            now,
        ])
    }

    fn preference_rows(&self, p: &ProfileChange) -> Result<Vec<Vec<Arg>>, StoreError> {
        let keys = self.keys_of(p.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let now = Arg::from(self.target.now);
        let row = |(key, value): &(String, String)| {
            let hash = keys.hash("preference", crate::text::fold(key).as_bytes());
            vec![
                self.org().0.into(),
                p.scope.patient().0.into(),
                hash.into(),
                sealer.text(preference_cell(&hash, "key"), key),
                sealer.text(preference_cell(&hash, "value"), value),
                "profile".into(),
                1.0.into(),
                p.at.into(),
                now.clone(),
                now.clone(),
            ]
        };
        Ok(p.preferences.iter().map(row).collect())
    }

    fn consent_row(&self, c: &NewConsent) -> Result<Vec<Arg>, StoreError> {
        let scope_hash = self.keys_of(c.scope)?.hash("consent", c.consent_scope.as_bytes());
        let now = Arg::from(self.target.now);
        Ok(vec![
            self.org().0.into(),
            c.scope.patient().0.into(),
            c.id.into(),
            scope_hash.into(),
            if c.permit { "permit" } else { "deny" }.into(),
            c.from.into(),
            c.until.into(),
            c.recorded_by.into(),
            now.clone(),
            now,
        ])
    }

    /// Every transactional action of a person is audited (seed 002, section 9), without content.
    fn audit_rows(&self, batch: &OrgBatch) -> Vec<Vec<Arg>> {
        let now = Arg::from(self.target.now);
        let row = |scope: Scope,
                   id: uuid::Uuid,
                   at: chrono::DateTime<chrono::Utc>,
                   actor: &str,
                   action: &str,
                   subject: Option<uuid::Uuid>| {
            let id = crate::domain::ids::derive("audit", &[id.as_bytes(), action.as_bytes()]);
            vec![
                self.org().0.into(),
                scope.patient().0.into(),
                id.into(),
                at.into(),
                actor.into(),
                action.into(),
                subject.into(),
                "done".into(),
                now.clone(),
                now.clone(),
            ]
        };
        let acts = batch
            .acts
            .iter()
            .map(|a| row(a.scope, a.act.id.0, a.act.at, a.by, a.act.deed.code(), Some(a.act.memory.0)));
        let consents = batch.consents.iter().map(|c| {
            row(c.scope, c.id, c.from, "producer", if c.permit { "consent_permit" } else { "consent_deny" }, None)
        });
        let profiles = batch.profiles.iter().map(|p| row(p.scope, p.actor, p.at, "profile", "profile_updated", None));
        acts.chain(consents).chain(profiles).collect()
    }
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![PATIENT.sql(), PROFILE.sql(), PREFERENCE.sql(), CONSENT.sql(), AUDIT.sql(), &HOLD, &EPHEMERAL]
}
