//! The status of a medicine by the clauses and sentences after it, where they name no other: "naltrexona 50, una
//! diaria. … La dejó él", "she never collected it", "was offered and would prefer not". Such a clause has its own verb,
//! of a person or of no one, and a pronoun or nothing as its object: "stopped smoking" and "the rash stopped" speak of
//! other things.

use std::ops::Range;

use super::later_status_words::{
    COURSES, DROPPED_EN, DROPPED_ES, HOW, LEAVES, NEVER_EN, NEVER_ES, ONCE, OPENERS, REFUSED, RESUMED_ES, TIMES,
    UNTOUCHED, is_month, is_number,
};
use super::status::DrugStatus;
use super::{MedicationRules, SentenceDrugs};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::{TextSentence, TokenizedText};
use anamnesis_text::Speaker;

/// Sentences after the medicine's own in which its fate may be said.
const SENTENCES: usize = 3;
/// How many words of a clause may come up to its verb.
const VERB: usize = 9;

/// The statement of a clause about a medicine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LaterStatus {
    status: DrugStatus,
    /// Its object is one thing: "it", "la". Without an object, or with "them", it speaks of a whole list.
    one: bool,
}

impl MedicationRules {
    /// The status that later clauses give a mention; `None` where they give none, or the known status is stated more
    /// plainly.
    pub(super) fn decided_later(
        &self,
        doc: &AnalyzedDocument<'_>,
        drugs: &[SentenceDrugs],
        (slot, nth): (usize, usize),
        known: Option<DrugStatus>,
    ) -> Option<DrugStatus> {
        let open = matches!(
            known,
            None | Some(
                DrugStatus::Active
                    | DrugStatus::Started
                    | DrugStatus::Changed
                    | DrugStatus::Suggested
                    | DrugStatus::NotAdherent
            )
        );
        let found = &drugs[slot];
        let reading = doc.reading;
        // "Cefalexin + metronidazole. Stopped 12/4": the list that ends the sentence is meant.
        let listed = found.mentions[nth..]
            .windows(2)
            .all(|pair| self.regimen.is_list(reading, pair[0].words.end..pair[1].words.start));
        let sentence = &reading.sentences[found.sentence];
        let stopped = known == Some(DrugStatus::Stopped);
        if !(open || stopped) || !listed || sentence.question {
            return None;
        }
        let last = found.mentions.last()?;
        let alone = nth + 1 == found.mentions.len();
        let mut verdict: Option<LaterStatus> = None;
        let mut ended = false;
        let until = drugs.get(slot + 1).map_or(usize::MAX, |next| next.sentence);
        let rest = last.words.end..sentence.words.end;
        let later = following(doc, found.sentence, until).map(|sentence| sentence.words.clone());
        // "Continues atenolol, digoxin stopped": the rest of the sentence concerns the last name.
        for words in std::iter::once(rest).filter(|_| alone).chain(later) {
            for clause in clauses(reading, words) {
                let said = said(reading, &clause, known).filter(|said| alone || !said.one);
                ended |= said.is_some_and(|said| said.status == DrugStatus::Stopped);
                verdict = said.or(verdict);
            }
        }
        let status = verdict?.status;
        match status {
            // A resumed medicine is as it was.
            DrugStatus::Active => (stopped && ended).then_some(status),
            _ if stopped => None,
            DrugStatus::Declined => matches!(known, None | Some(DrugStatus::Suggested)).then_some(status),
            // A medicine that was only proposed was never begun, and so does not end.
            DrugStatus::Stopped if known == Some(DrugStatus::Suggested) => None,
            status => Some(status),
        }
    }
}

/// The sentences that may go on about a medicine: of the same turn or line, and the answer of the next turn to its last words.
fn following<'a>(doc: &'a AnalyzedDocument<'_>, index: usize, until: usize) -> impl Iterator<Item = &'a TextSentence> {
    let sentences = &doc.reading.sentences;
    let here = &sentences[index];
    let mut before = here.span.end;
    let near = sentences.iter().enumerate().take(until.min(index + 1 + SENTENCES)).skip(index + 1);
    near.map_while(move |(at, next)| {
        let gap = doc.text().get(before..next.span.start)?;
        before = next.span.end;
        let same = next.turn == here.turn && next.speaker == here.speaker;
        let line = !gap.contains('\n') || here.turn.is_some() && same && !gap.contains("\n\n");
        let answers = here.turn.zip(next.turn).is_some_and(|(turn, next)| turn + 1 == next)
            && at <= index + 2
            && matches!(next.speaker, Speaker::Patient | Speaker::Family);
        (same && line || answers).then_some(next)
    })
    .filter(|next| !next.question)
}

