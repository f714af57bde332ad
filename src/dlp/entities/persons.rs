//! Names of people: runs of capitalised words that the lists know, and whatever stands behind a title or a cue.

use super::super::context::Context;
use super::super::finding::{Finding, Layer};
use super::super::label;
use super::super::token::{Case, Kind, Token};
use super::{eponyms, lexicon, words};
use crate::text::{Language, Span};

/// Most words of one name, particles included.
const LONGEST: usize = 9;

const TITLES: &[&str] = &[
    "dr",
    "dra",
    "doctor",
    "doctora",
    "sr",
    "sra",
    "srta",
    "senor",
    "senora",
    "senorita",
    "don",
    "dona",
    "d",
    "dna",
    "lic",
    "licenciada",
    "licenciado",
    "ing",
    "prof",
    "profesor",
    "profesora",
    "enf",
    "enfermera",
    "enfermero",
    "mr",
    "mrs",
    "ms",
    "miss",
    "mx",
    "professor",
    "nurse",
    "dres",
    "dras",
    "sres",
    "doctores",
    "padre",
    "fray",
    "sor",
    "tia",
    "tio",
    "psic",
    "psicologa",
    "psicologo",
    "terapeuta",
    "therapist",
    "counselor",
    "physician",
    "captain",
    "officer",
];
/// Words before a name that is said or written as one.
const CUES: &[&str] = &[
    "llamo",
    "llama",
    "llamaba",
    "llamada",
    "llamado",
    "llaman",
    "nombre es",
    "name is",
    "name's",
    "named",
    "called",
    "soy",
    "firmado",
    "fdo",
    "i'm",
    "i am",
    "im",
    "this is",
    "habla",
    "hola",
    "hi",
    "hello",
    "hey",
    "dear",
    "querida",
    "querido",
    "estimada",
    "estimado",
    "atte",
    "regards",
    "sincerely",
    "saludos",
    "thanks",
    "gracias",
    "paciente",
    "patient",
    "apellido",
    "apellidos",
    "remitido por",
    "informado por",
    "signed",
    "con el nombre de",
    "buenos dias",
    "buenas tardes",
    "good morning",
    "good afternoon",
    "love",
];
/// Relations, whose word stays and whose name goes.
const RELATIONS: &[&str] = &[
    "hermana",
    "hermano",
    "hermanas",
    "hermanos",
    "hija",
    "hijo",
    "hijos",
    "hijas",
    "madre",
    "padre",
    "mujer",
    "esposa",
    "esposo",
    "marido",
    "tia",
    "tio",
    "abuela",
    "abuelo",
    "prima",
    "primo",
    "amiga",
    "amigo",
    "novia",
    "novio",
    "pareja",
    "vecina",
    "vecino",
    "suegra",
    "suegro",
    "sobrina",
    "sobrino",
    "nieta",
    "nieto",
    "cunada",
    "cunado",
    "mama",
    "papa",
    "jefe",
    "jefa",
    "companera",
    "companero",
    "exmarido",
    "exmujer",
    "ex",
    "padres",
    "bebe",
    "nina",
    "nino",
    "sister",
    "brother",
    "daughter",
    "son",
    "mother",
    "father",
    "mom",
    "mum",
    "dad",
    "wife",
    "husband",
    "aunt",
    "uncle",
    "friend",
    "partner",
    "girlfriend",
    "boyfriend",
    "cousin",
    "grandmother",
    "grandfather",
    "grandma",
    "grandpa",
    "nephew",
    "niece",
    "boss",
    "neighbor",
    "neighbour",
    "coworker",
    "colleague",
    "fiance",
    "fiancee",
    "roommate",
    "kid",
    "baby",
    "perro",
    "perra",
    "dog",
    "cat",
];
const PARTICLES: &[&str] = &[
    "de", "del", "la", "las", "los", "y", "e", "i", "da", "dos", "das", "do", "di", "du", "van", "von", "der", "den",
    "ten", "el", "al", "bin", "mc", "san",
];
/// Never a part of a name in lower case, whatever lists say.
const FUNCTION: &[&str] = &[
    "que", "con", "en", "no", "my", "mi", "me", "te", "se", "the", "and", "but", "pero", "so", "or", "is", "was", "of",
    "to", "for", "i", "you", "he", "she", "we", "it", "an", "a", "un", "una", "por", "para", "como", "muy", "ya", "si",
    "lo", "le", "este", "esta", "will", "can", "may", "do", "ha", "he", "has", "tiene", "tengo", "vive", "dice",
    "dijo", "and", "who", "been", "had", "have", "mayor", "bueno", "buena", "joven", "vieja", "viejo", "grande",
    "segura", "seguro", "feliz", "soltera", "soltero", "casada", "casado", "alta", "baja", "rubia", "morena",
    "paciente", "hombre", "mujer", "here", "there", "just", "like", "good", "well", "very", "still", "back", "home",
    "work", "day",
];

