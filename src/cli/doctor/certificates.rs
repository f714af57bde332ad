//! Files of certificates that the settings name: readable, and valid today. Of X.509 no more is read than the two dates.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::Doctor;

pub(super) fn check(doctor: &mut Doctor) {
    let named = named(doctor);
    if named.is_empty() {
        return doctor.skip("certificates", "no file of certificates is configured");
    }
    let now = doctor.now();
    let soon = now + TimeDelta::days(doctor.limits.certificate_days.into());
    for (key, path) in named {
        let shown = path.display();
        let dates = std::fs::read_to_string(&path).ok().and_then(|text| validity(&text));
        let Some(dates) = dates else {
            doctor.found("certificate_unreadable", format!("{key}: {shown} holds no certificate in PEM"));
            continue;
        };
        for (from, until) in dates {
            if until < now {
                doctor.found("certificate_expired", format!("{key}: {shown} has expired on {}", until.date_naive()));
            } else if from > now {
                doctor.found("certificate_expired", format!("{key}: {shown} is valid from {} only", from.date_naive()));
            } else if until < soon {
                doctor.found("certificate_expiring", format!("{key}: {shown} expires on {}", until.date_naive()));
            }
        }
    }
    doctor.done("certificates");
}

/// Keys and files of the settings.
fn named(doctor: &Doctor) -> Vec<(&'static str, PathBuf)> {
    let settings = &doctor.settings;
    let broker = &settings.broker;
    let mut named = vec![
        ("store.postgres.ca_file", settings.store.postgres.ca_file.clone()),
        ("keys.vault.ca_file", settings.keys.vault.ca_file.clone()),
        ("broker.ca_file", broker.ca_file.clone()),
        ("broker.certificate_file", broker.certificate_file.clone()),
        ("extraction.llm.ca_file", settings.extraction.llm.ca_file.clone()),
    ];
    named.extend(broker.webhooks.iter().map(|hook| ("broker.webhooks.ca_file", hook.ca_file.clone())));
    let organizations = settings.redaction.organizations.iter();
    named.extend(organizations.map(|own| ("redaction.organizations.ca_file", own.ca_file.clone())));
    named.extend(settings.embedding.ca_file.clone().map(|path| ("embedding.ca_file", path)));
    named.retain(|(_, path)| !path.as_os_str().is_empty());
    named
}

/// First and last instant of each certificate of a PEM text; `None` where there is none or one cannot be read.
fn validity(pem: &str) -> Option<Vec<(DateTime<Utc>, DateTime<Utc>)>> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let mut found = Vec::new();
    for part in pem.split(BEGIN).skip(1) {
        let body: String = part.split(END).next()?.split_whitespace().collect();
        found.push(dates(&STANDARD.decode(body).ok()?)?);
    }
    (!found.is_empty()).then_some(found)
}

/// A value of DER: its tag, its content, what follows.
fn value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short if short < 0x80 => (usize::from(short), rest),
        long => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().try_fold(0usize, |sum, digit| sum.checked_mul(256)?.checked_add(usize::from(*digit)))?, rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Certificate ‹ to be signed ‹ (version), serial, algorithm, issuer, validity.
fn dates(certificate: &[u8]) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let (_, signed, _) = value(certificate)?;
    let (_, mut rest, _) = value(signed)?;
    if let (0xa0, _, after) = value(rest)? {
        rest = after;
    }
    for _ in 0..3 {
        rest = value(rest)?.2;
    }
    let (_, validity, _) = value(rest)?;
    let (tag, from, rest) = value(validity)?;
    let from = instant(tag, from)?;
    let (tag, until, _) = value(rest)?;
    Some((from, instant(tag, until)?))
}

/// UTCTime (`YYMMDDHHMMSSZ`, 1950 to 2049) or GeneralizedTime (`YYYYMMDDHHMMSSZ`).
fn instant(tag: u8, text: &[u8]) -> Option<DateTime<Utc>> {
    let text = std::str::from_utf8(text).ok()?;
    let text = match tag {
        0x17 if text.get(..2)? < "50" => format!("20{text}"),
        0x17 => format!("19{text}"),
        0x18 => text.to_owned(),
        _ => return None,
    };
    Some(NaiveDateTime::parse_from_str(&text, "%Y%m%d%H%M%SZ").ok()?.and_utc())
}

#[cfg(test)]
#[path = "certificates_tests.rs"]
mod tests;
