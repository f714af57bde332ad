//! What is sent: invented documents, some of them twice, some that are poison, and one that kills whoever works it.

use std::collections::BTreeSet;

use anamnesis_bench::corpus;
use anamnesis_core::clock::{Entropy as _, SeededEntropy};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

/// The word that ends the process that reads it.
pub(crate) const DEADLY: &str = "XYZZY-PLUGH";

/// All messages of a campaign, in the order of sending.
pub(crate) struct Messages {
    pub(crate) all: Vec<Vec<u8>>,
    /// What a run that nothing disturbs is given: everything but the deadly one, each once.
    pub(crate) calm: Vec<Vec<u8>>,
    /// Good messages, each counted once.
    pub(crate) good: u64,
    /// Messages that must be quarantined, the deadly one included.
    pub(crate) poison: u64,
}

impl Messages {
    /// The lines of an NDJSON file, each once; what is good and what is poison among them the calm run tells.
    pub(crate) fn from_file(path: &std::path::Path) -> std::io::Result<Self> {
        let text = std::fs::read(path)?;
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let all: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        Ok(Self { calm: all.clone(), all, good: 0, poison: 0 })
    }

    /// Whom the good ones are of.
    pub(crate) fn patients(&self) -> BTreeSet<Scope> {
        let of = |message: &Vec<u8>| {
            let message: Value = serde_json::from_slice(message).ok()?;
            let data = message.get("data").unwrap_or(&message);
            let id = |field: &str| data.get(field)?.as_str()?.parse::<Uuid>().ok();
            Scope::new(OrgId(id("organization_id")?), PatientId(id("patient_id")?)).ok()
        };
        self.calm.iter().filter_map(of).collect()
    }

    /// More good messages, behind the first `from`.
    pub(crate) fn later(seed: u64, from: u64, count: u64) -> Vec<Vec<u8>> {
        (from..from + count).map(|n| event(&format!("u-{seed}-{n}"), &corpus::document(n))).collect()
    }

    /// Good messages alone, some of them twice.
    pub(crate) fn plain(seed: u64, good: u64) -> Self {
        let calm: Vec<Vec<u8>> = (0..good).map(|n| event(&format!("u-{seed}-{n}"), &corpus::document(n))).collect();
        let twice = |(at, message): (usize, &Vec<u8>)| vec![message.clone(); 1 + usize::from(at.is_multiple_of(12))];
        let all = calm.iter().enumerate().flat_map(twice).collect();
        Self { all, calm, good, poison: 0 }
    }

    pub(crate) fn generate(seed: u64, good: u64) -> Self {
        let draws = SeededEntropy::new(seed.wrapping_mul(77));
        let draw = |of: u64| {
            let mut bytes = [0u8; 8];
            draws.fill(&mut bytes);
            u64::from_le_bytes(bytes) % of.max(1)
        };
        let (mut all, mut calm, mut poison) = (Vec::new(), Vec::new(), 0);
        for number in 0..good {
            let message = event(&format!("c-{seed}-{number}"), &corpus::document(number));
            calm.push(message.clone());
            // A producer that was not sure sends again.
            if draw(12) == 0 {
                all.push(message.clone());
            }
            all.push(message);
            if draw(50) == 0 {
                let broken = broken(draw(3), number);
                calm.push(broken.clone());
                all.push(broken);
                poison += 1;
            }
        }
        let deadly = corpus::document(good);
        let mut deadly: Value = serde_json::from_slice(&deadly).unwrap_or_default();
        deadly["turns"] = Value::Null;
        deadly["text"] = json!(format!("Una palabra que mata: {DEADLY}."));
        let deadly = event(&format!("c-{seed}-deadly"), deadly.to_string().as_bytes());
        let at = usize::try_from(draw(all.len() as u64)).unwrap_or(0);
        all.insert(at, deadly);
        Self { all, calm, good, poison: poison + 1 }
    }
}

fn event(id: &str, data: &[u8]) -> Vec<u8> {
    let data: Value = serde_json::from_slice(data).unwrap_or_default();
    let kind = "anamnesis.document.submitted.v1";
    json!({"specversion": "1.0", "id": id, "source": "urn:campaign", "type": kind, "data": data})
        .to_string()
        .into_bytes()
}

fn broken(how: u64, number: u64) -> Vec<u8> {
    match how {
        0 => format!("{{\"broken\": {number}").into_bytes(),
        1 => json!({"specversion": "1.0", "id": format!("u-{number}"), "source": "urn:campaign",
            "type": "anamnesis.unheard.of.v7", "data": {}})
        .to_string()
        .into_bytes(),
        _ => event(&format!("n-{number}"), json!({"document_id": number, "text": "\u{0}"}).to_string().as_bytes()),
    }
}
