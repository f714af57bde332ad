//! Redaction and extraction, on all cores. Fails closed: a text that is not redacted in time is not extracted, and
//! later stages accept no type of unredacted text.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use chrono::NaiveDate;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

use super::{AdmittedMessage, Disposition, MessageOutcome, Pipeline};
use anamnesis_config::UnsupportedLanguage;
use anamnesis_core::failpoints;
use anamnesis_core::ids::OrgId;
use anamnesis_core::reason::Reason;
use anamnesis_extraction::dates::{self, DateMention};
use anamnesis_extraction::{DocumentReading, Entity, Extraction, ExtractionInput, Extractor};
use anamnesis_messages::contract::DocumentSubmitted;
use anamnesis_observability::metrics::labels::{InfoType, RedactionOutcome, ServiceFailure, Stage};
use anamnesis_observability::metrics::{Label as _, Metrics};
use anamnesis_observability::traces::{Name, SpanKind, TraceContext};
use anamnesis_redaction::deadline;
use anamnesis_redaction::remote::ExternalFinding;
use anamnesis_redaction::{KnownIdentity, KnownPeople, Redacted, RedactionError, Redactor, SurrogateKey};
use anamnesis_store::Keys;
use anamnesis_text::{Document, Language, Span, coverage};

/// The people of some messages of a batch, prepared by the first that is analyzed.
type SharedPeople = OnceLock<Arc<KnownPeople>>;

/// A message that has passed redaction and extraction.
pub(crate) struct AnalyzedMessage {
    pub(crate) admitted: AdmittedMessage,
    /// Documents only.
    pub(crate) text: Option<Box<(Redacted, Extraction)>>,
    /// A text in an unsupported language: `text` is empty, and this is stored sealed.
    pub(crate) unread: Option<String>,
    pub(crate) field_redactor: FieldRedactor,
}

/// Redacts the short texts of a message's other fields under the same policy and key, with the same known people.
pub(crate) struct FieldRedactor {
    redactor: Arc<Redactor>,
    surrogate: [u8; 32],
    people: Arc<KnownPeople>,
    metrics: Arc<Metrics>,
    /// The span of the work on the message.
    span: TraceContext,
}

impl FieldRedactor {
    /// A short text without personal data.
    ///
    /// # Errors
    /// As [`FieldRedactor::redact`]: then the message must not be stored.
    pub(crate) fn clean(&self, text: &str) -> Result<String, Disposition> {
        let document = Document::plain(text, Language::Unknown);
        // Fields have no policy for unsupported languages: a field that cannot be redacted is not stored.
        if coverage::unread(text).is_some() {
            return Err(Disposition::Quarantined(Reason::UnsupportedLanguage));
        }
        Ok(self.redact(&document)?.document().text.clone())
    }

    /// # Errors
    /// When redaction fails, or the final check finds personal data: quarantined. When an additional service cannot be
    /// reached now: retried.
    fn redact(&self, document: &Document) -> Result<Redacted, Disposition> {
        self.redact_with(document, &self.ask(document)?)
    }

    /// The findings of additional services.
    fn ask(&self, document: &Document) -> Result<Vec<ExternalFinding>, Disposition> {
        self.redactor.query_services(document).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &RedactionError) -> Disposition {
        let RedactionError::ServiceAway(error) = error else {
            return Disposition::Quarantined(Reason::RedactionFailed);
        };
        let failure = ServiceFailure::from_code(error.code()).unwrap_or(ServiceFailure::Refused);
        self.metrics.redaction.services.with_labels(failure).inc();
        Disposition::Retry
    }

    fn redact_with(&self, document: &Document, remote: &[ExternalFinding]) -> Result<Redacted, Disposition> {
        let key = SurrogateKey::new(self.surrogate);
        let redacted = self.redactor.redact_with(document, &self.people, &key, remote);
        self.verified(document, redacted.map_err(|error| self.failed(&error))?)
    }

    /// Takes more out of a text that was redacted before. The answer is of that text.
    fn redact_further(&self, first: &Redacted, found: &[ExternalFinding]) -> Result<Redacted, Disposition> {
        let key = SurrogateKey::new(self.surrogate);
        let redacted = self.redactor.redact_further(first, &self.people, &key, found);
        self.verified(first.document(), redacted.map_err(|error| self.failed(&error))?)
    }

