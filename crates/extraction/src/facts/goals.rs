//! Goals and preferences as notes, forms and letters say them: under a title ("Goals: …", "META: …"), in the third person
//! ("would like to get back to …", "no desea …"), and as the answer to a question about goals.

use std::ops::Range;

use super::clauses::{clause, items};
use crate::analysis::{AnalyzedDocument, AssertionStatus};
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::{PhraseMatch, PhraseMatcher};
use crate::phrase_trie::TrieBuilder;
use crate::structure::BoxMark;
use crate::{Entity, EntityType, MentionContext};
use anamnesis_core::finding::Experiencer;
use anamnesis_text::Speaker;

pub(super) const FILE: &str = include_str!("../lexicon/wishes.tsv");
/// Sentences that an answer about goals may be long, and items under one title.
const MOST_ANSWERS: usize = 4;
const MOST_ITEMS: usize = 8;
/// How many words before a lead another person may come as its subject.
const SUBJECT: usize = 3;
/// Confidence of each kind.
const TITLED: f64 = 0.85;
const STATED: f64 = 0.8;
const ANSWERED: f64 = 0.75;

pub(crate) struct GoalRules {
    titles: [(EntityType, PhraseMatcher); 2],
    leads: [(EntityType, PhraseMatcher); 2],
    facts: PhraseMatcher,
    boxes: PhraseMatcher,
    asks: PhraseMatcher,
    trivial: PhraseMatcher,
    others: PhraseMatcher,
}

