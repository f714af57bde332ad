//! The input of every recogniser: the folded text, its tokens, the language, and spans that must not be touched.

use std::cell::OnceCell;
use std::sync::LazyLock;

use regex::Regex;

use super::form_fields::OpenFormField;
use super::normalized::NormalizedText;
use super::token::{LetterCase, TextToken, TextTokenKind, tokens};
use super::{label, policy::RedactionPolicy};
use anamnesis_text::{Document, Language, NumberWord, Span, number_words};

/// One document, made ready once for all recognisers.
pub struct DocumentContext<'a> {
    pub view: NormalizedText,
    pub tokens: Vec<TextToken>,
    pub(crate) language: Language,
    pub(crate) policy: &'a RedactionPolicy,
    /// Replacements of an earlier run and the line feeds between turns, sorted.
    pub(crate) boundaries: Vec<Span>,
    /// Replacements alone.
    pub(crate) replaced: Vec<Span>,
    /// The text has words next to its numbers. A bare value has no surroundings: only its form and check digit count.
    pub(crate) prose: bool,
    /// The field that is open at the beginning: a part of a text may begin within one.
    pub(crate) open_field: OpenFormField,
    no_case: OnceCell<bool>,
    spoken_numbers: OnceCell<Vec<NumberWord>>,
}

/// How a text is read as a whole. Two texts that are read in one manner are read alike wherever they are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextProfile {
    language: Language,
    no_case: bool,
    prose: bool,
}

impl<'a> DocumentContext<'a> {
    pub fn new(document: &Document, policy: &'a RedactionPolicy) -> Self {
        Self::with_replacements(document, policy, &[])
    }

    /// The context of a text with known replacements, whatever they look like: places of the document, in order.
    pub(crate) fn with_replacements(document: &Document, policy: &'a RedactionPolicy, known: &[Span]) -> Self {
        let mut view = NormalizedText::new(&document.text);
        let mut boundaries = replaced(&view.plain);
        // The digits depend on the patient's key. If they were read, the same sentence would be redacted differently
        // for the next patient: "[PERSON_F1A2] 6 years" is no house number, "[PERSON_4712] 6 years" may be.
        boundaries
            .iter()
            .filter_map(|boundary| digits(&view.plain, *boundary))
            .collect::<Vec<_>>()
            .iter()
            .for_each(|d| view.mask(*d, DIGITS));
        let tokens = tokens(&view.plain);
        if !known.is_empty() {
            let place = |span: &Span| Span::new(view.from_source(span.start), view.from_source(span.end));
            boundaries = merged_spans(boundaries, known.iter().map(place));
        }
        let replaced = boundaries.clone();
        for pair in document.turns.windows(2) {
            let (from, to) = (view.from_source(pair[0].span.end), view.from_source(pair[1].span.start));
            boundaries.push(Span::new(from, to.max(from)));
        }
        boundaries.sort();
        let prose = is_prose(&tokens, &boundaries);
        let language = document.language.or_detect(&document.text);
        let open_field = OpenFormField::default();
        let (no_case, spoken_numbers) = (OnceCell::new(), OnceCell::new());
        Self { tokens, language, policy, boundaries, replaced, no_case, prose, view, open_field, spoken_numbers }
    }

    /// How the text is read as a whole.
    pub(crate) fn profile(&self) -> TextProfile {
        TextProfile { language: self.language, no_case: self.no_case(), prose: self.prose }
    }

    /// A stretch of the text between white space, read in the manner of the whole.
    pub(crate) fn part(&self, span: Span, open_field: OpenFormField) -> Self {
        let tokens = self.tokens[self.token_at(span.start)..self.token_at(span.end)].iter();
        let inside = |boundaries: &[Span]| -> Vec<Span> {
            let first = boundaries.partition_point(|boundary| boundary.end <= span.start);
            let within = boundaries[first..].iter().take_while(|boundary| boundary.start < span.end);
            within
                .map(|boundary| {
                    Span::new(boundary.start.max(span.start), boundary.end.min(span.end)).back_by(span.start)
                })
                .collect()
        };
        Self {
            view: self.view.part(span),
            tokens: tokens.map(|token| TextToken { span: token.span.back_by(span.start), ..*token }).collect(),
            boundaries: inside(&self.boundaries),
            replaced: inside(&self.replaced),
            open_field,
            no_case: OnceCell::from(self.no_case()),
            spoken_numbers: OnceCell::new(),
            ..*self
        }
    }

    /// The text has (almost) no capitals, so letter case is no evidence. Computed at the first call.
    pub(crate) fn no_case(&self) -> bool {
        *self.no_case.get_or_init(|| lacks_case(&self.view.plain, &self.tokens))
    }

