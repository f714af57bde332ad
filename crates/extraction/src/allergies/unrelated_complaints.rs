//! Complaints next to an allergy that are none of its reactions: the complaint of today ("Alérgica a la penicilina.
//! Refiere náuseas desde ayer.").

use std::ops::Range;

use super::AllergyRules;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};

/// Words before a reaction in which it is said as a complaint, and after it in which it is said since when.
const AHEAD: usize = 8;
const AFTER: usize = 6;

impl AllergyRules {
    /// Whether words that look like a reaction are a present complaint: with a verb of complaining or having, or with a
    /// day of this week. A complaint "when she takes it" is a reaction, whatever the verb.
    pub(super) fn is_complaint(&self, doc: &AnalyzedDocument<'_>, from: usize, reaction: &Range<usize>) -> bool {
        let reading = doc.reading;
        let sentence = &reading.sentences[reading.sentence_of(reaction.start)].words;
        let after = reaction.end..sentence.end.min(reaction.end + AFTER);
        if after.clone().any(|word| comes_with_it(reading.word(word))) {
            return false;
        }
        let ahead = from.max(sentence.start).max(reaction.start.saturating_sub(AHEAD))..reaction.start;
        // "(has hives)", "- has hives": after a sign it belongs to the substance.
        let signed =
            |at: usize| at > sentence.start && matches!(reading.word(at - 1), "(" | "-" | "–" | "—" | ":" | "→");
        let mentioned = |at: usize| complains(reading.word(at), reading.word(at + 1)) && !signed(at);
        let named = self.reaction_title.first(reading, ahead.clone()).is_some();
        !named && (ahead.clone().any(mentioned) || after.clone().chain(ahead).any(|at| is_of_now(doc, at)))
    }

    /// Whether a sentence after that of an allergy names a reaction to it: by a word that leads to it ("it gave me …"),
    /// by a title, or because only an allergy has this reaction.
    pub(super) fn says_so(
        &self,
        doc: &AnalyzedDocument<'_>,
        from: usize,
        reaction: &Range<usize>,
        group: &str,
    ) -> bool {
        let ahead = from.max(reaction.start.saturating_sub(AHEAD))..reaction.end;
        matches!(group, "allergic" | "itch")
            || ahead.clone().any(|word| self.effects.leads.at(doc.reading, word).is_some())
            || self.reaction_title.first(doc.reading, ahead).is_some()
    }
}

/// "When she takes it", "cada vez que la toma".
fn comes_with_it(word: &str) -> bool {
    matches!(word, "when" | "whenever" | "every" | "it" | "them" | "cuando" | "cada" | "siempre" | "ella" | "eso")
}

/// A verb of a present complaint; "have had" and "has been" too.
fn complains(word: &str, next: &str) -> bool {
    match word {
        "refiere" | "refieren" | "relata" | "comenta" | "presenta" | "acude" | "consulta" | "viene" | "ingresa"
        | "tiene" | "tengo" | "padece" | "aqueja" | "lleva" | "llevo" | "siento" | "siente" | "noto" | "nota"
        | "exploracion" | "reports" | "reporting" | "complains" | "complaining" | "c/o" | "presents" | "presenting"
        | "attends" | "admitted" | "denies" | "examination" | "exam" | "currently" | "actualmente" | "ahora"
        | "now" => true,
        "has" | "have" | "'ve" => !matches!(next, "to" | "caused" | "given" | "made" | "produced"),
        _ => false,
    }
}

/// "Desde ayer", "since Monday", "for two days", "today": not "since childhood".
fn is_of_now(doc: &AnalyzedDocument<'_>, at: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "unrelated_complaints.is_of_now");
    let word = |ahead: usize| doc.reading.word(at + ahead);
    let day = |word: &str| WORDS.contains(word);
    let span = |word: &str| {
        matches!(word, "day" | "days" | "hour" | "hours" | "week" | "weeks" | "dia" | "dias" | "hora" | "horas")
            || matches!(word, "semana" | "semanas")
    };
    match word(0) {
        "hoy" | "ayer" | "anoche" | "today" | "yesterday" | "tonight" => true,
        "since" | "desde" => {
            day(word(1)) || day(word(2)) || matches!(word(1), "this" | "last" | "esta" | "este") || {
                word(1) == "hace" && (2..5).any(|ahead| span(word(ahead)))
            }
        }
        "for" | "durante" => (1..4).any(|ahead| span(word(ahead))),
        "this" | "esta" | "este" => {
            matches!(word(1), "morning" | "afternoon" | "week" | "manana" | "tarde" | "semana" | "noche")
        }
        _ => false,
    }
}