impl GoalRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut of = |name| label(trie, FILE, name);
        Self {
            titles: [(EntityType::Goal, of("goal_title")), (EntityType::Preference, of("preference_title"))],
            leads: [(EntityType::Preference, of("preference_lead")), (EntityType::Goal, of("goal_lead"))],
            facts: of("preference_fact"),
            boxes: of("preference_box"),
            asks: of("goal_question"),
            trivial: of("trivial"),
            others: of("relative"),
        }
    }

    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>, drugs: &[Entity], out: &mut Vec<Entity>) {
        let mut taken = vec![false; doc.reading.sentences.len()];
        for (index, _) in doc.sentences() {
            if taken[index] {
                continue;
            }
            if self.boxed(doc, index, out) {
                continue;
            }
            if let Some((kind, from)) = self.title(doc, index) {
                self.titled(doc, index, kind, from, &mut taken, out);
            } else if self.is_goal_question(doc, index) {
                self.answers(doc, index, &mut taken, out);
            } else {
                self.stated(doc, index, drugs, out);
            }
        }
    }

    /// A wish or a refusal in a box of a form: "Group therapy? (x) no".
    fn boxed(&self, doc: &AnalyzedDocument<'_>, index: usize, out: &mut Vec<Entity>) -> bool {
        let mut found = false;
        for ticked in doc.structure.boxes(index).iter().filter(|ticked| ticked.mark != BoxMark::Empty) {
            let label = trim(doc, ticked.label.clone());
            if label.is_empty() || self.boxes.first(doc.reading, label.clone()).is_none() {
                continue;
            }
            let said = doc.reading.source(&label).slice(doc.text()).to_lowercase();
            let answer = if ticked.mark == BoxMark::Yes { "yes" } else { "no" };
            let span = doc.reading.source(&label);
            let assertion = AssertionStatus {
                context: MentionContext::default(),
                epistemic: doc.epistemic(doc.reading.sentences[index].speaker),
                evidence: doc.reading.sentences[index].span,
                turn: doc.reading.sentences[index].turn,
                answered: true,
                confidence: TITLED,
            };
            let Some(entity) = doc.entity(EntityType::Preference, &label, format!("{said}: {answer}"), &assertion)
            else {
                continue;
            };
            out.retain(|other| other.kind != EntityType::Preference || !other.span.overlaps(&span));
            out.push(entity);
            found = true;
        }
        found
    }

    /// A title at the beginning of a line, and where its content begins.
    fn title(&self, doc: &AnalyzedDocument<'_>, index: usize) -> Option<(EntityType, usize)> {
        let reading = doc.reading;
        let sentence = &reading.sentences[index];
        let bullet = |word: &usize| matches!(reading.word(*word), "-" | "*" | "•" | "#" | "·" | "¿");
        let start = sentence.words.clone().find(|word| !bullet(word))?;
        for (kind, titles) in &self.titles {
            let Some(hit) = titles.at(reading, start) else { continue };
            let colon =
                (hit.words.end..sentence.words.end).take(2).find(|word| matches!(reading.word(*word), ":" | "-" | "–"));
            let capitals = reading
                .source(&hit.words)
                .slice(doc.text())
                .chars()
                .filter(|c| c.is_alphabetic())
                .all(char::is_uppercase);
            let alone = hit.words.end == sentence.words.end;
            let from = match colon {
                Some(colon) => colon + 1,
                None if capitals || alone => hit.words.end,
                None => continue,
            };
            // "Objetivo:" is also the title of an examination in a note.
            let is_exam =
                matches!(reading.word(start), "objetivo" | "objective") && hit.words.len() == 1 && has_subjective(doc);
            if !is_exam {
                return Some((*kind, from));
            }
        }
        None
    }

    /// The content of a title: its line, and the items of the lines below where the title has its own line.
    #[expect(clippy::too_many_arguments, reason = "each says another part of one place in the text")]
    fn titled(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        kind: EntityType,
        from: usize,
        taken: &mut [bool],
        out: &mut Vec<Entity>,
    ) {
        let sentences = &doc.reading.sentences;
        let alone = from >= sentences[index].words.end;
        let mut found = 0;
        for next in index..sentences.len() {
            let here = &sentences[next];
            if next > index {
                let gap = gap(doc, next);
                let lines = gap.matches('\n').count();
                let listed = alone || is_item(doc, next);
                let other = here.turn != sentences[index].turn || lines > 1 || (lines == 1 && !listed);
                if other || self.title(doc, next).is_some() || (lines == 1 && is_title(doc, next)) {
                    return;
                }
            }
            taken[next] = true;
            let start = if next == index { from } else { here.words.start };
            for words in items(doc, start..here.words.end) {
                if found < MOST_ITEMS && !self.is_trivial(doc, &words) {
                    found += usize::from(self.push(doc, next, kind, &words, &words, TITLED, out));
                }
            }
        }
    }

    fn is_goal_question(&self, doc: &AnalyzedDocument<'_>, index: usize) -> bool {
        let sentence = &doc.reading.sentences[index];
        sentence.question
            && sentence.speaker != Speaker::Patient
            && self.asks.first(doc.reading, sentence.words.clone()).is_some()
    }

    /// The answer to a question about goals, sentence by sentence.
    fn answers(&self, doc: &AnalyzedDocument<'_>, question: usize, taken: &mut [bool], out: &mut Vec<Entity>) {
        static WORDS: WordList = WordList::listed(word_lists::GENERAL, "goals.answers");
        let sentences = &doc.reading.sentences;
        let asked = &sentences[question];
        let mut answering = None;
        let mut found: Vec<(usize, Range<usize>)> = Vec::new();
        let mut last_sentence = question;
        for (next, here) in sentences.iter().enumerate().skip(question + 1).take(MOST_ANSWERS + 2) {
            let new_line = gap(doc, next).contains('\n');
            match answering {
                // In a form the answer comes after the question, in its line or below.
                None if here.turn == asked.turn && here.turn.is_some() => continue,
                None if matches!(here.speaker, Speaker::Patient | Speaker::Unknown) && !here.question => {
                    answering = Some(here.turn);
                }
                Some(turn) if here.turn == turn && !here.question && !(turn.is_none() && new_line) => {}
                _ => break,
            }
            let words = after_speaker(doc, here.words.clone());
            if found.len() >= MOST_ANSWERS || is_evasive(doc, &words) {
                break;
            }
            let joins = WORDS.contains(doc.reading.word(words.start));
            match found.last_mut().filter(|_| joins && last_sentence + 1 == next) {
                Some(last) => last.1.end = words.end,
                None => found.push((next, words)),
            }
            last_sentence = next;
        }
        for (index, words) in found {
            taken[index] = true;
            let trimmed = trim(doc, words);
            if trimmed.len() > 1 || doc.reading.word(trimmed.start).len() > 4 {
                self.push(doc, index, EntityType::Goal, &trimmed, &trimmed, ANSWERED, out);
            }
        }
    }

    /// What a person wants or refuses.
    fn stated(&self, doc: &AnalyzedDocument<'_>, index: usize, drugs: &[Entity], out: &mut Vec<Entity>) {
        let sentence = &doc.reading.sentences[index];
        // "Don't tell him where I am" asks nothing.
        let asks = sentence.speaker != Speaker::Patient || sentence.span.slice(doc.text()).contains(['?', '¿']);
        if sentence.question && asks {
            return;
        }
        let mut used: Vec<Range<usize>> = Vec::new();
        for (kind, leads) in &self.leads {
            for lead in leads.find(doc.reading, sentence.words.clone()) {
                let words = lead.words.start..clause(doc, lead.words.end, sentence.words.end);
                let object = lead.words.end..words.end;
                // To want to avoid something is a preference.
                let avoids = matches!(doc.reading.word(object.start), "avoid" | "evitar")
                    || matches!(doc.reading.word(lead.words.end - 1), "avoid" | "evitar");
                let kind = if avoids { EntityType::Preference } else { *kind };
                let overlapping = used.iter().any(|other| other.start < words.end && words.start < other.end);
                let of_drug = kind == EntityType::Preference && names_drug(doc, &words, drugs);
                if overlapping
                    || of_drug
                    || !self.is_own(doc, index, &lead)
                    || self.is_trivial(doc, &object)
                    || object.is_empty()
                {
                    continue;
                }
                if self.push(doc, index, kind, &words, &words, STATED, out) {
                    used.push(words);
                }
            }
        }
        for fact in self.facts.find(doc.reading, sentence.words.clone()) {
            let words = fact.words.start..clause(doc, fact.words.end, sentence.words.end);
            if !used.iter().any(|other| other.start < words.end && words.start < other.end)
                && self.is_own(doc, index, &fact)
            {
                self.push(doc, index, EntityType::Preference, &words, &words, STATED, out);
                used.push(words);
            }
        }
    }

    /// About the patient: no one else is the subject, and the speaker does not ask for themselves.
    fn is_own(&self, doc: &AnalyzedDocument<'_>, index: usize, lead: &PhraseMatch) -> bool {
        let sentence = &doc.reading.sentences[index];
        let from = lead.words.start.saturating_sub(SUBJECT).max(sentence.words.start);
        let subject = from..lead.words.start;
        let close = |word: &usize| self.others.at(doc.reading, *word).is_some();
        let theirs = subject.clone().any(|word| close(&word));
        let not =
            subject.clone().any(|word| matches!(doc.reading.word(word), "not" | "n't" | "never" | "you" | "your"));
        let spoken = sentence.turn.is_some() && sentence.speaker == Speaker::Clinician;
        // In a patient's speech, the third person is another person.
        let first_person = || {
            let said = from..lead.words.end;
            said.clone().any(|word| {
                matches!(doc.reading.word(word), "i" | "we" | "me" | "my" | "mi" | "quiero" | "quisiera" | "necesito")
            })
        };
        // A chat leaves the "I" away: "want to get sorted", "rather a bloke".
        let opens = lead.words.start <= sentence.words.start + 1 && !third_person(doc.reading.word(lead.words.start));
        let own = sentence.speaker != Speaker::Patient || opens || first_person();
        !theirs && !not && !spoken && own
    }

    fn is_trivial(&self, doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
        let content =
            words.clone().any(|word| doc.reading.words[word].source.len() > 2 && !doc.reading.words[word].punctuation);
        !content || self.trivial.at(doc.reading, words.start).is_some()
    }

    #[allow(clippy::too_many_arguments)] // a finding has a place, a kind, its words and how surely it was read
    fn push(
        &self,
        doc: &AnalyzedDocument<'_>,
        index: usize,
        kind: EntityType,
        words: &Range<usize>,
        shown: &Range<usize>,
        sureness: f64,
        out: &mut Vec<Entity>,
    ) -> bool {
        let words = trim(doc, words.clone());
        let Some(mut assertion) = doc.assertion(index, &words) else { return false };
        // A refusal is itself the preference, and a wish concerns the future.
        assertion.context = MentionContext { experiencer: Experiencer::Patient, ..MentionContext::default() };
        assertion.confidence = assertion.confidence.min(sureness);
        let value = doc.reading.source(&trim(doc, shown.clone())).slice(doc.text()).to_lowercase();
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(entity) = doc.entity(kind, &words, value, &assertion) else { return false };
        out.retain(|other| {
            !(matches!(other.kind, EntityType::Goal | EntityType::Preference) && other.span.overlaps(&entity.span))
        });
        out.push(entity);
        true
    }
}

