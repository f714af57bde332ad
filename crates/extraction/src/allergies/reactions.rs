//! Reactions of the patient to a substance without the word "allergy", and the lines of a form.

use std::ops::Range;

use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyRules};
use crate::analysis::{AnalyzedDocument, AssertionStatus};
use crate::lexicon::word_lists::{self, WordList};
use crate::medication::SentenceDrugs;
use crate::tokenized::TokenizedText;
use crate::{EntityType, Reaction};
use anamnesis_text::{Span, Speaker};

impl AllergyRules {
    /// "El ibuprofeno, ¿qué tal?" — "Me salen ronchas con él": the reaction belongs to the substance just named.
    pub(super) fn reacted_to_it(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        drugs: &[SentenceDrugs],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let (Some(turn), Speaker::Patient | Speaker::Family) = (sentence.turn, sentence.speaker) else { return };
        let words = &sentence.words;
        let refers = words.clone().any(|word| {
            matches!(
                doc.reading.word(word),
                "it" | "them" | "that" | "el" | "ella" | "eso" | "esa" | "ese" | "la" | "lo"
            )
        });
        let cause =
            self.first(&self.effects.leads, doc, words).is_some() || self.first(&self.intolerant, doc, words).is_some();
        let slot = drugs.partition_point(|found| found.sentence < index);
        let Some(last) = slot.checked_sub(1).map(|before| &drugs[before]) else { return };
        let near = doc.reading.sentences[last.sentence].turn.is_some_and(|named| named + 1 == turn);
        let named_here = drugs.get(slot).is_some_and(|found| found.sentence == index);
        if !(refers && cause && near) || named_here || last.mentions.len() != 1 || doc.question_answers.asks(index) {
            return;
        }
        let Some(reaction) = self.reactions.find(doc.reading, words.clone()).into_iter().next() else { return };
        if doc.scopes.mention_context(doc.reading, &reaction.words).negated {
            return;
        }
        let mention = &last.mentions[0];
        let substance = AllergenMention::from_mention(mention, true);
        let assertion = doc.answered(last.sentence, index, &mention.words);
        let frame =
            if reaction.concept.group == "allergic" { AllergyFrame::Allergy } else { AllergyFrame::Intolerance };
        self.push(doc, &substance, &assertion, frame, out);
    }

    /// Adds to each substance what it does: "sulfa: hives", "codeine - nausea", "hives with sulfa". What follows a sign
    /// needs no list of reactions; elsewhere only listed reactions count. The reaction distinguishes an allergy from an
    /// intolerance.
    pub(super) fn add_reactions(&self, doc: &AnalyzedDocument<'_>, out: &mut AllergyFindings) {
        let reading = doc.reading;
        out.placed.sort_by_key(|placed| placed.words.start);
        let places: Vec<Range<usize>> = out.placed.iter().map(|placed| placed.words.clone()).collect();
        let mut kept: Vec<Span> = Vec::new();
        for placed in out.placed.iter_mut().filter(|placed| !placed.words.is_empty()) {
            if let Some(mentioned) = placed.mentioned.take() {
                kept.push(mentioned.place);
                placed.entity.reaction = Some(mentioned);
                continue;
            }
            // A reaction next to a denied allergy is no reaction: it is found as a complaint.
            if placed.entity.context.negated {
                continue;
            }
            let region = ReactionRegion::find(doc, &placed.words, &places, reading.words_at(placed.entity.evidence));
            let mut found = self.reactions_in(doc, &region, (&placed.words, placed.frame));
            if found.is_empty() && placed.frame == AllergyFrame::Allergy {
                found = self.reactions_elsewhere(doc, &placed.words, &places);
            }
            kept.extend(found.iter().map(|(place, _)| reading.source(&with_part(reading, &placed.words, place))));
            let groups: Vec<&str> = found.iter().filter_map(|(_, group)| *group).collect();
            if let Some(kind) = kind_of(&groups, placed.frame) {
                placed.entity.kind = kind;
            }
            let places: Vec<Span> = found.iter().map(|(place, _)| reading.source(place)).collect();
            let place = places.iter().copied().reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
            let together = place.filter(|place| !place.is_empty() && place.end - place.start <= LONGEST_QUOTE);
            let place = together.or(places.first().copied()).filter(|place| !place.is_empty());
            placed.entity.reaction = place.map(|place| Reaction {
                name: place.slice(doc.text()).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase(),
                place,
            });
        }
        out.reactions = kept;
    }

