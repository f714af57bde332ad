//! Words of risk: ideation, plans and means, attempts, self-harm, harm to others, abuse. A denial is kept as a denial;
//! what somebody else did or said of themselves is not the patient's risk.

mod answers;
mod asking;
mod clauses;
mod denials;
mod denied;
mod ended;
mod fields;
mod figurative;
mod forms;
mod heard;
mod kin;
pub mod learned;
mod levels;
mod oneself;
mod parts;
mod past;
mod patterns;
mod replies;
mod screens;
mod tagged;
mod taken_back;
mod thought;
mod topics;
mod unsaid;
mod whom;
mod whose;
mod words;

use std::ops::Range;

use answers::Answers;
pub(super) use clauses::clause_of;
use denials::{denied_as_subject, denied_behind, denied_itself, nobody_does, noted_answer, wish_denied};
use denied::Denials;
use forms::Forms;
use heard::{Heard, Settled};
use learned::{Ear, Heeds, Ruled};
use oneself::{is_done_to_oneself, keep_more_than_the_wish};
use patterns::Patterns;
use screens::Screens;
use topics::Topics;
use whose::{Whose, is_relative};

use super::careful::Careful;
use super::context::tells_more;
use super::dialogue::Polarity;
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::reading::{Reading, Sentence};
use super::scene::Scene;
use super::{Experiencer, Risk, RiskClass};
use anamnesis_text::Speaker;

/// Log odds of the ear from which it confirms what a phrase found in a document, and below which it refutes even plain words.
const CONFIRMED: f32 = -0.5;
const DOUBTED: f32 = -4.0;

/// Words behind words of risk within which a denial still means them.
const DENIAL_BEHIND: usize = 3;

pub(super) const FILES: [&str; 8] = [
    include_str!("../lexicon/risk.tsv"),
    patterns::WORDS[0],
    patterns::WORDS[1],
    patterns::WORDS[2],
    patterns::WORDS[3],
    patterns::PATTERNS,
    topics::FILE,
    words::FILE,
];

/// A row of the list: `None` for what only looks like risk.
#[derive(Clone, Copy)]
struct Row {
    class: Option<RiskClass>,
    /// The words say "me" or "I": they are the speaker's own.
    own: bool,
}

/// Words of risk in a sentence.
struct Words {
    class: RiskClass,
    own: bool,
    words: Range<usize>,
    /// The words that a denial must reach: what would be done.
    core: Range<usize>,
    /// So plain that the ear need not confirm it.
    sure: bool,
    /// Said beside talk of dying that is often denied: only a denial of its own denies it.
    beside: bool,
}

pub(crate) struct RiskRules {
    rows: Vec<Row>,
    matcher: Matcher,
    patterns: Patterns,
    whose: Whose,
    screens: Screens,
    topics: Topics,
    around: words::Words,
    ear: Option<Ear>,
}

