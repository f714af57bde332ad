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

/// Verbs that ask for something to be shown or handed over, folded, with their Spanish enclitics.
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
    "proporcioname", "recita", "repite", "copia", "escribe", "cuentame", "leeme", "resume", "obtener",
];

pub(super) const TOTAL: &[&str] = &[
    "all", "every", "everything", "entire", "whole", "full", "complete", "everyone", "everybody", "anything", "todo",
    "toda", "todos", "todas", "entero", "entera", "completo", "completa", "completos", "completas", "integro",
    "integra", "cada",
];

/// What is stored, as a whole.
pub(super) const STORED: &[&str] = &[
    "memory", "memories", "profile", "profiles", "database", "databases", "data", "record", "records", "dataset",
    "file", "files", "chart", "memoria", "memorias", "recuerdos", "perfil", "perfiles", "datos", "registro",
    "registros", "expediente", "expedientes", "historial", "ficha", "fichas", "patients", "users", "pacientes",
    "usuarios", "embeddings", "vectors", "vectores", "tables", "tablas", "dossier", "history", "historia",
    "information", "informacion", "info", "history",
];

pub(super) const KNOWING: &[&str] = &[
    "know", "remember", "stored", "store", "saved", "recorded", "kept", "remembered", "sabes", "sabe", "recuerdas",
    "recuerda", "guardado", "guardada", "guardados", "almacenado", "almacenada", "almacenados", "registrado",
    "memorizado", "conoces",
];

/// After a total, these narrow it down: "all my appointments in the record" is a question about appointments.
pub(super) const NARROW: &[&str] = &[
    "appointments", "appointment", "medications", "medication", "allergies", "allergy", "symptoms", "conditions",
    "goals", "notes", "results", "labs", "doses", "citas", "medicamentos", "medicacion", "alergias", "sintomas",
    "condiciones", "metas", "notas", "resultados", "dosis", "pastillas", "pills", "sleep", "family", "familia",
    "familiar", "familiares", "diagnosis", "diagnostico", "childhood", "infancia", "about", "sobre",
];
