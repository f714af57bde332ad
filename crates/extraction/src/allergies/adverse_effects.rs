//! What a substance does, without the word "allergy": "codeine makes her sick", "me brota con el ibuprofeno", "con el
//! Nolotil me bajó la tensión", "can't have latex, it brings me out in blisters".

use std::ops::Range;

use super::{AllergenMention, AllergyFindings, AllergyFrame, AllergyRules, WORDS};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::{ConceptMention, label};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::structure::Section;
use crate::tokenized::TokenizedText;
use crate::{EntityType, Experiencer, Temporality};
use anamnesis_core::wording::denies;
use anamnesis_text::Speaker;

/// Words between a substance and its reaction.
const REACH: usize = 14;
/// Small words between a reaction and the substance that follows it.
const LINK: usize = 6;
/// The group of reactions that are hypersensitivity.
const HYPERSENSITIVE: &str = "allergic";
/// Groups of the list of medicines that no one is given.
const NOT_GIVEN: &[&str] = &["alcohol", "cocaine", "cannabis", "heroin", "methamphetamine", "mdma"];

/// The words that link a substance and a reaction.
pub(super) struct EffectWords {
    harms: PhraseMatcher,
    harms_ill: PhraseMatcher,
    forbids: PhraseMatcher,
    forbidden: PhraseMatcher,
    pub(crate) leads: PhraseMatcher,
    with: PhraseMatcher,
    after: PhraseMatcher,
    helps: PhraseMatcher,
    borne: PhraseMatcher,
    because: PhraseMatcher,
}

impl EffectWords {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            harms: label(trie, WORDS, "harms"),
            harms_ill: label(trie, WORDS, "harms_ill"),
            forbids: label(trie, WORDS, "forbids"),
            forbidden: label(trie, WORDS, "forbidden"),
            leads: label(trie, WORDS, "leads"),
            with: label(trie, WORDS, "with"),
            after: label(trie, WORDS, "after"),
            helps: label(trie, WORDS, "helps"),
            borne: label(trie, WORDS, "borne"),
            because: label(trie, WORDS, "because"),
        }
    }
}

impl EffectWords {
    /// A word that may come between a reaction and the substance after it.
    pub(crate) fn is_small(&self, reading: &TokenizedText<'_>, word: usize) -> bool {
        self.after.at(reading, word).is_some()
    }

    /// Whether a reaction is denied. "Made him aggressive, stopped" and "don't take it, gives me thrush" deny another thing.
    pub(crate) fn denied(&self, doc: &AnalyzedDocument<'_>, reaction: &Range<usize>) -> bool {
        let reading = doc.reading;
        if !doc.scopes.denied_but_by(reading, reaction, reaction) || !doc.scopes.plainly_denied(reading, reaction) {
            return false;
        }
        let lead = (reaction.start.saturating_sub(4)..reaction.start).find_map(|word| {
            self.leads
                .at(reading, word)
                .filter(|hit| hit.words.end + 1 >= reaction.start && hit.words.end <= reaction.start)
        });
        lead.is_none_or(|lead| {
            (lead.words.start.saturating_sub(2)..lead.words.start)
                .any(|word| denies(reading.word(word)) || reading.word(word) == "n't")
        })
    }

    /// "Citalopram for panic attacks": the illness after "for" is the indication.
    pub(crate) fn treats(&self, doc: &AnalyzedDocument<'_>, reaction: usize) -> bool {
        (reaction.saturating_sub(3)..reaction)
            .any(|word| matches!(doc.reading.word(word), "for" | "para" | "contra" | "against" | "p"))
    }
}