/// The clauses of words, without signs and joining words.
fn clauses(reading: &TokenizedText<'_>, words: Range<usize>) -> Vec<Range<usize>> {
    let parts = |word: &usize| {
        reading.words[*word].punctuation
            || matches!(reading.word(*word), "and" | "but" | "so" | "y" | "e" | "pero" | "–" | "—" | "-" | "->" | "→")
    };
    let mut out = Vec::new();
    let mut start = words.start;
    for word in words.clone().filter(parts).chain([words.end]) {
        if word > start {
            out.push(start..word);
        }
        start = word + 1;
    }
    out
}

fn said(reading: &TokenizedText<'_>, clause: &Range<usize>, known: Option<DrugStatus>) -> Option<LaterStatus> {
    let word = |at: usize| if clause.contains(&at) { reading.word(at) } else { "" };
    let near = clause.start..clause.end.min(clause.start + VERB);
    let verb = near.clone().find(|at| !OPENERS.contains(word(*at)))?;
    let things = (clause.start..verb).any(|at| matches!(word(at), "it" | "that" | "this"));
    let once = clause.clone().any(|at| ONCE.contains(word(at)));
    // "He stopped it today": an end is final; only an omission is limited to one time.
    if let Some(one) = dropped(reading, clause, verb, things) {
        return Some(LaterStatus { status: DrugStatus::Stopped, one });
    }
    if once {
        return None;
    }
    // "Ordered by protocol, cancelled before given".
    if reads(reading, clause, verb, "cancelled/canceled before given/giving/administration") {
        return Some(LaterStatus { status: DrugStatus::NotTaken, one: false });
    }
    if let Some(status) = untouched(reading, clause) {
        return Some(LaterStatus { status, one: clause.clone().any(|at| matches!(word(at), "it" | "la" | "lo")) });
    }
    if is_course(reading, clause) {
        return Some(LaterStatus { status: DrugStatus::Stopped, one: true });
    }
    if resumes(reading, clause) {
        return Some(LaterStatus { status: DrugStatus::Active, one: true });
    }
    let offered = known == Some(DrugStatus::Suggested);
    let refused = REFUSED.iter().any(|phrase| {
        near.clone().any(|at| {
            let closed = phrase.ends_with('$') || reads(reading, clause, at, &format!("{phrase} $"));
            (offered || closed) && reads(reading, clause, at, phrase)
        })
    });
    // "My brother says I should try it, haven't."
    let helped = matches!(word(clause.end.wrapping_sub(2)), "have" | "has" | "did");
    let bare = offered && clause.len() <= 4 && word(clause.end - 1) == "n't" && helped;
    match (refused, bare) {
        (true, _) => Some(LaterStatus { status: DrugStatus::Declined, one: false }),
        (_, true) => Some(LaterStatus { status: DrugStatus::NotTaken, one: false }),
        _ => None,
    }
}

/// Whether the words of a phrase begin at a word of a clause; its last may end at the clause's end only where it has
/// "$".
fn reads(reading: &TokenizedText<'_>, clause: &Range<usize>, at: usize, phrase: &str) -> bool {
    let mut here = at;
    phrase.split(' ').all(|wanted| {
        let fits = match wanted {
            "$" => here >= clause.end,
            wanted => here < clause.end && wanted.split('/').any(|one| one == reading.word(here)),
        };
        here += 1;
        fits
    })
}

