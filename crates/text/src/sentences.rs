//! Sentences of notes and dialogues in Spanish and English. Never across a turn, a blank line, a bullet or a header
//! line; never torn at an abbreviation or inside a number; never longer than [`MAX_SENTENCE_BYTES`], so that a text
//! without punctuation does not become one clause of 200 kB.

use super::fold::fold;
use super::{Document, Span};

/// The longest sentence. A longer one is cut at the last comma or white space before the limit.
pub(crate) const MAX_SENTENCE_BYTES: usize = 1_200;
/// An abbreviation or a list number is not longer than this.
const LOOK_BACK_BYTES: usize = 64;
/// Widths at which programs and people break lines, in characters.
const PAGE_WIDTHS: std::ops::RangeInclusive<usize> = 55..=132;
/// A line that is this much shorter than the page was not broken because the page was full.
const RAGGED: usize = 18;
/// A text with fewer signs than one in so many words counts as dictated or typed in haste.
const UNPUNCTUATED: usize = 40;
/// Words after which a line without a stop goes on in the next one, folded: no message ends with "of" or "my".
const GOES_ON: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "without", "and", "or", "nor", "but",
    "my", "her", "his", "their", "your", "our", "its", "any", "no", "not", "is", "was", "are", "were", "been", "that",
    "than", "about", "some", "every", "un", "una", "unos", "unas", "el", "la", "los", "las", "de", "del", "al", "en",
    "con", "sin", "por", "para", "y", "o", "u", "e", "ni", "pero", "que", "mi", "mis", "su", "sus", "tu", "tus", "muy",
    "como", "es", "era", "fue", "esta", "ha", "he", "sobre", "desde", "hasta",
];

/// Abbreviations after which a full stop ends nothing, folded, without the stop.
const ABBREVIATIONS: &[&str] = &[
    "dr", "dra", "dres", "sr", "sra", "srta", "d", "dna", "prof", "lic", "ing", "ud", "uds", "vd", "p", "ej", "pej",
    "pag", "etc", "aprox", "num", "no", "nro", "tel", "av", "avda", "c", "pto", "vs", "fig", "ref", "art", "cap",
    "comp", "comps", "mg", "mcg", "ml", "kg", "gr", "g", "amp", "tab", "tabs", "caps", "sol", "inh", "hs", "hr", "hrs",
    "h", "min", "seg", "mr", "mrs", "ms", "st", "jr", "sr", "e", "i", "g", "approx", "dept", "inc", "wt", "ht", "pt",
    "pts", "yo", "y", "o", "hx", "dx", "rx", "tx", "sx", "fx", "q", "d", "b", "t", "s", "a", "m", "izq", "dcho",
    "dcha", "der", "ant", "post", "sup", "inf", "max", "dpto", "hab", "mas", "fem", "ecog", "temp", "fdo", "ee", "uu",
    "exp", "col", "ext", "prox", "ult", "ud", "appt", "psiq", "psic", "ctrl", "cons", "hosp", "cir", "urg", "tto",
    "trat", "mat", "pat", "bilat", "lat", "prev", "eval", "consult", "ambul", "amb", "hno", "hna", "derm", "neuro",
    "cardio", "int",
];

/// The sentences of a document, in order, without the white space around them. Every other character is in exactly one.
pub fn sentences(document: &Document) -> Vec<Span> {
    let mut out = Vec::new();
    let mut at = 0;
    for turn in &document.turns {
        split(&document.text, Span::new(at.min(turn.span.start), turn.span.start), &mut out);
        split(&document.text, turn.span, &mut out);
        at = turn.span.end;
    }
    split(&document.text, Span::new(at.min(document.text.len()), document.text.len()), &mut out);
    out
}

/// The sentences of a text without turns.
pub fn sentences_of(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    split(text, Span::new(0, text.len()), &mut out);
    out
}

fn split(text: &str, within: Span, out: &mut Vec<Span>) {
    let Some(part) = text.get(within.start..within.end) else { return };
    let layout = Layout { page: page_width(part), unpunctuated: is_unpunctuated(part) };
    let mut start = within.start;
    let mut line_start = within.start;
    let mut chars = part.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let at = within.start + offset;
        let end = at + c.len_utf8();
        let rest = &text[end..within.end];
        let boundary = match c {
            '\n' => {
                let ends = line_ends(&text[line_start..at], rest, layout);
                line_start = end;
                ends
            }
            '.' | '!' | '?' | '…' | '。' => {
                let closed = !matches!(chars.peek(), Some((_, '.' | '!' | '?' | '…')));
                // A bounded look back keeps a line of a million stops linear.
                let back = text.ceil_char_boundary(at.saturating_sub(LOOK_BACK_BYTES)).max(start);
                // "? sepsis" opens with its doubt.
                let opens = c == '?' && text[start..at].trim().is_empty();
                closed && !opens && stop_ends(c, &text[back..at], rest)
            }
            _ => false,
        };
        if boundary {
            let end = end + closing(rest);
            push(text, Span::new(start, end), out);
            start = end;
            while chars.next_if(|(offset, _)| within.start + offset < end).is_some() {}
        }
    }
    push(text, Span::new(start, within.end), out);
}

