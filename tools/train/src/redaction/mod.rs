//! Training of the learned recogniser: examples from public sets and from templates, changed as real texts differ, and a
//! conditional random field over them. Runs from `anamnesis-train redaction`; nothing of it runs in the service.

mod annotated;
mod augment;
mod config;
mod crf;
mod example;
mod generate;
mod spoken_values;
mod values;
mod verifier;

use std::collections::HashMap;

pub(crate) use anamnesis_linear_model::random::Random;
pub(crate) use augment::spoken;
pub(crate) use config::{HELD_OUT_TEMPLATES, TrainingSets, examples};
pub(crate) use crf::TrainingParameters;
pub(crate) use example::{AnnotationScope, TaggerExample, read, read_unmarked};
pub(crate) use generate::Generator;
pub(crate) use verifier::{HoldoutScore, TrainingHalf, halves, holdout_score, verifier_of};

use anamnesis_redaction::internals::document::DocumentContext;
use anamnesis_redaction::internals::finding::PiiFinding;
use anamnesis_redaction::internals::tagger::{
    COLUMNS, FEATURES, KINDS, OUTSIDE, TokenFeatures, begin, features, inside, kind_for, token_features, write,
};
use anamnesis_redaction::internals::word_classes::{WordClasses, word_classes};
use anamnesis_redaction::{KnownPeople, RedactionPolicy, Redactor, label};
use anamnesis_text::{Document, Span};
use crf::{ConditionalRandomField, Sequence};

/// Features that the model keeps, the weightiest, and the slots in which they are looked up: 5.6 MB.
const ROWS: usize = 160_000;
const SLOTS: usize = 1 << 18;
/// A feature is learned when it comes at least so often.
const LEAST: u32 = 3;
/// Share of documents in which the tagger learns to do without the rules.
const WITHOUT_RULES: f64 = 0.25;
/// Share of personal words whose letters and lists are hidden, so that what stands around them is learned.
const HIDDEN: f64 = 0.3;
/// Share of other words that are hidden, so that no hidden word is a name for being hidden: large ones, and small ones.
const HIDDEN_LARGE: f64 = 0.2;
const HIDDEN_SMALL: f64 = 0.03;

/// What training made.
pub(crate) struct TrainedTagger {
    pub(crate) model: Vec<u8>,
    pub(crate) documents: usize,
    pub(crate) tokens: usize,
    pub(crate) features: usize,
}

/// Trains a model; the same examples and steps make the same bytes. `progress` is called with epochs and losses.
pub(crate) fn train<'a>(
    examples: impl Iterator<Item = &'a TaggerExample>,
    steps: TrainingParameters,
    progress: &mut dyn FnMut(usize, f64),
) -> TrainedTagger {
    let redactor = Redactor::rules_only(RedactionPolicy::strictest());
    let mut random = Random::new(steps.seed ^ 0x5EED);
    let (mut hashed, mut tags) = (Vec::new(), Vec::new());
    for example in examples {
        let (token_features, gold) = prepared(&redactor, example, &mut random);
        hashed.push(hashes(&token_features));
        tags.push(gold);
    }
    let documents = hashed.len();
    let table = crf::table(&hashed, LEAST);
    let sequences: Vec<Sequence> = hashed
        .into_iter()
        .zip(tags)
        .map(|(document, tags)| Sequence { features: numbered(&document, &table), tags })
        .collect();
    let mut field = ConditionalRandomField::new(table.len());
    field.train(&sequences, steps, progress);
    let mut rows: Vec<(u64, [f32; COLUMNS])> =
        table.iter().map(|(feature, row)| (*feature, field.weights[*row as usize])).collect();
    let tokens = sequences.iter().map(|sequence| sequence.tags.len()).sum();
    let model = write(&mut rows, &field.transitions, ROWS, SLOTS);
    TrainedTagger { model, documents, tokens, features: table.len() }
}

fn hashes(token_features: &[TokenFeatures]) -> Vec<Vec<u64>> {
    let mut out = [0u64; FEATURES];
    (0..token_features.len())
        .map(|at| {
            features(token_features, at, &mut out);
            out.to_vec()
        })
        .collect()
}

fn numbered(document: &[Vec<u64>], table: &HashMap<u64, u32>) -> Vec<Vec<u32>> {
    document.iter().map(|token| token.iter().filter_map(|feature| table.get(feature).copied()).collect()).collect()
}

