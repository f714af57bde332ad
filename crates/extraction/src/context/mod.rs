//! Context of a mention: negated, uncertain, historical, hypothetical, somebody else's. Scoped cues with terminators
//! and pseudo-cues, in the tradition of NegEx and ConText, with cue lists of our own for Spanish and English as equals.

mod clauses;
mod cues;
mod deeds;
mod kin;
mod lists;
mod replaced;
mod scope;
mod scope_words;
mod subjects;
mod values;

use std::ops::Range;

pub(super) use clauses::FILE as CLAUSES;
use cues::{Category, CueHit};
pub(crate) use cues::{Cues, is_cue};
pub(super) use deeds::FILE as DENIED_VERBS;
pub(crate) use lists::FindingAt;
pub(super) use subjects::FILE as SUBJECTS;

use super::reading::{Reading, Sentence};
use super::structure::{Mark, Place, Section, Structure, Ticked};
use super::{Context, Experiencer, Temporality};
use anamnesis_text::Span;

/// Words of a question that its own speaker answers at once.
const LONGEST_ECHO: usize = 6;

/// Where a cue of a category holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Scope {
    category: Category,
    words: Range<usize>,
    /// The words of the cue itself.
    cue: Range<usize>,
}

/// The scopes of a whole document, sentence by sentence.
pub(crate) struct Contexts {
    sentences: Vec<Vec<Scope>>,
}

impl Contexts {
    /// `finding`: where a finding ends that begins at a word, for lists and values that no verb states.
    pub(crate) fn new(reading: &Reading<'_>, cues: &Cues, structure: &Structure, finding: &FindingAt<'_>) -> Self {
        let mut section: Option<Category> = None;
        let mut floor = subjects::Floor::default();
        let mut sentences = Vec::with_capacity(reading.sentences.len());
        for (index, sentence) in reading.sentences.iter().enumerate() {
            let mut hits = cues.find(reading, sentence.words.clone());
            hits.retain(|hit| !kin::is_homonym(reading, hit, cues) && !is_subjective(reading, hit));
            // "No dormir, soliloquios": the denial is part of a finding's own words and reaches nothing else.
            let own = |hit: &CueHit| finding(hit.words.start).is_some_and(|end| end > hit.words.end);
            hits.retain(|hit| cues.of(hit).category != Category::Negated || !own(hit));
            // The mark of a request doubts nothing of what is to be done.
            let mark = |hit: &CueHit| reading.word(hit.words.start) == "?" && hit.words.end == sentence.words.end;
            hits.retain(|hit| sentence.question || !mark(hit));
            let place = scope::Place { spoken: sentence.turn.is_some(), answers: answers(reading, index) };
            let mut scopes = scope::resolve(reading, sentence.words.clone(), &hits, cues, place, finding);
            let over = |hit: &&CueHit| cues.of(hit).gone && cues.of(hit).category == Category::Negated;
            let gone: Vec<Scope> = hits.iter().filter(over).flat_map(|hit| ended_by(&scopes, hit)).collect();
            scopes.extend(gone);
            scopes.extend(kin::died(reading, sentence, finding));
            scopes.extend(kin::listed(reading, &sentence.words, &hits, cues, &scopes, finding));
            scopes.extend(lists::denied(reading, &sentence.words, &hits, cues, &scopes, finding));
            let values = values::of(reading, &sentence.words, &hits, cues, finding);
            values.stated.iter().for_each(|stated| state(&mut scopes, stated));
            scopes.extend(values.denied);
            scopes.extend(answers_itself(reading, index));
            scopes.extend(replaced::scopes(reading, sentence, finding));
            scopes.extend(goes_on(reading, index, sentences.last()));
            scopes.extend(cues.subjects().scopes(reading, sentence, &hits, cues, &mut floor));
            section = next_section(reading, index, &hits, cues, section);
            if let Some(category) = section {
                let nowhere = sentence.words.start..sentence.words.start;
                scopes.push(Scope { category, words: sentence.words.clone(), cue: nowhere });
            }
            scopes.extend(titled(sentence, structure.place(index)));
            structure.boxes(index).iter().for_each(|found| cut_at(&mut scopes, &found.cue));
            scopes.extend(structure.boxes(index).iter().filter_map(ticked));
            sentences.push(scopes);
        }
        Self { sentences }
    }

    /// The cues that reach a mention, with what each says of it: the places of their words.
    pub(crate) fn cues(&self, reading: &Reading<'_>, target: &Range<usize>) -> Vec<(&'static str, Span)> {
        let scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        let reaching = scopes.filter(|scope| scope.covers(target));
        reaching.map(|scope| (scope.category.name(), reading.source(&scope.cue))).collect()
    }

