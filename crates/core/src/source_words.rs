//! The words by which a source is read, folded, English and Spanish.

// A field filled with "n/a" names no source.
pub(super) const UNKNOWN: &[&str] = &["unknown", "desconocido", "desconocida", "n/a", "none", "null", "ninguno"];

pub(super) const INFERENCE: &[&str] = &[
    "inferred", "inference", "inferences", "inferring", "infers", "deduced", "inferido", "inferida", "inferencia",
    "inferencias", "infiero", "infiere", "deducido", "deducida", "deduction", "deduccion", "deduje", "reasoned",
    "reasoning", "razonado", "razonada", "razonando", "razonamiento", "concluded", "conclusion", "concluido", "concluida",
    "inductive", "extrapolated", "extrapolado", "extrapolada",
];

/// Patterns that are joined make an inference; patterns alone do not.
pub(super) const JOINING: &[&str] = &[
    "connecting", "connected", "connect", "linking", "linked", "joining", "combining", "combined", "conectar",
    "conectando", "enlazar", "enlazando", "unir", "uniendo", "relacionar", "relacionando", "combinar", "combinando",
    "atando", "atar",
];
pub(super) const PATTERNS: &[&str] = &[
    "pattern", "patterns", "dots", "clues", "facts", "patron", "patrones", "cabos", "indicios", "hechos", "pistas",
    "memories", "recuerdos",
];

/// Where something comes from: without one, or with an unknown one, nothing is known.
pub(super) const ORIGINS: &[&str] = &[
    "source", "sources", "origin", "origins", "provenance", "attribution", "fuente", "fuentes", "origen", "procedencia",
    "autor", "atribucion",
];
/// Things with an origin that may be missing.
pub(super) const ENTRIES: &[&str] = &[
    "entry", "entries", "record", "records", "memory", "memories", "row", "note", "item", "data", "import", "recorded",
    "registered", "entrada", "entradas", "registro", "registros", "recuerdo", "recuerdos", "memoria", "memorias", "nota",
    "dato", "datos", "registrada", "registrado", "antiguo", "antigua", "old", "consta", "constar", "known", "conocida",
    "conocido", "sabe",
];
pub(super) const LEGACY: &[&str] = &["legacy", "pre-provenance", "heredado", "heredada", "heredados", "heredadas"];

/// Pronouns that deny a speaker.
pub(super) const NO_ONE: &[&str] = &["nobody", "no-one", "noone", "nadie", "none", "ninguno", "ninguna"];

/// Loaded before anything was said.
pub(super) const PRELOADED: &[&str] = &[
    "preloaded", "pre-loaded", "precargado", "precargada", "precargados", "precargadas", "preinstalado", "preinstalada",
    "built-in",
];

/// Words after which the one who said it is named.
pub(super) const BEFORE_NAME: &[&[&str]] = &[
    &["told", "by"],
    &["told", "me", "by"],
    &["told", "us", "by"],
    &["told", "to", "me", "by"],
    &["said", "by"],
    &["heard", "from"],
    &["heard", "it", "from"],
    &["heard", "this", "from"],
    &["mentioned", "by"],
    &["reported", "by"],
    &["shared", "by"], &["given", "by"], &["provided", "by"],
    &["informed", "by"],
    &["relayed", "by"],
    &["according", "to"],
    &["per"],
    &["segun"],
    &["de", "acuerdo", "con"],
    &["de", "acuerdo", "a"],
    &["contado", "por"],
    &["contada", "por"],
    &["dicho", "por"],
    &["dicha", "por"],
    &["comentado", "por"],
    &["comentada", "por"],
    &["informado", "por"],
    &["informada", "por"],
    &["referido", "por"],
    &["compartido", "por"],
    &["mencionado", "por"],
    &["escuchado", "de"],
    &["escuche", "de"],
    &["oi", "de"],
];

/// Verbs of saying: their subject comes before ("Claire told me", "Ana me contó") or after ("me contó Ana").
pub(super) const SAYING: &[&str] = &[
    "told", "said", "says", "tells", "mentioned", "shared", "dijo", "dice", "conto", "cuenta", "comento", "comenta",
    "dijeron", "contaron", "comentaron", "menciono", "informo", "compartio",
];

