//! Consents of a message, for the rest of its batch and for the store.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::embed::EmbeddedMessage;
use anamnesis_core::consent::{self, Consent, ConsentScope, Provision, Withdrawal};
use anamnesis_core::ids::derive;
use anamnesis_messages::contract::ConsentRecorded;
use anamnesis_messages::{Envelope, Message};
use anamnesis_store::consents::NewConsent;

/// The row of a consent.
pub(super) fn consent_id(message: &[u8; 32]) -> Uuid {
    derive("consent", &[message])
}

/// The consent that a message records; `None` where it is about something else, or of a scope without meaning here.
pub(super) fn consent(envelope: &Envelope, now: DateTime<Utc>) -> Option<Consent> {
    let Message::ConsentRecorded(said) = &envelope.message else { return None };
    let scope = ConsentScope::read(&said.scope)?;
    let stated_at = stated_at(said, envelope, now);
    Some(Consent { scope, provision: said.provision, from: said.from, until: said.until, stated_at })
}

/// When it was stated: as the message says itself, else as its envelope says.
fn stated_at(said: &ConsentRecorded, envelope: &Envelope, now: DateTime<Utc>) -> DateTime<Utc> {
    consent::stated_at(said.stated_at.or(envelope.time), said.provision, said.from, now)
}

/// A consent as it is stored. What of its words cannot be redacted is left out: a withdrawal binds all the same.
pub(super) fn new_consent(consent: &ConsentRecorded, entry: &EmbeddedMessage, now: DateTime<Utc>) -> NewConsent {
    let (admitted, field_redactor) = (&entry.analyzed.admitted, &entry.analyzed.field_redactor);
    let meant = ConsentScope::read(&consent.scope);
    NewConsent {
        scope: admitted.scope,
        id: consent_id(&admitted.message),
        consent_scope: match meant {
            Some(scope) => scope.code().to_owned(),
            None => field_redactor.clean(&consent.scope).unwrap_or_default(),
        },
        provision: consent.provision,
        from: consent.from,
        until: consent.until,
        stated_at: stated_at(consent, &admitted.envelope, now),
        recorded_by: consent.recorded_by,
        reason: field_redactor.clean_option(consent.reason.as_deref()).unwrap_or_default(),
        closes: consent.provision == Provision::Deny && meant == Some(ConsentScope::Memory),
        forgets: admitted.withdrawal == Withdrawal::Forget,
    }
}