    /// The reactions that a region speaks of: where, and of which group where the list knows it.
    fn reactions_in(
        &self,
        doc: &AnalyzedDocument<'_>,
        region: &ReactionRegion,
        (words, frame): (&Range<usize>, AllergyFrame),
    ) -> Vec<(Range<usize>, Option<&'static str>)> {
        // "They tried me on it but I got a rash": said by its effect, a substance has no list that is left.
        let listed = frame != AllergyFrame::Effect;
        let left = region.after.clone().find(|word| listed && self.leaves(doc, *word)).unwrap_or(region.after.end);
        let after = region.after.start..left;
        let mut mentioned = self.affirmed(doc, after.clone());
        mentioned.retain(|(place, _)| frame == AllergyFrame::Effect || !self.is_complaint(doc, after.start, place));
        if !mentioned.is_empty() {
            return mentioned;
        }
        if let Some(place) = self.listed_after(doc, &after) {
            return vec![(place, None)];
        }
        let mut before = self.affirmed(doc, region.before.clone());
        before.retain(|(place, _)| self.leads_to(doc, place, words));
        if !before.is_empty() {
            return before;
        }
        let mut later = Vec::new();
        for (nth, next) in region.next.iter().enumerate() {
            later = self.affirmed(doc, next.clone());
            // The answer belongs to the substance of the question; another sentence must say that it does.
            later.retain(|(place, group)| {
                nth == 0
                    || !self.is_complaint(doc, next.start, place)
                        && group.is_none_or(|group| self.says_so(doc, next.start, place, group))
            });
            if later.is_empty() {
                later.extend(self.titled_reaction(doc, next).map(|place| (place, None)));
            }
            if !later.is_empty() {
                break;
            }
        }
        later
    }

