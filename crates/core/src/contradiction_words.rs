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

/// Attitudes towards something that is wanted.
pub(super) const LIKES: &[&str] = &[
    "prefer", "prefers", "preferred", "preferring", "prefiero", "prefiere", "prefieren", "preferir", "preferia",
    "like", "likes", "liked", "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "enjoying", "want", "wants",
    "wanted", "favor", "favors", "favour", "favours", "support", "supports", "seek", "seeks", "gusta", "gustan",
    "gustaba", "encanta", "encantan", "ama", "amo", "adora", "adoro", "disfruta", "disfruto", "quiere", "quiero",
    "busca", "busco", "apoya", "apoyo",
];

/// … and towards something that is shunned.
pub(super) const DISLIKES: &[&str] = &[
    "avoid", "avoids", "avoided", "avoiding", "evito", "evita", "evitan", "evitar", "evitaba", "dislike", "dislikes",
    "disliked", "hate", "hates", "hated", "oppose", "opposes", "opposed", "refuse", "refuses", "refused", "detest",
    "detests", "disgusta", "disgustan", "detesta", "detesto", "odia", "odio", "rehuye", "rehuyo", "aborrece",
    "aborrezco", "loathe", "loathes", "loathed", "despise", "despises", "dread", "dreads", "dreaded", "resent", "resents",
    "repugna", "molesta", "molestan", "agobia", "agobian", "disgusto", "rechazo", "fastidia", "fastidian", "incomoda",
];

/// What is denied when somebody cannot bear a thing; affirmed they say little.
pub(super) const BEARS: &[&str] = &[
    "stand", "bear", "tolerate", "stomach", "soporto", "soporta", "soportar", "aguanto", "aguanta", "aguantar", "tolero",
    "tolera", "trago", "apetece",
];

/// After these, "like" is no attitude.
pub(super) const CUE_PREFIX_STOPS: &[&str] = &[
    "feel", "feels", "felt", "feeling", "look", "looks", "looked", "seem", "seems", "sound", "sounds", "just", "is",
    "was", "are", "something", "things", "more", "much", "acts", "behaves",
];

/// Cues that are no content: two statements do not share a subject because both say "always".
pub(super) const FUNCTION_CUES: &[&str] = &[
    "never", "always", "nunca", "jamas", "siempre", "more", "less", "fewer", "mas", "menos", "better", "worse",
    "mejor", "peor", "nothing", "everything", "nada", "todo", "todos", "todas", "everyone", "everybody", "nobody",
    "nadie",
];

/// Frames of a time that is over.
pub(super) const PAST: &[&[&str]] = &[
    &["used", "to"], &["as", "a", "child"], &["as", "a", "kid"], &["as", "a", "boy"], &["as", "a", "girl"],
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
