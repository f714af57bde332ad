//! Signs and words at which a denial ends although its list seems to go on: an arrow, a plus before another finding, a
//! bracket that gives a reason, a new clause with its own time, and a denial that is a separate answer.

use super::super::CueScope;
use super::super::cues::{Cue, CueCategory, CueDirection, CueHit};
use super::ScopeSentence;

/// Words of a finding before a denial that comes after it.
const LONGEST_FINDING: usize = 6;
/// Nouns that are denied of a place or course: "no blood in vomit" denies no vomiting.
const OF_A_PLACE: &[&str] =
    &["blood", "sangre", "change", "changes", "cambio", "cambios", "moco", "mucus", "bile", "bilis"];
/// Words by which a clause after "and" has its own time.
const OWN_TIME: &[&str] = &["hoy", "ayer", "anoche", "luego", "ahora", "entonces", "today", "yesterday", "then", "now"];
/// Small words that name a person together with the noun.
const SMALL: &[&str] = &[
    "my", "his", "her", "the", "their", "our", "your", "a", "an", "mi", "su", "tu", "el", "la", "un", "una", "older",
    "younger", "late", "ex",
];
/// Words before a person to whom the preceding words do not belong.
const KEEPS: &[&str] = &[
    "by", "with", "con", "por", "para", "for", "to", "a", "que", "that", "because", "porque", "when", "cuando",
    "since", "desde", "is", "was", "es", "era", "al", "from", "about", "sobre", "contra", "against", "segun", "per",
    "dice", "says", "as", "como", "than", "mientras", "while",
];
/// Verbs that deny the words before them: "embarazada no estaba", "litio nunca tomé".
const POSTPOSED: &[&str] = &[
    "estaba", "estoy", "esta", "estuve", "estuvo", "soy", "era", "es", "tome", "tomo", "tomaba", "toma", "tenia",
    "tuve", "tuvo", "use", "uso", "consumo", "consumi", "consume", "probe", "fumo", "fuma", "bebo", "bebe", "hago",
    "hice", "hizo", "hacemos", "hicimos", "hicieron", "necesito", "necesita", "preciso",
];

impl ScopeSentence<'_, '_> {
    /// The effect of a denial that reaches nothing after it: an answer, a verb that closes its clause, one after its
    /// finding.
    pub(super) fn apart(&self, hit: &CueHit) -> Option<CueScope> {
        let scope = |words| CueScope { category: CueCategory::Negated, words, cue: hit.words.clone() };
        if let Some(from) = self.postposed(hit) {
            return Some(scope(from..hit.words.start));
        }
        if self.is_reported_answer(hit) {
            return Some(scope(hit.words.end..hit.words.end));
        }
        self.closes_on_verb(hit).map(|end| scope(hit.words.end..end))
    }

    /// Whether a sign at `word` ends the scope of a cue that began at `from`.
    pub(super) fn ends_denial(&self, cue: &Cue, from: usize, word: usize) -> bool {
        if cue.category != CueCategory::Negated {
            return false;
        }
        let next = self.reading.word(word + 1);
        match self.reading.word(word) {
            "→" | "->" | "⇒" | "=>" => true,
            ">" => self.reading.word(word.wrapping_sub(1)) == "-",
            "+" => word > from && (self.finding)(word + 1).is_some(),
            "(" => {
                let since = (from..word).any(|at| matches!(self.reading.word(at), "desde" | "since"));
                word > from && (since || matches!(next, "the" | "el" | "la" | "los"))
            }
            _ => false,
        }
    }

