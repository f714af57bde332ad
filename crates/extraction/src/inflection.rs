//! Verbs in all their forms, so that a list names a verb once: `<me:tirar>` stands for "me tiro", "tirarme", "me iba a
//! tirar" and some sixty more. Forms are folded (no accents), as texts are when they are compared.
//!
//! | macro | stands for |
//! |---|---|
//! | `<es:V>` | every form of a Spanish verb |
//! | `<yo:V>` | what the speaker does: first person, infinitive, gerund |
//! | `<me:V>` | what the speaker does to themselves |
//! | `<se:V>` | what a third person does to themselves |
//! | `<me-did:V>`, `<se-did:V>` | what the speaker, a third person did to themselves: finished tenses only |
//! | `<mi:V>` | what others do to the speaker |
//! | `<lo:V>` | what the speaker does to others |
//! | `<en:V>` | every form of an English verb; `<en:V/past/participle>` where it is irregular, `<en:stab+>` where it doubles |
//!
//! A Spanish verb whose stem changes says how: `colgar(ue)`, `pegar`, `herir(ie)`, `pedir(i)`.

/// Words before an infinitive or gerund, with the pronoun in front: "me {voy a} tirar".
const BEFORE_INFINITIVE: [&str; 14] = [
    "voy a",
    "iba a",
    "vaya a",
    "quiero",
    "queria",
    "quisiera",
    "puedo",
    "podria",
    "pienso",
    "tengo que",
    "vuelvo a",
    "volvi a",
    "deje de",
    "he vuelto a",
];
const BEFORE_INFINITIVE_OF_OTHERS: [&str; 10] =
    ["va a", "iba a", "van a", "quiere", "queria", "puede", "vuelve a", "volvio a", "intento", "suele"];
const BEFORE_GERUND: [&str; 4] = ["estoy", "estaba", "ando", "sigo"];
const BEFORE_GERUND_OF_OTHERS: [&str; 4] = ["esta", "estaba", "anda", "sigue"];
const OBJECTS: [&str; 6] = ["lo", "la", "le", "los", "las", "les"];

/// The forms of a Spanish verb by who acts.
struct SpanishForms {
    infinitive: String,
    gerund: String,
    participle: String,
    first: Vec<String>,
    third: Vec<String>,
    other: Vec<String>,
    /// What the first person did once, and what a third one did.
    did: String,
    they_did: [String; 2],
}

/// What a macro (without its angle brackets) stands for; `None` where it is none.
pub(crate) fn forms(inner: &str) -> Option<Vec<String>> {
    let (kind, verb) = inner.split_once(':')?;
    if kind == "en" {
        return Some(english(verb));
    }
    let verb = spanish(verb)?;
    let mut out = match kind {
        "es" => verb.every(),
        "yo" => verb.own(),
        "me" => verb.reflexive("me", &verb.first, "he", &BEFORE_INFINITIVE, &BEFORE_GERUND),
        "se" => verb.reflexive("se", &verb.third, "ha", &BEFORE_INFINITIVE_OF_OTHERS, &BEFORE_GERUND_OF_OTHERS),
        "me-did" => verb.finished("me", std::slice::from_ref(&verb.did), &["he", "habia"]),
        "se-did" => verb.finished("se", &verb.they_did, &["ha", "habia", "han", "habian"]),
        "mi" => verb.reflexive("me", &verb.third, "ha", &BEFORE_INFINITIVE_OF_OTHERS, &BEFORE_GERUND_OF_OTHERS),
        "lo" => OBJECTS
            .iter()
            .flat_map(|object| verb.reflexive(object, &verb.first, "he", &BEFORE_INFINITIVE, &BEFORE_GERUND))
            .collect(),
        _ => return None,
    };
    out.sort_unstable();
    out.dedup();
    Some(out)
}

impl SpanishForms {
    fn every(&self) -> Vec<String> {
        let fixed = [&self.infinitive, &self.gerund, &self.participle];
        fixed.into_iter().chain(&self.first).chain(&self.third).chain(&self.other).cloned().collect()
    }

    fn own(&self) -> Vec<String> {
        [&self.infinitive, &self.gerund, &self.participle].into_iter().chain(&self.first).cloned().collect()
    }

    /// What is over and done with: no infinitive, which is wished or feared as often as done.
    fn finished(&self, pronoun: &str, finite: &[String], perfect: &[&str]) -> Vec<String> {
        let finite = finite.iter().map(|form| format!("{pronoun} {form}"));
        let perfect = perfect.iter().map(|had| format!("{pronoun} {had} {}", self.participle));
        finite.chain(perfect).collect()
    }