/// Verbs of learning something by ear: external even in the first person.
pub(super) const HEARING: &[&str] = &["heard", "escuche", "oi", "escuchado"];

/// Sounds of the body, which a stethoscope picks up: no report of a person.
pub(super) const AUSCULTATION: &[&str] = &[
    "murmur", "murmurs", "sound", "sounds", "wheeze", "wheezes", "wheezing", "crackles", "rales", "rhonchi", "bruit",
    "bruits", "auscultation", "gallop", "rub", "stethoscope", "lung", "lungs", "breath", "bowel", "soplo", "soplos",
    "sibilancias", "crepitantes", "estertores", "auscultacion", "roncus",
];

// "Según pauta" is an order, not a person who said something.
/// What "según" and "according to" name other than people: standing orders, scales, needs.
pub(super) const STANDING_ORDERS: &[&str] = &[
    "pauta", "pautas", "protocolo", "protocolos", "necesidad", "necesidades", "tolerancia", "arte", "evolucion",
    "indicacion", "indicaciones", "criterio", "criterios", "escala", "escalas", "guia", "guias", "prescripcion",
    "dosis", "peso", "edad", "clinica", "plan", "protocol", "protocols", "guideline", "guidelines", "scale",
    "criteria", "schedule", "weight", "age", "need", "tolerance", "day", "week", "hour", "minute", "month", "dose",
    "os", "kg", "cent",
];

pub(super) const DOCUMENTS: &[&str] = &[
    "chart", "records", "historial", "expediente", "documentacion", "documento", "documentos", "documentation", "document", "documents", "docs", "informe",
    "informes", "report", "web", "website", "pagina", "articulo", "article", "estudio", "study", "libro", "book",
    "internet", "prospecto", "leaflet", "wikipedia", "manual",
];

pub(super) const OBJECTS: &[&str] = &["me", "us", "him", "them", "to", "a", "this", "it", "lo", "esto", "by"];

pub(super) const ARTICLES: &[&str] = &[
    "my", "his", "her", "their", "our", "your", "the", "a", "an", "this", "that", "mi", "mis", "su", "sus", "tu",
    "tus", "el", "la", "los", "las", "un", "una", "nuestro", "nuestra",
];

/// Where a name ends.
pub(super) const BREAKS: &[&str] = &[
    "on", "in", "at", "during", "that", "about", "when", "while", "yesterday", "today", "because", "this", "last",
    "via", "over", "after", "before", "as", "what", "something", "how", "is", "was", "were", "who", "me", "us", "en",
    "que", "durante", "sobre", "ayer", "hoy", "cuando", "porque", "por", "desde", "hace", "tras", "al", "mientras",
    "lo", "como", "el", "este", "esta", "anoche", "es", "fue", "del", "from", "into", "it", "for", "para", "with",
    "con", "through", "segun", "according",
];

// "Someone told me" is hearsay without a named reporter.
pub(super) const NOBODY: &[&str] = &[
    "i", "we", "you", "he", "she", "they", "it", "someone", "somebody", "anyone", "everyone", "people", "him", "them",
    "been", "being", "was", "were", "be", "alguien", "nadie", "ella", "ellos", "ellas", "yo", "usted", "ustedes",
    "todos", "gente", "se", "there", "and", "y", "to", "by", "not", "no", "nobody", "one",
];

/// A full stop after these belongs to the name.
pub(super) const TITLES: &[&str] = &["dr", "dra", "sr", "sra", "srta", "mr", "mrs", "ms", "prof", "lic", "st"];

pub(super) const CONSOLIDATION: &[&str] = &[
    "consolidation", "consolidar", "consolidated", "consolidating", "consolidate", "consolidates", "consolidacion", "consolidado",
    "consolidada", "consolidando", "consolidados", "consolidadas",
];

pub(super) const SEED: &[&str] = &["seed", "seeds", "seeded", "semilla", "semillas"];

