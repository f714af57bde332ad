//! What a substance does, told without the word "allergy": "codeine makes her sick", "me brota con el ibuprofeno", "con el
//! Nolotil me bajó la tensión", "can't have latex, it brings me out in blisters".

use std::ops::Range;

use super::{Allergies, AllergyRules, Frame, Substance, WORDS};
use crate::lexicon::{Mention, label};
use crate::matcher::Matcher;
use crate::phrasebook::Builder;
use crate::reading::Reading;
use crate::scene::Scene;
use crate::structure::Section;
use crate::{EntityType, Experiencer, Temporality};
use anamnesis_core::wording::denies;
use anamnesis_text::Speaker;

/// Words between a substance and what it does.
const REACH: usize = 14;
/// Small words between a reaction and the substance that follows it.
const LINK: usize = 6;
/// The group of reactions that are hypersensitivity.
const HYPERSENSITIVE: &str = "allergic";
/// Groups of the list of medicines that nobody is given.
const NOT_GIVEN: &[&str] = &["alcohol", "cocaine", "cannabis", "heroin", "methamphetamine", "mdma"];

/// The words that link a substance and a reaction.
pub(super) struct EffectWords {
    harms: Matcher,
    harms_ill: Matcher,
    forbids: Matcher,
    forbidden: Matcher,
    pub(crate) leads: Matcher,
    with: Matcher,
    after: Matcher,
    helps: Matcher,
    borne: Matcher,
    because: Matcher,
}

impl EffectWords {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        Self {
            harms: label(book, WORDS, "harms"),
            harms_ill: label(book, WORDS, "harms_ill"),
            forbids: label(book, WORDS, "forbids"),
            forbidden: label(book, WORDS, "forbidden"),
            leads: label(book, WORDS, "leads"),
            with: label(book, WORDS, "with"),
            after: label(book, WORDS, "after"),
            helps: label(book, WORDS, "helps"),
            borne: label(book, WORDS, "borne"),
            because: label(book, WORDS, "because"),
        }
    }
}

impl EffectWords {
    /// A word that may stand between a reaction and the substance after it.
    pub(crate) fn is_small(&self, reading: &Reading<'_>, word: usize) -> bool {
        self.after.at(reading, word).is_some()
    }

