//! Street addresses and postal codes, Spanish and English: a street word, a name, a number and what clings to it.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::post_filter::stop_words;
use super::{informal, lexicon, places, prefilter};
use crate::pattern::compiled;
use crate::word_tables::{self, WordList};
use anamnesis_text::{Language, Span};

/// Numbers of houses, floors and doors after a street.
const TAIL: &str = r"(?:,? ?(?:n[uº°o]?m?\.?(?:ero)? ?º?|km\.?|esquina)? ?[0-9]{1,4}(?:[,.][0-9]{1,3})?(?: ?(?:bis|[a-h]|dupl?\.?))?(?-u:\b)|,? ?(?:s ?/ ?n(?:º|o)?|sn(?-u:\b)))";
const DOOR: &str = r"(?:[,.]? ?(?:- ?)?(?:(?:p\.?)?(?:[0-9]{1,2}\.? ?[ºªo°]?|(?:piso|planta|puerta|pta|portal|escalera|esc|bloque|blq|bajo|entresuelo|atico|depto|departamento|dpto|apto|apartamento|int|interior|local|casa|torre|manzana|mz|lote|lt)\.? ?[0-9a-z]{0,3})(?: ?-? ?(?:izq(?:uierda|da)?|iz|dcha|der|derecha|ctro|centro|[a-z])(?-u:\b))?|(?:izq(?:uierda|da)?|dcha|derecha|bajo|atico|[a-h])(?-u:\b)))";

static SPANISH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:c/\.?|(?:c\.|c|crta\.?|pz\.?|cl\.|calle|avda\.?|avenida|avd\.?|av\.?|paseo|pº\.?|p\.º|pso\.?|plaza|plz\.?|pza\.?|plza\.?|carretera|ctra\.?|cra\.?|carrera|camino|cno\.?|ronda|travesia|trav\.?|urb\.?|urbanizacion|glorieta|cuesta|callejon|pasaje|pje\.?|passeig|bulevar|rambla|gran via|carrer|rua|autopista|poligono|pol\.|colonia|col\.|barrio|barriada|jiron|jr\.|calzada|calz\.?|diagonal|transversal|vereda|prolongacion|privada|cerrada)[ ./]) ?(?:/ ?)?([^\n;:()\[\]]{2,90})",
    )
});
static NUMBERED: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!(r"^(?:[^0-9,.;:\n]|\.(?: |[a-z])){{2,60}}?{TAIL}{DOOR}{{0,3}}")));
static DOORS: LazyLock<Regex> = LazyLock::new(|| compiled(&format!(r"^{TAIL}?{DOOR}{{0,3}}")));
static ENGLISH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)[0-9]{1,5}[a-z]?,? (?:[nsew]\.? |north |south |east |west )?(?:[a-z0-9'.-]{1,20} ){1,4}?(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl|way|terrace|circle|cir|parkway|pkwy|highway|hwy|square|close|crescent|gardens|grove|trail|mews|row|walk|alley)(?-u:\b)\.?(?:,? (?:apt|apartment|suite|ste|unit|flat|floor|room|#)\.? ?#?[0-9a-z-]{1,6})?",
    )
});
/// Streets of other countries in English texts: "64 Rua Papoula 1998", with the lines of place and code after them.
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)[0-9]{1,5}[A-Za-z]? (?:[0-9]{1,5} )?(?:[A-Z][A-Za-z'.-]{1,24} ){1,5}[0-9]{1,5}[a-zA-Z]?(?-u:\b)|(?-u:\b)(?:Suite|Apt\.|Apartment|Unit|Flat|Ste\.) #?[0-9]{1,5}[A-Za-z]?(?-u:\b)|(?-u:\b)PSC [0-9]{1,5},? Box [0-9]{1,5}",
    )
});
static LINES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:[,\s]{1,4}(?:(?:Suite|Apt\.?|Unit) [0-9]{1,5}|[A-Z][A-Za-z'.-]{0,24}|nan)){1,7}[,\s]{1,4}[0-9]{4,6}(?:-[0-9]{4})?(?-u:\b)",
    )
});
/// A street without a number after a word of place: "on Sycamore Street".
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:on|at|in|near|off|to|from|along) ((?:[A-Z][a-z]{2,20} ){1,3}(?:Street|Avenue|Road|Lane|Boulevard|Terrace|Crescent|Drive))(?-u:\b)",
    )
});
static BOX: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:p\.? ?o\.? ?box|apartado(?: de correos)?|casilla(?: de correo)?|apdo\.?)(?: postal)? ?(?:n[ºo]\.? ?)?[0-9]{1,6}",
    )
});
/// A street without a street word: capitalised words with a number before a postal code, or with "s/n".
static UNMARKED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)((?:[A-Z][A-Za-z'-]{1,24} (?:(?:de|del|la|los|las|y|i|el) ){0,2}){0,4}[A-Z][A-Za-z'-]{1,24},? ?(?:n[º°o]\.? ?)?(?:s/n|[0-9]{1,4}(?:[-,. ºª]{1,3}[0-9A-Z]{1,3}){0,4}[ºª]?))[ .,;)-]{1,4}(?:(?:E|CP|C\.P\.)[- ]{0,2})?[0-9]{5}(?-u:\b)",
    )
});
/// "la carrera 45 con la 78": two numbered streets that cross.
static CROSSING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:carrera|calle|cra|kra|cll?|transversal|diagonal|avenida|av)\.? [0-9]{1,3}[a-h]?(?: (?:sur|norte|este|bis))? (?:con|y|entre) (?:la|(?:la )?(?:carrera|calle|cra|kra|cll?)\.?) [0-9]{1,3}[a-h]?(?-u:\b)",
    )
});
/// A postal code and the words before it.
static POSTAL: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?-u:\b)(?:e-|cp ?|c\.p\. ?)?([0-9]{5})(?:-[0-9]{4})?(?-u:\b)"));
static BRITISH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"(?-u:\b)(?:GIR 0AA|[A-PR-UWYZ][A-HJ-Y]?[0-9][0-9A-HJKMNP-Y]? ?[0-9][ABD-HJLNP-UW-Z]{2})(?-u:\b)")
});
static STATE_ZIP: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]),? [0-9]{5}(?:-[0-9]{4})?(?-u:\b)",
    )
});

