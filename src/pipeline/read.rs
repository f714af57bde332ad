//! Redaction and extraction, on all cores. Closed on failure: what cannot be redacted in time is not read, and what is
//! not redacted has no type that later stages would take.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Admitted, Pipeline};
use crate::bug;
use crate::dlp::{KnownIdentity, Redacted, Redactor, SurrogateKey};
use crate::domain::reason::Reason;
use crate::extract::{Entity, Extraction, ExtractionInput};
use crate::intake::Message;
use crate::intake::contract::DocumentSubmitted;
use crate::metrics::Metrics;
use crate::metrics::labels::{InfoType, RedactionOutcome, Stage};
use crate::store::Keys;
use crate::text::{Document, Language};

/// A message that has passed redaction and extraction.
pub(crate) struct Read {
    pub admitted: Admitted,
    /// Documents only.
    pub text: Option<(Redacted, Extraction)>,
    pub guard: Guard,
}

/// Redacts the short texts of a message's other fields under the same policy and key, with the same people in mind.
pub(crate) struct Guard {
    redactor: Arc<Redactor>,
    surrogate: [u8; 32],
    identities: Vec<KnownIdentity>,
    metrics: Arc<Metrics>,
}

impl Guard {
    /// A short text without personal data.
    ///
    /// # Errors
    /// When redaction fails: then the message must not be stored.
    pub fn clean(&self, text: &str) -> Result<String, Reason> {
        let document = Document::plain(text, Language::Unknown);
        self.redact(&document).map(|redacted| redacted.document().text.clone())
    }

    /// # Errors
    /// When redaction fails, or the last look finds what it left.
    fn redact(&self, document: &Document) -> Result<Redacted, Reason> {
        let key = SurrogateKey::new(self.surrogate);
        let redacted = self.redactor.redact(document, &self.identities, &key).map_err(|_| Reason::RedactionFailed)?;
        for redaction in redacted.redactions() {
            self.metrics.redaction.findings.of(InfoType::of_label(redaction.label)).inc();
        }
        match self.redactor.left_over(redacted.document(), &self.identities) {
            0 => Ok(redacted),
            left => {
                self.metrics.redaction.leak_guard.inc_by(left as u64);
                tracing::error!(code = "leak_guard", left, "redaction left personal data; the message is set aside");
                Err(Reason::RedactionFailed)
            }
        }
    }

    pub fn clean_option(&self, text: Option<&str>) -> Result<Option<String>, Reason> {
        text.map(|text| self.clean(text)).transpose()
    }
}

impl Pipeline {
    /// Every message of the batch, in parallel; a failure is the message's own.
    pub(super) fn read_all(&self, admitted: Vec<Admitted>, keys: &Keys) -> Vec<Result<Read, (usize, Reason)>> {
        let threads = match self.config.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let waiting: Vec<Mutex<Option<Admitted>>> = admitted.into_iter().map(|a| Mutex::new(Some(a))).collect();
        let done: Vec<Mutex<Option<Result<Read, (usize, Reason)>>>> =
            waiting.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(waiting.len()) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(entry) = waiting.get(at).and_then(|w| w.lock().ok()?.take()) else { break };
                        let result = self.read(entry, keys);
                        if let Ok(mut place) = done[at].lock() {
                            *place = Some(result);
                        }
                    }
                });
            }
        });
        done.into_iter().filter_map(|place| place.into_inner().ok().flatten()).collect()
    }

    fn read(&self, admitted: Admitted, keys: &Keys) -> Result<Read, (usize, Reason)> {
        let place = admitted.place;
        let redactor = self.redactor(&admitted.policy).ok_or((place, Reason::RedactionFailed))?;
        let surrogate = *keys.get(&admitted.scope).ok_or((place, Reason::ErasedSubject))?.surrogate();
        let identities = match &admitted.envelope.message {
            Message::DocumentSubmitted(document) => document.identities(),
            _ => Vec::new(),
        };
        let guard = Guard { redactor: Arc::clone(redactor), surrogate, identities, metrics: Arc::clone(&self.metrics) };
        let text = match &admitted.envelope.message {
            Message::DocumentSubmitted(document) => {
                let subject = admitted.spoken.as_ref().and_then(|spoken| spoken.subject.as_deref());
                Some(self.understood(document, subject, &guard).map_err(|reason| (place, reason))?)
            }
            _ => None,
        };
        Ok(Read { admitted, text, guard })
    }

    /// A text and what it says. Where a correction leaves out of what it speaks ("100 mg"), the name of that is put
    /// before it, if the whole says something of it then.
    fn understood(
        &self,
        document: &DocumentSubmitted,
        subject: Option<&str>,
        guard: &Guard,
    ) -> Result<(Redacted, Extraction), Reason> {
        let said = self.said(document, guard)?;
        let (Some(name), Some(text)) = (subject, document.text.as_deref()) else { return Ok(said) };
        if said.1.entities.iter().any(|e| e.value == name) {
            return Ok(said);
        }
        let fuller = DocumentSubmitted { text: Some(format!("{name} {text}").into()), ..document.clone() };
        let fuller = self.said(&fuller, guard)?;
        let adds = fuller.1.entities.iter().any(|e| e.value == name && says_more_than_its_name(e));
        Ok(if adds { fuller } else { said })
    }

    fn said(&self, document: &DocumentSubmitted, guard: &Guard) -> Result<(Redacted, Extraction), Reason> {
        let redacted = self.redact(document, guard)?;
        let started = Instant::now();
        let input = ExtractionInput {
            document: redacted.document(),
            document_type: Some(document.document_type),
            targets: &[],
            values: redacted.values(),
        };
        let extraction = self.extractor.extract(&input);
        self.observe(Stage::Extract, started);
        Ok((redacted, extraction))
    }

    fn redact(&self, message: &DocumentSubmitted, guard: &Guard) -> Result<Redacted, Reason> {
        let started = Instant::now();
        let document = message.to_document();
        bug::die_of(&document.text);
        let language = document.language.or_detect(&document.text);
        let document = Document { language, ..document };
        let redacted = guard.redact(&document);
        let late = started.elapsed() > Duration::from_millis(self.config.redaction_timeout_ms);
        self.observe(Stage::Redact, started);
        let outcome = match &redacted {
            Err(_) => RedactionOutcome::Failed,
            Ok(_) if late => RedactionOutcome::Failed,
            Ok(redacted) if redacted.redactions().is_empty() => RedactionOutcome::Clean,
            Ok(_) => RedactionOutcome::Redacted,
        };
        self.metrics.redaction.documents.of(outcome).inc();
        redacted.ok().filter(|_| !late).ok_or(Reason::RedactionFailed)
    }

    /// The preferred name of a concept that a short text names by itself.
    pub(super) fn concept_of(&self, name: &str) -> Option<String> {
        let document = Document::plain(name, Language::Unknown);
        let found = self.extractor.extract(&ExtractionInput::of(&document));
        found.entities.into_iter().find(|e| e.span.len() * 2 >= name.len()).map(|e| e.value)
    }

    /// Version of what reads, stored with what it finds.
    pub(super) fn extractor_version(&self) -> String {
        self.extractor.version().to_owned()
    }
}

/// A name alone would confirm what the person corrects.
fn says_more_than_its_name(e: &Entity) -> bool {
    let given = [&e.dose, &e.frequency, &e.route, &e.severity].into_iter().any(Option::is_some);
    let over = matches!(e.status.as_deref(), Some("stopped" | "resolved" | "ended" | "not_taken"));
    given || over || e.context.negated
}