/// A verb or pronoun of another person in a patient's speech.
fn third_person(word: &str) -> bool {
    matches!(word, "he" | "she" | "they" | "wants" | "hopes" | "wishes" | "likes" | "refuses" | "declines" | "prefers")
        || matches!(word, "quiere" | "desea" | "prefiere" | "rechaza" | "pide" | "solicita" | "busca" | "espera")
}

/// Without quotation marks, joining words and full stops at its ends.
fn trim(doc: &AnalyzedDocument<'_>, mut words: Range<usize>) -> Range<usize> {
    let edge = |word: usize| {
        doc.reading.words.get(word).is_none_or(|w| w.punctuation)
            || matches!(
                doc.reading.word(word),
                "y" | "and" | "n" | "e" | "just" | "pues" | "bueno" | "well" | "um" | "uh" | "oh"
            )
    };
    while words.start < words.end && edge(words.start) {
        words.start += 1;
    }
    while words.start < words.end && doc.reading.words.get(words.end - 1).is_none_or(|word| word.punctuation) {
        words.end -= 1;
    }
    words
}

fn gap<'a>(doc: &'a AnalyzedDocument<'_>, index: usize) -> &'a str {
    let before = index.checked_sub(1).map_or(0, |before| doc.reading.sentences[before].span.end);
    doc.text().get(before..doc.reading.sentences[index].span.start).unwrap_or_default()
}