/// Finds addresses and postal codes, and the places after postal codes.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let (plain, lower) = (&context.view.plain, &context.view.lower);
    spanish(context, found);
    for hit in ENGLISH.find_iter(lower).filter(|hit| named(context, hit.as_str(), hit.start())) {
        push(found, hit.start(), hit.end(), label::ADDRESS, "street");
    }
    for hit in CROSSING.find_iter(lower) {
        push(found, hit.start(), hit.end(), label::ADDRESS, "street");
    }
    if context.language == Language::English {
        for hit in FOREIGN.find_iter(plain).filter(|hit| !is_a_reading(hit.as_str())) {
            push(found, hit.start(), hit.end(), label::ADDRESS, "street");
        }
        for street in NAMED.captures_iter(plain).filter_map(|hit| hit.get(1)) {
            push(found, street.start(), street.end(), label::ADDRESS, "street");
        }
        for known in found.iter_mut().filter(|known| known.label == label::ADDRESS) {
            known.span.end += LINES.find(&plain[known.span.end..]).map_or(0, |lines| lines.end());
        }
    }
    for hit in BOX.find_iter(lower) {
        push(found, hit.start(), hit.end(), label::ADDRESS, "post_box");
    }
    let british = prefilter::has_digit_and_two_large(context).then(|| BRITISH.find_iter(plain));
    let coded = prefilter::has_five_digits(context);
    let states = coded.then(|| STATE_ZIP.find_iter(plain));
    for hit in british.into_iter().flatten().chain(states.into_iter().flatten()) {
        push(found, hit.start(), hit.end(), label::POSTAL_CODE, "postal_code");
    }
    if !coded {
        return;
    }
    for hit in UNMARKED.captures_iter(plain) {
        // "ICD-10 F33.1, CPT 90837": codes follow codes.
        let is_code = |word: &str| lexicon::is_eponym(word);
        let street = hit
            .get(1)
            .filter(|street| !street.as_str().to_ascii_lowercase().split(|c: char| !c.is_alphanumeric()).any(is_code));
        if let Some(street) = street {
            push(found, street.start(), street.end(), label::ADDRESS, "street_before_code");
        }
    }
    postal_codes(context, found);
}

