//! How words are written in chats: "kiero", "qiero", "noooo". Only words that no list holds are respelled, and only to
//! look them up again: the text stays as it was written.

/// A word as a dictionary would write it; `None` where nothing would change.
pub fn respelled(folded: &str) -> Option<String> {
    if let "xq" | "pq" | "xk" | "porq" | "xke" | "pork" = folded {
        return Some("porque".to_owned());
    }
    if folded.len() < 3 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let once = shortened(folded);
    let plain = hard_c(&once);
    (plain != folded).then_some(plain)
}

/// Letters drawn out for stress ("muchooo") are written once; Spanish and English double a letter, never treble it.
fn shortened(word: &str) -> String {
    let letters = word.as_bytes();
    let drawn = |at: usize| at >= 2 && letters[at] == letters[at - 1] && letters[at] == letters[at - 2];
    let in_run = |at: usize| {
        drawn(at) || (at >= 1 && at + 1 < letters.len() && drawn(at + 1)) || (at + 2 < letters.len() && drawn(at + 2))
    };
    let first = |at: usize| at == 0 || letters[at] != letters[at - 1];
    (0..letters.len()).filter(|at| !in_run(*at) || first(*at)).map(|at| char::from(letters[at])).collect()
}

/// k for the sound of c and qu, and q without its u: "kiero", "kosas", "qiero".
fn hard_c(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        match (letter, next) {
            ('k' | 'q', Some('e' | 'i')) => out.push_str("qu"),
            ('k', Some('a' | 'o' | 'u' | 'r' | 'l')) => out.push('c'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_spelling_is_read_as_a_dictionary_would_write_it() {
        for (written, plain) in [
            ("kiero", "quiero"),
            ("qiero", "quiero"),
            ("kosas", "cosas"),
            ("noooo", "no"),
            ("muerooo", "muero"),
            ("xq", "porque"),
        ] {
            assert_eq!(respelled(written).as_deref(), Some(plain));
        }
        for word in ["quiero", "tell", "no", "kg5"] {
            assert_eq!(respelled(word), None);
        }
    }
}