    /// Counts what was taken out, and looks a last time at what is left.
    fn verified(&self, document: &Document, redacted: Redacted) -> Result<Redacted, Disposition> {
        for redaction in redacted.redactions() {
            self.metrics.redaction.findings.with_labels(InfoType::from_label(redaction.label)).inc();
        }
        let looked_at = if failpoints::leaks(&document.text) { document } else { redacted.document() };
        match self.redactor.count_residual_pii(looked_at, &self.people) {
            // A last look that was cut off by the limit has found nothing: it has not looked.
            _ if deadline::is_over() => Err(Disposition::Quarantined(Reason::RedactionFailed)),
            0 => Ok(redacted),
            left => {
                self.metrics.redaction.residual_pii.inc_by(left as u64);
                tracing::error!(
                    code = "residual_pii",
                    left,
                    "residual PII after redaction; the message is quarantined"
                );
                Err(Disposition::Quarantined(Reason::RedactionFailed))
            }
        }
    }

    pub(crate) fn clean_option(&self, text: Option<&str>) -> Result<Option<String>, Disposition> {
        text.map(|text| self.clean(text)).transpose()
    }
}

/// Bytes below which a text is analysed directly: the model leaves such texts to the rules.
const SHORT_TEXT: usize = 600;

impl Pipeline {
    /// Every message of the batch, on the threads that all batches share; a failure is the message's own.
    pub(super) fn analyze_all(
        &self,
        admitted: Vec<AdmittedMessage>,
        keys: &Keys,
    ) -> Vec<Result<AnalyzedMessage, MessageOutcome>> {
        // Messages of one patient name the same people, who are made ready once.
        let mut known: HashMap<Vec<KnownIdentity>, Arc<SharedPeople>> = HashMap::new();
        let named: Vec<Arc<SharedPeople>> =
            admitted.iter().map(|one| Arc::clone(known.entry(identities(one)).or_default())).collect();
        let analyze = |(one, named): (AdmittedMessage, Arc<SharedPeople>)| self.analyze(one, &named, keys);
        let is_short =
            |one: &AdmittedMessage| one.document().is_none_or(|document| source_of(document).text.len() < SHORT_TEXT);
        let pool = if admitted.iter().all(is_short) { &self.short_text_threads } else { &self.analysis_threads };
        pool.install(|| admitted.into_par_iter().zip(named).map(analyze).collect())
    }

    fn analyze(
        &self,
        admitted: AdmittedMessage,
        named: &SharedPeople,
        keys: &Keys,
    ) -> Result<AnalyzedMessage, MessageOutcome> {
        let place = admitted.place;
        let quarantined = |reason| MessageOutcome::quarantined(place, reason, None);
        let redactor = self.redactor(admitted.scope.org(), &admitted.policy);
        let redactor = redactor.ok_or_else(|| quarantined(Reason::RedactionFailed))?;
        let surrogate = *keys.get(&admitted.scope).ok_or_else(|| quarantined(Reason::ErasedSubject))?.surrogate();
        let field_redactor = FieldRedactor {
            redactor: Arc::clone(redactor),
            surrogate,
            people: Arc::clone(named.get_or_init(|| Arc::new(KnownPeople::from_identities(identities(&admitted))))),
            metrics: Arc::clone(&self.metrics),
            span: admitted.span,
        };
        let Some(document) = admitted.document() else {
            return Ok(AnalyzedMessage { admitted, text: None, unread: None, field_redactor });
        };
        let source = source_of(document);
        // A part in a language or script that redaction does not know is enough.
        if coverage::unread(&source.text).is_some() {
            self.metrics.redaction.documents.with_labels(RedactionOutcome::Unsupported).inc();
            let sealed = self.config.unsupported_language == UnsupportedLanguage::StoreSealed;
            if !sealed || admitted.words.is_some() {
                return Err(quarantined(Reason::UnsupportedLanguage));
            }
            let nothing = field_redactor.redact_with(&Document::plain("", Language::Unknown), &[]);
            let nothing = nothing.map_err(|disposition| MessageOutcome::new(place, disposition))?;
            let text = Some(Box::new((nothing, Extraction::default())));
            return Ok(AnalyzedMessage { admitted, text, unread: Some(source.text), field_redactor });
        }
        let understood = self.analyze_text(&admitted, document, &source, &field_redactor);
        let text = Some(Box::new(understood.map_err(|disposition| MessageOutcome::new(place, disposition))?));
        Ok(AnalyzedMessage { admitted, text, unread: None, field_redactor })
    }