/// "62 RR 11", "6 White Claws 2": figures with their unit, no street. A street has a word of more than four letters
/// with lower-case ones that is no clinical word.
fn is_a_reading(hit: &str) -> bool {
    let own = |word: &&str| {
        let lower = word.to_ascii_lowercase();
        let small = word.bytes().any(|byte| byte.is_ascii_lowercase());
        small && word.len() > 2 && !stop_words::is_clinical(&lower) || word.ends_with('.') || word.len() > 4 && !small
    };
    !hit.starts_with(|c: char| c.is_alphabetic())
        && !hit.split([' ', ',']).filter(|word| word.starts_with(|c: char| c.is_alphabetic())).any(|word| own(&word))
}

/// "5 Main Street", not "3 times a day": the word after the number is capitalised, or the text has no capitals.
fn named(context: &DocumentContext<'_>, hit: &str, start: usize) -> bool {
    let text = context.view.plain[start..start + hit.len()].trim_end_matches('.');
    let last = text.rsplit(' ').next().unwrap_or_default();
    let inner = text.split(' ').skip(1).filter(|word| !matches!(*word, "of" | "de" | "la" | "the"));
    let large = inner.clone().all(|word| {
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '#') || word == last && word.len() > 3
    });
    // A title is no street: "2005, Dr. X had asked Dr.".
    let titled = inner.clone().any(|word| matches!(word, "Dr." | "Mr." | "Mrs." | "Ms."));
    // "5, timed walk": an ordinary word that may end the name of a street needs a real name before it.
    let doubtful = ["walk", "way", "place", "close", "drive", "court", "row", "trail", "square", "circle", "gardens"];
    let small = inner.clone().all(|word| word.starts_with(|c: char| c.is_lowercase()));
    let plain = doubtful.contains(&last.to_ascii_lowercase().as_str())
        && small
        && inner.clone().all(|word| lexicon::is_ordinary(&word.to_ascii_lowercase()));
    // "17 ashbrook drive" among capital letters: words that are nothing else make a street of it.
    let mut own = inner.clone().filter(|word| *word != last);
    let few = matches!(own.clone().count(), 1 | 2) && !["walk", "way", "place", "close", "row"].contains(&last);
    let typed = small && few && last.len() > 3 && own.all(|word| word.len() > 3 && informal::is_unknown(word));
    (large || context.no_case() && last.len() > 3 || typed) && !titled && !plain
}

fn spanish(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let (plain, lower) = (&context.view.plain, &context.view.lower);
    let mut from = 0;
    for at in beginnings(lower) {
        // An address continues over words that look like the start of another street.
        let Some(hit) = (at >= from).then(|| SPANISH.captures(&lower[at..])).flatten() else { continue };
        let (Some(whole), Some(rest)) = (hit.get(0), hit.get(1)) else { continue };
        let rest_at = at + rest.start();
        from = rest_at;
        if is_no_street(whole.as_str(), rest.as_str(), context.language) {
            continue;
        }
        let words = &plain[rest_at..at + rest.end()];
        let large = first_word_is_capitalized(words);
        let weak = is_weak_street(whole.as_str());
        let small = !weak && numbered_close(rest.as_str());
        let end = NUMBERED
            .find(rest.as_str())
            .map(|tail| tail.end())
            .filter(|end| (large && (!weak || all_capitals(&words[..*end]))) || small);
        let end = end.or_else(|| (large && !weak).then(|| capitalised_end(words)).filter(|end| *end > 0));
        if let Some(end) = end {
            push(found, at, rest_at + end, label::ADDRESS, "street");
            from = rest_at + end;
        }
    }
}

/// "c/ fluoxetina 20", "c/o loose motions", "cerrada. Columna": an abbreviation of "with" or of English, or the last word of a
/// sentence.
fn is_no_street(whole: &str, rest: &str, language: Language) -> bool {
    static WITH: WordList = WordList::listed(word_tables::ENTITIES, "addresses.with");
    let first = rest.split([' ', ',', '.', '/']).find(|word| !word.is_empty()).unwrap_or_default();
    let with = whole.starts_with("c/")
        && (stop_words::is_clinical(first)
            || WITH.contains(first)
            || language == Language::English && matches!(first, "o" | "s" | "w" | "b" | "f"));
    let street = whole.split([' ', '/', '.']).next().unwrap_or_default();
    let ended = street.len() > 4 && whole[street.len()..].starts_with('.');
    with || ended
}

