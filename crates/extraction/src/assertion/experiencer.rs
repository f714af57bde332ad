//! Whose a finding is, where a sentence names a relative or another person: the role of the person in the sentence
//! decides. A subject has what follows ("wife has depression"). A companion has only what comes right after them ("vive
//! con su madre, que tiene asma"). A person in a comparison has nothing ("like her mother, she has asthma"). Next to
//! the patient, both have it ("mi madre y yo tenemos diabetes"). Cues alone cannot distinguish these: a word for a
//! relative is the same in all of them.

mod apposition;
mod clefts;
mod people;
mod topic;
mod words;

use std::ops::Range;

use super::CueScope;
use super::bare_lists::FindingAt;
use super::cues::CueCategory;
use crate::lexicon::label;
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::{TextSentence, TokenizedText};
pub(super) use people::is_english_son;
use people::{PersonMention, PersonWords, is_self, returns};
pub(super) use topic::TopicState;

use super::subjects::FILE;
use crate::lexicon::word_lists::{self, WordList};
use words::{is_allergic, is_treated, of_patient};

/// Words of one clause about a person.
const LONGEST: usize = 18;
/// Words between a relative and their treatment.
const TO_TREATMENT: usize = 7;
/// Words between a verb and the finding that it states.
const TO_FINDING: usize = 4;
/// Words between an occupation and the people whom it is for.
const TO_FOLK: usize = 5;

/// The words by which the parts of people in a sentence are known.
pub(crate) struct ExperiencerRules {
    people: PersonWords,
    parent_of: PhraseMatcher,
    works_with: PhraseMatcher,
    lives_with: PhraseMatcher,
    married_to: PhraseMatcher,
    compares: PhraseMatcher,
    shared: PhraseMatcher,
    echo: PhraseMatcher,
    treated: PhraseMatcher,
    takes: PhraseMatcher,
    has: PhraseMatcher,
    tells: PhraseMatcher,
}

/// One sentence in which people are named.
struct PersonSentence<'a, 'b> {
    experiencer_rules: &'a ExperiencerRules,
    reading: &'a TokenizedText<'b>,
    sentence: &'a TextSentence,
    people: Vec<PersonMention>,
    finding: &'a FindingAt<'a>,
}

impl ExperiencerRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let people = PersonWords::builtin(trie);
        let mut list = |name| label(trie, FILE, name);
        Self {
            people,
            parent_of: list("parent_of"),
            works_with: list("works_with"),
            lives_with: list("lives_with"),
            married_to: list("married_to"),
            compares: list("compares"),
            shared: list("shared"),
            echo: list("echo"),
            treated: list("treated"),
            takes: list("takes"),
            has: list("has"),
            tells: list("tells"),
        }
    }

    /// The stretches of a sentence that are another person's, and those that are the patient's although a relative is near.
    pub(super) fn scopes(
        &self,
        reading: &TokenizedText<'_>,
        sentence: &TextSentence,
        finding: &FindingAt<'_>,
        topics: &mut TopicState,
    ) -> Vec<CueScope> {
        let people = self.people.find(reading, &sentence.words);
        let telling = PersonSentence { experiencer_rules: self, reading, sentence, people, finding };
        topics.enter(reading.sentence_of(sentence.words.start), reading);
        let mut out = telling.shared();
        out.extend(telling.clefts());
        // In speech the subject goes on from sentence to sentence: see `subjects`.
        if sentence.turn.is_none() {
            telling.people.iter().for_each(|person| telling.of_person(person, &mut out));
            out.extend(telling.of_folk());
            out.extend(telling.carried(topics));
            out.extend(telling.of_the_spouse());
        }
        out
    }
}

/// A denial about the patient after a relative denies nothing of the relative: "madre con litio, la paciente nunca".
pub(super) fn part_denials(scopes: &mut [CueScope]) {
    let own: Vec<usize> =
        scopes.iter().filter(|one| one.category == CueCategory::Own).map(|one| one.words.start).collect();
    for scope in scopes.iter_mut().filter(|scope| scope.category == CueCategory::Negated && !scope.cue.is_empty()) {
        if let Some(at) = own.iter().find(|at| scope.cue.start >= **at && scope.words.start < **at) {
            scope.words.start = scope.words.end.min(*at);
        }
    }
}