    /// The text has no capitals, or the line around a token has hardly any inside of it: one of two who write to each other types so.
    pub(crate) fn is_lowercase_at(&self, at: usize) -> bool {
        const AROUND: usize = 40;
        const LEAST: usize = 3;
        const SELDOM: usize = 8;
        if self.no_case() {
            return true;
        }
        let free = |token: &&TextToken| token.kind != TextTokenKind::Break;
        let before = self.tokens[..at].iter().rev().take(AROUND).take_while(free).count();
        let after = self.tokens[at + 1..].iter().take(AROUND).take_while(free).count();
        let line = &self.tokens[at - before..at + 1 + after];
        let own = self.tokens[at].span;
        let words = || line.iter().filter(|token| token.is_word() && token.span != own);
        let large = line.windows(2).filter(|pair| {
            let inside = !matches!(pair[0].span.slice(&self.view.plain), "." | "?" | "!" | ":" | "-" | "\"" | "]");
            inside && pair[1].is_word() && pair[1].is_capitalized() && pair[1].span.len() > 1 && pair[1].span != own
        });
        let small = words().filter(|token| token.case == LetterCase::Lower).count();
        small >= LEAST && large.count() * SELDOM <= small
    }

    /// Number words of the text. Computed at the first call.
    pub(crate) fn spoken_numbers(&self) -> &[NumberWord] {
        self.spoken_numbers.get_or_init(|| number_words(&self.view.lower, self.language))
    }

    /// The folded, lower-case word under a token.
    pub fn lower(&self, token: &TextToken) -> &str {
        token.span.slice(&self.view.lower)
    }

    /// The folded word of a token, with its case.
    pub(crate) fn plain(&self, token: &TextToken) -> &str {
        token.span.slice(&self.view.plain)
    }

    /// Index of the first token that starts at or after a place of the view.
    pub(crate) fn token_at(&self, place: usize) -> usize {
        self.tokens.partition_point(|token| token.span.start < place)
    }

    /// Whether a replacement is within three tokens of a run of tokens.
    pub(crate) fn is_near_replacement(&self, first: usize, end: usize) -> bool {
        const NEAR: usize = 3;
        if self.replaced.is_empty() || first >= end {
            return false;
        }
        let from = self.tokens[first.saturating_sub(NEAR)].span.start;
        let to = self.tokens[(end - 1 + NEAR).min(self.tokens.len() - 1)].span.end;
        let next = self.replaced.partition_point(|boundary| boundary.end <= from);
        self.replaced.get(next).is_some_and(|boundary| boundary.start < to)
    }

    /// Whether only spaces separate two neighbouring tokens.
    pub(crate) fn touches(&self, left: usize, right: usize) -> bool {
        let (Some(a), Some(b)) = (self.tokens.get(left), self.tokens.get(right)) else { return false };
        a.span.end <= b.span.start && self.view.plain[a.span.end..b.span.start].chars().all(|c| c == ' ')
    }
}

/// Boundaries of both lists, those that meet as one.
fn merged_spans(boundaries: Vec<Span>, more: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut all: Vec<Span> = boundaries.into_iter().chain(more).filter(|boundary| !boundary.is_empty()).collect();
    all.sort_unstable();
    let mut merged_spans: Vec<Span> = Vec::with_capacity(all.len());
    for boundary in all {
        match merged_spans.last_mut().filter(|last| boundary.start < last.end) {
            Some(last) => last.end = last.end.max(boundary.end),
            None => merged_spans.push(boundary),
        }
    }
    merged_spans
}

/// Whether a span lies within one of these, which are in order.
fn is_within(boundaries: &[Span], span: Span) -> bool {
    boundaries[boundaries.partition_point(|boundary| boundary.end <= span.start)..]
        .first()
        .is_some_and(|boundary| boundary.contains(&span))
}

/// True but for a text of numbers and codes with at most one word that touches no number. The words of replacements do
/// not count: a second pass must not see more than the first.
fn is_prose(tokens: &[TextToken], boundaries: &[Span]) -> bool {
    let replaced = |span: Span| is_within(boundaries, span);
    let clings = |a: &TextToken, b: &TextToken| {
        a.span.end == b.span.start && (a.kind == TextTokenKind::Number || b.kind == TextTokenKind::Number)
    };
    let free = |at: usize| {
        let before = at.checked_sub(1).is_some_and(|left| clings(&tokens[left], &tokens[at]));
        !before && !tokens.get(at + 1).is_some_and(|next| clings(&tokens[at], next))
    };
    let words =
        |at: &usize| tokens[*at].is_word() && tokens[*at].span.len() > 1 && free(*at) && !replaced(tokens[*at].span);
    !tokens.iter().any(|token| token.kind == TextTokenKind::Number) || (0..tokens.len()).filter(words).nth(1).is_some()
}

