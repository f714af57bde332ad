//! How an episode ended, by the words of its text: whether it supports what it was to show, or speaks against it (seed
//! 001, section 10). Words are folded and matched whole; "didn't" is read as "did not".

use super::wording::{FoldedWord, denies, plain_words, starts_with};

#[rustfmt::skip]
const AGAINST: &[&[&str]] = &[
    &["failed"], &["failure"], &["backfired"], &["in", "vain"], &["worse"], &["worsened"], &["useless"], &["relapsed"],
    &["without", "success"], &["gave", "up"], &["made", "no", "difference"], &["did", "nothing"], &["no", "use"],
    &["no", "effect"], &["no", "help"],
    &["fracaso"], &["fallo"], &["empeoro"], &["peor"], &["inutil"], &["recayo"], &["en", "vano"], &["sin", "exito"],
    &["sin", "efecto"], &["abandono"], &["no", "noto", "nada"], &["no", "hizo", "nada"],
];
#[rustfmt::skip]
const FOR: &[&[&str]] = &[
    &["helped"], &["worked"], &["succeeded"], &["success"], &["better"], &["improved"], &["relief"], &["calmer"], &["calmed"],
    &["managed"],
    &["ayudo"], &["ayudado"], &["funciono"], &["funcionado"], &["sirvio"], &["servido"], &["exito"], &["mejor"], &["mejoro"],
    &["mejorado"], &["alivio"], &["aliviado"], &["calmo"], &["calmado"], &["logro"], &["logrado"], &["consiguio"],
    &["conseguido"], &["pudo"], &["podido"],
];
/// Words of other meanings too ("missed work", "pidió ayuda"): denied, they say that something did not work.
#[rustfmt::skip]
const FOR_DENIED: &[&[&str]] = &[
    &["help"], &["helps"], &["work"], &["works"], &["improve"], &["calm"], &["manage"], &["ayuda"], &["funciona"], &["sirve"],
];
const JOINS: &[&str] = &["and", "but", "or", "then", "y", "e", "pero", "o", "luego"];
/// How many words before a cue its denial may come: "no le ha ayudado", "did not really help".
const DENIED_WITHIN: usize = 3;

/// Whether an episode reports something that did not work. The last statement counts: "it failed at first and helped in
/// the end" supports it. Words that say neither support it, as every episode does that a person names as evidence.
pub fn speaks_against(text: &str) -> bool {
    let words = plain_words(text);
    let mut against = false;
    let mut at = 0;
    while at < words.len() {
        let longest =
            |of: &[&[&str]]| of.iter().filter(|cue| starts_with(&words[at..], cue)).map(|cue| cue.len()).max();
        let denied = is_denied(&words[..at]);
        let (fails, works) = (longest(AGAINST), longest(FOR).or_else(|| longest(FOR_DENIED).filter(|_| denied)));
        let Some(length) = fails.max(works) else {
            at += 1;
            continue;
        };
        // "Never worse" and "no better": the denial turns it. Some cues hold their own denial.
        against = (fails == Some(length)) != denied;
        at += length;
    }
    against
}

fn is_denied(before: &[FoldedWord]) -> bool {
    let near = before.iter().rev().take(DENIED_WITHIN);
    near.take_while(|word| !word.is_sign() && !word.is(JOINS)).any(|word| denies(&word.folded))
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
            "Walking doesn't work for her",
            "The tea made no difference at all",
            "No le ha ayudado la siesta",
            "La música no la calmó",
            "The breathing exercise failed and she missed work",
            "She did not sleep and relapsed",
            "No durmió y empeoró",
            "La respiración falló y pidió ayuda",
        ] {
            assert!(speaks_against(text), "{text}");
        }
        for text in [
            "Laughed at the neighbours' dinner she cooked",
            "It failed at first and helped in the end",
            "La relajación le ayudó antes del examen",
            "Salió a caminar y volvió mejor",
            "Caminó una hora y ya no se queja de nada",
            "She walked daily and has not relapsed",
            "The walk never made it worse",
            "No recayó en todo el mes",
            "",
        ] {
            assert!(!speaks_against(text), "{text}");
        }
    }

    #[test]
    fn every_cue_is_found() {
        for cue in AGAINST {
            assert!(speaks_against(&cue.join(" ")), "{cue:?}");
        }
        for cue in FOR {
            assert!(!speaks_against(&cue.join(" ")), "{cue:?}");
        }
        for cue in FOR.iter().chain(FOR_DENIED) {
            assert!(speaks_against(&format!("did not {}", cue.join(" "))), "{cue:?}");
        }
    }
}