/// Token features and gold tags of an example, some of what is known hidden.
fn prepared(redactor: &Redactor, example: &TaggerExample, random: &mut Random) -> (Vec<TokenFeatures>, Vec<u8>) {
    let document = Document::plain(example.text.clone(), example.language);
    let context = DocumentContext::new(&document, redactor.policy());
    let found = redactor.rule_findings(&context, &KnownPeople::default());
    let tags = tagged(&context, &gold_of(example, &context, &found));
    let shown: &[PiiFinding] = if random.chance(WITHOUT_RULES) { &[] } else { &found };
    let mut list = token_features(&context, shown);
    for (token, tag) in list.iter_mut().zip(&tags) {
        if token.is_word() && random.chance(hidden(token, *tag)) {
            *token =
                TokenFeatures { word: 0, prefix: 0, suffix: 0, ending: 0, word_classes: Default::default(), ..*token };
        }
    }
    (list, tags)
}

/// What is personal in an example, in places of the view: what people marked, and what rules and lists mark where they did
/// not.
fn gold_of(example: &TaggerExample, context: &DocumentContext<'_>, found: &[PiiFinding]) -> Vec<(Span, u8)> {
    let mut gold: Vec<(Span, u8)> = example
        .spans
        .iter()
        .filter_map(|(span, label)| {
            let view = Span::new(context.view.from_source(span.start), context.view.from_source(span.end));
            Some((view, kind_for(label)?))
        })
        .collect();
    match example.marked {
        AnnotationScope::All => {}
        AnnotationScope::Names => gold.extend(unmarked(found, &gold, false)),
        AnnotationScope::Values => gold.extend(unmarked(found, &gold, true)),
        AnnotationScope::Nothing => gold.extend(supposed(context, found)),
    }
    gold
}

/// How often a word's letters and lists are hidden.
fn hidden(token: &TokenFeatures, tag: u8) -> f64 {
    match usize::from(tag) {
        OUTSIDE if token.is_capitalized() => HIDDEN_LARGE,
        OUTSIDE => HIDDEN_SMALL,
        _ if is_name(tag) => HIDDEN,
        _ => 0.0,
    }
}

/// Kinds whose words are without number: people, places, organisations, streets.
fn is_name(tag: u8) -> bool {
    let kind = (usize::from(tag) - 1) / 2;
    matches!(KINDS[kind], label::PERSON | label::LOCATION | label::ORGANIZATION | label::ADDRESS)
}

/// What the word lists say of ages, sex, relations and professions, and of countries if asked, where the gold says
/// nothing.
fn unmarked(found: &[PiiFinding], gold: &[(Span, u8)], countries: bool) -> Vec<(Span, u8)> {
    let demographic = |name| {
        matches!(name, label::AGE | label::GREAT_AGE | label::SEX | label::FAMILY | label::PROFESSION)
            || countries && name == label::COUNTRY
    };
    found
        .iter()
        .filter(|finding| demographic(finding.label) && !gold.iter().any(|(span, _)| span.overlaps(&finding.span)))
        .filter_map(|finding| Some((finding.span, kind_for(finding.label)?)))
        .collect()
}

/// Score from which a finding of rules counts as gold in a text that no one marked.
const SUPPOSED: f64 = 0.75;

/// What sure rules find, and first names that are no other word.
fn supposed(context: &DocumentContext<'_>, found: &[PiiFinding]) -> Vec<(Span, u8)> {
    let mut gold: Vec<(Span, u8)> = found
        .iter()
        .filter(|finding| finding.score >= SUPPOSED || finding.recognizer == "word_list")
        .filter_map(|finding| Some((finding.span, kind_for(finding.label)?)))
        .collect();
    let person = kind_for(label::PERSON).unwrap_or_default();
    let names = context.tokens.iter().filter(|token| {
        let word_classes = word_classes(context.lower(token));
        token.is_word()
            && word_classes.has(WordClasses::GIVEN)
            && word_classes.has(WordClasses::EVERYDAY_NAME)
            && !word_classes.has(WordClasses::COMMON)
    });
    let alone: Vec<Span> =
        names.map(|token| token.span).filter(|span| !gold.iter().any(|(known, _)| known.overlaps(span))).collect();
    gold.extend(alone.into_iter().map(|span| (span, person)));
    gold.sort_by_key(|(span, kind)| (span.len(), span.start, *kind));
    gold
}

fn tagged(context: &DocumentContext<'_>, gold: &[(Span, u8)]) -> Vec<u8> {
    let mut tags = vec![OUTSIDE as u8; context.tokens.len()];
    for (span, kind) in gold {
        let first = context.tokens.partition_point(|token| token.span.end <= span.start);
        let inside_span = context.tokens[first..].iter().take_while(|token| token.span.start < span.end).count();
        for (at, tag) in tags[first..first + inside_span].iter_mut().enumerate() {
            *tag = if at == 0 { begin((*kind).into()) } else { inside((*kind).into()) } as u8;
        }
    }
    tags
}
