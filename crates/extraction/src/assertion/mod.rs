//! Context of a mention: negated, uncertain, historical, hypothetical, another person's. Scoped cues with terminators
//! and pseudo-cues, in the tradition of NegEx and ConText, with cue lists of our own for Spanish and English as equals.

mod bare_lists;
mod clauses;
mod cues;
mod experiencer;
mod finding_values;
mod kinship_words;
mod negated_verbs;
mod replaced_diagnoses;
mod scope;
mod scope_queries;
mod scope_words;
mod sign_rows;
mod subjects;

use std::ops::Range;

pub(crate) use bare_lists::FindingAt;
pub(super) use clauses::FILE as CLAUSES;
use cues::{CueCategory, CueHit};
pub(crate) use cues::{Cues, is_cue};
pub(super) use negated_verbs::FILE as DENIED_VERBS;
pub(super) use subjects::FILE as SUBJECTS;

use super::structure::{BoxMark, CheckboxAnswer, DocumentStructure, Section, SectionPosition};
use super::tokenized::{TextSentence, TokenizedText};
use super::{Experiencer, MentionContext, Temporality};

/// Words of a question that its own speaker answers at once.
const LONGEST_ECHO: usize = 6;

/// Where a cue of a category holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CueScope {
    category: CueCategory,
    words: Range<usize>,
    /// The words of the cue itself.
    cue: Range<usize>,
}

/// The scopes of a whole document, sentence by sentence.
pub(crate) struct AssertionScopes {
    sentences: Vec<Vec<CueScope>>,
}

impl AssertionScopes {
    /// `finding`: where a finding ends that begins at a word, for lists and values that no verb states.
    pub(crate) fn new(
        reading: &TokenizedText<'_>,
        cues: &Cues,
        structure: &DocumentStructure,
        finding: &FindingAt<'_>,
    ) -> Self {
        let mut section: Option<CueCategory> = None;
        let mut floor = subjects::SubjectState::default();
        let mut topics = cues.experiencer_rules().topics(reading);
        let mut sentences = Vec::with_capacity(reading.sentences.len());
        for (index, sentence) in reading.sentences.iter().enumerate() {
            let mut hits = cues.find(reading, sentence.words.clone());
            cues.set_right(reading, &sentence.words, &mut hits);
            hits.retain(|hit| !kinship_words::is_homonym(reading, hit, cues) && !is_subjective(reading, hit));
            // "No dormir, soliloquios": the denial is part of a finding's own words and reaches nothing else.
            let own = |hit: &CueHit| finding(hit.words.start).is_some_and(|end| end > hit.words.end);
            hits.retain(|hit| cues.get(hit).category != CueCategory::Negated || !own(hit));
            // The mark of a request casts no doubt on the ordered action.
            let mark = |hit: &CueHit| reading.word(hit.words.start) == "?" && hit.words.end == sentence.words.end;
            hits.retain(|hit| sentence.question || !mark(hit));
            let place = scope::ScopePosition { spoken: sentence.turn.is_some(), answers: answers(reading, index) };
            let mut scopes = scope::resolve(reading, sentence.words.clone(), &hits, cues, place, finding);
            let over = |hit: &&CueHit| cues.get(hit).gone && cues.get(hit).category == CueCategory::Negated;
            let gone: Vec<CueScope> = hits.iter().filter(over).flat_map(|hit| ended_by(&scopes, hit)).collect();
            scopes.extend(gone);
            scopes.extend(kinship_words::died(reading, sentence, finding));
            scopes.extend(kinship_words::listed(reading, &sentence.words, &hits, cues, &scopes, finding));
            scopes.extend(bare_lists::denied(reading, &sentence.words, &hits, cues, &scopes, finding));
            let values = finding_values::find(reading, &sentence.words, &hits, cues, finding);
            values.stated.iter().for_each(|stated| state(&mut scopes, stated));
            scopes.extend(values.denied);
            let signs = sign_rows::SignedFindings::find(reading, &sentence.words, finding);
            scopes.retain(|scope| !signs.is_spent(scope));
            signs.stated.iter().for_each(|stated| state(&mut scopes, stated));
            scopes.extend(signs.denied);
            scopes.extend(answers_itself(reading, index));
            scopes.extend(replaced_diagnoses::scopes(reading, sentence, finding));
            scopes.extend(goes_on(reading, index, sentences.last()));
            scopes.extend(cues.subjects().scopes(reading, sentence, &hits, cues, &mut floor));
            scopes.extend(cues.experiencer_rules().scopes(reading, sentence, finding, &mut topics));
            experiencer::part_denials(&mut scopes);
            let titled_as = structure.place(index).map(|place| place.section);
            section = next_section(reading, index, &hits, cues, section)
                .filter(|_| titled_as.is_none_or(|title| title == Section::Family));
            if let Some(category) = section {
                let nowhere = sentence.words.start..sentence.words.start;
                scopes.push(CueScope { category, words: sentence.words.clone(), cue: nowhere });
            }
            scopes.extend(titled(sentence, structure.place(index)));
            structure.boxes(index).iter().for_each(|found| cut_at(&mut scopes, &found.cue));
            scopes.extend(structure.boxes(index).iter().filter_map(ticked));
            sentences.push(scopes);
        }
        Self { sentences }
    }

