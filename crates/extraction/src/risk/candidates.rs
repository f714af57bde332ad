//! Candidates of the rules, before they become findings: each with the words that prove it. One passage of a class is one finding.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::clauses::clause_of;
use super::cue_words::RiskCueWords;
use super::experiencer::{is_relative, is_said_by_patient};
use super::family_history::is_telling;
use super::semantic_roles::is_among_others;
use crate::analysis::AnalyzedDocument;
use crate::dialogue::Polarity;
use crate::{Experiencer, Risk, RiskClass};
use anamnesis_text::Speaker;

/// Words around words of risk that are quoted from a long clause.
const AROUND: usize = 18;

/// Risk of a class, or its denial, with the words that say it.
#[derive(Debug, Clone)]
pub(super) struct RiskCandidate {
    pub(crate) class: RiskClass,
    pub(crate) denied: bool,
    pub(crate) words: Range<usize>,
    /// The words of risk themselves.
    pub(crate) core: Range<usize>,
    pub(crate) experiencer: Experiencer,
    /// The classifier's probability of what a phrase found; `None` of what was asked, marked or denied.
    pub(crate) confirmed: Option<f64>,
}

/// Runs of words, found again without looking at each.
#[derive(Debug, Default)]
pub(super) struct WordRanges(BTreeMap<usize, usize>);

/// Words of the longest run that is stored: no sentence has more.
const LONGEST: usize = 1_200;

impl WordRanges {
    pub(crate) fn push(&mut self, words: Range<usize>) {
        let end = self.0.entry(words.start).or_insert(words.end);
        *end = words.end.max(*end);
    }

    pub(crate) fn overlap(&self, words: &Range<usize>) -> bool {
        let from = words.start.saturating_sub(LONGEST);
        from < words.end && self.0.range(from..words.end).rev().take(MOST).any(|(_, end)| *end > words.start)
    }
}

/// Earlier runs that are considered: bounds the work on hostile text.
const MOST: usize = 64;

/// Parts of the text that a question, a box or a denial has settled: phrases in them say nothing more.
#[derive(Debug, Default)]
pub(super) struct ResolvedWords {
    /// Sentences of speakers who only ask.
    pub(crate) sentences: BTreeSet<usize>,
    /// Labels and questions.
    pub(crate) words: WordRanges,
    pub(crate) denied: WordRanges,
}

impl ResolvedWords {
    pub(crate) fn holds(&self, words: &Range<usize>) -> bool {
        self.words.overlap(words)
    }

    /// Sentences closed to the classifier: asked, marked, denied or found by rules.
    pub(crate) fn closed(&self, doc: &AnalyzedDocument<'_>, found: &[Risk]) -> Vec<bool> {
        let sentences = &doc.reading.sentences;
        let settled = |(index, words): (usize, &Range<usize>)| {
            self.sentences.contains(&index) || self.words.overlap(words) || self.denied.overlap(words)
        };
        let mut closed: Vec<bool> = sentences.iter().map(|sentence| &sentence.words).enumerate().map(settled).collect();
        // Another person's wish to die leaves open what else the words say of the patient.
        let open = |risk: &&Risk| is_wish(risk.class) && risk.experiencer != Experiencer::Patient;
        for risk in found.iter().filter(|risk| !open(risk)) {
            let words = doc.reading.words_at(risk.span);
            let first = doc.reading.sentence_of(words.start);
            let last = doc.reading.sentence_of(words.end.saturating_sub(1).max(words.start));
            closed[first.min(last)..(last + 1).min(sentences.len())].fill(true);
        }
        closed
    }
}

