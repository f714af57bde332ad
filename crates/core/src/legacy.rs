//! Records of older systems: the formats of seed 000 (profile dictionaries, rows with `is_active`), seed 001 (memories
//! with and without provenance, `told_by_agent` and `told_by_human`, seed beliefs under another source) and seed 004
//! (`UserMemory`, plain or enhanced). A value that a record lacks is unknown, never explicit (model.md, "Provenance").
//! Pure.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::{Map, Value};

use super::coded_enum::codes;
use super::memory::Kind;
use super::provenance::{SourceType, Teller, Trust, TrustBasis, trust_of};

codes!(
    /// Which system wrote a record.
    LegacyFormat {
        /// A profile dictionary (seed 000).
        Profile = "profile",
        /// A row with `is_active` and a stratum (seed 000).
        Stratum = "stratum",
        /// A memory of seed 001.
        Kernle = "kernle",
        /// A user memory, enhanced or not (seed 004).
        UserMemory = "user_memory",
    }
);

/// A record, as far as it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct LegacyRecord {
    pub format: LegacyFormat,
    /// Its own id, where it has one.
    pub id: Option<String>,
    pub text: String,
    pub kind: Kind,
    pub at: Option<DateTime<Utc>>,
    /// False: it was forgotten, and stays so.
    pub is_active: bool,
    pub is_protected: bool,
    pub source_type: SourceType,
    /// The source that the record names.
    pub source: Option<String>,
    pub is_proxy: bool,
    pub proxy_agent: Option<String>,
    /// 0.0–1.0, where it says so.
    pub confidence: Option<f64>,
    /// Of a profile dictionary: its values, by the path of the key.
    pub entries: Vec<(String, String)>,
    /// Ids of its parent records; captures are no records.
    pub parents: Vec<String>,
}