impl PersonSentence<'_, '_> {
    fn word(&self, at: usize) -> &str {
        if at < self.sentence.words.end { self.reading.word(at) } else { "" }
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).filter(|before| self.sentence.words.contains(before)).map_or("", |at| self.reading.word(at))
    }

    fn end(&self) -> usize {
        self.sentence.words.end
    }

    fn own(&self, words: Range<usize>, cue: &Range<usize>) -> CueScope {
        CueScope { category: CueCategory::Own, words, cue: cue.clone() }
    }

    /// Where comparisons, "both", "neither" and "so do I" give the patient the finding of a relative.
    fn shared(&self) -> Vec<CueScope> {
        let mut out = Vec::new();
        let words = self.sentence.words.clone();
        for echo in self.experiencer_rules.echo.find(self.reading, words.clone()) {
            out.push(self.own(words.start..echo.words.start, &echo.words));
        }
        for person in &self.people {
            let (from, end) = (person.from, person.words.end);
            let start = from.saturating_sub(3).max(words.start);
            let mut compared = (start..from).filter_map(|at| self.experiencer_rules.compares.at(self.reading, at));
            if let Some(cue) = compared.find(|hit| hit.words.end == from).map(|hit| hit.words) {
                let goes_on = self.word(end) == "," && !matches!(self.word(end + 1), "que" | "who" | "which" | "con");
                let opens = cue.start == words.start || self.reading.words[cue.start - 1].punctuation;
                if opens && (goes_on || is_self(self.reading, end)) {
                    out.push(self.own(end..self.end(), &person.words));
                } else if self.closes(end) && self.people.iter().all(|other| other.from >= from) {
                    out.push(self.own(words.start..cue.start, &person.words));
                }
            }
            out.extend(self.together(person));
        }
        out.extend(self.neither());
        out
    }

    fn closes(&self, at: usize) -> bool {
        matches!(self.word(at), "" | "." | ";" | ")")
    }

    /// "She and her sister have", "mi madre y yo tenemos": the patient is one of two subjects.
    fn together(&self, person: &PersonMention) -> Option<CueScope> {
        let joins = |at: usize| matches!(self.word(at), "and" | "y" | "e" | "como" | "nor" | "ni" | "&");
        let start = self.sentence.words.start;
        let before = person.from >= start + 2 && joins(person.from - 1) && is_self(self.reading, person.from - 2);
        let after = || {
            let and = person.words.end;
            let article = matches!(self.word(and + 1), "the" | "la" | "el") && !is_self(self.reading, and + 1);
            let who = and + 1 + usize::from(article);
            (joins(and) && is_self(self.reading, who)).then_some(who + 1)
        };
        let verb = if before { Some(person.words.end) } else { after() }?;
        self.shared_from(verb).map(|words| self.own(words, &person.words))
    }

    fn shared_from(&self, verb: usize) -> Option<Range<usize>> {
        self.experiencer_rules.shared.at(self.reading, verb).filter(|_| verb < self.end())?;
        let stops = |at: &usize| {
            matches!(self.word(*at), ";" | "." | "but" | "pero" | "because" | "porque" | "when" | "cuando" | "since")
        };
        Some(verb..(verb..self.end()).find(stops).unwrap_or(self.end()))
    }

    /// "Ni su madre ni ella tienen asma", "neither she nor her sister has": denied of both.
    fn neither(&self) -> Option<CueScope> {
        let words = self.sentence.words.clone();
        let first = words.clone().find(|at| matches!(self.word(*at), "neither" | "ni"))?;
        let pair = if self.word(first) == "ni" { "ni" } else { "nor" };
        let second = (first + 2..self.end().min(first + 6)).find(|at| self.word(*at) == pair)?;
        let named = |range: Range<usize>| {
            let whom = |at: usize| {
                let person = self.people.iter().find(|one| one.from == at).map(|one| one.words.end);
                let article = usize::from(matches!(self.word(at), "the" | "la" | "el") && !is_self(self.reading, at));
                person.or_else(|| is_self(self.reading, at + article).then_some(at + article + 1))
            };
            whom(range.start).filter(|end| *end <= range.end)
        };
        named(first + 1..second).filter(|end| *end == second)?;
        let verb = named(second + 1..self.end())?;
        let words = self.shared_from(verb)?;
        Some(CueScope { category: CueCategory::Negated, words, cue: first..first + 1 })
    }

    /// The findings of a person as the subject of a clause, or as company with a clause of their own.
    fn of_person(&self, person: &PersonMention, out: &mut Vec<CueScope>) {
        let end = self.after_name(person);
        out.extend(self.bracket(person, end));
        out.extend(self.elliptic(person, end));
        let clause = |from: usize| self.clause(person, from);
        let Some(from) = self.begins_telling(person, end) else { return };
        let (to, back) = clause(from);
        out.push(CueScope { category: person.category, words: end..to, cue: person.words.clone() });
        if let Some((back, surely)) = back {
            let next = self.people.iter().map(|other| other.from).find(|at| *at > back).unwrap_or(self.end());
            out.push(self.own(back..next, &(back..back + 1)));
            if !surely {
                let cue = back..back + 1;
                out.push(CueScope { category: CueCategory::Uncertain, words: back + 1..next, cue });
            }
        }
    }

    /// Where the finding of a person begins, after the words that name them.
    fn begins_telling(&self, person: &PersonMention, end: usize) -> Option<usize> {
        let tells = |at: usize| self.experiencer_rules.tells.at(self.reading, at).is_some();
        if let Some(from) = self.titled(person, end) {
            return Some(from);
        }
        // "A friend who uses heroin", "su madre, que tiene depresión".
        let who = end + usize::from(self.word(end) == ",");
        if matches!(self.word(who), "que" | "who") {
            return (!tells(who + 1)).then_some(who).filter(|who| self.states(who + 1));
        }
        if self.opens(person) {
            if tells(end) {
                return None;
            }
            let treated = (end..self.end().min(end + TO_TREATMENT))
                .take_while(|at| {
                    !matches!(self.word(*at), "," | "." | ";" | "y" | "and") && !is_self(self.reading, *at)
                })
                .any(|at| self.experiencer_rules.treated.at(self.reading, at).is_some());
            // "Hermana, Vega, celíaca": the words after the comma that closes a name.
            let named = self.word(end) == "," && end > person.words.end && (self.finding)(end + 1).is_some();
            return (treated || named || self.states(end)).then_some(end);
        }
        let company = (self.sentence.words.start..person.from)
            .rev()
            .take(6)
            .filter_map(|at| {
                self.experiencer_rules
                    .lives_with
                    .at(self.reading, at)
                    .or(self.experiencer_rules.married_to.at(self.reading, at))
            })
            .any(|hit| hit.words.end == person.from);
        company.then(|| self.after_company(person, end)).flatten()
    }

    /// "Convive con su hijo con esquizofrenia", "vive con su madre, diabética".
    fn after_company(&self, person: &PersonMention, end: usize) -> Option<usize> {
        if matches!(self.word(end), "con" | "with") && (self.finding)(end + 1).is_some() {
            return Some(end);
        }
        let apart = self.word(end) == ",";
        let said = (self.finding)(end + 1).filter(|said| apart && self.closes(*said))?;
        let last = self.reading.word(said - 1);
        let agrees = match person.is_she {
            Some(true) => last.ends_with('a'),
            Some(false) => last.ends_with('o'),
            None => false,
        };
        agrees.then_some(end)
    }

    /// Only the words that name them come before a person in the clause.
    fn opens(&self, person: &PersonMention) -> bool {
        person.from == self.sentence.words.start
            || matches!(self.before(person.from), "." | ";" | ":" | "(" | "-" | "–" | "," | "*" | "•" | "y" | "and")
    }

    /// Whether words state something that a person has: "has asthma", "depressed", "takes".
    fn states(&self, at: usize) -> bool {
        if self
            .experiencer_rules
            .takes
            .at(self.reading, at)
            .is_some_and(|hit| self.is_theirs(hit.words.end..hit.words.end + 2))
        {
            return true;
        }
        let near = |from: usize| {
            (from..self.end().min(from + TO_FINDING))
                .take_while(|at| {
                    self.is_theirs(*at..*at + 1) && self.experiencer_rules.tells.at(self.reading, *at).is_none()
                })
                .any(|at| (self.finding)(at).is_some() || is_allergic(self.word(at)))
        };
        let Some(verb) = self.experiencer_rules.has.at(self.reading, at) else { return (self.finding)(at).is_some() };
        let had = self.word(at) == "had" && matches!(self.word(at + 1), "a" | "an");
        near(verb.words.end) || had || matches!(self.word(at), "with" | "con") && (self.finding)(at + 1).is_some()
    }

    fn is_theirs(&self, mut words: Range<usize>) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::ASSERTION, "experiencer.is_theirs");
        words.all(|at| !WORDS.contains(self.word(at)))
    }

    /// Where a clause about a person ends, and where the patient comes back as its subject.
    fn clause(&self, person: &PersonMention, from: usize) -> (usize, Option<(usize, bool)>) {
        let limit = self.end().min(from + LONGEST);
        for at in from + 1..limit {
            let joint = matches!(self.word(at), "," | "and" | "y" | "e" | "but" | "pero" | "while" | "mientras" | ";");
            let back = at + 1;
            if let Some(surely) = returns(self.reading, back, person).filter(|_| joint && back < self.end()) {
                // After a semicolon a pronoun is the patient, as at the beginning of a sentence.
                return (at, Some((back, surely || self.word(at) == ";")));
            }
            let goes_on = |next: usize| {
                (self.finding)(next).is_some()
                    || is_treated(self.word(next))
                    || matches!(
                        self.word(next),
                        "on" | "en"
                            | "taking"
                            | "takes"
                            | "toma"
                            | "con"
                            | "with"
                            | "and"
                            | "y"
                            | "que"
                            | "who"
                            | "treated"
                    )
            };
            let stop = match self.word(at) {
                "." | ";" | ")" | "but" | "pero" | "aunque" | "although" | "while" | "mientras" | "whereas" => true,
                "," if at > from => !goes_on(back),
                "and" | "y" => of_patient(self.word(back)),
                _ => false,
            };
            if stop {
                return (at, None);
            }
        }
        (limit, None)
    }

    /// "Madre de un niño con autismo", "teaches children with dyslexia", "father of two, one with ADHD".
    fn of_folk(&self) -> Vec<CueScope> {
        let mut out = Vec::new();
        let words = self.sentence.words.clone();
        for folk in self.experiencer_rules.people.folk(self.reading, &words) {
            let with = matches!(self.word(folk.end), "with" | "con") && (self.finding)(folk.end + 1).is_some();
            let reach = folk.start.saturating_sub(TO_FOLK).max(words.start)..folk.start;
            let near = |list: &PhraseMatcher| reach.clone().find_map(|at| list.at(self.reading, at));
            let category = if near(&self.experiencer_rules.parent_of).is_some() {
                CueCategory::Family
            } else if near(&self.experiencer_rules.works_with).is_some() {
                CueCategory::Unsaid
            } else {
                continue;
            };
            if with {
                let (to, _) = self.clause_of(folk.end);
                out.push(CueScope { category, words: folk.end + 1..to, cue: folk.clone() });
            }
        }
        let Some(parent) = words.clone().find_map(|at| self.experiencer_rules.parent_of.at(self.reading, at)) else {
            return out;
        };
        let one = |at: &usize| matches!(self.word(*at), "one" | "uno" | "una") && self.before(*at) == ",";
        let parted = (parent.words.end..self.end()).find(one);
        let with = parted.and_then(|one| (one..one + 4).find(|at| matches!(self.word(*at), "with" | "con")));
        match (parted, with) {
            (Some(one), Some(with)) => {
                let (to, _) = self.clause_of(with);
                out.push(CueScope { category: CueCategory::Family, words: with + 1..to, cue: one..one + 1 });
            }
            // "Madre de dos hijos, asmática": the patient, whose children are spoken of.
            _ => {
                let comma = (parent.words.end..self.end().min(parent.words.end + 4)).find(|at| self.word(*at) == ",");
                let own = comma.filter(|comma| (self.finding)(comma + 1).is_some());
                out.extend(own.map(|comma| self.own(comma + 1..self.end(), &parent.words)));
            }
        }
        out
    }

    fn clause_of(&self, from: usize) -> (usize, Option<(usize, bool)>) {
        let no_one =
            PersonMention { words: from..from, from, category: CueCategory::Other, is_she: None, is_hers: None };
        self.clause(&no_one, from)
    }

    /// "Casada con un alcohólico", "married to a heroin addict": named only by the illness.
    fn of_the_spouse(&self) -> Vec<CueScope> {
        let hits = self.experiencer_rules.married_to.find(self.reading, self.sentence.words.clone());
        let scopes = hits.into_iter().filter_map(|hit| {
            let article = matches!(self.word(hit.words.end), "a" | "an" | "un" | "una").then_some(hit.words.end)?;
            (self.finding)(article + 1).or_else(|| (self.finding)(article + 2))?;
            let (to, _) = self.clause_of(article);
            Some(CueScope { category: CueCategory::Other, words: article + 1..to, cue: hit.words })
        });
        scopes.collect()
    }
}

#[cfg(test)]
mod tests;
