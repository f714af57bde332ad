//! Words that announce a name, and words that never are one.

use std::sync::LazyLock;

use super::super::context::Context;
use super::super::fast::WordSet;
use super::super::token::Case;
use super::{deeds, lexicon, spoken_of};

pub(crate) use super::cue_lists::{CUES, FUNCTION, MEETINGS, OPENERS, PARTICLES, RELATIONS, ROLES, TITLES};

/// Second words of what announces a name in two: no other word is looked at with the one before it.
static SECOND: LazyLock<WordSet> = LazyLock::new(|| {
    CUES.iter().chain(MEETINGS.iter()).filter_map(|cue| cue.split_once(' ')).map(|(_, second)| second).collect()
});

/// Letters of an abbreviation that stands for an illness behind a relative.
const LONGEST_ABBREVIATION: usize = 4;

/// Why a run may be a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    None,
    /// Greeting, relation: the first word must look like a name.
    Weak,
    /// "Mi hermana": what follows may be a name no list knows.
    Relation,
    /// Title, "me llamo": what follows is a name.
    Strong,
}

/// What stands before a word.
pub(crate) fn trigger(context: &Context<'_>, at: usize) -> Trigger {
    let Some(mut before) = at.checked_sub(1) else { return Trigger::None };
    if spoken_of::is_greeted(context, at) || spoken_of::is_aged(context, at) || spoken_of::is_spoken_of(context, at) {
        return Trigger::Relation;
    }
    // "Prof.ª Egea": a raised letter belongs to the title before it.
    let raised = before > 1
        && matches!(context.plain(&context.tokens[before]), "a" | "o" | "ª" | "º")
        && context.plain(&context.tokens[before - 1]) == "."
        && context.tokens[before].span.start == context.tokens[before - 1].span.end;
    before -= usize::from(raised);
    let mut dotted = false;
    while matches!(context.plain(&context.tokens[before]), "." | "," | ":" | ";" | "(" | "\"") && !dotted {
        dotted = true;
        let Some(next) = before.checked_sub(1) else { return Trigger::None };
        before = next;
    }
    let sign = match (raised, dotted) {
        (true, _) => ".",
        (false, true) => context.plain(&context.tokens[at - 1]),
        (false, false) => "",
    };
    let word = context.lower(&context.tokens[before]);
    if spoken_of::is_posted(context, at, before, sign) {
        return Trigger::Relation;
    }
    let large = context.tokens[before].is_large();
    let short = matches!(word, "d" | "tia" | "tio" | "padre" | "enf");
    // "Hx: MS. Meds: …": large letters before a name that has small ones are a disease.
    let disease = word == "ms" && context.tokens[before].case == Case::Upper && context.tokens[at].case != Case::Upper;
    // "Padre HTA. Tía DM2.": a relative and what they have, no priest and no name.
    let illness = matches!(word, "tia" | "tio" | "padre")
        && context.tokens[at].case == Case::Upper
        && context.tokens[at].span.len() <= LONGEST_ABBREVIATION;
    // "Seen by the nurse. Denies pain.": only a title that is itself cut short has a full stop before its name.
    let joins = sign.is_empty() || sign == "." && ABBREVIATED.contains(&word) && !opens_a_sentence(context, at);
    if TITLES.contains(word)
        && joins
        && !disease
        && !illness
        && (!short || (large && word != "d") || (word == "d" && sign == "." && large))
    {
        return Trigger::Strong;
    }
    if matches!(sign, "." | ";") && !matches!(word, "fdo" | "atte") {
        return Trigger::None;
    }
    let first = before.checked_sub(1).filter(|_| SECOND.contains(word));
    let two = first.map(|first| format!("{} {word}", context.lower(&context.tokens[first])));
    let cue = CUES.contains(word) || two.as_deref().is_some_and(|two| CUES.contains(two));
    let named = two.as_deref().is_some_and(|two| matches!(two, "name is" | "nombre es"));
    if cue && (named || !is_weak_cue(word)) && sign != "," {
        return Trigger::Strong;
    }
    if RELATIONS.contains(word) && matches!(sign, "" | "," | ":" | "(") {
        let set_off = sign == "," && is_set_off(context, at);
        return if matches!(sign, "" | "(") || set_off { Trigger::Relation } else { Trigger::Weak };
    }
    if sign.is_empty() && (MEETINGS.contains(word) || two.as_deref().is_some_and(|two| MEETINGS.contains(two))) {
        return Trigger::Relation;
    }
    if ROLES.contains(word) && matches!(sign, "(" | ":") {
        return Trigger::Relation;
    }
    if cue {
        return Trigger::Weak;
    }
    Trigger::None
}

/// Titles that are written with a full stop and do not end a sentence by it.
const ABBREVIATED: &[&str] = &[
    "dr", "dra", "dres", "dras", "sr", "sra", "srta", "sres", "d", "dna", "lic", "ing", "prof", "enf", "mr", "mrs",
    "ms", "mx", "psic", "rev", "sgt",
];

/// "Seen by Dr. Denies pain": what somebody does, in the language of notes, begins a sentence even behind a title.
fn opens_a_sentence(context: &Context<'_>, at: usize) -> bool {
    let word = context.lower(&context.tokens[at]);
    (deeds::does(word) || OPENERS.contains(word)) && !lexicon::word(word).given
}

/// "El hijo, Yeray, refiere": one large word between commas.
fn is_set_off(context: &Context<'_>, at: usize) -> bool {
    let next = context.tokens.get(at + 1).map(|token| context.plain(token)).unwrap_or_default();
    context.tokens[at].is_large() && matches!(next, "," | ")") && !context.no_case()
}

/// Function words with a large letter ("Un", "Se", "The") begin no name.
pub(crate) fn is_function(lower: &str) -> bool {
    let contracted = ["'m", "'ll", "'ve", "'d", "'re", "n't", "it's"].iter().any(|ending| lower.ends_with(ending));
    contracted || FUNCTION.contains(lower) && lower.len() < 4 || PARTICLES.contains(lower) || lower.len() < 2
}

fn is_weak_cue(word: &str) -> bool {
    matches!(
        word,
        "soy"
            | "i'm"
            | "am"
            | "im"
            | "habla"
            | "hola"
            | "hi"
            | "hello"
            | "hey"
            | "thanks"
            | "gracias"
            | "paciente"
            | "patient"
            | "called"
            | "llamada"
            | "llamado"
            | "llama"
            | "llaman"
            | "love"
            | "dias"
            | "tardes"
            | "morning"
            | "afternoon"
    ) || word == "is"
}

/// Words that begin the next field of a form or signature.
pub(crate) fn is_field(lower: &str) -> bool {
    matches!(
        lower,
        "correo"
            | "email"
            | "mail"
            | "tel"
            | "telefono"
            | "tfno"
            | "tlf"
            | "fax"
            | "seccion"
            | "servicio"
            | "departamento"
            | "dpto"
            | "direccion"
            | "ncol"
            | "numcol"
            | "unidad"
            | "calle"
            | "avda"
            | "avenida"
            | "ctra"
            | "carretera"
            | "plaza"
            | "paseo"
            | "nhc"
            | "edad"
            | "sexo"
            | "col"
            | "hospital"
            | "jefe"
            | "jefa"
            | "medico"
            | "residente"
            | "adjunto"
            | "adjunta"
            | "especialista"
            | "licenciado"
            | "catedratico"
            | "md"
            | "phd"
            | "facultativo"
            | "clinica"
            | "electronico"
            | "dob"
            | "mrn"
            | "phone"
            | "age"
            | "sex"
            | "date"
            | "address"
    )
}