/// True for a text that is written without capitals (speech, chat), or in capitals alone, but for those that begin
/// lines and sentences: fewer than one word in a hundred is capitalised inside a sentence.
fn lacks_case(plain: &str, tokens: &[TextToken]) -> bool {
    let (mut words, mut large) = (0usize, 0usize);
    for pair in tokens.windows(2) {
        let inside = pair[0].kind != TextTokenKind::Break
            && !matches!(pair[0].span.slice(plain), "." | "?" | "!" | ":" | "-" | "\"");
        if pair[1].kind == TextTokenKind::Word && inside && pair[1].span.len() > 1 {
            words += 1;
            large += usize::from(pair[1].is_capitalized());
        }
    }
    large * 100 <= words && !(large == 0 && is_one_written_sentence(plain, tokens, words))
}

/// Most words of a text that may be one sentence.
const SENTENCE: usize = 40;

/// A few words that begin with one capital and end with a full stop. Such a sentence names no person inside, and its
/// first word is capitalised like any first word.
fn is_one_written_sentence(plain: &str, tokens: &[TextToken], words: usize) -> bool {
    let ends = tokens.last().is_some_and(|last| last.span.slice(plain) == ".");
    ends && words < SENTENCE && tokens.first().is_some_and(|first| first.case == LetterCase::Title)
}

static REPLACED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\[([A-Z]{2,}(?:_[A-Z]+)*)(?:_[0-9A-F]{4}|_[0-9]{2,3}(?:-[0-9]{2}|\+)?|~[A-Za-z0-9_-]{38,})?\]|\*(?: ?\*)+",
    )
    .expect("a constant pattern, compiled in every test")
});

/// Replacements of an earlier run: a known label in brackets, with or without four hexadecimal digits, an age
/// class, an area or a sealed value; and the stars of a mask.
fn replaced(plain: &str) -> Vec<Span> {
    REPLACED
        .captures_iter(plain)
        .filter(|found| found.get(1).is_none_or(|name| is_known_label(name.as_str())))
        .filter_map(|found| found.get(0))
        .map(|found| Span::new(found.start(), found.end()))
        .collect()
}

/// As what the digits of every replacement are read: a number and letters, as most of them are.
const DIGITS: &str = "7F3A";

/// The position of the digits of a replacement, which distinguish one value from another.
fn digits(plain: &str, replaced: Span) -> Option<Span> {
    let last = replaced.end.checked_sub(1)?;
    let span = Span::new(last.checked_sub(DIGITS.len())?, last);
    let (before, found) = (plain.get(..span.start)?, plain.get(span.start..span.end)?);
    let tells = before.ends_with('_') && found.bytes().all(|b| b.is_ascii_hexdigit());
    (tells && span.start > replaced.start).then_some(span)
}

