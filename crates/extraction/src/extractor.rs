//! The extractor: compiled once, shared, pure. Same document, same answer.

use std::sync::{Arc, LazyLock};

use super::allergies::{self, AllergyRules, WORDS as ALLERGY_WORDS};
use super::analysis::{AnalyzedDocument, AssertionStatus};
use super::assertion::{AssertionScopes, CLAUSES, Cues, DENIED_VERBS, SUBJECTS};
use super::clinical::{self, ClinicalRules};
use super::confidence;
use super::dates;
use super::dialogue::DialogueRules;
use super::events::{self, AppointmentRules, EventRules};
use super::facts::{self, FactRules};
use super::fusion::{DocumentReading, SURETY};
use super::hypotheses::{self, HypothesisRules};
use super::input::ExtractionInput;
use super::lexicon::{ALLERGENS, CLINICAL, DRUGS, LexiconExtension, REACTIONS, SPEECH};
use super::measurements::{self, MeasurementRules};
use super::medication::{MedicationRules, REGIMEN, WORDS as MEDICINE_WORDS};
use super::negative_statements::NegativeStatementRules;
use super::past_dates;
use super::phrase_trie::{PhraseTrie, TrieBuilder};
use super::reader::ClinicalReader;
use super::reason_clauses;
use super::risk::classifier::{RiskClassifier, RuleHits, features_of, is_asked};
use super::risk::{self, RiskRules};
use super::sentiment::{self, SentimentRules};
use super::structure::{self, DocumentStructure, SectionTitles};
use super::substances::{self, SubstanceRules};
use super::tokenized::{TextSentence, TokenizedText};
use super::{Entity, Extraction, MentionContext, Risk, Temporality};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_core::finding::EntityType;
use anamnesis_text::{Document, Span, Speaker};

/// Raised whenever a rule changes the findings.
const RULES: &str = "2";
/// Bytes from which the learned reader reads too. It was taught on whole documents; of single lines it refuses one right
/// medicine in twenty and none that is wrong (tests/data/cold/lines/drugs.*).
const WHOLE: usize = 600;
/// Bytes of a document above which the learned reader does not read: it takes some 0.15 s for a kilobyte, and no
/// message may occupy a worker for a minute.
const LONG: usize = 128 * 1024;

/// Rules and lexicons, ready to read documents.
pub struct Extractor {
    trie: PhraseTrie,
    cues: Cues,
    titles: SectionTitles,
    dialogue: DialogueRules,
    clinical: ClinicalRules,
    substances: SubstanceRules,
    medication: MedicationRules,
    allergies: AllergyRules,
    statements: NegativeStatementRules,
    risk: RiskRules,
    sentiment_rules: SentimentRules,
    hypotheses: HypothesisRules,
    facts: FactRules,
    events: EventRules,
    appointments: AppointmentRules,
    measurements: MeasurementRules,
    /// Reads with the rules; `None`: the rules read alone.
    reader: Option<ClinicalReader>,
    version: String,
}