impl AllergyRules {
    /// "Bad reaction to X", "does not tolerate X", "can't have X, it …", "X: no me den".
    pub(super) fn harmed(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let asks = doc.is_dialogue() && doc.question_answers.asks(index) && sentence.speaker != Speaker::Patient;
        if substances.is_empty() || asks {
            return;
        }
        let words = &sentence.words;
        for (matcher, frame) in
            [(&self.effects.harms, AllergyFrame::Allergy), (&self.effects.harms_ill, AllergyFrame::Intolerance)]
        {
            let Some(cue) = self.first(matcher, doc, words) else { continue };
            let near: Vec<AllergenMention> = substances
                .iter()
                .filter(|s| s.words.start >= cue.end && s.words.start <= cue.end + LINK)
                .cloned()
                .collect();
            let Some(last) = near.last() else { continue };
            let joined: Vec<AllergenMention> = substances
                .iter()
                .filter(|s| s.words.start >= cue.end && (s.words.end <= last.words.end || is_joined(doc, last, s)))
                .cloned()
                .collect();
            let governed = self.governed(doc, cue.end..words.end, &joined);
            self.take_alongside(doc, index, &governed, &cue, frame, out);
        }
        if let Some(cue) = self.first(&self.effects.forbids, doc, words) {
            let after: Vec<AllergenMention> = substances.iter().filter(|s| s.words.start >= cue.end).cloned().collect();
            let near = after.first().is_some_and(|s| s.words.start <= cue.end + LINK);
            let governed = self.governed(doc, cue.end..words.end, if near { &after } else { &[] });
            self.forbid(doc, index, &governed, &cue, out);
        }
        for substance in substances {
            // "Bupropion, seizure, contraindicated".
            let mentioned =
                self.reactions.find(doc.reading, substance.words.end..words.end.min(substance.words.end + LINK));
            let reach = if mentioned.is_empty() { 2 } else { LINK + 2 };
            let following = substance.words.end..words.end.min(substance.words.end + reach);
            let cue = following.clone().find_map(|word| {
                let hit = self.effects.forbidden.at(doc.reading, word).map(|hit| hit.words);
                hit.or_else(|| forbids_at(doc.reading, word))
            });
            let Some(cue) = cue else { continue };
            self.forbid(doc, index, std::slice::from_ref(substance), &cue, out);
        }
    }

    /// A forbidden substance is an allergy where a reaction is stated with it, or where no one takes it as a medicine.
    fn forbid(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        cue: &Range<usize>,
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let next = doc.reading.sentences.get(index + 1).filter(|next| next.turn == sentence.turn);
        let until = next.map_or(sentence.words.end, |next| next.words.end);
        let reaction = |s: &AllergenMention| {
            let found = self.reactions.find(doc.reading, s.words.end..sentence.words.end).into_iter().next();
            let found = found.or_else(|| {
                let words = next.map(|next| next.words.clone()).unwrap_or_default();
                self.reactions.find(doc.reading, words).into_iter().next()
            });
            found.filter(|found| found.words.end <= until)
        };
        // Coffee, beer and cigarettes are forbidden for other reasons.
        let habit = |name: &str| {
            matches!(
                name,
                "red wine"
                    | "beer"
                    | "coffee"
                    | "smoke"
                    | "cheese"
                    | "chocolate"
                    | "food"
                    | "vegetables"
                    | "fruit"
                    | "sunlight"
                    | "matico"
            )
        };
        let edible = |s: &AllergenMention| !s.drug && !s.class && !habit(&s.name);
        for substance in substances {
            // Forbidden, it is not taken, whatever the reason.
            out.touched.extend(substance.words.clone());
            if edible(substance) || reaction(substance).is_some() {
                let frame = if substance.drug { AllergyFrame::Intolerance } else { AllergyFrame::Allergy };
                self.take_alongside(doc, index, std::slice::from_ref(substance), cue, frame, out);
                let theirs = relative_before(doc, sentence.words.start..cue.start);
                if let Some(placed) = out.placed.last_mut().filter(|placed| theirs && placed.words == substance.words) {
                    placed.entity.context.experiencer = Experiencer::Family;
                }
            }
        }
    }

    /// A substance and its reaction in one sentence, linked by the words between them.
    pub(super) fn effects(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        if substances.is_empty() {
            return;
        }
        if let Some(asked) = self.first(&self.what_happens, doc, &sentence.words) {
            let named: Vec<AllergenMention> = substances
                .iter()
                .filter(|s| s.words.start >= asked.end && s.words.start <= asked.end + 3)
                .cloned()
                .collect();
            return self.find_presupposed(doc, index, &named, out);
        }
        let asks = doc.is_dialogue() && doc.question_answers.asks(index);
        if asks || sentence.speaker == Speaker::Clinician {
            return;
        }
        let reactions = self.reactions.find(doc.reading, sentence.words.clone());
        for (nth, substance) in substances.iter().enumerate() {
            let free = !out.taken.contains(&substance.words.start) && !NOT_GIVEN.contains(&substance.name.as_str());
            if !free || substance.class && substance.drug {
                continue;
            }
            let before = nth.checked_sub(1).map_or(sentence.words.start, |n| substances[n].words.end);
            let after = substances.get(nth + 1).map_or(sentence.words.end, |next| next.words.start);
            let Some(reaction) = self.linked(doc, substance, &reactions, before..after) else { continue };
            let side_effect = reaction.concept.group != HYPERSENSITIVE && reaction.concept.group != "itch";
            let rest = substance.words.end.min(reaction.words.end)..sentence.words.end;
            if side_effect && rest.clone().any(|word| self.effects.borne.at(doc.reading, word).is_some()) {
                continue;
            }
            let Some(assertion) = doc.assertion(index, &substance.words) else { continue };
            let denied = assertion.context.negated && doc.scopes.plainly_denied(doc.reading, &substance.words);
            let mut assertion = assertion;
            assertion.context.negated = false;
            let mentioned = !denied
                && !assertion.context.uncertain
                && assertion.context.temporality != Temporality::Hypothetical
                && assertion.context.experiencer != Experiencer::Other;
            if mentioned {
                self.push(doc, substance, &assertion, AllergyFrame::Effect, out);
                if let Some(placed) = out.placed.last_mut().filter(|placed| placed.words == substance.words) {
                    placed.entity.kind = if side_effect { EntityType::Intolerance } else { EntityType::Allergy };
                    placed.entity.status = Some(EFFECT.to_owned());
                }
            }
        }
    }