/// A verb of stopping whose object is a pronoun or nothing: whether that is one thing.
fn dropped(reading: &TokenizedText<'_>, clause: &Range<usize>, verb: usize, things: bool) -> Option<bool> {
    let word = |at: usize| if clause.contains(&at) { reading.word(at) } else { "" };
    let passive = verb > clause.start && matches!(word(verb - 1), "was" | "were" | "been" | "is" | "got");
    // "He was stopped by the police".
    let person = (clause.start..verb).any(|at| matches!(word(at), "i" | "he" | "she" | "we" | "pt" | "patient"));
    if passive && person {
        return None;
    }
    if DROPPED_EN.contains(&word(verb)) {
        let object = word(verb + 1);
        let month = |at: usize| is_month(word(at)) || is_number(word(at)) || matches!(word(at), "the" | "last");
        let when = match object {
            "in" | "about" | "around" | "since" => month(verb + 2),
            "on" => is_number(word(verb + 2)) || is_month(word(verb + 2)),
            _ => false,
        };
        let ends = passive || matches!(word(verb), "stopped" | "stoped" | "discontinued" | "ceased");
        let by = passive && object == "by";
        let plain = ends && (object.is_empty() || when || by || TIMES.contains(object) || is_number(object));
        return match object {
            "it" | "that" => Some(true),
            "them" | "those" => Some(false),
            "taking" if matches!(word(verb + 2), "it" | "them" | "") => Some(word(verb + 2) != "them"),
            _ if plain && (passive || !things) => Some(false),
            _ => None,
        };
    }
    // "I've it stopped", "came off it".
    if matches!(word(verb), "it" | "them") && DROPPED_EN.contains(&word(verb + 1)) {
        return Some(word(verb) == "it");
    }
    if matches!(word(verb), "came" | "come" | "went" | "weaned" | "been") && word(verb + 1) == "off" {
        let lone = word(verb + 2).is_empty() && matches!(word(verb), "came" | "come" | "weaned");
        let object = matches!(word(verb + 2), "it" | "them" | "that");
        return (lone || object).then_some(word(verb + 2) != "them");
    }
    dropped_es(reading, clause, verb)
}

/// "La dejó él", "se la quitaron", "lo llevan quitado": a pronoun before the verb. "La dejó el novio" and "lo dejo igual" are others.
fn dropped_es(reading: &TokenizedText<'_>, clause: &Range<usize>, verb: usize) -> Option<bool> {
    let word = |at: usize| if clause.contains(&at) { reading.word(at) } else { "" };
    let pronoun = (clause.start..verb).rev().take(2).find(|at| matches!(word(*at), "la" | "lo" | "las" | "los"));
    let helped = matches!(word(verb), "ha" | "he" | "han" | "habia" | "lleva" | "llevan" | "llevo");
    let main = verb + usize::from(helped);
    let form = word(main);
    let participle = helped
        && ["dejad", "quitad", "suspendid", "retirad", "abandonad", "cortad"].iter().any(|stem| form.starts_with(stem));
    if !participle && !DROPPED_ES.contains(form) {
        return None;
    }
    let (next, after) = (word(main + 1), word(main + 2));
    if form.starts_with("dej") && next == "de" {
        let lasting = matches!(word(main + 3), "" | "en" | "hace" | "por" | "al" | "desde");
        let of_taking = after == "tomar" && lasting || after.starts_with("tomarl");
        return of_taking.then_some(!matches!(after, "tomarlas" | "tomarlos"));
    }
    let accented = || reading.source(&(main + 1..main + 2)).slice(reading.text).to_lowercase() == "él";
    let subject = matches!(next, "el" | "su" | "mi" | "la") && !after.is_empty() && form.starts_with("dej");
    let left = LEAVES.contains(next)
        || next == "en" && !is_month(after) && !(after.len() == 4 && is_number(after))
        || matches!(next, "a" | "al" | "de" | "del" | "con")
            && !matches!(after, "los" | "las" | "la" | "mes" | "ano" | "mediados" | "finales" | "principios");
    if left || subject && !accented() {
        return None;
    }
    pronoun.map(|at| matches!(word(at), "la" | "lo"))
}

/// "Never collected it", "no llegó a recogerla", "haven't started", "not refilled": never begun, or no longer.
fn untouched(reading: &TokenizedText<'_>, clause: &Range<usize>) -> Option<DrugStatus> {
    let word = |at: usize| if clause.contains(&at) { reading.word(at) } else { "" };
    let near = clause.start..clause.end.min(clause.start + VERB);
    let denial = near.clone().find(|at| matches!(word(*at), "never" | "n't" | "not" | "no" | "nunca" | "tampoco"))?;
    // Only openers and helping words come before it.
    let helps = |at: usize| OPENERS.contains(word(at)) || matches!(word(at), "did" | "does" | "do" | "hay" | "se");
    if !(clause.start..denial).all(helps) {
        return None;
    }
    let small = |at: &usize| {
        !matches!(
            word(*at),
            "la" | "lo"
                | "las"
                | "los"
                | "se"
                | "me"
                | "le"
                | "ha"
                | "han"
                | "he"
                | "ever"
                | "yet"
                | "actually"
                | "even"
                | "been"
                | "really"
        )
    };
    let main = (denial + 1..clause.end.min(denial + 5)).find(small)?;
    let (form, next) = (word(main), word(main + 1));
    let object = next.is_empty()
        || matches!(next, "it" | "them" | "any" | "up" | "yet" | "that" | "for" | "x" | "because" | "after" | "from");
    if matches!(form, "llego" | "llegue" | "llegaron") && next == "a" {
        return Some(DrugStatus::NotTaken);
    }
    if UNTOUCHED.contains(&form) && object {
        return Some(DrugStatus::Stopped);
    }
    // "Does not take it with food" says how.
    let how = clause.clone().any(|at| HOW.contains(&word(at)));
    let since = clause.clone().any(|at| matches!(word(at), "desde" | "since"));
    let never_en = NEVER_EN.contains(form) && object && !how;
    let spanish = NEVER_ES.iter().any(|stem| form.starts_with(stem)) && !how;
    // "No lo tomé nunca", "nunca la compró", "no la han recogido": an object before the verb, or a deed of the past.
    let pronoun = (denial + 1..main).any(|at| matches!(word(at), "la" | "lo" | "las" | "los"));
    let status = if since { DrugStatus::Stopped } else { DrugStatus::NotTaken };
    (never_en || spanish && pronoun).then_some(status)
}

