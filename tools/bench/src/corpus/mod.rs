//! Documents for benches: Spanish and English, the same for the same number, eight to a patient. Invented people in
//! four forms (intake form, session, clinical note, chat), with what a real one is full of: names, telephones, doses,
//! denials, relatives' illnesses.

mod en;
mod es;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use anamnesis_core::clock::{Entropy as _, SeededEntropy};
use anamnesis_core::ids::{OrgId, PatientId, derive};

/// Documents of one patient.
const PER_PATIENT: u64 = 8;

/// The words of one language. Braces are filled by [`CorpusPerson`] and by chance.
struct CorpusWords {
    tag: &'static str,
    given: &'static [&'static str],
    family: &'static [&'static str],
    cities: &'static [&'static str],
    drugs: &'static [&'static str],
    conditions: &'static [&'static str],
    allergens: &'static [&'static str],
    symptoms: &'static [&'static str],
    relatives: &'static [&'static str],
    /// Lines of an intake form, all of them.
    form: &'static [&'static str],
    questions: &'static [&'static str],
    answers: &'static [&'static str],
    notes: &'static [&'static str],
}

/// Repeatable choices.
struct Chance(SeededEntropy);

impl Chance {
    fn new(domain: u64, number: u64) -> Self {
        Self(SeededEntropy::new(
            domain.wrapping_mul(0x9E37_79B9).wrapping_add(number).wrapping_mul(0xD1B5_4A32_D192_ED03),
        ))
    }

    fn below(&self, end: u64) -> u64 {
        let mut bytes = [0u8; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % end.max(1)
    }

    fn pick(&self, words: &'static [&'static str]) -> &'static str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// One invented patient.
struct CorpusPerson {
    words: &'static CorpusWords,
    name: String,
    phone: String,
    mail: String,
    record: String,
    street: String,
    relative: &'static str,
    relation: &'static str,
    drug: &'static str,
    dose: u64,
    condition: &'static str,
    allergen: &'static str,
}

impl CorpusPerson {
    fn new(number: u64) -> Self {
        let words = if number.is_multiple_of(2) { &es::WORDS } else { &en::WORDS };
        let chance = Chance::new(1, number);
        let (given, family) = (chance.pick(words.given), chance.pick(words.family));
        Self {
            words,
            name: format!("{given} {family}"),
            phone: format!("555 {:03} {:03}", chance.below(1000), chance.below(1000)),
            mail: format!("p{number}.{}@example.com", chance.below(100_000)),
            record: format!("{:07}", chance.below(10_000_000)),
            street: format!("{} {}", chance.pick(words.cities), 1 + chance.below(180)),
            relative: chance.pick(words.given),
            relation: chance.pick(words.relatives),
            drug: chance.pick(words.drugs),
            dose: [5, 10, 20, 25, 50, 100][chance.below(6) as usize],
            condition: chance.pick(words.conditions),
            allergen: chance.pick(words.allergens),
        }
    }

    /// Fills the braces of a sentence.
    fn say(&self, sentence: &str, chance: &Chance) -> String {
        let date = format!("{}/{}/2024", 1 + chance.below(28), 1 + chance.below(12));
        sentence
            .replace("{name}", &self.name)
            .replace("{phone}", &self.phone)
            .replace("{mail}", &self.mail)
            .replace("{record}", &self.record)
            .replace("{street}", &self.street)
            .replace("{relative}", self.relative)
            .replace("{relation}", self.relation)
            .replace("{drug}", self.drug)
            .replace("{dose}", &self.dose.to_string())
            .replace("{condition}", self.condition)
            .replace("{allergen}", self.allergen)
            .replace("{symptom}", chance.pick(self.words.symptoms))
            .replace("{date}", &date)
            .replace("{n}", &(2 + chance.below(9)).to_string())
    }

    fn lines(&self, from: &'static [&'static str], count: u64, chance: &Chance) -> Vec<String> {
        (0..count).map(|_| self.say(chance.pick(from), chance)).collect()
    }

    fn turns(&self, chance: &Chance) -> Value {
        let turn = |n: u64| {
            let clinician = n.is_multiple_of(2);
            let (speaker, from) =
                if clinician { ("clinician", self.words.questions) } else { ("patient", self.words.answers) };
            json!({"speaker": speaker, "text": self.say(chance.pick(from), chance), "at_ms": n * 7_000})
        };
        (0..16 + chance.below(8)).map(turn).collect()
    }
}

