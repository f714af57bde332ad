//! Words: folding of given values, common words that are also names, and the cues that tell the two apart.

use std::sync::LazyLock;

use super::super::document::DocumentContext;
use super::super::normalized::NormalizedText;
use super::super::token::TextTokenKind;
use super::super::word_tables::WordSet;
use anamnesis_text::Span;

/// Everyday and clinical words that are also names or places; the head of the file says who may change it.
const COMMON: &str = include_str!("../data/common.txt");

static COMMON_WORDS: LazyLock<WordSet> =
    LazyLock::new(|| COMMON.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect());

/// Lower case without accents.
pub(crate) fn fold(text: &str) -> String {
    NormalizedText::new(text).lower
}

/// The words of a value, folded.
pub(crate) fn folded_words(text: &str) -> Vec<String> {
    fold(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A word of everyday or clinical speech that may also be a name or a place.
pub(crate) fn is_common(lower: &str) -> bool {
    COMMON_WORDS.contains(lower)
}

/// Two-letter abbreviations of clinical texts: never read as initials.
pub(crate) fn is_abbreviation(lower: &str) -> bool {
    const KNOWN: &[&str] = &[
        "ta", "fc", "fr", "rx", "tc", "rm", "ap", "am", "pm", "ac", "pa", "pc", "dx", "tx", "hb", "bp", "hr", "rr",
        "ct", "mr", "er", "iv", "im", "sc", "vo", "po", "mi", "eg", "ef", "ca", "mg", "ml", "kg", "cm", "mm", "ii",
        "vi", "xi", "si", "no", "ok", "tv", "eu", "us", "uk", "ee", "uu", "la", "el", "me", "ha", "he", "it", "is",
        "in", "on", "as", "at", "be", "or", "an", "my", "mc", "sr", "dr", "ph", "id", "cp", "hc", "mv", "ms", "st",
        "md",
    ];
    KNOWN.contains(&lower)
}

/// True where neither side continues the word.
pub(crate) fn is_whole_word(text: &str, span: Span) -> bool {
    let bytes = text.as_bytes();
    let joins = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    !(span.start > 0 && joins(span.start - 1)) && !joins(span.end)
}

/// A capitalised common word at a position where any word is capitalised, with neighbours that make it a common word:
/// "Dolores de cabeza", "May be", "Esperanza de vida".
pub(crate) fn reads_as_common(context: &DocumentContext<'_>, at: usize) -> bool {
    let next = context.tokens.get(at + 1).map(|token| context.lower(token)).unwrap_or_default();
    let word = context.lower(&context.tokens[at]);
    match word {
        "dolores" => {
            matches!(next, "de" | "en" | "musculares" | "abdominales" | "articulares" | "intensos" | "fuertes")
        }
        "esperanza" => matches!(next, "de"),
        "may" => matches!(next, "be" | "have" | "need" | "i" | "cause" | "also" | "not") || is_number(context, at + 1),
        "will" | "mark" | "bill" | "grant" | "pat" | "rob" | "sue" | "hope" | "grace" | "faith" | "joy" => {
            matches!(next, "i" | "you" | "the" | "be" | "a" | "to" | "that" | "this" | "it" | "we" | "he" | "she")
        }
        _ => false,
    }
}

fn is_number(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| token.kind == TextTokenKind::Number)
}

/// Words next to a name that make it a name even in lower case.
pub(crate) fn cue_of_a_name(context: &DocumentContext<'_>, at: usize) -> bool {
    // Subset of the titles, cues and relations that make even a lower-case word a name.
    const BEFORE: &[&str] = &[
        "senora", "senor", "sra", "sr", "dona", "don", "doctora", "doctor", "dra", "dr", "soy", "llamo", "llama",
        "llamada", "llamado", "hermana", "hermano", "hija", "hijo", "madre", "padre", "mujer", "esposa", "esposo",
        "marido", "tia", "tio", "abuela", "abuelo", "prima", "primo", "amiga", "amigo", "novia", "novio", "pareja",
        "vecina", "suegra", "sobrina", "nieta", "cunada", "mama", "sister", "brother", "daughter", "son", "mother",
        "wife", "husband", "aunt", "uncle", "friend", "partner", "named", "called", "mrs", "miss", "ms", "nurse",
        "hola", "hi", "hello", "dear", "querida",
    ];
    const AFTER: &[&str] = &[
        "dice", "dijo", "vino", "llamo", "llama", "quiere", "me", "se", "esta", "estaba", "viene", "vive", "says",
        "said", "called", "told", "came", "lives", "and", "asked", "thinks", "wants", "was", "is",
    ];
    let word = |index: Option<usize>| index.and_then(|i| context.tokens.get(i)).map(|token| context.lower(token));
    let before = word(at.checked_sub(1)).unwrap_or_default();
    let dotted = before == "." && word(at.checked_sub(2)).is_some_and(|title| BEFORE.contains(&title));
    let after = word(Some(at + 1)).unwrap_or_default();
    // A verb after the word is weaker, so it counts only where letter case gives no evidence.
    BEFORE.contains(&before) || dotted || (context.no_case() && AFTER.contains(&after) && before != "de")
}

static EVERYDAY_NAMES: LazyLock<WordSet> = LazyLock::new(|| {
    include_str!("../data/nicknames.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect()
});

/// A first name that many people have (it has nicknames) and that is no everyday word.
pub(crate) fn is_everyday_name(lower: &str) -> bool {
    EVERYDAY_NAMES.contains(lower)
}

pub(crate) fn everyday_names() -> impl Iterator<Item = &'static str> {
    EVERYDAY_NAMES.iter().copied()
}

pub(crate) fn common_words() -> impl Iterator<Item = &'static str> {
    COMMON_WORDS.iter().copied()
}

/// Whether only a line feed or the end of a sentence precedes.
pub(crate) fn begins_sentence(context: &DocumentContext<'_>, at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| {
        let token = &context.tokens[before];
        token.kind == TextTokenKind::Break || matches!(context.plain(token), "." | "!" | "?")
    })
}

/// Whether a word is on the same line as the one before it and very close to it.
pub(crate) fn near(context: &DocumentContext<'_>, at: usize) -> bool {
    let gap = &context.view.plain[context.tokens[at - 1].span.end..context.tokens[at].span.start];
    gap.len() <= 2 && !gap.contains('\n')
}