/// A line that begins with a bullet or a number.
fn is_item(doc: &AnalyzedDocument<'_>, index: usize) -> bool {
    let first = doc.reading.word(doc.reading.sentences[index].words.start);
    matches!(first, "-" | "*" | "•" | "·" | "–") || first.starts_with(|c: char| c.is_ascii_digit())
}

/// A line that opens with a few words and a colon.
fn is_title(doc: &AnalyzedDocument<'_>, index: usize) -> bool {
    let words = doc.reading.sentences[index].words.clone();
    words.take(4).any(|word| doc.reading.word(word) == ":")
}

fn has_subjective(doc: &AnalyzedDocument<'_>) -> bool {
    (0..doc.reading.words.len()).any(|word| matches!(doc.reading.word(word), "subjetivo" | "subjective"))
}

/// The words of a sentence without the name of who speaks it ("Jonty: One friend.").
fn after_speaker(doc: &AnalyzedDocument<'_>, words: Range<usize>) -> Range<usize> {
    let colon = words.clone().take(6).find(|word| doc.reading.word(*word) == ":");
    colon.filter(|colon| colon + 1 < words.end).map_or(words.clone(), |colon| colon + 1..words.end)
}

/// "I don't know", "no sé": no goal is given.
fn is_evasive(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let said: Vec<&str> = words.clone().take(5).map(|word| doc.reading.word(word)).collect();
    let line = said.join(" ");
    [
        "no se",
        "nada",
        "i do n't know",
        "dunno",
        "i dunno",
        "nothing",
        "not sure",
        "ni idea",
        "idk",
        "yes",
        "si",
        "no ",
        "okay",
        "ok",
    ]
    .iter()
    .any(|evasion| line == evasion.trim() || line.starts_with(&format!("{} ", evasion.trim())))
}

/// A statement about a medicine is stored with the medicine.
fn names_drug(doc: &AnalyzedDocument<'_>, words: &Range<usize>, drugs: &[Entity]) -> bool {
    let place = doc.reading.source(words);
    drugs
        .iter()
        .any(|drug| matches!(drug.kind, EntityType::Medication | EntityType::Allergy) && place.overlaps(&drug.span))
}
