//! Opposed words of both languages, folded and inflected: matched whole, never as parts of words.

type Pair = (&'static [&'static str], &'static [&'static str]);

/// One excludes the other.
pub(super) const DIRECT: &[Pair] = &[
    (&["never", "nunca", "jamas"], &["always", "siempre"]),
    (&["nobody", "nadie"], &["everyone", "everybody", "todos", "todas"]),
    (&["nothing", "nada"], &["everything", "todo"]),
    (&["false", "falso", "falsa"], &["true", "verdadero", "verdadera", "cierto", "cierta"]),
    (&["impossible", "imposible"], &["possible", "posible"]),
    (&["wrong", "incorrecto", "incorrecta"], &["right", "correct", "correcto", "correcta"]),
    (&["unsafe", "dangerous", "peligroso", "peligrosa", "inseguro", "insegura"], &["safe", "seguro", "segura"]),
    (&["reject", "rejects", "rejected", "rechaza", "rechazo", "rechazar"], &["accept", "accepts", "accepted",
        "acepta", "acepto", "aceptar"]),
];

/// More of one is less of the other.
pub(super) const COMPARISONS: &[Pair] = &[
    (&["more", "mas"], &["less", "fewer", "menos"]),
    (&["better", "mejor", "mejores"], &["worse", "peor", "peores"]),
    (&["higher", "alto", "alta", "high"], &["lower", "bajo", "baja", "low"]),
    (&["greater", "larger", "bigger", "mayor", "mayores"], &["lesser", "smaller", "menor", "menores"]),
    (&["faster", "rapido", "rapida"], &["slower", "lento", "lenta"]),
    (&["stronger", "fuerte", "fuertes"], &["weaker", "debil", "debiles"]),
    (&["easier", "facil", "faciles"], &["harder", "dificil", "dificiles"]),
    (&["longer", "largo", "larga"], &["shorter", "corto", "corta"]),
    (&["earlier", "sooner"], &["later"]),
    (&["safer"], &["riskier", "arriesgado", "arriesgada"]),
    (&["simpler", "simple"], &["complex", "complejo", "compleja"]),
    (&["increase", "increases", "increased", "increasing", "aumenta", "aumentan", "aumento", "aumentar", "sube",
        "suben"], &["decrease", "decreases", "decreased", "decreasing", "reduce", "reduces", "reducen", "disminuye",
        "disminuyen", "disminuir", "baja", "bajan"]),
    (&["improve", "improves", "improved", "improving", "mejora", "mejoran", "mejorar", "mejoro"], &["worsen",
        "worsens", "worsened", "worsening", "empeora", "empeoran", "empeorar", "empeoro"]),
    (&["helps", "help", "ayuda", "ayudan", "ayudar"], &["hurts", "harms", "harm", "perjudica", "perjudican", "dana",
        "danan"]),
];

// Before attitudes, comparisons and judgements were read, 6 of 55 contradictions of a scored set were found.
/// Attitudes towards something that is wanted.
pub(super) const LIKES: &[&str] = &[
    "prefer", "prefers", "preferred", "preferring", "prefiero", "prefiere", "prefieren", "preferir", "preferia",
    "like", "likes", "liked", "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "enjoying", "want", "wants",
    "wanted", "favor", "favors", "favour", "favours", "support", "supports", "seek", "seeks", "gusta", "gustan",
    "gustaba", "encanta", "encantan", "ama", "amo", "adora", "adoro", "disfruta", "disfruto", "quiere", "quiero",
    "busca", "busco", "apoya", "apoyo", "loving", "adore", "adores", "adored", "fascina", "fascinan", "fascinaba",
    "encantaba", "apasiona", "apasionan", "disfrutaba", "amaba", "adoraba", "chifla", "favourite", "favorite", "favorito",
    "favorita", "wanting", "rather", "sooner",
];

/// … and towards something that is shunned.
pub(super) const DISLIKES: &[&str] = &[
    "avoid", "avoids", "avoided", "avoiding", "evito", "evita", "evitan", "evitar", "evitaba", "dislike", "dislikes",
    "disliked", "hate", "hates", "hated", "oppose", "opposes", "opposed", "refuse", "refuses", "refused", "detest",
    "detests", "disgusta", "disgustan", "detesta", "detesto", "odia", "odio", "rehuye", "rehuyo", "aborrece",
    "aborrezco", "loathe", "loathes", "loathed", "despise", "despises", "dread", "dreads", "dreaded", "resent", "resents",
    "hatred", "hating", "detested", "asco", "repele", "horroriza", "repugna", "molesta", "molestan", "agobia", "agobian", "disgusto", "rechazo", "fastidia", "fastidian", "incomoda",
];