/// Words that may be one of streets: the pattern is tried at no others.
fn beginnings(lower: &str) -> impl Iterator<Item = usize> {
    let bytes = lower.as_bytes();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (0..bytes.len()).filter(move |at| {
        let fresh = *at == 0 || !word(bytes[at - 1]);
        fresh && bytes[*at].is_ascii_lowercase() && BEGINNINGS[beginning(&bytes[*at..])]
    })
}

/// Five bits of each of the first three bytes.
fn beginning(word: &[u8]) -> usize {
    word.iter().take(3).fold(0, |place, byte| place << 5 | usize::from(byte & 31))
}

/// First bytes of street words, three or, where a sign or anything else may follow, two.
static BEGINNINGS: LazyLock<[bool; 1 << 15]> = LazyLock::new(|| {
    let mut begin = [false; 1 << 15];
    for word in STREETS.split(' ') {
        let place = beginning(word.as_bytes());
        match word.len() {
            2 => begin[place << 5..(place + 1) << 5].fill(true),
            _ => begin[place] = true,
        }
    }
    // "c/", "c.", "c ".
    for sign in [b'/', b'.', b' '] {
        let place = beginning(&[b'c', sign]);
        begin[place << 5..(place + 1) << 5].fill(true);
    }
    begin
});
const STREETS: &str = "crt pz cl cal avd ave av pas pº p. pso pla plz pza plz car ctr cra cam cno ron tra urb glo cue cal \
    pas pje bul ram gra rua aut pol col bar jir jr cal dia tra ver pro pri cer";

/// Abbreviations that also end sentences or name leads and visual acuity: "C.", "AV", "Col.".
fn is_weak_street(street: &str) -> bool {
    if street.starts_with("c/") || street.starts_with("av.") || street.starts_with("col.") {
        return false;
    }
    let word = street.split([' ', '/']).next().unwrap_or_default().trim_end_matches('.');
    matches!(
        word,
        "c" | "cl"
            | "av"
            | "pol"
            | "col"
            | "cra"
            | "p"
            | "po"
            | "pº"
            | "trav"
            | "crta"
            | "poligono"
            | "prolongacion"
            | "pz"
            | "privada"
            | "carrera"
            | "barrio"
            | "camino"
    )
}

fn first_word_is_capitalized(words: &str) -> bool {
    let mut list = words.split([' ', '/']).filter(|word| !word.is_empty());
    let first = list.find(|word| {
        !matches!(word.to_ascii_lowercase().as_str(), "de" | "del" | "la" | "las" | "los" | "el" | "d'" | "dels")
    });
    first.is_some_and(|word| word.starts_with(|c: char| c.is_uppercase()))
}

/// A small-lettered street needs its number within four words: "calle mayor 5".
fn numbered_close(words: &str) -> bool {
    words
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .take(6)
        .any(|word| word.bytes().all(|byte| byte.is_ascii_digit()) || word.starts_with("s/n"))
        && !words.starts_with("por ")
}

/// Nothing but capitalised words, particles and numbers: what an abbreviation needs to be a street's.
fn all_capitals(words: &str) -> bool {
    words.split([' ', ',', '-', '/']).filter(|word| !word.is_empty()).all(|word| {
        let first = word.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_alphabetic());
        first
            || matches!(word, "de" | "del" | "la" | "las" | "los" | "el" | "y" | "i" | "no" | "n" | "s" | "sn")
            || word.len() == 1
    })
}

/// The last of the capitalised words of a street without a number, and doors after it.
fn capitalised_end(words: &str) -> usize {
    let (mut end, mut at) = (0, 0);
    for word in words.split_inclusive(' ') {
        let bare = word.trim_end();
        let particle =
            matches!(bare.to_ascii_lowercase().as_str(), "de" | "del" | "la" | "las" | "los" | "el" | "y" | "i");
        if bare.starts_with(|c: char| c.is_uppercase()) {
            end = at + bare.trim_end_matches([',', '.']).len();
            if bare.ends_with([',', '.']) {
                break;
            }
        } else if !particle {
            break;
        }
        at += word.len();
    }
    let lower = words.to_lowercase();
    let doors = lower.get(end..).and_then(|rest| DOORS.find(rest)).map_or(0, |doors| doors.end());
    end + doors
}