/// Adds the findings of phrases, with the clause as evidence, where nothing settled it.
pub(super) fn add_said(
    doc: &AnalyzedDocument<'_>,
    words: &RiskCueWords,
    said: Vec<RiskCandidate>,
    settled: &ResolvedWords,
    out: &mut Vec<RiskCandidate>,
) {
    let mut denials = WordRanges::default();
    out.iter().filter(|candidate| candidate.denied).for_each(|candidate| denials.push(candidate.words.clone()));
    for found in said {
        let index = doc.reading.sentence_of(found.words.start);
        // A speaker who only asks, sums up or advises reports nothing about themselves.
        if settled.sentences.contains(&index) || settled.holds(&found.words) {
            continue;
        }
        let sentence = &doc.reading.sentences[index].words;
        if words.is_advice(doc.reading, sentence, found.words.start) || is_sung(doc, sentence, found.words.start) {
            continue;
        }
        let denied = settled.denied.overlap(&found.words);
        let doubled = found.denied && denials.overlap(&found.words);
        if denied || doubled || is_answered_after(doc, words, sentence, &found) {
            continue;
        }
        let experiencer = match experiencer_of(doc, sentence, &found) {
            // "Mis hijos estarían mejor sin mí" is the speaker's, although it names others.
            _ if is_without_speaker(doc, &found) => Experiencer::Patient,
            person => person,
        };
        // A threat or a plan of another person is not stored here.
        if experiencer != Experiencer::Patient && !is_stored_for_others(doc, sentence, (found.class, experiencer)) {
            continue;
        }
        out.push(RiskCandidate { words: passage(doc, sentence, &found.words), experiencer, ..found });
    }
    let own: Vec<Range<usize>> =
        out.iter().filter(|h| h.experiencer == Experiencer::Patient && !h.denied).map(|h| h.words.clone()).collect();
    out.retain(|h| {
        h.experiencer == Experiencer::Patient || !is_wish(h.class) || !own.iter().any(|words| overlaps(words, &h.core))
    });
    set_right(doc, out);
}

fn is_without_speaker(doc: &AnalyzedDocument<'_>, found: &RiskCandidate) -> bool {
    found.class == RiskClass::PassiveIdeation
        && found
            .words
            .clone()
            .any(|at| matches!((doc.reading.word(at), doc.reading.word(at + 1)), ("sin", "mi") | ("without", "me")))
}

/// Stored of others: acts, suffering, and a close person's present wish to die; never a film's or roommate's suicide.
fn is_stored_for_others(
    doc: &AnalyzedDocument<'_>,
    sentence: &Range<usize>,
    (class, whose): (RiskClass, Experiencer),
) -> bool {
    let close = || {
        whose == Experiencer::Family
            || sentence.clone().any(|at| ["friend", "amig"].iter().any(|stem| doc.reading.word(at).starts_with(stem)))
    };
    matches!(class, RiskClass::AttemptHistory | RiskClass::Abuse) || is_wish(class) && close()
}

/// Words of a song, even when the patient has them on a phone.
fn is_sung(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, at: usize) -> bool {
    (sentence.start..at).any(|word| {
        matches!(
            doc.reading.word(word),
            "lyric" | "lyrics" | "song" | "songs" | "letra" | "cancion" | "canciones" | "poem" | "poema"
        )
    })
}

/// "Current SI: not right this second": an answer that is not yes follows.
fn is_answered_after(
    doc: &AnalyzedDocument<'_>,
    words: &RiskCueWords,
    sentence: &Range<usize>,
    found: &RiskCandidate,
) -> bool {
    let rest = found.words.end + 1..sentence.end.max(found.words.end + 1);
    doc.reading.word(found.words.end) == ":"
        && words.answer(doc.reading, &[rest]).is_some_and(|(polarity, _)| polarity != Polarity::Yes)
}