/// Words next to which consolidating or seeding is something that is done to memories.
pub(super) const ACTS: &[&str] = &[
    "memory", "memories", "memoria", "memorias", "session", "sessions", "sesion", "sesiones", "nightly", "nocturna",
    "nocturno", "night", "noche", "weekly", "semanal", "daily", "diaria", "cycle", "ciclo", "job", "run", "pass",
    "process", "proceso", "episode", "episodes", "episodio", "episodios", "note", "notes", "notas", "raw", "entries",
    "entradas", "belief", "beliefs", "creencia", "creencias", "pattern", "patterns", "reflection", "reflexion",
    "review", "sleep", "automatic", "automatica", "summary", "summaries", "resumen", "resumenes", "data", "datos",
    "import", "importacion", "initialization", "inicializacion", "initial", "inicial", "preloaded", "roundtable",
    "stack", "script", "values", "valores", "learned", "aprendido", "set", "conjunto", "loaded", "cargado", "cargada",
    "cargados", "load", "carga", "start", "startup", "arranque", "bootstrap", "installation", "instalacion",
];

// Matching parts of words, as the seed did, made "left lower lobe consolidation" an act on memories.
pub(super) const CONSOLIDATION_HOMONYMS: &[&str] = &[
    "lobe", "lobes", "lobar", "lung", "lungs", "pulmonary", "chest", "x-ray", "xray", "radiograph", "ct", "opacity",
    "opacities", "airspace", "alveolar", "bronchogram", "bronchograms", "basal", "basilar", "base", "bases",
    "pneumonia", "infiltrate", "infiltrates", "effusion", "atelectasis", "hilar", "perihilar", "retrocardiac",
    "bilateral", "left", "right", "upper", "lower", "middle", "fracture", "callus", "bone", "bony", "osteotomy",
    "chemo", "chemotherapy", "therapy", "leukemia", "leukaemia", "imaging", "scan", "noted", "seen", "patchy",
    "dense", "focal", "persistent", "lobulo", "lobulos", "pulmon", "pulmones", "pulmonar", "pulmonares", "torax",
    "toracica", "neumonia", "neumonico", "neumonica", "derrame", "infiltrado", "fractura", "osea", "callo", "quimioterapia", "leucemia",
    "izquierdo", "izquierda", "derecho", "derecha", "inferior", "superior", "radiografia", "rx", "tac", "parenquima",
    "basales", "foco", "tratamiento", "treatment", "radiology", "radiologica", "finding", "hallazgo", "dosis", "dose",
];

// A sesame allergy and brachytherapy seeds are no seeds of memories.
pub(super) const SEED_HOMONYMS: &[&str] = &[
    "brachytherapy", "braquiterapia", "prostate", "prostata", "implant", "implants", "implante", "implantation",
    "radioactive", "radiactiva", "radiactivas", "iodine", "yodo", "i-125", "palladium", "tumor", "tumour",
    "peritoneal", "allergy", "allergic", "alergia", "sesame", "sesamo", "poppy", "amapola", "chia", "flax", "lino",
    "sunflower", "girasol", "mustard", "mostaza", "pumpkin", "calabaza", "oil", "aceite", "nuts", "eat", "eats",
    "ate", "come", "garden", "bird", "apple", "fruit", "fruta", "diet", "dieta", "grape", "fennel", "caraway",
    "cumin", "radiotherapy", "radioterapia", "localization", "magnetic", "breast", "mama", "placement", "plant",
];

pub(super) const FUNCTION_WORDS: &[&str] = &[
    "the", "a", "an", "of", "from", "in", "during", "by", "my", "our", "to", "on", "at", "for", "we", "i", "was",
    "were", "is", "after", "la", "el", "los", "las", "de", "del", "en", "durante", "por", "mi", "al", "tras", "desde",
    "una", "un", "se", "lo", "que", "what",
];

pub(super) const OBSERVED: &[&str] = &[
    "observed", "observation", "observations", "observado", "observada", "observacion",
];

pub(super) const PLACES_TO_READ: &[&str] = &[
    "read", "found", "saw", "seen", "looked", "googled", "consulted", "browsed", "leido", "lei", "leida", "visto", "vi",
    "encontrado", "encontrada", "encontre", "hallado", "consultado", "consultada", "consulte", "busque", "buscado",
];
