//! Events about removed data: unsent ones are withdrawn, and the rows of sent ones are deleted.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{BatchWriter, Removal};
use crate::StoreError;
use crate::encrypted_columns::open_record;
use crate::outbox::body_cell;
use crate::statements::write::removal::events as sql;
use anamnesis_core::event::{EventData as _, RiskFlagged};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Arg;

/// The fields of a risk alarm of an ephemeral patient.
const TOLD: [&str; 5] = ["class", "experiencer", "level", "by", "confidence"];

impl BatchWriter<'_> {
    /// Withdraws events that name removed data. An unsent risk is announced without its source.
    pub(super) async fn take_back_events(
        &mut self,
        scope: Scope,
        gone: &Removal,
        vanished: &BTreeSet<Uuid>,
    ) -> Result<(), StoreError> {
        let mut taken = Vec::new();
        for row in self.patient_rows(&sql::OF_PATIENT, scope).await? {
            let id = row.uuid(sql::of_patient::ID)?;
            let sealed = row.blob(sql::of_patient::BODY_SEALED)?;
            let body: Value = open_record(self.keys_of(scope)?, body_cell(id), &sealed)?;
            if !names(&body, gone, vanished) {
                continue;
            }
            taken.push(id);
            let is_unsent = row.opt_i64(sql::of_patient::PUBLISHED_AT)?.is_none();
            if row.text(sql::of_patient::EVENT_TYPE)? == RiskFlagged::TYPE && is_unsent {
                let mut alarm = json!({"ephemeral": true});
                for field in TOLD.iter().filter(|field| body.get(**field).is_some()) {
                    alarm[*field] = body[*field].clone();
                }
                self.events.repeat::<RiskFlagged>(scope, &[id.as_bytes()], alarm);
            }
        }
        if !taken.is_empty() {
            self.tx.execute(&sql::DELETE, vec![scope.org().0.into(), Arg::Uuids(taken)]).await?;
        }
        Ok(())
    }
}

fn names(body: &Value, gone: &Removal, vanished: &BTreeSet<Uuid>) -> bool {
    let id = |field: &str| body.get(field).and_then(Value::as_str).and_then(|id| id.parse::<Uuid>().ok());
    let revision = body.get("revision").and_then(Value::as_u64).and_then(|revision| u32::try_from(revision).ok());
    let document = id("document_id").is_some_and(|document| match revision {
        Some(revision) => gone.documents.contains(&(document, revision)),
        None => gone.documents.iter().any(|(known, _)| *known == document),
    });
    let memory = ["memory_id", "kept_memory_id", "claim_memory_id"].into_iter().filter_map(id);
    document || memory.into_iter().any(|memory| vanished.contains(&memory))
}
