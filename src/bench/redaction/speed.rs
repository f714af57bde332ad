//! How fast redaction is: parts and whole on notes of 3 KB, and on inputs made to be slow. Processor time of one thread.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::bench::process;
use crate::dlp::{Part, Policy, Redactor, SurrogateKey};
use crate::text::{Document, Language};

/// Length of a note, in bytes.
const NOTE: usize = 3_000;
const HOSTILE: usize = 1 << 20;

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub struct Speed {
    /// Seconds to the first answer: tables, patterns and model.
    pub load_seconds: f64,
    pub notes: usize,
    pub bytes: usize,
    /// Megabytes a second of the whole redactor, wall time of one thread.
    pub whole_mb_per_second: f64,
    pub parts: Vec<OfPart>,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub peak_mb: Option<f64>,
    pub hostile: Vec<OfHostile>,
    pub build: &'static str,
}

/// One part alone, reading the text included.
#[derive(Debug, Clone, Serialize)]
pub struct OfPart {
    pub part: String,
    pub mb_per_second: f64,
}

/// A megabyte of one pattern.
#[derive(Debug, Clone, Serialize)]
pub struct OfHostile {
    pub text: &'static str,
    pub ms: f64,
    /// Time for the megabyte over time for a quarter of it: 4 is linear.
    pub growth: f64,
}

/// Measures on texts, cut or joined to notes.
pub fn measure(texts: &[(String, Language)], told: &dyn Fn(&str)) -> Speed {
    told("load");
    let start = Instant::now();
    let redactor = Redactor::builtin(Policy::default());
    let key = SurrogateKey::new([7; 32]);
    let first = Document::plain("Ana vino el 3 de mayo.", Language::Spanish);
    let whole =
        |document: &Document| redactor.redact(document, &[], &key).map_or(0, |redacted| redacted.redactions().len());
    whole(&first);
    let load_seconds = start.elapsed().as_secs_f64();
    let notes = notes(texts);
    let bytes: usize = notes.iter().map(|note| note.text.len()).sum();
    told("notes");
    notes.iter().take(20).for_each(|note| {
        whole(note);
    });
    let mut times: Vec<Duration> = notes.iter().map(|note| timed(|| whole(note))).collect();
    let sum: f64 = times.iter().map(Duration::as_secs_f64).sum();
    times.sort_unstable();
    let at = |share: f64| {
        times.get((share * (times.len().max(1) - 1) as f64) as usize).map_or(0.0, |t| t.as_secs_f64() * 1e3)
    };
    let parts = [Part::Reading, Part::Patterns, Part::Lists, Part::Speech, Part::Learned];
    let parts = parts.into_iter().map(|part| {
        told("parts");
        let time = timed(|| notes.iter().map(|note| redactor.count(note, part)).sum());
        OfPart { part: format!("{part:?}").to_lowercase(), mb_per_second: rate(bytes, time.as_secs_f64()) }
    });
    let parts = parts.collect();
    let hostile = ["7", "a@", "(((", "Ana ", "1-", "a.", "uno "].into_iter().map(|text| {
        told("hostile");
        let document = |length: usize| Document::plain(text.repeat(length / text.len()), Language::Spanish);
        let (small, large) = (document(HOSTILE / 4), document(HOSTILE));
        let (quarter, full) = (timed(|| whole(&small)), timed(|| whole(&large)));
        let growth = full.as_secs_f64() / quarter.as_secs_f64().max(1e-9);
        OfHostile { text, ms: full.as_secs_f64() * 1e3, growth }
    });
    let hostile = hostile.collect();
    Speed {
        load_seconds,
        notes: notes.len(),
        bytes,
        whole_mb_per_second: rate(bytes, sum),
        parts,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        peak_mb: process::peak_bytes().map(|bytes| bytes as f64 / f64::from(1 << 20)),
        hostile,
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
    }
}

fn timed(work: impl FnOnce() -> usize) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn rate(bytes: usize, seconds: f64) -> f64 {
    bytes as f64 / 1e6 / seconds.max(1e-9)
}

/// Notes of about [`NOTE`] bytes, each of one language.
fn notes(texts: &[(String, Language)]) -> Vec<Document> {
    let mut notes = Vec::new();
    for language in [Language::Spanish, Language::English, Language::Unknown] {
        let mut open = String::new();
        for (text, _) in texts.iter().filter(|(_, of)| *of == language) {
            for line in text.split_inclusive('\n') {
                open.push_str(line);
                if open.len() >= NOTE {
                    notes.push(Document::plain(std::mem::take(&mut open), language));
                }
            }
            if !open.is_empty() && !open.ends_with('\n') {
                open.push('\n');
            }
        }
        if !open.is_empty() {
            notes.push(Document::plain(open, language));
        }
    }
    notes
}