    /// The reaction that the words of a substance lead to, or that leads to the substance.
    fn linked<'m>(
        &self,
        doc: &AnalyzedDocument<'_>,
        substance: &AllergenMention,
        reactions: &'m [ConceptMention],
        within: Range<usize>,
    ) -> Option<&'m ConceptMention> {
        let s = &substance.words;
        let parted = |mut words: Range<usize>| {
            words.any(|word| {
                matches!(doc.reading.word(word), "." | "?" | "!")
                    || doc.reading.word(word) == ";" && !matches!(doc.reading.word(word + 1), "this" | "it" | "se")
            })
        };
        let helps = |mut words: Range<usize>| words.any(|word| self.effects.helps.at(doc.reading, word).is_some());
        reactions.iter().filter(|r| within.start <= r.words.start && r.words.end <= within.end).find(|r| {
            let denied = self.effects.denied(doc, &r.words);
            if denied || r.words.start < s.end && s.start < r.words.end {
                return false;
            }
            if s.end <= r.words.start {
                let between = s.end..r.words.start;
                let leads = between.clone().any(|word| self.effects.leads.at(doc.reading, word).is_some())
                    // A reaction stated directly of the substance: "la codeína me sienta mal".
                    || self.effects.leads.at(doc.reading, r.words.start).is_some()
                    || between.len() <= 1 && r.concept.name == "intolerance";
                let start = (s.start.saturating_sub(3).max(within.start)..s.start)
                    .find_map(|word| self.effects.with.at(doc.reading, word));
                // "Haloperidol: distonía", "amitriptyline → sedated": a separate line.
                let sign = |word: usize| {
                    matches!(doc.reading.word(word), ":" | "→" | "->" | "-" | "–" | "—" | ">" | "=" | "(")
                };
                // "Plasters – skin blisters", "haloperidol → got acute dystonia": a few words come before the reaction.
                let few = if r.concept.group == HYPERSENSITIVE { 5 } else { 2 };
                let signed = between.len() <= few
                    && !between.is_empty()
                    && sign(between.start)
                    && between
                        .clone()
                        .skip(1)
                        .all(|word| sign(word) || few > 2 && !doc.reading.words[word].punctuation)
                    && !between.clone().any(|word| doc.reading.word(word).starts_with(|c: char| c.is_ascii_digit()))
                    && s.start <= within.start + 2
                    && doc.section(s.start) != Some(Section::Medications);
                let signed = signed || is_equated(doc.reading, &between) || is_in_row(doc, s, r);
                let with =
                    start.is_some_and(|with| (with.words.end..s.start).all(|word| is_article(doc.reading.word(word))));
                // "It was stopped owing to lip swelling".
                let stopped = r.concept.group == HYPERSENSITIVE
                    && between.clone().any(|word| self.effects.because.at(doc.reading, word).is_some());
                // "Lisinopril my tongue swole up", said by who had it.
                let spoken = r.concept.group == HYPERSENSITIVE
                    && between.len() <= 3
                    && between
                        .clone()
                        .all(|word| !doc.reading.words[word].punctuation || doc.reading.word(word) == ",")
                    && matches!(
                        doc.reading.sentences[doc.reading.sentence_of(s.start)].speaker,
                        Speaker::Patient | Speaker::Family
                    );
                between.len() <= REACH
                    && (leads || with || signed || stopped || spoken)
                    && !parted(between.clone())
                    && !helps(between.start..r.words.end + 3)
            } else {
                let between = r.words.end..s.start;
                let small = between.clone().all(|word| self.effects.is_small(doc.reading, word));
                small && between.len() <= LINK && (!between.is_empty() || r.concept.name == "intolerance")
            }
        })
    }

    /// "El salbutamol cuando me da el asma": the indication, not the effect.
    pub(super) fn is_indicated(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
        let word = |at: usize| doc.reading.word(at);
        let from = words.end;
        let comes = matches!(word(from), "cuando" | "when" | "si" | "if")
            && matches!(word(from + 1), "me" | "le" | "i" | "he" | "she")
            && matches!(word(from + 2), "da" | "dan" | "entra" | "viene" | "get" | "gets" | "have" | "has");
        comes
            && !self
                .reactions
                .find(doc.reading, from + 2..from + LINK + 2)
                .iter()
                .any(|r| r.concept.group == HYPERSENSITIVE)
    }

    /// A long answer to a question about allergies: only a substance with its reaction, or right after "to".
    pub(super) fn find_in_long_answer(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        substances: &[AllergenMention],
        out: &mut AllergyFindings,
    ) {
        let sentence = &doc.reading.sentences[index];
        let reactions = self.reactions.find(doc.reading, sentence.words.clone());
        for (nth, substance) in substances.iter().enumerate() {
            let after = substances.get(nth + 1).map_or(sentence.words.end, |next| next.words.start);
            let here = substance.words.end..after.min(substance.words.end + REACH);
            let tells = reactions.iter().any(|r| here.contains(&r.words.start));
            let word = |back: usize| doc.reading.word(substance.words.start.wrapping_sub(back));
            let named = matches!(word(1), "to" | "al" | "a") || matches!((word(2), word(1)), ("a" | "to", _));
            if tells || named {
                self.take(doc, index, std::slice::from_ref(substance), AllergyFrame::Allergy, out);
            }
        }
    }
}

