//! Acts and wishes of a person towards themselves: distinguished from acts of others towards them, and a plan from the
//! wish in which it begins or ends.

use std::ops::Range;

use super::RiskPhrase;
use crate::RiskClass;
use crate::analysis::AnalyzedDocument;
use crate::tokenized::TokenizedText;

/// "I want to die and I've bought the rope", "the rope is in the car and I'm going to hang myself": the plan is the
/// part next to the wish, and the wish is a separate finding.
pub(super) fn keep_more_than_the_wish(found: &mut [RiskPhrase]) {
    let wish = |words: &RiskPhrase| matches!(words.class, RiskClass::ActiveIdeation | RiskClass::PassiveIdeation);
    let wishes: Vec<Range<usize>> = found.iter().filter(|w| wish(w)).map(|w| w.words.clone()).collect();
    for plan in found.iter_mut().filter(|words| words.class == RiskClass::PlanOrMeans) {
        let held = wishes.iter().filter(|wish| wish.start <= plan.core.start && plan.core.start < wish.end);
        let (begin, end) = (plan.words.start, plan.words.end);
        if let Some(wish) = held.max_by_key(|wish| wish.len()) {
            let (before, after) = (begin..wish.start.max(begin), wish.end.min(end)..end);
            let more = if before.len() > after.len() { before } else { after };
            plan.core = if more.is_empty() { plan.core.clone() } else { more };
        }
    }
}

/// "Me pegué un susto", "estoy que me tiro de los pelos", "voy a ahorcarme", "going to shoot myself": the verb is the speaker's
/// own, and done to no one else.
pub(super) fn is_done_to_oneself(doc: &AnalyzedDocument<'_>, words: &RiskPhrase) -> bool {
    let reading = doc.reading;
    let (start, end) = (words.words.start, words.words.end);
    let word = |at: usize| reading.word(at);
    match words.class {
        RiskClass::Abuse => {
            let first = |at: usize| reading.source(&(at..at + 1)).slice(doc.text()).ends_with('é');
            let own = |at: usize| word(at) == "me" && at + 1 < end && first(at + 1);
            let idiom = start > 1 && word(start - 1) == "que" && word(start - 2) == "estoy" && word(start) == "me";
            let infinitive = |at: usize| ["arme", "erme", "irme"].iter().any(|ending| word(at).ends_with(ending));
            let meant = words.words.clone().any(|at| {
                infinitive(at) && at > 1 && (wishes(word(at - 1)) || word(at - 1) == "a" && wishes(word(at - 2)))
            });
            idiom || meant || words.words.clone().any(own)
        }
        RiskClass::HarmToOthers => {
            let oneself = |at: usize| matches!(word(at), "myself" | "himself" | "herself" | "themselves");
            // "I'd kill myself if I lost her": the other is named further on.
            (end.saturating_sub(1)..=end).any(oneself) || oneself(words.core.end)
        }
        _ => false,
    }
}

/// Intentions of the speaker: "voy a", "quiero", "pienso".
fn wishes(word: &str) -> bool {
    matches!(
        word,
        "voy" | "iba" | "quiero" | "queria" | "quisiera" | "pienso" | "puedo" | "podria" | "deseo" | "planeo"
    )
}

/// "I don't want to go on", "… to go on living": harmless only where it goes on to something else, as "to go on a trip".
pub(super) fn goes_on_living(reading: &TokenizedText<'_>, sentence: &Range<usize>, words: &Range<usize>) -> bool {
    let word = |after: usize| if words.end + after < sentence.end { reading.word(words.end + after) } else { "" };
    let ends = words.end >= sentence.end || reading.words[words.end].punctuation;
    let lives = matches!(word(0), "living" | "like" | "anymore" | "any" | "without" | "and" | "but")
        || matches!(
            (word(0), word(1)),
            ("with", "life" | "my" | "this" | "it") | ("this", "way") | ("another", "day" | "week")
        );
    words.len() > 1
        && matches!((reading.word(words.end - 2), reading.word(words.end - 1)), ("go", "on"))
        && (ends || lives)
}
