//! Folding: what a reader takes for the same becomes the same (compatibility forms, case, accents, zero-width
//! characters, full-width letters, Cyrillic and Greek look-alikes, typographic quotes and dashes), and every place of
//! the folded text knows the bytes of the original it came from. One pass, linear.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::Span;

/// A stretch of the folded text and where it came from. Either byte for byte (`verbatim`) or one character for all.
#[derive(Debug, Clone, Copy)]
struct Piece {
    folded: usize,
    source: usize,
    source_end: usize,
    verbatim: bool,
}

/// A folded text that can lead back to its original.
#[derive(Debug, Clone)]
pub struct Folded {
    pub(crate) text: String,
    pieces: Vec<Piece>,
    source_len: usize,
}

impl Folded {
    /// Folds and keeps white space as it is.
    pub(crate) fn new(source: &str) -> Self {
        Self::build(source, false)
    }

    /// Folds and makes one space of every run of white space, line feeds included: the form in which word sequences
    /// of a lexicon are looked up, so that a wrapped line or a double space tears no term.
    pub(crate) fn for_matching(source: &str) -> Self {
        Self::build(source, true)
    }

    fn build(source: &str, collapse: bool) -> Self {
        let mut folding = Folding { text: String::with_capacity(source.len()), pieces: Vec::new(), spaced: false };
        for (at, c) in source.char_indices() {
            let end = at + c.len_utf8();
            if collapse && c.is_whitespace() {
                if !folding.spaced {
                    folding.push(at, end, c == ' ', |text| text.push(' '));
                }
                folding.spaced = true;
                continue;
            }
            if c.is_ascii() {
                folding.push(at, end, true, |text| text.push(c.to_ascii_lowercase()));
            } else if !is_invisible(c) && !is_combining_mark(c) {
                folding.push(at, end, false, |text| fold_char(c, text));
            } else {
                folding.absorb(end);
                continue;
            }
            folding.spaced = false;
        }
        Self { text: folding.text, pieces: folding.pieces, source_len: source.len() }
    }

    /// The bytes of the original behind a span of the folded text. An empty span stays empty.
    pub(crate) fn source_span(&self, span: Span) -> Span {
        let start = self.source_start(span.start);
        if span.is_empty() {
            return Span::new(start, start);
        }
        let last = span.end.min(self.text.len()).saturating_sub(1);
        let end = self.piece(last).map_or(self.source_len, |(piece, next_folded)| {
            // The last byte of a verbatim stretch also owns the marks that were absorbed into it.
            let whole = !piece.verbatim || last + 1 >= next_folded;
            if whole { piece.source_end } else { piece.source + (last + 1 - piece.folded) }
        });
        Span::new(start, end.max(start))
    }

    /// Where a span of the original (on character boundaries) lies in the folded text.
    pub(crate) fn folded_span(&self, source: Span) -> Span {
        let start = self.folded_at(source.start);
        Span::new(start, self.folded_at(source.end).max(start))
    }

    fn folded_at(&self, source: usize) -> usize {
        let slot = self.pieces.partition_point(|piece| piece.source_end <= source);
        match self.pieces.get(slot) {
            None => self.text.len(),
            Some(piece) if piece.verbatim && source > piece.source => {
                let end = self.pieces.get(slot + 1).map_or(self.text.len(), |next| next.folded);
                (piece.folded + source - piece.source).min(end)
            }
            Some(piece) => piece.folded,
        }
    }

    fn source_start(&self, folded: usize) -> usize {
        if folded >= self.text.len() {
            return self.source_len;
        }
        self.piece(folded).map_or(0, |(piece, _)| match piece.verbatim {
            true => piece.source + (folded - piece.folded),
            false => piece.source,
        })
    }

    /// The piece that holds a folded offset, and where the next piece begins.
    fn piece(&self, folded: usize) -> Option<(&Piece, usize)> {
        let slot = self.pieces.partition_point(|piece| piece.folded <= folded).checked_sub(1)?;
        let next = self.pieces.get(slot + 1).map_or(self.text.len(), |piece| piece.folded);
        self.pieces.get(slot).map(|piece| (piece, next))
    }
}

struct Folding {
    text: String,
    pieces: Vec<Piece>,
    /// The last character written stands for white space.
    spaced: bool,
}

impl Folding {
    fn push(&mut self, source: usize, source_end: usize, verbatim: bool, write: impl FnOnce(&mut String)) {
        let folded = self.text.len();
        write(&mut self.text);
        if self.text.len() == folded {
            return self.absorb(source_end);
        }
        match self.pieces.last_mut() {
            Some(last)
                if verbatim
                    && last.verbatim
                    && last.source_end == source
                    && source - last.source == folded - last.folded =>
            {
                last.source_end = source_end;
            }
            _ => self.pieces.push(Piece { folded, source, source_end, verbatim }),
        }
    }

    /// A character that leaves nothing belongs to the character before it.
    fn absorb(&mut self, source_end: usize) {
        if let Some(last) = self.pieces.last_mut() {
            last.source_end = source_end;
        }
    }
}