    /// A verb with a pronoun, before it or joined to it.
    fn reflexive(
        &self,
        pronoun: &str,
        finite: &[String],
        perfect: &str,
        modal: &[&str],
        going: &[&str],
    ) -> Vec<String> {
        let joined = [format!("{}{pronoun}", self.infinitive), format!("{}{pronoun}", self.gerund)];
        let finite = finite.iter().map(|form| format!("{pronoun} {form}"));
        let past =
            [perfect, "habia", "han", "hubiera", "haya"].map(|had| format!("{pronoun} {had} {}", self.participle));
        let modal = modal.iter().map(|modal| format!("{pronoun} {modal} {}", self.infinitive));
        let going = going.iter().map(|going| format!("{pronoun} {going} {}", self.gerund));
        joined.into_iter().chain(finite).chain(past).chain(modal).chain(going).collect()
    }
}

/// Stem and endings. Spelling follows sound: "colgar" – "cuelgue", "coger" – "cojo".
fn spanish(verb: &str) -> Option<SpanishForms> {
    let (infinitive, change) = match verb.split_once('(') {
        Some((infinitive, change)) => (infinitive, change.trim_end_matches(')')),
        None => (verb, ""),
    };
    let split = infinitive.len().checked_sub(2)?;
    let (stem, ending) = (infinitive.get(..split)?, infinitive.get(split..)?);
    let first_class = ending == "ar";
    let stressed = changed(stem, change);
    let weak =
        if change.ends_with('i') || (change == "ie" && ending == "ir") { changed(stem, "i") } else { stem.to_owned() };
    // Before e ("pegué") in the first class, before o and a ("cojo", "desaparezco") in the others.
    let soft = |stem: &str| softened(stem, first_class);
    let join = |stem: &str, endings: &[&str]| endings.iter().map(|e| format!("{stem}{e}")).collect::<Vec<_>>();
    let (mut first, mut third, mut other);
    if first_class {
        first = join(&stressed, &["o"]);
        first.extend(join(stem, &["aba", "ara", "ase"]));
        first.extend([format!("{}e", soft(stem)), format!("{}e", soft(&stressed))]);
        third = join(&stressed, &["a", "an"]);
        third.extend(join(stem, &["aba", "aban", "o", "aron", "ara", "aran", "ase", "asen"]));
        third.extend(join(&soft(&stressed), &["e", "en"]));
        other = join(&stressed, &["as"]);
        other.extend(join(stem, &["amos", "abas", "abamos", "aste"]));
        other.extend([format!("{}es", soft(&stressed)), format!("{}emos", soft(stem))]);
    } else {
        first = vec![format!("{}o", soft(&stressed)), format!("{}a", soft(&stressed))];
        first.extend(join(stem, &["ia", "i"]));
        first.extend(join(&weak, &["iera", "iese"]));
        third = join(&stressed, &["e", "en"]);
        third.extend(join(stem, &["ia", "ian"]));
        third.extend(join(&weak, &["io", "ieron", "iera", "ieran", "iese"]));
        third.extend(join(&soft(&stressed), &["a", "an"]));
        other = join(&stressed, &["es"]);
        other.extend(join(stem, &["emos", "imos", "iste", "iamos"]));
    }
    first.extend(["e", "ia"].map(|e| format!("{infinitive}{e}")));
    third.extend(["a", "an", "ia", "ian"].map(|e| format!("{infinitive}{e}")));
    other.extend(["emos", "iamos", "as"].map(|e| format!("{infinitive}{e}")));
    let gerund = if first_class { format!("{stem}ando") } else { format!("{weak}iendo") };
    let participle = if first_class { format!("{stem}ado") } else { format!("{stem}ido") };
    let (did, they_did) = if first_class {
        (format!("{}e", soft(stem)), [format!("{stem}o"), format!("{stem}aron")])
    } else {
        (format!("{stem}i"), [format!("{weak}io"), format!("{weak}ieron")])
    };
    Some(SpanishForms { infinitive: infinitive.to_owned(), gerund, participle, first, third, other, did, they_did })
}

/// The stem where the stress falls on it.
fn changed(stem: &str, change: &str) -> String {
    let (from, to) = match change {
        "ue" => ('o', "ue"),
        "ie" => ('e', "ie"),
        "i" => ('e', "i"),
        _ => return stem.to_owned(),
    };
    match stem.rfind(from) {
        Some(at) => format!("{}{to}{}", &stem[..at], &stem[at + 1..]),
        None => stem.to_owned(),
    }
}

