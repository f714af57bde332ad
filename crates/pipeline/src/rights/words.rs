//! Texts for people about their rights, in English and in Spanish: all texts of the verbs and of the answers in one
//! place, so that a chat and a terminal say the same.

use chrono::{DateTime, Utc};

use anamnesis_core::consent::{ConsentScope, Provision};
use anamnesis_core::document::DocumentType;
use anamnesis_core::memory::{Class, SetBy, State};
use anamnesis_store::answers::AnswerOutcome;
use anamnesis_store::privacy::PrivacyReport;

/// The language of a text for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RightsLanguage {
    En,
    Es,
}

impl std::str::FromStr for RightsLanguage {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("en") => Ok(Self::En),
            Some("es") => Ok(Self::Es),
            _ => Err("en or es"),
        }
    }
}

impl std::fmt::Display for RightsLanguage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.select(["en", "es"]))
    }
}

impl RightsLanguage {
    /// One of two texts that say the same, English first.
    pub fn select(self, [english, spanish]: [&str; 2]) -> &str {
        match self {
            Self::En => english,
            Self::Es => spanish,
        }
    }
}

pub const EXPORTED: [&str; 2] = [
    "This is a copy of all that is held about you, with names and addresses taken out. What you asked to forget is not in it.",
    "Esta es una copia de todo lo que se guarda sobre usted, sin nombres ni direcciones. No incluye lo que pidió olvidar.",
];
pub const NOTHING_MEANT: [&str; 2] = [
    "Nothing that is remembered speaks of it. Nothing was changed.",
    "Nada de lo que se recuerda habla de eso. No se ha cambiado nada.",
];
pub const EPHEMERAL_ON: [&str; 2] = [
    "From now on nothing that you say is kept. A danger to your life or to others is still reported, without your words.",
    "Desde ahora no se guarda nada de lo que diga. Si hay peligro para su vida o la de otros, se avisa, sin sus palabras.",
];
pub const EPHEMERAL_OFF: [&str; 2] = [
    "From now on what you say is remembered again. What you said meanwhile was not kept.",
    "Desde ahora se vuelve a recordar lo que diga. Lo que dijo mientras tanto no se ha guardado.",
];
pub const EPHEMERAL_IS_ON: [&str; 2] =
    ["Nothing that you say is being kept.", "No se está guardando nada de lo que dice."];
pub const EPHEMERAL_IS_OFF: [&str; 2] = ["What you say is being remembered.", "Se está recordando lo que dice."];
pub const GONE_PATIENT: [&str; 2] = [
    "Everything about you was erased for good. Only a receipt without content is left.",
    "Se ha borrado para siempre todo lo suyo. Solo queda un comprobante sin contenido.",
];
pub const GONE_DOCUMENT: [&str; 2] = [
    "The document and what was made of it were erased for good.",
    "El documento y lo que se obtuvo de él se han borrado para siempre.",
];
pub const GONE_MEMORY: [&str; 2] =
    ["The memory and its words were erased for good.", "El recuerdo y sus palabras se han borrado para siempre."];
pub const HELD_BY_LAW: [&str; 2] = [
    "It cannot be erased now: a legal obligation keeps it. Nothing was erased.",
    "No se puede borrar ahora: una obligación legal lo conserva. No se ha borrado nada.",
];

/// Before memories are forgotten: how many are meant.
pub(crate) fn would_forget(count: usize, language: RightsLanguage) -> String {
    match (language, count) {
        (RightsLanguage::En, 1) => "1 memory would be forgotten. Nothing was changed yet.".to_owned(),
        (RightsLanguage::En, n) => format!("{n} memories would be forgotten. Nothing was changed yet."),
        (RightsLanguage::Es, 1) => "Se olvidaría 1 recuerdo. Todavía no se ha cambiado nada.".to_owned(),
        (RightsLanguage::Es, n) => format!("Se olvidarían {n} recuerdos. Todavía no se ha cambiado nada."),
    }
}

/// The number of memories that stay until a clinician decides, if any.
fn left_to_a_clinician(left: usize, language: RightsLanguage) -> Option<String> {
    Some(match (language, left) {
        (_, 0) => return None,
        (RightsLanguage::En, 1) => "1 memory is of an allergy: it is kept until a clinician decides.".to_owned(),
        (RightsLanguage::En, n) => format!("{n} memories are of allergies: they are kept until a clinician decides."),
        (RightsLanguage::Es, 1) => {
            "1 recuerdo es de una alergia: se conserva hasta que decida un profesional.".to_owned()
        }
        (RightsLanguage::Es, n) => {
            format!("{n} recuerdos son de alergias: se conservan hasta que decida un profesional.")
        }
    })
}

