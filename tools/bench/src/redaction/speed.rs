//! How fast redaction is: parts and whole on notes of 3 KB, and on inputs made to be slow. Rates and hostile inputs in
//! processor time of one thread, which a busy machine changes less; the time of a single note by the clock.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::process;
use anamnesis_redaction::{KnownPeople, RedactionPolicy, Redactor, Stage, SurrogateKey};
use anamnesis_text::{Document, Language};

/// Length of a note, in bytes.
const NOTE: usize = 3_000;
const HOSTILE: usize = 1 << 20;
/// Processor time that a rate is taken from, at least: the machine tells it in ticks of 10 ms.
const LEAST: Duration = Duration::from_millis(500);

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RedactionSpeed {
    /// Seconds to the first answer: tables, patterns and model.
    pub(crate) load_seconds: f64,
    pub(crate) notes: usize,
    pub(crate) bytes: usize,
    /// Megabytes a second of the whole redactor, one thread.
    pub(crate) whole_mb_per_second: f64,
    pub(crate) parts: Vec<StageSpeed>,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Most resident memory while notes were redacted.
    pub(crate) peak_mb: Option<f64>,
    /// Most resident memory while a megabyte at once was redacted.
    pub(crate) hostile_peak_mb: Option<f64>,
    pub(crate) hostile: Vec<HostileSpeed>,
    pub(crate) build: &'static str,
}

/// One part.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StageSpeed {
    pub(crate) part: String,
    /// Reading the text (folding it, cutting it into tokens) included.
    pub(crate) mb_per_second: f64,
    /// The text being read already, as it is within the whole; reading itself for `reading`.
    pub(crate) read_mb_per_second: f64,
}

/// A megabyte of one pattern.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostileSpeed {
    pub(crate) text: &'static str,
    pub(crate) ms: f64,
    /// Time for the megabyte over time for a quarter of it: 4 is linear.
    pub(crate) growth: f64,
}

/// Measures on texts, cut or joined to notes.
pub(crate) fn measure(texts: &[(String, Language)], on_progress: &dyn Fn(&str)) -> RedactionSpeed {
    on_progress("load");
    let start = Instant::now();
    let redactor = Redactor::builtin(RedactionPolicy::default());
    let key = SurrogateKey::new([7; 32]);
    let first = Document::plain("Ana vino el 3 de mayo.", Language::Spanish);
    let whole = |document: &Document| {
        redactor.redact(document, &KnownPeople::default(), &key).map_or(0, |redacted| redacted.redactions().len())
    };
    whole(&first);
    let load_seconds = start.elapsed().as_secs_f64();
    let notes = notes(texts);
    let bytes: usize = notes.iter().map(|note| note.text.len()).sum();
    on_progress("notes");
    notes.iter().take(20).for_each(|note| {
        whole(note);
    });
    let mut times: Vec<Duration> = notes.iter().map(|note| timed(|| whole(note))).collect();
    let pass = seconds(&|| notes.iter().map(&whole).sum());
    times.sort_unstable();
    let at = |share: f64| {
        times.get((share * (times.len().max(1) - 1) as f64) as usize).map_or(0.0, |t| t.as_secs_f64() * 1e3)
    };
    let of_part = |part| seconds(&|| notes.iter().map(|note| redactor.count(note, part)).sum());
    let reading = of_part(Stage::Reading);
    let parts =
        [Stage::Reading, Stage::Patterns, Stage::Lists, Stage::Speech, Stage::Learned].into_iter().map(|part| {
            on_progress("parts");
            let time = if part == Stage::Reading { reading } else { of_part(part) };
            let alone = if part == Stage::Reading { reading } else { time - reading };
            let part = format!("{part:?}").to_lowercase();
            StageSpeed { part, mb_per_second: rate(bytes, time), read_mb_per_second: rate(bytes, alone) }
        });
    let parts: Vec<StageSpeed> = parts.collect();
    let peak = || process::peak_bytes().map(|bytes| bytes as f64 / f64::from(1 << 20));
    let peak_mb = peak();
    let hostile = ["7", "a@", "(((", "Ana ", "1-", "a.", "uno "].into_iter().map(|text| {
        on_progress("hostile");
        let document = |length: usize| Document::plain(text.repeat(length / text.len()), Language::Spanish);
        let (small, large) = (document(HOSTILE / 4), document(HOSTILE));
        let (quarter, full) = (seconds(&|| whole(&small)), seconds(&|| whole(&large)));
        HostileSpeed { text, ms: full * 1e3, growth: full / quarter.max(1e-9) }
    });
    let hostile: Vec<HostileSpeed> = hostile.collect();
    RedactionSpeed {
        load_seconds,
        notes: notes.len(),
        bytes,
        whole_mb_per_second: rate(bytes, pass),
        parts,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        peak_mb,
        hostile_peak_mb: peak(),
        hostile,
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
    }
}

/// Processor seconds of one pass, from as many passes as [`LEAST`] holds; by the clock where the machine tells none.
fn seconds(pass: &dyn Fn() -> usize) -> f64 {
    let (cpu, clock) = (process::cpu(), Instant::now());
    let mut passes = 0;
    loop {
        std::hint::black_box(pass());
        passes += 1;
        let spent = match (cpu, process::cpu()) {
            (Some(from), Some(to)) => to.saturating_sub(from),
            _ => clock.elapsed(),
        };
        if spent >= LEAST {
            return spent.as_secs_f64() / f64::from(passes);
        }
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
