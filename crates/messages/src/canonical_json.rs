//! The first pass over untrusted JSON: it rejects what no later stage should see (duplicate keys, control
//! characters, deep nesting, anything after the value) and writes the canonical form: keys sorted, no white space,
//! numbers and escapes in one spelling. Equal content gives equal bytes whatever library the producer serialised with,
//! so the hash of the canonical form tells a redelivery from another message under the same id.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::deserialize::shown;
use super::rejection::{Problem, Rejection};
use anamnesis_core::reason::Reason;

/// Canonical JSON: its bytes, and the ranges of the outermost object's values in them.
pub(super) struct CanonicalJson {
    canonical: Vec<u8>,
    top: Vec<(String, Range<usize>)>,
}

/// A key (borrowed from the text unless it has escapes) and the range of its value in the output.
type CanonicalField<'t> = (Cow<'t, str>, Range<usize>);

impl CanonicalJson {
    pub(crate) fn canonical(&self) -> &[u8] {
        &self.canonical
    }

    /// Whether the outermost object has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.top.iter().any(|(name, _)| name == key)
    }

    /// The canonical bytes of one value of the outermost object.
    pub(crate) fn value(&self, key: &str) -> Option<&[u8]> {
        let (_, range) = self.top.iter().find(|(name, _)| name == key)?;
        self.canonical.get(range.clone())
    }
}

/// Deepest path that a refusal spells out.
const SHOWN_DEPTH: usize = 8;

/// Reads one JSON object.
pub(super) fn canonicalize(json: &str, max_depth: usize) -> Result<CanonicalJson, Rejection> {
    let mut state = CanonicalWriter {
        out: Vec::with_capacity(json.len()),
        values: Vec::new(),
        top: Vec::new(),
        path: Vec::new(),
        max_depth,
        problem: None,
    };
    let mut reader = serde_json::Deserializer::from_str(json);
    let read = ElementSeed(&mut state).deserialize(&mut reader).and_then(|()| reader.end());
    if read.is_err() {
        return Err(state.refusal(json));
    }
    if state.out.first() != Some(&b'{') {
        return Err(Rejection::new(Reason::Malformed, Problem::Mistyped));
    }
    let top = state.top.into_iter().map(|(key, range)| (key.into_owned(), range)).collect();
    Ok(CanonicalJson { canonical: state.out, top })
}

/// Tab, line feed and carriage return shape a text; a form feed is the page break of an uploaded document. Every other
/// ASCII control character is refused: PostgreSQL takes no U+0000, and the rest come from broken exports. U+0080–U+009F
/// are taken: real notes hold them where a Windows quotation mark was decoded wrongly, and a note must not be lost for it.
///
/// Byte by byte, without a way out before the end: an ASCII byte is never a part of another character, and so the compiler
/// looks at sixteen at once. Letter by letter it was the most of reading a message.
fn has_refused(text: &str) -> bool {
    let refused = |byte: u8| byte.is_ascii_control() & !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c');
    text.bytes().fold(false, |found, byte| found | refused(byte))
}

pub(crate) enum PathStep<'t> {
    Key(Cow<'t, str>),
    Index(usize),
}

pub(crate) struct CanonicalWriter<'t> {
    out: Vec<u8>,
    /// Values of the object that is being sorted.
    values: Vec<u8>,
    top: Vec<CanonicalField<'t>>,
    /// The current path of the reader; kept as it is when an error unwinds.
    path: Vec<PathStep<'t>>,
    max_depth: usize,
    problem: Option<Problem>,
}