/// "Mam says her and my nana both can't have latex": a relative is the subject, not the one who speaks.
fn relative_before(doc: &AnalyzedDocument<'_>, words: Range<usize>) -> bool {
    let near = words.end.saturating_sub(REACH).max(words.start)..words.end;
    let own =
        near.clone().rev().take(2).any(|word| {
            matches!(doc.reading.word(word), "i" | "he" | "she" | "yo" | "patient" | "pt" | "paciente" | "we")
        });
    !own && near.clone().any(|word| super::experiencer::is_relative(doc.reading.word(word)))
}

/// "Ketorolaco: NO poner, sangrado digestivo", "diclofenac – do not give": an order after a name.
fn forbids_at(reading: &TokenizedText<'_>, word: usize) -> Option<Range<usize>> {
    let at = |by: usize| reading.word(word + by);
    let spanish =
        |verb: &str| matches!(verb, "poner" | "dar" | "administrar" | "usar" | "ponerle" | "darle" | "pautar");
    let length = match (at(0), at(1), at(2)) {
        ("no", verb, _) if spanish(verb) => 2,
        ("no", "volver", "a") => 4,
        ("do", "not", "give" | "use" | "prescribe") => 3,
        ("not", "to", "be") => 4,
        _ => return None,
    };
    Some(word..word + length)
}

/// "PENICILINA = ANAFILAXIA", "erythromycin = really bad vomiting".
fn is_equated(reading: &TokenizedText<'_>, between: &Range<usize>) -> bool {
    let plain =
        |word: usize| !reading.words[word].punctuation && !reading.word(word).starts_with(|c: char| c.is_ascii_digit());
    between.len() <= 4 && reading.word(between.start) == "=" && between.clone().skip(1).all(plain)
}

/// "| Dipirona | [x] | Rash en todo el cuerpo |": a row of a table whose first cell is the substance and a later one
/// its reaction.
fn is_in_row(doc: &AnalyzedDocument<'_>, s: &Range<usize>, r: &ConceptMention) -> bool {
    let reading = doc.reading;
    let (Some(name), Some(harm)) = (reading.words.get(s.start), reading.words.get(r.words.start)) else { return false };
    let start = reading.text[..name.source.start].rfind('\n').map_or(0, |at| at + 1);
    let line = reading.text[start..].lines().next().unwrap_or("");
    let first = reading.text[start..name.source.start].trim();
    let of_allergies = r.concept.group == HYPERSENSITIVE || doc.section(s.start) == Some(Section::Allergies);
    line.starts_with('|')
        && first.trim_start_matches('|').trim().is_empty()
        && harm.source.end <= start + line.len()
        && reading.text[name.source.end..harm.source.start].contains('|')
        && of_allergies
}

/// The status of a substance that is known by its effect alone, until all of the document is read.
pub(super) const EFFECT: &str = "effect";

fn is_article(word: &str) -> bool {
    matches!(
        word,
        "the" | "a" | "el" | "la" | "los" | "las" | "un" | "una" | "my" | "that" | "this" | "lo" | "de" | "his" | "her"
    )
}

fn is_joined(doc: &AnalyzedDocument<'_>, a: &AllergenMention, b: &AllergenMention) -> bool {
    b.words.start >= a.words.end
        && b.words.start - a.words.end <= 2
        && (a.words.end..b.words.start).all(|word| {
            matches!(
                doc.reading.word(word),
                "," | "and" | "or" | "y" | "o" | "/" | "ni" | "nor" | "a" | "to" | "la" | "al"
            )
        })
}