/// A relative after the words is an object ("the pills of her grandmother"); a victim is the patient by default.
fn experiencer_of(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, found: &RiskCandidate) -> Experiencer {
    let reading = doc.reading;
    let speaker = reading.sentences[reading.sentence_of(found.words.start)].speaker;
    let clause = passage(doc, sentence, &found.words);
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
            // "My sister was abused by her ex", "a mi prima la maltrataba su ex": the speaker has that sister.
            _ if them && !me && !us && is_own_kin(doc, clause.start..found.words.end) => match found.experiencer {
                Experiencer::Patient => Experiencer::Family,
                someone => someone,
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
    // In a note a relative named long before informs or is lost: "her son is missing, at times she asks God …".
    let near = if speaker == Speaker::Unknown { ahead.start.max(ahead.end.saturating_sub(NOTED)) } else { ahead.start };
    let named = (near..ahead.end).rev().find(|word| is_relative(reading.word(*word)));
    // "My son said to me that he …": the speaker has a son, even when the text does not name the speaker.
    let owned = |kin: usize| kin > 0 && matches!(reading.word(kin - 1), "my" | "our" | "mi" | "nuestro" | "nuestra");
    let speaks = |kin: usize| is_said_by_patient(doc, found.words.start) || speaker == Speaker::Unknown && owned(kin);
    // "Wife says he has been hoarding tablets": she informs; a patient who says so speaks of the relative.
    let informs = |kin: usize| {
        !speaks(kin)
            && (kin..ahead.end)
                .any(|word| is_telling(reading.word(word)) && !matches!(reading.word(word - 1), "le" | "les"))
    };
    let named = named.is_some_and(|kin| !informs(kin));
    // "Intento de suicidio de mi tío".
    let named = named || found.class == RiskClass::ActiveIdeation && is_of_kin(doc, found.words.end);
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

fn is_own_kin(doc: &AnalyzedDocument<'_>, mut words: Range<usize>) -> bool {
    let word = |at: usize| doc.reading.word(at);
    words.any(|at| matches!(word(at), "my" | "our" | "mi" | "mis" | "nuestra" | "nuestro") && is_relative(word(at + 1)))
}

fn is_of_kin(doc: &AnalyzedDocument<'_>, at: usize) -> bool {
    let word = |after: usize| doc.reading.word(at + after);
    matches!(word(0), "of" | "de" | "del" | "in") && (1..3).any(|after| is_relative(word(after)))
}

/// A relative corrects the patient's denial, and a weapon in a threat is no means of the patient's own death.
fn set_right(doc: &AnalyzedDocument<'_>, out: &mut Vec<RiskCandidate>) {
    let place = |candidate: &RiskCandidate| doc.reading.sentence_of(candidate.words.start);
    let speaker = |candidate: &RiskCandidate| doc.reading.sentences[place(candidate)].speaker;
    let own = out.iter().filter(|candidate| !candidate.denied && candidate.experiencer == Experiencer::Patient);
    let stated: BTreeSet<(RiskClass, Speaker, usize)> =
        own.map(|candidate| (candidate.class, speaker(candidate), place(candidate))).collect();
    let wishes =
        stated.iter().any(|(class, ..)| matches!(class, RiskClass::ActiveIdeation | RiskClass::PassiveIdeation));
    // "Has suicidal thoughts but would never act on them", "SI yes, no intent": only the act is denied.
    for candidate in out.iter_mut().filter(|candidate| candidate.denied && candidate.class == RiskClass::ActiveIdeation)
    {
        let at = doc.reading.sentence_of(candidate.core.start);
        let thinks =
            stated.iter().any(|(class, _, place)| *class == RiskClass::ActiveIdeation && place.abs_diff(at) <= 1);
        if thinks && is_doing(doc, candidate.core.start) {
            candidate.class = RiskClass::PlanOrMeans;
        }
    }
    let threats: BTreeSet<usize> =
        stated.iter().filter(|(class, ..)| *class == RiskClass::HarmToOthers).map(|(_, _, at)| *at).collect();
    out.retain(|candidate| {
        let at = place(candidate);
        let by_family = (candidate.class, Speaker::Family, at)..(candidate.class, Speaker::Family, at + CORRECTED);
        let corrected = candidate.denied && stated.range(by_family).next().is_some();
        let threat = !candidate.denied
            && candidate.class == RiskClass::PlanOrMeans
            && !wishes
            && threats.range(at.saturating_sub(1)..=at + 1).next().is_some();
        !corrected && !threat
    });
}

/// Whether the act is named, and not the thought. "Denies intent" denies the thought too.
fn is_doing(doc: &AnalyzedDocument<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| doc.reading.word(before));
    match doc.reading.word(at) {
        "act" | "acting" | "hacerlo" | "llevarlo" | "llevarla" | "doing" | "make" | "making" => before != "a",
        "intent" | "intention" | "intentions" | "intencion" => !matches!(before, "denies" | "denied" | "niega" | "de"),
        _ => false,
    }
}

const NOTED: usize = 7;

const CORRECTED: usize = 6;

/// The clause around words of risk, a long one cut.
pub(super) fn passage(doc: &AnalyzedDocument<'_>, sentence: &Range<usize>, words: &Range<usize>) -> Range<usize> {
    let first = clause_of(doc.reading, sentence, words.start);
    let last = clause_of(doc.reading, sentence, words.end.saturating_sub(1).max(words.start));
    let start = first.start.max(words.start.saturating_sub(AROUND));
    let end = last.end.min(words.end + AROUND).max(words.end);
    start..end
}

/// As findings: one for each class, polarity and passage, the passage that holds the others.
pub(super) fn folded(doc: &AnalyzedDocument<'_>, mut candidates: Vec<RiskCandidate>) -> Vec<Risk> {
    candidates.iter_mut().for_each(|one| one.words = trimmed(doc, one.words.clone()));
    candidates.sort_by_key(|one| one.words.start);
    let mut out: Vec<RiskCandidate> = Vec::new();
    for one in candidates.into_iter().filter(|one| !one.words.is_empty()) {
        let same = |known: &RiskCandidate| known.denied == one.denied && overlaps(&known.words, &one.words);
        let recent = out.len().saturating_sub(MOST);
        let known =
            out[recent..].iter().position(|known| same(known) && is_one(doc, known, &one)).map(|at| at + recent);
        match known {
            Some(place) if ranks(doc, &one) < ranks(doc, &out[place]) => out[place] = one,
            Some(_) => {}
            None => out.push(one),
        }
    }
    let finding = |one: &RiskCandidate| {
        let span = doc.reading.source(&one.words);
        let there = doc.text().get(span.start..span.end).is_some_and(|text| !text.is_empty());
        let confirmed = one.confirmed;
        there.then_some(Risk { confirmed, ..Risk::ungraded(one.class, span, one.denied, one.experiencer) })
    };
    out.iter().filter_map(finding).collect()
}

/// Whether two findings of overlapping passages are one: of one class and person, or the same words under two names.
fn is_one(doc: &AnalyzedDocument<'_>, a: &RiskCandidate, b: &RiskCandidate) -> bool {
    let others = a.experiencer != Experiencer::Patient && b.experiencer != Experiencer::Patient;
    let named_twice = !a.denied && overlaps(&a.core, &b.core) && !(is_wish(a.class) && is_method(doc, b));
    a.class == b.class && a.experiencer == b.experiencer || others || named_twice && !is_method(doc, a)
}

fn is_wish(class: RiskClass) -> bool {
    matches!(class, RiskClass::PassiveIdeation | RiskClass::ActiveIdeation)
}

/// A plan that says more than the wish: both are stored.
fn is_method(doc: &AnalyzedDocument<'_>, candidate: &RiskCandidate) -> bool {
    candidate.class == RiskClass::PlanOrMeans && candidate.core.len() > 3 && !doc.reading.words.is_empty()
}

/// Which of two names of the same words takes precedence: acts before thoughts, and killing oneself is no passive wish.
fn ranks(doc: &AnalyzedDocument<'_>, candidate: &RiskCandidate) -> u8 {
    let kills = candidate.core.clone().any(|word| is_of_killing(doc.reading.word(word)));
    // A certain finding comes first.
    let plain = if candidate.confirmed == Some(1.0) { 0 } else { 10 };
    plain
        + match candidate.class {
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
fn trimmed(doc: &AnalyzedDocument<'_>, mut words: Range<usize>) -> Range<usize> {
    let sign = |word: usize| {
        doc.reading.words.get(word).is_none_or(|known| known.punctuation)
            && !matches!(doc.reading.word(word), "[" | "(" | "]" | ")" | "?" | "¿" | "\"" | "☐" | "☒" | "☑")
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
