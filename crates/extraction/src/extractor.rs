//! The extractor: compiled once, shared, pure. Same document, same answer.

use std::sync::{Arc, LazyLock};

use super::allergies::{self, AllergyRules, WORDS as ALLERGY_WORDS};
use super::careful::{Careful, SURETY};
use super::certainty;
use super::clinical::{self, ClinicalRules};
use super::context::{CLAUSES, Contexts, Cues, DENIED_VERBS, SUBJECTS};
use super::dates;
use super::dialogue::DialogueRules;
use super::facts::{self, FactRules};
use super::happenings::{self, AppointmentRules, EventRules};
use super::hypotheses::{self, HypothesisRules};
use super::input::ExtractionInput;
use super::lexicon::{ALLERGENS, CLINICAL, DRUGS, Extension, REACTIONS, SPEECH};
use super::measurements::{self, MeasurementRules};
use super::medication::{MedicationRules, REGIMEN, WORDS as MEDICINE_WORDS};
use super::phrasebook::{Builder, Phrasebook};
use super::reader::Reader;
use super::reading::{Reading, Sentence};
use super::reasons;
use super::risk::learned::{Ear, Ruled, features_of, is_asked};
use super::risk::{self, RiskRules};
use super::scene::{Scene, Stance};
use super::statements::StatementRules;
use super::structure::{self, Structure, Titles};
use super::substances::{self, SubstanceRules};
use super::tone::{self, ToneRules};
use super::when;
use super::{Context, Entity, Extraction, Risk, Temporality};
use anamnesis_core::finding::EntityType;
use anamnesis_text::{Span, Speaker};

/// Raised whenever a rule changes what is found.
const RULES: &str = "2";
/// Bytes from which the learned reader reads too. It was taught on whole documents; of single lines it refuses one right
/// medicine in twenty and none that is wrong (tests/data/cold/lines/drugs.*).
const WHOLE: usize = 600;
/// Bytes of a document above which the learned reader does not read: it takes some 0.15 s for a kilobyte, and no message may
/// keep a worker for a minute.
const LONG: usize = 128 * 1024;