    /// A text and its findings. If a correction omits its subject ("100 mg"), the subject's name is put before it,
    /// provided that the whole then states something about it.
    fn analyze_text(
        &self,
        admitted: &AdmittedMessage,
        document: &DocumentSubmitted,
        source: &Document,
        field_redactor: &FieldRedactor,
    ) -> Result<(Redacted, Extraction), Disposition> {
        let org = admitted.scope.org();
        let mut said = self.redact_and_extract(org, document, source, field_redactor)?;
        let Some(words) = &admitted.words else {
            self.drop_low_confidence(&mut said.1);
            return Ok(said);
        };
        believe_command(&mut said.1);
        let Some(name) = words.subject.as_deref() else { return Ok(said) };
        if said.1.entities.iter().any(|e| e.value == name) {
            return Ok(said);
        }
        let text = format!("{name} {}", source.text);
        let language = Language::Unknown.or_detect(&text);
        let fuller = Document::plain(text, language);
        let fuller = self.redact_and_extract(org, document, &fuller, field_redactor)?;
        let adds = fuller.1.entities.iter().any(|e| e.value == name && says_more_than_its_name(e));
        Ok(if adds { fuller } else { said })
    }

    fn redact_and_extract(
        &self,
        org: OrgId,
        document: &DocumentSubmitted,
        source: &Document,
        field_redactor: &FieldRedactor,
    ) -> Result<(Redacted, Extraction), Disposition> {
        let rules = self.extractor(org);
        let mut times = StageTimes::default();
        let mut span = self.traces().child(Name::Stage(Stage::Redact.code()), SpanKind::Internal, &field_redactor.span);
        let read = self.redact_and_read(source, rules.as_deref(), field_redactor, &mut times);
        self.observe_time(Stage::Redact, times.redact);
        if let Some(code) = read.as_ref().err().and_then(|disposition| disposition.error()) {
            span.fail(code);
        }
        span.end();
        self.count_redaction(read.as_ref().map(|(redacted, _)| redacted));
        let (redacted, reading) = read?;
        let dates = if self.extracts { dates_of(source, &redacted, document.day()) } else { Vec::new() };
        let started = Instant::now();
        let span = self.traces().child(Name::Stage(Stage::Extract.code()), SpanKind::Internal, &field_redactor.span);
        let input = input_of(document, &redacted, &dates);
        let extraction = rules.map(|rules| rules.extract_read(&input, reading)).unwrap_or_default();
        span.end();
        self.observe_time(Stage::Extract, times.extract + started.elapsed());
        Ok((redacted, extraction))
    }

    /// Redacts a text, has the learned reader read the result, and redacts what it takes for identifiers too. The reading is
    /// moved to the final text, so that no document is read twice.
    fn redact_and_read(
        &self,
        source: &Document,
        rules: Option<&Extractor>,
        field_redactor: &FieldRedactor,
        times: &mut StageTimes,
    ) -> Result<(Redacted, Option<DocumentReading>), Disposition> {
        // Services have time limits themselves, so a wait for them makes no document late. A text that exceeds the
        // limit or does not reach a fixpoint is rejected inside.
        let limit = Duration::from_millis(self.config.redaction_timeout_ms);
        let redacted = timed(&mut times.redact, || {
            failpoints::die_of(&source.text);
            let remote = field_redactor.ask(source)?;
            deadline::within(limit, || field_redactor.redact_with(source, &remote))
        })?;
        let Some(rules) = rules else { return Ok((redacted, None)) };
        let Some(reading) = timed(&mut times.extract, || rules.read(redacted.document())) else {
            return Ok((redacted, None));
        };
        let found = identifiers_of(&reading, &redacted);
        if found.is_empty() {
            return Ok((redacted, Some(reading)));
        }
        let further = || deadline::within(limit, || field_redactor.redact_further(&redacted, &found));
        let next = timed(&mut times.redact, further)?;
        if next.redactions().is_empty() {
            return Ok((redacted, Some(reading)));
        }
        let replaced = |span: Span| next.redactions().iter().any(|one| one.source.overlaps(&span));
        let moved = reading.moved(next.document(), |span| next.cover_of(span), replaced);
        let reading = moved.or_else(|| timed(&mut times.extract, || rules.read(next.document())));
        Ok((redacted.then(next), reading))
    }