    /// Whether a mention is only asked about, in words that are no question themselves ("they ask me if …"), or stands
    /// behind an empty box of a form. What stands behind an answer is said: "asked about self-harm: says no, but cuts …".
    pub(crate) fn only_asked(&self, reading: &Reading<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let answered = tells_more(reading, scope.cue.end..target.start);
            let unsaid = scope.category == Category::Unsaid || scope.category == Category::Asked && !answered;
            unsaid && scope.covers(target)
        })
    }

    /// Whether a denial reaches words that is no part of the mention they belong to: "there is no point in living" denies
    /// nothing. A cue may run into the mention, but not begin in it: "no thoughts of" in "no thoughts of self-harm".
    pub(crate) fn denied_from_outside(
        &self,
        reading: &Reading<'_>,
        target: &Range<usize>,
        mention: &Range<usize>,
    ) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let apart = scope.cue.end <= target.start || target.end <= scope.cue.start;
            let runs_in = (scope.cue.start..mention.start.min(scope.cue.end)).any(|word| denies(reading.word(word)));
            scope.category == Category::Negated && (apart || runs_in) && scope.covers(target)
        })
    }

    /// Whether a mention is denied by a word that does nothing else ("no", "never", "niega"): "stopped" and "suspende" end
    /// a medicine that was taken.
    pub(crate) fn plainly_denied(&self, reading: &Reading<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let said = scope.cue.clone().any(|word| denies(reading.word(word)));
            scope.category == Category::Negated && (said || scope.cue.is_empty()) && scope.covers(target)
        })
    }

    /// Whether a denial reaches a mention that does not stand in certain words: "does not tolerate" denies no intolerance.
    pub(crate) fn denied_but_by(&self, reading: &Reading<'_>, target: &Range<usize>, words: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let apart = scope.cue.end <= words.start || words.end <= scope.cue.start;
            // "Not allergic to" denies "allergic to".
            let denies = scope.cue.start < words.start && words.end <= scope.cue.end;
            scope.category == Category::Negated && (apart || denies) && scope.covers(target)
        })
    }

    /// Whether a denial reaches a mention whose cue begins at most so many words behind a place.
    pub(crate) fn denied_within(
        &self,
        reading: &Reading<'_>,
        target: &Range<usize>,
        end: usize,
        behind: usize,
    ) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            scope.category == Category::Negated && scope.covers(target) && scope.cue.start <= end.saturating_add(behind)
        })
    }

    /// The cues of the denials that reach a mention, by their words.
    pub(crate) fn denials(&self, reading: &Reading<'_>, target: &Range<usize>) -> Vec<Range<usize>> {
        let scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        let denied = scopes.filter(|scope| scope.category == Category::Negated && scope.covers(target));
        denied.map(|scope| scope.cue.clone()).collect()
    }

    /// Whether a denial that stands right before a mention, at most so many words away, reaches it.
    pub(crate) fn denied_near(&self, reading: &Reading<'_>, target: &Range<usize>, reach: usize) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            let near = scope.cue.end.abs_diff(target.start).min(scope.cue.start.abs_diff(target.end)) <= reach;
            scope.category == Category::Negated && near && scope.covers(target)
        })
    }

    /// Whether a relative who speaks says a mention of themselves.
    pub(crate) fn of_the_speaker(&self, reading: &Reading<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| scope.category == Category::Speaker && scope.covers(target))
    }

    /// Whether a mention is said to have ended: "cured", "outgrown", "in remission". A denial of another kind denies it.
    pub(crate) fn ended(&self, reading: &Reading<'_>, target: &Range<usize>) -> bool {
        let Some(scopes) = self.sentences.get(reading.sentence_of(target.start)) else { return false };
        let of = |category| scopes.iter().filter(move |scope| scope.category == category && scope.covers(target));
        let gone = |denial: &Scope| of(Category::Ended).any(|ended| ended.cue == denial.cue);
        of(Category::Ended).next().is_some() && of(Category::Negated).all(gone)
    }

    /// Whether a denial that ends before a mention reaches it: words that deny in themselves ("no pego ojo") deny nothing
    /// of what they say.
    pub(crate) fn denied_before(&self, reading: &Reading<'_>, target: &Range<usize>) -> bool {
        let mut scopes = self.sentences.get(reading.sentence_of(target.start)).into_iter().flatten();
        scopes.any(|scope| {
            scope.category == Category::Negated && scope.cue.end <= target.start && scope.words.contains(&target.start)
        })
    }

    /// The context of a mention, given by its words.
    pub(crate) fn of(&self, reading: &Reading<'_>, target: &Range<usize>) -> Context {
        let mut context = Context::default();
        let Some(scopes) = self.sentences.get(reading.sentence_of(target.start)) else { return context };
        let (mut hypothetical, mut weak, mut ended) = (false, false, false);
        for scope in scopes {
            if !scope.covers(target) {
                continue;
            }
            match scope.category {
                Category::Negated => context.negated = true,
                Category::Uncertain | Category::Asked => context.uncertain = true,
                Category::Historical => context.temporality = Temporality::Historical,
                Category::Ended => ended = true,
                Category::Hypothetical => hypothetical = true,
                Category::Family | Category::Speaker => context.experiencer = Experiencer::Family,
                Category::Other if context.experiencer == Experiencer::Patient => {
                    context.experiencer = Experiencer::Other
                }
                Category::Weak => weak = true,
                _ => {}
            }
        }
        if ended && !context.negated {
            context.temporality = Temporality::Historical;
        }
        if weak && context.negated {
            (context.negated, context.uncertain) = (false, true);
            return context;
        }
        if hypothetical {
            context.temporality = Temporality::Hypothetical;
        }
        if context.uncertain && context.negated {
            (context.negated, context.uncertain) = denial_or_doubt(scopes, target);
        }
        context
    }
}

