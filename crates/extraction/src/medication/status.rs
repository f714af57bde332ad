//! The status of a medicine: by the words before its name, after it, or in the next sentence.

use std::ops::Range;

use super::amounts::{is_handed_out, is_heap, is_small, was_of_years};
use super::{advice, factuality, until_clauses};
use crate::analysis::AnalyzedDocument;
use crate::dates::{EndTense, tense_before};
use crate::lexicon::{SPEECH, label};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(crate) const WORDS: &str = include_str!("../lexicon/medicine_words.tsv");
/// Words before a mention in which its verb is looked for.
const BEFORE: usize = 14;
/// Words after a mention in which its fate is looked for.
const AFTER: usize = 36;
/// Small words between "instead of" and the name.
const ADJACENT: usize = 8;

/// An act with a medicine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrugStatus {
    Active,
    /// The statement is that it is not stopped.
    Continued,
    Started,
    Changed,
    OnHold,
    Stopped,
    NotTaken,
    NotAdherent,
    Suggested,
    Declined,
    /// Another medicine was chosen, or it was swallowed as a poison: no medicine of the patient.
    NotMeant,
}

impl DrugStatus {
    /// The word that a finding carries.
    pub(crate) fn code(self) -> Option<&'static str> {
        Some(match self {
            Self::Active | Self::Continued => "active",
            Self::Started => "started",
            Self::Changed => "changed",
            Self::OnHold => "on_hold",
            Self::Stopped => "stopped",
            Self::NotTaken => "not_taken",
            Self::NotAdherent => "not_adherent",
            Self::Suggested => "suggested",
            Self::Declined => "declined",
            Self::NotMeant => return None,
        })
    }
}

/// The stretches around a mention that speak of it.
#[derive(Clone)]
pub(crate) struct StatusWindow {
    /// From the clause's beginning, or the medicine before, to its name.
    pub(crate) before: Range<usize>,
    /// From its name to the medicine after, or the sentence's end.
    pub(crate) after: Range<usize>,
    /// The whole sentence.
    pub(crate) sentence: Range<usize>,
}

pub(crate) struct StatusRules {
    before: Vec<(DrugStatus, PhraseMatcher)>,
    after: Vec<(DrugStatus, PhraseMatcher)>,
    answer: Vec<(DrugStatus, PhraseMatcher)>,
    switch: PhraseMatcher,
    not_meant: PhraseMatcher,
}

