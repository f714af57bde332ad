//! Which date a risk has, through the whole extractor: its own, and never that of the visit or the death next to it.

use chrono::NaiveDate;

use crate::{ExtractionInput, Extractor, RiskClass, RiskLevel, Temporality};
use anamnesis_text::{Document, Language};

/// Class, date and whether it is past of each risk of the patient. The day of the note is a Thursday.
fn found(text: &str) -> Vec<(RiskClass, String, bool, RiskLevel)> {
    static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);
    let today = NaiveDate::from_ymd_opt(2026, 11, 12).unwrap();
    let spanish = text.contains(" que ") || text.contains(" el ") || text.contains(" en ") || text.contains("Desde");
    let language = if spanish { Language::Spanish } else { Language::English };
    let document = Document::plain(text, language);
    let dates = crate::dates::find(&document.text, language, today);
    let input = ExtractionInput { dates: &dates, today: Some(today), ..ExtractionInput::new(&document) };
    let own = EXTRACTOR.extract(&input).risk.into_iter().filter(|risk| risk.is_own());
    own.map(|risk| {
        let date = risk.at.map(|at| at.iso()).unwrap_or_default();
        (risk.class, date, risk.temporality == Temporality::Historical, risk.level)
    })
    .collect()
}

fn holds(cases: &[(&str, &str, bool)]) {
    for (text, date, past) in cases {
        let found = found(text);
        assert!(!found.is_empty(), "nothing in {text}");
        for (class, at, historical, _) in found {
            assert_eq!((at.as_str(), historical), (*date, *past), "{class:?} in {text}");
        }
    }
}

#[test]
fn the_day_of_a_visit_a_death_or_a_discharge_is_no_day_of_a_risk() {
    holds(&[
        ("Piensa que no quiere seguir viviendo. Próxima cita el 14 de diciembre.", "", false),
        ("Piensa en matarse, control el 20 de enero.", "", false),
        ("She wants to die. Review on 3 December.", "", false),
        ("She wants to die, next appointment 3 December.", "", false),
        ("Desde que murió su padre en febrero quiere morirse.", "2026-02", false),
        ("Since his discharge on 2 March he has wanted to die.", "2026-03-02", false),
        ("Wants to end her life since her husband's death in January.", "2026-01", false),
        ("No quiere vivir más. El lunes empieza el taller.", "", false),
    ]);
}

#[test]
fn a_wish_or_plan_of_today_is_not_of_the_past_whatever_day_stands_near() {
    holds(&[
        ("Planea matarse el 14 de diciembre.", "", false),
        ("She plans to kill herself on 14 December.", "", false),
        ("Va a suicidarse el lunes.", "", false),
        ("Started sertraline in March and wants to die.", "", false),
        ("Desde marzo piensa en matarse.", "2026-03", false),
        ("Has wanted to kill herself since March.", "2026-03", false),
    ]);
}

#[test]
fn the_day_of_an_act_is_its_own() {
    holds(&[
        ("Intentó suicidarse el 3 de marzo.", "2026-03-03", true),
        ("Took an overdose on 20 December.", "2025-12-20", true),
        ("Me subí a la azotea para tirarme. Fue el jueves pasado.", "2026-11-05", false),
        ("On 15 October she took an overdose.", "2026-10-15", false),
        ("En marzo tuvo ideas de suicidio.", "2026-03", true),
        ("In March he had suicidal thoughts.", "2026-03", true),
        ("He overdosed on Monday.", "2026-11-09", false),
    ]);
}
