//! How an episode ended, by its own words: whether it speaks for what it was to show, or against it (seed 001, section 10).

use super::wording::{Word, plain_words, starts_with};

/// What says that something did not work, folded. Whole words.
const AGAINST: &[&[&str]] = &[
    &["failed"],
    &["failure"],
    &["backfired"],
    &["in", "vain"],
    &["worse"],
    &["worsened"],
    &["useless"],
    &["relapsed"],
    &["did", "not", "help"],
    &["did", "not", "work"],
    &["didn't", "help"],
    &["didn't", "work"],
    &["does", "not", "help"],
    &["doesn't", "help"],
    &["no", "help"],
    &["without", "success"],
    &["no", "effect"],
    &["gave", "up"],
    &["no", "use"],
    &["fracaso"],
    &["fallo"],
    &["empeoro"],
    &["peor"],
    &["inutil"],
    &["recayo"],
    &["en", "vano"],
    &["sin", "exito"],
    &["no", "ayudo"],
    &["no", "le", "ayudo"],
    &["no", "me", "ayudo"],
    &["no", "funciono"],
    &["no", "le", "funciono"],
    &["no", "me", "funciono"],
    &["no", "sirvio"],
    &["no", "le", "sirvio"],
    &["no", "me", "sirvio"],
    &["de", "nada"],
    &["sin", "efecto"],
    &["no", "pudo"],
    &["abandono"],
];
/// What says that it did.
const FOR: &[&[&str]] = &[
    &["helped"],
    &["worked"],
    &["succeeded"],
    &["success"],
    &["better"],
    &["improved"],
    &["relief"],
    &["calmer"],
    &["managed"],
    &["ayudo"],
    &["funciono"],
    &["sirvio"],
    &["exito"],
    &["mejor"],
    &["mejoro"],
    &["alivio"],
    &["logro"],
    &["consiguio"],
    &["pudo"],
];

/// Whether an episode tells of something that did not work. What is said last counts: "it failed at first and helped in the
/// end" speaks for it. Words that say neither speak for it, as every episode does that somebody names as evidence.
pub fn speaks_against(text: &str) -> bool {
    let words = plain_words(text);
    let mut against = false;
    let mut at = 0;
    while at < words.len() {
        let longest =
            |of: &[&[&str]]| of.iter().filter(|cue| starts_with(&words[at..], cue)).map(|cue| cue.len()).max();
        match (longest(AGAINST), longest(FOR)) {
            (Some(length), other) if other.is_none_or(|other| other <= length) => {
                against = true;
                at += length;
            }
            (_, Some(length)) => {
                // "No better": the denial before it turns it.
                against = at.checked_sub(1).is_some_and(|before| denies(&words[before]));
                at += length;
            }
            _ => at += 1,
        }
    }
    against
}

fn denies(word: &Word) -> bool {
    super::wording::denies(&word.folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_that_failed_speaks_against_and_one_that_helped_does_not() {
        for text in [
            "Breathing exercises before the exam failed: she left the room",
            "We tried the light box for two weeks and it did not help",
            "Salió a caminar y volvió peor",
            "Probó la relajación y no le sirvió",
            "At first it helped, then it made things worse",
            "No better after the walk",
        ] {
            assert!(speaks_against(text), "{text}");
        }
        for text in [
            "Laughed at the neighbours' dinner she cooked",
            "It failed at first and helped in the end",
            "La relajación le ayudó antes del examen",
            "Salió a caminar y volvió mejor",
            "",
        ] {
            assert!(!speaks_against(text), "{text}");
        }
    }
}