impl Extractor {
    /// The extractor over the embedded lexicons: compiled once per process, shared by all who read.
    pub fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Extractor>> = LazyLock::new(|| Arc::new(Extractor::builtin()));
        Arc::clone(&SHARED)
    }

    /// The same rules, with the learned reader next to them.
    #[must_use]
    pub fn with_reader(mut self, reader: ClinicalReader) -> Self {
        let weights = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, SURETY.as_bytes());
        self.version.push_str(&format!("+reader.{}.{}", reader.version(), hex::encode(&weights.as_ref()[..3])));
        self.reader = Some(reader);
        self
    }

    /// The embedded lexicons, by the serialized trie where it belongs to them; see [`Extractor::shared`].
    pub fn builtin() -> Self {
        Self::extended(&LexiconExtension::default())
    }

    /// The same with a deployment's own lexicons: their phrases are written out next to the serialized trie.
    pub fn extended(extension: &LexiconExtension) -> Self {
        Self::from_serialized_trie(extension).unwrap_or_else(|| Self::written_out(extension))
    }

    /// `None` where the trie differs from the lexicons: they are being changed.
    pub(super) fn from_serialized_trie(extension: &LexiconExtension) -> Option<Self> {
        let (this, trie) = Self::over(TrieBuilder::serialized()?.extended(extension.clone()));
        Some(Self { trie: trie.verified()?, version: version(extension), ..this })
    }

    /// Every phrase written out: a quarter of a second.
    pub(super) fn written_out(extension: &LexiconExtension) -> Self {
        let (this, trie) = Self::over(TrieBuilder::default().extended(extension.clone()));
        Self { trie: trie.build(), version: version(extension), ..this }
    }

    /// The rules without their trie, and their phrases for it.
    fn over(mut trie: TrieBuilder) -> (Self, TrieBuilder) {
        let this = Self {
            trie: PhraseTrie::default(),
            cues: Cues::builtin(&mut trie),
            titles: SectionTitles::builtin(&mut trie),
            dialogue: DialogueRules::builtin(&mut trie),
            clinical: ClinicalRules::builtin(&mut trie),
            substances: SubstanceRules::builtin(&mut trie),
            medication: MedicationRules::builtin(&mut trie),
            allergies: AllergyRules::builtin(&mut trie),
            statements: NegativeStatementRules::builtin(&mut trie),
            risk: RiskRules::builtin(&mut trie),
            sentiment_rules: SentimentRules::builtin(&mut trie),
            hypotheses: HypothesisRules::builtin(&mut trie),
            facts: FactRules::builtin(&mut trie),
            events: EventRules::builtin(&mut trie),
            appointments: AppointmentRules::builtin(&mut trie),
            measurements: MeasurementRules::builtin(&mut trie),
            reader: None,
            version: String::new(),
        };
        (this, trie)
    }

    /// Version of rules and lexicons, stored with their findings: `rules.lexicon-hash`, and `+version.hash` for each
    /// lexicon of the deployment.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Reads one document. Never fails and never panics: unknown words give no finding.
    pub fn extract(&self, input: &ExtractionInput<'_>) -> Extraction {
        self.extract_read(input, self.read(input.document))
    }

    /// What the learned reader makes of a document, for [`Self::extract_read`]. `None`: none reads, or the document is too
    /// short or too long for it.
    pub fn read(&self, document: &Document) -> Option<DocumentReading> {
        let fits = (WHOLE..LONG).contains(&document.text.len());
        self.reader.as_ref().filter(|_| fits).map(|reader| DocumentReading::read(document, reader))
    }

    /// [`Self::extract`] with the reading at hand, which is of this document.
    pub fn extract_read(&self, input: &ExtractionInput<'_>, fusion: Option<DocumentReading>) -> Extraction {
        let reading = TokenizedText::new(input.document, &self.trie);
        let doc = self.analyze(input, &reading);
        let targets = input.targets.iter().map(|span| target(&doc, *span)).collect();
        let drugs = self.medication.mentions(&doc);
        let allergies = self.allergies.find(&doc, &self.dialogue, &drugs);
        let mut entities = allergies.entities.clone();
        self.medication.find(&doc, &drugs, &allergies, &mut entities);
        allergies::reconsider(&mut entities);
        self.clinical.find(&doc, &allergies.reactions, &mut entities);
        self.substances.find(&doc, &mut entities);
        self.facts.find(&doc, &mut entities);
        self.events.find(&doc, &mut entities);
        self.appointments.find(&doc, &mut entities);
        self.measurements.find(&doc, &mut entities);
        reason_clauses::lift_denials_of_reasons(&doc, &mut entities);
        let mut statements = allergies.statements.clone();
        statements.extend(self.statements.find(&doc, &self.medication, &drugs, &entities));
        if let Some(fusion) = &fusion {
            fusion.add(&doc, &mut entities);
            fusion.bind(&doc, &mut entities);
        }
        if let Some(today) = input.today {
            dates::link_dates(&doc, input.dates, today, &mut entities);
            past_dates::mark_past_findings(&doc, today, &mut entities);
            events::resolve_events(&mut entities, today);
            measurements::date_undated_values(&doc, today, &mut entities);
        }
        match &fusion {
            Some(fusion) => fusion.weigh(&mut entities),
            None if input.document.text.len() >= WHOLE => confidence::weigh(&doc, &mut entities),
            None => {}
        }
        entities.sort_by_key(|entity| (entity.span, entity.kind));
        let (risk, hypotheses) = (self.risk.find(&doc, fusion.as_ref()), self.hypotheses.find(&doc));
        entities.retain(|entity| !is_wish_for_harm(entity, &risk));
        let burdened = !hypotheses.is_empty() || risk.iter().any(Risk::is_own);
        Extraction {
            entities,
            statements,
            risk,
            themes: self.sentiment_rules.themes(&doc),
            sentiment: self.sentiment_rules.sentiment(&doc, burdened),
            hypotheses,
            targets,
        }
    }
}

