//! Of which messages not even a quarantine keeps the body: the patient is in ephemeral mode, or does not permit it. A message
//! that breaks the contract names its patient all the same, as a rule, and says when it was said.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::admit::said_at;
use super::{DecodedMessage, Pipeline, RawMessage};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_messages::{Envelope, Rejection};
use anamnesis_store::StoreError;
use anamnesis_store::quarantine::RejectedMessage;

/// Fields that say when something was said.
const TIMES: [&str; 4] = ["occurred_at", "synced_at", "recorded_at", "issued_at"];
/// Most patients that one message is taken to name.
const MOST: usize = 16;

/// A message, a patient it may be about, and when that was said; `None` where that cannot be read.
type PatientMention = (usize, PatientId, Option<DateTime<Utc>>);

impl Pipeline {
    /// Whether nothing of a readable message may be stored.
    pub(super) async fn is_unkept(&self, envelope: &Envelope) -> Result<bool, StoreError> {
        let Some(at) = said_at(envelope, self.store.clock().now()) else { return Ok(false) };
        let barred =
            self.store.organization().barred(envelope.organization(), &[(envelope.patient(), Some(at))]).await?;
        Ok(barred == [true])
    }

    /// The positions of those messages of one organisation of which nothing may be stored.
    pub(super) async fn unkept(&self, org: OrgId, entries: &[DecodedMessage]) -> Result<BTreeSet<usize>, StoreError> {
        let now = self.store.clock().now();
        let said = entries.iter().filter_map(|DecodedMessage { place, envelope, .. }| {
            Some((*place, envelope.patient(), said_at(envelope, now)?))
        });
        let said: Vec<PatientMention> = said.map(|(place, patient, at)| (place, patient, Some(at))).collect();
        if said.is_empty() {
            return Ok(BTreeSet::new());
        }
        let asked: Vec<_> = said.iter().map(|(_, patient, at)| (*patient, *at)).collect();
        let barred = self.store.organization().barred(org, &asked).await?;
        Ok(said.iter().zip(barred).filter(|(_, barred)| *barred).map(|((place, ..), _)| *place).collect())
    }

    /// Quarantines messages that break the contract, without the content of those of which nothing may be stored.
    ///
    /// # Errors
    /// Of the store: then it is unknown what may be stored, and nothing is quarantined.
    pub(super) async fn refused(
        &self,
        refused: Vec<(RawMessage, Rejection)>,
        rejected: &mut Vec<RejectedMessage>,
    ) -> Result<(), StoreError> {
        let mut asked: BTreeMap<OrgId, Vec<PatientMention>> = BTreeMap::new();
        let mut named: Vec<Option<Scope>> = Vec::with_capacity(refused.len());
        for (at, (raw, _)) in refused.iter().enumerate() {
            let mentions = mentions(raw);
            named.push(only(&mentions));
            for (org, patient, said) in mentions {
                asked.entry(org).or_default().push((at, patient, said));
            }
        }
        let mut unkept: BTreeSet<usize> = BTreeSet::new();
        for (org, mentions) in asked {
            let of: Vec<_> = mentions.iter().map(|(_, patient, said)| (*patient, *said)).collect();
            let barred = self.store.organization().barred(org, &of).await?;
            unkept.extend(mentions.iter().zip(barred).filter(|(_, barred)| *barred).map(|((at, ..), _)| *at));
        }
        for (at, (raw, refusal)) in refused.into_iter().enumerate() {
            let entry = RejectedMessage { patient: named[at], ..self.rejected(None, raw, &refusal) };
            rejected.push(if unkept.contains(&at) { entry.without_content() } else { entry });
        }
        Ok(())
    }
}

/// The only patient of the message; `None` if it names several, or none.
fn only(mentions: &[(OrgId, PatientId, Option<DateTime<Utc>>)]) -> Option<Scope> {
    let (org, patient, _) = mentions.first()?;
    let alone = mentions.iter().all(|(of, who, _)| of == org && who == patient);
    Scope::new(*org, *patient).ok().filter(|_| alone)
}

