//! How far a cue reaches: to the next terminator, clause, or the end of a list.

mod ends;
mod heads;
mod items;

use std::ops::Range;

use super::bare_lists::FindingAt;
use super::cues::{Cue, CueCategory, CueDirection, CueHit, Cues};
use super::scope_words::{ARTICLES, CAUSES, EXCLUDES, FOLLOWS_CLOSING, OF_NOW, PARTS_A_NAME};
use super::subjects::after_name;
use super::{CueScope, clauses};
use crate::dialogue::Polarity;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

static FUNCTION_WORDS: WordList = WordList::listed(word_lists::ASSERTION, "scope.function_words");
const COORDINATORS: &[&str] = &["ni", "o", "u", "or", "nor", "and", "y", "e"];
/// Words of the subject of a clause, before its verb.
const SUBJECT: usize = 6;
const LONGEST_QUERY: usize = 6;

pub(super) struct ScopeSentence<'a, 'b> {
    reading: &'a TokenizedText<'b>,
    words: Range<usize>,
    hits: &'a [CueHit],
    cues: &'a Cues,
    finding: &'a FindingAt<'a>,
}

/// The place of a sentence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopePosition {
    /// In a turn of a dialogue.
    pub(crate) spoken: bool,
    /// First words after another person's question.
    pub(crate) answers: bool,
}

#[expect(
    clippy::too_many_lines,
    reason = "one walk over the cues, each kind of which opens or ends scopes of the others"
)]
pub(super) fn resolve(
    reading: &TokenizedText<'_>,
    words: Range<usize>,
    hits: &[CueHit],
    cues: &Cues,
    place: ScopePosition,
    finding: &FindingAt<'_>,
) -> Vec<CueScope> {
    let spoken = place.spoken;
    let sentence = ScopeSentence { reading, words, hits, cues, finding };
    let mut scopes = Vec::new();
    // Words that a denial spent on its verb covers: "no puedo evitar" holds no second denial.
    let mut taken = 0;
    for hit in hits {
        if hit.words.start < taken {
            continue;
        }
        let cue = cues.get(hit);
        if matches!(cue.category, CueCategory::End | CueCategory::Verb | CueCategory::Pseudo) {
            continue;
        }
        // "Un par de porros con mi primo": the companion is not the one who does it.
        if spoken && sentence.is_company(hit, cue) {
            continue;
        }
        // "No, al Nolotil": an answer to the question, not a denial of the next words.
        if spoken && hit.words == (sentence.words.start..sentence.words.start + 1) && reading.word(hit.words.end) == ","
        {
            continue;
        }
        // "Descartar meningitis" as an order; "se descarta" and "tras descartar" exclude.
        let before = hit.words.start.checked_sub(1).map_or("", |word| reading.word(word));
        let ordered = reading.word(hit.words.start) == "descartar"
            && !(hit.words.start > sentence.words.start && EXCLUDES.contains(&before));
        if ordered {
            let words = hit.words.end..sentence.reach(cue, hit.words.end);
            scopes.push(CueScope { category: CueCategory::Uncertain, words, cue: hit.words.clone() });
            continue;
        }
        if sentence.queries(hit) {
            let words = hit.words.end..sentence.reach(cue, hit.words.end).min(hit.words.end + LONGEST_QUERY);
            scopes.push(CueScope { category: CueCategory::Uncertain, words, cue: hit.words.clone() });
            continue;
        }
        if cue.category == CueCategory::Negated
            && let Some(denial) = sentence.apart(hit)
        {
            scopes.push(denial);
            continue;
        }
        let closes = sentence.closes(hit);
        if cue.category == CueCategory::Negated && closes && sentence.answers(hit) {
            // "Alergias: no", "Fever - none": a value for the words before the sign. A cue in a bracket belongs to its
            // own item: "gout, childhood asthma (resolved)".
            let list = reading.word(hit.words.start - 1) != "(" || sentence.says_all(hit);
            let from = sentence.backward_from(hit.words.start - 1, cue.reach.min(8), list);
            let words = sentence.last_two(hit, from)..hit.words.start - 1;
            scopes.push(CueScope { category: cue.category, words, cue: hit.words.clone() });
            // "Epilepsy = no, asthma = yes": a value denies nothing that follows.
            if hit.words.len() == 1 && reading.word(hit.words.end) == "," {
                continue;
            }
        }
        if cue.category == CueCategory::Negated && closes && sentence.follows_its_noun(hit) {
            // "Tristeza sí, pero ansiedad no."
            let words = sentence.backward_from(hit.words.start, 2, false)..hit.words.start;
            scopes.push(CueScope { category: cue.category, words, cue: hit.words.clone() });
        }
        let ends = hit.words.end >= sentence.words.end || reading.words[hit.words.end].punctuation;
        if (cue.closing && !closes) || (cue.last && !ends) {
            // "Celos no tengo" denies the word before, "no tengo celos" the word after, as a bare "no" does.
            if cue.category == CueCategory::Negated && cue.list && super::denies(reading.word(hit.words.start)) {
                let words = hit.words.end..sentence.forward(hit);
                scopes.push(CueScope { category: cue.category, words, cue: hit.words.clone() });
            }
            continue;
        }
        let spent = || cues.spent(reading, hit, sentence.words.end).or_else(|| sentence.spent_on_quality(hit));
        if let Some(end) = (cue.category == CueCategory::Negated).then(spent).flatten() {
            let cue_word = hit.words.start..hit.words.end;
            taken = end;
            scopes.push(CueScope { category: cue.category, words: hit.words.end..end, cue: cue_word });
            continue;
        }
        let scope = |words| CueScope { category: cue.category, words, cue: hit.words.clone() };
        if cue.inner {
            let words = hit.words.start + 1..hit.words.end;
            scopes.push(CueScope { category: cue.category, words, cue: hit.words.start..hit.words.start + 1 });
            continue;
        }
        if cue.opening {
            let words = if sentence.opens_clause(hit) {
                sentence.forward_past_comma(hit)
            } else {
                sentence.backward(hit)..hit.words.start
            };
            scopes.push(scope(words));
            continue;
        }
        let object_follows = sentence.object_follows(hit);
        if cue.direction != CueDirection::Backward && (!cue.either || object_follows) {
            let end = sentence.forward(hit);
            let resumes = || cues.clauses().resumes(reading, hit.words.end..end, CueCategory::Asked);
            let condition = cue.category == CueCategory::Hypothetical;
            scopes.push(scope(hit.words.end..if condition { resumes().unwrap_or(end) } else { end }));
        }
        if cue.direction != CueDirection::Forward && (!cue.either || !object_follows) && sentence.hands_back(hit, cue) {
            scopes.push(scope(sentence.backward(hit)..hit.words.start));
        }
    }
    let clauses = sentence.clauses(place.answers);
    // "I do not know if I have asthma" denies the knowing alone.
    for denial in scopes.iter_mut().filter(|scope| scope.category == CueCategory::Negated) {
        let opens = |clause: &&CueScope| denial.cue.end <= clause.cue.start && denial.words.contains(&clause.cue.start);
        if let Some(clause) = clauses.iter().find(opens) {
            denial.words.end = clause.cue.start;
        }
    }
    scopes.extend(clauses);
    scopes
}

