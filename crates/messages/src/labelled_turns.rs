//! Whose turn a line is: transcripts and chats that came as one text, each turn opened by a label ("Dr Pillai: …",
//! "[23:41] Juampi: …", "P: …"). The producer says who the labels are; without it, words for a role do.
//!
//! A label names a person, so it is left out of the text, and its name goes to redaction as a known one.

use super::contract::{DocumentSubmitted, Participant};
use anamnesis_core::wording::person;
use anamnesis_text::{Speaker, fold};

/// Characters that a label may be long.
const LONGEST_LABEL: usize = 40;
/// Fewer labelled lines than this are no dialogue.
const FEWEST_TURNS: usize = 2;

/// One turn of a text: who speaks, and the words without their label.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LabelledTurn {
    pub(crate) speaker: Speaker,
    pub(crate) text: String,
}

/// The turns of a text whose lines are labelled; `None` where it is no dialogue.
pub(super) fn turns_of(document: &DocumentSubmitted) -> Option<Vec<LabelledTurn>> {
    let text = document.text.as_deref()?;
    let participants = document.participants.as_deref().unwrap_or_default();
    if document.file.is_some() || (participants.is_empty() && !document.document_type.is_conversational()) {
        return None;
    }
    let letters = single_letters(text);
    let mut turns: Vec<LabelledTurn> = Vec::new();
    let mut labelled = 0;
    for line in text.lines() {
        let who = labelled_line(line).and_then(|(label, words)| {
            let speaker = speaker_of(label, participants).or_else(|| letters.then(|| letter(label)).flatten())?;
            Some((speaker, words))
        });
        match (who, turns.last_mut()) {
            (Some((speaker, words)), _) => {
                labelled += 1;
                turns.push(LabelledTurn { speaker, text: words.to_owned() });
            }
            (None, Some(turn)) => {
                turn.text.push('\n');
                turn.text.push_str(line);
            }
            // A heading before the first turn.
            (None, None) => turns.push(LabelledTurn { speaker: Speaker::Unknown, text: line.to_owned() }),
        }
    }
    turns.iter_mut().for_each(|turn| turn.text.truncate(turn.text.trim_end().len()));
    turns.retain(|turn| !turn.text.trim().is_empty());
    let first = turns.iter().map(|turn| turn.speaker).find(|speaker| *speaker != Speaker::Unknown)?;
    let several = turns.iter().any(|turn| turn.speaker != first && turn.speaker != Speaker::Unknown);
    (labelled >= FEWEST_TURNS && (several || !participants.is_empty())).then_some(turns)
}

/// The names by which the participants are labelled, for redaction: roles and titles are no names.
pub(super) fn names(participants: &[Participant]) -> Vec<String> {
    let named = participants.iter().map(|one| without_title(one.label.trim()));
    named.filter(|name| name.chars().count() > 1 && role(name).is_none()).map(str::to_owned).collect()
}

/// A line that opens with a label: the label and what is said. The time before it belongs to neither.
fn labelled_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let line = line.trim_start_matches(['*', '_', '>', '-', '•']).trim_start();
    let line = match line.strip_prefix(['[', '(']).and_then(|rest| rest.split_once([']', ')'])) {
        Some((time, rest)) if time.chars().any(|c| c.is_ascii_digit()) => rest.trim_start(),
        _ => line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ' ')),
    };
    let (label, words) = line.split_once(':')?;
    let label = label.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '<' | '>'));
    let fits = !label.is_empty() && label.chars().count() <= LONGEST_LABEL && label.split_whitespace().count() <= 4;
    fits.then(|| (label, words.trim_start_matches(['*', '_']).trim()))
}

fn speaker_of(label: &str, participants: &[Participant]) -> Option<Speaker> {
    let same = |one: &&Participant| {
        let (a, b) = (fold(one.label.trim()), fold(label));
        a == b || fold(without_title(&one.label)) == fold(without_title(label))
    };
    participants.iter().find(same).map(|one| one.role).or_else(|| role(label))
}

/// What a label says by itself: a role, or a relation to the patient.
fn role(label: &str) -> Option<Speaker> {
    let folded = fold(label);
    let plain = folded.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '.');
    let first = plain.split([' ', '(', '/', ',']).next().unwrap_or(plain).trim_end_matches('.');
    if CLINICIANS.contains(&plain) || CLINICIANS.contains(&first) {
        return Some(Speaker::Clinician);
    }
    match plain {
        "patient" | "pt" | "pte" | "pcte" | "pac" | "client" | "paciente" | "usuario" | "usuaria" | "cliente" => {
            Some(Speaker::Patient)
        }
        "bot" | "chatbot" | "assistant" | "asistente" | "asistente virtual" | "agent" | "ai" | "ia" => {
            Some(Speaker::Agent)
        }
        "carer" | "caregiver" | "cuidador" | "cuidadora" | "familiar" | "acompanante" => Some(Speaker::Family),
        _ => person(plain).filter(|name| !matches!(*name, "friend" | "neighbour")).map(|_| Speaker::Family),
    }
}

