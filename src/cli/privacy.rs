//! `privacy`: what is held of a patient, by class, source and state, in words that a patient can read (seed 000,
//! `/privacidad`). Spanish or English.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::language::{Language, Spoken};
use super::output::{self, Format};
use super::patient::Of;
use super::world::World;
use super::{Context, Exit, Failure};
use anamnesis_core::document::DocumentType;
use anamnesis_core::memory::{Class, SetBy, State};
use anamnesis_store::StoreError;
use anamnesis_store::privacy::Held;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis privacy --org $ORG --patient $PATIENT --by $PATIENT --language es\n  \
    anamnesis privacy --org $ORG --patient $PATIENT --by $OFFICER --output json")]
pub struct Args {
    #[command(flatten)]
    of: Of,
    /// Who asks: an id that the audit trail keeps.
    #[arg(long, value_name = "UUID")]
    by: Uuid,
    #[command(flatten)]
    spoken: Spoken,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        let held = world.store.privacy_report(args.of.scope()?, args.by).await;
        world.store.close().await;
        match (held, context.format_or(Format::Table)) {
            (Ok(held), Format::Json) => output::json(&held)?,
            (Ok(held), Format::Table) => {
                text(&held, args.spoken.language).iter().try_for_each(|line| output::line(line))?
            }
            (Err(StoreError::Erased), Format::Table) => output::line(args.spoken.language.of(ERASED))?,
            (Err(error), _) => return Err(error.into()),
        }
        Ok(Exit::Done)
    })
}

const ERASED: [&str; 2] = [
    "Everything about this person was erased. Nothing is held any more.",
    "Se ha borrado todo lo de esta persona. Ya no se guarda nada.",
];
const NOTHING: [&str; 2] = ["Nothing is held about you.", "No se guarda nada sobre usted."];
const MEMORIES: [&str; 2] = ["What is remembered about you:", "Lo que se recuerda de usted:"];
const DOCUMENTS: [&str; 2] = [
    "Documents it comes from, with names and addresses taken out:",
    "Documentos de los que procede, sin nombres ni direcciones:",
];
const RIGHTS: [&str; 2] = [
    "You can ask to have any of it corrected, forgotten or erased, or to talk without being remembered.",
    "Puede pedir que cualquier dato se corrija, se olvide o se borre, y puede hablar sin que se recuerde.",
];

/// Lines for a person.
fn text(held: &Held, language: Language) -> Vec<String> {
    if held.memories.is_empty() && held.documents.is_empty() {
        return vec![language.of(NOTHING).to_owned()];
    }
    let mut lines = Vec::new();
    if !held.memories.is_empty() {
        lines.push(language.of(MEMORIES).to_owned());
        for one in &held.memories {
            let (class, state) = (language.of(class(one.class)), language.of(state(one.state)));
            let (source, days) = (language.of(source(one.said_by)), days(one.oldest, one.newest, language));
            lines.push(format!("  {:>4}  {class}, {source}, {state} ({days})", one.count));
        }
    }
    if !held.documents.is_empty() {
        lines.push(language.of(DOCUMENTS).to_owned());
        for one in &held.documents {
            let days = days(one.oldest, one.newest, language);
            lines.push(format!("  {:>4}  {} ({days})", one.count, language.of(document(one.document_type))));
        }
    }
    lines.push(language.of(RIGHTS).to_owned());
    lines
}

fn days(oldest: DateTime<Utc>, newest: DateTime<Utc>, language: Language) -> String {
    let (first, last) = (oldest.date_naive(), newest.date_naive());
    if first == last { first.to_string() } else { format!("{first} {} {last}", language.of(["to", "a"])) }
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
    use anamnesis_store::privacy::{HeldDocuments, HeldMemories};

    use super::*;

    fn held() -> Held {
        let (oldest, newest) = ("2026-03-02T10:00:00Z".parse().unwrap(), "2026-05-02T10:00:00Z".parse().unwrap());
        let facts = HeldMemories {
            class: Class::LongLivedFact,
            said_by: SetBy::Clinician,
            source_type: SourceType::External,
            state: State::Active,
            count: 3,
            oldest,
            newest,
        };
        let forgotten =
            HeldMemories { said_by: SetBy::Patient, state: State::Inactive, count: 1, newest: oldest, ..facts };
        let notes = HeldDocuments { document_type: DocumentType::ClinicalNote, count: 12, oldest, newest };
        Held { memories: vec![facts, forgotten], documents: vec![notes] }
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
        assert_eq!(text(&held(), Language::En), english);
        let spanish = [
            "Lo que se recuerda de usted:",
            "     3  datos duraderos, como enfermedades y alergias, de un profesional, vigentes (2026-03-02 a 2026-05-02)",
            "     1  datos duraderos, como enfermedades y alergias, de usted, olvidados a petición suya (2026-03-02)",
            "Documentos de los que procede, sin nombres ni direcciones:",
            "    12  notas clínicas (2026-03-02 a 2026-05-02)",
            "Puede pedir que cualquier dato se corrija, se olvide o se borre, y puede hablar sin que se recuerde.",
        ];
        assert_eq!(text(&held(), Language::Es), spanish);
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        let nothing = Held { memories: Vec::new(), documents: Vec::new() };
        assert_eq!(text(&nothing, Language::Es), ["No se guarda nada sobre usted."]);
    }
}
