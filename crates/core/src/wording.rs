//! The words of a text for the rules: folded, whole, with contractions undone. Shared by all rules on free text.

use anamnesis_text::{Span, TokenKind, fold, tokens};

/// One word or sign of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedWord {
    /// Without case and accents.
    pub folded: String,
    pub(crate) span: Span,
    pub(crate) kind: TokenKind,
    /// Starts with a capital letter and does not open the text.
    pub(crate) named: bool,
}

impl FoldedWord {
    pub(crate) fn is(&self, any_of: &[&str]) -> bool {
        any_of.contains(&self.folded.as_str())
    }

    pub(crate) fn is_sign(&self) -> bool {
        self.kind == TokenKind::Punctuation
    }
}

/// Sequences that hold a word of the rules and do not mean it: "sin embargo" denies nothing, "more or less" compares
/// nothing.
const IDIOMS: &[&[&str]] = &[
    &["no", "obstante"],
    &["sin", "embargo"],
    &["sin", "duda"],
    &["no", "doubt"],
    &["no", "matter"],
    &["not", "only"],
    &["no", "solo"],
    &["never", "mind"],
    &["never", "the", "less"],
    &["none", "the", "less"],
    &["nada", "mas"],
    &["al", "menos"],
    &["por", "lo", "menos"],
    &["mas", "o", "menos"],
    &["more", "or", "less"],
    &["a", "menos", "que"],
    &["echar", "de", "menos"],
    &["echa", "de", "menos"],
    &["echo", "de", "menos"],
    &["once", "more"],
    &["siempre", "que"],
    &["siempre", "y", "cuando"],
    &["a", "lo", "mejor"],
    &["mejor", "dicho"],
];