impl CanonicalWriter<'_> {
    fn stop<E: de::Error>(&mut self, problem: Problem) -> E {
        self.problem = Some(problem);
        E::custom("refused")
    }

    fn text<E: de::Error>(&mut self, text: &str) -> Result<(), E> {
        if has_refused(text) {
            return Err(self.stop(Problem::Control));
        }
        self.write(text)
    }

    /// Writes one scalar; a vector takes everything that is not a broken number.
    fn write<E: de::Error>(&mut self, value: impl serde::Serialize) -> Result<(), E> {
        serde_json::to_writer(&mut self.out, &value).map_err(|_| self.stop(Problem::Syntax))
    }

    fn enter<E: de::Error>(&mut self) -> Result<(), E> {
        if self.path.len() >= self.max_depth { Err(self.stop(Problem::Depth)) } else { Ok(()) }
    }

    fn refusal(&self, json: &str) -> Rejection {
        let problem = self.problem.unwrap_or({
            // JSON forbids raw control characters, so the parser calls them a syntax error.
            let raw = has_refused(json);
            if raw { Problem::Control } else { Problem::Syntax }
        });
        let reason = if problem == Problem::Control { Reason::NulOrControl } else { Reason::Malformed };
        let field = self.shown_path();
        Rejection { reason, problem, field: (!field.is_empty()).then_some(field) }
    }

    fn shown_path(&self) -> String {
        let mut shown_path = String::new();
        for step in self.path.iter().take(SHOWN_DEPTH) {
            match step {
                PathStep::Index(index) => shown_path.push_str(&format!("[{index}]")),
                PathStep::Key(key) => {
                    let dot = if shown_path.is_empty() { "" } else { "." };
                    shown_path.push_str(dot);
                    shown_path.push_str(shown(key));
                }
            }
        }
        shown_path
    }
}

/// One value of any kind.
struct ElementSeed<'a, 't>(&'a mut CanonicalWriter<'t>);

impl<'de> DeserializeSeed<'de> for ElementSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.write(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.0.write(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.0.write(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.0.write(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        // 1.0 and 1 are the same number; 2^53 bounds the integers that survive the way through a float.
        if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
            return self.0.write(value as i64);
        }
        self.0.write(value)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.0.text(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let state = self.0;
        state.enter()?;
        state.out.push(b'[');
        let mut index = 0;
        loop {
            let before = state.out.len();
            if index > 0 {
                state.out.push(b',');
            }
            state.path.push(PathStep::Index(index));
            if items.next_element_seed(ElementSeed(state))?.is_none() {
                state.path.pop();
                state.out.truncate(before);
                break;
            }
            state.path.pop();
            index += 1;
        }
        state.out.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let state = self.0;
        state.enter()?;
        let start = state.out.len();
        let mut entries: Vec<CanonicalField<'de>> = Vec::new();
        while let Some(key) = fields.next_key_seed(KeySeed(PhantomData))? {
            let refused = has_refused(&key);
            state.path.push(PathStep::Key(key));
            if refused {
                return Err(state.stop(Problem::Control));
            }
            let before = state.out.len();
            fields.next_value_seed(ElementSeed(state))?;
            if let Some(PathStep::Key(key)) = state.path.pop() {
                entries.push((key, before..state.out.len()));
            }
        }
        sort(state, start, entries)
    }
}

/// A key, read without a copy of its own where nothing in it is escaped.
struct KeySeed<'t>(PhantomData<&'t str>);

impl<'de> DeserializeSeed<'de> for KeySeed<'de> {
    type Value = Cow<'de, str>;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'de> {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: de::Error>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// Rewrites the values that stand from `start` on as an object with sorted keys; a key that comes twice is refused.
fn sort<'t, E: de::Error>(
    state: &mut CanonicalWriter<'t>,
    start: usize,
    mut entries: Vec<CanonicalField<'t>>,
) -> Result<(), E> {
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(twice) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let key = twice[0].0.clone();
        state.path.push(PathStep::Key(key));
        return Err(state.stop(Problem::DuplicateKey));
    }
    let mut values = std::mem::take(&mut state.values);
    values.clear();
    values.extend_from_slice(&state.out[start..]);
    state.out.truncate(start);
    state.out.reserve(values.len() + entries.iter().map(|(key, _)| key.len() + 4).sum::<usize>() + 2);
    state.out.push(b'{');
    for (position, (key, range)) in entries.iter_mut().enumerate() {
        if position > 0 {
            state.out.push(b',');
        }
        state.write(&**key)?;
        state.out.push(b':');
        let before = state.out.len();
        state.out.extend_from_slice(&values[range.start - start..range.end - start]);
        *range = before..state.out.len();
    }
    state.out.push(b'}');
    state.values = values;
    if state.path.is_empty() {
        state.top = entries;
    }
    Ok(())
}