/// Folded words that open the label of a clinician.
const CLINICIANS: &[&str] = &[
    "dr",
    "dra",
    "doctor",
    "doctora",
    "clinician",
    "therapist",
    "psychologist",
    "psychiatrist",
    "nurse",
    "counselor",
    "counsellor",
    "interviewer",
    "provider",
    "physician",
    "midwife",
    "gp",
    "social worker",
    "terapeuta",
    "psicologo",
    "psicologa",
    "psiquiatra",
    "enfermero",
    "enfermera",
    "medico",
    "medica",
    "matrona",
    "trabajadora social",
    "trabajador social",
    "entrevistador",
    "entrevistadora",
    "profesional",
    "lic",
    "psic",
    "mse",
    "rn",
    "slp",
    "ot",
];

/// One-letter labels count where a clinician's and a patient's both recur.
fn single_letters(text: &str) -> bool {
    let count =
        |who: Speaker| text.lines().filter_map(labelled_line).filter(|(label, _)| letter(label) == Some(who)).count();
    count(Speaker::Clinician) > 1 && count(Speaker::Patient) > 1
}

fn letter(label: &str) -> Option<Speaker> {
    match label {
        "T" | "D" | "C" | "M" | "E" | "Q" | "Dr" => Some(Speaker::Clinician),
        "P" | "A" | "Pt" => Some(Speaker::Patient),
        "F" | "H" => Some(Speaker::Family),
        _ => None,
    }
}

/// "Dr Pillai" and "Lic. Sosa" without what they are called by their trade.
fn without_title(label: &str) -> &str {
    let label = label.trim();
    match label.split_once(' ') {
        Some((title, name)) if CLINICIANS.contains(&fold(title).trim_end_matches('.')) || is_title(title) => {
            name.trim()
        }
        _ => label,
    }
}

fn is_title(word: &str) -> bool {
    matches!(fold(word).trim_end_matches('.'), "mr" | "mrs" | "ms" | "miss" | "sr" | "sra" | "srta" | "don" | "dona")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::document::DocumentType;

    fn speakers(text: &str, participants: &[(&str, Speaker)], kind: DocumentType) -> Option<Vec<(Speaker, String)>> {
        let message = serde_json::json!({
            "organization_id": "7d0f4d3e-9a52-4a55-8d3c-0d6d7c6c2b11", "document_type": kind.code(), "text": text,
            "patient_id": "1f9a6f1c-2f0e-4a3b-9c7d-5e8f00000001", "occurred_at": "2026-03-02T10:00:00Z",
            "document_id": "a3b1c5d7-0001-4000-8000-000000000001",
        });
        let mut document: DocumentSubmitted = serde_json::from_value(message).expect("a document");
        let said = participants.iter();
        let all = said.map(|(label, role)| Participant { label: (*label).into(), role: *role, relation: None });
        document.participants = Some(all.collect::<Vec<_>>()).filter(|all| !all.is_empty());
        turns_of(&document).map(|turns| turns.into_iter().map(|turn| (turn.speaker, turn.text)).collect())
    }

    fn said(turns: &[(Speaker, &str)]) -> Option<Vec<(Speaker, String)>> {
        Some(turns.iter().map(|(who, words)| (*who, (*words).to_owned())).collect())
    }

    #[test]
    fn labels_that_are_names_speak_in_the_role_that_the_producer_gave_them() {
        use Speaker::{Clinician as C, Family as F, Patient as P};
        let text = "Dr. Okafor: How is the cough?\nLena: Gone.\nRuth: She still coughs\nat night.\nLena: A bit.";
        let people = [("Dr Okafor", C), ("Lena", P), ("Ruth", F)];
        let expected =
            said(&[(C, "How is the cough?"), (P, "Gone."), (F, "She still coughs\nat night."), (P, "A bit.")]);
        assert_eq!(speakers(text, &people, DocumentType::SessionTranscript), expected);
        let chat = "[23:41] Lena: hola\n[23:42] Dr. Okafor: cuéntame\n(9:05) Lena: no duermo";
        let expected = said(&[(P, "hola"), (C, "cuéntame"), (P, "no duermo")]);
        assert_eq!(speakers(chat, &people, DocumentType::ChatMessage), expected);
    }

    #[test]
    fn words_for_a_role_speak_for_themselves_in_transcripts_alone() {
        use Speaker::{Clinician as C, Family as F, Patient as P};
        let text = "Psicóloga: ¿Cómo duerme?\nPaciente: Mal.\nMadre: Ronca.";
        let expected = said(&[(C, "¿Cómo duerme?"), (P, "Mal."), (F, "Ronca.")]);
        assert_eq!(speakers(text, &[], DocumentType::SessionTranscript), expected);
        let letters = "T: Any pain?\nP: No.\nT: Sleep?\nP: Fine.";
        let expected = said(&[(C, "Any pain?"), (P, "No."), (C, "Sleep?"), (P, "Fine.")]);
        assert_eq!(speakers(letters, &[], DocumentType::SessionTranscript), expected);
        let note = "Patient: Ann Lee\nDoctor: H. Moss\nMother: asthma";
        assert_eq!(speakers(note, &[], DocumentType::ClinicalNote), None);
        assert_eq!(speakers("S: tired\nP: rest, fluids", &[], DocumentType::SessionTranscript), None);
    }

    #[test]
    fn only_names_of_participants_go_to_redaction() {
        let people = ["Dr Okafor", "Lena", "Therapist", "Mum", "Lic. Sosa"];
        let all: Vec<_> = people
            .iter()
            .map(|label| Participant { label: (*label).into(), role: Speaker::Patient, relation: None })
            .collect();
        assert_eq!(names(&all), ["Okafor", "Lena", "Sosa"]);
    }
}