fn softened(stem: &str, first_class: bool) -> String {
    let (from, to) = match (first_class, stem.bytes().last()) {
        (true, Some(b'c')) => ("c", "qu"),
        (true, Some(b'g')) => ("g", "gu"),
        (true, Some(b'z')) => ("z", "c"),
        (false, Some(b'g')) => ("g", "j"),
        (false, Some(b'c')) => ("c", "zc"),
        _ => return stem.to_owned(),
    };
    format!("{}{to}", stem.strip_suffix(from).unwrap_or(stem))
}

fn english(verb: &str) -> Vec<String> {
    let mut given = verb.split('/');
    let base = given.next().unwrap_or_default();
    let (base, doubled) = base.strip_suffix('+').map_or((base, false), |base| (base, true));
    let tail = if doubled { base.get(base.len().saturating_sub(1)..).unwrap_or("") } else { "" };
    let mute = base.strip_suffix('e').filter(|stem| !stem.ends_with(['e', 'o', 'y']));
    let hissing = ["s", "sh", "ch", "x", "z"].iter().any(|end| base.ends_with(end));
    let to_i = base.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    let mut out = vec![base.to_owned(), format!("{}{tail}ing", mute.unwrap_or(base))];
    out.push(match (to_i, hissing) {
        (Some(stem), _) => format!("{stem}ies"),
        (None, true) => format!("{base}es"),
        (None, false) => format!("{base}s"),
    });
    let irregular: Vec<String> = given.map(str::to_owned).collect();
    if irregular.is_empty() {
        out.push(match (to_i, base.strip_suffix('e')) {
            (Some(stem), _) => format!("{stem}ied"),
            (None, Some(stem)) => format!("{stem}ed"),
            (None, None) => format!("{base}{tail}ed"),
        });
    }
    out.extend(irregular);
    out.sort_unstable();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(inner: &str, expected: &[&str]) {
        let forms = forms(inner).unwrap();
        for form in expected {
            assert!(forms.iter().any(|known| known == form), "{inner} lacks {form}: {forms:?}");
        }
    }

    #[test]
    fn spanish_verbs_are_known_in_every_tense_with_their_pronouns() {
        has("me:colgar(ue)", &["me cuelgo", "colgarme", "me colgue", "me cuelgue", "me voy a colgar", "me he colgado"]);
        has("lo:matar", &["lo mato", "matarlo", "la mataria", "les voy a matar", "matandola"]);
        has("mi:pegar", &["me pega", "me pego", "me pegaba", "me pegaron", "me ha pegado", "pegarme"]);
        has("es:herir(ie)", &["hiero", "hirio", "hiera", "hiriendo", "herido"]);
        has("yo:desaparecer", &["desaparezco", "desaparecer", "desapareceria"]);
        has("se:cortar", &["se corta", "cortarse", "se corto", "se ha cortado"]);
    }

    #[test]
    fn what_was_done_to_oneself_is_said_in_finished_tenses_only() {
        assert_eq!(
            forms("me-did:ahorcar").unwrap(),
            ["me ahorque", "me habia ahorcado", "me he ahorcado"],
            "no infinitive, no wish and no habit"
        );
        has("se-did:suicidar", &["se suicido", "se suicidaron", "se ha suicidado", "se habia suicidado"]);
        has("se-did:herir(ie)", &["se hirio", "se hirieron", "se ha herido"]);
        for wished in ["suicidarme", "me voy a suicidar", "me suicidaria", "suicidandome"] {
            assert!(!forms("me-did:suicidar").unwrap().iter().any(|form| form == wished), "{wished}");
        }
    }

    #[test]
    fn english_verbs_follow_their_spelling() {
        assert_eq!(english("kill"), ["kill", "killed", "killing", "kills"]);
        assert_eq!(english("stab+"), ["stab", "stabbed", "stabbing", "stabs"]);
        assert_eq!(english("choke"), ["choke", "choked", "chokes", "choking"]);
        assert_eq!(english("throw/threw/thrown"), ["threw", "throw", "throwing", "thrown", "throws"]);
        assert_eq!(english("punch"), ["punch", "punched", "punches", "punching"]);
        assert_eq!(english("bury"), ["buried", "buries", "bury", "burying"]);
    }

    #[test]
    fn what_is_no_macro_is_left_alone() {
        assert!(forms("nothing").is_none() && forms("xx:matar").is_none());
    }
}
