use super::*;

/// `topic (about): value`, one after the other.
fn preferences_of(text: &str) -> String {
    let one = |one: StatedPreference| format!("{}: {}", one.heading(), one.value);
    stated(text).into_iter().map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn what_is_said_of_being_spoken_with_and_treated_is_read_in_both_languages() {
    let all = [
        ("tutéame", "form of address: informal"),
        ("prefiero que me hables de tú", "form of address: informal"),
        ("trátame de usted", "form of address: formal"),
        ("please use my first name", "form of address: informal"),
        ("no me llame", "phone calls: unwanted"),
        ("please don't call me", "phone calls: unwanted"),
        ("quiero que me llame por teléfono", "phone calls: wanted"),
        ("i prefer phone calls", "phone calls: wanted"),
        ("no soporto las llamadas", "phone calls: unwanted"),
        ("las llamadas no me gustan", "phone calls: unwanted"),
        ("no me llame al trabajo", "phone calls (at work): unwanted"),
        ("no me llame por la mañana", "phone calls (in the morning): unwanted"),
        ("prefiero que me escriba", "written messages: wanted"),
        ("prefiero mensajes de whatsapp en vez de llamadas", "phone calls: unwanted; written messages: wanted"),
        ("i'd rather get text messages than calls", "phone calls: unwanted; written messages: wanted"),
        ("prefiero los mensajes a las llamadas", "phone calls: unwanted; written messages: wanted"),
        ("prefiero el correo al teléfono", "phone calls: unwanted; e-mail: wanted"),
        ("prefiero que me llame al teléfono fijo", ""),
        ("i prefer text messages rather than phone calls", "phone calls: unwanted; written messages: wanted"),
        ("no me deje mensajes de voz", "voice messages: unwanted"),
        ("i prefer to be contacted by email", "e-mail: wanted"),
        ("prefiero que nos veamos por videollamada", "sessions: by video"),
        ("prefiero venir a consulta en persona", "sessions: in person"),
        ("i'd rather meet in person", "sessions: in person"),
        ("i don't want video sessions", "sessions: not by video"),
        ("prefiero las citas por la mañana", "time of appointments: morning"),
        ("i prefer morning appointments", "time of appointments: morning"),
        ("prefiero por la tarde", "time of appointments: afternoon"),
        ("prefiero las citas por la mañana en vez de por la tarde", "time of appointments: morning"),
        ("me siento más cómoda hablando en español", "language: Spanish"),
        ("i prefer to speak in english", "language: English"),
        ("preferiría una terapeuta mujer", "clinician: a woman"),
        ("i would prefer a female therapist", "clinician: a woman"),
        ("no soy mucho de terapia de grupo", "group or alone: not in a group"),
        ("prefiero que me hable claro", "tone: direct"),
        ("prefiero explicaciones cortas", "explanations: brief"),
        ("no me gusta que me toquen", "being touched: unwanted"),
        ("odio que me toquen", "being touched: unwanted"),
        ("no quiero que llamen a mi familia", "contact with family: unwanted"),
        ("don't want my family to know", "contact with family: unwanted"),
        ("prefiero que mi madre no lo sepa", "contact with mother: unwanted"),
        ("i'd rather my mother not be told", "contact with mother: unwanted"),
        ("quiero que avisen a mi hermana", "contact with sister: wanted"),
        ("prefiero no hablar de mi padre", "talking about father: unwanted"),
        ("i'd rather not talk about my father", "talking about father: unwanted"),
        ("i'd rather not talk about the accident", "talking about accident: unwanted"),
    ];
    for (text, expected) in all {
        assert_eq!(preferences_of(text), expected, "{text}");
    }
}

#[test]
fn tastes_names_conditions_and_what_is_meant_for_now_say_nothing_of_it() {
    let nothing = [
        "me encanta leer por la noche",
        "prefiero correr por la mañana",
        "i love online shopping",
        "me gusta el jazz",
        "i'm a morning person",
        "please call me sam",
        "llámeme ana",
        "prefiero el café corto",
        "i like texting my friends",
        "odio los correos de mi jefe",
        "i hate my phone",
        "me da igual por la mañana o por la tarde",
        "i don't mind phone calls",
        "no me molesta que me llamen",
        "hoy prefiero por videollamada",
        "i'd rather not talk about it",
        "i'd rather not talk about that right now",
        "no me llame si está mi marido",
        "no quiero tomar pastillas",
        "prefiero citas por la mañana o por la tarde",
        "",
    ];
    for text in nothing {
        assert_eq!(preferences_of(text), "", "{text}");
    }
}

#[test]
fn statements_of_other_relatives_places_and_subjects_stay_separate() {
    let key = |text: &str| stated(text).remove(0).key();
    assert_eq!(key("no me llame"), key("quiero que me llame"));
    assert_ne!(key("no me llame al trabajo"), key("no me llame"));
    assert_ne!(key("no quiero que llamen a mi madre"), key("no quiero que llamen a mi hermana"));
    assert_eq!(key("prefiero las citas por la mañana"), key("prefiero las citas por la tarde"));
    assert_ne!(key("prefiero no hablar de mi padre"), key("prefiero no hablar de mi madre"));
}

#[test]
fn nothing_that_is_read_is_empty_and_reading_never_fails() {
    let pieces =
        ["no", "me", "llame", "en vez de", "hablar de", "a mi madre", "por la mañana", "not", "call me", "x", ","];
    for one in pieces {
        for other in pieces {
            for third in pieces {
                for stated in stated(&format!("{one} {other} {third}")) {
                    assert!(!stated.value.is_empty() && stated.about.as_deref() != Some(""), "{stated:?}");
                }
            }
        }
    }
}
