use chrono::NaiveDate;

use super::{DateDirection, find};
use anamnesis_text::Language;

/// Monday.
fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, 2).unwrap()
}

fn read(text: &str, language: Language, direction: DateDirection) -> Vec<(String, String)> {
    let dates = find(text, language, today()).into_iter();
    let resolved = dates.filter_map(|mention| mention.said.resolve(today(), direction));
    resolved.map(|date| (date.day.to_string(), date.precision.to_string())).collect()
}

fn one(text: &str, language: Language, direction: DateDirection, day: &str, precision: &str) {
    assert_eq!(read(text, language, direction), [(day.to_owned(), precision.to_owned())], "{text}");
}

#[test]
fn spanish_dates_are_resolved_from_the_day_of_the_document() {
    let back = |text, day, precision| one(text, Language::Spanish, DateDirection::Back, day, precision);
    back("Ingresó el 4/11/2024 por caída", "2024-11-04", "day");
    back("le operaron el 12 de enero", "2026-01-12", "day");
    back("se cayó el 12 de octubre", "2025-10-12", "day");
    back("asma desde 2015", "2015-01-01", "year");
    back("insomnio desde hace tres semanas", "2026-02-09", "week");
    back("lo despidieron el martes pasado", "2026-02-24", "day");
    back("ansiedad desde mayo de 2023", "2023-05-01", "month");
    back("empezó en noviembre", "2025-11-01", "month");
    back("el mes pasado se separó", "2026-02-01", "month");
    let ahead = |text, day, precision| one(text, Language::Spanish, DateDirection::Ahead, day, precision);
    ahead("Cita en trauma el 3/11", "2026-11-03", "day");
    ahead("cita con cardiología el 3 de diciembre", "2026-12-03", "day");
    ahead("vuelve en quince días", "2026-03-17", "day");
    ahead("revisión el jueves que viene", "2026-03-05", "day");
    ahead("Control con enfermería jueves 9-4 a las 10:15", "2026-04-09", "day");
    ahead("retirada de puntos programada para 14-03", "2026-03-14", "day");
}

#[test]
fn english_dates_are_resolved_from_the_day_of_the_document() {
    let back = |text, day, precision| one(text, Language::English, DateDirection::Back, day, precision);
    back("admitted 11/4/2024 after a fall", "2024-11-04", "day");
    back("rash 3 d ago", "2026-02-27", "day");
    back("lost his job last May", "2025-05-01", "month");
    back("knee surgery in 2018", "2018-01-01", "year");
    back("depression since June 2021", "2021-06-01", "month");
    back("headache for the past two weeks", "2026-02-16", "week");
    back("moved house 6/12 ago", "2025-09-01", "month");
    let ahead = |text, day, precision| one(text, Language::English, DateDirection::Ahead, day, precision);
    ahead("f/u 3 mo", "2026-06-01", "month");
    ahead("review in 3/12", "2026-06-01", "month");
    ahead("see you Monday week", "2026-03-16", "day");
    ahead("back on Friday", "2026-03-06", "day");
}

#[test]
fn a_short_date_after_the_title_of_results_is_theirs_in_any_form() {
    let back = |text, language, day| one(text, language, DateDirection::Back, day, "day");
    back("Analítica 18-2: creatinina alta", Language::Spanish, "2026-02-18");
    back("Resultados (09.02): todo normal", Language::Spanish, "2026-02-09");
    back("Vi el hemograma del 11/10", Language::Spanish, "2025-10-11");
    back("Paths 2/14: pending", Language::English, "2026-02-14");
    back("Bloods 1-20 unremarkable", Language::English, "2026-01-20");
    assert_eq!(find("Results 14.5 and falling", Language::English, today()), []);
    for text in ["blood tests 3-4 times a year", "Results 1.02 mm", "Results 3/12 nodes positive"] {
        assert_eq!(find(text, Language::English, today()), [], "{text}");
    }
    // The weeks stay a span of time.
    assert_eq!(find("Repeat labs 4-6 weeks", Language::English, today())[0].span.start, "Repeat labs 4-".len());
    assert_eq!(find("Analítica 3-4 semanas", Language::Spanish, today())[0].span.start, "Analítica 3-".len());
}

#[test]
fn amounts_hours_scores_and_dates_of_birth_are_no_dates() {
    for text in ["1990 mg", "at 2000", "DOB 3/4/1981", "BP 120/80", "strength 3/5", "T 2000/1", "room 12.2024.5"] {
        assert_eq!(find(text, Language::English, today()), [], "{text}");
    }
    assert_eq!(find("a las 2015 horas, nacido el 3 de mayo de 1980", Language::Spanish, today()), []);
}