impl ScopeSentence<'_, '_> {
    fn hit_at(&self, word: usize) -> Option<&CueHit> {
        let slot = self.hits.partition_point(|hit| hit.words.start <= word).checked_sub(1)?;
        self.hits.get(slot).filter(|hit| hit.words.contains(&word))
    }

    fn category_at(&self, word: usize) -> Option<CueCategory> {
        self.hit_at(word).map(|hit| self.cues.get(hit).category)
    }

    /// "?pneumonia", "? sepsis": a question mark before a doubtful finding.
    fn queries(&self, hit: &CueHit) -> bool {
        let place = |word: usize| self.reading.words[word].source;
        let (start, next) = (hit.words.start, hit.words.end);
        let mark = self.reading.word(start) == "?" && next < self.words.end;
        let apart = start == self.words.start
            || place(start - 1).end < place(start).start
            || self.reading.words[start - 1].punctuation;
        mark && apart && (start == self.words.start || place(start).end == place(next).start)
    }

    /// Only punctuation or the sentence's end follows.
    pub(super) fn closes(&self, hit: &CueHit) -> bool {
        let next = hit.words.end;
        // "Insomnia, no SI": an abbreviation is no "if".
        let abbreviated = next < self.words.end && self.reading.is_capitals(next);
        next >= self.words.end || !abbreviated && self.closes_before(next)
    }

    fn closes_before(&self, next: usize) -> bool {
        matches!(self.reading.word(next), "," | "." | ";" | ")" | "(" | "/" | "-")
            || matches!(self.category_at(next), Some(CueCategory::End | CueCategory::Verb))
            || COORDINATORS.contains(&self.reading.word(next))
            || FOLLOWS_CLOSING.contains(self.reading.word(next))
    }

    /// A colon, dash or equals sign comes before it.
    fn answers(&self, hit: &CueHit) -> bool {
        hit.words.start > self.words.start + 1
            && matches!(self.reading.word(hit.words.start - 1), ":" | "-" | "–" | "=" | "(")
    }

