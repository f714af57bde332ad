//! Spoken values: numbers said in words, "arroba" and "punto", spelled letters. The forms of transcripts and dictation.

use std::sync::LazyLock;

use regex::Regex;

use super::document::DocumentContext;
use super::entities::prefilter;
use super::finding::{DetectionLayer, PiiFinding};
use super::label;
use super::pattern::compiled;
use super::token::TextTokenKind;
use crate::word_tables::{self, WordList};
use anamnesis_text::Span;

/// Digits from which a run said in words is no dose, pressure or count.
const LONG_RUN: usize = 7;
/// Digits that are enough after a word that announces a number.
const ANNOUNCED: usize = 3;

/// Words that announce a number, with what they announce.
const CUES: &[(&str, &[&str])] = &[
    (
        label::PHONE,
        &[
            "telefono", "movil", "celular", "tel", "llamar", "llame", "llamen", "llamarme", "fijo", "whatsapp",
            "wasap", "phone", "cell", "mobile", "call", "reach", "fax", "marcar", "marque", "pager",
        ],
    ),
    ("ES_DNI", &["dni", "nif", "carnet", "documento", "identidad"]),
    ("ES_NIE", &["nie"]),
    ("CO_CEDULA", &["cedula"]),
    ("US_SSN", &["ssn", "social"]),
    (label::POSTAL_CODE, &["postal", "zip", "postcode"]),
    (label::MEDICAL_RECORD, &["historia", "expediente", "record", "mrn", "chart", "folio"]),
    (label::INSURANCE_ID, &["seguridad", "afiliacion", "poliza", "policy", "member", "medicare", "insurance"]),
    (label::BANK_ACCOUNT, &["cuenta", "iban", "account", "routing"]),
    (label::CARD, &["tarjeta", "card", "visa"]),
    (label::LICENSE, &["colegiado", "licencia", "license", "licence"]),
    (label::PASSPORT, &["pasaporte", "passport"]),
    (label::VEHICLE_ID, &["matricula", "placa", "plate"]),
    (label::NUMBER, &["numero", "codigo", "number", "code", "extension", "pin", "id"]),
];
/// Words that may be between the parts of a spoken number.
const FILLERS: &[&str] = &[
    "y", "eh", "ehm", "em", "este", "uh", "um", "er", "and", "then", "luego", "despues", "guion", "dash", "hyphen",
    "barra", "slash", ",", "-", ".", "\u{2026}", "a", "ver", "o", "sea", "digo", "perdon", "sorry", "no", "prefijo",
    "area", "code", "mas", "plus", "letra", "espera", "wait", "like", "so", "so,", "es", "is", "punto", "dot", ":",
    "cero", "oh",
];

static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:arroba|at|@)(?-u:\b)[ ,]{1,2}(?:la |el )?[a-z0-9-]{1,40}(?: [a-z0-9]{1,20}){0,2}?(?:[ ,]{1,2}(?:punto|dot)[ ,]{1,2}[a-z]{2,12}){1,3}(?-u:\b)",
    )
});
static BARE_MAIL: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?-u:\b)arroba (?:de )?[a-z0-9-]{2,40}(?-u:\b)"));
static SPELLED: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?-u:\b)[a-z](?:[ ,-]{1,2}[a-z]){3,24}(?-u:\b)"));
static SPELL_CUE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"spell|deletre|escribe|apellido|nombre|name|letra|letter"));

/// Finds spoken values.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    numbers(context, found);
    mails(context, found);
    spelled(context, found);
}

/// One part of a spoken number.
struct SpokenNumber {
    span: Span,
    digits: usize,
    said: bool,
}

fn numbers(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let said = context.spoken_numbers();
    if said.is_empty() {
        return;
    }
    let mut parts: Vec<SpokenNumber> = Vec::new();
    for number in said {
        streets(lower, number.span, found);
        parts.push(SpokenNumber { span: number.span, digits: number.digits.len(), said: true });
    }
    for token in context.tokens.iter().filter(|token| token.kind == TextTokenKind::Number) {
        parts.push(SpokenNumber { span: token.span, digits: token.span.len(), said: false });
    }
    parts.sort_by_key(|part| part.span.start);
    let mut first = 0;
    while first < parts.len() {
        let mut last = first;
        while last + 1 < parts.len() && fills(lower, parts[last].span.end, parts[last + 1].span.start) {
            last += 1;
        }
        run(context, &parts[first..=last], found);
        first = last + 1;
    }
}

/// Whether only fillers and single letters are between two parts.
fn fills(lower: &str, from: usize, to: usize) -> bool {
    let Some(gap) = lower.get(from..to) else { return false };
    gap.len() <= 24 && gap.split([' ', '\n', ',']).filter(|word| !word.is_empty()).all(|word| FILLERS.contains(&word))
}