    /// "Allergies: cashews." — "Cashews, yep, full anaphylaxis.": the same substance named again, with its reaction.
    fn reactions_elsewhere(
        &self,
        doc: &AnalyzedDocument<'_>,
        words: &Range<usize>,
        places: &[Range<usize>],
    ) -> Vec<(Range<usize>, Option<&'static str>)> {
        let reading = doc.reading;
        let name = reading.word(words.start);
        for sentence in &reading.sentences {
            let mut again = sentence.words.clone().filter(|word| *word != words.start && reading.word(*word) == name);
            let Some(at) = again.next() else { continue };
            let next = places.iter().map(|other| other.start).filter(|start| *start > at).min().unwrap_or(usize::MAX);
            let after = at + words.len()..sentence.words.end.min(next).min(at + words.len() + AGAIN);
            if after.start >= after.end {
                continue;
            }
            let mut found = self.affirmed(doc, after.clone());
            found.retain(|(place, _)| !self.is_complaint(doc, after.start, place));
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn affirmed(&self, doc: &AnalyzedDocument<'_>, words: Range<usize>) -> Vec<(Range<usize>, Option<&'static str>)> {
        let found = self.reactions.find(doc.reading, words).into_iter();
        let mentioned = found.filter(|r| !self.effects.denied(doc, &r.words) && !is_only_feared(doc, &r.words));
        mentioned.map(|r| (r.words, Some(r.concept.group))).collect()
    }

    /// "What happened: peeling rash, hospital": the entry in the column of reactions.
    fn titled_reaction(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> Option<Range<usize>> {
        let title = words.clone().find_map(|word| self.reaction_title.at(doc.reading, word))?;
        let start = (title.words.end..words.end).find(|word| !doc.reading.words[*word].punctuation)?;
        let end = (start..words.end.min(start + LONGEST_REACTION)).find(|word| doc.reading.words[*word].punctuation);
        Some(start..end.unwrap_or(words.end.min(start + LONGEST_REACTION)))
    }

    /// A clinician who asks for the reaction to a substance knows of the allergy.
    pub(super) fn find_presupposed(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        named: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let context = crate::MentionContext::default();
        let epistemic = doc.epistemic(sentence.speaker);
        let assertion = AssertionStatus {
            context,
            epistemic,
            evidence: sentence.span,
            turn: sentence.turn,
            answered: false,
            confidence: 0.7,
        };
        for substance in named {
            self.push(doc, substance, &assertion, AllergyFrame::Allergy, out);
        }
    }

    /// "(swollen lips)", "- nausea and vomiting", ": hives": the words after the sign, up to the next one.
    fn listed_after(&self, doc: &AnalyzedDocument<'_>, after: &Range<usize>) -> Option<Range<usize>> {
        let reading = doc.reading;
        if let Some(titled) = self.titled_reaction(doc, after) {
            return Some(titled);
        }
        if !matches!(reading.word(after.start), "-" | "–" | "—" | ":" | "(" | "→" | "=" | ">") {
            return None;
        }
        let start = (after.start..after.end).find(|word| !reading.words[*word].punctuation)?;
        let sign = |word: &usize| {
            reading.words.get(*word).is_none_or(|word| word.punctuation)
                || matches!(reading.word(*word), "when" | "in" | "cuando" | "en" | "hace" | "since" | "desde")
        };
        let end = (start..after.end).find(sign).unwrap_or(after.end);
        let numbered = (start..end).any(|word| reading.word(word).bytes().any(|byte| byte.is_ascii_digit()));
        let said = !(start..end).any(|word| NO_REACTION[..4].contains(&reading.word(word)))
            && !NO_REACTION.contains(&reading.word(start))
            && !speaks_of_record(doc, start..end);
        (start < end && end - start <= LONGEST_REACTION && !numbered && said).then_some(start..end)
    }

    /// "Hives with sulfa", "urticaria por penicilina": only small words come between.
    fn leads_to(&self, doc: &AnalyzedDocument<'_>, reaction: &Range<usize>, substance: &Range<usize>) -> bool {
        let small = |word: usize| self.effects.is_small(doc.reading, word);
        reaction.end <= substance.start && (reaction.end..substance.start).all(small)
    }
}

/// Where the reaction of a substance may be said.
struct ReactionRegion {
    /// After it, up to the next substance.
    after: Range<usize>,
    /// Before it, from the last substance on.
    before: Range<usize>,
    /// The answer that was given, or the sentences that follow in the same line and name no other substance.
    next: Vec<Range<usize>>,
}

impl ReactionRegion {
    fn find(doc: &AnalyzedDocument<'_>, words: &Range<usize>, places: &[Range<usize>], evidence: Range<usize>) -> Self {
        let reading = doc.reading;
        let index = reading.sentence_of(words.start);
        let sentence = &reading.sentences[index];
        let within = sentence.words.clone();
        let next = places.iter().map(|other| other.start).filter(|start| *start >= words.end).min();
        let previous = places.iter().map(|other| other.end).filter(|end| *end <= words.start).max();
        let limit = next.unwrap_or(usize::MAX);
        let after = words.end..limit.min(within.end);
        let before = previous.unwrap_or(within.start).max(within.start)..words.start;
        let mut later = Vec::new();
        if limit > within.end {
            let answer = within.end.max(evidence.start)..evidence.end.max(within.end).min(limit);
            later.push(answer);
            for other in reading.sentences.iter().skip(index + 1).take(2) {
                let gap = doc.text().get(sentence.span.end..other.span.start).unwrap_or("");
                if other.turn != sentence.turn || gap.contains('\n') || other.words.start >= limit {
                    break;
                }
                later.push(other.words.start..other.words.end.min(limit));
            }
        }
        Self { after, before, next: later }
    }
}

/// An allergy or an intolerance, by the reaction; `None` where the reaction does not decide.
fn kind_of(groups: &[&str], frame: AllergyFrame) -> Option<EntityType> {
    if groups.contains(&"allergic") {
        Some(EntityType::Allergy)
    } else if groups.contains(&"intolerance") {
        Some(EntityType::Intolerance)
    } else if groups.contains(&"itch") && frame != AllergyFrame::Intolerance {
        Some(EntityType::Allergy)
    } else {
        None
    }
}

/// A reaction with the few words before it that say where: "lips & eyes swelled up".
fn with_part(reading: &TokenizedText<'_>, substance: &Range<usize>, place: &Range<usize>) -> Range<usize> {
    let joins = |at: &usize| !reading.words[*at].punctuation || matches!(reading.word(*at), "&" | "/");
    let start = (substance.end.max(place.start.saturating_sub(3))..place.start).rev().take_while(joins).last();
    start.unwrap_or(place.start)..place.end
}

/// "Pt says", "consignada como alergia", "de crío", "es higienista dental": a speaker, a place or a time of the record,
/// or a profession. None of these is a reaction.
fn speaks_of_record(doc: &AnalyzedDocument<'_>, words: Range<usize>) -> bool {
    static STEMS: WordList = WordList::listed(word_lists::ALLERGIES, "reactions.stems");
    const WORDS: &[&str] = &[
        "says", "said", "pt", "patient", "paciente", "per", "segun", "dice", "refiere", "reports", "crio", "cria",
        "nino", "nina", "pequeno", "pequena", "child", "kid", "baby", "bebe", "es", "son", "is", "who", "quien",
    ];
    let word = |at: usize| doc.reading.word(at);
    let first = words.start;
    let opens =
        WORDS.contains(&word(first)) || matches!(word(first), "de" | "as" | "in") && WORDS.contains(&word(first + 1));
    let verb_alone = words.len() == 1 && matches!(word(first), "subio" | "bajo" | "came" | "went" | "tried");
    opens || verb_alone || words.clone().any(|at| STEMS.iter().any(|stem| word(at).starts_with(stem)))
}

/// Bytes of a text that says several reactions at once.
const LONGEST_QUOTE: usize = 60;
const NO_REACTION: &[&str] = &[
    "none",
    "no",
    "denied",
    "unknown",
    "severe",
    "mild",
    "ninguna",
    "desconocida",
    "stopped",
    "mg",
    "see",
    "ver",
    "since",
    "as",
    "childhood",
    "infancia",
    "confirmed",
    "unconfirmed",
    "confirmada",
    "confirmado",
    "confirmar",
    "to",
    "pendiente",
    "sin",
    "on",
    "not",
    "y",
    "and",
];
/// Words between a substance that is named again and its reaction.
const AGAIN: usize = 12;
/// Words that a reaction after a sign may be long.
const LONGEST_REACTION: usize = 5;

/// "Avoid SSRIs (bleeding risk)", "por riesgo de hemorragia": a possible reaction did not happen.
fn is_only_feared(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let word = |at: Option<usize>| at.map_or("", |at| doc.reading.word(at));
    let back = |n: usize| words.start.checked_sub(n);
    matches!(word(Some(words.end)), "risk" | "risks" | "hazard" | "prophylaxis")
        || matches!(word(back(1)), "of" | "de" | "for" | "del")
            && matches!(
                word(back(2)),
                "risk" | "risks" | "riesgo" | "riesgos" | "danger" | "peligro" | "fear" | "miedo"
            )
        || matches!(word(back(1)), "prevent" | "evitar" | "prevenir" | "avoid")
}