/// Verbs that are denied when a person cannot bear a thing; affirmed they say little.
pub(super) const BEARS: &[&str] = &[
    "stand", "bear", "tolerate", "stomach", "soporto", "soporta", "soportar", "aguanto", "aguanta", "aguantar", "tolero",
    "tolera", "trago", "apetece", "soportaba", "aguantaba",
];

/// Those of `LIKES`, `DISLIKES` and `BEARS` that are verbs of feeling alone: a wish to have something is no liking.
pub(super) const FEELINGS: (&[&str], &[&str], &[&str]) = (
    &["like", "likes", "love", "loves", "enjoy", "enjoys", "adore", "adores", "gusta", "gustan", "encanta", "encantan",
        "fascina", "fascinan", "adoro", "adora", "amo", "disfruto", "disfruta", "apasiona", "apasionan", "wanted", "loving"],
    &["hate", "hates", "hated", "dislike", "dislikes", "detest", "detests", "loathe", "loathes", "despise", "despises",
        "dread", "dreads", "hatred", "odio", "odia", "detesto", "detesta", "aborrezco", "aborrece", "asco", "repugna"],
    &["stand", "bear", "stomach", "soporto", "soporta", "aguanto", "aguanta", "tolero", "trago"],
);

/// Values of a thing or an act, or of its effect on a person.
pub(super) const JUDGEMENTS: &[Pair] = &[
    (&["strong", "stronger", "strongest", "brave", "bravest", "bravery", "courage", "strength", "myself", "useful",
        "valiente", "valientes", "valentia", "fuerte", "fuertes", "fortaleza", "misma", "util", "utiles"],
        &["weak", "weaker", "weakest", "weakness", "coward", "cowards", "cowardly", "cowardice", "useless", "pathetic",
        "poison", "debil", "debiles", "debilidad", "cobarde", "cobardes", "cobardia", "inutil", "inutiles", "veneno"]),
];

/// After these, "like" is an attitude: elsewhere it compares ("swells me up like a balloon").
pub(super) const LIKE_AFTER: &[&str] = &[
    "i", "we", "you", "they", "who", "really", "also", "still", "always", "never", "not", "do", "did", "to", "and", "but",
    "quite", "actually", "honestly", "genuinely", "only", "didnt", "even", "patients", "people", "kids", "children",
];

// "I always sleep badly" and "I always take tea" share nothing but the cue.
/// Cues that are no content: two statements do not share a subject because both say "always".
pub(super) const FUNCTION_CUES: &[&str] = &[
    "never", "always", "nunca", "jamas", "siempre", "more", "less", "fewer", "mas", "menos", "better", "worse",
    "mejor", "peor", "nothing", "everything", "nada", "todo", "todos", "todas", "everyone", "everybody", "nobody",
    "nadie",
];

// "As a child I hated tea" does not oppose liking tea now.
/// Frames of a time that is over, or of a dream.
pub(super) const PAST: &[&[&str]] = &[
    &["dreamt"], &["dreamed"], &["sone"], &["used", "to"], &["as", "a", "child"], &["as", "a", "kid"], &["as", "a", "boy"], &["as", "a", "girl"],
    &["as", "a", "teenager"], &["as", "a", "teen"], &["as", "a", "student"], &["as", "a", "young"], &["when", "i", "was"],
    &["when", "he", "was"], &["when", "she", "was"], &["growing", "up"], &["in", "my", "twenties"],
    &["in", "my", "thirties"], &["in", "my", "forties"], &["in", "my", "teens"], &["in", "my", "youth"],
    &["in", "my", "childhood"], &["in", "his", "youth"], &["in", "her", "youth"], &["years", "ago"], &["back", "then"],
    &["in", "the", "past"], &["formerly"], &["previously"], &["in", "those", "days"], &["at", "that", "time"],
    &["antes"], &["antano"], &["antiguamente"], &["anteriormente"], &["de", "nino"], &["de", "nina"], &["de", "joven"],
    &["de", "pequeno"], &["de", "pequena"], &["de", "chico"], &["de", "chica"], &["de", "adolescente"],
    &["de", "estudiante"], &["de", "soltero"], &["de", "soltera"], &["en", "mi", "juventud"], &["en", "mi", "infancia"],
    &["en", "mi", "ninez"], &["en", "mi", "adolescencia"], &["en", "su", "juventud"], &["en", "su", "infancia"],
    &["cuando", "era"], &["cuando", "tenia"], &["cuando", "vivia"], &["hace", "anos"], &["hace", "tiempo"], &["solia"],
    &["solian"], &["en", "el", "pasado"], &["en", "aquella", "epoca"], &["en", "aquel", "entonces"],
    &["por", "entonces"], &["en", "esa", "epoca"],
];

