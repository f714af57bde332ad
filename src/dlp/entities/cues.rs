//! Words that announce a name, and words that never are one.

use super::super::context::Context;

pub const TITLES: &[&str] = &[
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
pub const CUES: &[&str] = &[
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
pub const RELATIONS: &[&str] = &[
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
pub const PARTICLES: &[&str] = &[
    "de", "del", "la", "las", "los", "y", "e", "i", "da", "dos", "das", "do", "di", "du", "van", "von", "der", "den",
    "ten", "el", "al", "bin", "mc", "san",
];
/// Never a part of a name in lower case, whatever lists say.
pub const FUNCTION: &[&str] = &[
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
pub enum Trigger {
    None,
    /// Greeting, relation: the first word must look like a name.
    Weak,
    /// "Mi hermana": what follows may be a name no list knows.
    Relation,
    /// Title, "me llamo": what follows is a name.
    Strong,
}

/// What stands before a word.
pub fn trigger(context: &Context<'_>, at: usize) -> Trigger {
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
        return if sign.is_empty() { Trigger::Relation } else { Trigger::Weak };
    }
    if cue {
        return Trigger::Weak;
    }
    Trigger::None
}

/// Function words with a large letter ("Un", "Se", "The") begin no name.
pub fn is_function(lower: &str) -> bool {
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