/// Before memories are forgotten or recovered: `meant` of them, of which `left` would stay.
pub fn would_go(is_recovery: bool, meant: usize, left: usize, language: RightsLanguage) -> Vec<String> {
    if is_recovery {
        return vec![would_recover(meant, language)];
    }
    let goes = meant.saturating_sub(left);
    let would = (goes > 0 || left == 0).then(|| would_forget(goes, language));
    would.into_iter().chain(left_to_a_clinician(left, language)).collect()
}

/// The number of memories that stay for another reason, if any.
fn kept_since(kept: usize, language: RightsLanguage) -> Option<String> {
    Some(match (language, kept) {
        (_, 0) => return None,
        (RightsLanguage::En, 1) => "1 memory is kept: it was said or taken back since.".to_owned(),
        (RightsLanguage::En, n) => format!("{n} memories are kept: they were said or taken back since."),
        (RightsLanguage::Es, 1) => "1 recuerdo se conserva: se dijo o se recuperó después.".to_owned(),
        (RightsLanguage::Es, n) => format!("{n} recuerdos se conservan: se dijeron o se recuperaron después."),
    })
}

/// After a request to forget: what was forgotten, and what stayed and why.
pub fn went(came: &AnswerOutcome, language: RightsLanguage) -> Vec<String> {
    let went = match came.done {
        0 if came.left + came.kept == 0 => Some(language.select(NOTHING_MEANT).to_owned()),
        0 => None,
        done => Some(forgotten(done, came.days, language)),
    };
    let stayed = [left_to_a_clinician(came.left, language), kept_since(came.kept, language)];
    went.into_iter().chain(stayed.into_iter().flatten()).collect()
}

/// After a request to recover.
pub fn came_back(done: usize, language: RightsLanguage) -> Vec<String> {
    vec![if done == 0 { language.select(NOTHING_MEANT).to_owned() } else { recovered(done, language) }]
}

/// Before memories are recovered.
pub(crate) fn would_recover(count: usize, language: RightsLanguage) -> String {
    match (language, count) {
        (RightsLanguage::En, 1) => "1 memory would be taken back. Nothing was changed yet.".to_owned(),
        (RightsLanguage::En, n) => format!("{n} memories would be taken back. Nothing was changed yet."),
        (RightsLanguage::Es, 1) => "Se recuperaría 1 recuerdo. Todavía no se ha cambiado nada.".to_owned(),
        (RightsLanguage::Es, n) => format!("Se recuperarían {n} recuerdos. Todavía no se ha cambiado nada."),
    }
}

/// After memories were forgotten, with the number of days for recovery.
pub(crate) fn forgotten(count: usize, days: u32, language: RightsLanguage) -> String {
    match (language, count) {
        (RightsLanguage::En, 1) => {
            format!("1 memory was forgotten. You can take it back for {days} days; then its words are destroyed.")
        }
        (RightsLanguage::En, n) => {
            format!(
                "{n} memories were forgotten. You can take them back for {days} days; then their words are destroyed."
            )
        }
        (RightsLanguage::Es, 1) => {
            format!(
                "Se ha olvidado 1 recuerdo. Puede recuperarlo durante {days} días; después se destruyen sus palabras."
            )
        }
        (RightsLanguage::Es, n) => {
            format!(
                "Se han olvidado {n} recuerdos. Puede recuperarlos durante {days} días; después se destruyen sus palabras."
            )
        }
    }
}

/// After memories were recovered.
pub(crate) fn recovered(count: usize, language: RightsLanguage) -> String {
    match (language, count) {
        (RightsLanguage::En, 1) => "1 memory is remembered again.".to_owned(),
        (RightsLanguage::En, n) => format!("{n} memories are remembered again."),
        (RightsLanguage::Es, 1) => "Se vuelve a recordar 1 recuerdo.".to_owned(),
        (RightsLanguage::Es, n) => format!("Se vuelven a recordar {n} recuerdos."),
    }
}