    /// Whether a reaction is denied. "Made him aggressive, stopped" and "don't take it, gives me thrush" deny another thing.
    pub(crate) fn denied(&self, scene: &Scene<'_>, reaction: &Range<usize>) -> bool {
        let reading = scene.reading;
        if !scene.contexts.denied_but_by(reading, reaction, reaction)
            || !scene.contexts.plainly_denied(reading, reaction)
        {
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

    /// "Citalopram for panic attacks": what stands behind "for" is what a medicine is taken against.
    pub(crate) fn treats(&self, scene: &Scene<'_>, reaction: usize) -> bool {
        (reaction.saturating_sub(3)..reaction)
            .any(|word| matches!(scene.reading.word(word), "for" | "para" | "contra" | "against" | "p"))
    }
}

impl AllergyRules {
    /// "Bad reaction to X", "does not tolerate X", "can't have X, it …", "X: no me den".
    pub(super) fn harmed(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let asks = scene.is_dialogue() && scene.exchanges.asks(index) && sentence.speaker != Speaker::Patient;
        if substances.is_empty() || asks {
            return;
        }
        let words = &sentence.words;
        for (matcher, frame) in [(&self.effects.harms, Frame::Allergy), (&self.effects.harms_ill, Frame::Intolerance)] {
            let Some(cue) = self.first(matcher, scene, words) else { continue };
            let near: Vec<Substance> = substances
                .iter()
                .filter(|s| s.words.start >= cue.end && s.words.start <= cue.end + LINK)
                .cloned()
                .collect();
            let Some(last) = near.last() else { continue };
            let joined: Vec<Substance> = substances
                .iter()
                .filter(|s| s.words.start >= cue.end && (s.words.end <= last.words.end || is_joined(scene, last, s)))
                .cloned()
                .collect();
            let governed = self.governed(scene, cue.end..words.end, &joined);
            self.take_beside(scene, index, &governed, &cue, frame, out);
        }
        if let Some(cue) = self.first(&self.effects.forbids, scene, words) {
            let after: Vec<Substance> = substances.iter().filter(|s| s.words.start >= cue.end).cloned().collect();
            let near = after.first().is_some_and(|s| s.words.start <= cue.end + LINK);
            let governed = self.governed(scene, cue.end..words.end, if near { &after } else { &[] });
            self.forbid(scene, index, &governed, &cue, out);
        }
        for substance in substances {
            // "Bupropion, seizure, contraindicated".
            let told =
                self.reactions.find(scene.reading, substance.words.end..words.end.min(substance.words.end + LINK));
            let reach = if told.is_empty() { 2 } else { LINK + 2 };
            let behind = substance.words.end..words.end.min(substance.words.end + reach);
            let cue = behind.clone().find_map(|word| {
                let hit = self.effects.forbidden.at(scene.reading, word).map(|hit| hit.words);
                hit.or_else(|| forbids_at(scene.reading, word))
            });
            let Some(cue) = cue else { continue };
            self.forbid(scene, index, std::slice::from_ref(substance), &cue, out);
        }
    }

    /// What must not be given is an allergy where a reaction stands with it, or where nobody takes it as a medicine.
    fn forbid(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        cue: &Range<usize>,
        out: &mut Allergies,
    ) {
        let sentence = &scene.reading.sentences[index];
        let next = scene.reading.sentences.get(index + 1).filter(|next| next.turn == sentence.turn);
        let until = next.map_or(sentence.words.end, |next| next.words.end);
        let reaction = |s: &Substance| {
            let found = self.reactions.find(scene.reading, s.words.end..sentence.words.end).into_iter().next();
            let found = found.or_else(|| {
                let words = next.map(|next| next.words.clone()).unwrap_or_default();
                self.reactions.find(scene.reading, words).into_iter().next()
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
        let edible = |s: &Substance| !s.drug && !s.class && !habit(&s.name);
        for substance in substances {
            // Forbidden, it is not taken, whatever the reason.
            out.touched.extend(substance.words.clone());
            if edible(substance) || reaction(substance).is_some() {
                let frame = if substance.drug { Frame::Intolerance } else { Frame::Allergy };
                self.take_beside(scene, index, std::slice::from_ref(substance), cue, frame, out);
                let theirs = relative_before(scene, sentence.words.start..cue.start);
                if let Some(placed) = out.placed.last_mut().filter(|placed| theirs && placed.words == substance.words) {
                    placed.entity.context.experiencer = Experiencer::Family;
                }
            }
        }
    }

    /// A substance and its reaction in one sentence, linked by what the sentence says of them.
    pub(super) fn effects(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        if substances.is_empty() {
            return;
        }
        if let Some(asked) = self.first(&self.what_happens, scene, &sentence.words) {
            let named: Vec<Substance> = substances
                .iter()
                .filter(|s| s.words.start >= asked.end && s.words.start <= asked.end + 3)
                .cloned()
                .collect();
            return self.known(scene, index, &named, out);
        }
        let asks = scene.is_dialogue() && scene.exchanges.asks(index);
        if asks || sentence.speaker == Speaker::Clinician {
            return;
        }
        let reactions = self.reactions.find(scene.reading, sentence.words.clone());
        for (nth, substance) in substances.iter().enumerate() {
            let free = !out.taken.contains(&substance.words.start) && !NOT_GIVEN.contains(&substance.name.as_str());
            if !free || substance.class && substance.drug {
                continue;
            }
            let before = nth.checked_sub(1).map_or(sentence.words.start, |n| substances[n].words.end);
            let after = substances.get(nth + 1).map_or(sentence.words.end, |next| next.words.start);
            let Some(reaction) = self.linked(scene, substance, &reactions, before..after) else { continue };
            let side_effect = reaction.concept.group != HYPERSENSITIVE && reaction.concept.group != "itch";
            let rest = substance.words.end.min(reaction.words.end)..sentence.words.end;
            if side_effect && rest.clone().any(|word| self.effects.borne.at(scene.reading, word).is_some()) {
                continue;
            }
            let Some(stance) = scene.stance(index, &substance.words) else { continue };
            let denied = stance.context.negated && scene.contexts.plainly_denied(scene.reading, &substance.words);
            let mut stance = stance;
            stance.context.negated = false;
            let told = !denied
                && !stance.context.uncertain
                && stance.context.temporality != Temporality::Hypothetical
                && stance.context.experiencer != Experiencer::Other;
            if told {
                self.push(scene, substance, &stance, Frame::Effect, out);
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
        scene: &Scene<'_>,
        substance: &Substance,
        reactions: &'m [Mention],
        within: Range<usize>,
    ) -> Option<&'m Mention> {
        let s = &substance.words;
        let parted = |mut words: Range<usize>| {
            words.any(|word| {
                matches!(scene.reading.word(word), "." | "?" | "!")
                    || scene.reading.word(word) == ";" && !matches!(scene.reading.word(word + 1), "this" | "it" | "se")
            })
        };
        let helps = |mut words: Range<usize>| words.any(|word| self.effects.helps.at(scene.reading, word).is_some());
        reactions.iter().filter(|r| within.start <= r.words.start && r.words.end <= within.end).find(|r| {
            let denied = self.effects.denied(scene, &r.words);
            if denied || r.words.start < s.end && s.start < r.words.end {
                return false;
            }
            if s.end <= r.words.start {
                let between = s.end..r.words.start;
                let leads = between.clone().any(|word| self.effects.leads.at(scene.reading, word).is_some())
                    // A reaction that is itself said of the substance: "la codeína me sienta mal".
                    || self.effects.leads.at(scene.reading, r.words.start).is_some()
                    || between.len() <= 1 && r.concept.name == "intolerance";
                let start = (s.start.saturating_sub(3).max(within.start)..s.start)
                    .find_map(|word| self.effects.with.at(scene.reading, word));
                // "Haloperidol: distonía", "amitriptyline → sedated": a line of its own.
                let sign = |word: usize| {
                    matches!(scene.reading.word(word), ":" | "→" | "->" | "-" | "–" | "—" | ">" | "=" | "(")
                };
                // "Plasters – skin blisters", "haloperidol → got acute dystonia": a few words stand before what it did.
                let few = if r.concept.group == HYPERSENSITIVE { 5 } else { 2 };
                let signed = between.len() <= few
                    && !between.is_empty()
                    && sign(between.start)
                    && between
                        .clone()
                        .skip(1)
                        .all(|word| sign(word) || few > 2 && !scene.reading.words[word].punctuation)
                    && !between.clone().any(|word| scene.reading.word(word).starts_with(|c: char| c.is_ascii_digit()))
                    && s.start <= within.start + 2
                    && scene.section(s.start) != Some(Section::Medications);
                let signed = signed || is_equated(scene.reading, &between) || is_in_row(scene, s, r);
                let with = start
                    .is_some_and(|with| (with.words.end..s.start).all(|word| is_article(scene.reading.word(word))));
                // "It was stopped owing to lip swelling".
                let stopped = r.concept.group == HYPERSENSITIVE
                    && between.clone().any(|word| self.effects.because.at(scene.reading, word).is_some());
                // "Lisinopril my tongue swole up", said by who had it.
                let spoken = r.concept.group == HYPERSENSITIVE
                    && between.len() <= 3
                    && between
                        .clone()
                        .all(|word| !scene.reading.words[word].punctuation || scene.reading.word(word) == ",")
                    && matches!(
                        scene.reading.sentences[scene.reading.sentence_of(s.start)].speaker,
                        Speaker::Patient | Speaker::Family
                    );
                between.len() <= REACH
                    && (leads || with || signed || stopped || spoken)
                    && !parted(between.clone())
                    && !helps(between.start..r.words.end + 3)
            } else {
                let between = r.words.end..s.start;
                let small = between.clone().all(|word| self.effects.is_small(scene.reading, word));
                small && between.len() <= LINK && (!between.is_empty() || r.concept.name == "intolerance")
            }
        })
    }

    /// "El salbutamol cuando me da el asma": when it is taken, not what it does.
    pub(super) fn is_indicated(&self, scene: &Scene<'_>, words: &Range<usize>) -> bool {
        let word = |at: usize| scene.reading.word(at);
        let from = words.end;
        let comes = matches!(word(from), "cuando" | "when" | "si" | "if")
            && matches!(word(from + 1), "me" | "le" | "i" | "he" | "she")
            && matches!(word(from + 2), "da" | "dan" | "entra" | "viene" | "get" | "gets" | "have" | "has");
        comes
            && !self
                .reactions
                .find(scene.reading, from + 2..from + LINK + 2)
                .iter()
                .any(|r| r.concept.group == HYPERSENSITIVE)
    }

    /// A long answer to a question about allergies: only what stands with its reaction, or right behind "to".
    pub(super) fn told_at_length(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        out: &mut Allergies,
    ) {
        let sentence = &scene.reading.sentences[index];
        let reactions = self.reactions.find(scene.reading, sentence.words.clone());
        for (nth, substance) in substances.iter().enumerate() {
            let after = substances.get(nth + 1).map_or(sentence.words.end, |next| next.words.start);
            let here = substance.words.end..after.min(substance.words.end + REACH);
            let tells = reactions.iter().any(|r| here.contains(&r.words.start));
            let word = |back: usize| scene.reading.word(substance.words.start.wrapping_sub(back));
            let named = matches!(word(1), "to" | "al" | "a") || matches!((word(2), word(1)), ("a" | "to", _));
            if tells || named {
                self.take(scene, index, std::slice::from_ref(substance), Frame::Allergy, out);
            }
        }
    }
}

/// "Mam says her and my nana both can't have latex": a relative is the subject, not the one who speaks.
fn relative_before(scene: &Scene<'_>, words: Range<usize>) -> bool {
    let near = words.end.saturating_sub(REACH).max(words.start)..words.end;
    let own = near.clone().rev().take(2).any(|word| {
        matches!(scene.reading.word(word), "i" | "he" | "she" | "yo" | "patient" | "pt" | "paciente" | "we")
    });
    !own && near.clone().any(|word| super::owner::is_relative(scene.reading.word(word)))
}

/// "Ketorolaco: NO poner, sangrado digestivo", "diclofenac – do not give": an order behind a name.
fn forbids_at(reading: &Reading<'_>, word: usize) -> Option<Range<usize>> {
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
fn is_equated(reading: &Reading<'_>, between: &Range<usize>) -> bool {
    let plain =
        |word: usize| !reading.words[word].punctuation && !reading.word(word).starts_with(|c: char| c.is_ascii_digit());
    between.len() <= 4 && reading.word(between.start) == "=" && between.clone().skip(1).all(plain)
}

/// "| Dipirona | [x] | Rash en todo el cuerpo |": a row of a table whose first cell is the substance and a later one what it did.
fn is_in_row(scene: &Scene<'_>, s: &Range<usize>, r: &Mention) -> bool {
    let reading = scene.reading;
    let (Some(name), Some(harm)) = (reading.words.get(s.start), reading.words.get(r.words.start)) else { return false };
    let start = reading.text[..name.source.start].rfind('\n').map_or(0, |at| at + 1);
    let line = reading.text[start..].lines().next().unwrap_or("");
    let first = reading.text[start..name.source.start].trim();
    let of_allergies = r.concept.group == HYPERSENSITIVE || scene.section(s.start) == Some(Section::Allergies);
    line.starts_with('|')
        && first.trim_start_matches('|').trim().is_empty()
        && harm.source.end <= start + line.len()
        && reading.text[name.source.end..harm.source.start].contains('|')
        && of_allergies
}

/// The status of what is known by its effect alone, until all of the document is read.
pub(super) const EFFECT: &str = "effect";

fn is_article(word: &str) -> bool {
    matches!(
        word,
        "the" | "a" | "el" | "la" | "los" | "las" | "un" | "una" | "my" | "that" | "this" | "lo" | "de" | "his" | "her"
    )
}

fn is_joined(scene: &Scene<'_>, a: &Substance, b: &Substance) -> bool {
    b.words.start >= a.words.end
        && b.words.start - a.words.end <= 2
        && (a.words.end..b.words.start).all(|word| {
            matches!(
                scene.reading.word(word),
                "," | "and" | "or" | "y" | "o" | "/" | "ni" | "nor" | "a" | "to" | "la" | "al"
            )
        })
}
