//! The text that any reader gets in an emergency although nothing else is known: in the patient's language, with the
//! number of the country. A number is listed where it is certain, since a wrong one would harm; otherwise the text says
//! "the emergency number of your country".

/// Emergency number and, where there is one, the line for people who think of suicide, by ISO 3166-1 code.
const NUMBERS: &[(&str, &str, Option<&str>)] = &[
    ("AT", "112", None),
    ("AU", "000", None),
    ("BE", "112", None),
    ("BG", "112", None),
    ("CA", "911", Some("988")),
    ("CL", "131", None),
    ("CO", "123", None),
    ("CR", "911", None),
    ("CY", "112", None),
    ("CZ", "112", None),
    ("DE", "112", None),
    ("DK", "112", None),
    ("DO", "911", None),
    ("EC", "911", None),
    ("EE", "112", None),
    ("ES", "112", Some("024")),
    ("FI", "112", None),
    ("FR", "112", None),
    ("GB", "999", Some("116 123")),
    ("GR", "112", None),
    ("HR", "112", None),
    ("HU", "112", None),
    ("IE", "112", Some("116 123")),
    ("IT", "112", None),
    ("LT", "112", None),
    ("LU", "112", None),
    ("LV", "112", None),
    ("MT", "112", None),
    ("MX", "911", None),
    ("NL", "112", None),
    ("NZ", "111", None),
    ("PA", "911", None),
    ("PL", "112", None),
    ("PR", "911", Some("988")),
    ("PT", "112", None),
    ("RO", "112", None),
    ("SE", "112", None),
    ("SI", "112", None),
    ("SK", "112", None),
    ("US", "911", Some("988")),
    ("UY", "911", None),
];

/// The emergency number of a country; `None` where it is not listed.
pub(crate) fn number(country: Option<&str>) -> Option<&'static str> {
    entry(country).map(|(_, number, _)| *number)
}

/// An unlisted country gets no number: a wrong one would harm.
fn entry(country: Option<&str>) -> Option<&'static (&'static str, &'static str, Option<&'static str>)> {
    NUMBERS.iter().find(|(code, ..)| Some(*code) == country)
}

/// The limits of everything that is shown of a patient, whether or not the patient accepted them. English first.
pub const DISCLAIMER: [&str; 2] = [
    "This was taken from what was said and written. It may be incomplete or wrong, and is no medical advice: ask before you act on it.",
    "Esto se ha obtenido de lo dicho y escrito. Puede estar incompleto o equivocado y no es un consejo médico: pregunte antes de \
     actuar.",
];

/// The text for a country, in English and in Spanish, where an organisation has not set one.
pub fn texts(country: Option<&str>) -> [String; 2] {
    let (english, spanish) = match number(country) {
        Some(number) => (format!("call {number}"), format!("llame al {number}")),
        None => (
            "call the emergency number of your country".to_owned(),
            "llame al número de emergencias de su país".to_owned(),
        ),
    };
    let line = entry(country).and_then(|(.., line)| *line);
    // Without a listed line, no sentence mentions one.
    let crisis = line.map_or_else(Default::default, |line| {
        [
            format!(" If you think of ending your life, call {line} at any time."),
            format!(" Si piensa en quitarse la vida, llame al {line} a cualquier hora."),
        ]
    });
    [
        format!(
            "If there is immediate danger, {english} or go to the nearest emergency department. This program is no \
             emergency service and nobody watches it all the time.{}",
            crisis[0]
        ),
        format!(
            "Si hay un peligro inmediato, {spanish} o acuda al servicio de urgencias más cercano. Este programa no es un \
             servicio de emergencias y nadie lo vigila todo el tiempo.{}",
            crisis[1]
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_listed_once_in_order() {
        assert!(NUMBERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(NUMBERS.iter().all(|(code, ..)| crate::retention::country(code).as_deref() == Some(*code)));
    }

    #[test]
    fn a_text_names_the_number_of_the_country_and_no_number_where_it_is_not_certain() {
        let [english, spanish] = texts(Some("ES"));
        assert!(english.contains("call 112 ") && english.contains("call 024 "), "{english}");
        assert!(spanish.contains("llame al 112 ") && spanish.contains("llame al 024 "), "{spanish}");
        for unknown in [None, Some("ZZ")] {
            let texts = texts(unknown);
            assert!(texts.iter().all(|text| !text.chars().any(|c| c.is_ascii_digit())), "{texts:?}");
            assert!(
                texts[1].contains("el número de emergencias de su país")
                    || texts[1].contains("al número de emergencias")
            );
        }
    }
}
