//! How words are written in chats: "kiero", "qiero", "noooo". Only words in no list are respelled, and only to look
//! them up again: the text stays as it was written. Clinical words are recognised with one letter wrong.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::lexicon::CLINICAL;

/// Words in use that are one letter away from a clinical one.
const PLAIN: &[&str] = &[
    "addition",
    "adduction",
    "abduction",
    "seduction",
    "intention",
    "intension",
    "liability",
    "anesthesia",
    "hemitorax",
    "derivacion",
    "paulatina",
    "aduccion",
    "abduccion",
    "sudacion",
    "sociedad",
    "sobrepaso",
    "especial",
    "deplecion",
    "fibrosos",
    "fibrosas",
    "surgicel",
    "mediacion",
    "friedrich",
    "tuberculosos",
    "abolicion",
    "aumentando",
    "avanzando",
    "alterando",
];

/// A word as a dictionary would write it; `None` where nothing would change.
pub(crate) fn respelled(folded: &str) -> Option<String> {
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

/// Shortest word that is looked up with one letter wrong: shorter ones are too often other words.
const SHORTEST: usize = 8;

/// Words of clinical names by their remainder without one letter: two words that share such a remainder differ by one
/// typing error.
static SLIPS: LazyLock<HashMap<u64, Vec<&'static str>>> = LazyLock::new(|| {
    let mut slips: HashMap<u64, Vec<&'static str>> = HashMap::new();
    let words: BTreeSet<&'static str> = CLINICAL.iter().flat_map(|file| whole_words(file)).collect();
    for word in words {
        for remainder in remainders(word) {
            slips.entry(remainder).or_default().push(word);
        }
    }
    slips
});

/// The clinical word that was meant where one letter is missing, added, wrong or exchanged ("miscarrige", "diabetis",
/// "anxeity"). The first letter must be right; where two words are possible, none is taken.
pub(crate) fn meant(folded: &str) -> Option<&'static str> {
    if folded.len() < SHORTEST || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) || PLAIN.contains(&folded) {
        return None;
    }
    let mut meant: Vec<&'static str> = remainders(folded)
        .filter_map(|remainder| SLIPS.get(&remainder))
        .flatten()
        .copied()
        .filter(|word| word.as_bytes()[0] == folded.as_bytes()[0] && is_slip(folded.as_bytes(), word.as_bytes()))
        .collect();
    meant.sort_unstable();
    meant.dedup();
    match meant[..] {
        [word] => Some(word),
        _ => None,
    }
}

/// Words of the lists that are whole, outside their choices.
fn whole_words(file: &'static str) -> impl Iterator<Item = &'static str> {
    let rows = file.lines().filter(|line| !line.starts_with(['#']) && !line.starts_with("none"));
    let parts = rows.flat_map(|line| line.split('\t').skip(1));
    let words = parts.flat_map(|part| part.split([' ', '|', ',', '\t']));
    // Forms of verbs and plurals have too many neighbours that are words themselves.
    let form =
        |word: &&str| ["ing", "ed", "ly", "s"].iter().any(|ending| word.ends_with(ending)) && !word.ends_with("osis");
    let plain = words.filter(|word| word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    plain.filter(move |word| !form(word) || ["itis", "betes"].iter().any(|ending| word.ends_with(ending)))
}

fn remainders(word: &str) -> impl Iterator<Item = u64> + '_ {
    let whole = std::iter::once(hash(word.bytes()));
    let shorter =
        (0..word.len()).map(|out| hash(word.bytes().enumerate().filter(move |(at, _)| *at != out).map(|(_, b)| b)));
    whole.chain(shorter)
}

fn hash(letters: impl Iterator<Item = u8>) -> u64 {
    letters.fold(0xcbf2_9ce4_8422_2325, |hash, letter| (hash ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3))
}

/// One letter missing or added, two letters exchanged, or a letter for one that sounds alike; not at the end, where
/// another form of the word would differ.
fn is_slip(one: &[u8], other: &[u8]) -> bool {
    let shared = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[shared..], &other[shared..]);
    let inner = one.len().min(other.len()) >= 2;
    match (one.len().checked_sub(other.len()), other.len().checked_sub(one.len())) {
        (Some(0), _) if inner => {
            let exchanged = one[0] == other[1] && one[1] == other[0] && one[2..] == other[2..];
            exchanged || (sounds_alike(one[0], other[0]) && one[1..] == other[1..])
        }
        (Some(1), _) => inner && one[1..] == *other,
        (_, Some(1)) => inner && *one == other[1..],
        _ => false,
    }
}

fn sounds_alike(one: u8, other: u8) -> bool {
    let vowels = b"aeiouy".contains(&one) && b"aeiouy".contains(&other);
    let kin = |group: &[u8]| group.contains(&one) && group.contains(&other);
    vowels || kin(b"bv") || kin(b"scz") || kin(b"ckq") || kin(b"gj") || kin(b"mn")
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
    fn clinical_words_are_known_with_one_letter_amiss() {
        for (written, word) in [
            ("miscarrige", "miscarriage"),
            ("depresssion", "depression"),
            ("hipertencion", "hipertension"),
            ("esquisofrenia", "esquizofrenia"),
            ("schizophrenai", "schizophrenia"),
            ("diabetis", "diabetes"),
        ] {
            assert_eq!(meant(written), Some(word), "{written}");
        }
        for word in ["addition", "spelling", "smelling", "clothing", "resection", "attitude", "completed", "females"] {
            assert_eq!(meant(word), None, "{word}");
        }
    }

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