/// Five digits before a capitalised place, after an address, or alone in a line; and the places after them.
fn postal_codes(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let mut fresh = Vec::new();
    for hit in POSTAL.captures_iter(lower) {
        let (Some(whole), Some(code)) = (hit.get(0), hit.get(1)) else { continue };
        let marked = whole.as_str().len() > 5 && !whole.as_str().starts_with(|c: char| c.is_ascii_digit());
        let close = found.iter().any(|known| {
            matches!(known.label, label::ADDRESS | label::ORGANIZATION | label::LOCATION)
                && known.span.end <= whole.start()
                && whole.start() - known.span.end <= 4
        });
        let mut at = context.token_at(code.end());
        if context.tokens.get(at).is_some_and(|sign| matches!(context.plain(sign), "." | "," | "-")) {
            at += 1;
        }
        let (place_end, known) = place_after(context, at, code.end());
        let plausible = (code.as_str() < "53000" || close || marked) && (code.as_str() >= "01000");
        if (marked || close || known) && plausible && !continues(lower, code.start(), code.end()) {
            reach_to_code(context, whole.start(), found);
            push(&mut fresh, code.start(), whole.end(), label::POSTAL_CODE, "postal_code");
            if let Some(end) = place_end {
                fresh.push(PiiFinding::new(
                    Span::new(context.tokens[at].span.start, end),
                    label::LOCATION,
                    "place_behind_code",
                    0.85,
                    DetectionLayer::Entity,
                ));
            }
        }
    }
    found.append(&mut fresh);
}

/// Doors and floors between an address and its postal code belong to the address.
fn reach_to_code(context: &DocumentContext<'_>, code: usize, found: &mut [PiiFinding]) {
    let near =
        |known: &&mut PiiFinding| known.label == label::ADDRESS && known.span.end < code && code - known.span.end <= 18;
    for known in found.iter_mut().filter(near) {
        let Some(gap) = context.view.plain.get(known.span.end..code) else { continue };
        let doors = gap.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, 'º' | 'ª'));
        if !gap.contains('\n') && doors.bytes().any(|byte| byte.is_ascii_digit()) && !doors.contains(':') {
            known.span.end += doors.trim_end_matches("E").trim_end_matches("CP").len();
        }
    }
}

/// Capitalised words after a postal code, and whether the gazetteer knows them.
fn place_after(context: &DocumentContext<'_>, at: usize, from: usize) -> (Option<usize>, bool) {
    let mut end = None;
    let mut after = from;
    for token in context.tokens[at.min(context.tokens.len())..].iter().take(6) {
        let gap = &context.view.plain[after..token.span.start];
        let lower = context.lower(token);
        let particle = end.is_some() && matches!(lower, "de" | "del" | "la" | "las" | "los" | "el" | "-");
        if gap.contains('\n')
            || gap.len() > 2
            || !(token.is_capitalized() || particle)
            || super::cues::is_field(lower)
            || lower == "e"
        {
            break;
        }
        if end.is_some() && lexicon::word(lower).common && !places::is_place(lower) && !lexicon::word(lower).is_name() {
            break;
        }
        after = token.span.end;
        if token.is_capitalized() {
            end = Some(token.span.end);
        }
    }
    let first = context.tokens.get(at).map(|token| token.span.start).unwrap_or_default();
    let known = end.is_some_and(|end| {
        let name = &context.view.lower[first..end];
        places::is_place(name) || name.split(' ').next().is_some_and(places::is_place) || !lexicon::word(name).common
    });
    (end, known)
}

/// A part of a longer number.
fn continues(lower: &str, start: usize, end: usize) -> bool {
    let bytes = lower.as_bytes();
    let sign = |byte: u8| matches!(byte, b'.' | b',' | b'/');
    (start >= 2 && sign(bytes[start - 1]) && bytes[start - 2].is_ascii_digit())
        || bytes.get(end).is_some_and(|byte| sign(*byte)) && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
}

fn push(found: &mut Vec<PiiFinding>, start: usize, end: usize, label: &'static str, recognizer: &'static str) {
    found.push(PiiFinding::new(Span::new(start, end), label, recognizer, 0.8, DetectionLayer::Entity));
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
