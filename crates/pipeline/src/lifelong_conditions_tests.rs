//! Codes of lifelong illnesses.

use super::*;

#[test]
fn an_illness_that_stays_is_known_by_the_beginning_of_its_code() {
    for (code, illness) in [
        ("E11.9", "diabetes mellitus tipo 2"),
        ("E10", "type 1 diabetes"),
        ("I10", "hipertensión arterial"),
        ("J45.909", "asthma"),
        ("B20", "VIH"),
        ("B18.1", "hepatitis B crónica"),
        ("F31.9", "trastorno bipolar"),
        ("F79", "discapacidad intelectual"),
        ("G40.909", "epilepsia"),
        ("M79.7", "fibromialgia"),
        ("N18.3", "chronic kidney disease"),
        ("Q21.0", "comunicación interventricular"),
        ("K70.30", "alcoholic cirrhosis"),
    ] {
        assert!(is_lifelong(code), "{code} {illness}");
    }
}

#[test]
fn an_illness_that_passes_is_none_even_where_its_code_looks_alike() {
    for (code, illness) in [
        ("J18.9", "neumonía"),
        ("J00", "resfriado común"),
        ("F32.9", "episodio depresivo"),
        ("F43.2", "adjustment disorder, not post-traumatic stress"),
        ("B19.0", "hepatitis of which no virus is named"),
        ("K70.0", "alcoholic fatty liver"),
        ("K70.10", "alcoholic hepatitis"),
        ("M79.1", "mialgia"),
        ("E2", "half a code"),
        ("1E11", "the letters stand at the beginning or not at all"),
        ("e11", "codes are in capitals"),
        ("", "no code"),
    ] {
        assert!(!is_lifelong(code), "{code} {illness}");
    }
}
