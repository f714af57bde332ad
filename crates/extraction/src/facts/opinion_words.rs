//! Words of opinions in both languages, folded; matched whole. Source: the project's own list. Licence: Apache-2.0. May be
//! changed by: clinicians, with a line of the tests.

/// First-person words of both languages, folded.
pub(super) const FIRST: &[&str] = &[
    "i", "me", "my", "myself", "im", "ive", "yo", "mi", "mis", "mia", "conmigo", "odio", "detesto", "aborrezco",
    "adoro", "disfruto", "amo", "prefiero", "soporto", "aguanto", "llevo", "duermo", "descanso", "estoy", "soy",
    "tengo",
];

// Harm to oneself is a risk and is read elsewhere.
/// Words that make an opinion unreal: a dream, a wish, a supposition, a joke, a doubt, harm to oneself.
pub(super) const NOT_MEANT: &[&str] = &[
    "dream", "dreamt", "dreamed", "sone", "sonaba", "pretend", "imagine", "would", "'d", "might", "could", "seria",
    "gustaria", "encantaria", "odiaria", "suppose", "joke", "kidding", "maybe", "perhaps", "quiza", "quizas", "hope",
    "ojala", "cut", "cutting", "cortarme", "starving", "starve", "purging", "kill", "die", "dying", "dead", "death", "morir",
    "matar", "matarme", "sectioned",
];

/// Words for another person, or for the listener.
pub(super) const OTHERS: &[&str] = &[
    "he", "she", "they", "his", "her", "him", "their", "them", "you", "your", "ella", "ellos", "ellas", "su",
    "sus", "le", "les", "usted",
];

/// How people treat the patient, folded.
pub(super) const TREATS: &[&str] = &[
    "support", "supported", "supports", "loved", "loves", "listened", "listens", "believed", "believes", "understood",
    "understands", "hit", "beat", "beats", "hits", "abandoned", "protected", "protects", "neglected", "raised",
    "hugged", "apoyo", "apoya", "apoyaba", "apoyado", "quiso", "queria", "escucho", "escuchaba", "escucha", "creyo",
    "creia", "entendio", "entendia", "entiende", "pego", "pegaba", "pega", "abandono", "cuido", "cuidaba", "protegio",
    "crio", "abrazo", "abrazaba",
];

/// How a question begins.
pub(super) const ASKING: &[&str] = &[
    "can", "could", "did", "do", "does", "is", "are", "what", "how", "when", "where", "who", "why", "would", "should",
    "will", "any", "puede", "puedes", "podria", "podrias", "cuando", "como", "que", "cual", "donde", "quien",
    "tiene",
];

/// After these, the clause is a picture: "como si no pudiera yo sola".
pub(super) const PICTURES: &[&[&str]] = &[&["como", "si"], &["as", "if"], &["as", "though"]];

/// Another person's words are reported.
pub(super) const REPORTING: &[&str] = &[
    "says", "said", "say", "told", "tell", "thinks", "reports", "dice", "dijo", "decia", "repetia", "cree", "piensa",
];

/// The speaker, to whom something was done.
pub(super) const US: &[&str] = &[
    "me", "us", "nos",
];

// A chat leaves out the question mark: "do you like the group" is no opinion.
/// How a question begins that a chat writes without its sign.
pub(super) const ASKING_UNMARKED: &[&str] = &[
    "can", "could", "did", "do", "does", "is", "are", "would", "should", "will", "has", "have",
];

/// A note reports the patient's opinions with these.
pub(super) const OF_THE_PATIENT: &[&str] = &[
    "reports", "states", "says", "tells", "per", "refiere", "dice", "comenta", "manifiesta", "lleva", "le", "prefers",
    "prefiere", "preferencia", "him", "her", "felt", "feels", "siente", "sentido",
];

/// Verbs of a judgement: the effect of a thing on a person.
pub(super) const JUDGING: &[&str] = &[
    "makes", "make", "helps", "help", "hace", "hacen", "ayuda", "ayudan", "means",
];

/// Verbs of feeling that a note writes of a patient; "cannot stand" may be of the legs.
pub(super) const LIVELY: &[&str] = &[
    "like", "likes", "love", "loves", "enjoys", "adores", "hates", "dislikes", "detests", "loathes", "dreads", "gusta",
    "gustan", "encanta", "encantan", "fascina", "fascinan", "odia", "detesta", "aborrece", "adora", "disfruta", "apasiona",
];