/// Closing quotes and brackets after the stop belong to the sentence.
fn closing(rest: &str) -> usize {
    rest.find(|c: char| !matches!(c, '"' | '\'' | '”' | '’' | '»' | ')' | ']')).unwrap_or(rest.len())
}

fn stop_ends(stop: char, before: &str, rest: &str) -> bool {
    let after = rest[closing(rest)..].chars().next();
    let Some(after) = after else { return true };
    if !after.is_whitespace() {
        // "word.Another": a forgotten space, while "3.5", "p.ej." and "x.com" go on.
        return stop != '.' && !after.is_alphanumeric();
    }
    if stop != '.' {
        return true;
    }
    let line = before.rsplit('\n').next().unwrap_or(before);
    let word = line.rsplit(|c: char| c.is_whitespace() || matches!(c, '.' | '(' | '/' | ',')).next().unwrap_or(line);
    if word.is_empty() {
        // A stop standing alone (" . "), as transcripts write it, ends; "p. ej." was torn by its own stop.
        return line.ends_with(char::is_whitespace) || line.ends_with(',') || !short_stop(line);
    }
    if word.len() <= 3 && word.chars().all(|c| c.is_ascii_digit()) {
        // "1. Sertralina": the number of a list item.
        return !line.trim_start().eq(word);
    }
    let upper_next = rest.trim_start().starts_with(char::is_uppercase);
    let folded = fold(word);
    if word.chars().count() == 1 && word.chars().all(char::is_uppercase) && upper_next {
        return false;
    }
    let known = ABBREVIATIONS.contains(&folded.as_str());
    !known || (upper_next && ends_sentence_too(&folded))
}

/// "p.ej." and "U.S.": the piece before the last stop is one or two letters.
fn short_stop(line: &str) -> bool {
    let trimmed = line.trim_end_matches('.');
    let last = trimmed.rsplit(|c: char| c == '.' || c.is_whitespace()).next().unwrap_or(trimmed);
    last.chars().count() <= 2
}

/// Abbreviations that also close sentences, when a capital follows: units and "etc.", never titles.
fn ends_sentence_too(folded: &str) -> bool {
    const TITLES: &[&str] = &[
        "dr", "dra", "dres", "sr", "sra", "srta", "prof", "lic", "ing", "mr", "mrs", "ms", "st", "d", "dna", "ud", "vs",
    ];
    !TITLES.contains(&folded)
}

/// The width at which a text was wrapped, in characters; `None` where each line is a line by will, as in most notes. A
/// wrapped text has lines of nearly one length wherever its next line is not blank.
fn page_width(text: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let full = |pair: &[&str]| (!pair[0].is_empty() && !pair[1].is_empty()).then(|| pair[0].chars().count());
    let followed: Vec<usize> = lines.windows(2).filter_map(full).collect();
    let width = *followed.iter().max()?;
    let filled = followed.iter().filter(|length| **length + RAGGED >= width).count();
    (followed.len() >= 3 && PAGE_WIDTHS.contains(&width) && filled * 10 >= followed.len() * 7).then_some(width)
}

/// Whether a line feed ends the sentence: always before a blank line, a bullet or a header, and after a line that
/// is closed; not where a line was only wrapped at the width of the `page`, or goes on with a small letter.
fn line_ends(line: &str, rest: &str, layout: Layout) -> bool {
    let next = rest.split('\n').next().unwrap_or(rest);
    let next = next.trim();
    let line = line.trim();
    if line.is_empty() || next.is_empty() || starts_item(next) || is_header(next) || is_heading(line) {
        return true;
    }
    if line.ends_with(['.', '!', '?', ';', ':', '…']) || is_row(line) || is_row(next) {
        return true;
    }
    match layout.page {
        Some(width) if line.chars().count() + RAGGED >= width => false,
        _ => layout.unpunctuated && !goes_on(line) || !next.starts_with(char::is_lowercase),
    }
}

/// What the lines of a text mean.
#[derive(Clone, Copy)]
struct Layout {
    /// See [`page_width`].
    page: Option<usize>,
    /// Nothing but its line feeds parts what it says.
    unpunctuated: bool,
}

