//! What the rules heard, before it becomes findings: each with the words that prove it. One passage of a class is one finding.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::clauses::clause_of;
use super::kin::is_telling;
use super::whom::is_among_others;
use super::whose::{is_relative, is_said_by_patient};
use super::words::Words;
use crate::dialogue::Polarity;
use crate::scene::Scene;
use crate::{Experiencer, Risk, RiskClass};
use anamnesis_text::Speaker;

/// Words before and behind words of risk that are kept of a long clause.
const AROUND: usize = 18;

/// Risk of a class, or its denial, with the words that say it.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(crate) class: RiskClass,
    pub(crate) denied: bool,
    pub(crate) words: Range<usize>,
    /// The words of risk themselves.
    pub(crate) core: Range<usize>,
    pub(crate) experiencer: Experiencer,
    /// The ear's probability of what a phrase found; `None` of what was asked, marked or denied.
    pub(crate) confirmed: Option<f64>,
}

/// Runs of words, found again without looking at each.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeMap<usize, usize>);

/// Words of the longest run that is kept: no sentence has more.
const LONGEST: usize = 1_200;

impl Places {
    pub(crate) fn push(&mut self, words: Range<usize>) {
        let end = self.0.entry(words.start).or_insert(words.end);
        *end = words.end.max(*end);
    }

    pub(crate) fn overlap(&self, words: &Range<usize>) -> bool {
        let from = words.start.saturating_sub(LONGEST);
        from < words.end && self.0.range(from..words.end).rev().take(MOST).any(|(_, end)| *end > words.start)
    }
}

/// Runs before a place that are looked at: bounds the work on hostile text.
const MOST: usize = 64;

/// What a question, a box or a denial has settled: phrases in it say nothing more.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Sentences of those who only ask.
    pub(crate) sentences: BTreeSet<usize>,
    /// Labels and questions.
    pub(crate) words: Places,
    pub(crate) denied: Places,
}

impl Settled {
    pub(crate) fn holds(&self, words: &Range<usize>) -> bool {
        self.words.overlap(words)
    }

    /// Sentences that the ear may not hear: what was asked, marked, denied or heard by rules.
    pub(crate) fn closed(&self, scene: &Scene<'_>, found: &[Risk]) -> Vec<bool> {
        let sentences = &scene.reading.sentences;
        let settled = |(index, words): (usize, &Range<usize>)| {
            self.sentences.contains(&index) || self.words.overlap(words) || self.denied.overlap(words)
        };
        let mut closed: Vec<bool> = sentences.iter().map(|sentence| &sentence.words).enumerate().map(settled).collect();
        // That another wants to die leaves open what else the words say of the patient.
        let open = |risk: &&Risk| is_wish(risk.class) && risk.experiencer != Experiencer::Patient;
        for risk in found.iter().filter(|risk| !open(risk)) {
            let words = scene.reading.words_at(risk.span);
            let first = scene.reading.sentence_of(words.start);
            let last = scene.reading.sentence_of(words.end.saturating_sub(1).max(words.start));
            closed[first.min(last)..(last + 1).min(sentences.len())].fill(true);
        }
        closed
    }
}

/// Adds what phrases found, with the clause as evidence, where nothing settled it.
pub(super) fn add_said(scene: &Scene<'_>, words: &Words, said: Vec<Heard>, settled: &Settled, out: &mut Vec<Heard>) {
    let mut denials = Places::default();
    out.iter().filter(|heard| heard.denied).for_each(|heard| denials.push(heard.words.clone()));
    for found in said {
        let index = scene.reading.sentence_of(found.words.start);
        // Who only asks, sums up or advises tells nothing of their own.
        if settled.sentences.contains(&index) || settled.holds(&found.words) {
            continue;
        }
        let sentence = &scene.reading.sentences[index].words;
        if words.is_advice(scene.reading, sentence, found.words.start) || is_sung(scene, sentence, found.words.start) {
            continue;
        }
        let denied = settled.denied.overlap(&found.words);
        let doubled = found.denied && denials.overlap(&found.words);
        if denied || doubled || is_answered_behind(scene, words, sentence, &found) {
            continue;
        }
        let experiencer = match whose(scene, sentence, &found) {
            // "Mis hijos estarían mejor sin mí": the speaker's, though others would be better off.
            _ if is_without_speaker(scene, &found) => Experiencer::Patient,
            person => person,
        };
        // A threat of another's, or another's plan, is nobody's here.
        if experiencer != Experiencer::Patient && !is_kept_of_others(scene, sentence, (found.class, experiencer)) {
            continue;
        }
        out.push(Heard { words: passage(scene, sentence, &found.words), experiencer, ..found });
    }
    // The same words are not another's where they are the patient's.
    let own: Vec<Range<usize>> =
        out.iter().filter(|h| h.experiencer == Experiencer::Patient && !h.denied).map(|h| h.words.clone()).collect();
    out.retain(|h| {
        h.experiencer == Experiencer::Patient || !is_wish(h.class) || !own.iter().any(|words| overlaps(words, &h.core))
    });
    set_right(scene, out);
}