impl RiskRules {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let mut rows = Vec::new();
        let mut phrases = Vec::new();
        for line in FILES[0].lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(person), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let index = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
            rows.push(Row { class: RiskClass::from_code(class), own: person == "1" });
        }
        Self {
            matcher: Matcher::new(book, phrases),
            rows,
            patterns: Patterns::builtin(book),
            whose: Whose::builtin(book),
            screens: Screens::builtin(book),
            topics: Topics::builtin(book),
            around: words::Words::builtin(book),
            ear: Ear::builtin(),
        }
    }

    pub(super) fn hear_with(&mut self, ear: Ear) {
        self.ear = Some(ear);
    }

    pub(crate) fn find(&self, scene: &Scene<'_>, careful: Option<&Careful>) -> Vec<Risk> {
        let (said, ruled) = self.said(scene);
        let (mut heard, mut settled) = (Vec::new(), Settled::default());
        let spoken_of = self.topics.spoken_of(scene.reading);
        let (topics, words) = (&self.topics, &self.around);
        Forms { topics, words, spoken_of: &spoken_of }.find(scene, &mut heard, &mut settled);
        fields::find(scene, topics, &spoken_of, &mut heard, &mut settled);
        Answers { topics, words, spoken_of: &spoken_of }.find(scene, &mut heard, &mut settled);
        unsaid::find(scene, topics, words, &spoken_of, &mut settled);
        Denials { topics, words, spoken_of: &spoken_of }.find(scene, &mut heard, &mut settled);
        kin::find(scene, words, &settled, &mut heard);
        let said = self.confirmed(scene, said);
        heard::add_said(scene, words, said, &settled, &mut heard);
        taken_back::find(scene, words, &mut heard);
        let mut out: Vec<Risk> = heard::folded(scene, heard);
        if let Some(ear) = &self.ear {
            let closed = settled.closed(scene, &out);
            let cued = |sentence: &Sentence| self.around.is_cued(scene.reading, sentence.words.clone());
            let cued: Vec<bool> = scene.reading.sentences.iter().map(cued).collect();
            ear.find(scene, &Heeds { ruled: &ruled, closed: &closed, cued: &cued }, &mut out);
        }
        if let Some(careful) = careful {
            tagged::settle(scene, careful, &mut out);
        }
        levels::grade(scene, &mut out);
        levels::drop_contradicted(&mut out);
        // The gravest first: what a reader must see, whatever came first in the text.
        out.sort_by_key(|risk| (risk.denied, risk.experiencer != Experiencer::Patient, gravity(risk.class), risk.span));
        out.dedup_by_key(|risk| (risk.span, risk.class));
        out
    }

    /// What phrases found, with the ear's probability of it. In a document the ear must agree, or the words must name risk
    /// plainly: phrases alone are right in one of two there.
    fn confirmed(&self, scene: &Scene<'_>, said: Vec<Heard>) -> Vec<Heard> {
        let Some(ear) = &self.ear else { return said };
        let document = learned::is_document(scene.reading);
        let judged = said.into_iter().filter_map(|found| {
            if found.confirmed.is_some() {
                return Some(found);
            }
            let sentence = &scene.reading.sentences[scene.reading.sentence_of(found.words.start)];
            let passage = Sentence { words: heard::passage(scene, &sentence.words, &found.words), ..sentence.clone() };
            let odds = ear.odds(scene, &passage);
            let plain = || self.around.is_cued(scene.reading, passage.words.clone());
            // A short text is heard as it is, but for everyday words: "me tomé las pastillas".
            let kept = if document {
                odds >= CONFIRMED || odds >= DOUBTED && plain()
            } else {
                odds >= CONFIRMED || !is_plain_taking(scene, &found)
            };
            let confirmed = Some(learned::probability(odds));
            kept.then_some(Heard { confirmed, ..found })
        });
        judged.collect()
    }

    /// What the rules say of each sentence: what training and the ear look at.
    pub(super) fn ruled(&self, scene: &Scene<'_>) -> Vec<Ruled> {
        self.said(scene).1
    }

    /// What phrases and patterns find, and in which sentences.
    fn said(&self, scene: &Scene<'_>) -> (Vec<Heard>, Vec<Ruled>) {
        let mut out: Vec<Heard> = Vec::new();
        let mut ruled = vec![Ruled::default(); scene.reading.sentences.len()];
        for (index, sentence) in scene.sentences() {
            for words in self.words(scene, index, &sentence.words) {
                let Some(risk) = self.risk(scene, index, &words) else {
                    // "Asked about self-harm: says no, but cuts her thighs": the rest is said.
                    ruled[index].only_asked |= !tells_more(scene.reading, words.words.end..sentence.words.end);
                    continue;
                };
                let others = risk.experiencer != Experiencer::Patient;
                ruled[index].own |= !risk.denied && !others;
                ruled[index].denied |= risk.denied;
                ruled[index].others |= others;
                out.push(risk);
            }
        }
        (out, ruled)
    }

    /// Phrases and patterns of a sentence, without those that only look like risk.
    fn words(&self, scene: &Scene<'_>, index: usize, sentence: &Range<usize>) -> Vec<Words> {
        let mut harmless: Vec<Range<usize>> = Vec::new();
        let mut found = self.patterns.find(scene.reading, index);
        for word in sentence.clone() {
            let Some(hit) = self.matcher.at(scene.reading, word) else { continue };
            let row = self.rows[hit.meaning as usize];
            match row.class {
                None => harmless.push(hit.words),
                Some(class) => {
                    let (core, own) = (hit.words.clone(), row.own);
                    found.push(Words { class, own, core, words: hit.words, sure: false, beside: false })
                }
            }
        }
        found.retain(|words| !self.patterns.is_slip(scene.reading, index, words.class, &words.words));
        let overlaps = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        // "I don't want to go on living with my in-laws": what closes the words goes on harmlessly.
        let closes = |other: &Range<usize>, words: &Range<usize>| {
            words.start < other.start && other.start < words.end && words.end <= other.end
        };
        found.retain(|words| {
            // "Quiero morir de la vergüenza": the plainest words are harmless where what goes on from them is.
            let goes_on = |o: &Range<usize>| overlaps(o, &words.core) && words.words.end < o.end;
            // "Se suicidó" is of somebody who died; "attempted suicide two years ago" is not only of when.
            let covers = |o: &Range<usize>| o.start <= words.core.start && words.core.end <= o.end;
            let attempt = words.class == RiskClass::AttemptHistory;
            let plain = |o: &Range<usize>| if attempt { covers(o) } else { goes_on(o) || closes(o, &words.words) };
            let any = |o: &Range<usize>| overlaps(o, &words.core) || closes(o, &words.words);
            !harmless.iter().any(|o| if words.sure { plain(o) } else { any(o) })
                && !is_aimed_at_a_thing(scene, words)
                && !is_done_to_oneself(scene, words)
                && !whom::is_turned(scene.reading, sentence, words)
                && !figurative::is_figurative(scene.reading, index, scene.input.document_type, words)
        });
        keep_more_than_the_wish(&mut found);
        // "I wish I was dead" holds "wish I was dead": one finding.
        found.sort_by_key(|words| (words.words.start, std::cmp::Reverse(words.words.end)));
        let mut out: Vec<Words> = Vec::new();
        for mut words in found {
            if words.class == RiskClass::AttemptHistory
                && thought::is_only_thought(scene.reading, sentence, &words.words)
            {
                words.class = RiskClass::PlanOrMeans;
            }
            let inside = |known: &&Words| {
                known.class == words.class
                    && (known.sure || !words.sure)
                    && (known.beside || !words.beside)
                    && known.words.start <= words.words.start
                    && words.words.end <= known.words.end
            };
            if !out.iter().any(|known| inside(&known)) {
                out.push(words);
            }
        }
        out
    }

    fn risk(&self, scene: &Scene<'_>, index: usize, found: &Words) -> Option<Heard> {
        let sentence = &scene.reading.sentences[index];
        let class = found.class;
        let context = scene.contexts.of(scene.reading, &found.words);
        // A plan is denied only where its own first words are; anything else also where its core is.
        // What a patient does is not denied by words far behind it: "… and says the bruises will go away".
        let behind = if found.own { DENIAL_BEHIND } else { usize::MAX };
        let reached =
            |words: &Range<usize>| scene.contexts.denied_within(scene.reading, words, found.words.end, behind);
        // "Ya no sirvo, a veces le pido a Dios que me recoja": what is denied before a wish is not the wish.
        let wish = found.sure && class == RiskClass::PassiveIdeation;
        let negated = if wish {
            // "Would not mind dying": a "not" within the words is part of the wish.
            denied_itself(scene.reading, &sentence.words, &(found.words.start..found.words.start + 1))
        } else if found.beside {
            denied_itself(scene.reading, &sentence.words, &found.words)
        } else {
            (context.negated
                && scene.contexts.denied_from_outside(scene.reading, &found.words, &found.words)
                && reached(&found.words))
                || (class != RiskClass::PlanOrMeans
                    && scene.contexts.of(scene.reading, &found.core).negated
                    // "Quiero desaparecer" ends nothing, though what has disappeared is over.
                    && scene.contexts.denied_from_outside(scene.reading, &found.core, &found.words)
                    && reached(&found.core))
                || wish_denied(scene.reading, &sentence.words, &found.words)
                || denied_behind(scene.reading, found.words.end)
                || (!is_of_deeds(class)
                    && [found.words.end, found.core.end].iter().any(|end| denied_as_subject(scene.reading, *end)))
                || nobody_does(scene.reading, &sentence.words, &found.words)
                || self.screens.answered_no(scene.reading, index, &found.words)
        };
        let negated = negated
            && !is_behind_box(scene.reading, &sentence.words, &found.words)
            && !self.around.affirms(scene.reading, &sentence.words, &found.core);
        let asked = scene.is_dialogue() && scene.exchanges.asks(index) && sentence.speaker != Speaker::Patient;
        let mut denied = match (asked, scene.exchanges.answer(index).map(|answer| answer.polarity)) {
            (true, Some(Polarity::No)) => true,
            (true, Some(Polarity::Yes)) => negated && found.own,
            // Asked and neither affirmed nor denied: the question alone is nothing.
            (true, _) => return None,
            (false, _) => negated,
        };
        if !asked && sentence.question && sentence.speaker != Speaker::Patient && asks_you(scene, &sentence.words) {
            denied = noted_answer(scene.reading, index)? == Polarity::No;
        }
        // "Asked about mood he says he will hang himself": a plain statement of a clause of its own answers.
        let stated = found.sure
            && scene.structure.boxes(index).is_empty()
            && clauses::clause_of(scene.reading, &sentence.words, found.words.start).start > sentence.words.start;
        if !stated && scene.contexts.only_asked(scene.reading, &found.core) {
            return None;
        }
        let experiencer = self.whose.of(scene, &sentence.words, found);
        Some(Heard {
            class,
            denied,
            words: found.words.clone(),
            core: found.core.clone(),
            experiencer,
            confirmed: found.sure.then_some(1.0),
        })
    }
}