/// The body of document `number`: bare data of `anamnesis.document.submitted.v1`, 1–3 kB.
pub fn document(number: u64) -> Vec<u8> {
    let (patient, nth) = (number / PER_PATIENT, number % PER_PATIENT);
    let (person, chance) = (CorpusPerson::new(patient), Chance::new(2, number));
    let id = |kind: &str, n: u64| derive(kind, &[b"bench".as_slice(), n.to_be_bytes().as_slice()]);
    let mut body = json!({
        "organization_id": id("organization", 0),
        "patient_id": id("patient", patient),
        "document_id": id("document", number),
        "revision": 1,
        "occurred_at": format!("2025-{:02}-{:02}T{:02}:30:00Z", 1 + nth, 1 + patient % 28, 8 + chance.below(10)),
        "language": person.words.tag,
        "known_identities": [
            {"role": "patient", "names": [person.name], "phones": [person.phone], "emails": [person.mail]},
        ],
    });
    let text = |lines: Vec<String>, between: &str| Value::from(lines.join(between));
    let (kind, field, content) = match nth {
        0 => {
            let form = person.words.form.iter().map(|line| person.say(line, &chance)).collect();
            ("intake_form", "text", text(form, "\n"))
        }
        2 | 6 => ("clinical_note", "text", text(person.lines(person.words.notes, 9 + chance.below(7), &chance), " ")),
        4 => ("chat_message", "text", text(person.lines(person.words.answers, 9 + chance.below(4), &chance), " ")),
        _ => ("session_transcript", "turns", person.turns(&chance)),
    };
    body["document_type"] = kind.into();
    body[field] = content;
    body.to_string().into_bytes()
}

/// What recurs in the documents of one long life. Braces are filled by number.
const RECURRING: &[&str] = &[
    "I take sertraline 50 mg in the morning.",
    "I have had insomnia almost every day.",
    "I am allergic to penicillin, it gives me hives.",
    "I take metformin 850 mg with dinner.",
    "I have had headaches since Monday.",
    "My doctor says I have asthma.",
];
/// What each of those documents says that no other does.
const ONCE: &[&str] = &[
    "I like walking to milestone {n}.",
    "My goal is to read book {n} this month.",
    "On {day} I started course {n} at the library.",
    "I hate the noise of bus {n}.",
    "On {day} I moved to room {n}.",
    "I love the song number {n}.",
];

/// A document of one patient's long life, in its order: half of it was said before, half is new. 1–2 kB.
pub(crate) fn life(org: OrgId, patient: PatientId, number: u64) -> Vec<u8> {
    let chance = Chance::new(3, number);
    let (year, day) = (2000 + (number / 365) % 26, 1 + number % 28);
    let said = format!("{day} {} {year}", ["March", "May", "June", "August"][chance.below(4) as usize]);
    let mut lines: Vec<String> = (0..6).map(|_| chance.pick(RECURRING).to_owned()).collect();
    let mut n = number * ONCE.len() as u64;
    for sentence in ONCE {
        n += 1;
        lines.push(sentence.replace("{n}", &n.to_string()).replace("{day}", &said));
    }
    let at = DateTime::<Utc>::from_timestamp(946_684_800, 0).unwrap_or_default() + TimeDelta::hours(number as i64);
    let id = derive("document", &[b"life", patient.0.as_bytes(), &number.to_be_bytes()]);
    let body = json!({
        "organization_id": org, "patient_id": patient, "document_id": id, "revision": 1, "occurred_at": at,
        "language": "en", "document_type": "chat_message", "text": lines.join(" "),
    });
    body.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_messages::{Decoder, Limits};

    #[test]
    fn every_document_keeps_the_contract_and_has_a_realistic_size() {
        let decoder = Decoder::new(Limits::default());
        for number in 0..200 {
            let body = document(number);
            assert!(decoder.decode(&body).is_ok(), "document {number}");
            assert!((700..4_000).contains(&body.len()), "document {number} has {} bytes", body.len());
            assert!(!String::from_utf8(body).unwrap().contains("{n}"));
        }
    }

    #[test]
    fn a_number_gives_the_same_document_and_another_number_another() {
        assert_eq!(document(17), document(17));
        let all: std::collections::BTreeSet<Vec<u8>> = (0..200).map(document).collect();
        assert_eq!(all.len(), 200);
    }

    #[test]
    fn half_of_the_patients_speak_spanish() {
        let spanish = (0..160).filter(|n| String::from_utf8(document(*n)).unwrap().contains(r#""language":"es""#));
        assert_eq!(spanish.count(), 80);
    }
}