fn is_without_speaker(scene: &Scene<'_>, found: &Heard) -> bool {
    found.class == RiskClass::PassiveIdeation
        && found
            .words
            .clone()
            .any(|at| matches!((scene.reading.word(at), scene.reading.word(at + 1)), ("sin", "mi") | ("without", "me")))
}

/// What is kept of others: their acts and what they suffered, which is history, and that a relative or a friend wants to die now;
/// a film's or a roommate's suicide is nobody's here.
fn is_kept_of_others(scene: &Scene<'_>, sentence: &Range<usize>, (class, whose): (RiskClass, Experiencer)) -> bool {
    let close = || {
        whose == Experiencer::Family
            || sentence.clone().any(|at| ["friend", "amig"].iter().any(|stem| scene.reading.word(at).starts_with(stem)))
    };
    matches!(class, RiskClass::AttemptHistory | RiskClass::Abuse) || is_wish(class) && close()
}

/// Words of a song, whoever has them on a phone.
fn is_sung(scene: &Scene<'_>, sentence: &Range<usize>, at: usize) -> bool {
    (sentence.start..at).any(|word| {
        matches!(
            scene.reading.word(word),
            "lyric" | "lyrics" | "song" | "songs" | "letra" | "cancion" | "canciones" | "poem" | "poema"
        )
    })
}

/// "Current SI: not right this second": an answer that is no yes stands behind.
fn is_answered_behind(scene: &Scene<'_>, words: &Words, sentence: &Range<usize>, found: &Heard) -> bool {
    let rest = found.words.end + 1..sentence.end.max(found.words.end + 1);
    scene.reading.word(found.words.end) == ":"
        && words.answer(scene.reading, &[rest]).is_some_and(|(polarity, _)| polarity != Polarity::Yes)
}

/// Whose it is, where a phrase cannot tell: a relative behind the words is an object ("the pills of her grandmother"), and who is
/// hit or robbed is the patient, but for another whom a patient speaks of.
fn whose(scene: &Scene<'_>, sentence: &Range<usize>, found: &Heard) -> Experiencer {
    let reading = scene.reading;
    let speaker = reading.sentences[reading.sentence_of(found.words.start)].speaker;
    let clause = passage(scene, sentence, &found.words);
    if found.class == RiskClass::Abuse {
        let me = found.words.clone().any(|word| matches!(reading.word(word), "me" | "my" | "mi" | "mis"));
        let them = found
            .words
            .clone()
            .any(|word| matches!(reading.word(word), "him" | "her" | "them" | "le" | "la" | "lo" | "les"));
        let us = clause.clone().any(|word| matches!(reading.word(word), "i" | "us" | "we" | "nos" | "fui" | "yo"));
        return match speaker {
            Speaker::Unknown if is_among_others(reading, sentence, &found.words) => Experiencer::Family,
            Speaker::Family if me => Experiencer::Family,
            Speaker::Patient if them && !me => Experiencer::Family,
            // "My sister was abused by her ex", "a mi prima la maltrataba su ex", said by who has that sister.
            _ if them && !me && !us && is_own_kin(scene, clause.start..found.words.end) => match found.experiencer {
                Experiencer::Patient => Experiencer::Family,
                somebody => somebody,
            },
            _ if me || them => Experiencer::Patient,
            _ => found.experiencer,
        };
    }
    // "My mother says she is …" is cut before "she", who was named before the cut.
    let pronoun = matches!(reading.word(clause.start), "he" | "she" | "they");
    let said = pronoun && clause.start > sentence.start && is_telling(reading.word(clause.start - 1));
    let start = if said { sentence.start } else { clause.start };
    let ahead = start..found.core.start.max(found.words.start);
    // In a note a relative who was named long before informs, or is lost: "… that her son is missing, that at times she asks God …".
    let near = if speaker == Speaker::Unknown { ahead.start.max(ahead.end.saturating_sub(NOTED)) } else { ahead.start };
    let named = (near..ahead.end).rev().find(|word| is_relative(reading.word(*word)));
    // "My son said to me that he …": who has a son speaks, whether or not the text says who that is.
    let owned = |kin: usize| kin > 0 && matches!(reading.word(kin - 1), "my" | "our" | "mi" | "nuestro" | "nuestra");
    let speaks = |kin: usize| is_said_by_patient(scene, found.words.start) || speaker == Speaker::Unknown && owned(kin);
    // "Wife says he has been hoarding tablets": she informs. A patient who says so of a relative speaks of the relative.
    let informs = |kin: usize| {
        !speaks(kin)
            && (kin..ahead.end)
                .any(|word| is_telling(reading.word(word)) && !matches!(reading.word(word - 1), "le" | "les"))
    };
    let named = named.is_some_and(|kin| !informs(kin));
    // "Intento de suicidio de mi tío".
    let named = named || found.class == RiskClass::ActiveIdeation && is_of_kin(scene, found.words.end);
    // "As a teenager he used to …".
    let young = |word: usize| matches!(reading.word(word), "teenager" | "child" | "kid" | "teen" | "adolescente");
    let as_one = ahead.clone().any(|word| {
        young(word) && word > 1 && matches!(reading.word(word - 2), "as" | "cuando")
            || young(word) && word > 0 && reading.word(word - 1) == "de"
    });
    match found.experiencer {
        Experiencer::Other if as_one => Experiencer::Patient,
        Experiencer::Family if !named && found.class != RiskClass::AttemptHistory => Experiencer::Patient,
        whose => whose,
    }
}

