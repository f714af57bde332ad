//! Risk tags of the learned reader.

use std::ops::Range;

use super::DocumentReading;
use crate::RiskClass;
use crate::analysis::AnalyzedDocument;
use crate::reader::{LabelLayer, ReaderMention};
use crate::{Experiencer, Risk};
use anamnesis_text::{Span, Speaker};

/// How probable a risk must be to be looked at, with its class, its polarity and its person: what no rule agrees
/// with must be surer (`risk::reader_findings`).
const LEAST: f32 = 0.3;
/// How probable a denial must be, on the average of its pieces. A denial that no one uttered harms.
const LEAST_DENIED: f32 = 0.8;
/// How probable the person, the polarity, and the class of a denial must be.
const SURE: f32 = 0.5;
/// How probable it must be that a passage speaks of risk at all.
const TAGGED: f32 = 0.3;

/// A risk that the reader tags, or its denial: of the patient, in the words tagged.
#[derive(Debug, Clone)]
pub(crate) struct TaggedRisk {
    pub(crate) class: RiskClass,
    pub(crate) words: Range<usize>,
    pub(crate) denied: bool,
    /// That it is a risk of this class, the patient's own, and not denied, in hundredths; of a denial, that it is one.
    pub(crate) probability: f64,
}

impl DocumentReading {
    /// What is tagged as a risk of the patient, or as denied: the most probable first.
    pub(crate) fn risks(&self, doc: &AnalyzedDocument<'_>) -> Vec<TaggedRisk> {
        let mut risks: Vec<TaggedRisk> = self.tags.iter().filter_map(|tag| self.risk(doc, tag)).collect();
        risks.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.words.start.cmp(&b.words.start)));
        risks
    }

    /// Whether the reader too thinks that a passage speaks of risk, whatever class it gives it.
    pub(crate) fn sees_risk(&self, passage: Span) -> bool {
        let touched = self.lines.iter().enumerate().filter(|(_, (_, line))| line.overlaps(&passage));
        touched.into_iter().any(|(at, (_, line))| {
            let start = passage.start.max(line.start) - line.start;
            let end = passage.end.min(line.end) - line.start;
            self.predictions.support(at, &(start..end), LabelLayer::Clauses, &["risk"]) >= TAGGED
        })
    }

    fn risk(&self, doc: &AnalyzedDocument<'_>, tag: &ReaderMention) -> Option<TaggedRisk> {
        if tag.layer != LabelLayer::Clauses || &*tag.kind != "risk" {
            return None;
        }
        let attributes = tag.attributes.as_ref()?;
        let share = |group: &str, value: &str| attributes.probability(group, value).unwrap_or(0.0);
        let (class, sure) = attributes.best("risk")?;
        let denied = share("polarity", "denied") >= SURE;
        let (patient, meant) = (share("person", "patient"), 1.0 - share("polarity", "denied"));
        let (probability, least) = match denied {
            true => (tag.probability, LEAST_DENIED),
            false => (tag.probability * sure * meant * patient, LEAST),
        };
        if probability < least || (denied && sure < SURE) || patient < SURE {
            return None;
        }
        let words = doc.reading.words_at(self.span(tag));
        let sentence = doc.reading.sentences.get(doc.reading.sentence_of(words.start))?;
        let spoken = !words.is_empty() && sentence.speaker != Speaker::Agent && words.end <= sentence.words.end;
        let probability = (f64::from(probability) * 100.0).round().clamp(1.0, 99.0) / 100.0;
        spoken.then_some(TaggedRisk { class: RiskClass::from_code(class)?, words, denied, probability })
    }
}

impl TaggedRisk {
    /// As a finding, with the passage that proves it.
    pub(crate) fn finding(&self, doc: &AnalyzedDocument<'_>, passage: &Range<usize>) -> Risk {
        let span = doc.reading.source(passage);
        Risk { learned: Some(self.probability), ..Risk::ungraded(self.class, span, self.denied, Experiencer::Patient) }
    }
}