fn is_known_label(name: &str) -> bool {
    // "[HOPE_..]" cannot come from a run: four hexadecimal digits may read as letters ("_BEEF"), so both forms count.
    let base = name.rsplit_once('_').filter(|(_, hex)| hex.len() == 4 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    label::ALL.contains(&name) || base.is_some_and(|(stem, _)| label::ALL.contains(&stem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::read;

    fn is_prose_text(text: &str) -> bool {
        read(text, Language::Unknown, |context| context.prose)
    }

    #[test]
    fn a_text_of_values_alone_is_no_prose() {
        for text in ["4471 882", "45871203A", "abc4471 def882", "dni 45871203", "[PERSON_7F3A] [DATE] 4471"] {
            assert!(!is_prose_text(text), "{text}");
        }
        for text in ["vino Ana", "", "tos seca 4 dias", "ana y 4 mas aqui"] {
            assert!(is_prose_text(text), "{text}");
        }
    }

    #[test]
    fn case_says_nothing_in_a_text_that_has_none() {
        let no_case = |text: &str| read(text, Language::Unknown, |context| context.no_case());
        for text in ["hola vino ana con pedro", "Hola. Vino ana con pedro, y no", "hola: Bien y ya"] {
            assert!(no_case(text), "{text}");
        }
        for text in ["Hola, vino Ana con Pedro.", "vino Ana", "Vino con tos.", "TEXTO EN MAYUSCULAS AQUI"] {
            assert!(!no_case(text), "{text}");
        }
    }

    #[test]
    fn a_line_without_capitals_is_lowercase_in_a_text_that_has_them() {
        let text = "Doctora: Vino Ana con Pedro y con Luis\nmi hermano ana no viene hoy a casa";
        read(text, Language::Spanish, |context| {
            let at = |word: &str| context.tokens.iter().position(|token| context.lower(token) == word).unwrap();
            assert!(!context.no_case());
            assert!(context.is_lowercase_at(at("viene")) && !context.is_lowercase_at(at("con")));
        });
    }

    #[test]
    fn replacements_of_an_earlier_pass_are_boundaries() {
        for (text, boundaries) in [
            ("a [PERSON_7F3A] b", vec![(2, 15)]),
            ("a [PERSON] [AGE_40-49] b", vec![(2, 10), (11, 22)]),
            ("a [AGE_90+] b", vec![(2, 11)]),
            ("a [POSTAL_CODE_28] b", vec![(2, 18)]),
            ("a *** * ** b", vec![(2, 10)]),
            ("a [HOPE_7F3A] [x] [PERSON_7] * b", vec![]),
            ("a [ES_DNI_BEEF] b", vec![(2, 15)]),
        ] {
            let found: Vec<_> = replaced(text).iter().map(|span| (span.start, span.end)).collect();
            assert_eq!(found, boundaries, "{text}");
        }
        let token = format!("[PERSON~{}]", "a".repeat(38));
        assert_eq!((replaced(&token).len(), replaced("[PERSON~aaa]").len()), (1, 0));
    }

    #[test]
    fn the_digits_of_a_replacement_are_read_alike_and_its_label_and_class_as_they_are() {
        for (text, plain) in [
            ("a [PERSON_B0B0] b", "a [PERSON_7F3A] b"),
            ("a [PERSON_4712], [PERSON_BEEF]", "a [PERSON_7F3A], [PERSON_7F3A]"),
            ("a [AGE_40-49] [POSTAL_CODE_28] [PERSON] **** b", "a [AGE_40-49] [POSTAL_CODE_28] [PERSON] **** b"),
            ("a [HOPE_7F3A] b", "a [HOPE_7F3A] b"),
        ] {
            read(text, Language::Unknown, |context| {
                assert_eq!(context.view.plain, plain);
                assert_eq!(context.view.lower, plain.to_lowercase());
            });
        }
    }

    #[test]
    fn the_same_text_is_read_alike_whatever_the_digits_of_its_replacements() {
        let text = "ayer hable con X y me dijo que vaya despues fui donde rosa quispe en lima y vino pedro ".repeat(6);
        let reading = |replaced: &str| {
            read(&text.replace('X', replaced), Language::Spanish, |context| {
                let small: Vec<bool> = (0..context.tokens.len()).map(|at| context.is_lowercase_at(at)).collect();
                (context.no_case(), context.prose, small)
            })
        };
        assert_eq!(reading("[PERSON_4712]"), reading("[PERSON_BEEF]"));
        assert_eq!(reading("[PERSON_4712]"), reading("[PERSON_7F3A]"));
    }

    #[test]
    fn walls_that_meet_are_one_and_empty_ones_none() {
        let span = Span::new;
        let all = merged_spans(vec![span(5, 8), span(0, 2)], [span(7, 9), span(3, 3), span(9, 10)].into_iter());
        assert_eq!(all, [span(0, 2), span(5, 9), span(9, 10)]);
    }

    #[test]
    fn tokens_near_a_replacement_are_known_in_a_part_too() {
        read("uno dos tres cuatro cinco [PERSON] seis siete ocho nueve", Language::Spanish, |context| {
            let near: Vec<bool> = (0..5).map(|at| context.is_near_replacement(at, at + 1)).collect();
            assert_eq!(near, [false, false, true, true, true]);
            assert!(!context.is_near_replacement(2, 2));
            let from = context.view.plain.find("cuatro").unwrap();
            let part = context.part(Span::new(from, context.view.plain.len()), OpenFormField::default());
            assert_eq!(part.view.plain, "cuatro cinco [PERSON] seis siete ocho nueve");
            assert_eq!(part.plain(&part.tokens[0]), "cuatro");
            assert_eq!(part.replaced[0].slice(&part.view.plain), "[PERSON]");
            assert_eq!(part.profile(), context.profile());
        });
    }

    #[test]
    fn tokens_touch_over_spaces_alone() {
        read("a  b\tc-d", Language::Spanish, |context| {
            assert!(context.touches(0, 1) && !context.touches(1, 2) && context.touches(2, 3));
            assert!(!context.touches(3, 99) && !context.touches(1, 0));
        });
    }

    #[test]
    fn the_line_feed_between_turns_is_a_wall() {
        let turns =
            [(anamnesis_text::Speaker::Patient, "uno", None), (anamnesis_text::Speaker::Clinician, "dos", None)];
        let document = Document::dialogue(turns, Language::Spanish);
        let policy = RedactionPolicy::default();
        let context = DocumentContext::new(&document, &policy);
        assert_eq!((context.boundaries.len(), context.replaced.len()), (1, 0));
        assert_eq!(context.boundaries[0].slice(&context.view.plain), "\n");
    }
}
