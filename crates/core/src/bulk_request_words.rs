//! The words of the guard against dumps, folded, English and Spanish.

/// Words that open a request without being its verb.
pub(super) const OPENERS: &[&str] = &[
    "please", "now", "then", "and", "just", "ok", "okay", "hey", "hi", "hello", "so", "por", "favor", "ahora", "y",
    "oye", "hola", "entonces", "can", "could", "would", "will", "you", "must", "should", "kindly", "i", "want",
    "need", "like", "to", "d", "have", "let", "me", "us", "puedes", "puede", "podrias", "podria", "debes", "quiero",
    "necesito", "quisiera", "gustaria", "que", "deseo", "te", "me", "pido", "instructions", "ignore", "ignora",
    "previous", "all", "las", "instrucciones", "anteriores", "assistant", "system", "go", "ahead", "also", "tambien",
    "a", "favor", "usted", "tu", "may", "we", "se", "lo",
];

/// Verbs that ask to see or get something, folded, with their Spanish enclitics.
pub(super) const DEMANDS: &[&str] = &[
    "dump", "show", "list", "print", "give", "export", "reveal", "output", "display", "tell", "return", "send",
    "read", "share", "provide", "retrieve", "fetch", "get", "download", "enumerate", "recite", "repeat", "disclose",
    "see", "extract", "copy", "write", "expose", "leak", "summarize", "summarise", "vuelca", "volcar", "vuelque",
    "vuelcame", "muestra", "muestrame", "muestre", "muestreme", "mostrar", "mostrarme", "muestres", "ensena",
    "ensename", "ensenar", "ensenarme", "ensenes", "lista", "listar", "listame", "imprime", "imprimir", "imprimeme",
    "dame", "dar", "darme", "des", "deme", "exporta", "exportar", "exportame", "revela", "revelar", "revelame",
    "dime", "decir", "decirme", "digas", "digame", "envia", "enviar", "enviame", "enviarme", "envies", "comparte",
    "compartir", "comparteme", "saca", "sacar", "sacame", "extrae", "extraer", "ver", "descarga", "descargar",
    "enumera", "enumerar", "enumerame", "pasame", "pasar", "pasarme", "entregame", "facilitame", "proporciona",
    "proporcioname", "hand", "turn", "back", "clone", "mirror", "unload", "spit", "transcribe", "compile", "gather", "collect",
    "surrender", "divulge", "describe", "recap", "entrega", "entregar", "vuelque", "transcribe", "transcribeme", "compila",
    "reune", "recopila", "suelta", "sueltame", "expon", "clona", "respalda", "recita", "repite", "copia", "escribe", "cuentame", "leeme", "resume", "obtener",
];

// Without a total a question is narrow: "what allergies do I have?" must be answered.
pub(super) const TOTAL: &[&str] = &[
    "all", "every", "everything", "entire", "whole", "full", "complete", "everyone", "everybody", "anything", "todo",
    "toda", "todos", "todas", "entero", "entera", "completo", "completa", "completos", "completas", "integro",
    "integra", "cada", "whatever", "unabridged", "cuanto", "cuantos", "cuantas", "enterito", "completito",
];

/// Words that give a part to play before they demand.
pub(super) const PRETEND: &[&str] = &[
    "pretend", "act", "imagine", "roleplay", "behave", "suppose", "assume", "haz", "haga", "hagamos", "actua", "actue",
    "imagina", "imaginate", "finge", "simula", "supon", "comportate",
];

/// Words for the store as a whole.
pub(super) const STORED: &[&str] = &[
    "memory", "memories", "profile", "profiles", "database", "databases", "data", "record", "records", "dataset",
    "file", "files", "chart", "memoria", "memorias", "recuerdos", "perfil", "perfiles", "datos", "registro",
    "registros", "expediente", "expedientes", "historial", "ficha", "fichas", "patients", "users", "pacientes",
    "usuarios", "embeddings", "vectors", "vectores", "tables", "tablas", "dossier", "history", "historia",
    "information", "informacion", "info", "history",
];

// "Everything you know about me" names no store: the verb shows that stored data are meant.
pub(super) const KNOWING: &[&str] = &[
    "know", "remember", "stored", "store", "saved", "recorded", "kept", "remembered", "sabes", "sabe", "recuerdas",
    "recuerda", "guardado", "guardada", "guardados", "almacenado", "almacenada", "almacenados", "registrado",
    "memorizado", "conoces", "hold", "holding", "gathered", "collected", "keep", "keeping", "guardas", "conservas",
    "recopilado", "reunido", "acumulado", "archivado",
];

/// After a total, these narrow it down: "all my appointments in the record" is a question about appointments.
pub(super) const NARROW: &[&str] = &[
    "appointments", "appointment", "medications", "medication", "allergies", "allergy", "symptoms", "conditions",
    "goals", "notes", "results", "labs", "doses", "citas", "medicamentos", "medicacion", "alergias", "sintomas",
    "condiciones", "metas", "notas", "resultados", "dosis", "pastillas", "pills", "sleep", "family", "familia",
    "familiar", "familiares", "diagnosis", "diagnostico", "childhood", "infancia", "about", "sobre",
];

/// Phrases for the whole of something.
pub(super) const WHOLLY: &[&[&str]] = &[
    &["contents", "of"], &["content", "of"], &["contenido", "de"], &["contenidos", "de"], &["nothing", "out"],
    &["leaving", "nothing"], &["leave", "nothing"], &["omitting", "nothing"], &["without", "omitting"],
    &["without", "leaving"], &["start", "to", "finish"], &["beginning", "to", "end"], &["top", "to", "bottom"],
    &["end", "to", "end"], &["word", "for", "word"], &["verbatim"], &["in", "full"], &["in", "its", "entirety"],
    &["the", "lot"], &["line", "by", "line"], &["one", "by", "one"], &["sin", "omitir"], &["sin", "dejar"],
    &["sin", "saltarte"], &["sin", "resumir"], &["de", "cabo", "a", "rabo"], &["de", "principio", "a", "fin"],
    &["de", "pe", "a", "pa"], &["de", "arriba", "abajo"], &["al", "completo"], &["por", "completo"],
    &["en", "su", "totalidad"], &["palabra", "por", "palabra"], &["linea", "por", "linea"], &["uno", "por", "uno"],
    &["una", "por", "una"], &["al", "pie", "de", "la", "letra"], &["tal", "cual"],
];