impl Extractor {
    /// The common input of all rules.
    fn analyze<'a>(&self, input: &'a ExtractionInput<'a>, reading: &'a TokenizedText<'a>) -> AnalyzedDocument<'a> {
        let structure = DocumentStructure::new(reading, &self.titles);
        let finding = |word: usize| {
            let substance = || self.substances.name_at(reading, word);
            self.clinical.finding_at(reading, word).or_else(substance)
        };
        let scopes = AssertionScopes::new(reading, &self.cues, &structure, &finding);
        AnalyzedDocument {
            input,
            reading,
            scopes,
            question_answers: self.dialogue.question_answers(reading),
            structure,
        }
    }

    /// How the rules mean places that another person found: `None` where such a place is no words, an agent's, or only asked
    /// about.
    pub(super) fn assertions(&self, input: &ExtractionInput<'_>, places: &[Span]) -> Vec<Option<AssertionStatus>> {
        let reading = TokenizedText::new(input.document, &self.trie);
        let doc = self.analyze(input, &reading);
        let assertion = |place: &Span| {
            let words = reading.words_at(*place);
            let sentence = reading.sentence_of(words.start);
            let said = !place.is_empty() && !words.is_empty();
            let allowed = reading.sentences.get(sentence).is_some_and(|s| s.speaker != Speaker::Agent);
            (said && allowed).then(|| doc.assertion(sentence, &words)).flatten()
        };
        places.iter().map(assertion).collect()
    }

    /// The same with another risk classifier, for measurements in training.
    pub fn with_risk_classifier(mut self, classifier: RiskClassifier) -> Self {
        self.risk.set_classifier(classifier);
        self
    }

    /// The input of training: the sentences of a document and the results of the rules for each.
    pub fn training_sentences(&self, input: &ExtractionInput<'_>) -> Vec<TrainingSentence> {
        let reading = TokenizedText::new(input.document, &self.trie);
        let doc = self.analyze(input, &reading);
        let rule_hits = self.risk.rule_hits(&doc);
        let sentence = |(index, sentence): (usize, &TextSentence)| {
            let (features, alone) = features_of(&reading, sentence);
            let asked = is_asked(&doc, index);
            TrainingSentence { features, alone, rule_hits: rule_hits[index], turn: sentence.turn, asked }
        };
        doc.sentences().map(sentence).collect()
    }

    /// The surroundings of each finding of a document: the weights of [`confidence`](super::confidence) are fitted on them.
    pub fn confidence_features(&self, input: &ExtractionInput<'_>, found: &Extraction) -> Vec<Vec<String>> {
        let reading = TokenizedText::new(input.document, &self.trie);
        confidence::mention_features(&self.analyze(input, &reading), &found.entities)
    }