    /// "Diabetes in mother", "asma (hermano)": the words before a person are about them where a word or sign links
    /// them. A person who does something, or with whom, by whom or for whom it is done, has nothing of it.
    pub(super) fn hands_back(&self, hit: &CueHit, cue: &Cue) -> bool {
        if !matches!(cue.category, CueCategory::Family | CueCategory::Other) || cue.direction != CueDirection::Both {
            return true;
        }
        let small = |word: &usize| SMALL.contains(&self.reading.word(*word));
        let from = (self.words.start..hit.words.start).rev().take_while(small).last().unwrap_or(hit.words.start);
        let Some(before) = from.checked_sub(1).filter(|at| self.words.contains(at)) else { return true };
        let sign = self.reading.words[before].punctuation;
        let verb = matches!(self.category_at(hit.words.end), Some(CueCategory::Verb));
        !(sign && verb) && (sign || !KEEPS.contains(&self.reading.word(before)))
    }

    /// "Asma: leve, montelukast retirado": one thing was stopped, the one right before.
    pub(super) fn stops_one(&self, hit: &CueHit, cue: &Cue) -> bool {
        let last = self.reading.word(hit.words.end - 1);
        let one = ["ado", "ada", "ido", "ida"].iter().any(|ending| last.ends_with(ending));
        cue.either && cue.cause && one
    }

    /// "… y hoy se mareó", "no blood in vomit": where words end a denial.
    pub(super) fn begins_another(&self, cue: &Cue, from: usize, word: usize) -> bool {
        if cue.category != CueCategory::Negated || word == from {
            return false;
        }
        let (said, next) = (self.reading.word(word), self.reading.word(word + 1));
        let clause = matches!(said, "y" | "e" | "and") && OWN_TIME.contains(&next);
        let place = matches!(said, "in" | "en") && OF_A_PLACE.contains(&self.reading.word(word - 1));
        clause || place
    }

    /// "Le dije que no, que …", "she said no, because …": the answer is the whole denial.
    pub(super) fn is_reported_answer(&self, hit: &CueHit) -> bool {
        let before = hit.words.start.checked_sub(1).filter(|at| self.words.contains(at));
        let previous = before.map_or("", |at| self.reading.word(at));
        let asked =
            matches!(previous, "que" | "said" | "says" | "dice" | "dijo" | "dije" | "contesta" | "answered" | "eso");
        let alone = hit.words.len() == 1 && self.reading.word(hit.words.start) == "no";
        alone && asked && self.reading.word(hit.words.end) == ","
    }

    /// "Not taking, constipated": a denial with a verb that closes its clause does not reach further.
    pub(super) fn closes_on_verb(&self, hit: &CueHit) -> Option<usize> {
        let last = self.reading.word(hit.words.end - 1);
        let takes = |word: &str| matches!(word, "taking" | "takes" | "tomando" | "toma" | "using" | "tolerated");
        let end = hit.words.end + usize::from(!takes(last));
        let verb = takes(self.reading.word(end - 1)) && end > hit.words.start + 1;
        (verb && end < self.words.end && self.reading.word(end) == ",").then_some(end)
    }

    /// "Embarazada no estaba.", "litio nunca tomé eh": a finding before a denial and a verb that close their clause.
    pub(super) fn postposed(&self, hit: &CueHit) -> Option<usize> {
        let first = self.reading.word(hit.words.start);
        let bare = matches!(first, "no" | "nunca" | "jamas") && hit.words.len() <= 2;
        let clitic = usize::from(matches!(self.reading.word(hit.words.end), "lo" | "la" | "los" | "las" | "me" | "se"));
        let verb = (hit.words.start + 1..=hit.words.end + clitic)
            .find(|at| POSTPOSED.contains(&self.reading.word(*at)))
            .filter(|_| bare)?;
        let closed = verb + 1 >= self.words.end
            || self.reading.words[verb + 1].punctuation
            || matches!(self.reading.word(verb + 1), "eh" | "yo" | "ya" | "nunca" | "pero");
        let lowest = hit.words.start.saturating_sub(LONGEST_FINDING).max(self.words.start);
        let found = (lowest..hit.words.start).find(|at| (self.finding)(*at) == Some(hit.words.start));
        found.filter(|_| closed)
    }
}