    /// "(both resolved)", "(negados)": of more than one.
    fn says_all(&self, hit: &CueHit) -> bool {
        let last = self.reading.word(hit.words.end - 1);
        let all =
            |word: usize| matches!(self.reading.word(word), "both" | "all" | "ambos" | "ambas" | "todos" | "todas");
        last.ends_with("os") || last.ends_with("as") || hit.words.clone().any(all)
    }

    /// Whether the object of a verb like "suspender" comes after it: an article follows, or nothing comes before.
    fn object_follows(&self, hit: &CueHit) -> bool {
        let next = self.reading.word(hit.words.end);
        let last = self.reading.word(hit.words.end - 1);
        if hit.words.end >= self.words.end || matches!(next, "," | "." | ";" | ")" | "(") {
            return false;
        }
        if ARTICLES.contains(&next) || ARTICLES.contains(&last) || matches!(last, "de" | "del") {
            return true;
        }
        if FOLLOWS_CLOSING.contains(next) {
            return false;
        }
        let opens = hit.words.start == self.words.start
            || self.reading.words[hit.words.start - 1].punctuation
            || matches!(self.category_at(hit.words.start - 1), Some(CueCategory::End));
        let participle = hit.words.len() == 1 && ["do", "da", "dos", "das"].iter().any(|ending| last.ends_with(ending));
        opens || !(participle || self.cues.get(hit).intransitive)
    }