/// Comparatives of value: better and worse.
pub(super) const VALUE: &[Pair] = &[
    (&["better", "easier", "nicer", "mejor", "mejores", "antes", "rather", "sooner"],
        &["worse", "harder", "tougher", "peor", "peores"]),
];

/// … and of amount.
pub(super) const AMOUNT: &[Pair] = &[(&["more", "mas", "mayor"], &["less", "fewer", "menos", "menor"])];

/// Verbs that set one thing above another: "prefer tea to coffee", "prefiero el té al café".
pub(super) const PREFERRING: &[&str] = &[
    "prefer", "prefers", "preferred", "preferring", "prefiero", "prefiere", "prefieren", "preferia", "preferiria",
    "preferir", "preferencia", "favour", "favours", "favor", "favors",
];

// "Better than last year" names no second thing that could be ahead elsewhere.
/// Words that name no second thing of a comparison: a time, anything, a number of times, a side of the body.
pub(super) const NO_SECOND_THING: &[&str] = &[
    "before", "ever", "usual", "last", "yesterday", "today", "week", "weeks", "month", "months", "year", "years", "ago",
    "expected", "anticipated", "anything", "anyone", "anybody", "nothing", "half", "twice", "once", "average", "normal",
    "baseline", "antes", "nunca", "nada", "nadie", "ayer", "hoy", "semana", "semanas", "mes", "meses", "ano", "anos",
    "pasada", "pasado", "hace", "siempre", "habitual", "esperado", "vez", "veces", "previo", "previa", "cuando", "otros",
    "others", "otras", "demas", "right", "left", "derecha", "derecho", "izquierda", "izquierdo", "l", "r",
];

/// A reference that moves on: "better than last week" opposes nothing that is said in another week.
pub(super) const MOVING: &[&str] = &[
    "last", "yesterday", "today", "week", "weeks", "month", "months", "year", "years", "ago", "ayer", "hoy", "semana",
    "semanas", "mes", "meses", "ano", "anos", "pasada", "pasado", "hace", "vez", "time",
];

/// Words of a comparison that name neither thing.
pub(super) const NO_OPERAND: &[&str] = &[
    "does", "do", "did", "is", "are", "was", "were", "has", "have", "had", "ever",
    "mucho", "mucha", "muchisimo", "bastante", "way", "far", "much", "even", "lot", "so", "por", "per", "pt", "patient",
    "paciente", "me", "mi", "yo", "i", "he", "she", "him", "her", "myself", "honestly", "kinda", "just", "still", "ya",
    "tb", "tmb", "tambien", "too", "also", "feel", "feels", "felt", "feeling", "make", "makes", "made", "hace", "hacen", "pone", "ponen", "get", "gets", "got", "getting", "find", "finds",
    "found", "am", "be", "been", "being", "siento", "siente", "sentia", "sentido", "estoy", "esta", "estaba", "estado",
];

/// Words with the ending of an English comparative that are not comparatives.
pub(super) const NO_COMPARATIVE: &[&str] = &[
    "after", "another", "brother", "computer", "corner", "daughter", "dinner", "either", "father",
    "however", "matter", "mother", "neither", "never", "number", "other", "paper", "partner", "rather", "remember",
    "sister", "sober", "summer", "together", "under", "water", "weather", "whether", "winter", "wonder",
];

/// Turning points: "since the switch", "desde el cambio".
pub(super) const CHANGES: &[&str] = &[
    "switch", "switched", "change", "changed", "started", "starting", "stopped", "stopping", "moved", "increase", "increased",
    "decrease", "cambio", "cambiaron", "empece", "empezo", "inicio", "inicie", "deje", "dejo", "subida", "bajada", "mudanza",
];

// "Can't stand on the left leg" is no attitude.
/// Words after "stand", "bear" and "stomach" where they concern the body.
pub(super) const BODILY: &[&str] = &[
    "on", "up", "for", "unaided", "unassisted", "without", "straight", "still", "weight", "relation", "pain", "solid", "solids",
    "food", "unsupported", "alone",
];

/// Words near an attitude that name nothing it is about.
pub(super) const NO_OBJECT: &[&str] = &[
    "thing", "things", "stuff", "day", "days", "time", "way", "lot", "anything", "something", "someone",
    "really", "also", "still", "just", "only", "get", "getting", "go", "going", "have", "having", "do", "doing", "be",
    "being", "see", "much", "cosa", "cosas", "dia", "dias", "vez", "veces", "mucho", "muy", "solo", "tambien",
    "hacer", "tener", "estar", "ser", "ir", "venir", "ver", "dice", "says", "patient", "pt", "paciente", "pte", "por",
    "please", "all", "people", "gente", "me", "mi", "my", "own", "every", "any", "because", "porque", "si", "when",
    "cuando", "que", "if", "now", "ahora", "ya",
];