/// The provision of a scope of consent; `None` if nothing was recorded.
pub fn consent(scope: ConsentScope, provision: Option<Provision>, language: RightsLanguage) -> String {
    let what = language.select(match scope {
        ConsentScope::Memory => ["That what you say is kept", "Que se guarde lo que dice"],
        ConsentScope::Recall => {
            ["That what is kept is shown to those who treat you", "Que lo guardado se muestre a quienes le atienden"]
        }
        ConsentScope::Research => ["That you are counted in statistics", "Que se le cuente en estadísticas"],
    });
    let said = language.select(match provision {
        Some(Provision::Permit) => ["you permit it", "usted lo permite"],
        Some(Provision::Deny) => ["you do not permit it", "usted no lo permite"],
        None => ["nothing is recorded", "no consta nada"],
    });
    format!("{what}: {said}.")
}

pub const ERASED: [&str; 2] = [
    "Everything about this person was erased. Nothing is held any more.",
    "Se ha borrado todo lo de esta persona. Ya no se guarda nada.",
];
pub(crate) const NOTHING: [&str; 2] = ["Nothing is held about you.", "No se guarda nada sobre usted."];
pub(crate) const MEMORIES: [&str; 2] = ["What is remembered about you:", "Lo que se recuerda de usted:"];
pub(crate) const DOCUMENTS: [&str; 2] = [
    "Documents it comes from, with names and addresses taken out:",
    "Documentos de los que procede, sin nombres ni direcciones:",
];
pub(crate) const RIGHTS: [&str; 2] = [
    "You can ask to have any of it corrected, forgotten or erased, or to talk without being remembered.",
    "Puede pedir que cualquier dato se corrija, se olvide o se borre, y puede hablar sin que se recuerde.",
];

/// The stored data, line by line.
pub fn report(held: &PrivacyReport, language: RightsLanguage) -> Vec<String> {
    if held.memories.is_empty() && held.documents.is_empty() {
        return vec![language.select(NOTHING).to_owned()];
    }
    let mut lines = Vec::new();
    if !held.memories.is_empty() {
        lines.push(language.select(MEMORIES).to_owned());
        for one in &held.memories {
            let (class, state) = (language.select(class(one.class)), language.select(state(one.state)));
            let (source, days) = (language.select(source(one.said_by)), days(one.oldest, one.newest, language));
            lines.push(format!("  {:>4}  {class}, {source}, {state} ({days})", one.count));
        }
    }
    if !held.documents.is_empty() {
        lines.push(language.select(DOCUMENTS).to_owned());
        for one in &held.documents {
            let days = days(one.oldest, one.newest, language);
            lines.push(format!("  {:>4}  {} ({days})", one.count, language.select(document(one.document_type))));
        }
    }
    lines.push(language.select(RIGHTS).to_owned());
    lines
}

fn days(oldest: DateTime<Utc>, newest: DateTime<Utc>, language: RightsLanguage) -> String {
    let (first, last) = (oldest.date_naive(), newest.date_naive());
    if first == last { first.to_string() } else { format!("{first} {} {last}", language.select(["to", "a"])) }
}

fn class(class: Class) -> [&'static str; 2] {
    match class {
        Class::LongLivedFact => {
            ["lasting facts, such as illnesses and allergies", "datos duraderos, como enfermedades y alergias"]
        }
        Class::TimeBoundState => ["symptoms and states", "síntomas y estados"],
        Class::Event => ["things that happened", "hechos ocurridos"],
        Class::Inference => ["guesses of a program", "suposiciones de un programa"],
        Class::HealthSignal => ["measurements of a device", "mediciones de un dispositivo"],
        Class::Preference => ["preferences", "preferencias"],
        Class::Pattern => ["patterns seen over time", "patrones vistos con el tiempo"],
    }
}

fn source(said_by: SetBy) -> [&'static str; 2] {
    match said_by {
        SetBy::Clinician => ["from a clinician", "de un profesional"],
        SetBy::Profile => ["from your profile", "de su perfil"],
        SetBy::Task => ["from an answer", "de una respuesta"],
        SetBy::Patient => ["from you", "de usted"],
        SetBy::Family => ["from a relative", "de un familiar"],
        SetBy::Device => ["from a device", "de un dispositivo"],
        SetBy::Agent => ["from a program", "de un programa"],
        SetBy::Unknown => ["from an unknown source", "de origen desconocido"],
    }
}