impl StatusRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let words = |trie: &mut TrieBuilder, name| label(trie, WORDS, name);
        let mut before = vec![
            (DrugStatus::Stopped, words(trie, "before_stopped")),
            (DrugStatus::NotTaken, words(trie, "before_never")),
            (DrugStatus::Declined, words(trie, "before_declined")),
            (DrugStatus::Suggested, words(trie, "before_suggested")),
            (DrugStatus::OnHold, words(trie, "before_hold")),
            (DrugStatus::Changed, words(trie, "before_changed")),
            (DrugStatus::Started, words(trie, "before_started")),
        ];
        let after = vec![
            (DrugStatus::NotTaken, label(trie, SPEECH, "not_taken")),
            (DrugStatus::Stopped, words(trie, "after_stopped")),
            (DrugStatus::NotTaken, words(trie, "after_never")),
            (DrugStatus::Declined, words(trie, "after_declined")),
            (DrugStatus::Suggested, words(trie, "after_suggested")),
            (DrugStatus::OnHold, words(trie, "after_hold")),
            (DrugStatus::Changed, words(trie, "after_changed")),
            (DrugStatus::Active, words(trie, "after_active")),
            (DrugStatus::NotAdherent, words(trie, "after_lapsed")),
        ];
        let answer = vec![
            (DrugStatus::NotTaken, words(trie, "answer_never")),
            (DrugStatus::Declined, words(trie, "answer_declined")),
            (DrugStatus::Stopped, words(trie, "answer_stopped")),
            (DrugStatus::Active, words(trie, "answer_active")),
        ];
        let (switch, not_meant) = (words(trie, "switch"), words(trie, "before_not"));
        for (status, name) in [
            (DrugStatus::Stopped, "stopped"),
            (DrugStatus::Stopped, "past_use"),
            (DrugStatus::NotAdherent, "not_adherent"),
            (DrugStatus::Changed, "changed"),
            (DrugStatus::Started, "started"),
            (DrugStatus::Suggested, "suggested"),
            (DrugStatus::Active, "taking"),
        ] {
            before.push((status, label(trie, SPEECH, name)));
        }
        Self { before, after, answer, switch, not_meant }
    }

    /// What the words around a mention say. `linked`: only words of a list come between the medicine before and this
    /// one, so that a statement about that one holds for both.
    pub(crate) fn detect(
        &self,
        doc: &AnalyzedDocument<'_>,
        mention: &Range<usize>,
        around: &StatusWindow,
        linked: bool,
    ) -> Option<DrugStatus> {
        let reading = doc.reading;
        if self.is_not_meant(reading, mention, &around.sentence) || is_heap(reading, mention) {
            return Some(DrugStatus::NotMeant);
        }
        if advice::is_denied_at_once(reading, mention, &around.sentence) {
            return Some(DrugStatus::NotTaken);
        }
        if let Some(remark) = super::tags::remark(reading, around.after.clone()) {
            return Some(remark);
        }
        let tense = tense_before(doc, around.before.start..mention.start);
        let next = (around.after.end < around.sentence.end).then_some(around.after.end);
        let after = self.last_status_after(doc, around.after.clone(), tense, next);
        let kept = is_handed_out(reading, around.after.clone());
        let after = after.filter(|(_, status)| !(kept && *status == DrugStatus::Stopped));
        if let Some((_, status)) = after
            .filter(|(_, status)| !matches!(status, DrugStatus::Active | DrugStatus::Changed | DrugStatus::NotAdherent))
        {
            return Some(status);
        }
        if after.is_none() && was_of_years(reading, around.after.clone()) {
            return Some(DrugStatus::Stopped);
        }
        let start = if linked { around.sentence.start } else { around.before.start };
        let before = self.ahead(reading, start.max(mention.start.saturating_sub(BEFORE))..mention.start, mention);
        let before = match before {
            Some(DrugStatus::Started | DrugStatus::Changed | DrugStatus::Active)
                if self.is_proposed(reading, around, mention) =>
            {
                Some(DrugStatus::Suggested)
            }
            before => before,
        };
        // "Increased to", "still takes it": said after the name, unless it was only proposed before.
        match (before, after) {
            (Some(DrugStatus::Suggested), _) | (_, None) => before,
            (_, Some((_, status))) => Some(status),
        }
    }

    /// The verb nearest before the name within its clause; of two that end together, the longer.
    fn ahead(&self, reading: &TokenizedText<'_>, within: Range<usize>, mention: &Range<usize>) -> Option<DrugStatus> {
        let mut best: Option<(usize, usize, DrugStatus)> = None;
        let mut clause = within.start;
        for word in within.clone() {
            if matches!(reading.word(word), ";" | "but" | "pero" | "." | "aunque" | "although" | ")") {
                best = None;
                clause = word + 1;
                continue;
            }
            for (status, verbs) in &self.before {
                let Some(hit) = verbs.at(reading, word).filter(|hit| hit.words.end <= within.end) else { continue };
                // "NPH (suspended), metformin": the bracket belongs to the name before it.
                let of_previous = *status == DrugStatus::Stopped && matches!(reading.word(hit.words.end), "," | ")");
                let better = best
                    .is_none_or(|(end, len, _)| hit.words.end > end || (hit.words.end == end && hit.words.len() > len));
                if better && !of_previous {
                    let status = denied_or_ended(reading, &hit.words, *status);
                    let meant = factuality::before(reading, clause, &hit.words, mention, status);
                    best = meant.map_or(best, |meant| Some((hit.words.end, hit.words.len(), meant)));
                }
            }
        }
        best.map(|(_, _, status)| status)
    }

    /// The statuses of both medicines of an exchange; nothing has changed yet where it is only considered.
    pub(crate) fn exchanged(
        &self,
        reading: &TokenizedText<'_>,
        first: &Range<usize>,
        second: &Range<usize>,
        from: usize,
    ) -> Option<(DrugStatus, DrugStatus)> {
        if !self.swaps(reading, first, second, from) {
            return None;
        }
        let (old, new) = if factuality::is_denied_exchange(reading, from, first.start) {
            (DrugStatus::Continued, DrugStatus::NotTaken)
        } else if factuality::is_open_exchange(reading, from, first.start) {
            (DrugStatus::Continued, DrugStatus::Suggested)
        } else {
            (DrugStatus::Stopped, DrugStatus::Started)
        };
        Some(if factuality::names_new_first(reading, from, first, second.start) { (new, old) } else { (old, new) })
    }

    /// "Me cambiaron X por Y", "swapped X for Y": two medicines, of which the second takes the place of the first.
    fn swaps(&self, reading: &TokenizedText<'_>, first: &Range<usize>, second: &Range<usize>, from: usize) -> bool {
        // "Pasar de A a B": passing from one to another.
        let passes = |word: usize| reading.word(word).starts_with("pas") && reading.word(word + 1) == "de";
        let verb = (from.max(first.start.saturating_sub(6))..first.start)
            .any(|word| factuality::is_exchange_verb(reading.word(word)) || passes(word));
        let between = first.end..second.start;
        let link =
            between.clone().any(|word| matches!(reading.word(word), "por" | "for" | "to" | "with" | "a" | "onto"));
        verb && link
            && between.len() <= ADJACENT
            && between.clone().all(|word| {
                is_small(reading.word(word))
                    || matches!(reading.word(word), "for" | "to" | "onto" | "a" | "mg" | "over")
            })
    }

    /// "(Was Levemir 10)", ", antes citalopram": named only as a former medicine.
    pub(crate) fn was_before(&self, reading: &TokenizedText<'_>, mention: &Range<usize>, from: usize) -> bool {
        let word =
            |back: usize| mention.start.checked_sub(back).filter(|at| *at >= from).map_or("", |at| reading.word(at));
        let former = matches!(word(1), "was" | "antes" | "previously" | "formerly" | "were" | "previo" | "ex" | "era");
        former && matches!(word(2), "(" | "," | "-" | "–" | "—" | ":" | "[")
    }

    /// "I propose to restart X and add Y": a verb in its base form, after a proposal in the same sentence.
    fn is_proposed(&self, reading: &TokenizedText<'_>, around: &StatusWindow, mention: &Range<usize>) -> bool {
        let base = (around.sentence.start..mention.start).rev().take(BEFORE).any(|word| {
            matches!(
                reading.word(word),
                "start"
                    | "add"
                    | "begin"
                    | "restart"
                    | "commence"
                    | "try"
                    | "increase"
                    | "agregar"
                    | "iniciar"
                    | "reiniciar"
                    | "anadir"
                    | "poner"
                    | "empezar"
                    | "subir"
                    | "sumar"
                    | "dar"
                    | "pauta"
            )
        });
        let proposal = |word: usize| {
            matches!(
                reading.word(word),
                "propongo"
                    | "propone"
                    | "proponemos"
                    | "propose"
                    | "proposed"
                    | "propuesta"
                    | "ofrezco"
                    | "offer"
                    | "offered"
                    | "could"
                    | "podriamos"
                    | "podemos"
                    | "consider"
                    | "suggest"
                    | "suggested"
                    | "if"
            )
        };
        base && (around.sentence.start..mention.start).any(proposal)
    }

    /// The last statement about it after its name, up to the next medicine: where it ends, and what. `tense`: how a
    /// verb before the name speaks of it, since "until" ends nothing that is being taken. `next`: where the next
    /// medicine is.
    fn last_status_after(
        &self,
        doc: &AnalyzedDocument<'_>,
        within: Range<usize>,
        tense: Option<EndTense>,
        next: Option<usize>,
    ) -> Option<(usize, DrugStatus)> {
        let reading = doc.reading;
        let limit = within.end.min(within.start + AFTER);
        let mut last: Option<(usize, DrugStatus)> = None;
        let mut word = within.start;
        while word < limit {
            // "Stopped last week as planned": the plan has been carried out.
            if let Some(end) = said_as_agreed(reading, word) {
                word = end;
                continue;
            }
            // "Since a year ago" is still so; "a year ago" is not.
            if matches!(reading.word(word), "desde" | "since") {
                word += 3;
                continue;
            }
            if until_clauses::is_until(reading.word(word))
                && let Some(ended) = until_clauses::ended(doc, word, within.end, tense)
            {
                last = ended.then_some((word + 1, DrugStatus::Stopped)).or(last);
                let sign = (word + 1..limit).find(|at| reading.words[*at].punctuation);
                word = sign.unwrap_or(limit);
                continue;
            }
            let longest = self
                .after
                .iter()
                .filter_map(|(status, words)| words.at(reading, word).map(|hit| (hit.words, *status)))
                .filter(|(hit, _)| hit.end <= within.end)
                .max_by_key(|(hit, _)| hit.end)
                .filter(|(hit, _)| {
                    !factuality::is_noun(reading, hit)
                        && !next.is_some_and(|next| factuality::is_of_next(reading, within.start, hit, next))
                });
            match longest {
                Some((hit, status)) => {
                    // A refusal outweighs the offer before it.
                    last = Some((hit.end, factuality::factual_status_after(reading, within.start, &hit, status)));
                    word = hit.end;
                }
                None => word += 1,
            }
        }
        last
    }

    /// "Instead of tramadol", "overdose of paracetamol": only small words and numbers between.
    fn is_not_meant(&self, reading: &TokenizedText<'_>, mention: &Range<usize>, sentence: &Range<usize>) -> bool {
        let start = mention.start.saturating_sub(ADJACENT).max(sentence.start);
        (start..mention.start).any(|word| {
            self.not_meant.at(reading, word).is_some_and(|hit| {
                hit.words.end <= mention.start && (hit.words.end..mention.start).all(|w| is_small(reading.word(w)))
            })
        })
    }

    /// "They bumped it to sixty": the word of the new dose.
    pub(crate) fn changed_to(&self, reading: &TokenizedText<'_>, words: Range<usize>) -> Option<usize> {
        let (_, changed) = self.after.iter().find(|(status, _)| *status == DrugStatus::Changed)?;
        words.clone().filter_map(|word| changed.at(reading, word)).map(|hit| hit.words.end).find(|end| *end < words.end)
    }

    /// Whether the words before a mention say that it takes the place of the one before: "switched to", "se cambia por".
    pub(crate) fn takes_over(&self, reading: &TokenizedText<'_>, between: Range<usize>) -> bool {
        let near = between.end.saturating_sub(ADJACENT).max(between.start);
        (near..between.end).any(|word| {
            self.switch.at(reading, word).is_some_and(|hit| {
                hit.words.end <= between.end && (hit.words.end..between.end).all(|w| is_small(reading.word(w)))
            })
        })
    }

    /// The status by an answer that does not name the medicine: "Haven't touched it since May", "la dejé".
    pub(crate) fn answered(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Option<DrugStatus> {
        let mut best: Option<(usize, usize, DrugStatus)> = None;
        for word in within.clone() {
            for (status, words) in &self.answer {
                let Some(hit) = words.at(reading, word).filter(|hit| hit.words.end <= within.end) else { continue };
                // The first statement answers; of two phrases that begin together, the longer one.
                let better = best.is_none_or(|(start, len, known)| {
                    hit.words.start == start && hit.words.len() > len
                        || known == DrugStatus::Active && *status != DrugStatus::Active
                });
                if better {
                    let status = factuality::factual_status_after(reading, within.start, &hit.words, *status);
                    best = Some((hit.words.start, hit.words.len(), status));
                }
            }
        }
        best.map(|(_, _, status)| status)
    }

    /// A sentence that goes on about the medicine of the one before: it begins with its status.
    pub(crate) fn goes_on(&self, reading: &TokenizedText<'_>, words: Range<usize>) -> Option<DrugStatus> {
        let opening = words.start..words.end.min(words.start + 5);
        let at = |rules: &[(DrugStatus, PhraseMatcher)]| {
            opening.clone().find_map(|word| {
                let hits =
                    rules.iter().filter_map(|(status, words)| words.at(reading, word).map(|hit| (hit.words, *status)));
                let longest = hits.max_by_key(|(hit, _)| hit.len());
                longest.map(|(hit, status)| factuality::factual_status_after(reading, words.start, &hit, status))
            })
        };
        let status = at(&self.answer).or_else(|| at(&self.after))?;
        // "I quit the other one": of something that is named there.
        let named = opening.clone().any(|word| {
            matches!(reading.word(word), "quit" | "stopped" | "dropped" | "deje" | "dejo" | "suspendi" | "stop")
                && matches!(
                    reading.word(word + 1),
                    "the" | "my" | "smoking" | "drinking" | "el" | "mi" | "un" | "work" | "de"
                )
                && !matches!(reading.word(word + 2), "tomarla" | "tomarlo" | "tomarlas" | "tomarlos" | "tomar")
        });
        if named || super::later_status::speaks_of_another(reading, &words) {
            return None;
        }
        (!matches!(status, DrugStatus::Active | DrugStatus::Changed | DrugStatus::Suggested)).then_some(status)
    }
}

