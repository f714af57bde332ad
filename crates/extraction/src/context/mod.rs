//! Context of a mention: negated, uncertain, historical, hypothetical, somebody else's. Scoped cues with terminators
//! and pseudo-cues, in the tradition of NegEx and ConText, with cue lists of our own for Spanish and English as equals.

mod answers;
mod clauses;
mod cues;
mod deeds;
mod kin;
mod lists;
mod replaced;
mod scope;
mod scope_words;
mod signs;
mod subjects;
mod values;
mod whose;

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
        let mut topics = cues.whose().topics(reading);
        let mut sentences = Vec::with_capacity(reading.sentences.len());
        for (index, sentence) in reading.sentences.iter().enumerate() {
            let mut hits = cues.find(reading, sentence.words.clone());
            cues.set_right(reading, &sentence.words, &mut hits);
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
            let signs = signs::Signs::of(reading, &sentence.words, finding);
            scopes.retain(|scope| !signs.is_spent(scope));
            signs.stated.iter().for_each(|stated| state(&mut scopes, stated));
            scopes.extend(signs.denied);
            scopes.extend(answers_itself(reading, index));
            scopes.extend(replaced::scopes(reading, sentence, finding));
            scopes.extend(goes_on(reading, index, sentences.last()));
            scopes.extend(cues.subjects().scopes(reading, sentence, &hits, cues, &mut floor));
            scopes.extend(cues.whose().scopes(reading, sentence, finding, &mut topics));
            whose::part_denials(&mut scopes);
            let titled_as = structure.place(index).map(|place| place.section);
            section = next_section(reading, index, &hits, cues, section)
                .filter(|_| titled_as.is_none_or(|title| title == Section::Family));
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

    /// The context of a mention, given by its words.
    pub(crate) fn of(&self, reading: &Reading<'_>, target: &Range<usize>) -> Context {
        let mut context = Context::default();
        let Some(scopes) = self.sentences.get(reading.sentence_of(target.start)) else { return context };
        let (mut hypothetical, mut weak, mut ended, mut own) = (false, false, false, false);
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
                Category::Own => own = true,
                _ => {}
            }
        }
        if own {
            context.experiencer = Experiencer::Patient;
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
mod signs_tests;

#[cfg(test)]
mod whose_tests;

#[cfg(test)]
mod topic_tests;

#[cfg(test)]
mod denial_ends_tests;