    /// The context of a mention, given by its words.
    pub(crate) fn mention_context(&self, reading: &TokenizedText<'_>, target: &Range<usize>) -> MentionContext {
        let mut context = MentionContext::default();
        let Some(scopes) = self.sentences.get(reading.sentence_of(target.start)) else { return context };
        let (mut hypothetical, mut weak, mut ended, mut own) = (false, false, false, false);
        for scope in scopes {
            if !scope.covers(target) {
                continue;
            }
            match scope.category {
                CueCategory::Negated => context.negated = true,
                CueCategory::Uncertain | CueCategory::Asked => context.uncertain = true,
                CueCategory::Historical => context.temporality = Temporality::Historical,
                CueCategory::Ended => ended = true,
                CueCategory::Hypothetical => hypothetical = true,
                CueCategory::Family | CueCategory::Speaker => context.experiencer = Experiencer::Family,
                CueCategory::Other if context.experiencer == Experiencer::Patient => {
                    context.experiencer = Experiencer::Other
                }
                CueCategory::Weak => weak = true,
                CueCategory::Own => own = true,
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

/// Whether words hold one after which a speaker adds a statement of their own: "says no, but …".
pub(crate) fn continues_after_answer(reading: &TokenizedText<'_>, mut words: Range<usize>) -> bool {
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

/// Words that deny by themselves, whatever comes after them.
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

/// Denial and doubt over the same words: the cue nearer to them holds; a doubt after them wins.
fn denial_or_doubt(scopes: &[CueScope], target: &Range<usize>) -> (bool, bool) {
    let nearest = |category| {
        let covering = scopes.iter().filter(move |scope| scope.category == category && scope.covers(target));
        covering.map(|scope| scope.cue.clone()).max_by_key(|cue| cue.start)
    };
    match (nearest(CueCategory::Negated), nearest(CueCategory::Uncertain)) {
        (Some(denial), Some(doubt)) if doubt.start >= target.start => (denial.start >= target.start, true),
        (Some(denial), Some(doubt)) if denial.start >= doubt.end => (true, false),
        (Some(denial), Some(doubt)) if denial.end <= doubt.start => (true, false),
        (denial, doubt) => (denial.is_some() && doubt.is_none(), doubt.is_some()),
    }
}

impl CueScope {
    fn covers(&self, target: &Range<usize>) -> bool {
        // "no acute" is a cue and "acute fracture" the mention: a mention may begin inside its cue, not before it.
        let within_cue = self.cue.start < target.start && target.start < self.cue.end;
        let forward = self.words.start == self.cue.end;
        if within_cue {
            self.category == CueCategory::Negated || (forward && target.end >= self.cue.end)
        } else {
            self.words.contains(&target.start)
        }
    }
}

/// No scope of words crosses a box: a label says nothing of the next.
fn cut_at(scopes: &mut [CueScope], place: &Range<usize>) {
    for scope in scopes.iter_mut().filter(|scope| !scope.cue.is_empty()) {
        if scope.cue.end <= place.start && scope.words.end > place.start {
            scope.words.end = place.start.max(scope.words.start);
        } else if scope.cue.start >= place.end && scope.words.start < place.end {
            scope.words.start = place.end.min(scope.words.end);
        }
    }
}

/// The finding of a cue that says that something has ended.
fn ended_by<'a>(scopes: &'a [CueScope], hit: &'a CueHit) -> impl Iterator<Item = CueScope> + 'a {
    let denied = scopes.iter().filter(|scope| scope.category == CueCategory::Negated && scope.cue == hit.words);
    denied.map(|scope| CueScope { category: CueCategory::Ended, ..scope.clone() })
}

/// A finding with a value is out of reach of an earlier denial: "no rash, sore throat yes".
fn state(scopes: &mut [CueScope], stated: &Range<usize>) {
    let earlier = |scope: &&mut CueScope| scope.category == CueCategory::Negated && scope.cue.end <= stated.start;
    for scope in scopes.iter_mut().filter(earlier).filter(|scope| scope.words.contains(&stated.start)) {
        scope.words.end = stated.start;
    }
}

/// "S/ Duerme mal": the abbreviation for a statement of the patient; "s/ fiebre" means without.
fn is_subjective(reading: &TokenizedText<'_>, hit: &CueHit) -> bool {
    reading.word(hit.words.start) == "s"
        && hit.words.len() == 2
        && reading.source(&hit.words).slice(reading.text).starts_with('S')
}

/// "Anxiety? Not really, no.": the speaker asks and denies in one breath.
fn answers_itself(reading: &TokenizedText<'_>, index: usize) -> Option<CueScope> {
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
    denies.then(|| CueScope { category: CueCategory::Negated, words: here.words.clone(), cue })
}

/// Longest sentence that goes on with the condition of the one before.
const LONGEST_FURTHER: usize = 8;

/// "If you'd ever had a seizure, that would be off the table. Or an eating disorder.": a fragment after "or" has the
/// status of the sentence that it continues.
fn goes_on(reading: &TokenizedText<'_>, index: usize, before: Option<&Vec<CueScope>>) -> Option<CueScope> {
    let here = &reading.sentences[index];
    let previous = index.checked_sub(1).map(|at| &reading.sentences[at]).filter(|last| last.turn == here.turn)?;
    let opens = matches!(reading.word(here.words.start), "or" | "o" | "u");
    let same_line = !reading.text.get(previous.span.end..here.span.start).unwrap_or("").contains('\n');
    if !opens || here.words.len() > LONGEST_FURTHER || !(same_line || here.turn.is_some()) {
        return None;
    }
    let open = |scope: &&CueScope| matches!(scope.category, CueCategory::Hypothetical | CueCategory::Asked);
    let category = before?.iter().rev().find(open)?.category;
    Some(CueScope {
        category,
        words: here.words.start + 1..here.words.end,
        cue: here.words.start..here.words.start + 1,
    })
}

/// The effect of the title above a sentence.
fn titled(sentence: &TextSentence, place: Option<SectionPosition>) -> Option<CueScope> {
    let place = place?;
    let category = match place.section {
        Section::Family => CueCategory::Family,
        Section::History | Section::Surgical | Section::Tried => CueCategory::Historical,
        Section::Warnings => CueCategory::Hypothetical,
        Section::Differential => CueCategory::Uncertain,
        _ => return None,
    };
    let from = place.from.max(sentence.words.start);
    Some(CueScope { category, words: from..sentence.words.end, cue: from..from })
}

/// The effect of a box on its label: a marked box affirms, which needs no cue.
fn ticked(found: &CheckboxAnswer) -> Option<CueScope> {
    let category = match found.mark {
        BoxMark::Yes => return None,
        BoxMark::No => CueCategory::Negated,
        BoxMark::Past => CueCategory::Historical,
        BoxMark::Empty => CueCategory::Asked,
    };
    Some(CueScope { category, words: found.label.clone(), cue: found.cue.clone() })
}

/// Whether a sentence opens a turn after a question of another person.
fn answers(reading: &TokenizedText<'_>, index: usize) -> bool {
    let here = &reading.sentences[index];
    let before = index.checked_sub(1).map(|before| &reading.sentences[before]);
    before.is_some_and(|before| before.turn != here.turn && before.question)
}

/// A separate header ("Family history:") governs the lines below it, until the next header or blank line.
fn next_section(
    reading: &TokenizedText<'_>,
    index: usize,
    hits: &[CueHit],
    cues: &Cues,
    current: Option<CueCategory>,
) -> Option<CueCategory> {
    let sentence = &reading.sentences[index];
    let opened = hits.iter().find(|hit| {
        cues.get(hit).header && hit.words.start == sentence.words.start && hit.words.end == sentence.words.end
    });
    if let Some(hit) = opened {
        return Some(cues.get(hit).category);
    }
    let previous = index.checked_sub(1).map(|before| &reading.sentences[before])?;
    let gap = reading.text.get(previous.span.end..sentence.span.start).unwrap_or("");
    let new_header =
        sentence.span.slice(reading.text).split_once(':').is_some_and(|(head, _)| head.split_whitespace().count() <= 4)
            && !sentence.span.slice(reading.text).starts_with(['-', '*', '•']);
    let blank = gap.matches('\n').count() > 1;
    if new_header || blank || previous.turn != sentence.turn { None } else { current }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod scope_tests;

#[cfg(test)]
mod negation_tests;

#[cfg(test)]
mod sign_rows_tests;

#[cfg(test)]
mod experiencer_tests;

#[cfg(test)]
mod topic_tests;

#[cfg(test)]
mod negation_end_tests;