/// Rules and lexicons, ready to read documents.
pub struct Extractor {
    book: Phrasebook,
    cues: Cues,
    titles: Titles,
    dialogue: DialogueRules,
    clinical: ClinicalRules,
    substances: SubstanceRules,
    medication: MedicationRules,
    allergies: AllergyRules,
    statements: StatementRules,
    risk: RiskRules,
    tone: ToneRules,
    hypotheses: HypothesisRules,
    facts: FactRules,
    events: EventRules,
    appointments: AppointmentRules,
    measurements: MeasurementRules,
    /// Reads with the rules; `None`: the rules read alone.
    reader: Option<Reader>,
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
    pub fn with_reader(mut self, reader: Reader) -> Self {
        let weights = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, SURETY.as_bytes());
        self.version.push_str(&format!("+reader.{}.{}", reader.version(), hex::encode(&weights.as_ref()[..3])));
        self.reader = Some(reader);
        self
    }

    /// The embedded lexicons, by the printed book where it is of them; see [`Extractor::shared`].
    pub fn builtin() -> Self {
        Self::extended(&Extension::default())
    }

    /// The same with a deployment's own lexicons: their phrases are written out beside the printed book.
    pub fn extended(extension: &Extension) -> Self {
        Self::of_printed_book(extension).unwrap_or_else(|| Self::written_out(extension))
    }

    /// `None` where the book says something else than the lexicons: somebody is changing them.
    pub(super) fn of_printed_book(extension: &Extension) -> Option<Self> {
        let (this, book) = Self::over(Builder::printed()?.extended(extension.clone()));
        Some(Self { book: book.verified()?, version: version(extension), ..this })
    }

    /// Every phrase written out: a quarter of a second.
    pub(super) fn written_out(extension: &Extension) -> Self {
        let (this, book) = Self::over(Builder::default().extended(extension.clone()));
        Self { book: book.build(), version: version(extension), ..this }
    }

    /// The rules without their book, and what they put into it.
    fn over(mut book: Builder) -> (Self, Builder) {
        let this = Self {
            book: Phrasebook::default(),
            cues: Cues::builtin(&mut book),
            titles: Titles::builtin(&mut book),
            dialogue: DialogueRules::builtin(&mut book),
            clinical: ClinicalRules::builtin(&mut book),
            substances: SubstanceRules::builtin(&mut book),
            medication: MedicationRules::builtin(&mut book),
            allergies: AllergyRules::builtin(&mut book),
            statements: StatementRules::builtin(&mut book),
            risk: RiskRules::builtin(&mut book),
            tone: ToneRules::builtin(&mut book),
            hypotheses: HypothesisRules::builtin(&mut book),
            facts: FactRules::builtin(&mut book),
            events: EventRules::builtin(&mut book),
            appointments: AppointmentRules::builtin(&mut book),
            measurements: MeasurementRules::builtin(&mut book),
            reader: None,
            version: String::new(),
        };
        (this, book)
    }

    /// Version of rules and lexicons, stored with what they find: `rules.lexicon-hash`, and `+version.hash` for each
    /// lexicon of the deployment's own.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Reads one document. Never fails and never panics: what the rules do not know is not there.
    pub fn extract(&self, input: &ExtractionInput<'_>) -> Extraction {
        let reading = Reading::new(input.document, &self.book);
        let scene = self.scene(input, &reading);
        let targets = input.targets.iter().map(|span| target(&scene, *span)).collect();
        let drugs = self.medication.mentions(&scene);
        let allergies = self.allergies.find(&scene, &self.dialogue, &drugs);
        let mut entities = allergies.entities.clone();
        self.medication.find(&scene, &drugs, &allergies, &mut entities);
        allergies::reconsider(&mut entities);
        self.clinical.find(&scene, &allergies.reactions, &mut entities);
        self.substances.find(&scene, &mut entities);
        self.facts.find(&scene, &mut entities);
        self.events.find(&scene, &mut entities);
        self.appointments.find(&scene, &mut entities);
        self.measurements.find(&scene, &mut entities);
        reasons::settle(&scene, &mut entities);
        let mut statements = allergies.statements.clone();
        statements.extend(self.statements.find(&scene, &self.medication, &drugs, &entities));
        let careful = self.reader_of(input).map(|reader| Careful::read(&scene, reader));
        if let Some(careful) = &careful {
            careful.add(&scene, &mut entities);
            careful.bind(&scene, &mut entities);
        }
        if let Some(today) = input.today {
            dates::bind(&scene, input.dates, today, &mut entities);
            when::settle(&scene, today, &mut entities);
            happenings::settle(&mut entities, today);
            measurements::settle(&scene, today, &mut entities);
        }
        match &careful {
            Some(careful) => careful.weigh(&mut entities),
            None if input.document.text.len() >= WHOLE => certainty::weigh(&scene, &mut entities),
            None => {}
        }
        entities.sort_by_key(|entity| (entity.span, entity.kind));
        let (risk, hypotheses) = (self.risk.find(&scene, careful.as_ref()), self.hypotheses.find(&scene));
        entities.retain(|entity| !is_wish_for_harm(entity, &risk));
        let burdened = !hypotheses.is_empty() || risk.iter().any(Risk::is_own);
        Extraction {
            entities,
            statements,
            risk,
            themes: self.tone.themes(&scene),
            sentiment: self.tone.sentiment(&scene, burdened),
            hypotheses,
            targets,
        }
    }
}

impl Extractor {
    /// The reader, where one reads and the document is long enough for it.
    fn reader_of(&self, input: &ExtractionInput<'_>) -> Option<&Reader> {
        self.reader.as_ref().filter(|_| (WHOLE..LONG).contains(&input.document.text.len()))
    }

    /// What all rules look at.
    fn scene<'a>(&self, input: &'a ExtractionInput<'a>, reading: &'a Reading<'a>) -> Scene<'a> {
        let structure = Structure::new(reading, &self.titles);
        let finding = |word: usize| {
            let substance = || self.substances.name_at(reading, word);
            self.clinical.finding_at(reading, word).or_else(substance)
        };
        let contexts = Contexts::new(reading, &self.cues, &structure, &finding);
        Scene { input, reading, contexts, exchanges: self.dialogue.exchanges(reading), structure }
    }

    /// How the rules mean places that somebody else found: `None` where such a place is no words, an agent's, or only asked
    /// about.
    pub(super) fn stances(&self, input: &ExtractionInput<'_>, places: &[Span]) -> Vec<Option<Stance>> {
        let reading = Reading::new(input.document, &self.book);
        let scene = self.scene(input, &reading);
        let stance = |place: &Span| {
            let words = reading.words_at(*place);
            let sentence = reading.sentence_of(words.start);
            let said = !place.is_empty() && !words.is_empty();
            let heard = reading.sentences.get(sentence).is_some_and(|s| s.speaker != Speaker::Agent);
            (said && heard).then(|| scene.stance(sentence, &words)).flatten()
        };
        places.iter().map(stance).collect()
    }

    /// The same with another ear for risk: what training measures.
    pub fn hearing(mut self, ear: Ear) -> Self {
        self.risk.hear_with(ear);
        self
    }