/// Whether a text has no stops, as messages have none, or next to no stops and commas, as dictations: fewer than one in
/// [`UNPUNCTUATED`] words.
fn is_unpunctuated(text: &str) -> bool {
    let ends = |signs: &[char]| text.split_whitespace().filter(|word| word.ends_with(signs)).count();
    let words = text.split_whitespace().count();
    ends(&['.', ';', ':', '!', '?']) == 0 || ends(&['.', ',', ';', ':', '!', '?']) * UNPUNCTUATED < words
}

/// Whether a line ends with a word that asks for another: "denies any abuse by her".
fn goes_on(line: &str) -> bool {
    line.ends_with([',', '(', '/', '-', '+', '&'])
        || line.rsplit(char::is_whitespace).next().is_some_and(|word| GOES_ON.contains(&fold(word).as_str()))
}

fn starts_item(line: &str) -> bool {
    let mut chars = line.chars();
    match chars.next() {
        Some('-' | '*' | '•' | '·' | '–' | '—' | '►' | '>' | '#' | '+') => true,
        Some(c) if c.is_ascii_digit() => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            rest.starts_with([')', '.']) && rest[1..].starts_with(' ')
        }
        _ => false,
    }
}

/// A row of a form or a table: it holds boxes, cells or columns.
fn is_row(line: &str) -> bool {
    const BOXES: [&str; 12] = ["[ ]", "[x]", "[X]", "( )", "(x)", "(X)", "☐", "☑", "☒", "__", " | ", "   "];
    BOXES.iter().any(|sign| line.contains(sign))
}

/// "Alergias: no", "PAST MEDICAL HISTORY: …": up to four words and a colon, beginning with a capital.
fn is_header(line: &str) -> bool {
    let head = &line[..line.floor_char_boundary(60.min(line.len()))];
    let Some(colon) = head.find(':') else { return false };
    head.starts_with(char::is_uppercase) && head[..colon].split_whitespace().count() <= 5
}

/// "ANTECEDENTES", "**Plan**", "## Plan": a line that is a heading whatever stands below it.
fn is_heading(line: &str) -> bool {
    let marked = line.starts_with('#') || (line.starts_with("**") && line.ends_with("**"));
    let capitals = line.chars().any(char::is_alphabetic) && !line.chars().any(char::is_lowercase);
    marked || (capitals && line.split_whitespace().count() <= 5)
}

/// Trims a span and cuts it where it is too long.
fn push(text: &str, span: Span, out: &mut Vec<Span>) {
    let raw = span.slice(text);
    let leading = raw.len() - raw.trim_start().len();
    let trimmed = raw.trim();
    if trimmed.is_empty() {
        return;
    }
    let (mut start, end) = (span.start + leading, span.start + leading + trimmed.len());
    while end - start > MAX_SENTENCE_BYTES {
        let cut = start + cut_of(&text[start..text.floor_char_boundary(start + MAX_SENTENCE_BYTES)]);
        let piece = text[start..cut].trim_end();
        if !piece.is_empty() {
            out.push(Span::new(start, start + piece.len()));
        }
        start = cut + (text[cut..end].len() - text[cut..end].trim_start().len());
    }
    if start < end {
        out.push(Span::new(start, end));
    }
}