/// The words and signs of a text without its idioms.
pub fn plain_words(text: &str) -> Vec<FoldedWord> {
    let words = words(text);
    let mut out = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        match IDIOMS.iter().find(|idiom| starts_with(&words[at..], idiom)) {
            Some(idiom) => at += idiom.len(),
            None => {
                out.push(words[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// Whether the words begin with these, folded.
pub(crate) fn starts_with(words: &[FoldedWord], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && words.iter().zip(phrase).all(|(word, wanted)| word.folded == *wanted)
}

/// The words and signs of a text. "don't" is two words (do, not), "mother's" is one (mother), "dolor/fiebre" three.
pub(crate) fn words(text: &str) -> Vec<FoldedWord> {
    let mut out: Vec<FoldedWord> = Vec::new();
    for token in tokens(text) {
        let raw = token.span.slice(text);
        let named = !out.is_empty() && raw.starts_with(char::is_uppercase);
        let mut push = |folded: &str| {
            out.push(FoldedWord { folded: folded.to_owned(), span: token.span, kind: token.kind, named });
        };
        let folded = fold(raw);
        match folded.as_str() {
            "cannot" | "can't" | "cant" => ["can", "not"].map(push),
            "won't" | "wont" => ["will", "not"].map(push),
            "dont" => ["do", "not"].map(push),
            "doesnt" => ["does", "not"].map(push),
            "isnt" => ["is", "not"].map(push),
            other => match other.strip_suffix("n't") {
                Some(verb) if token.kind == TokenKind::Word => [verb, "not"].map(push),
                _ => {
                    push(uncontracted(other));
                    continue;
                }
            },
        };
    }
    out
}

/// Drops what English glues to a word with an apostrophe ('s, 'm, 've, 'll, 'd, 're).
fn uncontracted(word: &str) -> &str {
    let glued = ["'s", "'m", "'ve", "'ll", "'d", "'re"];
    glued.iter().find_map(|end| word.strip_suffix(end)).unwrap_or_else(|| word.trim_end_matches('\''))
}

/// Folded words of relatives and companions in both languages, each with one name for all its spellings.
const PEOPLE: &[(&str, &[&str])] = &[
    ("mother", &["mother", "mom", "mum", "mommy", "mummy", "madre", "mama", "mami"]),
    ("father", &["father", "dad", "daddy", "padre", "papa", "papi"]),
    ("parents", &["parents", "padres"]),
    ("sister", &["sister", "sisters", "hermana", "hermanas"]),
    ("brother", &["brother", "brothers", "hermano", "hermanos"]),
    ("son", &["son", "sons", "hijo", "hijos"]),
    ("daughter", &["daughter", "daughters", "hija", "hijas"]),
    ("child", &["child", "children", "kid", "kids"]),
    ("wife", &["wife", "esposa"]),
    ("husband", &["husband", "esposo", "marido"]),
    ("partner", &["partner", "pareja", "spouse", "conyuge"]),
    ("grandmother", &["grandmother", "grandma", "abuela"]),
    ("grandfather", &["grandfather", "grandpa", "abuelo"]),
    ("grandparents", &["grandparents", "abuelos"]),
    ("uncle", &["uncle", "uncles", "tio", "tios"]),
    ("aunt", &["aunt", "aunts", "tia", "tias"]),
    ("cousin", &["cousin", "cousins", "primo", "prima", "primos", "primas"]),
    ("nephew", &["nephew", "nephews", "sobrino", "sobrinos"]),
    ("niece", &["niece", "nieces", "sobrina", "sobrinas"]),
    ("boyfriend", &["boyfriend", "novio"]),
    ("girlfriend", &["girlfriend", "novia"]),
    ("friend", &["friend", "friends", "amigo", "amiga", "amigos", "amigas"]),
    ("neighbour", &["neighbour", "neighbor", "vecino", "vecina"]),
    ("family", &["family", "familial", "relative", "relatives", "familia", "familiar", "familiares"]),
];

/// The one name of a relative or companion, where the folded word is one.
pub fn person(folded: &str) -> Option<&'static str> {
    PEOPLE.iter().find(|(_, spellings)| spellings.contains(&folded)).map(|(name, _)| *name)
}

/// Words that deny the word next to them, folded.
const DENIALS: &[&str] = &[
    "no", "not", "never", "nor", "neither", "none", "nothing", "without", "denies", "denied", "deny", "denying",
    "nunca", "jamas", "sin", "ni", "tampoco", "ningun", "ninguna", "ninguno", "nada", "niega", "niego", "nego",
    "negaba", "niegan", "negando", "non", "nil",
];

/// Words by which a denial covers all time up to then, before the denied words …
const EVER: &[&str] = &[
    "never",
    "ever",
    "nunca",
    "jamas",
    "previous",
    "previously",
    "prior",
    "history",
    "hx",
    "previo",
    "previos",
    "previa",
    "previas",
    "antecedente",
    "antecedentes",
    "alguna",
];
/// … and after it.
const EVER_AFTER: &[&str] =
    &["never", "ever", "nunca", "jamas", "life", "vida", "previo", "previos", "previa", "previas"];
/// How many words before a mention they may come: "ever having been diagnosed with".
const EVER_BEFORE: usize = 5;
/// … and after it: "yo litio no he tomado en mi vida".
const EVER_BEHIND: usize = 6;

/// Whether a denial covers all time up to then: "has never smoked", "history of seizures: none". `before` and `after`
/// are the words of its sentence around the denied words, `mention` the denied words ("never smoked").
#[must_use]
pub fn denies_for_all_time(before: &str, mention: &str, after: &str) -> bool {
    let before = words(before);
    let mut near = before.iter().rev().take_while(|word| !parts_items(word)).take(EVER_BEFORE);
    let after = words(after);
    let mut follows = after.iter().take_while(|word| !parts_items(word)).take(EVER_BEHIND);
    near.any(|word| word.is(EVER))
        || words(mention).iter().any(|word| word.is(&["never", "nunca", "jamas"]))
        || follows.any(|word| word.is(EVER_AFTER))
}

/// Where the next item of a list of denials begins: "no fever, vomiting or previous surgery".
fn parts_items(word: &FoldedWord) -> bool {
    word.is(&["or", "and", "ni", "y", "o", "nor", "but", "pero"])
        || (word.is_sign() && matches!(word.folded.as_str(), "." | ";" | "!" | ","))
}

/// Whether the folded word denies. Whole words only: "nevertheless" holds no "never".
pub fn denies(folded: &str) -> bool {
    DENIALS.contains(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.folded).collect()
    }

    #[test]
    fn contractions_come_apart_and_possessives_lose_their_sign() {
        assert_eq!(folded("I don’t, she can't"), ["i", "do", "not", ",", "she", "can", "not"]);
        assert_eq!(folded("my mother's pills"), ["my", "mother", "pills"]);
        assert_eq!(folded("I'm Él"), ["i", "el"]);
    }

    #[test]
    fn a_word_that_holds_another_is_not_that_word() {
        assert!(!folded("Nevertheless, nonetheless, notable, sinceramente").iter().any(|word| denies(word)));
        assert!(folded("Niega fiebre").iter().any(|word| denies(word)));
    }

    #[test]
    fn idioms_deny_and_compare_nothing() {
        let rest: Vec<_> = plain_words("Sin embargo, come más o menos bien; no obstante duerme").into_iter().collect();
        let rest: Vec<_> = rest.iter().map(|word| word.folded.as_str()).collect();
        assert_eq!(rest, [",", "come", "bien", ";", "duerme"]);
    }

    #[test]
    fn relatives_have_one_name_in_both_languages() {
        assert_eq!(person("mama"), Some("mother"));
        assert_eq!(person("mum"), person("madre"));
        assert_eq!(person("patient"), None);
    }
}
