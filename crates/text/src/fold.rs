//! Folding: what a reader takes for the same becomes the same (compatibility forms, case, accents, zero-width
//! characters, full-width letters, Cyrillic and Greek look-alikes, typographic quotes and dashes). One pass, linear.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

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

    #[test]
    fn accents_case_and_width_fold() {
        assert_eq!(fold("DEPRESIÓN Mayor"), "depresion mayor");
        assert_eq!(fold("toma ｓｅｒｔｒａｌｉｎａ ya"), "toma sertralina ya");
        assert_eq!(fold("5 ㎎ al día"), "5 mg al dia");
    }

    #[test]
    fn a_hidden_or_disguised_word_is_found() {
        assert_eq!(fold("me quiero ma\u{200b}tar hoy"), "me quiero matar hoy");
        assert_eq!(fold("реniсillin"), "penicillin");
        assert_eq!(fold("decompuesto: depresio\u{301}n."), "decompuesto: depresion.");
        assert_eq!(fold("don’t"), "don't");
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "[a-zA-ZáéíóúñÑüçßа-я0-9 .,;-]{0,60}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }
    }
}