/// Where to cut a stretch that is too long: after a comma in its second half, else at white space, else hard.
fn cut_of(stretch: &str) -> usize {
    let half = stretch.len() / 2;
    let after = |at: usize, sign: &str| at + sign.chars().next().map_or(1, char::len_utf8);
    let clause = stretch.rfind([';', ',']).filter(|at| *at > half).map(|at| at + 1);
    clause
        .or_else(|| stretch.rfind(char::is_whitespace).filter(|at| *at > 0).map(|at| after(at, &stretch[at..])))
        .unwrap_or(stretch.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Language, Speaker};

    fn split_of(text: &str) -> Vec<&str> {
        sentences_of(text).into_iter().map(|span| span.slice(text)).collect()
    }

    #[test]
    fn abbreviations_and_numbers_end_nothing() {
        assert_eq!(
            split_of("Acude con la Dra. Ruiz. Toma 2.5 mg. cada noche, p.ej. hoy. Mejor."),
            ["Acude con la Dra. Ruiz.", "Toma 2.5 mg. cada noche, p.ej. hoy.", "Mejor."]
        );
        assert_eq!(
            split_of("Dr. Smith, i.e. her doctor, agrees. No pain."),
            ["Dr. Smith, i.e. her doctor, agrees.", "No pain."]
        );
    }

    #[test]
    fn transcripts_with_loose_stops_are_split() {
        assert_eq!(split_of("hi . good to see you . yes ?"), ["hi .", "good to see you .", "yes ?"]);
        assert_eq!(split_of("¿Duerme? ¡No! Nada..."), ["¿Duerme?", "¡No!", "Nada..."]);
    }

    #[test]
    fn lines_of_a_text_without_punctuation_are_sentences() {
        let said = "seen at home with his daughter he is eating and sleeping and he walks to the village every morning\n\
            he never had a stroke that was his father\n\
            medications apixaban five milligrams twice daily and bisoprolol two point five in the morning with breakfast\n\
            plan see him in a month";
        assert_eq!(split_of(said), said.lines().collect::<Vec<_>>());
        let one_stop = said.replace("father", "father, who died of it. that was long ago");
        assert!(split_of(&one_stop).len() < 4, "a text with stops goes on over its lines");
    }

    #[test]
    fn lines_of_a_message_without_punctuation_are_sentences_unless_they_go_on() {
        for (said, lines) in [
            ("my aunt never came to see me\nmy uncle used to hit me", 2),
            ("no quiero ver a nadie\nmi ex me sigue a todas partes", 2),
            ("denies any abuse by her\nhusband", 1),
            ("no me fio de mi\nhermano", 1),
            ("sleeping badly, no appetite\nlow mood since may", 2),
            ("she sleeps badly. no appetite and a\nlow mood since may", 2),
        ] {
            assert_eq!(split_of(said).len(), lines, "{said}");
        }
    }

    #[test]
    fn headers_bullets_and_blank_lines_stand_alone() {
        let note = "Alergias: no\nMedicación: sertralina 50 mg\n- ansiedad\n- insomnio\n\nEvolución buena";
        assert_eq!(
            split_of(note),
            ["Alergias: no", "Medicación: sertralina 50 mg", "- ansiedad", "- insomnio", "Evolución buena"]
        );
        assert_eq!(split_of("1. Sertralina\n2. Litio"), ["1. Sertralina", "2. Litio"]);
    }

    #[test]
    fn a_wrapped_line_goes_on() {
        let note = "The patient denies any history of seizures or loss of\nconsciousness and feels well.";
        assert_eq!(split_of(note).len(), 1);
    }

    #[test]
    fn the_lines_of_a_note_stand_alone_and_those_of_a_wrapped_page_go_on() {
        let note = "STARTED clopidogrel 75 mg od and atorvastatin 80 mg at night\nCHANGED candesartan 16 mg to 8 mg\nSTOPPED ibuprofen";
        assert_eq!(split_of(note).len(), 3);
        let page = "She has been seen in this clinic since the spring of last year, and her\nHbA1c has fallen from nine to seven point two per cent in that time. The\nDuke criteria were not met when she was admitted in the autumn, although\nStaphylococcus grew once.";
        assert_eq!(split_of(page).len(), 2, "{:?}", split_of(page));
    }

    #[test]
    fn no_sentence_crosses_a_turn() {
        let document = Document::dialogue(
            [(Speaker::Clinician, "any allergies", None), (Speaker::Patient, "no", None)],
            Language::English,
        );
        let parts: Vec<&str> = sentences(&document).into_iter().map(|s| s.slice(&document.text)).collect();
        assert_eq!(parts, ["any allergies", "no"]);
    }

    #[test]
    fn text_without_punctuation_is_bounded() {
        let text = "y entonces me dijo ".repeat(11_000);
        let parts = sentences_of(&text);
        assert!(parts.len() > 150);
        assert!(parts.iter().all(|span| span.len() <= MAX_SENTENCE_BYTES));
        assert_eq!(sentences_of(&"p.".repeat(300_000)).len(), 500);
        assert!(sentences_of(&"ñ".repeat(100_000)).iter().all(|span| span.len() <= MAX_SENTENCE_BYTES));
    }

    proptest! {
        #[test]
        fn every_visible_character_is_in_exactly_one_sentence(text in "([a-zA-ZñÁ0-9 .,;:?!\n\"()-]|\\PC){0,200}") {
            let mut covered = vec![0u8; text.len()];
            let mut last = 0;
            for span in sentences_of(&text) {
                prop_assert!(text.get(span.start..span.end).is_some());
                prop_assert!(span.start >= last && !span.is_empty());
                last = span.end;
                covered[span.start..span.end].iter_mut().for_each(|n| *n += 1);
            }
            for (at, c) in text.char_indices() {
                prop_assert!(c.is_whitespace() || covered[at] == 1);
            }
        }
    }
}
