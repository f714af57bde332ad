//! Operations and investigations that were refused, called off, not done or are still to come.

use std::sync::LazyLock;

use crate::{EntityType, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

/// Whether a text has a procedure, and whether it is planned.
fn procedure(text: &str) -> Option<bool> {
    let document = Document::plain(text, Language::Unknown);
    let all = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    let found = all.into_iter().find(|entity| entity.kind == EntityType::Procedure)?;
    Some(found.status.as_deref() == Some(super::PLANNED))
}

#[test]
fn what_was_refused_called_off_or_not_done_is_no_procedure() {
    for text in [
        "Rechaza la cesárea.",
        "Bypass offered but refused.",
        "Se le propuso amputación y se negó.",
        "Le ofrecieron prótesis de rodilla y no quiso.",
        "Le cancelaron la prótesis de cadera.",
        "Cystoscopy not done because of infection.",
        "La resonancia no se realizó.",
        "Splenectomy was not required.",
        "Cardioversion was discussed twice with the team and was not needed.",
        "Candidate for kidney transplant.",
        "Está pensando en hacerse una histerectomía.",
        "Parents refuse MMR.",
    ] {
        assert_eq!(procedure(text), None, "{text}");
    }
}

#[test]
fn what_is_to_come_is_planned_and_what_was_is_not() {
    for (text, planned) in [
        ("Knee replacement next week.", true),
        ("Having a mastectomy in April.", true),
        ("Le operan de la vesícula el lunes.", true),
        ("Se programa histerectomía para el 3 de junio.", true),
        ("Se deriva para cirugía bariátrica.", true),
        ("Cesárea programada para el 5 de mayo.", true),
        ("Apendicectomía 1998.", false),
        ("Appendectomy last month.", false),
        ("Le operaron de cataratas el martes.", false),
        ("She had her gallbladder out in June.", false),
        ("Colonoscopy performed on Monday.", false),
        ("Discussed colonoscopy results.", false),
    ] {
        assert_eq!(procedure(text), Some(planned), "{text}");
    }
}
