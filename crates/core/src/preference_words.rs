//! Signs of how a person wants to be spoken with and treated, in both languages, folded, matched by whole words.

use super::{SignContext, PreferenceSign, Topic, WANTED};

const fn sign(topic: Topic, value: &'static str, needs: SignContext, phrases: &'static [&'static str]) -> PreferenceSign {
    PreferenceSign { topic, value, needs, phrases }
}

/// A longer phrase hides the shorter ones within it: "mensajes de voz" are no messages.
pub(super) const SIGNS: &[PreferenceSign] = &[
    sign(Topic::Address, "informal", SignContext::Nothing, &["tuteame", "tuteeme", "tutee", "tuteen", "tutees", "tutear",
        "tutearme", "tutea", "tuteo", "hable de tu", "hables de tu", "hablen de tu", "hableme de tu", "hablame de tu",
        "trate de tu", "trates de tu", "traten de tu", "trateme de tu", "tratame de tu", "llame de tu",
        "llames de tu", "first name", "first names"]),
    sign(Topic::Address, "formal", SignContext::Nothing, &["de usted", "last name", "surname"]),
    sign(Topic::Calls, WANTED, SignContext::Reach, &["llamada", "llamadas", "telefono", "telefonica", "telefonicas",
        "llamadas telefonicas", "phone", "telephone", "phone call", "phone calls", "calls"]),
    sign(Topic::Calls, WANTED, SignContext::Nothing, &["be called", "being called", "llamarme"]),
    sign(Topic::Calls, WANTED, SignContext::Calling, &["llame", "llames", "llamen", "llameme", "llamame", "call me",
        "calling me", "phone me", "ring me", "you call", "they call"]),
    sign(Topic::Messages, WANTED, SignContext::Reach, &["mensaje", "mensajes", "whatsapp", "sms", "text", "texts", "texting",
        "text message", "text messages", "messages"]),
    sign(Topic::Messages, WANTED, SignContext::Nothing, &["me escriba", "me escribas", "me escriban", "escribame",
        "escribeme", "escribirme", "text me", "message me", "be texted"]),
    sign(Topic::Voicemail, WANTED, SignContext::Reach, &["mensajes de voz", "mensaje de voz", "notas de voz", "audios",
        "buzon de voz", "voicemail", "voicemails", "voice mail", "voice message", "voice messages", "voice notes"]),
    sign(Topic::Email, WANTED, SignContext::Reach, &["correo", "correos", "correo electronico", "correos electronicos",
        "email", "emails", "e-mail", "e-mails", "mail"]),
    sign(Topic::Email, WANTED, SignContext::Nothing, &["email me", "be emailed"]),
    sign(Topic::Setting, "in person", SignContext::Visit, &["en persona", "presencial", "presenciales", "presencialmente",
        "cara a cara", "in person", "in-person", "face to face", "face-to-face"]),
    sign(Topic::Setting, "by video", SignContext::Visit, &["videollamada", "videollamadas", "video llamada", "en linea",
        "online", "por video", "video", "video call", "video calls", "zoom", "a distancia", "remotely", "virtual",
        "virtuales", "telehealth"]),
    sign(Topic::Setting, "by phone", SignContext::Visit, &["sesiones por telefono", "sesion por telefono",
        "citas por telefono", "consulta por telefono", "consultas por telefono", "sesiones telefonicas",
        "consulta telefonica", "phone sessions", "phone appointments", "sessions by phone", "appointments by phone",
        "sessions over the phone", "meet by phone", "meet over the phone"]),
    sign(Topic::TimeOfDay, "morning", SignContext::Visit, &["por la manana", "por las mananas", "de manana", "las mananas",
        "a primera hora", "morning", "mornings"]),
    sign(Topic::TimeOfDay, "afternoon", SignContext::Visit, &["por la tarde", "por las tardes", "de tarde", "las tardes",
        "afternoon", "afternoons"]),
    sign(Topic::TimeOfDay, "evening", SignContext::Visit, &["por la noche", "por las noches", "ultima hora", "evening",
        "evenings"]),
    sign(Topic::Language, "Spanish", SignContext::Talk, &["en espanol", "en castellano", "in spanish", "spanish"]),
    sign(Topic::Language, "English", SignContext::Talk, &["en ingles", "in english", "english"]),
    sign(Topic::Language, "Catalan", SignContext::Talk, &["en catalan", "in catalan"]),
    sign(Topic::Language, "Basque", SignContext::Talk, &["en euskera", "en vasco", "in basque"]),
    sign(Topic::Language, "Galician", SignContext::Talk, &["en gallego", "in galician"]),
    sign(Topic::Language, "Portuguese", SignContext::Talk, &["en portugues", "in portuguese"]),
    sign(Topic::Language, "French", SignContext::Talk, &["en frances", "in french"]),
    sign(Topic::Language, "Quechua", SignContext::Talk, &["en quechua", "in quechua"]),
    sign(Topic::Language, "Guarani", SignContext::Talk, &["en guarani", "in guarani"]),
    sign(Topic::Language, "Aymara", SignContext::Talk, &["en aymara", "en aimara", "in aymara"]),
    sign(Topic::Clinician, "a woman", SignContext::Visit, &["terapeuta mujer", "psicologa mujer", "doctora mujer",
        "medica mujer", "psiquiatra mujer", "mujer terapeuta", "que sea mujer", "sea una mujer", "atienda una mujer",
        "female therapist", "female doctor", "female psychologist", "female psychiatrist", "female counselor",
        "female counsellor", "female clinician", "female provider", "woman therapist", "woman doctor",
        "see a woman", "therapist to be a woman"]),
    sign(Topic::Clinician, "a man", SignContext::Visit, &["terapeuta hombre", "psicologo hombre", "doctor hombre",
        "medico hombre", "psiquiatra hombre", "que sea hombre", "sea un hombre", "atienda un hombre",
        "male therapist", "male doctor", "male psychologist", "male psychiatrist", "male counselor",
        "male counsellor", "male clinician", "male provider", "see a man", "therapist to be a man"]),
    sign(Topic::Format, "in a group", SignContext::Visit, &["de grupo", "en grupo", "grupal", "grupales", "group", "groups",
        "group therapy", "group sessions"]),
    sign(Topic::Format, "individual", SignContext::Visit, &["individual", "individuales", "one on one", "one to one",
        "one-on-one", "one-to-one", "a solas"]),
    sign(Topic::Tone, "direct", SignContext::Talk, &["directo", "directa", "directos", "directas", "claro", "con claridad",
        "sin rodeos", "al grano", "con franqueza", "straightforward", "blunt", "to the point", "straight", "direct",
        "directly", "be honest", "bluntly"]),
    sign(Topic::Tone, "gentle", SignContext::Talk, &["con tacto", "con suavidad", "con delicadeza", "gentle", "gently",
        "softly", "tactful", "tactfully"]),
    sign(Topic::Length, "brief", SignContext::Talk, &["cortas", "cortos", "corto", "breve", "breves", "brevemente",
        "short", "brief", "briefly", "concise", "resumido", "resumida"]),
    sign(Topic::Length, "in detail", SignContext::Talk, &["con detalle", "con detalles", "detallado", "detallada",
        "detalladas", "en detalle", "largas", "in detail", "detailed", "details", "in depth", "thorough", "long"]),
    sign(Topic::Touch, WANTED, SignContext::Nothing, &["me toque", "me toquen", "me toques", "tocarme",
        "me abracen", "me abrace", "contacto fisico", "be touched", "being touched", "touch me", "touching me",
        "hug me", "be hugged", "being hugged", "physical contact"]),
];

/// Where or when a way of reaching a person is meant: "no me llame al trabajo" leaves other calls alone.
pub(super) const WHERE: &[(&str, &[&str])] = &[
    ("at work", &["al trabajo", "en el trabajo", "at work", "my work", "mi trabajo", "la oficina", "the office"]),
    ("at home", &["a casa", "en casa", "a mi casa", "at home", "my home", "my house"]),
    ("at the weekend", &["fin de semana", "fines de semana", "weekend", "weekends"]),
    ("at night", &["de noche", "at night", "late"]),
];

/// Meetings with anyone who treats.
pub(super) const VISIT: &[&str] = &["sesion", "sesiones", "cita", "citas", "consulta", "consultas", "terapia",
    "visita", "visitas", "appointment", "appointments", "session", "sessions", "therapy", "visit", "visits", "meet",
    "meetings", "veamos", "vernos", "verme", "quedemos", "atienda", "atiendan", "atenderme", "terapeuta", "psicologa",
    "psicologo", "psiquiatra", "doctora", "medica", "medico", "therapist", "counselor", "counsellor", "psychologist",
    "psychiatrist", "clinician", "provider", "doctor"];

/// Speaking and explaining.
pub(super) const TALK: &[&str] = &["hablar", "hablarme", "hable", "hables", "hablen", "hablemos", "hablando", "hablame",
    "hableme", "hablarlo", "talk", "talking", "speak", "speaking", "spoken", "diga", "digas", "digan", "digame", "dime",
    "decirme", "tell", "told", "explique", "expliquen", "expliques", "expliqueme", "explicaciones", "explicacion",
    "respuestas", "respuesta", "answers", "answer", "explain", "explained", "explanations", "escriba", "escriban",
    "conmigo", "communicate", "sea", "sean", "be"];

/// Sending something to a person.
pub(super) const REACH: &[&str] = &["mande", "manden", "mandes", "mandara", "mandarme", "envie", "envien", "enviarme", "deje",
    "dejen", "dejes", "contacte", "contacten", "contactarme", "contacto", "comunique", "comuniquen", "avise", "avisen",
    "avisarme", "hablar", "hable", "hablen", "recibir", "send", "sending", "leave", "leaving", "receive", "contacted",
    "contact", "reach", "reached", "reminders", "recordatorios", "talk", "speak", "text", "call", "llame", "llamen"];
// "I can't stand it" alone is no wish about calls or messages.
/// Liking, which concerns care only next to a way of reaching a person.
pub(super) const LIKING: &[&str] = &["gusta", "gustan", "gustaria", "like", "likes", "soporto", "aguanto", "can", "stand"];

/// Words that only express a preference: a sign with these alone needs no other word.
pub(super) const FILLERS: &[&str] = &["prefiero", "preferiria", "prefiere", "prefer", "prefers", "would", "rather", "i",
    "she", "he", "the", "a", "an", "la", "el", "los", "las", "una", "un", "me", "por", "favor", "please", "mas", "much",
    "mucho", "siempre", "always", "que", "hacerlo", "mejor", "better", "best", "works", "work", "viene", "vienen",
    "va", "for", "en", "de", "in", "at", "on", "during", "quiero", "want", "patient", "client", "paciente", "no", "not",
    "do", "does", "really", "si", "le", "to"];

/// "Call me" is a call only before these or at the end: "call me Sam" is a name.
pub(super) const AFTER_CALLING: &[&str] = &["por", "al", "a", "antes", "en", "durante", "nunca", "mas", "mejor", "y", "o",
    "los", "las", "entre", "tanto", "at", "on", "by", "before", "after", "in", "during", "instead", "back", "any",
    "anymore", "again", "over", "rather", "or", "and", "please", "so", "tomorrow", "every", "me"];

/// Words that reject the word next to them.
pub(super) const AGAINST: &[&str] = &["odio", "odia", "detesto", "detesta", "aborrezco", "evito", "evita", "evitar",
    "evite", "evite", "eviten", "molesta", "molestan", "choca", "chocan", "incomoda", "incomodan", "agobia", "agobian",
    "estresa", "estresan", "cuesta", "cuestan", "hate", "hates", "dislike", "dislikes", "avoid", "avoids", "loathe",
    "detest", "stress", "stresses", "overwhelm", "overwhelms", "annoy", "annoys"];

// "Mensajes mejor que llamadas": only the messages are preferred.
/// The rejected alternative comes after these.
pub(super) const CONTRAST: &[&[&str]] = &[&["en", "vez"], &["en", "lugar"], &["antes", "que"], &["y", "no"],
    &["instead", "of"], &["rather", "than"], &["and", "not"], &["over"], &["mejor", "que"],
    &["than"], &["a", "las", "llamadas"], &["a", "llamadas"], &["que", "llamadas"], &["que", "las", "llamadas"],
    &["al", "telefono"], &["que", "por", "telefono"], &["a", "los", "mensajes"], &["a", "mensajes"], &["al", "correo"],
    &["a", "los", "correos"], &["a", "las", "videollamadas"], &["a", "la", "videollamada"]];

// "Hoy no me llame" is a wish for one day and forms no preference.
/// Where it is all the same, or so only now, nothing is preferred.
pub(super) const NOTHING_LASTING: &[&[&str]] = &[&["da", "igual"], &["dan", "igual"], &["no", "me", "importa"],
    &["do", "not", "mind"], &["does", "not", "matter"], &["do", "not", "care"], &["hoy"], &["ahora"], &["today"],
    &["right", "now"], &["esta", "vez"], &["this", "time"], &["todavia"], &["yet"], &["esta", "semana"],
    &["this", "week"], &["tonight"], &["manana", "por", "la"]];

// "Llámeme si cambia la cita" is no lasting wish for calls.
/// A condition follows these words: the statement holds only under it.
pub(super) const CONDITIONS: &[&str] = &["si", "cuando", "salvo", "excepto", "mientras", "hasta", "if", "when", "unless",
    "until", "while", "except"];

/// "No quiero hablar de …".
pub(super) const SUBJECTS: &[&[&str]] = &[&["hablar", "de"], &["hablar", "sobre"], &["hablemos", "de"],
    &["hablar", "del"], &["talk", "about"], &["talking", "about"], &["speak", "about"], &["discuss"],
    &["discussing"]];

/// Words of a subject that name nothing by themselves.
pub(super) const HOLLOW: &[&str] = &["el", "la", "los", "las", "lo", "mi", "mis", "my", "the", "su", "sus", "his", "her",
    "de", "del", "of", "eso", "esto", "ello", "that", "this", "it", "things", "cosas", "tema", "temas", "with", "con",
    "anyone", "nadie", "usted", "you", "en", "in"];

/// Informing another person.
pub(super) const TELLING: &[&str] = &["llame", "llamen", "llamar", "avise", "avisen", "avisar", "contacte", "contacten",
    "contactar", "informe", "informen", "diga", "digan", "cuente", "cuenten", "involucren", "call", "tell", "contact",
    "inform", "involve", "notify"];
/// Being informed.
pub(super) const KNOWING: &[&str] = &["sepa", "sepan", "entere", "enteren", "know", "knows", "told", "contacted",
    "informed", "involved", "called", "notified"];