/// Folds a short string (a lexicon entry, a query word) where no way back is needed.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Folds onto the end of a string: no allocation of its own.
pub fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        out[start..].make_ascii_lowercase();
        return;
    }
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else if !is_invisible(c) && !is_combining_mark(c) {
            fold_char(c, out);
        }
    }
}

fn fold_char(c: char, out: &mut String) {
    decompose_compatible(c, |part| {
        if is_combining_mark(part) || is_invisible(part) {
            return;
        }
        if part.is_ascii() {
            out.push(part.to_ascii_lowercase());
            return;
        }
        for lower in part.to_lowercase() {
            match look_alike(lower) {
                Some(plain) => out.push_str(plain),
                None if is_combining_mark(lower) => {}
                None => out.push(lower),
            }
        }
    });
}

/// Characters that print nothing and only hide a word from a search.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Lower-case letters of other scripts and typographic signs that are read as plain ones.
fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        'а' | 'α' | 'ɑ' => "a",
        'в' | 'β' | 'Ь' => "b",
        'с' | 'ϲ' => "c",
        'ԁ' => "d",
        'е' | 'ε' | 'є' => "e",
        'ɡ' => "g",
        'н' | 'һ' => "h",
        'і' | 'ι' | 'ı' => "i",
        'ј' => "j",
        'к' | 'κ' => "k",
        'ӏ' | 'ł' => "l",
        'м' => "m",
        'η' => "n",
        'о' | 'ο' | 'σ' | 'ø' => "o",
        'р' | 'ρ' => "p",
        'ԛ' => "q",
        'ѕ' => "s",
        'т' | 'τ' => "t",
        'υ' | 'μ' | 'ս' => "u",
        'ν' | 'ѵ' => "v",
        'ω' | 'ԝ' => "w",
        'х' | 'χ' => "x",
        'у' | 'γ' => "y",
        'ζ' => "z",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'đ' | 'ð' => "d",
        '‘' | '’' | '‛' | '′' | 'ʼ' => "'",
        '“' | '”' | '„' | '«' | '»' | '″' => "\"",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => "-",
        '⁄' | '∕' => "/",
        '×' => "x",
        '。' => ".",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn back<'a>(source: &'a str, needle: &str) -> &'a str {
        let folded = Folded::new(source);
        let at = folded.text.find(needle).expect("the needle is in the folded text");
        folded.source_span(Span::new(at, at + needle.len())).of(source)
    }

    #[test]
    fn accents_case_and_width_fold_and_lead_back() {
        assert_eq!(fold("DEPRESIÓN Mayor"), "depresion mayor");
        assert_eq!(back("Tiene DEPRESIÓN mayor", "depresion"), "DEPRESIÓN");
        assert_eq!(back("toma ｓｅｒｔｒａｌｉｎａ ya", "sertralina"), "ｓｅｒｔｒａｌｉｎａ");
        assert_eq!(back("5 ㎎ al día", "mg"), "㎎");
    }

    #[test]
    fn a_hidden_or_disguised_word_is_found() {
        assert_eq!(back("me quiero ma\u{200b}tar hoy", "matar"), "ma\u{200b}tar");
        assert_eq!(back("реniсillin", "penicillin"), "реniсillin");
        assert_eq!(back("decompuesto: depresio\u{301}n.", "depresion"), "depresio\u{301}n");
        assert_eq!(fold("don’t"), "don't");
    }

    #[test]
    fn white_space_collapses_only_for_matching() {
        let source = "dolor \n  de  cabeza";
        let folded = Folded::for_matching(source);
        assert_eq!(folded.text, "dolor de cabeza");
        assert_eq!(folded.source_span(Span::new(0, 15)).of(source), source);
        assert_eq!(folded.source_span(Span::new(9, 15)).of(source), "cabeza");
        assert_eq!(Folded::new(source).text, source);
    }

    proptest! {
        #[test]
        fn every_folded_span_leads_to_a_literal_place(text in "(\\PC|[áéñÑß\u{301}\u{200b}  \n]){0,60}", collapse: bool) {
            let folded = if collapse { Folded::for_matching(&text) } else { Folded::new(&text) };
            let mut bounds: Vec<usize> = folded.text.char_indices().map(|(at, _)| at).collect();
            bounds.push(folded.text.len());
            for pair in bounds.windows(2) {
                let span = folded.source_span(Span::new(pair[0], pair[1]));
                prop_assert!(text.get(span.start..span.end).is_some());
                prop_assert!(!span.is_empty());
            }
            prop_assert!(folded.source_span(Span::new(0, folded.text.len())).end <= text.len());
        }

        #[test]
        fn folding_twice_changes_nothing(text in "[a-zA-ZáéíóúñÑüçßа-я0-9 .,;-]{0,60}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn a_source_place_survives_the_round_trip(text in "[a-zA-ZáéíóúñÑ ]{1,40}") {
            let folded = Folded::new(&text);
            for (at, c) in text.char_indices() {
                let span = Span::new(at, at + c.len_utf8());
                prop_assert_eq!(folded.source_span(folded.folded_span(span)), span);
            }
        }
    }
}