    /// What training learns from: the sentences of a document and what the rules say of each.
    pub fn heard(&self, input: &ExtractionInput<'_>) -> Vec<HeardSentence> {
        let reading = Reading::new(input.document, &self.book);
        let scene = self.scene(input, &reading);
        let ruled = self.risk.ruled(&scene);
        let sentence = |(index, sentence): (usize, &Sentence)| {
            let (features, alone) = features_of(&reading, sentence);
            let asked = is_asked(&scene, index);
            HeardSentence { features, alone, ruled: ruled[index], turn: sentence.turn, asked }
        };
        scene.sentences().map(sentence).collect()
    }

    /// The surroundings of each finding of a document: the weights of [`certainty`](super::certainty) are fitted on them.
    pub fn marks(&self, input: &ExtractionInput<'_>, found: &Extraction) -> Vec<Vec<String>> {
        let reading = Reading::new(input.document, &self.book);
        certainty::marks(&self.scene(input, &reading), &found.entities)
    }

    /// Why the findings of a document are as they are: for each the cues that reach its mention. A cue of a title above
    /// has an empty place.
    pub fn explain(&self, input: &ExtractionInput<'_>, found: &Extraction) -> Vec<Vec<(&'static str, Span)>> {
        let reading = Reading::new(input.document, &self.book);
        let contexts = self.scene(input, &reading).contexts;
        let entities = found.entities.iter();
        entities.map(|entity| contexts.cues(&reading, &reading.words_at(entity.span))).collect()
    }
}

/// Words of a liking or a wish that speak of death or harm, folded.
const HARM: &[&str] = &[
    "die",
    "dying",
    "death",
    "dead",
    "kill",
    "suicide",
    "disappear",
    "cut",
    "cutting",
    "hurt",
    "morir",
    "morirme",
    "muerte",
    "muerto",
    "muerta",
    "matar",
    "matarme",
    "suicidio",
    "suicidarme",
    "desaparecer",
    "cortarme",
    "cortar",
];

/// Words of dying or harm are a risk, never something that a person looks forward to or likes.
fn is_wish_for_harm(entity: &Entity, risks: &[Risk]) -> bool {
    // What the learned ear hears at a low level may be a whole message: it takes a liking out of it only where that itself
    // speaks of death or harm.
    let named = entity.value.split(|c: char| !c.is_alphanumeric()).any(|word| HARM.contains(&word));
    let loud = |risk: &Risk| risk.learned.is_none() || risk.level.calls() || named || entity.kind == EntityType::Goal;
    let touches = |risk: &Risk| loud(risk) && entity.span.start < risk.span.end && risk.span.start < entity.span.end;
    matches!(entity.kind, EntityType::Goal | EntityType::Preference) && risks.iter().any(touches)
}

/// A sentence as training reads it.
pub struct HeardSentence {
    /// Hashed features and their values.
    pub features: Vec<(u64, f32)>,
    /// How many of them, the first, are of single words.
    pub alone: usize,
    pub ruled: Ruled,
    pub turn: Option<usize>,
    /// Somebody else only asks.
    pub asked: bool,
}

/// The context of a place that was asked for: of its words, and of the date that its clause gives.
fn target(scene: &Scene<'_>, span: Span) -> Context {
    let (reading, input) = (scene.reading, scene.input);
    if reading.text.get(span.start..span.end).is_none_or(|words| words.trim().is_empty()) {
        return Context::default();
    }
    let words = reading.words_at(span);
    let mut context = scene.contexts.of(reading, &words);
    if scene.contexts.ended(reading, &words) {
        context.temporality = Temporality::Historical;
    }
    if let Some(today) = input.today
        && when::over(scene, &words, input.dates, today)
        && !context.negated
        && context.temporality == Temporality::Recent
    {
        context.temporality = Temporality::Historical;
    }
    context
}

/// Every list that is part of the program: what is found depends on each.
fn files() -> Vec<&'static str> {
    [
        CLINICAL,
        DRUGS,
        ALLERGENS,
        REACTIONS,
        &[ALLERGY_WORDS, MEDICINE_WORDS],
        &[SPEECH, tone::THEMES, tone::FEELINGS, hypotheses::FILE, facts::FILE, REGIMEN],
        Cues::FILES,
        &risk::FILES,
        happenings::FILES,
        &[measurements::FILE, happenings::APPOINTMENTS, happenings::APPOINTMENT_WORDS],
        &[CLAUSES, DENIED_VERBS, SUBJECTS, structure::TITLES, substances::FILE],
        clinical::FILES,
        facts::FILES,
        certainty::FILES,
    ]
    .concat()
}

fn version(extension: &Extension) -> String {
    static BUILT_IN: LazyLock<String> = LazyLock::new(|| {
        let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
        files().iter().for_each(|file| context.update(file.as_bytes()));
        context.update(risk::learned::BUILTIN);
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
