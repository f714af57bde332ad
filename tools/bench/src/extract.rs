//! How fast the rules read, and that hostile text costs no more than its length.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::corpus;
use anamnesis_extraction::{ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

/// Invented documents that are read when no data is given.
const DOCUMENTS: u64 = 400;
/// A measurement is repeated until it lasted so long.
const LEAST: Duration = Duration::from_millis(500);
/// Bytes of a hostile text; it is measured at this length and at twice of it.
const HOSTILE: usize = 200_000;

/// One kind of text.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ExtractionSpeed {
    pub(crate) text: String,
    pub(crate) bytes: usize,
    /// Megabytes (10⁶ bytes) a second on one core, the whole rule path; the best pass.
    pub(crate) megabytes_per_second: f64,
    /// Milliseconds of the best pass.
    pub(crate) milliseconds: f64,
    /// Time for a text twice as long over the time for this one: 2 where the cost is linear.
    pub(crate) doubling: Option<f64>,
}

/// Measures the given documents, or invented ones, and the hostile texts.
pub(crate) fn measure(extractor: &Extractor, documents: Option<Vec<Document>>) -> Vec<ExtractionSpeed> {
    let named = if documents.is_some() { "data" } else { "invented documents" };
    let documents = documents.unwrap_or_else(invented);
    let mut out = vec![speed(extractor, named, &documents)];
    for (name, piece) in HOSTILE_TEXTS {
        let text = |bytes: usize| Document::plain(piece.repeat(bytes / piece.len()), Language::Unknown);
        let mut once = speed(extractor, name, &[text(HOSTILE)]);
        let twice = speed(extractor, name, &[text(2 * HOSTILE)]);
        once.doubling = Some(twice.milliseconds / once.milliseconds.max(f64::MIN_POSITIVE));
        out.push(once);
    }
    out
}

/// Speech without a break, nothing but cues, medicines, risk, signs.
const HOSTILE_TEXTS: &[(&str, &str)] = &[
    ("200 kB without a break", "y entonces me dijo que no sabia nada de la ansiedad "),
    ("10,000 cues and more", "no sin niega "),
    ("medicines in a row", "sertralina 50 mg cada 8 horas "),
    ("words of risk in a row", "quiero matarme con pastillas "),
    ("allergies in a row", "alergico a penicilina "),
    ("one long word", "aaaaaaaaaaaaaaaa"),
    ("signs", "((((....????"),
];

fn speed(extractor: &Extractor, name: &str, documents: &[Document]) -> ExtractionSpeed {
    let bytes = documents.iter().map(|document| document.text.len()).sum();
    let (begun, mut best) = (Instant::now(), Duration::MAX);
    while begun.elapsed() < LEAST {
        let pass = Instant::now();
        for document in documents {
            std::hint::black_box(extractor.extract(&ExtractionInput::new(document)));
        }
        best = best.min(pass.elapsed());
    }
    let seconds = best.as_secs_f64().max(f64::MIN_POSITIVE);
    #[allow(clippy::cast_precision_loss)] // a text's length
    let megabytes = bytes as f64 / 1e6;
    ExtractionSpeed {
        text: name.to_owned(),
        bytes,
        megabytes_per_second: megabytes / seconds,
        milliseconds: seconds * 1e3,
        doubling: None,
    }
}

fn invented() -> Vec<Document> {
    let texts = (0..DOCUMENTS).filter_map(|number| {
        let body: serde_json::Value = serde_json::from_slice(&corpus::document(number)).ok()?;
        document(&body)
    });
    texts.collect()
}

/// A text or a dialogue in the shape of the message contract.
pub(crate) fn document(body: &serde_json::Value) -> Option<Document> {
    let language = match body.get("language").or_else(|| body.get("lang")).and_then(serde_json::Value::as_str) {
        Some("es") => Language::Spanish,
        Some("en") => Language::English,
        _ => Language::Unknown,
    };
    if let Some(text) = body.get("text").and_then(serde_json::Value::as_str) {
        return Some(Document::plain(text, language));
    }
    let turns = body.get("turns")?.as_array()?;
    let said = turns.iter().filter_map(|turn| {
        let speaker = serde_json::from_value(turn.get("speaker")?.clone()).unwrap_or_default();
        Some((speaker, turn.get("text")?.as_str()?, None))
    });
    Some(Document::dialogue(said, language))
}
