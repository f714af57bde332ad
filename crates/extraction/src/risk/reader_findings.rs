//! Merges the risk tags of the learned reader with what rules and classifier found.

use super::candidates::passage;
use super::classifier::is_asked;
use crate::Risk;
use crate::analysis::AnalyzedDocument;
use crate::fusion::{DocumentReading, TaggedRisk};

/// How probable a risk must be that no rule has found in its passage. On sets that taught the reader nothing, two of three at this
/// probability are risks of that class; at 0.4 one of two.
const ALONE: f64 = 0.55;

/// Drops what phrases and classifier found and the learned reader does not tag: of such passages one in eight spoke of risk.
/// A box, a field or an answer stays: the reader is poor at short lines. Then adds what it alone finds, where it is sure. A question that no one answers with yes says nothing, and what is denied
/// is kept once, where nothing speaks of it.
pub(super) fn merge_reader_risks(doc: &AnalyzedDocument<'_>, fusion: &DocumentReading, out: &mut Vec<Risk>) {
    let tagged = fusion.risks(doc);
    out.retain(|risk| {
        let same = |one: &TaggedRisk| {
            one.class == risk.class && !one.denied && doc.reading.source(&one.words).overlaps(&risk.span)
        };
        let is_phrase = risk.confirmed.is_some();
        let agrees = || if is_phrase { fusion.sees_risk(risk.span) } else { risk.learned.is_none() };
        !risk.is_own() || tagged.iter().any(same) || agrees()
    });
    add(doc, &tagged, out);
}

fn add(doc: &AnalyzedDocument<'_>, tagged: &[TaggedRisk], out: &mut Vec<Risk>) {
    for risk in tagged {
        let index = doc.reading.sentence_of(risk.words.start);
        if is_asked(doc, index) {
            continue;
        }
        let sentence = &doc.reading.sentences[index].words;
        let found = risk.finding(doc, &passage(doc, sentence, &risk.words));
        let same = |other: &&Risk| other.class == found.class;
        let here = out.iter().any(|other| same(&other) && other.span.overlaps(&found.span));
        let known = found.denied && out.iter().any(|other| same(&other) && (other.denied || other.is_own()));
        let doubtful = !found.denied && risk.probability < ALONE;
        if !here && !known && !doubtful && doc.text().get(found.span.start..found.span.end).is_some() {
            out.push(found);
        }
    }
}