    /// Only a conjunction comes before it in its clause.
    fn opens_clause(&self, hit: &CueHit) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::ASSERTION, "scope.opens_clause");
        let before = hit.words.start.wrapping_sub(1);
        // "Asma, de bebé lo hospitalizaron": a clause begins after the comma; "asma, de bebé" and "…, in remission since" not.
        let next = self.reading.word(hit.words.end);
        let goes_on = hit.words.end < self.words.end
            && !self.reading.words[hit.words.end].punctuation
            && !COORDINATORS.contains(&next)
            && !WORDS.contains(next);
        hit.words.start <= self.words.start
            || goes_on && self.reading.word(before) == ","
            || matches!(self.reading.word(before), ";" | "(" | ":" | "and" | "y" | "e" | "que")
            || matches!(self.category_at(before), Some(CueCategory::End))
    }

    /// The words after an opening cue, with the comma right after it or without.
    fn forward_past_comma(&self, hit: &CueHit) -> Range<usize> {
        let comma = self.reading.word(hit.words.end) == "," && hit.words.end < self.words.end;
        let after = CueHit { words: hit.words.start..hit.words.end + usize::from(comma), meaning: hit.meaning };
        after.words.end..self.forward(&after)
    }

    fn forward(&self, hit: &CueHit) -> usize {
        self.reach(self.cues.get(hit), hit.words.end)
    }

    /// Clauses that assert nothing, each to where the speaker goes on.
    fn clauses(&self, answers: bool) -> Vec<CueScope> {
        let clauses = self.cues.clauses();
        let found = clauses.find(self.reading, &self.words, answers).into_iter();
        let scope = found.filter_map(|clause| {
            let from = clause.opening.end;
            // The clause's own verb, with its subject before it, does not end it.
            let verb =
                (from..self.words.end.min(from + SUBJECT)).find(|w| self.category_at(*w) == Some(CueCategory::Verb));
            let end = self.reach(&clause.cue, verb.map_or(from, |verb| verb + 1));
            let end = clauses.resumes(self.reading, from..end, clause.cue.category).unwrap_or(end);
            // "Asked about self-harm: says no, but …" is answered as a whole; "asked about mood: wants to die" is not.
            let answer = clauses::answered_at(self.reading, from..end, clause.cue.category);
            let end = answer.filter(|at| clauses::reported_answer(self.reading, *at).is_none()).unwrap_or(end);
            let category = match clause.cue.category {
                // "They asked if I had, and I said no": an answer makes the question a statement.
                CueCategory::Asked => match clauses::reported_answer(self.reading, end) {
                    Some(Polarity::Yes) => return None,
                    Some(_) => CueCategory::Negated,
                    None => CueCategory::Asked,
                },
                other => other,
            };
            Some(CueScope { category, words: from..end, cue: clause.opening })
        });
        scope.collect()
    }

    /// Where the scope of a cue ends that begins at a word.
    fn reach(&self, cue: &Cue, from: usize) -> usize {
        if cue.header {
            return self.next_header(from);
        }
        let relative = matches!(cue.category, CueCategory::Family | CueCategory::Other);
        // "My brother Joel is bipolar": a name says nothing yet.
        let named = if relative { after_name(self.reading, from, self.words.end) } else { from };
        let other = cue.category == CueCategory::Other && !cue.far;
        if other && self.acts_on_speaker(named) {
            return from;
        }
        let (mut counted, mut said) = (0, false);
        let mut word = from;
        while word < self.words.end && counted < cue.reach {
            let text = self.reading.word(word);
            if cue.cause && CAUSES.contains(&text) {
                return word;
            }
            if self.ends_denial(cue, from, word) || self.begins_another(cue, from, word) {
                return word;
            }
            if self.reading.words[word].punctuation {
                let stop = match text {
                    "," => word > from && !cue.far && !self.list_goes_on(word, cue.list),
                    ";" | "." | "!" | "?" | "…" => true,
                    ":" => word > from,
                    ")" => !self.opened_since(from, word),
                    _ => false,
                };
                if stop {
                    return word;
                }
                word += 1;
                continue;
            }
            if other && word > named && self.returns_to_speaker(named, word) {
                return self.clause_start(from, word);
            }
            if cue.category == CueCategory::Negated
                && let Some(end) = self.stated_again(from, word)
            {
                return end;
            }
            match self.category_at(word) {
                Some(CueCategory::End) if word == from && OF_NOW.contains(&text) => {}
                Some(CueCategory::End) => return word,
                Some(CueCategory::Verb) if said && !cue.far => return self.clause_start(from, word),
                Some(CueCategory::Negated) if said && cue.category == CueCategory::Uncertain => return word,
                Some(CueCategory::Verb) => {}
                Some(CueCategory::Uncertain)
                    if said && cue.category == CueCategory::Negated && self.doubt_opens(word) =>
                {
                    return word;
                }
                _ => said |= word >= named && !FUNCTION_WORDS.contains(text),
            }
            counted += 1;
            word += 1;
        }
        word
    }

    /// A doubt that begins a new phrase ("por posible …", "se orienta hacia …") ends a denial.
    fn doubt_opens(&self, word: usize) -> bool {
        let starts = self.hit_at(word).is_some_and(|hit| hit.words.start == word);
        starts
            && (matches!(self.reading.word(word), "se" | "parece")
                || matches!(self.reading.word(word - 1), "por" | "a" | "con" | ","))
    }

    /// A new clause begins at its subject or conjunction, not only at its verb.
    fn clause_start(&self, from: usize, verb: usize) -> usize {
        let back = (from..verb)
            .rev()
            .take(5)
            .find(|&w| matches!(self.reading.word(w), "y" | "e" | "and" | "que" | "which" | "who" | ","));
        back.unwrap_or(verb)
    }

    /// Where the next "TITLE:" of the same line begins, or the sentence's end.
    fn next_header(&self, from: usize) -> usize {
        let colon = (from..self.words.end).find(|&w| self.reading.word(w) == ":");
        let Some(colon) = colon else { return self.words.end };
        let titled = |w: &usize| {
            let source = self.reading.words[*w].source.slice(self.reading.text);
            source.chars().any(char::is_alphabetic) && !source.chars().any(char::is_lowercase)
        };
        (from..colon).rev().take_while(titled).last().unwrap_or(self.words.end)
    }

    fn opened_since(&self, from: usize, to: usize) -> bool {
        (from..to).any(|word| self.reading.word(word) == "(")
    }

    fn breaks_line(&self, word: usize) -> bool {
        let next = self.reading.words.get(word + 1).map(|next| next.source.start);
        let between = next.and_then(|next| self.reading.text.get(self.reading.words[word].source.end..next));
        between.is_some_and(|between| between.contains('\n'))
    }

    fn backward(&self, hit: &CueHit) -> usize {
        let cue = self.cues.get(hit);
        if cue.header {
            return self.words.start;
        }
        let list = cue.list && !self.stops_one(hit, cue);
        let from = self.back(hit.words.start, cue.reach, list, cue.far && cue.category == CueCategory::Negated);
        // "Asthma clinic" names a clinic; "bisoprolol until the clinic …" names a medicine as well.
        let apart = (from..hit.words.start).rev().find(|at| PARTS_A_NAME.contains(&self.reading.word(*at)));
        apart.filter(|_| cue.category == CueCategory::Unsaid).map_or(from, |at| at + 1)
    }

    fn backward_from(&self, from: usize, reach: usize, list: bool) -> usize {
        self.back(from, reach, list, false)
    }

    fn back(&self, from: usize, reach: usize, list: bool, far: bool) -> usize {
        let mut word = from;
        let mut counted = 0;
        while word > self.words.start && counted < reach {
            let before = word - 1;
            let text = self.reading.word(before);
            let stop = match text {
                ";" | "." => true,
                "," => !list && !far && counted > 0,
                "(" => counted > 0,
                _ => !far && matches!(self.category_at(before), Some(CueCategory::End)),
            };
            if stop || self.breaks_line(before) {
                return word;
            }
            counted += usize::from(!self.reading.words[before].punctuation);
            word = before;
        }
        word
    }
}