    /// Why the findings of a document are as they are: for each the cues that reach its mention. A cue of a title above
    /// has an empty place.
    pub fn explain(&self, input: &ExtractionInput<'_>, found: &Extraction) -> Vec<Vec<(&'static str, Span)>> {
        let reading = TokenizedText::new(input.document, &self.trie);
        let scopes = self.analyze(input, &reading).scopes;
        let entities = found.entities.iter();
        entities.map(|entity| scopes.cues(&reading, &reading.words_at(entity.span))).collect()
    }
}

/// Words of a liking or a wish that speak of death or harm, folded.
static HARM: WordList = WordList::listed(word_lists::GENERAL, "extractor.harm");

/// Words of dying or harm are a risk, never something that a person looks forward to or likes.
fn is_wish_for_harm(entity: &Entity, risks: &[Risk]) -> bool {
    // A finding of the classifier at a low level may be a whole message: it removes a liking from it only where the
    // liking itself speaks of death or harm.
    let named = entity.value.split(|c: char| !c.is_alphanumeric()).any(|word| HARM.contains(word));
    let loud = |risk: &Risk| risk.learned.is_none() || risk.level.calls() || named || entity.kind == EntityType::Goal;
    let touches = |risk: &Risk| loud(risk) && entity.span.start < risk.span.end && risk.span.start < entity.span.end;
    matches!(entity.kind, EntityType::Goal | EntityType::Preference) && risks.iter().any(touches)
}

/// A sentence as training reads it.
pub struct TrainingSentence {
    /// Hashed features and their values.
    pub features: Vec<(u64, f32)>,
    /// How many of them, at the beginning, belong to single words.
    pub alone: usize,
    pub rule_hits: RuleHits,
    pub turn: Option<usize>,
    /// Another person only asks.
    pub asked: bool,
}

/// The context of a place that was asked for: of its words, and of the date that its clause gives.
fn target(doc: &AnalyzedDocument<'_>, span: Span) -> MentionContext {
    let (reading, input) = (doc.reading, doc.input);
    if reading.text.get(span.start..span.end).is_none_or(|words| words.trim().is_empty()) {
        return MentionContext::default();
    }
    let words = reading.words_at(span);
    let mut context = doc.scopes.mention_context(reading, &words);
    if doc.scopes.ended(reading, &words) {
        context.temporality = Temporality::Historical;
    }
    if let Some(today) = input.today
        && past_dates::is_past_by_date(doc, &words, input.dates, today)
        && !context.negated
        && context.temporality == Temporality::Recent
    {
        context.temporality = Temporality::Historical;
    }
    context
}

/// Every list of the program: the findings depend on each.
fn files() -> Vec<&'static str> {
    [
        CLINICAL,
        DRUGS,
        ALLERGENS,
        REACTIONS,
        &[ALLERGY_WORDS, MEDICINE_WORDS],
        &[SPEECH, sentiment::THEMES, sentiment::FEELINGS, hypotheses::FILE, facts::FILE, REGIMEN],
        Cues::FILES,
        &risk::FILES,
        events::FILES,
        &[measurements::FILE, events::APPOINTMENTS, events::APPOINTMENT_WORDS],
        &[CLAUSES, DENIED_VERBS, SUBJECTS, structure::TITLES, substances::FILE],
        clinical::FILES,
        facts::FILES,
        confidence::FILES,
    ]
    .concat()
}

fn version(extension: &LexiconExtension) -> String {
    static BUILT_IN: LazyLock<String> = LazyLock::new(|| {
        let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
        files().iter().for_each(|file| context.update(file.as_bytes()));
        context.update(risk::classifier::BUILTIN);
        format!("{RULES}.{}", hex::encode(&context.finish().as_ref()[..6]))
    });
    format!("{}{}", *BUILT_IN, extension.version())
}

#[cfg(test)]
#[path = "extractor_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dialogue_tests.rs"]
mod dialogues;