/// Why a run may be a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trigger {
    None,
    /// Greeting, relation: the first word must look like a name.
    Weak,
    /// "Mi hermana": what follows may be a name no list knows.
    Relation,
    /// Title, "me llamo": what follows is a name.
    Strong,
}

/// Finds names of people.
pub fn find(context: &Context<'_>, found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < context.tokens.len() {
        let trigger = trigger(context, at);
        match run_from(context, at, trigger) {
            Some((last, score)) => {
                let span = Span::new(context.tokens[at].span.start, context.tokens[last].span.end);
                found.push(Finding::new(span, label::PERSON, "name", score, Layer::Entity));
                at = last + 1;
            }
            None => at += 1,
        }
    }
}

/// What stands before a word.
fn trigger(context: &Context<'_>, at: usize) -> Trigger {
    let Some(mut before) = at.checked_sub(1) else { return Trigger::None };
    let mut dotted = false;
    while matches!(context.plain(&context.tokens[before]), "." | "," | ":" | ";" | "(" | "\"") && !dotted {
        dotted = true;
        let Some(next) = before.checked_sub(1) else { return Trigger::None };
        before = next;
    }
    let sign = if dotted { context.plain(&context.tokens[at - 1]) } else { "" };
    let word = context.lower(&context.tokens[before]);
    let large = context.tokens[before].is_large();
    let short = matches!(word, "d" | "tia" | "tio" | "padre" | "enf");
    if TITLES.contains(&word)
        && matches!(sign, "" | ".")
        && (!short || (large && word != "d") || (word == "d" && sign == "." && large))
    {
        return Trigger::Strong;
    }
    if matches!(sign, "." | ";") && !matches!(word, "fdo" | "atte") {
        return Trigger::None;
    }
    let two = before.checked_sub(1).map(|first| format!("{} {word}", context.lower(&context.tokens[first])));
    let cue = CUES.contains(&word) || two.as_deref().is_some_and(|two| CUES.contains(&two));
    let named = two.as_deref().is_some_and(|two| matches!(two, "name is" | "nombre es"));
    if cue && (named || !is_weak_cue(word)) && sign != "," {
        return Trigger::Strong;
    }
    if RELATIONS.contains(&word) && matches!(sign, "" | "," | ":" | "(") {
        return if sign == "" { Trigger::Relation } else { Trigger::Weak };
    }
    if cue {
        return Trigger::Weak;
    }
    Trigger::None
}