/// Whether words hold one behind which somebody tells what they were not asked: "says no, but …".
pub(crate) fn tells_more(reading: &Reading<'_>, mut words: Range<usize>) -> bool {
    words.any(|word| turns(reading.word(word)))
}

fn turns(word: &str) -> bool {
    let english = matches!(
        word,
        "but"
            | "however"
            | "although"
            | "though"
            | "yet"
            | "admits"
            | "admitted"
            | "discloses"
            | "disclosed"
            | "confirms"
    );
    english
        || matches!(word, "pero" | "aunque" | "embargo" | "admite" | "admitio" | "reconoce" | "reconocio" | "confirma")
}

/// Words that deny by themselves, whatever stands behind them.
pub(crate) fn denies(word: &str) -> bool {
    let english = matches!(
        word,
        "no" | "not"
            | "n't"
            | "never"
            | "without"
            | "denies"
            | "denied"
            | "deny"
            | "denying"
            | "nil"
            | "neither"
            | "nor"
    );
    english
        || matches!(
            word,
            "sin" | "nunca" | "jamas" | "niega" | "niego" | "nego" | "negando" | "ni" | "ningun" | "ninguna"
        )
}

/// Denial and doubt over the same words: whichever cue stands nearer to them holds; a doubt behind them wins.
fn denial_or_doubt(scopes: &[Scope], target: &Range<usize>) -> (bool, bool) {
    let nearest = |category| {
        let covering = scopes.iter().filter(move |scope| scope.category == category && scope.covers(target));
        covering.map(|scope| scope.cue.clone()).max_by_key(|cue| cue.start)
    };
    match (nearest(Category::Negated), nearest(Category::Uncertain)) {
        (Some(denial), Some(doubt)) if doubt.start >= target.start => (denial.start >= target.start, true),
        (Some(denial), Some(doubt)) if denial.start >= doubt.end => (true, false),
        (Some(denial), Some(doubt)) if denial.end <= doubt.start => (true, false),
        (denial, doubt) => (denial.is_some() && doubt.is_none(), doubt.is_some()),
    }
}

impl Scope {
    fn covers(&self, target: &Range<usize>) -> bool {
        // "no acute" is a cue and "acute fracture" the mention: a mention may begin inside its cue, not before it.
        let within_cue = self.cue.start < target.start && target.start < self.cue.end;
        let forward = self.words.start == self.cue.end;
        if within_cue {
            self.category == Category::Negated || (forward && target.end >= self.cue.end)
        } else {
            self.words.contains(&target.start)
        }
    }
}

/// No scope of words crosses a box: what one label says says nothing of the next.
fn cut_at(scopes: &mut [Scope], place: &Range<usize>) {
    for scope in scopes.iter_mut().filter(|scope| !scope.cue.is_empty()) {
        if scope.cue.end <= place.start && scope.words.end > place.start {
            scope.words.end = place.start.max(scope.words.start);
        } else if scope.cue.start >= place.end && scope.words.start < place.end {
            scope.words.start = place.end.min(scope.words.end);
        }
    }
}

/// What a cue denies that says that something has ended.
fn ended_by<'a>(scopes: &'a [Scope], hit: &'a CueHit) -> impl Iterator<Item = Scope> + 'a {
    let denied = scopes.iter().filter(|scope| scope.category == Category::Negated && scope.cue == hit.words);
    denied.map(|scope| Scope { category: Category::Ended, ..scope.clone() })
}

/// What a value states no denial before it reaches: "no rash, sore throat yes".
fn state(scopes: &mut [Scope], stated: &Range<usize>) {
    let earlier = |scope: &&mut Scope| scope.category == Category::Negated && scope.cue.end <= stated.start;
    for scope in scopes.iter_mut().filter(earlier).filter(|scope| scope.words.contains(&stated.start)) {
        scope.words.end = stated.start;
    }
}