/// "As planned", "según lo previsto": where such words end that begin here.
fn said_as_agreed(reading: &TokenizedText<'_>, word: usize) -> Option<usize> {
    let at = |by: usize| reading.word(word + by);
    let agreed = |said: &str| {
        matches!(said, "planned" | "agreed" | "scheduled" | "discussed" | "advised" | "instructed" | "recommended")
            || ["previst", "acordad", "planead", "planificad", "programad", "pactad", "indicad", "hablad"]
                .iter()
                .any(|stem| said.starts_with(stem))
    };
    match (at(0), at(1)) {
        ("as", said) | ("segun", said) if agreed(said) => Some(word + 2),
        ("as", "was" | "we" | "had") | ("segun" | "como", "lo" | "se" | "estaba" | "habiamos" | "quedamos") => {
            (2..4).find(|by| agreed(at(*by))).map(|by| word + by + 1)
        }
        _ => None,
    }
}

/// "Does not take", "no toma" denies; "no longer takes", "ya no toma" ends.
fn denied_or_ended(reading: &TokenizedText<'_>, hit: &Range<usize>, status: DrugStatus) -> DrugStatus {
    let denies = matches!(reading.word(hit.start), "no" | "not" | "n't" | "do" | "does" | "never" | "nunca")
        && !hit.clone().any(|word| matches!(reading.word(word), "longer" | "ya" | "more" | "anymore"));
    let ended = hit.start > 0 && matches!(reading.word(hit.start - 1), "ya");
    if status == DrugStatus::Stopped && denies && !ended { DrugStatus::NotTaken } else { status }
}