/// Function words with a large letter ("Un", "Se", "The") begin no name.
fn is_function(lower: &str) -> bool {
    let contracted = ["'m", "'ll", "'ve", "'d", "'re", "n't", "it's"].iter().any(|ending| lower.ends_with(ending));
    contracted || FUNCTION.contains(&lower) && lower.len() < 4 || PARTICLES.contains(&lower) || lower.len() < 2
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

/// The name that starts at a token: its last token and score.
fn run_from(context: &Context<'_>, at: usize, trigger: Trigger) -> Option<(usize, f64)> {
    let first = &context.tokens[at];
    if first.kind != Kind::Word {
        return None;
    }
    if !first.is_large() {
        return lower_run(context, at, trigger);
    }
    let titled = context.tokens.get(at + 1).is_some_and(|next| next.is_large() || context.plain(next) == ".");
    if TITLES.contains(&context.lower(first)) && titled && trigger == Trigger::None {
        return None;
    }
    let (mut last, mut tally) = (at, Tally { english: context.language == Language::English, ..Tally::default() });
    let mut look = at;
    while look < context.tokens.len() && look < at + LONGEST {
        match step(context, at, look, trigger, &mut tally) {
            Step::Take => last = look,
            Step::Skip => {}
            Step::Stop => break,
        }
        look += 1;
    }
    let score = tally.judge(trigger)?;
    // A lone word in capitals is an abbreviation before it is a name: "ADA", "CEA".
    if last == at && first.case == Case::Upper && trigger == Trigger::None {
        return None;
    }
    let thing = trigger != Trigger::Strong && eponyms::stands_for_a_thing(context, at, last);
    (!thing && !is_heading(context, last)).then_some((last, score))
}

enum Step {
    Take,
    /// Particles and hyphens: part of the name only when something follows.
    Skip,
    Stop,
}

/// What a run is made of.
#[derive(Default)]
struct Tally {
    given: usize,
    surnames: usize,
    /// Names that are also everyday words.
    weak: usize,
    weak_given_first: bool,
    unknown: usize,
    initials: usize,
    /// English texts name things after people with a noun behind the name: a lone surname is a person.
    english: bool,
}

impl Tally {
    fn judge(&self, trigger: Trigger) -> Option<f64> {
        let names = self.given + self.surnames;
        let all = names + self.weak + self.unknown;
        let score = match trigger {
            Trigger::Strong if all > 0 => 0.95,
            Trigger::Weak if names > 0 || self.weak_given_first => 0.85,
            Trigger::Relation if names > 0 || self.weak_given_first || self.unknown > 0 => 0.85,
            _ if self.given > 0 && all > 1 => 0.9,
            _ if self.given > 0 => 0.75,
            _ if self.surnames > 0 && self.english => 0.6,
            _ if self.surnames > 1 || (self.surnames > 0 && (self.initials > 0 || self.weak_given_first)) => 0.75,
            _ => return None,
        };
        Some(score)
    }
}

fn step(context: &Context<'_>, start: usize, at: usize, trigger: Trigger, tally: &mut Tally) -> Step {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if token.kind == Kind::Sign {
        let inside =
            at > start && matches!(lower, "-" | "'" | "ª" | "º") || lower == "." && is_initial(context, at - 1);
        let tight = context.tokens[at - 1].span.end == token.span.start;
        return if inside && tight { Step::Skip } else { Step::Stop };
    }
    if token.kind != Kind::Word || at > start && !near(context, at) {
        return Step::Stop;
    }
    // "M.a José".
    if lower == "a"
        && at >= start + 2
        && is_initial(context, at - 2)
        && context.tokens[at - 1].span.end == token.span.start
    {
        return Step::Skip;
    }
    if !token.is_large() {
        let particle = at > start && PARTICLES.contains(&lower) && large_follows(context, at);
        return if particle { Step::Skip } else { Step::Stop };
    }
    if is_initial(context, at) {
        tally.initials += 1;
        return Step::Take;
    }
    if at > start && PARTICLES.contains(&lower) && large_follows(context, at) {
        return Step::Skip;
    }
    take_word(context, start, at, trigger, tally)
}

fn take_word(context: &Context<'_>, start: usize, at: usize, trigger: Trigger, tally: &mut Tally) -> Step {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    let word = lexicon::word(lower.strip_suffix("'s").unwrap_or(lower));
    if TITLES.contains(&lower) && !word.is_name() || is_field(lower) || is_function(lower) && !word.is_strong() {
        return Step::Stop;
    }
    let shouted = token.case == Case::Upper;
    match (word.is_strong(), word.is_name(), word.common) {
        (true, _, _) if word.given && (at == start || tally.surnames == 0) => tally.given += 1,
        (true, _, _) => tally.surnames += 1,
        (_, true, _) => {
            let stops = tally.given + tally.surnames + tally.weak == 0 && trigger == Trigger::None && !word.given;
            if stops || at > start && (lexicon::is_eponym(lower) && trigger == Trigger::None && tally.given == 0) {
                return Step::Stop;
            }
            tally.weak_given_first |= at == start && word.given;
            tally.weak += 1;
        }
        (_, _, true) => return Step::Stop,
        _ => {
            let welcome = tally.given > 0 || tally.initials > 0 || trigger != Trigger::None;
            let known = tally.given + tally.surnames + tally.weak > 0;
            if !welcome
                || (shouted && !context.tokens[start].is_word())
                || lower.len() < 2
                || (shouted && lower.len() < 4 && known)
            {
                return Step::Stop;
            }
            tally.unknown += 1;
        }
    }
    Step::Take
}