/// "Sí [x]  No [ ]  tomó raticida a los 17": the "no" of a box denies nothing behind it.
fn is_behind_box(reading: &Reading<'_>, sentence: &Range<usize>, found: &Range<usize>) -> bool {
    let boxed = |word: usize| match reading.word(word) {
        "☐" | "☒" | "☑" | "□" => true,
        "]" | ")" => {
            word > sentence.start + 1
                && ["[", "("].iter().any(|open| {
                    reading.word(word - 1) == *open
                        || reading.word(word - 2) == *open && reading.word(word - 1).len() < 3
                })
        }
        _ => false,
    };
    let Some(last) = (sentence.start..found.start).rev().find(|word| boxed(*word)) else { return false };
    let denies =
        |word: usize| matches!(reading.word(word), "no" | "not" | "niega" | "denies" | "never" | "nunca" | "sin");
    !(last..found.end).any(denies)
}

/// "Me tomé las pastillas": who takes the pills that they have, and no number of them, has attempted nothing.
fn is_plain_taking(scene: &Scene<'_>, found: &Heard) -> bool {
    let word = |at: usize| scene.reading.word(at);
    let Some(last) = found.core.end.checked_sub(1) else { return false };
    let pills = matches!(word(last), "pastillas" | "comprimidos" | "tabletas" | "pastis");
    let more =
        |word: &str| matches!(word, "todas" | "todos" | "entero" | "entera" | "juntas" | "golpe" | "morir" | "morirme");
    let around = found.core.start..found.core.end + AROUND_TAKING;
    found.class == RiskClass::AttemptHistory
        && pills
        && last > found.core.start
        && matches!(word(last - 1), "las" | "los" | "mis" | "sus")
        && !around.clone().any(|at| more(word(at)))
}