/// "S/ Duerme mal": what the patient says, as notes abbreviate it; "s/ fiebre" is without.
fn is_subjective(reading: &Reading<'_>, hit: &CueHit) -> bool {
    reading.word(hit.words.start) == "s"
        && hit.words.len() == 2
        && reading.source(&hit.words).of(reading.text).starts_with('S')
}

/// "Anxiety? Not really, no.": the speaker asks and denies in one breath.
fn answers_itself(reading: &Reading<'_>, index: usize) -> Option<Scope> {
    let here = &reading.sentences[index];
    let next = reading.sentences.get(index + 1).filter(|next| next.turn == here.turn)?;
    if !here.question || here.words.len() > LONGEST_ECHO || next.question {
        return None;
    }
    let first = reading.word(next.words.start);
    let denies = matches!(
        first,
        "no" | "nope" | "nah" | "never" | "none" | "not" | "ni" | "nunca" | "jamas" | "ninguna" | "ninguno"
    ) || matches!(
        (first, reading.word(next.words.start + 1)),
        ("para", "nada") | ("que", "va") | ("en", "absoluto")
    );
    let cue = next.words.start..next.words.start + 1;
    denies.then(|| Scope { category: Category::Negated, words: here.words.clone(), cue })
}

/// Words of a sentence that goes on with the condition of the one before.
const LONGEST_FURTHER: usize = 8;

/// "If you'd ever had a seizure, that would be off the table. Or an eating disorder.": a fragment behind "or" is meant as what it goes
/// on with.
fn goes_on(reading: &Reading<'_>, index: usize, before: Option<&Vec<Scope>>) -> Option<Scope> {
    let here = &reading.sentences[index];
    let previous = index.checked_sub(1).map(|at| &reading.sentences[at]).filter(|last| last.turn == here.turn)?;
    let opens = matches!(reading.word(here.words.start), "or" | "o" | "u");
    let same_line = !reading.text.get(previous.span.end..here.span.start).unwrap_or("").contains('\n');
    if !opens || here.words.len() > LONGEST_FURTHER || !(same_line || here.turn.is_some()) {
        return None;
    }
    let open = |scope: &&Scope| matches!(scope.category, Category::Hypothetical | Category::Asked);
    let category = before?.iter().rev().find(open)?.category;
    Some(Scope { category, words: here.words.start + 1..here.words.end, cue: here.words.start..here.words.start + 1 })
}

/// What the title above says of a sentence.
fn titled(sentence: &Sentence, place: Option<Place>) -> Option<Scope> {
    let place = place?;
    let category = match place.section {
        Section::Family => Category::Family,
        Section::History | Section::Surgical | Section::Tried => Category::Historical,
        Section::Warnings => Category::Hypothetical,
        Section::Differential => Category::Uncertain,
        _ => return None,
    };
    let from = place.from.max(sentence.words.start);
    Some(Scope { category, words: from..sentence.words.end, cue: from..from })
}

/// What a box says of its label: one that is marked says that it holds, which needs no cue.
fn ticked(found: &Ticked) -> Option<Scope> {
    let category = match found.mark {
        Mark::Yes => return None,
        Mark::No => Category::Negated,
        Mark::Past => Category::Historical,
        Mark::Empty => Category::Asked,
    };
    Some(Scope { category, words: found.label.clone(), cue: found.cue.clone() })
}

/// Whether a sentence opens a turn after a question of somebody else.
fn answers(reading: &Reading<'_>, index: usize) -> bool {
    let here = &reading.sentences[index];
    let before = index.checked_sub(1).map(|before| &reading.sentences[before]);
    before.is_some_and(|before| before.turn != here.turn && before.question)
}

/// A header that stands alone ("Family history:") rules the lines below it, until the next header or blank line.
fn next_section(
    reading: &Reading<'_>,
    index: usize,
    hits: &[CueHit],
    cues: &Cues,
    current: Option<Category>,
) -> Option<Category> {
    let sentence = &reading.sentences[index];
    let opened = hits.iter().find(|hit| {
        cues.of(hit).header && hit.words.start == sentence.words.start && hit.words.end == sentence.words.end
    });
    if let Some(hit) = opened {
        return Some(cues.of(hit).category);
    }
    let previous = index.checked_sub(1).map(|before| &reading.sentences[before])?;
    let gap = reading.text.get(previous.span.end..sentence.span.start).unwrap_or("");
    let new_header =
        sentence.span.of(reading.text).split_once(':').is_some_and(|(head, _)| head.split_whitespace().count() <= 4)
            && !sentence.span.of(reading.text).starts_with(['-', '*', '•']);
    let blank = gap.matches('\n').count() > 1;
    if new_header || blank || previous.turn != sentence.turn { None } else { current }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod scope_tests;

#[cfg(test)]
mod denial_tests;

#[cfg(test)]
mod whose_tests;