/// The patients of a message, however broken it is. Every id in a field of the contract counts.
pub(super) fn mentions(raw: &RawMessage) -> Vec<(OrgId, PatientId, Option<DateTime<Utc>>)> {
    let mut texts = vec![raw.body.clone()];
    texts.extend(values(&raw.body, "data_base64").filter_map(|encoded| STANDARD.decode(encoded).ok().map(Bytes::from)));
    let ids = |field| -> BTreeSet<Uuid> {
        let found = texts.iter().flat_map(|text| values(text, field));
        let read = found.filter_map(|value| Uuid::try_parse_ascii(value.trim_ascii()).ok());
        // The nil id names no one, and the store would reject the query.
        read.filter(|id| !id.is_nil()).take(MOST).collect()
    };
    let mut patients = ids("patient_id");
    if patients.is_empty() {
        let key = raw.attributes.as_ref().and_then(|attributes| attributes.partition_key.as_deref());
        patients.extend(key.and_then(|key| key.parse::<Uuid>().ok()).filter(|key| !key.is_nil()));
        patients.extend(ids("partitionkey"));
    }
    let written = texts.iter().flat_map(|text| TIMES.iter().flat_map(|field| values(text, field)));
    let read = |value: &[u8]| DateTime::parse_from_rfc3339(std::str::from_utf8(value).ok()?.trim()).ok();
    let times: Vec<_> = written.map(read).collect();
    // One time that cannot be read is no time at all.
    let said: BTreeSet<Option<DateTime<Utc>>> = match times.iter().copied().collect::<Option<Vec<_>>>() {
        Some(times) if !times.is_empty() => times.into_iter().map(|time| Some(time.to_utc())).take(MOST).collect(),
        _ => BTreeSet::from([None]),
    };
    let orgs = ids("organization_id");
    let each = orgs.iter().flat_map(|org| patients.iter().map(move |patient| (OrgId(*org), PatientId(*patient))));
    each.flat_map(|(org, patient)| said.iter().map(move |at| (org, patient, *at))).collect()
}

/// The text values of a field at any position, in JSON that need not be well-formed.
pub(super) fn values<'t>(text: &'t [u8], field: &str) -> impl Iterator<Item = &'t [u8]> {
    let name = format!("\"{field}\"").into_bytes();
    let places: Vec<usize> = starts(text, &name).map(|at| at + name.len()).collect();
    places.into_iter().filter_map(move |at| {
        let rest = text[at..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
        rest.split(|byte| *byte == b'"').next()
    })
}

fn starts<'t>(text: &'t [u8], part: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    text.windows(part.len()).enumerate().filter(move |(_, window)| *window == part).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORG: Uuid = Uuid::from_u128(1);
    const PATIENT: Uuid = Uuid::from_u128(2);

    fn mentioned(body: &str) -> Vec<(Uuid, Uuid, Option<String>)> {
        let found = mentions(&RawMessage::from_body(body.as_bytes().to_vec())).into_iter();
        found.map(|(org, patient, at)| (org.0, patient.0, at.map(|at| at.to_rfc3339()))).collect()
    }

    #[test]
    fn a_broken_message_names_its_patient_and_its_time() {
        let ids = format!("\"organization_id\": \"{ORG}\", \"patient_id\":\"{PATIENT}\"");
        let noon = Some("2026-05-10T12:00:00+00:00".to_owned());
        let at = "\"occurred_at\": \"2026-05-10T07:00:00-05:00\"";
        assert_eq!(mentioned(&format!("{{{ids}, {at}, \"text\": 5}}")), [(ORG, PATIENT, noon.clone())]);
        assert_eq!(mentioned(&format!("{{\"data\": {{{ids}, {at}, \"text\": \"cut o")), [(ORG, PATIENT, noon.clone())]);
        assert_eq!(mentioned(&format!("{{{ids}}}")), [(ORG, PATIENT, None)]);
        assert_eq!(mentioned(&format!("{{{ids}, \"occurred_at\": \"ayer\"}}")), [(ORG, PATIENT, None)]);
        let encoded = STANDARD.encode(format!("{{{ids}, {at}}}"));
        assert_eq!(mentioned(&format!("{{\"data_base64\": \"{encoded}\"}}")), [(ORG, PATIENT, noon)]);
        assert_eq!(mentioned("{\"patient_id\": \"nobody\"}"), []);
        assert_eq!(mentioned("no JSON at all"), []);
        assert_eq!(
            mentioned(&format!("{{\"organization_id\": \"{}\", \"patient_id\": \"{PATIENT}\"}}", Uuid::nil())),
            []
        );
    }
}
