//! The text as recognisers read it: compatibility-folded, without accents, zero-width characters or look-alike letters,
//! and with the source position of every byte.
//!
//! [`NormalizedText::plain`] has the case of the source, [`NormalizedText::lower`] has none. Both have the same length,
//! so that one span fits both. Folding makes ASCII word boundaries right for Spanish.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use anamnesis_text::Span;

/// A folded copy of a text and its places in the source.
pub struct NormalizedText {
    pub(crate) plain: String,
    pub(crate) lower: String,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl NormalizedText {
    pub(crate) fn new(text: &str) -> Self {
        let mut view = Self {
            plain: String::with_capacity(text.len()),
            lower: String::with_capacity(text.len()),
            starts: Vec::with_capacity(text.len()),
            ends: Vec::with_capacity(text.len()),
        };
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            // Most text is ASCII, so whole runs are copied at once.
            let plain = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            view.push_ascii(&rest[..plain], at);
            rest = &rest[plain..];
            if let Some(c) = rest.chars().next() {
                view.fold(c, at + plain, at + plain + c.len_utf8());
                rest = &rest[c.len_utf8()..];
            }
        }
        view
    }

    /// Writes other ASCII characters, as many, over a span of such; every place stays where it is.
    pub(crate) fn mask(&mut self, span: Span, by: &str) {
        if span.slice(&self.plain).is_ascii() && by.is_ascii() && by.len() == span.len() {
            self.plain.replace_range(span.start..span.end, by);
            self.lower.replace_range(span.start..span.end, &by.to_ascii_lowercase());
        }
    }

    /// The source span under a span of this view.
    pub(crate) fn source(&self, span: Span) -> Span {
        if span.is_empty() {
            let at = self.starts.get(span.start).or(self.ends.last()).copied().unwrap_or(0) as usize;
            return Span::new(at, at);
        }
        Span::new(self.starts[span.start] as usize, self.ends[span.end - 1] as usize)
    }

    /// The first position of this view at or after a position of the source.
    pub fn from_source(&self, at: usize) -> usize {
        let mut place = self.starts.partition_point(|&start| (start as usize) < at);
        while !self.plain.is_char_boundary(place) {
            place += 1;
        }
        place
    }

    /// A stretch of this view as a view: it leads back to the same source.
    pub(crate) fn part(&self, span: Span) -> Self {
        Self {
            plain: span.slice(&self.plain).to_owned(),
            lower: span.slice(&self.lower).to_owned(),
            starts: self.starts[span.start..span.end].to_vec(),
            ends: self.ends[span.start..span.end].to_vec(),
        }
    }

    fn push_ascii(&mut self, run: &str, at: usize) {
        let from = self.lower.len();
        self.plain.push_str(run);
        self.lower.push_str(run);
        self.lower[from..].make_ascii_lowercase();
        let (start, end) = (at as u32, (at + run.len()) as u32);
        self.starts.extend(start..end);
        self.ends.extend(start + 1..end + 1);
    }

    fn push(&mut self, c: char, start: usize, end: usize) {
        self.plain.push(c);
        let mut small = c.to_lowercase();
        let lower = match (small.next(), small.next()) {
            // Both copies must have equal lengths, so a letter whose lower case has another length stays.
            (Some(l), None) if l.len_utf8() == c.len_utf8() => l,
            _ => c,
        };
        self.lower.push(lower);
        for _ in 0..c.len_utf8() {
            self.starts.push(start as u32);
            self.ends.push(end as u32);
        }
    }

    fn fold(&mut self, c: char, start: usize, end: usize) {
        if let Some(plain) = spanish(c) {
            self.plain.push(plain as char);
            self.lower.push(plain.to_ascii_lowercase() as char);
            self.starts.push(start as u32);
            self.ends.push(end as u32);
            return;
        }
        if is_invisible(c) {
            return;
        }
        if is_combining_mark(c) {
            self.extend_last(end);
            return;
        }
        if let Some(plain) = look_alike(c) {
            plain.chars().for_each(|p| self.push(p, start, end));
            return;
        }
        for part in std::iter::once(c).nfkd().filter(|part| !is_combining_mark(*part)) {
            match look_alike(part) {
                Some(plain) => plain.chars().for_each(|p| self.push(p, start, end)),
                None => self.push(part, start, end),
            }
        }
    }

    /// A combining mark belongs to the letter before it.
    fn extend_last(&mut self, end: usize) {
        let Some(&last) = self.ends.last() else { return };
        for place in self.ends.iter_mut().rev().take_while(|place| **place == last) {
            *place = end as u32;
        }
    }
}

/// Accented Spanish letters without their mark: a shortcut for the most frequent foldings.
fn spanish(c: char) -> Option<u8> {
    Some(match c {
        'á' => b'a',
        'é' => b'e',
        'í' => b'i',
        'ó' => b'o',
        'ú' | 'ü' => b'u',
        'ñ' => b'n',
        'Á' => b'A',
        'É' => b'E',
        'Í' => b'I',
        'Ó' => b'O',
        'Ú' | 'Ü' => b'U',
        'Ñ' => b'N',
        _ => return None,
    })
}