/// Words after pills that were taken within which it is said how many, or what for.
const AROUND_TAKING: usize = 6;

/// What somebody is threatened at.
const BODY: &[&str] = &[
    "throat", "neck", "face", "chest", "head", "stomach", "belly", "back", "wrist", "wrists", "arm", "arms", "skin",
    "heart", "baby", "child", "children", "kid", "kids", "girl", "boy", "staff", "nurse", "dog", "cat", "man", "woman",
];

/// "Held a knife to the onions": what is threatened is nobody. With an article alone only the body and children are somebody's.
fn is_aimed_at_a_thing(scene: &Scene<'_>, words: &Words) -> bool {
    let word = |at: usize| scene.reading.word(at);
    let end = words.words.end;
    let to = (words.core.start..end).rev().find(|at| word(*at) == "to");
    let Some(to) =
        to.filter(|to| to + 2 >= end && *to > words.words.start && matches!(word(to - 1), "knife" | "blade"))
    else {
        return false;
    };
    word(to + 1) == "the" && !BODY.contains(&word(to + 2)) && !is_relative(word(to + 2))
}

/// A question put to somebody, outside a dialogue: "Have you …?", "¿Ha tenido …?".
fn asks_you(scene: &Scene<'_>, sentence: &Range<usize>) -> bool {
    let word = |at: usize| scene.reading.word(at);
    let own = sentence.clone().any(|at| matches!(word(at), "i" | "me" | "my" | "mi" | "yo" | "mis"));
    let you = |at: usize| {
        matches!(
            word(at),
            "you"
                | "your"
                | "anyone"
                | "usted"
                | "ha"
                | "has"
                | "le"
                | "te"
                | "tiene"
                | "tienes"
                | "piensa"
                | "alguien"
        )
    };
    !own && sentence.clone().any(you)
}

/// What was done or suffered, of which no wish is the subject.
fn is_of_deeds(class: RiskClass) -> bool {
    matches!(class, RiskClass::AttemptHistory | RiskClass::SelfHarm | RiskClass::Abuse)
}

fn gravity(class: RiskClass) -> u8 {
    match class {
        RiskClass::PlanOrMeans => 0,
        RiskClass::AttemptHistory => 1,
        RiskClass::HarmToOthers => 2,
        RiskClass::ActiveIdeation => 3,
        RiskClass::SelfHarm => 4,
        RiskClass::Abuse => 5,
        RiskClass::PassiveIdeation => 6,
    }
}

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod turned_tests;