fn state(state: State) -> [&'static str; 2] {
    match state {
        State::Active => ["in force", "vigentes"],
        State::Resolved => ["ended", "terminados"],
        State::ResolvedUnconfirmed => ["not confirmed since", "sin confirmar desde entonces"],
        State::Expired => ["expired", "caducados"],
        State::Stale => ["outdated", "desactualizados"],
        State::Superseded => ["replaced by newer ones", "sustituidos por otros"],
        State::Inactive => ["forgotten at your wish", "olvidados a petición suya"],
        State::Erased => ["forgotten for good, only this count is left", "olvidados del todo, solo queda esta cuenta"],
        State::Quarantined => ["set aside to be checked", "apartados para revisarse"],
    }
}

fn document(document: DocumentType) -> [&'static str; 2] {
    match document {
        DocumentType::SessionTranscript => ["session transcripts", "transcripciones de sesiones"],
        DocumentType::Analysis => ["analyses", "análisis"],
        DocumentType::IntakeForm => ["intake forms", "formularios de ingreso"],
        DocumentType::ChatMessage => ["chat messages", "mensajes de chat"],
        DocumentType::ClinicalNote => ["clinical notes", "notas clínicas"],
        DocumentType::UploadedDocument => ["uploaded documents", "documentos subidos"],
    }
}

#[cfg(test)]
mod tests {
    use anamnesis_core::provenance::SourceType;
    use anamnesis_store::privacy::{DocumentCounts, MemoryCounts};

    use super::*;

    fn held() -> PrivacyReport {
        let (oldest, newest) = ("2026-03-02T10:00:00Z".parse().unwrap(), "2026-05-02T10:00:00Z".parse().unwrap());
        let facts = MemoryCounts {
            class: Class::LongLivedFact,
            said_by: SetBy::Clinician,
            source_type: SourceType::External,
            state: State::Active,
            count: 3,
            oldest,
            newest,
        };
        let forgotten =
            MemoryCounts { said_by: SetBy::Patient, state: State::Inactive, count: 1, newest: oldest, ..facts };
        let notes = DocumentCounts { document_type: DocumentType::ClinicalNote, count: 12, oldest, newest };
        PrivacyReport { memories: vec![facts, forgotten], documents: vec![notes] }
    }

    #[test]
    fn a_patient_reads_what_is_held_in_either_language() {
        let english = [
            "What is remembered about you:",
            "     3  lasting facts, such as illnesses and allergies, from a clinician, in force (2026-03-02 to 2026-05-02)",
            "     1  lasting facts, such as illnesses and allergies, from you, forgotten at your wish (2026-03-02)",
            "Documents it comes from, with names and addresses taken out:",
            "    12  clinical notes (2026-03-02 to 2026-05-02)",
            "You can ask to have any of it corrected, forgotten or erased, or to talk without being remembered.",
        ];
        assert_eq!(report(&held(), RightsLanguage::En), english);
        let spanish = [
            "Lo que se recuerda de usted:",
            "     3  datos duraderos, como enfermedades y alergias, de un profesional, vigentes (2026-03-02 a 2026-05-02)",
            "     1  datos duraderos, como enfermedades y alergias, de usted, olvidados a petición suya (2026-03-02)",
            "Documentos de los que procede, sin nombres ni direcciones:",
            "    12  notas clínicas (2026-03-02 a 2026-05-02)",
            "Puede pedir que cualquier dato se corrija, se olvide o se borre, y puede hablar sin que se recuerde.",
        ];
        assert_eq!(report(&held(), RightsLanguage::Es), spanish);
    }

    #[test]
    fn numbers_agree_with_their_words_in_both_languages() {
        assert_eq!(
            forgotten(1, 30, RightsLanguage::Es),
            "Se ha olvidado 1 recuerdo. Puede recuperarlo durante 30 días; después se destruyen sus palabras."
        );
        assert_eq!(
            forgotten(2, 30, RightsLanguage::En),
            "2 memories were forgotten. You can take them back for 30 days; then their words are destroyed."
        );
        assert_eq!(would_forget(2, RightsLanguage::Es), "Se olvidarían 2 recuerdos. Todavía no se ha cambiado nada.");
        assert_eq!(recovered(1, RightsLanguage::En), "1 memory is remembered again.");
        assert_eq!("ES".parse(), Ok(RightsLanguage::Es));
        assert_eq!("fr".parse::<RightsLanguage>(), Err("en or es"));
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        let nothing = PrivacyReport { memories: Vec::new(), documents: Vec::new() };
        assert_eq!(report(&nothing, RightsLanguage::Es), ["No se guarda nada sobre usted."]);
    }
}
