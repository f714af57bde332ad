//! What the learned reader hears of risk joins what rules and classifier found.

use super::heard::passage;
use super::learned::is_asked;
use crate::Risk;
use crate::careful::TaggedRisk;
use crate::scene::Scene;

/// A class that is known in the document already is heard once more only this surely.
const HEARD_AGAIN: f64 = 0.85;

/// Adds what the learned reader hears: where neither rules nor classifier have found that class in the passage. A question that
/// nobody answers with yes says nothing, and what is denied is kept once, where nothing tells of it.
pub(super) fn add(scene: &Scene<'_>, tagged: &[TaggedRisk], out: &mut Vec<Risk>) {
    for risk in tagged {
        let index = scene.reading.sentence_of(risk.words.start);
        if is_asked(scene, index) {
            continue;
        }
        let sentence = &scene.reading.sentences[index].words;
        let found = risk.finding(scene, &passage(scene, sentence, &risk.words));
        let same = |other: &&Risk| other.class == found.class;
        let here = out.iter().any(|other| same(&other) && other.span.overlaps(&found.span));
        let before = out.iter().filter(same).any(|other| other.denied == found.denied);
        let contradicted = found.denied && out.iter().filter(same).any(Risk::is_own);
        let repeated = before && (found.denied || risk.probability < HEARD_AGAIN);
        if !here && !contradicted && !repeated && scene.text().get(found.span.start..found.span.end).is_some() {
            out.push(found);
        }
    }
}