/// A run of spoken parts: an identifier when it is announced or long.
fn run(context: &DocumentContext<'_>, parts: &[SpokenNumber], found: &mut Vec<PiiFinding>) {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
    if !parts.iter().any(|part| part.said) {
        return;
    }
    let lower = &context.view.lower;
    let digits: usize = parts.iter().map(|part| part.digits).sum();
    let mut span = Span::new(first.span.start, last.span.end);
    let cue = announced(context, span.start);
    // Commas between whole numbers are a list ("cien, noventa y tres, ochenta y seis"), not one number.
    let listed = span.slice(lower).matches(',').count() >= parts.len().saturating_sub(1) && parts.len() > 1;
    let long = digits >= LONG_RUN && !listed && !is_round(span.slice(lower)) && !is_amount(lower, span.end);
    let Some(label) =
        cue.filter(|_| digits >= ANNOUNCED && !is_amount(lower, span.end)).or(long.then_some(label::PHONE))
    else {
        return;
    };
    span.end = with_letter(lower, span.end);
    found.push(PiiFinding::new(
        span,
        label,
        "spoken_number",
        if cue.is_some() { 0.8 } else { 0.6 },
        DetectionLayer::Residual,
    ));
}

/// "un millon", "two thousand": amounts are said with scales, identifiers never.
fn is_round(said: &str) -> bool {
    ["mill", "mil", "thousand", "hundred"].iter().any(|scale| said.split(' ').any(|word| word.starts_with(scale)))
}

/// The kind that the nearest cue before a number announces, within a dozen words of the same line or the line before.
fn announced(context: &DocumentContext<'_>, start: usize) -> Option<&'static str> {
    let at = context.token_at(start);
    let mut lines = 0;
    for token in context.tokens[..at].iter().rev().take(12) {
        lines += usize::from(token.kind == TextTokenKind::Break);
        if lines > 1 {
            return None;
        }
        let word = context.lower(token);
        if context.view.lower[..token.span.start].ends_with('[') {
            continue;
        }
        if let Some((label, _)) = CUES.iter().find(|(_, words)| words.contains(&word)) {
            return Some(label);
        }
    }
    None
}

/// A unit after a number makes it an amount.
fn is_amount(lower: &str, end: usize) -> bool {
    static UNIT: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^[ ]?(?:mil)?(?:mili|micro|kilo)?(?:gramos?|litros?|metros?|mg|ml|mcg|unidades|units|grams?|milligrams?|pastillas?|pills?|tablets?|veces|times|anos|years?|meses|months?|semanas|weeks?|dias|days?|horas|hours?|minutos|minutes|por ciento|percent|euros|pesos|dolares|dollars|pasos|steps|kilos|pounds|grados|degrees|personas|people|puntos|points|de la (?:manana|tarde|noche)|am|pm|o'clock)(?-u:\b)",
        )
    });
    UNIT.is_match(&lower[end..])
}

/// "… ocho zeta": the letter of a DNI, alone or named.
fn with_letter(lower: &str, end: usize) -> usize {
    static LETTER: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^[ ,-]{1,2}(?:letra )?(?:[b-df-hj-np-tv-xz]|be|ce|de|efe|ge|hache|jota|ka|ele|eme|ene|pe|cu|erre|ese|te|uve|zeta|equis)(?-u:\b)(?:$|[ .,;\n])",
        )
    });
    LETTER
        .find(&lower[end..])
        .map_or(end, |letter| end + letter.as_str().trim_end_matches([' ', '.', ',', ';', '\n']).len())
}

/// "calle gomez numero noventa y ocho", "thirty six elm street".
fn streets(lower: &str, span: Span, found: &mut Vec<PiiFinding>) {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        compiled(r"(?-u:\b)(?:calle|avenida|plaza|paseo|camino|carrera|ronda|travesia|pasaje) (?:[a-z]{1,20} ){1,5}$")
    });
    static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
        compiled(r"^ (?:[a-z]{2,20} ){1,3}(?:street|avenue|road|drive|lane|boulevard|court|place|way|terrace)(?-u:\b)")
    });
    let mut from = span.start.saturating_sub(70);
    while !lower.is_char_boundary(from) {
        from += 1;
    }
    let before = BEFORE.find(&lower[from..span.start]).map(|street| from + street.start());
    // "vivo en la calle desde hace dos": no street is called so.
    let before = before.filter(|street| {
        let mut words = lower[*street..span.start].split(' ').skip(1);
        !words.any(|word| {
            ["desde", "hace", "hasta", "porque", "durante", "por", "sin", "con", "para", "ya", "me", "que"]
                .contains(&word)
        })
    });
    let after = BEHIND.find(&lower[span.end..]).map(|street| span.end + street.end());
    if before.is_some() || after.is_some() {
        let whole = Span::new(before.unwrap_or(span.start), after.unwrap_or(span.end));
        found.push(PiiFinding::new(whole, label::ADDRESS, "spoken_street", 0.7, DetectionLayer::Entity));
    }
}

fn mails(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let said = |pattern: &'static LazyLock<Regex>, words: &[&str]| {
        prefilter::has_any(lower, words).then(|| pattern.find_iter(lower)).into_iter().flatten()
    };
    for hit in said(&MAIL, &["punto", "dot"]).chain(said(&BARE_MAIL, &["arroba"])) {
        // "at" needs its "dot": the pattern saw to that.
        let start = user_before(context, hit.start());
        found.push(PiiFinding::new(
            Span::new(start, hit.end()),
            label::EMAIL,
            "spoken_email",
            0.9,
            DetectionLayer::Identifier,
        ));
    }
}