/// Words that begin the next field of a form or signature.
pub fn is_field(lower: &str) -> bool {
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

/// One large letter, with or without its dot.
fn is_initial(context: &Context<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let ordinal = context.view.plain[token.span.end..].starts_with('ª');
    token.kind == Kind::Word && token.is_large() && (token.span.len() == 1 || token.span.len() == 2 && ordinal)
}

/// On the same line and apart by no more than two spaces or a dot.
fn near(context: &Context<'_>, at: usize) -> bool {
    let gap = &context.view.plain[context.tokens[at - 1].span.end..context.tokens[at].span.start];
    gap.len() <= 2 && !gap.contains('\n')
}

fn large_follows(context: &Context<'_>, at: usize) -> bool {
    (at + 1..=at + 2).any(|next| {
        context.tokens.get(next).is_some_and(|token| {
            token.is_large()
                && near(context, next)
                && (next == at + 1 || PARTICLES.contains(&context.lower(&context.tokens[next - 1])))
        })
    })
}

/// "Nombre:" itself is no name.
fn is_heading(context: &Context<'_>, last: usize) -> bool {
    context.tokens.get(last + 1).is_some_and(|token| context.plain(token) == ":")
        && !context.no_case
        && lexicon::word(context.lower(&context.tokens[last])).common
}

/// Names in lower case: behind a cue, or a first name with a surname, or alone in a text without capitals.
fn lower_run(context: &Context<'_>, at: usize, trigger: Trigger) -> Option<(usize, f64)> {
    let first = &context.tokens[at];
    let lower = context.lower(first);
    let word = lexicon::word(lower);
    let starts = match trigger {
        Trigger::Strong => {
            word.is_strong() || word.is_name() && (context.no_case || word.given && !lexicon::is_eponym(lower))
        }
        Trigger::Weak | Trigger::Relation if context.no_case && word.given && words::is_everyday_name(lower) => {
            context.language == Language::English || lexicon::is_eponym(lower) || word.is_strong()
        }
        _ => word.given && word.is_strong(),
    };
    if !starts || !may_be_name(context, first) || !is_no_adjective(lower) {
        return None;
    }
    let last = lower_surnames(context, at, trigger, word.given && word.is_strong());
    let alone = context.no_case && words::is_everyday_name(lower) && first.span.len() > 3;
    let enough = trigger != Trigger::None || last > at || alone;
    (enough && !eponyms::stands_for_a_thing(context, at, last)).then_some((last, 0.7))
}

fn may_be_name(context: &Context<'_>, token: &Token) -> bool {
    let lower = context.lower(token);
    token.is_word()
        && !is_function(lower)
        && !FUNCTION.contains(&lower)
        && lower.len() > 2
        && !PARTICLES.contains(&lower)
}

/// The last of the surnames that follow a first name in lower case. Behind a sure first name an everyday word that is a
/// surname counts too ("sofia rubio"), and behind "me llamo" one word that no list knows.
fn lower_surnames(context: &Context<'_>, at: usize, trigger: Trigger, sure: bool) -> usize {
    let (mut last, mut surnames) = (at, 0);
    for look in at + 1..(at + 6).min(context.tokens.len()) {
        let token = &context.tokens[look];
        let lower = context.lower(token);
        if !near(context, look) {
            break;
        }
        let next = lexicon::word(lower);
        let weak = next.surname && surnames < 2 && (sure || trigger == Trigger::Strong);
        let unknown = trigger != Trigger::None && sure && surnames < 2 && is_unknown_surname(lower, next);
        if may_be_name(context, token) && (next.is_strong() || weak && is_no_adjective(lower) || unknown) {
            last = look;
            surnames += 1;
        } else if !PARTICLES.contains(&lower) || matches!(lower, "y" | "e" | "i" | "el") {
            break;
        }
    }
    last
}

/// Words behind a first name that speak about the person more often than they name one.
fn is_no_adjective(lower: &str) -> bool {
    !matches!(
        lower,
        "solo"
            | "sola"
            | "bien"
            | "mal"
            | "young"
            | "old"
            | "long"
            | "little"
            | "best"
            | "just"
            | "back"
            | "still"
            | "love"
            | "will"
            | "may"
            | "can"
            | "early"
            | "hoy"
            | "mas"
            | "dias"
            | "sales"
            | "means"
            | "held"
            | "read"
            | "heard"
            | "hurt"
            | "said"
            | "say"
            | "says"
            | "seen"
            | "see"
            | "call"
            | "called"
            | "speak"
            | "speaking"
    )
}

/// Long enough, no everyday word, and without the ending of a verb or adverb.
fn is_unknown_surname(lower: &str, word: lexicon::Word) -> bool {
    const ENDINGS: &[&str] = &[
        "ando", "iendo", "ado", "ada", "ido", "ida", "mente", "ar", "er", "ir", "aba", "ia", "ing", "ed", "ly", "amos",
        "emos", "on", "que", "ia", "ion", "dad", "os", "as",
    ];
    lower.len() >= 5 && !word.common && !word.is_name() && !ENDINGS.iter().any(|ending| lower.ends_with(ending))
}