/// Zero-width characters, soft hyphens, direction marks, variation selectors and tags: no one sees them.
fn is_invisible(c: char) -> bool {
    matches!(c as u32,
        0xAD | 0x34F | 0x61C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}

/// Letters and signs that look like, or are written for, ASCII ones. The ordinal signs stay: they end "4º" and "Mª".
fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        'º' => "º",
        'ª' => "ª",
        'ß' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' => "o",
        'Ø' => "O",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'ł' => "l",
        'Ł' => "L",
        'ı' => "i",
        'þ' | 'Þ' => "th",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹣' | '－' => "-",
        '‘' | '’' | '‚' | '‛' | 'ʼ' | '´' | '`' => "'",
        '“' | '”' | '„' | '«' | '»' => "\"",
        '․' | '。' | '｡' => ".",
        '⁄' | '∕' => "/",
        'а' | 'α' => "a",
        'А' | 'Α' => "A",
        'В' | 'Β' => "B",
        'с' | 'ϲ' => "c",
        'С' | 'Ϲ' => "C",
        'е' | 'ε' => "e",
        'Е' | 'Ε' => "E",
        'Н' | 'Η' => "H",
        'і' | 'ι' => "i",
        'І' | 'Ι' => "I",
        'ј' => "j",
        'Ј' => "J",
        'К' | 'Κ' => "K",
        'к' | 'κ' => "k",
        'М' | 'Μ' => "M",
        'Ν' => "N",
        'о' | 'ο' => "o",
        'О' | 'Ο' => "O",
        'р' | 'ρ' => "p",
        'Р' | 'Ρ' => "P",
        'ѕ' => "s",
        'Ѕ' => "S",
        'Т' | 'Τ' => "T",
        'ν' => "v",
        'х' | 'χ' => "x",
        'Х' | 'Χ' => "X",
        'у' | 'γ' => "y",
        'У' | 'Υ' => "Y",
        'Ζ' => "Z",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_keeps_the_way_back_to_the_source() {
        let text = "Íñ\u{200B}igo Pe\u{301}rez ﬁn";
        let view = NormalizedText::new(text);
        assert_eq!(view.plain, "Inigo Perez fin");
        assert_eq!(view.lower, "inigo perez fin");
        assert_eq!(view.source(Span::new(0, 5)).slice(text), "Íñ\u{200B}igo");
        assert_eq!(view.source(Span::new(6, 8)).slice(text), "Pe\u{301}");
        assert_eq!(view.source(Span::new(12, 15)).slice(text), "ﬁn");
    }

    #[test]
    fn full_width_and_look_alike_letters_read_as_what_they_look_like() {
        let view = NormalizedText::new("６１２ ３４５ Ｊuan реdrо");
        assert_eq!(view.lower, "612 345 juan pedro");
        assert_eq!(view.plain.len(), view.lower.len());
    }

    #[test]
    fn ordinal_signs_stay() {
        assert_eq!(NormalizedText::new("4º Mª").plain, "4º Mª");
    }

    #[test]
    fn every_place_of_a_view_leads_back_to_a_character_of_the_source() {
        for text in
            ["ÁÉÍÓÚÜÑ áéíóúüñ", "aß æØ", "½ ™ ﬃ", "e\u{301}\u{302}x", "\u{200B}\u{FEFF}", "Страх", "a\u{AD}b", "日本"]
        {
            let view = NormalizedText::new(text);
            assert_eq!((view.plain.len(), view.plain.len()), (view.lower.len(), view.starts.len()), "{text}");
            for (at, c) in view.plain.char_indices() {
                let source = view.source(Span::new(at, at + c.len_utf8()));
                assert!(text.get(source.start..source.end).is_some_and(|part| !part.is_empty()), "{text}: {at}");
            }
        }
    }

    #[test]
    fn letters_lose_their_marks_and_keep_their_case() {
        for (text, plain) in [
            ("ÁÉÍÓÚÜÑ", "AEIOUUN"),
            ("áéíóúüñ", "aeiouun"),
            ("çÇàÀ", "cCaA"),
            ("straße Łódź", "strasse Lodz"),
            ("“a”–b’c", "\"a\"-b'c"),
            ("a\u{200B}b\u{AD}c", "abc"),
            ("Ａｂ１", "Ab1"),
            ("ΑΒ аВ", "AB aB"),
        ] {
            assert_eq!(NormalizedText::new(text).plain, plain, "{text}");
        }
        assert_eq!(NormalizedText::new("ÀB").lower, "ab");
    }

    #[test]
    fn a_place_of_the_source_is_found_in_the_view_and_a_part_leads_back_as_the_whole_does() {
        let text = "x\u{200B}ñandú y";
        let view = NormalizedText::new(text);
        assert_eq!(view.from_source(text.find('ñ').unwrap()), 1);
        assert_eq!(view.from_source(text.len()), view.plain.len());
        let part = view.part(Span::new(1, 6));
        assert_eq!(part.plain, "nandu");
        assert_eq!(part.source(Span::new(0, 5)).slice(text), "ñandú");
        let end = view.plain.len();
        assert_eq!(view.source(Span::new(end, end)).start, text.len());
        assert_eq!(NormalizedText::new("").source(Span::new(0, 0)), Span::new(0, 0));
    }
}
