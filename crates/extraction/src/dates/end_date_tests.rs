//! Until when medicines are taken, in whole lines of a document of Sunday, 1 March 2026.

use chrono::NaiveDate;

use super::find;
use crate::{Entity, ExtractionInput, Extractor};
use anamnesis_core::finding::EntityType;
use anamnesis_text::{Document, Language};

/// "name: status, at DAY, ends DAY" of the medicines of a text.
fn taken(text: &str, language: Language) -> String {
    let today = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
    let dates = find(text, language, today);
    let document = Document::plain(text, language);
    let input = ExtractionInput { dates: &dates, today: Some(today), ..ExtractionInput::new(&document) };
    let found = Extractor::shared().extract(&input).entities;
    let shown = |entity: &Entity| {
        let mut line = format!("{}: {}", entity.value, entity.status.as_deref().unwrap_or("-"));
        entity.at.iter().for_each(|at| line.push_str(&format!(", at {}", at.iso())));
        entity.ends.iter().for_each(|end| line.push_str(&format!(", ends {}", end.iso())));
        line
    };
    let medicines = found.iter().filter(|entity| entity.kind == EntityType::Medication);
    medicines.map(shown).collect::<Vec<_>>().join("; ")
}

#[test]
fn what_is_taken_until_a_day_to_come_goes_on_to_it() {
    for (text, expected) in [
        ("Toma amoxicilina hasta el 9 de marzo.", "amoxicillin: active, ends 2026-03-09"),
        ("Toma amoxicilina 500 mg hasta el 9 de marzo de 2026.", "amoxicillin: active, ends 2026-03-09"),
        ("Prednisona 20 mg al día hasta el viernes.", "prednisone: active, ends 2026-03-06"),
        ("Tomo sertralina hasta abril.", "sertraline: active, ends 2026-04"),
        ("Seguir con enoxaparina hasta el 15/4/2026.", "enoxaparin: active, ends 2026-04-15"),
        ("Tomar ciprofloxacino cada 12 horas hasta el 5 de enero.", "ciprofloxacin: active, ends 2027-01-05"),
        ("Hasta el 20 de marzo, omeprazol 20 mg.", "omeprazole: active, ends 2026-03-20"),
    ] {
        assert_eq!(taken(text, Language::Spanish), expected, "{text}");
    }
    for (text, expected) in [
        ("Take amoxicillin until 9 March 2026.", "amoxicillin: active, ends 2026-03-09"),
        ("Taking prednisone until 9 March.", "prednisone: active, ends 2026-03-09"),
        ("Doxycycline 100 mg daily until Friday.", "doxycycline: active, ends 2026-03-06"),
        ("She is on apixaban till June.", "apixaban: active, ends 2026-06"),
        ("Continue flucloxacillin 500 mg qds through March 12.", "flucloxacillin: active, ends 2026-03-12"),
    ] {
        assert_eq!(taken(text, Language::English), expected, "{text}");
    }
}

#[test]
fn what_was_taken_until_a_day_ended_then() {
    for (text, expected) in [
        ("Tomó amoxicilina hasta el 9 de marzo.", "amoxicillin: stopped, at 2025-03-09"),
        ("Estuvo con paroxetina hasta enero.", "paroxetine: stopped, at 2026-01"),
        ("Tomaba litio hasta el 3 de febrero de 2024.", "lithium: stopped, at 2024-02-03"),
        ("Toma warfarina hasta el 20 de febrero de 2026.", "warfarin: stopped, at 2026-02-20"),
    ] {
        assert_eq!(taken(text, Language::Spanish), expected, "{text}");
    }
    for (text, expected) in [
        ("Took amoxicillin until 9 March 2025.", "amoxicillin: stopped, at 2025-03-09"),
        ("Was on venlafaxine until January.", "venlafaxine: stopped, at 2026-01"),
        ("Warfarin 3 mg daily until 20 February 2026.", "warfarin: stopped, at 2026-02-20"),
        ("He received clozapine until 2019.", "clozapine: stopped, at 2019"),
    ] {
        assert_eq!(taken(text, Language::English), expected, "{text}");
    }
}

#[test]
fn what_is_paused_until_a_day_is_on_hold() {
    let paused = "Se suspende metformina hasta el 9 de marzo.";
    assert_eq!(taken(paused, Language::Spanish), "metformin: on_hold");
    assert_eq!(taken("Hold warfarin until 9 March 2026.", Language::English), "warfarin: on_hold");
}