/// A derived record is no better known than its worst parent; a parent outside the file is unknown.
pub fn take_the_worst_of_parents(records: &mut [Option<LegacyRecord>]) {
    let trust = |source_type| trust_of(&TrustBasis::stated(source_type, Teller::Unknown));
    // A chain is no longer than there are records.
    for _ in 0..records.len() {
        let known: HashMap<String, SourceType> =
            records.iter().flatten().filter_map(|one| Some((one.id.clone()?, one.source_type))).collect();
        let mut changed = false;
        for record in records.iter_mut().flatten() {
            let of = |parent: &String| known.get(parent).copied().unwrap_or(SourceType::Unknown);
            let Some(worst) = record.parents.iter().map(of).max_by_key(|one| trust(*one)) else { continue };
            if trust(worst) > trust(record.source_type).max(Trust::T3) {
                record.source_type = worst;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Keys of profile dictionaries (seed 000), in both languages: anything else without a statement is no record.
#[rustfmt::skip]
const OF_PROFILES: [&str; 38] = [
    "user_id", "patient_id", "profile", "preferences", "preferencias", "tone", "tono", "style", "estilo", "language", "idioma",
    "timezone", "zona_horaria", "name", "nombre", "pronouns", "pronombres", "goals", "metas", "objetivos", "values", "valores",
    "interests", "intereses", "topics", "temas", "triggers", "boundaries", "limites", "communication_style", "therapist",
    "privacy_tier", "conditions", "allergies", "medications", "country", "pais",
    "disclaimer_accepted_at",
];

/// The kind that a record says it is.
fn declared(fields: &Map<String, Value>) -> Option<Kind> {
    string(fields, &["memory_type", "type", "kind"]).and_then(|code| Kind::from_code(&code))
}

/// The order in which records can be imported: parents first, else as they came.
pub fn parents_first(records: &[Option<LegacyRecord>]) -> Vec<usize> {
    let places: HashMap<&str, usize> =
        records.iter().enumerate().filter_map(|(at, one)| Some((one.as_ref()?.id.as_deref()?, at))).collect();
    let mut order = Vec::with_capacity(records.len());
    let mut seen = vec![false; records.len()];
    for first in 0..records.len() {
        // Depth first, without recursion: a chain may be as long as the file.
        let mut open = vec![(first, false)];
        while let Some((at, is_ready)) = open.pop() {
            if is_ready {
                order.push(at);
            } else if !std::mem::replace(&mut seen[at], true) {
                open.push((at, true));
                let parents = records[at].iter().flat_map(|one| &one.parents);
                open.extend(parents.filter_map(|id| places.get(id.as_str())).map(|parent| (*parent, false)));
            }
        }
    }
    order
}

/// Reads a record; `None` for a record of no known format, or without content.
pub fn read(record: &Value) -> Option<LegacyRecord> {
    let fields = record.as_object()?;
    let read = if fields.contains_key("base_memory") || fields.contains_key("memory") {
        user_memory(fields)
    } else if text_of(fields).is_some() && fields.contains_key("is_active") && !fields.contains_key("source_type") {
        stratum(fields)
    } else if text_of(fields).is_some() {
        kernle(fields)
    } else if declared(fields).is_none() && OF_PROFILES.iter().any(|key| fields.contains_key(*key)) {
        profile(fields)
    } else {
        None
    };
    read.filter(|legacy| !legacy.text.trim().is_empty() || !legacy.entries.is_empty())
}

fn user_memory(fields: &Map<String, Value>) -> Option<LegacyRecord> {
    let base = fields.get("base_memory").and_then(Value::as_object).unwrap_or(fields);
    let text = string(base, &["memory", "content", "text"])?;
    Some(LegacyRecord {
        source_type: SourceType::Unknown,
        is_proxy: flag(fields, "is_proxy").unwrap_or(false),
        proxy_agent: string(fields, &["proxy_agent"]),
        confidence: number(fields, "confidence"),
        ..common(LegacyFormat::UserMemory, base, text, Kind::Note)
    })
}

fn stratum(fields: &Map<String, Value>) -> Option<LegacyRecord> {
    let source_type = match string(fields, &["stratum", "epistemic", "provenance", "type"]).as_deref() {
        Some("explicit") => SourceType::DirectExperience,
        Some("observed") => SourceType::Observation,
        Some("inferred") => SourceType::Inference,
        _ => SourceType::Unknown,
    };
    Some(LegacyRecord {
        source_type,
        confidence: number(fields, "confidence"),
        ..common(LegacyFormat::Stratum, fields, text_of(fields)?, Kind::Note)
    })
}

fn kernle(fields: &Map<String, Value>) -> Option<LegacyRecord> {
    let kind = declared(fields).unwrap_or(if fields.contains_key("objective") { Kind::Episode } else { Kind::Note });
    let source_text = string(fields, &["source", "source_context"]);
    let is_seed = source_text
        .as_deref()
        .is_some_and(|source_text| super::source::read(source_text).source_type == SourceType::Seed)
        || list(fields, "derived_from")
            .iter()
            .any(|parent| parent.starts_with("seed:") || parent == "context:kernle_seed");
    let source_type = match string(fields, &["source_type"]).as_deref() {
        // Beliefs that were loaded at the start, whatever they were filed under.
        _ if is_seed => SourceType::Seed,
        Some("told_by_agent" | "told_by_human" | "told") => SourceType::External,
        Some(code) => SourceType::from_code(code).unwrap_or(SourceType::Unknown),
        None => SourceType::Unknown,
    };
    Some(LegacyRecord {
        source_type,
        source: string(fields, &["source_entity"]).or(source_text),
        confidence: number(fields, "confidence"),
        is_protected: flag(fields, "is_protected").unwrap_or(false),
        ..common(LegacyFormat::Kernle, fields, text_of(fields)?, if kind == Kind::Raw { Kind::Note } else { kind })
    })
}

fn profile(fields: &Map<String, Value>) -> Option<LegacyRecord> {
    let mut entries = Vec::new();
    leaves(fields, "", &mut entries);
    Some(LegacyRecord { entries, ..common(LegacyFormat::Profile, fields, String::new(), Kind::Note) })
}

fn common(format: LegacyFormat, fields: &Map<String, Value>, text: String, kind: Kind) -> LegacyRecord {
    LegacyRecord {
        format,
        id: string(fields, &["id", "memory_id", "user_id"]),
        text,
        kind,
        at: ["created_at", "last_updated", "updated_at", "timestamp"].iter().find_map(|key| instant(fields.get(*key)?)),
        is_active: flag(fields, "is_active").or_else(|| flag(fields, "deleted").map(|gone| !gone)).unwrap_or(true),
        is_protected: false,
        source_type: SourceType::Unknown,
        source: None,
        is_proxy: false,
        proxy_agent: None,
        confidence: None,
        entries: Vec::new(),
        parents: list(fields, "derived_from").iter().filter_map(|parent| record_of(parent)).collect(),
    }
}

/// The id of a parent that is a record: a capture, a seed and a context are not.
fn record_of(parent: &str) -> Option<String> {
    let (kind, id) = parent.split_once(':')?;
    Kind::from_code(kind).filter(|kind| *kind != Kind::Raw).map(|_| id.to_owned())
}

/// The text of a memory, from the field of its kind.
fn text_of(fields: &Map<String, Value>) -> Option<String> {
    if let Some(text) = string(fields, &["statement", "content", "text", "fact"]) {
        return Some(text);
    }
    let (heads, rests): (&[&str], &[&str]) = match declared(fields) {
        Some(Kind::Goal) => (&["title"], &["description"]),
        Some(Kind::Value) => (&["name"], &["description"]),
        Some(Kind::Drive) => (&["drive_type", "name"], &["description", "focus_areas"]),
        Some(Kind::Relationship) => (&["entity_name", "name"], &["relationship_type", "notes", "description"]),
        _ => (&["objective"], &["outcome", "lessons"]),
    };
    let mut parts = vec![string(fields, heads).or_else(|| string(fields, &["objective"]))?];
    for key in rests {
        parts.extend(string(fields, &[key]));
        let items = list(fields, key);
        parts.extend((!items.is_empty()).then(|| items.join(if *key == "lessons" { ". " } else { ", " })));
    }
    Some(parts.iter().map(|part| part.trim_end_matches('.')).collect::<Vec<_>>().join(". "))
}

/// The content of a profile; ids, flags and times are not content.
fn leaves(fields: &Map<String, Value>, path: &str, out: &mut Vec<(String, String)>) {
    const APART: [&str; 9] =
        ["id", "user_id", "is_active", "deleted", "created_at", "updated_at", "last_updated", "timestamp", "version"];
    for (key, value) in fields.iter().filter(|(key, _)| !APART.contains(&key.as_str())) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Object(inner) => leaves(inner, &path, out),
            Value::Array(items) => {
                let words: Vec<String> = items.iter().filter_map(leaf).collect();
                out.extend((!words.is_empty()).then(|| (path, words.join("; "))));
            }
            other => out.extend(leaf(other).map(|word| (path, word))),
        }
    }
}

fn leaf(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn string(fields: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let text = |key: &&str| match fields.get(*key)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    keys.iter().find_map(text)
}

fn list(fields: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = fields.get(key).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn flag(fields: &Map<String, Value>, key: &str) -> Option<bool> {
    let value = fields.get(key)?;
    value.as_bool().or_else(|| value.as_i64().map(|number| number != 0))
}

fn number(fields: &Map<String, Value>, key: &str) -> Option<f64> {
    fields.get(key).and_then(Value::as_f64).filter(|number| (0.0..=1.0).contains(number))
}

/// RFC 3339, ISO 8601 without a zone (read as UTC), or seconds since 1970.
fn instant(value: &Value) -> Option<DateTime<Utc>> {
    if let Some(seconds) = value.as_f64() {
        return DateTime::from_timestamp(seconds as i64, 0);
    }
    let text = value.as_str()?;
    let zoned = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc()).ok();
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
    let local = || formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    zoned.or_else(|| local().map(|at| at.and_utc()))
}

/// Whether a text is a typed value rather than words: an id, an instant, a code of a closed set, `kind:id`. Everything
/// else passes redaction before it is stored.
pub fn is_typed(text: &str) -> bool {
    let bare = text.split_once(':').filter(|(kind, _)| Kind::from_code(kind).is_some()).map_or(text, |(_, id)| id);
    let is_hex = (6..=36).contains(&bare.len()) && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let has_both = bare.chars().any(|c| c.is_ascii_digit()) && bare.chars().any(|c| c.is_ascii_alphabetic());
    (is_hex && has_both && bare.len() != text.len())
        || uuid::Uuid::parse_str(bare).is_ok()
        || instant(&Value::String(text.to_owned())).is_some()
        || SourceType::from_code(text).is_some()
        || Kind::from_code(text).is_some()
        || matches!(text, "told_by_agent" | "told_by_human" | "explicit" | "observed" | "inferred")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_record_does_not_say_is_unknown_and_never_explicit() {
        let bare = read(&json!({"memory_id": "m1", "memory": "Likes walks", "topics": ["walks"]})).unwrap();
        assert_eq!((bare.format, bare.source_type), (LegacyFormat::UserMemory, SourceType::Unknown));
        assert_eq!((bare.confidence, bare.is_proxy, bare.is_active), (None, false, true));
        let old = read(&json!({"type": "belief", "statement": "Rest helps", "id": "b1"})).unwrap();
        assert_eq!((old.kind, old.source_type), (Kind::Belief, SourceType::Unknown));
    }

    #[test]
    fn an_enhanced_memory_retains_its_proxy_and_its_confidence() {
        let record = json!({"base_memory": {"memory_id": "m2", "memory": "Appointment moved", "last_updated": "2025-11-06T10:00:00"},
            "confidence": 0.25, "is_proxy": true, "proxy_agent": "scheduler"});
        let enhanced = read(&record).unwrap();
        assert_eq!((enhanced.confidence, enhanced.is_proxy), (Some(0.25), true));
        assert_eq!(enhanced.proxy_agent.as_deref(), Some("scheduler"));
        assert_eq!(enhanced.at.unwrap().to_rfc3339(), "2025-11-06T10:00:00+00:00");
    }

    #[test]
    fn old_source_types_are_external_and_seed_beliefs_are_seeds_whatever_they_were_filed_under() {
        let source = |record: Value| read(&record).unwrap().source_type;
        for source_text in ["told_by_agent", "told_by_human"] {
            assert_eq!(source(json!({"statement": "x is y", "source_type": source_text})), SourceType::External);
        }
        let seeded = json!({"statement": "x is y", "source_type": "direct_experience", "source": "seed beliefs"});
        assert_eq!(source(seeded), SourceType::Seed);
        assert_eq!(source(json!({"statement": "x", "source_type": "observation"})), SourceType::Observation);
        assert_eq!(source(json!({"statement": "x", "source_type": "hearsay"})), SourceType::Unknown);
    }

    #[test]
    fn a_row_with_is_active_is_read_by_its_stratum_and_a_dictionary_by_its_leaves() {
        let row =
            read(&json!({"id": 7, "content": "Prefers mornings", "is_active": 0, "stratum": "inferred"})).unwrap();
        assert_eq!((row.is_active, row.source_type, row.id.as_deref()), (false, SourceType::Inference, Some("7")));
        let profile =
            json!({"user_id": "u1", "style": {"tone": "warm"}, "goals": ["sleep", "walk"], "is_active": true});
        let read_ = read(&profile).unwrap();
        assert_eq!(read_.format, LegacyFormat::Profile);
        assert_eq!(read_.entries, [("goals".into(), "sleep; walk".into()), ("style.tone".into(), "warm".to_owned())]);
        assert_eq!(read(&json!({"user_id": "u1"})), None, "nothing said");
    }

    #[test]
    fn goals_drives_values_and_relationships_are_what_they_say_they_are() {
        for (record, kind, text) in [
            (
                json!({"type": "goal", "title": "Swim again", "description": "Twice a week."}),
                Kind::Goal,
                "Swim again. Twice a week",
            ),
            (
                json!({"memory_type": "drive", "drive_type": "connection", "focus_areas": ["family", "friends"]}),
                Kind::Drive,
                "connection. family, friends",
            ),
            (
                json!({"type": "relationship", "entity_name": "Ana", "notes": "Calls on Sundays"}),
                Kind::Relationship,
                "Ana. Calls on Sundays",
            ),
            (json!({"type": "value", "name": "honesty"}), Kind::Value, "honesty"),
            (
                json!({"type": "episode", "objective": "Dinner", "outcome": "Laughed", "lessons": ["a", "b"]}),
                Kind::Episode,
                "Dinner. Laughed. a. b",
            ),
        ] {
            let legacy = read(&record).unwrap();
            assert_eq!((legacy.format, legacy.kind, legacy.text.as_str()), (LegacyFormat::Kernle, kind, text));
        }
    }

    #[test]
    fn what_is_neither_a_statement_nor_anybodys_profile_is_no_record() {
        for record in [json!({"foo": "bar"}), json!({"type": "goal", "status": "active"}), json!([1]), json!("x")] {
            assert_eq!(read(&record), None, "{record}");
        }
    }

    #[test]
    fn parents_come_before_what_was_made_from_them_and_a_circle_ends() {
        let record = |id: &str, from: &[&str]| read(&json!({"id": id, "statement": "x", "derived_from": from}));
        let chain = [record("a", &["note:b", "note:c"]), None, record("b", &["note:c"]), record("c", &["raw:9"])];
        assert_eq!(parents_first(&chain), [3, 2, 0, 1]);
        let circle = [record("a", &["note:b"]), record("b", &["note:a"])];
        let mut order = parents_first(&circle);
        order.sort_unstable();
        assert_eq!(order, [0, 1]);
    }

    #[test]
    fn typed_values_are_distinguished_from_words() {
        for typed in ["raw:f70cefb6", "2025-11-06T10:00:00", "told_by_human", "belief"] {
            assert!(is_typed(typed), "{typed}");
        }
        for words in ["claire", "12345678Z", "Ana", "f70cefb6", "call 612 345 678"] {
            assert!(!is_typed(words), "{words}");
        }
    }
}
