//! The words by which a later clause says what became of a medicine, folded.

// Another subject speaks of another thing: "the rash stopped".
/// Words before the verb of a clause whose subject is a person, or which has none.
pub(super) const OPENERS: &[&str] = &[
    "i",
    "he",
    "she",
    "they",
    "we",
    "pt",
    "patient",
    "it",
    "that",
    "this",
    "then",
    "eventually",
    "finally",
    "actually",
    "just",
    "only",
    "also",
    "was",
    "were",
    "been",
    "is",
    "got",
    "has",
    "have",
    "had",
    "'ve",
    "'s",
    "'d",
    "ive",
    "which",
    "later",
    "since",
    "well",
    "yeah",
    "yes",
    "el",
    "ella",
    "yo",
    "la",
    "lo",
    "los",
    "las",
    "se",
    "me",
    "le",
    "paciente",
    "luego",
    "despues",
    "final",
    "al",
    "igual",
    "pues",
    "bueno",
    "ya",
    "entonces",
    "solo",
    "nos",
    "que",
    "fue",
    "but",
];
// Without an object the verb means the medicine before: "cefalexin + metronidazole. Stopped 12/4".
/// Past forms of stopping.
pub(super) const DROPPED_EN: &[&str] =
    &["stopped", "stoped", "quit", "ditched", "binned", "ceased", "discontinued", "dropped", "dumped", "chucked"];
// Any other word is an object: "stopped smoking" ends no medicine.
/// Words that may follow a verb of stopping without an object.
pub(super) const TIMES: &[&str] = &[
    "after",
    "because",
    "cos",
    "last",
    "when",
    "himself",
    "herself",
    "myself",
    "early",
    "altogether",
    "completely",
    "abruptly",
    "due",
    "cold",
];
// "La dejó él": the pronoun is the medicine; "dejó" alone may have another object.
/// The same in Spanish, after a pronoun.
pub(super) const DROPPED_ES: &[&str] = &[
    "dejo",
    "deje",
    "dejaron",
    "dejamos",
    "corto",
    "corte",
    "cortaron",
    "suspendio",
    "suspendi",
    "suspendieron",
    "abandono",
    "abandone",
    "retiro",
    "retiraron",
    "quito",
    "quite",
    "quitaron",
    "saco",
    "sacaron",
    "interrumpio",
    "discontinuo",
    "tiro",
    "tire",
    "largo",
    "largue",
];
// "Lo dejamos igual, en 27" changes nothing and must not end the medicine.
/// Words after "dejar" where something is left unchanged.
pub(super) const LEAVES: &[&str] = &[
    "igual",
    "como",
    "asi",
    "tal",
    "estar",
    "para",
    "pendiente",
    "mas",
    "quieto",
    "quieta",
    "puesto",
    "puesta",
    "sin",
];
// "Never restarted" ends a medicine that was taken before.
/// Acts that were not done any more.
pub(super) const UNTOUCHED: &[&str] = &["refill", "refilled", "renew", "renewed", "restarted", "restart"];
// "She never collected it": prescribed, and not taken.
/// Acts that were never done, after a denial.
pub(super) const NEVER_EN: &[&str] = &[
    "took",
    "taken",
    "taking",
    "start",
    "started",
    "fill",
    "filled",
    "collect",
    "collected",
    "pick",
    "picked",
    "try",
    "tried",
    "begin",
    "begun",
    "commenced",
    "bought",
    "buy",
    "used",
];
// "Not always with food" is about the way of taking it.
/// Words that say how or when something is not taken, and not that it is not.
pub(super) const HOW: &[&str] = &[
    "with", "con", "always", "siempre", "every", "todos", "todas", "bien", "cuando", "when", "if", "si", "unless",
    "until", "hasta",
];
pub(super) const NEVER_ES: &[&str] =
    &["compr", "recog", "empez", "empec", "inici", "tomad", "tome", "tomo", "arranc", "surti", "prob"];
/// Refusals, with the words of one place separated by "/"; "$" is the end of the clause.
pub(super) const REFUSED: &[&str] = &[
    "would/'d/will prefer not",
    "would/'d rather not/wait",
    "would/'d prefer to wait",
    "prefers/preferred not/waiting",
    "prefers/preferred to wait",
    "not/n't keen",
    "not/n't interested",
    "not/n't convinced",
    "declined/declines/refused/refuses $",
    "declined/declines/refused/refuses it/them/this/same",
    "said/says no $",
    "did not/n't like it/that/them",
    "decided against",
    "prefiere/prefirio/preferiria/prefiero no",
    "prefiere/prefirio/preferiria/prefiero esperar",
    "no la/lo/las/los quiere/quiso/quiero/acepta/acepto",
    "no quiso/acepta/acepto $",
    "no le convence",
];
// One dose left out ends nothing.
/// Words of one time: an omission then is no omission at others.
pub(super) const ONCE: &[&str] = &[
    "today",
    "tonight",
    "yesterday",
    "morning",
    "evening",
    "sometimes",
    "weekend",
    "hoy",
    "ayer",
    "anoche",
    "manana",
    "tarde",
    "veces",
    "finde",
    "dose",
    "toma",
    "dosis",
];
/// Words that show that a course goes on.
pub(super) const COURSES: &[&str] =
    &["now", "far", "still", "ya", "todavia", "sigue", "aun", "if", "si", "every", "cada", "again", "pain", "dolor"];
pub(super) const RESUMED_ES: &[&str] = &["retomo", "retome", "reinicio", "reinicie", "retomado", "reiniciado"];

pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn is_month(word: &str) -> bool {
    const MONTHS: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sept",
        "sep",
        "oct",
        "nov",
        "dec",
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "setiembre",
        "octubre",
        "noviembre",
        "diciembre",
        "spring",
        "summer",
        "autumn",
        "winter",
        "easter",
        "christmas",
        "verano",
        "invierno",
    ];
    MONTHS.contains(&word)
}
