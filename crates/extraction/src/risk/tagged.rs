//! What the learned reader hears of risk joins what rules and classifier found.

use super::heard::passage;
use super::learned::is_asked;
use crate::Risk;
use crate::careful::{Careful, TaggedRisk};
use crate::scene::Scene;

/// How probable a risk must be that no rule has found in its passage. On sets that taught the reader nothing, two of three at this
/// probability are risks of that class; at 0.4 one of two.
const ALONE: f64 = 0.55;

/// Drops what phrases and classifier found and the learned reader does not hear: of such passages one in eight spoke of risk.
/// A box, a field or an answer stays: the reader is poor at short lines. Then adds what it hears alone, where it is sure. A question that nobody answers with yes says nothing, and what is denied
/// is kept once, where nothing tells of it.
pub(super) fn settle(scene: &Scene<'_>, careful: &Careful, out: &mut Vec<Risk>) {
    let tagged = careful.risks(scene);
    out.retain(|risk| {
        let same = |one: &TaggedRisk| {
            one.class == risk.class && !one.denied && scene.reading.source(&one.words).overlaps(&risk.span)
        };
        let is_phrase = risk.confirmed.is_some();
        let heard = || if is_phrase { careful.hears_risk(risk.span) } else { risk.learned.is_none() };
        !risk.is_own() || tagged.iter().any(same) || heard()
    });
    add(scene, &tagged, out);
}

fn add(scene: &Scene<'_>, tagged: &[TaggedRisk], out: &mut Vec<Risk>) {
    for risk in tagged {
        let index = scene.reading.sentence_of(risk.words.start);
        if is_asked(scene, index) {
            continue;
        }
        let sentence = &scene.reading.sentences[index].words;
        let found = risk.finding(scene, &passage(scene, sentence, &risk.words));
        let same = |other: &&Risk| other.class == found.class;
        let here = out.iter().any(|other| same(&other) && other.span.overlaps(&found.span));
        let known = found.denied && out.iter().any(|other| same(&other) && (other.denied || other.is_own()));
        let doubtful = !found.denied && risk.probability < ALONE;
        if !here && !known && !doubtful && scene.text().get(found.span.start..found.span.end).is_some() {
            out.push(found);
        }
    }
}