/// "Took it for three weeks", "he took one", "la tomó de enero a junio": a course that is over.
fn is_course(reading: &TokenizedText<'_>, clause: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "later_status.is_course");
    let word = |at: usize| if clause.contains(&at) { reading.word(at) } else { "" };
    if clause.clone().any(|at| COURSES.contains(&word(at))) {
        return false;
    }
    let unit = |at: usize| WORDS.contains(word(at));
    clause.clone().take(VERB).any(|at| {
        let opens = (clause.start..at).all(|before| OPENERS.contains(word(before)));
        let past = reading.source(&(at..at + 1)).slice(reading.text).to_lowercase().ends_with(['ó', 'é']);
        match word(at) {
            "took" | "had" | "did" if opens => {
                let object = at + 1 + usize::from(matches!(word(at + 1), "it" | "them"));
                let span = word(object) == "for" && (object + 1..object + 4).any(unit);
                let few =
                    word(at) == "took" && matches!(word(object), "one" | "two" | "1" | "2") && object + 1 >= clause.end;
                span || few
            }
            "tomo" | "tome" if opens => {
                let months = word(at + 1) == "de" && is_month(word(at + 2)) && is_month(word(at + 4));
                months || past && (at + 1..at + 5).any(unit) && !(at + 1..at + 5).any(|w| word(w) == "cada")
            }
            _ => false,
        }
    })
}

fn resumes(reading: &TokenizedText<'_>, clause: &Range<usize>) -> bool {
    clause.clone().any(|at| {
        RESUMED_ES.contains(&reading.word(at))
            || matches!(reading.word(at), "restarted" | "resumed")
            || reading.word(at) == "back" && reading.word(at + 1) == "on"
            || matches!(reading.word(at), "still" | "sigue" | "sigo")
                && matches!(
                    reading.word(at + 1),
                    "taking" | "takes" | "take" | "using" | "on" | "tomando" | "tomandola"
                )
    })
}

/// Whether a sentence has a separate subject or object: "the tremor stopped", "not keen on therapy".
pub(super) fn speaks_of_another(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let word = |at: usize| if words.contains(&at) { reading.word(at) } else { "" };
    let ends = |at: usize| at >= words.end || reading.words[at].punctuation;
    let first = word(words.start);
    let named = matches!(first, "the" | "his" | "her" | "my" | "their")
        && !matches!(
            word(words.start + 1),
            "tablet" | "tablets" | "dose" | "medication" | "treatment" | "injection" | "course"
        );
    let alone = (words.start + 2..words.start + 4).any(|at| word(at) == "stopped" && ends(at + 1));
    let object = words.clone().take(VERB).any(|at| {
        matches!((word(at), word(at + 1)), ("keen", "on") | ("interested", "in") | ("convinced", "by"))
            && !matches!(word(at + 2), "it" | "that" | "them" | "this" | "any" | "tablets" | "medication" | "taking")
    });
    let halted = words.clone().take(VERB).any(|at| {
        word(at) == "stopped"
            && (matches!(word(at + 1), "at" | "outside" | "for") || word(at + 1) == "on" && word(at + 2) == "the")
    });
    // "He was stopped by the police".
    let held_up = matches!(first, "i" | "he" | "she" | "we" | "they")
        && word(words.start + 1) == "was"
        && word(words.start + 2) == "stopped";
    named && alone || object || halted || held_up
}