/// Whether words name a relative of the speaker's: "my sister", "mi hermana".
fn is_own_kin(scene: &Scene<'_>, mut words: Range<usize>) -> bool {
    let word = |at: usize| scene.reading.word(at);
    words.any(|at| matches!(word(at), "my" | "our" | "mi" | "mis" | "nuestra" | "nuestro") && is_relative(word(at + 1)))
}

/// Whether a relative follows at once whose that is: "of her brother", "de mi tío".
fn is_of_kin(scene: &Scene<'_>, at: usize) -> bool {
    let word = |behind: usize| scene.reading.word(at + behind);
    matches!(word(0), "of" | "de" | "del" | "in") && (1..3).any(|behind| is_relative(word(behind)))
}

/// What one part of a document sets right of another: a relative corrects what the patient denied, and a weapon in a threat is no
/// means of the patient's own death.
fn set_right(scene: &Scene<'_>, out: &mut Vec<Heard>) {
    let place = |heard: &Heard| scene.reading.sentence_of(heard.words.start);
    let speaker = |heard: &Heard| scene.reading.sentences[place(heard)].speaker;
    let own = out.iter().filter(|heard| !heard.denied && heard.experiencer == Experiencer::Patient);
    let told: BTreeSet<(RiskClass, Speaker, usize)> =
        own.map(|heard| (heard.class, speaker(heard), place(heard))).collect();
    let wishes = told.iter().any(|(class, ..)| matches!(class, RiskClass::ActiveIdeation | RiskClass::PassiveIdeation));
    // "Has suicidal thoughts but would never act on them", "SI yes, no intent": what is denied is the doing.
    for heard in out.iter_mut().filter(|heard| heard.denied && heard.class == RiskClass::ActiveIdeation) {
        let at = scene.reading.sentence_of(heard.core.start);
        let thinks =
            told.iter().any(|(class, _, place)| *class == RiskClass::ActiveIdeation && place.abs_diff(at) <= 1);
        if thinks && is_doing(scene, heard.core.start) {
            heard.class = RiskClass::PlanOrMeans;
        }
    }
    let threats: BTreeSet<usize> =
        told.iter().filter(|(class, ..)| *class == RiskClass::HarmToOthers).map(|(_, _, at)| *at).collect();
    out.retain(|heard| {
        let at = place(heard);
        let by_family = (heard.class, Speaker::Family, at)..(heard.class, Speaker::Family, at + CORRECTED);
        let corrected = heard.denied && told.range(by_family).next().is_some();
        let threat = !heard.denied
            && heard.class == RiskClass::PlanOrMeans
            && !wishes
            && threats.range(at.saturating_sub(1)..=at + 1).next().is_some();
        !corrected && !threat
    });
}

/// Whether carrying out is named, and not the thought. Who "denies intent" denies the thought too.
fn is_doing(scene: &Scene<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| scene.reading.word(before));
    match scene.reading.word(at) {
        "act" | "acting" | "hacerlo" | "llevarlo" | "llevarla" | "doing" | "make" | "making" => before != "a",
        "intent" | "intention" | "intentions" | "intencion" => !matches!(before, "denies" | "denied" | "niega" | "de"),
        _ => false,
    }
}

/// Words before words of risk in a note within which a relative is their subject.
const NOTED: usize = 7;

