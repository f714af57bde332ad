//! The words right after those for a person: a name, an age, a bracket about them, a verb with its complement left out
//! ("her brother is, lost a foot").

use super::super::CueScope;
use super::super::subjects::after_name;
use super::{PersonMention, PersonSentence, is_self};

/// Words of a bracket or an age that say who a person is.
const LONGEST_ASIDE: usize = 7;

impl PersonSentence<'_, '_> {
    /// The first word after a person's name and age: "hermana de 5 años, Vega, …", "un hermano de [PERSON_8CAE], …".
    pub(super) fn after_name(&self, person: &PersonMention) -> usize {
        let mut at = after_name(self.reading, person.words.end, self.end());
        for _ in 0..3 {
            let next = self.after_age(at).or_else(|| self.after_apposition(at));
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    fn after_age(&self, at: usize) -> Option<usize> {
        let number = |word: usize| self.word(word).starts_with(|letter: char| letter.is_ascii_digit());
        let from = at + usize::from(self.word(at) == ",");
        let aged = from + usize::from(matches!(self.word(from), "de" | "aged"));
        let years = matches!(self.word(aged + 1), "anos" | "a" | "meses" | "years" | "yo" | "y");
        (number(aged) && (aged > from || years)).then(|| {
            let old = usize::from(self.word(aged + 2) == "old");
            aged + 1 + usize::from(years) + old
        })
    }

    /// ", Vega," or "de Rafael,": a name between two commas, or that of whom the person is a relative.
    fn after_apposition(&self, at: usize) -> Option<usize> {
        if !matches!(self.word(at), "," | "de" | "of") {
            return None;
        }
        let named = after_name(self.reading, at + 1, self.end());
        (named > at + 1 && self.word(named) == ",").then_some(named)
    }

    /// "Al de la 15 (el señor que se cayó ayer)": a bracket right after a person is about that person.
    pub(super) fn bracket(&self, person: &PersonMention, end: usize) -> Option<CueScope> {
        if self.word(end) != "(" {
            return None;
        }
        let close = (end..self.end()).find(|at| self.word(*at) == ")")?;
        let first = self.word(end + 1);
        let tells = self.experiencer_rules.tells.at(self.reading, end + 1).is_some() || is_self(self.reading, end + 1);
        // A bracket that begins with a preposition or a denial goes on with the sentence, not with the person.
        let reason = matches!(first, "por" | "con" | "with" | "for" | "de" | "of" | "see" | "ver" | "no" | "not");
        let patient =
            (end..close).any(|at| matches!(self.word(at), "paciente" | "patient" | "pt" | "pte" | "yo" | "i"));
        (!tells && !reason && !patient).then(|| CueScope {
            category: person.category,
            words: end + 1..close,
            cue: person.words.clone(),
        })
    }

    /// "Her brother is, lost a foot", "su padre sí, amputado de un pie": the words after the comma concern them.
    pub(super) fn elliptic(&self, person: &PersonMention, end: usize) -> Option<CueScope> {
        let verb = matches!(self.word(end), "is" | "was" | "does" | "did" | "has" | "had" | "si" | "tambien" | "too");
        if !verb || self.word(end + 1) != "," || !self.opens(person) {
            return None;
        }
        let stops =
            |at: &usize| matches!(self.word(*at), "." | ";" | ")" | "but" | "pero") || is_self(self.reading, *at);
        let to = (end + 2..self.end()).find(stops).unwrap_or(self.end()).min(end + 2 + LONGEST_ASIDE);
        Some(CueScope { category: person.category, words: end + 2..to, cue: person.words.clone() })
    }

    /// "Brother: he's drinking a lot": a line's title names a relative, and their finding follows.
    pub(super) fn titled(&self, person: &PersonMention, end: usize) -> Option<usize> {
        if person.from != self.sentence.words.start || self.word(end) != ":" {
            return None;
        }
        let pronoun = matches!((self.word(end + 1), person.is_she), ("he", Some(false)) | ("she", Some(true)));
        (pronoun || (self.finding)(end + 1).is_some()).then_some(end + 1)
    }
}
