//! Statements for people: titled tables, empty ones said to be empty where silence could be misread.

use super::{CliError, output};
use anamnesis_core::finding::EntityType;
use anamnesis_search::{ContradictionView, MemoryItem, PatientSummary, SearchHit};

/// A title above what follows.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn title(text: &str) -> Result<(), CliError> {
    output::line(&format!("\n{text}"))
}

/// A table of statements under a title; nothing at all when there are none.
///
/// # Errors
/// As [`title`].
pub(crate) fn items(name: &str, items: &[MemoryItem]) -> Result<(), CliError> {
    if items.is_empty() {
        return Ok(());
    }
    title(name)?;
    output::table(&["statement", "source", "use", "confidence", "notes"], items.iter().map(row))
}

/// As [`items`], but an empty section is said to be empty: an absent allergy list is not a list of no allergies.
///
/// # Errors
/// As [`title`].
pub(crate) fn required(name: &str, list: &[MemoryItem]) -> Result<(), CliError> {
    if list.is_empty() { title(&format!("{name}: none recorded")) } else { items(name, list) }
}

/// As [`required`], for a list that may be known to be empty: that is no gap in the record.
fn known(name: &str, none: &str, list: &[MemoryItem], absences: &[MemoryItem], of: EntityType) -> Result<(), CliError> {
    match absences.iter().find(|item| item.entity == Some(of)) {
        Some(said) if list.is_empty() => title(&format!("{name}: {none} (reported by {})", said.source.label)),
        _ => required(name, list),
    }
}

/// One statement as a row.
pub(crate) fn row(item: &MemoryItem) -> [String; 5] {
    let mut notes: Vec<String> = item.flags().into_iter().map(str::to_owned).collect();
    notes.extend(item.status.filter(|status| *status != "active").map(str::to_owned));
    notes.extend(item.when().map(|when| format!("dated {when}")));
    notes.extend(item.ends().map(|end| format!("ends {}", end.format("%Y-%m-%d %H:%M UTC"))));
    [
        item.statement.clone(),
        item.source.label.clone(),
        item.use_.to_string(),
        format!("{:.2}", item.confidence),
        notes.join(", "),
    ]
}

/// The clinical profile.
///
/// # Errors
/// As [`title`].
pub(crate) fn profile(p: &PatientSummary) -> Result<(), CliError> {
    known("Allergies", "none known", &p.allergies, &p.absences, EntityType::Allergy)?;
    known("Medications", "none taken", &p.medications, &p.absences, EntityType::Medication)?;
    required("Conditions", &p.conditions)?;
    items("Stated absences", &p.absences)?;
    items("Denied or refuted", &p.denied)?;
    items("Family history", &p.family_history)?;
    items("Symptoms in force", &p.symptoms)?;
    items("Appointments and events", &p.events)?;
    items("Measurements", &p.measurements)?;
    items("Health signals", &p.signals)?;
    if !p.risks.is_empty() {
        title("Risk flags")?;
        let rows = p.risks.iter().map(|r| {
            let class = if r.denied { format!("{} (denied)", r.class) } else { r.class.clone() };
            let heard = match (&r.by, r.confidence) {
                (Some(by), Some(sure)) => format!("{by}, {sure:.2}"),
                (by, _) => by.clone().unwrap_or_default(),
            };
            [class, r.experiencer.to_string(), heard, r.at.date_naive().to_string(), r.quote.clone()]
        });
        output::table(&["risk", "of", "heard by", "date", "said"], rows)?;
    }
    items("How they want to be spoken with and treated", &p.stated_preferences)?;
    if !p.preferences.is_empty() {
        title("Preferences")?;
        let rows = p
            .preferences
            .iter()
            .map(|x| [x.key.clone(), x.value.clone(), format!("{}, {}", x.source, x.stated_at.date_naive())]);
        output::table(&["preference", "value", "source"], rows)?;
    }
    if let Some(patient) = &p.patient {
        let state = patient.cognitive_state.map(|s| format!("cognitive state {s:.0} of 100"));
        let notes = [state, patient.ephemeral.then(|| "ephemeral mode is on: nothing is stored".to_owned())];
        for note in notes.into_iter().flatten() {
            title(&note)?;
        }
    }
    items("Past (history only)", &p.past)
}

/// Passages to cite.
///
/// # Errors
/// As [`title`].
pub(crate) fn passages(hits: &[SearchHit]) -> Result<(), CliError> {
    title("Passages")?;
    if hits.is_empty() {
        return output::line("none");
    }
    let rows = hits.iter().map(|hit| {
        let found = match hit.similarity {
            Some(similarity) => format!("{:.2} (cosine {similarity:.2})", hit.score),
            None => format!("{:.2} (by words)", hit.score),
        };
        let notes = [(hit.low_confidence, "verify: low confidence"), (hit.weak, "weak: far from the question")];
        let notes: Vec<&str> = notes.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect();
        [found, hit.fragment.clone(), hit.source.clone(), hit.use_.to_string(), notes.join(", ")]
    });
    output::table(&["score", "passage", "source", "use", "notes"], rows)
}

/// Contradictions, each with both sides.
///
/// # Errors
/// As [`title`].
pub(crate) fn contradictions(pairs: &[ContradictionView]) -> Result<(), CliError> {
    let side = |item: &Option<MemoryItem>| match item {
        Some(item) => format!("{}\n{}", item.statement, item.source.label),
        None => "no longer shown".to_owned(),
    };
    let rows = pairs.iter().map(|pair| {
        [
            side(&pair.kept),
            side(&pair.claim),
            pair.type_.clone(),
            pair.state.clone(),
            pair.found_at.date_naive().to_string(),
        ]
    });
    output::table(&["recorded", "contradicted by", "type", "state", "found"], rows)
}