    /// Counts a document by the result of its redaction. A document that is redelivered has none yet.
    fn count_redaction(&self, redacted: Result<&Redacted, &Disposition>) {
        let outcome = match redacted {
            Err(Disposition::Retry) => return,
            Err(_) => RedactionOutcome::Failed,
            Ok(redacted) if redacted.redactions().is_empty() => RedactionOutcome::Clean,
            Ok(_) => RedactionOutcome::Redacted,
        };
        self.metrics.redaction.documents.with_labels(outcome).inc();
    }

    /// Leaves out the findings that were read too doubtfully to be remembered.
    fn drop_low_confidence(&self, extraction: &mut Extraction) {
        extraction.entities.retain(|entity| entity.is_worth_remembering(self.min_confidence));
    }

    /// The preferred name of the concept that a short text names as a whole.
    pub(super) fn concept_of(&self, org: OrgId, name: &str) -> Option<String> {
        let document = Document::plain(name, Language::Unknown);
        let found = self.extractor(org)?.extract(&ExtractionInput::new(&document));
        found.entities.into_iter().find(|e| e.span.len() * 2 >= name.len()).map(|e| e.value)
    }

    pub(super) fn extractor(&self, org: OrgId) -> Option<Arc<Extractor>> {
        self.extracts.then(|| self.extractors.get(org))
    }

    /// Version of the extractor, stored with its findings.
    pub(super) fn extractor_version(&self, org: OrgId) -> String {
        let rules = self.extractor(org).map_or("none".to_owned(), |rules| rules.version().to_owned());
        match &self.model {
            Some((model, _)) => format!("{rules}+{}", model.name()),
            None => rules,
        }
    }
}

/// Time that the stages of one document have taken so far.
#[derive(Default)]
struct StageTimes {
    redact: Duration,
    extract: Duration,
}

/// Does work, and adds the time that it takes.
fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    *time += started.elapsed();
    done
}

/// What the learned reader takes for identifiers in a redacted text, apart from replacements themselves.
fn identifiers_of(reading: &DocumentReading, redacted: &Redacted) -> Vec<ExternalFinding> {
    let replaced = |span: &Span| redacted.redactions().iter().any(|one| one.redacted.contains(span));
    let read = reading.identifiers(&redacted.document().text).into_iter().filter(|one| !replaced(&one.span));
    read.filter_map(|one| ExternalFinding::from_reader(one.span, &one.kind, f64::from(one.probability))).collect()
}

/// The dates of the original text, at their positions in the redacted text. Only their typed values are passed on.
fn dates_of(source: &Document, redacted: &Redacted, today: NaiveDate) -> Vec<DateMention> {
    let found = dates::find(&source.text, redacted.document().language, today);
    found.iter().map(|mention| DateMention { span: redacted.span_of(mention.span), ..*mention }).collect()
}

/// The input of extraction from a redacted document.
fn input_of<'a>(document: &DocumentSubmitted, redacted: &'a Redacted, dates: &'a [DateMention]) -> ExtractionInput<'a> {
    ExtractionInput {
        document: redacted.document(),
        document_type: Some(document.read_as()),
        targets: &[],
        values: redacted.values(),
        dates,
        today: Some(document.day()),
    }
}

/// Confidence of a person's words about one memory. They lack the context from which confidence is computed, and are
/// read with that memory as context.
const COMMAND_CONFIDENCE: f64 = 0.9;

fn believe_command(extraction: &mut Extraction) {
    for entity in &mut extraction.entities {
        entity.confidence = entity.confidence.max(COMMAND_CONFIDENCE);
    }
}

/// The text with its turns, in the language that it is in.
fn source_of(document: &DocumentSubmitted) -> Document {
    let source = document.to_document();
    Document { language: source.language.or_detect(&source.text), ..source }
}

fn identities(admitted: &AdmittedMessage) -> Vec<KnownIdentity> {
    admitted.document().map(crate::intake::identities::identities).unwrap_or_default()
}

/// A name alone would confirm the memory that the person corrects.
fn says_more_than_its_name(e: &Entity) -> bool {
    let given = [&e.dose, &e.frequency, &e.route, &e.severity].into_iter().any(Option::is_some);
    let over = matches!(e.status.as_deref(), Some("stopped" | "resolved" | "ended" | "not_taken"));
    given || over || e.context.negated
}

#[cfg(test)]
#[path = "analyze_tests.rs"]
pub(crate) mod tests;