/// Sentences behind a denial within which a relative corrects it.
const CORRECTED: usize = 6;

/// The clause around words of risk, a long one cut.
pub(super) fn passage(scene: &Scene<'_>, sentence: &Range<usize>, words: &Range<usize>) -> Range<usize> {
    let first = clause_of(scene.reading, sentence, words.start);
    let last = clause_of(scene.reading, sentence, words.end.saturating_sub(1).max(words.start));
    let start = first.start.max(words.start.saturating_sub(AROUND));
    let end = last.end.min(words.end + AROUND).max(words.end);
    start..end
}

/// As findings: one for each class, polarity and passage, the passage that holds the others.
pub(super) fn folded(scene: &Scene<'_>, mut heard: Vec<Heard>) -> Vec<Risk> {
    heard.iter_mut().for_each(|one| one.words = trimmed(scene, one.words.clone()));
    // What was marked, answered or denied comes first where two begin alike.
    heard.sort_by_key(|one| one.words.start);
    let mut out: Vec<Heard> = Vec::new();
    for one in heard.into_iter().filter(|one| !one.words.is_empty()) {
        let same = |known: &Heard| known.denied == one.denied && overlaps(&known.words, &one.words);
        let recent = out.len().saturating_sub(MOST);
        let known =
            out[recent..].iter().position(|known| same(known) && is_one(scene, known, &one)).map(|at| at + recent);
        match known {
            Some(place) if ranks(scene, &one) < ranks(scene, &out[place]) => out[place] = one,
            Some(_) => {}
            None => out.push(one),
        }
    }
    let finding = |one: &Heard| {
        let span = scene.reading.source(&one.words);
        let there = scene.text().get(span.start..span.end).is_some_and(|text| !text.is_empty());
        let confirmed = one.confirmed;
        there.then_some(Risk { confirmed, ..Risk::heard(one.class, span, one.denied, one.experiencer) })
    };
    out.iter().filter_map(finding).collect()
}

/// Whether two findings of overlapping passages are one: of one class and person, or the same words under two names.
fn is_one(scene: &Scene<'_>, a: &Heard, b: &Heard) -> bool {
    let others = a.experiencer != Experiencer::Patient && b.experiencer != Experiencer::Patient;
    let named_twice = !a.denied && overlaps(&a.core, &b.core) && !(is_wish(a.class) && is_method(scene, b));
    a.class == b.class && a.experiencer == b.experiencer || others || named_twice && !is_method(scene, a)
}

fn is_wish(class: RiskClass) -> bool {
    matches!(class, RiskClass::PassiveIdeation | RiskClass::ActiveIdeation)
}

/// A plan of which more is said than the wish: both are kept.
fn is_method(scene: &Scene<'_>, heard: &Heard) -> bool {
    heard.class == RiskClass::PlanOrMeans && heard.core.len() > 3 && !scene.reading.words.is_empty()
}

/// Which of two names of the same words holds: what was done before what is thought, and killing oneself is no passive wish.
fn ranks(scene: &Scene<'_>, heard: &Heard) -> u8 {
    let kills = heard.core.clone().any(|word| is_of_killing(scene.reading.word(word)));
    // What needs no second opinion, first.
    let plain = if heard.confirmed == Some(1.0) { 0 } else { 10 };
    plain
        + match heard.class {
            RiskClass::AttemptHistory => 0,
            RiskClass::PlanOrMeans => 1,
            RiskClass::HarmToOthers => 2,
            RiskClass::SelfHarm => 3,
            RiskClass::Abuse => 4,
            RiskClass::ActiveIdeation => {
                if kills {
                    5
                } else {
                    7
                }
            }
            RiskClass::PassiveIdeation => 6,
        }
}

fn is_of_killing(word: &str) -> bool {
    [
        "kill", "suicid", "matar", "mato", "ahorc", "colg", "quitar", "autol", "jump", "tir", "avent", "hang", "end",
        "acab", "si", "neck",
    ]
    .iter()
    .any(|stem| word.starts_with(stem))
}

/// Without the signs at its edges.
fn trimmed(scene: &Scene<'_>, mut words: Range<usize>) -> Range<usize> {
    let sign = |word: usize| {
        scene.reading.words.get(word).is_none_or(|known| known.punctuation)
            && !matches!(scene.reading.word(word), "[" | "(" | "]" | ")" | "?" | "¿" | "\"" | "☐" | "☒" | "☑")
    };
    while !words.is_empty() && sign(words.start) {
        words.start += 1;
    }
    while !words.is_empty() && sign(words.end - 1) {
        words.end -= 1;
    }
    words
}

pub(super) fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
