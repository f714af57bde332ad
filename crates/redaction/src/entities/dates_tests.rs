use super::*;
use crate::test_support::{findings, labelled};

fn texts(text: &str, language: Language) -> Vec<String> {
    labelled(text, language, find).into_iter().map(|(_, text)| text).collect()
}

fn spanish(text: &str) -> Vec<String> {
    texts(text, Language::Spanish)
}

fn english(text: &str) -> Vec<String> {
    texts(text, Language::English)
}

/// The value of the longest date of a text.
fn value_in(text: &str, language: Language) -> Option<SideValue> {
    findings(text, language, find).into_iter().max_by_key(|one| one.span.len()).and_then(|one| one.value)
}

fn day(year: i32, month: u32, day: u32) -> Option<SideValue> {
    NaiveDate::from_ymd_opt(year, month, day).map(|date| SideValue::Date { date, precision: Precision::Day })
}

#[test]
fn dates_in_numbers_have_their_value_in_the_order_of_the_language() {
    for (text, language, value) in [
        ("visto 12/03/2019 hoy", Language::Spanish, day(2019, 3, 12)),
        ("seen 12/03/2019 today", Language::English, day(2019, 12, 3)),
        ("seen 25/03/2019 today", Language::English, day(2019, 3, 25)),
        ("visto 03/25/2019 hoy", Language::Spanish, day(2019, 3, 25)),
        ("visto 2019-03-12 hoy", Language::Spanish, day(2019, 3, 12)),
        ("visto 2019-03-12T10:20:30Z hoy", Language::Spanish, day(2019, 3, 12)),
        ("visto 12-03-85 hoy", Language::Spanish, day(1985, 3, 12)),
        ("visto 12/03/40 hoy", Language::Spanish, day(2040, 3, 12)),
        ("visto 12/03/41 hoy", Language::Spanish, day(1941, 3, 12)),
        ("visto 12.03.2019 hoy", Language::Spanish, day(2019, 3, 12)),
    ] {
        assert_eq!(value_in(text, language), value, "{text}");
    }
}

#[test]
fn numbers_that_only_look_like_dates_stay() {
    for text in [
        "dosis 1.5.10 mg",
        "serie 1-2-10 rara",
        "indice 12.5.10 alto",
        "codigo 45/13/2019 raro",
        "ref 12/03-2019 rara",
        "medida 12/03/20 mg",
        "ratio 3/4 de dosis",
        "TA 120/80 y 130/85",
        "EVA 7/10 en reposo",
        "CPAP 14/6 nocturno",
        "Barthel 20/10 al alta",
        "disponible 24/7 siempre",
    ] {
        assert!(spanish(text).is_empty(), "{text}: {:?}", spanish(text));
    }
}

#[test]
fn months_by_name_are_read_with_their_context() {
    for (text, date) in [
        ("ingreso el 3 de mayo de 2018 por tos", "3 de mayo de 2018"),
        ("ingreso el tres de mayo de 2018 por tos", "tres de mayo de 2018"),
        ("ingreso el 3 de mayo por tos", "3 de mayo"),
        ("ingreso en mayo por tos", "mayo"),
        ("ingreso en mayo de 2018 por tos", "mayo de 2018"),
        ("visto dic-08 sin cambios", "dic-08"),
        ("nacio el uno de julio del ochenta y cuatro en casa", "uno de julio del ochenta y cuatro"),
        ("nacio en mil novecientos ochenta y cinco sano", "mil novecientos ochenta y cinco"),
        ("visto 05/2019 sin cambios", "05/2019"),
    ] {
        assert!(spanish(text).contains(&date.to_owned()), "{text}: {:?}", spanish(text));
    }
    for (text, date) in [
        ("admitted on May 3rd, 2018 with cough", "May 3rd, 2018"),
        ("admitted 3 May 2018 with cough", "3 May 2018"),
        ("admitted March 21st with cough", "March 21st"),
        ("since late march of dry cough", "march"),
        ("born in nineteen eighty five at home", "nineteen eighty five"),
        ("due on Friday the 21st at noon", "Friday the 21st"),
        ("back Sunday 16th for review", "Sunday 16th"),
        ("worse at Thanksgiving 2019 at home", "Thanksgiving 2019"),
        ("worse around Christmas at home", "Christmas"),
        ("away from 3/18 to 4/1 abroad", "3/18"),
        ("seen on 3/18 in clinic", "3/18"),
        ("op 19/3 uneventful", "19/3"),
        ("since 2016 on lithium", "2016"),
        ("surgery (2011) elsewhere", "2011"),
    ] {
        assert!(english(text).contains(&date.to_owned()), "{text}: {:?}", english(text));
    }
}

#[test]
fn words_that_are_also_months_and_figures_that_are_also_years_stay() {
    for text in [
        "she may 3 times a day",
        "2000 mg in 2000 ml",
        "in 2000 mg doses",
        "walks of 2000 steps daily",
        "scores from 3/5 to 4/5 today",
        "on the 5th toe of the foot",
        "mark 12 set 3",
        "aspirin 81 mg by mouth",
        "seen 3-4 times before",
    ] {
        assert!(english(text).is_empty(), "{text}: {:?}", english(text));
    }
    for text in ["12 mar de fondo", "dio 4 set de tenis", "unas 1998 copias", "ano de evolucion"] {
        assert!(spanish(text).is_empty(), "{text}: {:?}", spanish(text));
    }
}

#[test]
fn a_date_says_how_exact_it_is() {
    let precision = |text: &str| match value_in(text, Language::Spanish) {
        Some(SideValue::Date { precision, .. }) => Some(precision),
        _ => None,
    };
    assert_eq!(precision("visto 12/03/2019 hoy"), Some(Precision::Day));
    assert_eq!(precision("visto en mayo de 2018 aqui"), Some(Precision::Month));
    assert_eq!(precision("visto en 2018 aqui"), Some(Precision::Year));
    assert_eq!(precision("visto en mayo aqui"), None);
    assert_eq!(value_in("visto 31 de febrero de 2018 aqui", Language::Spanish), None, "there is no such day");
}

#[test]
fn the_day_of_the_week_before_a_date_leaves_with_it() {
    assert_eq!(spanish("el viernes, 12/03/2019 se vio")[0], "viernes, 12/03/2019");
    assert_eq!(english("on Friday, March 21st seen")[0], "Friday, March 21st");
}

#[test]
fn every_month_of_both_languages_is_known_by_its_beginning() {
    for (at, (spanish, english)) in (1..).zip([
        ("enero", "january"),
        ("febrero", "feb"),
        ("marzo", "march"),
        ("abril", "apr"),
        ("mayo", "may"),
        ("junio", "june"),
        ("julio", "jul"),
        ("agosto", "august"),
        ("setiembre", "sept"),
        ("octubre", "oct"),
        ("noviembre", "nov"),
        ("dic", "december"),
    ]) {
        assert_eq!((month_of(spanish), month_of(english)), (at, at));
    }
    assert_eq!(month_of("lunes"), 0);
}

#[test]
fn a_number_before_a_unit_or_more_digits_is_a_measure() {
    for (after, measure) in [
        (" mg", true),
        ("ml", true),
        ("%", true),
        (",5", true),
        ("-3", true),
        (" pasos", true),
        (" por", false),
        ("", false),
        (" mgx", false),
    ] {
        assert_eq!(is_measure(&format!("2000{after}"), 4), measure, "{after}");
    }
    let of = |text: &str| free(text, Span::new(2, 6));
    assert!(of("a 2000 b") && of("x.2000.") && !of("1/2000 b") && !of("a 2000/1"));
}
