//! `profile --emergency`: data to act on in an emergency, in Spanish or English. The text is always shown, also for an
//! unknown patient or without permission.

use serde_json::json;

use super::app::App;
use super::language::RightsLanguage;
use super::output::{self, OutputFormat};
use super::patient::PatientResponse;
use super::{CliError, Exit, PatientAnswer};
use anamnesis_core::scope::Scope;
use anamnesis_search::emergency::{emergency, emergency_text};
use anamnesis_search::{Emergency, MemoryItem};
use anamnesis_store::StoreError;
use anamnesis_store::read::ReadInstant;

const TITLE: [&str; 2] = ["In an emergency", "En una emergencia"];
const UNKNOWN: [&str; 2] = [
    "Nothing is known of this person. That does not mean that nothing is wrong.",
    "No se sabe nada de esta persona. Eso no significa que no haya nada.",
];
const WITHHELD: [&str; 2] = [
    "What is known of this person is not handed out: consent does not permit it.",
    "No se entrega lo que se sabe de esta persona: no hay consentimiento.",
];
const ERASED: [&str; 2] = ["This person's record was erased.", "El historial de esta persona fue borrado."];
const ALLERGIES: [&str; 2] = ["Allergies and intolerances", "Alergias e intolerancias"];
const MEDICATIONS: [&str; 2] = ["Medication", "Medicación"];
const CONDITIONS: [&str; 2] = ["Illnesses", "Enfermedades"];
const RISKS: [&str; 2] = ["Dangers spoken of", "Riesgos mencionados"];
const CONTACTS: [&str; 2] = ["People to call", "Personas de contacto"];
const NONE: [&str; 2] =
    ["none recorded, which does not mean that there are none", "nada registrado, lo que no significa que no haya"];
const NO_CONTACT: [&str; 2] = ["no contact on record", "ningún contacto registrado"];
const CONTESTED: [&str; 2] = ["contested: ask", "en disputa: pregunte"];
const UNCONFIRMED: [&str; 2] = [
    "reported allergies without confirmation, not listed here: ask",
    "alergias referidas y sin confirmar, que no se listan aquí: pregunte",
];
const UNCONFIRMED_RISKS: [&str; 2] = [
    "dangers that only a program heard, not listed here: ask, and read the record",
    "riesgos que solo ha detectado un programa, que no se listan aquí: pregunte y lea el historial",
];
const ACCEPTED: [&str; 2] = ["Disclaimer accepted on", "Aviso aceptado el"];
const NOT_ACCEPTED: [&str; 2] = ["Disclaimer: acceptance not on record", "Aviso: no consta que se haya aceptado"];

/// # Errors
/// When the store cannot be read; where nothing may be handed out, after the text was shown.
pub(crate) async fn show(
    app: &App,
    scope: Scope,
    when: ReadInstant,
    (format, language): (OutputFormat, RightsLanguage),
) -> Result<Exit, CliError> {
    match emergency(&app.store, scope, when).await {
        Ok(all) if format == OutputFormat::Json => {
            output::json(&PatientResponse { answer: PatientAnswer::known(all.known), read: &all })?;
        }
        Ok(all) => lines(&all, language).iter().try_for_each(|line| output::line(line))?,
        Err(error @ (StoreError::NoConsent | StoreError::Erased)) => {
            // A patient without consent still has a country, and its number is the one to call.
            let profile = app.store.read().profile(scope).await.ok().flatten();
            let region = profile.as_ref().and_then(|profile| profile.region.as_deref());
            let text = emergency_text(&app.store, scope, region).await?;
            if format == OutputFormat::Json {
                // Only the text, in its usual place; the answer says why there is no more.
                output::json(
                    &json!({"answer": PatientAnswer::from_store_error(&error), "error": error.to_string(), "text": text}),
                )?;
                return Ok(Exit::Failed);
            }
            let why = if error == StoreError::Erased { ERASED } else { WITHHELD };
            output::line(language.select(TITLE))?;
            output::line(&format!("  {}", language.select([&text.en, &text.es])))?;
            output::line(language.select(why))?;
            return Ok(Exit::Failed);
        }
        Err(error) => {
            // Where nothing can be read, the text is there all the same.
            if format == OutputFormat::Table
                && let Ok(text) = emergency_text(&app.store, scope, None).await
            {
                output::line(language.select(TITLE))?;
                output::line(&format!("  {}", language.select([&text.en, &text.es])))?;
            }
            return Err(error.into());
        }
    }
    Ok(Exit::Done)
}

fn lines(all: &Emergency, language: RightsLanguage) -> Vec<String> {
    let of = |text| language.select(text).to_owned();
    let mut lines = vec![of(TITLE), format!("  {}", language.select([&all.text.en, &all.text.es]))];
    if !all.known {
        lines.push(of(UNKNOWN));
    }
    for (title, list) in [(ALLERGIES, &all.allergies), (MEDICATIONS, &all.medications), (CONDITIONS, &all.conditions)] {
        section(&mut lines, language, title, list.iter().map(|item| statement(item, language)).collect(), NONE);
    }
    if all.unconfirmed_allergies > 0 {
        lines.push(format!("  ({} {})", all.unconfirmed_allergies, language.select(UNCONFIRMED)));
    }
    let risks =
        all.risks.iter().map(|risk| format!("{}: «{}», {}", risk.class, risk.quote, risk.at.date_naive())).collect();
    section(&mut lines, language, RISKS, risks, NONE);
    if all.unconfirmed_risks > 0 {
        lines.push(format!("  ({} {})", all.unconfirmed_risks, language.select(UNCONFIRMED_RISKS)));
    }
    section(&mut lines, language, CONTACTS, all.contacts.clone(), NO_CONTACT);
    lines.push(language.select([&all.disclaimer.en, &all.disclaimer.es]).to_owned());
    lines.push(match all.disclaimer_accepted_at {
        Some(at) => format!("{} {}", language.select(ACCEPTED), at.date_naive()),
        None => of(NOT_ACCEPTED),
    });
    lines
}

fn section(lines: &mut Vec<String>, language: RightsLanguage, title: [&str; 2], list: Vec<String>, none: [&str; 2]) {
    if list.is_empty() {
        lines.push(format!("{}: {}", language.select(title), language.select(none)));
        return;
    }
    lines.push(format!("{}:", language.select(title)));
    lines.extend(list.into_iter().map(|line| format!("  {line}")));
}

fn statement(item: &MemoryItem, language: RightsLanguage) -> String {
    let contested = if item.contested { format!(" [{}]", language.select(CONTESTED)) } else { String::new() };
    format!("{}{contested} ({})", item.statement, item.source.label)
}