/// The words of the user name before "arroba", back to a word that cannot be part of it.
fn user_before(context: &DocumentContext<'_>, at_sign: usize) -> usize {
    static STOPS: WordList = WordList::listed(word_tables::IDENTIFIERS, "spoken_values.stops");
    let mut start = at_sign;
    let end = context.token_at(at_sign);
    for token in context.tokens[..end].iter().rev().take(9) {
        let word = context.lower(token);
        let sign = token.kind == TextTokenKind::Sign && !matches!(word, "." | "-" | "_" | ",");
        if token.kind == TextTokenKind::Break || sign || STOPS.contains(word) {
            break;
        }
        if token.kind != TextTokenKind::Sign {
            start = token.span.start;
        }
    }
    start
}

fn spelled(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    if !prefilter::has_spelled_letters(context) {
        return;
    }
    for hit in SPELLED.find_iter(lower) {
        let mut from = hit.start().saturating_sub(70);
        while !lower.is_char_boundary(from) {
            from += 1;
        }
        let letters = hit.as_str().bytes().filter(u8::is_ascii_alphabetic).count();
        if letters >= 4 && SPELL_CUE.is_match(&lower[from..hit.start()]) {
            let span = Span::new(hit.start(), hit.end());
            found.push(PiiFinding::new(span, label::PERSON, "spelled", 0.7, DetectionLayer::Residual));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::labelled;
    use anamnesis_text::Language;

    fn found(text: &str) -> Vec<(&'static str, String)> {
        labelled(text, Language::Unknown, find)
    }

    #[test]
    fn numbers_said_in_words_have_the_kind_of_their_keyword() {
        for (text, kind) in [
            ("mi telefono es seis uno dos tres cuatro cinco seis siete ocho y ya", label::PHONE),
            ("my phone is five five five one two three four and so", label::PHONE),
            ("el dni es cuatro cinco ocho siete uno dos cero tres zeta", "ES_DNI"),
            ("el codigo postal es dos ocho cero tres cinco y ya", label::POSTAL_CODE),
            ("apunte seis uno dos tres cuatro cinco seis siete ocho y ya", label::PHONE),
        ] {
            let found = found(text);
            assert!(found.iter().any(|(label, _)| *label == kind), "{text}: {found:?}");
        }
        let letter = found("el dni es cuatro cinco ocho siete uno dos cero tres zeta");
        assert!(letter[0].1.ends_with("zeta"), "{letter:?}");
    }

    #[test]
    fn amounts_lists_and_short_numbers_stay() {
        for text in [
            "toma dos pastillas y luego tres mas",
            "tomo cien, noventa y tres, ochenta y seis y ya",
            "hace dos mil quinientos pasos al dia",
            "el telefono suena dos veces",
            "a million two hundred thousand dollars",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
        assert!(is_round("dos mil") && is_round("two thousand") && !is_round("dos tres"));
        assert!(is_amount("dos pastillas", 3) && !is_amount("dos casas", 3));
        assert!(fills("uno eh dos", 3, 7) && !fills("uno casa dos", 3, 9));
        assert_eq!(with_letter("ocho zeta", 4), 9);
        assert_eq!(with_letter("ocho zeta y", 4), 9);
        assert_eq!(with_letter("ocho casas", 4), 4);
    }

    #[test]
    fn a_cue_announces_within_a_line_or_the_one_before() {
        let announced = |text: &str| {
            crate::test_support::read(text, Language::Unknown, |context| {
                announced(context, context.view.lower.find("siete").unwrap_or(0))
            })
        };
        assert_eq!(announced("telefono siete"), Some(label::PHONE));
        assert_eq!(announced("telefono\nsiete"), Some(label::PHONE));
        assert_eq!(announced("telefono\n\nsiete"), None);
        assert_eq!(announced("dni y telefono siete"), Some(label::PHONE), "the nearest");
        assert_eq!(announced("[telefono] siete"), None);
        assert_eq!(announced(&format!("telefono {} siete", "a ".repeat(13))), None);
    }

    #[test]
    fn streets_mails_and_spelled_names_are_detected_in_speech() {
        for (text, kind, part) in [
            ("vivo en calle gomez numero noventa y ocho y ya", label::ADDRESS, "calle gomez numero noventa y ocho"),
            ("i live at thirty six elm street now", label::ADDRESS, "thirty six elm street"),
            (
                "mi correo es ana punto ruiz arroba gmail punto com y ya",
                label::EMAIL,
                "ana punto ruiz arroba gmail punto com",
            ),
            ("my email is ana at gmail dot com", label::EMAIL, "ana at gmail dot com"),
            ("se deletrea b r a z t y ya", label::PERSON, "b r a z t y"),
        ] {
            let found = found(text);
            assert!(found.contains(&(kind, part.to_owned())), "{text}: {found:?}");
        }
        for text in
            ["vivo en la calle desde hace dos anos", "grupos a b o ab", "estoy at home dot", "los rayos x y z a"]
        {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
