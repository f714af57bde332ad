//! Sentences that identify a person: "la alérgica es ella", "eso es mi hermano", "the asthmatic one is her brother",
//! "son de la madre". The person comes after the verb, and the finding before it.

use std::ops::Range;

use super::super::CueScope;
use super::super::cues::CueCategory;
use super::super::subjects::after_name;
use super::{PersonSentence, is_allergic};

/// Words of the subject that such a verb may have.
const SUBJECT: usize = 9;

struct CleftPerson {
    category: CueCategory,
    words: Range<usize>,
}

impl PersonSentence<'_, '_> {
    /// The words before "is" and a person, and those of a clause after the person.
    pub(super) fn clefts(&self) -> Vec<CueScope> {
        let mut out = Vec::new();
        for at in self.sentence.words.clone() {
            let glued = matches!(self.word(at), "thats" | "its");
            if !glued && !matches!(self.word(at), "is" | "'s" | "was" | "are" | "were" | "es" | "era" | "fue" | "son") {
                continue;
            }
            let owner = matches!(self.word(at + 1), "de" | "del");
            let Some(person) = self.predicate(at + 1 + usize::from(owner)) else { continue };
            let Some(before) = self.said_before(at, owner, glued) else { continue };
            let cue = person.words.clone();
            if !before.is_empty() {
                out.push(CueScope { category: person.category, words: before, cue: cue.clone() });
            }
            if let Some(from) = self.goes_on_about(person.words.end) {
                let (to, _) = self.clause_of(from);
                out.push(CueScope { category: person.category, words: from..to, cue });
            }
        }
        out
    }

    /// A relative, a pronoun or a name that closes its clause.
    fn predicate(&self, from: usize) -> Option<CleftPerson> {
        if let Some(person) = self.people.iter().find(|person| person.from == from) {
            let end = after_name(self.reading, person.words.end, self.end());
            return self
                .ends_at(end)
                .then_some(CleftPerson { category: person.category, words: person.words.start..end });
        }
        let third = matches!(self.word(from), "ella" | "him" | "her" | "hers" | "herself" | "himself");
        let him = self.word(from) == "el" && super::is_self(self.reading, from);
        let end = if third || him { from + 1 } else { after_name(self.reading, from, self.end()) };
        (end > from && self.ends_at(end)).then_some(CleftPerson { category: CueCategory::Family, words: from..end })
    }

    /// Only a clause about the person follows their name.
    fn ends_at(&self, end: usize) -> bool {
        let sign = matches!(self.word(end), "" | "," | "." | ";" | ")" | "(" | ":" | "!" | "?" | "|" | "\"" | "»");
        sign || matches!(self.word(end), "not" | "no" | "y" | "and") || self.goes_on_about(end).is_some()
    }

    /// "… es mi esposo el que se pone morado", "it's his grandad that can't have it".
    fn goes_on_about(&self, end: usize) -> Option<usize> {
        let comma = usize::from(self.word(end) == ",");
        let article = usize::from(matches!(self.word(end + comma), "el" | "la" | "quien"));
        let who = end + comma + article;
        let clause = matches!(self.word(who), "que" | "who" | "that");
        let said = self.experiencer_rules.tells.at(self.reading, who + 1).is_some() || self.word(who + 1) == "gave";
        (clause && !said).then_some(who + 1)
    }

    /// The words before the verb at `at` that are the person's, none where they only point back at a denial.
    fn said_before(&self, at: usize, owner: bool, glued: bool) -> Option<Range<usize>> {
        let mut start = self.clause_before(at);
        // "El que tiene asma es su hermano"; "lo que le da miedo es su padre" says nothing of him.
        if start > self.sentence.words.start + 1 && self.word(start - 1) == "que" {
            match self.word(start - 2) {
                "el" | "la" | "quien" => start -= 2,
                _ => return None,
            }
        }
        let subject = start..at;
        if subject.len() > SUBJECT {
            return None;
        }
        let points = |at: usize| matches!(self.word(at), "eso" | "esa" | "ese" | "esto" | "that" | "it" | "this");
        let mut own = subject.clone();
        if own.any(|word| matches!(self.word(word), "my" | "mi" | "su" | "his" | "lo" | "what" | "her" | "tu" | "your"))
        {
            return None;
        }
        let pointing = glued && subject.is_empty() || subject.clone().next_back().is_some_and(points);
        if pointing || owner && subject.is_empty() {
            let from = self.item_before(start);
            let denied = (from..at).any(|word| super::super::denies(self.word(word)));
            return Some(if denied && !owner { at..at } else { from..at });
        }
        let has = |word: usize| (self.finding)(word).is_some() || is_allergic(self.word(word));
        let said = subject.clone().any(has) || owner;
        let titled = matches!(self.word(start), "el" | "la" | "los" | "las" | "the");
        let bare = subject.clone().any(|word| (self.finding)(word).is_some_and(|end| end == at));
        // "Sulfas: lo trae anotado, pero la alérgica es la esposa": she is allergic to what was mentioned before.
        let named = subject.len() == 2 && is_allergic(self.word(start + 1)) && titled;
        let from = if named { self.part_before(start) } else { start };
        (said && (titled || bare || owner)).then_some(from..at)
    }

    fn clause_before(&self, at: usize) -> usize {
        let opens = |word: &usize| {
            matches!(
                self.word(*word),
                "," | "." | ";" | "(" | ":" | "|" | "pero" | "but" | "porque" | "because" | "que"
            )
        };
        (self.sentence.words.start..at).rev().find(opens).map_or(self.sentence.words.start, |word| word + 1)
    }

    fn part_before(&self, start: usize) -> usize {
        let opens = |word: &usize| matches!(self.word(*word), "." | ";" | "|");
        (self.sentence.words.start..start).rev().find(opens).map_or(self.sentence.words.start, |word| word + 1)
    }

    /// Where the item begins to which a clause in a bracket or after a comma points back.
    fn item_before(&self, start: usize) -> usize {
        let before = start.saturating_sub(1).max(self.sentence.words.start);
        let opens = |word: &usize| matches!(self.word(*word), "." | ";" | ":");
        (self.sentence.words.start..before).rev().find(opens).map_or(self.sentence.words.start, |word| word + 1)
    }
}