#[test]
fn dates_in_words_without_their_year_or_month_and_of_seasons_are_resolved() {
    let en = |text, day, precision| one(text, Language::English, DateDirection::Back, day, precision);
    en("appendectomy two thousand thirteen", "2013-01-01", "year");
    en("fine in twenty twenty", "2020-01-01", "year");
    en("stopped in november twenty twenty four", "2024-11-01", "month");
    en("started february eleventh", "2026-02-11", "day");
    en("bumped on the 17th", "2026-02-17", "day");
    en("renal colic summer of 2023", "2023-01-01", "year");
    en("queried in '24", "2024-01-01", "year");
    en("cut herself Thursday", "2026-02-26", "day");
    en("seen 12-19 Feb", "2026-02-12", "day");
    en("off work for three weeks", "2026-02-09", "week");
    let es = |text, day, precision| one(text, Language::Spanish, DateDirection::Back, day, precision);
    es("operada en dos mil quince", "2015-01-01", "year");
    es("murió en julio del año pasado", "2025-07-01", "month");
    es("lo vio el domingo antepasado", "2026-02-22", "day");
    es("se cayó antier", "2026-02-28", "day");
    es("cuadro de 3 días de evolución", "2026-02-27", "day");
    es("bebe desde navidad", "2025-12-01", "month");
    let ahead = |text, language, day, precision| one(text, language, DateDirection::Ahead, day, precision);
    ahead("pasa cirugía lun 23", Language::Spanish, "2026-03-23", "day");
    ahead("hearing set for monday the sixteenth", Language::English, "2026-03-16", "day");
    ahead("clinic: 3 months", Language::English, "2026-06-01", "month");
    ahead("vuelve pasado mañana", Language::Spanish, "2026-03-04", "day");
    ahead("cita 17/marzo", Language::Spanish, "2026-03-17", "day");
}

#[test]
fn an_english_document_of_british_care_writes_the_day_first() {
    let text = "NHS discharge letter. Admitted 05/02/26 via A&E.";
    one(text, Language::English, DateDirection::Back, "2026-02-05", "day");
    one("Admitted 05/02/25 to General Hospital.", Language::English, DateDirection::Back, "2025-05-02", "day");
    let own = "Seen 25/02/26 and 05/02/26.";
    assert_eq!(read(own, Language::English, DateDirection::Back)[1].0, "2026-02-05");
}

#[test]
fn habits_and_mornings_are_no_dates() {
    for text in ["toma 50 mg por la mañana", "reuniones los martes", "cada jueves"] {
        assert_eq!(find(text, Language::Spanish, today()), [], "{text}");
    }
    assert_eq!(find("therapy every Tuesday", Language::English, today()), []);
}

#[test]
fn feasts_halves_weekends_and_clipped_words_are_dates() {
    let en = |text, day, precision| one(text, Language::English, DateDirection::Back, day, precision);
    en("fell on Boxing Day", "2025-12-26", "day");
    en("sober since Easter", "2025-04-01", "month");
    en("gave up Lent 2021", "2021-02-01", "month");
    en("hernia '88", "1988-01-01", "year");
    en("his cousin died in 04", "2004-01-01", "year");
    en("on clozapine 2019–23", "2023-01-01", "year");
    en("drank at the weekend", "2026-02-28", "week");
    en("moved out two and a half months ago", "2025-12-01", "month");
    en("seen fri", "2026-02-27", "day");
    en("drain out 27/2", "2026-02-27", "day");
    let es = |text, day, precision| one(text, Language::Spanish, DateDirection::Back, day, precision);
    es("lleva dos años y medio sin fumar", "2023-09-01", "month");
    es("dejó de venir hace ~3 meses", "2025-12-01", "month");
    es("se cayó el día de Reyes", "2026-01-06", "day");
    es("internado en carnaval", "2026-02-01", "month");
    let ahead = |text, language, day| assert_eq!(read(text, language, DateDirection::Ahead)[0].0, day, "{text}");
    ahead("el martes diecisiete", Language::Spanish, "2026-03-17");
    ahead("see you Friday fortnight", Language::English, "2026-03-20");
    ahead("Prox. ctrl 23.03.", Language::Spanish, "2026-03-23");
    for text in ["pain 8/3", "he sat.", "vision 6/5", "lent him money", "4/2 tabs", "24/7 care"] {
        assert_eq!(find(text, Language::English, today()), [], "{text}");
    }
}
