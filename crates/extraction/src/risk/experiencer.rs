//! Whose risk it is. A patient speaks of themselves and of others in one breath ("my son told me he wants to die"), and
//! Spanish drops the pronoun that would distinguish them: the last subject named before the words of risk decides.

use std::ops::Range;

use super::family_history::only_dates_the_wish;
use super::{RiskPhrase, is_about_acts};
use crate::analysis::AnalyzedDocument;
use crate::lexicon::{SPEECH, label};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;
use crate::{Experiencer, RiskClass};
use anamnesis_core::document::DocumentType;
use anamnesis_text::Speaker;

pub(crate) struct RiskExperiencerRules {
    fiction: PhraseMatcher,
    others: PhraseMatcher,
    speaker: PhraseMatcher,
    telling: PhraseMatcher,
    informs: PhraseMatcher,
    third: PhraseMatcher,
    proxy: PhraseMatcher,
    near_others: PhraseMatcher,
    leaflet: PhraseMatcher,
    leaflet_if: PhraseMatcher,
    leaflet_call: PhraseMatcher,
    spoken_of: PhraseMatcher,
}

impl RiskExperiencerRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut list = |name| label(trie, SPEECH, name);
        Self {
            fiction: list("fiction"),
            others: list("other_person"),
            speaker: list("speaker"),
            telling: list("telling"),
            informs: list("informs"),
            third: list("third_person"),
            proxy: list("proxy"),
            near_others: list("near_other"),
            leaflet: list("leaflet"),
            leaflet_if: list("leaflet_if"),
            leaflet_call: list("leaflet_call"),
            spoken_of: list("spoken_of"),
        }
    }

    /// A film's and a friend's risk is not the patient's.
    pub(crate) fn detect(
        &self,
        doc: &AnalyzedDocument<'_>,
        sentence: &Range<usize>,
        found: &RiskPhrase,
    ) -> Experiencer {
        let reading = doc.reading;
        // "My husband told me he wanted …": neither "my" nor "me" makes it the speaker's.
        let stated = |at: usize| {
            self.telling.at(reading, at).is_some()
                || at.checked_sub(1).is_some_and(|before| self.telling.at(reading, before).is_some())
        };
        // "Su hijo le dijo que quería matarse": "quería" is of either person.
        let to_patient = (sentence.start..found.words.start).any(|at| {
            matches!((reading.word(at), reading.word(at + 1)), ("le" | "les", "dijo" | "ha" | "conto" | "confeso"))
        });
        let either = |at: usize| to_patient && reading.word(at) == "queria";
        let own =
            |at: usize| is_own(reading, at) && self.others.at(reading, at).is_none() && !stated(at) && !either(at);
        if found.own && found.words.clone().any(own) {
            return Experiencer::Patient;
        }
        if is_found_by(reading, sentence, found) {
            return Experiencer::Patient;
        }
        if is_of_child(reading, sentence, found) {
            return Experiencer::Family;
        }
        let before = sentence.start..found.words.start;
        // "Rang the helpline, overdosed after" reports an act and teaches nothing; "self-harm" by its name may teach.
        let done = is_about_acts(found.class) && (found.own || found.class != RiskClass::SelfHarm);
        let taught = !done && self.teaches(reading, sentence);
        if taught || self.fiction.first(reading, before.clone()).is_some() {
            return Experiencer::Other;
        }
        if let Some(other) = self.right_before(reading, before).filter(|_| !is_done_by_another(reading, found)) {
            return relation(reading, &other);
        }
        // "He held a knife to his sister, that's why I brought him in": the subject is the patient.
        if self.proxy.first(reading, sentence.clone()).is_some() {
            return Experiencer::Patient;
        }
        // A relative may be inside the words: "my cousin keeps saying he's going to kill …". The person inside words of
        // abuse threatens and does not suffer it.
        let inside = found.class != RiskClass::Abuse || !found.sure;
        let ahead = sentence.start..if inside { found.core.start.max(found.words.start) } else { found.words.start };
        if let Some(other) = self.subject(reading, ahead).filter(|other| !only_dates_the_wish(reading, other, found)) {
            // "My boss is vile, gonna kill him": the other person is the target, unless the verb is theirs.
            let apart = (other.end..found.core.start).any(|word| is_clause_break(reading, word));
            let acts = || !apart || (other.end..found.words.end).any(|word| self.third.at(reading, word).is_some());
            if found.class != RiskClass::HarmToOthers || !found.own || acts() {
                return relation(reading, &other);
            }
        }
        // "Mum says she tried to hang herself", written by a patient: hers.
        if is_said_by_patient(doc, sentence.start) && self.kin_says(doc, sentence.start..found.words.start, false) {
            return Experiencer::Family;
        }
        // "The time I slit my wrists my roommate found me": the act is the speaker's, although another person follows.
        let begins_own = found.words.start > sentence.start && reading.word(found.words.start - 1) == "i";
        if (begins_own || reading.word(found.words.start) == "i") && is_said_first(reading, sentence, found) {
            return Experiencer::Patient;
        }
        if found.own || found.nearby || matches!(found.class, RiskClass::HarmToOthers | RiskClass::Abuse) {
            return Experiencer::Patient;
        }
        match said_of(doc, found) {
            Experiencer::Family if self.kin_informs(doc, sentence.start..found.words.start) => Experiencer::Patient,
            whose => whose,
        }
    }

    /// "Mother reports she tried to hang herself", in a note: the relative informs about the patient. "My mother says
    /// she …", and "Mum says she …" of a patient who speaks, speak of the relative.
    fn kin_informs(&self, doc: &AnalyzedDocument<'_>, before: Range<usize>) -> bool {
        !is_said_by_patient(doc, before.start) && self.kin_says(doc, before, true)
    }

    /// Whether a relative says what follows of a third person; a speaker's relative only where it is asked.
    fn kin_says(&self, doc: &AnalyzedDocument<'_>, before: Range<usize>, unowned: bool) -> bool {
        let reading = doc.reading;
        let owned = |word: usize| {
            word > before.start && matches!(reading.word(word - 1), "my" | "our" | "mi" | "mis" | "nuestra" | "nuestro")
        };
        let informs = |word: usize| {
            let Some(hit) = self.informs.at(reading, word) else { return false };
            let after = hit.words.end + usize::from(matches!(reading.word(hit.words.end), "that" | "que"));
            let means = after == before.end
                || matches!(reading.word(after), "he" | "she" | "they" | "pt" | "patient" | "client" | "ella" | "el");
            let kin = word.checked_sub(1).filter(|kin| *kin >= before.start);
            means
                && kin.is_some_and(|kin| {
                    relation(reading, &(kin..word)) == Experiencer::Family && !(unowned && owned(kin))
                })
        };
        before.clone().any(informs)
    }

    /// "If you are thinking about suicide, ring this line", "the leaflet explains self-harm": general advice.
    fn teaches(&self, reading: &TokenizedText<'_>, sentence: &Range<usize>) -> bool {
        let stands = |list: &PhraseMatcher| list.first(reading, sentence.clone()).is_some();
        let says = stands(&self.leaflet) || (stands(&self.leaflet_if) && stands(&self.leaflet_call));
        says && !stands(&self.spoken_of)
    }

    /// "Mother overdosed twice", "people who want to die": someone whom the words of risk follow at once.
    fn right_before(&self, reading: &TokenizedText<'_>, before: Range<usize>) -> Option<Range<usize>> {
        let helps =
            |word: &str| matches!(word, "also" | "has" | "had" | "twice" | "with" | "con" | "tuvo" | "who" | "once");
        let (start, mut end) = (before.start, before.end);
        while end > start && helps(reading.word(end - 1)) {
            end -= 1;
        }
        let from = start.max(end.saturating_sub(LONGEST_NAMED));
        (from..end).find_map(|word| {
            let named = self.near_others.at(reading, word).filter(|named| named.words.end >= end)?;
            // "My mother overdosed": the lists of others know her.
            let bare = word == start || reading.words[word - 1].punctuation || is_conjunction(reading.word(word - 1));
            let kin = relation(reading, &named.words) == Experiencer::Family;
            let who = matches!(reading.word(named.words.end - 1), "who" | "que" | "have" | "are" | "'ve");
            let subject = word > start && (who || !is_preposition(reading.word(word - 1)));
            (bare || (!kin && subject)).then_some(named.words)
        })
    }

    /// Another person whom the words before name as their last subject.
    fn subject(&self, reading: &TokenizedText<'_>, ahead: Range<usize>) -> Option<Range<usize>> {
        let mut subject: Option<Range<usize>> = None;
        let mut word = ahead.start;
        while word < ahead.end {
            let governed = word > ahead.start && is_preposition(reading.word(word - 1));
            if let Some(other) = self.others.at(reading, word).filter(|_| !governed) {
                word = other.words.end;
                subject = Some(other.words);
            } else if let Some(stated) = self.telling.at(reading, word) {
                word = stated.words.end;
            } else if self.speaker.at(reading, word).is_some() || self.informs_of_patient(reading, word, &subject) {
                subject = None;
                word += 1;
            } else {
                word += 1;
            }
        }
        subject
    }

    /// "Su hermana refiere que …", "Pt's husband says …", in a note: the relative informs and the patient is spoken of.
    fn informs_of_patient(&self, reading: &TokenizedText<'_>, word: usize, subject: &Option<Range<usize>>) -> bool {
        let theirs = |other: &Range<usize>| {
            matches!(
                reading.word(other.start),
                "his"
                    | "her"
                    | "their"
                    | "the"
                    | "su"
                    | "sus"
                    | "el"
                    | "la"
                    | "los"
                    | "las"
                    | "patient"
                    | "pt"
                    | "client"
                    | "resident"
                    | "service"
            )
        };
        // "Su hijo le dijo que quería matarse": it was said to the patient.
        let to_patient = word > 0 && matches!(reading.word(word - 1), "le" | "les");
        subject.as_ref().is_some_and(theirs) && self.informs.at(reading, word).is_some() && !to_patient
    }
}

/// Whether the patient says a sentence. A message is the patient's own, whether or not it says who writes.
pub(super) fn is_said_by_patient(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let sentence = doc.reading.sentences.get(doc.reading.sentence_of(word));
    doc.input.document_type == Some(DocumentType::ChatMessage)
        || sentence.is_some_and(|sentence| sentence.speaker == Speaker::Patient)
}

/// The experiencer by the context. "Attempt after the birth of her son" is hers: a relative after the words counts only
/// where a preposition joins it to them.
fn said_of(doc: &AnalyzedDocument<'_>, found: &RiskPhrase) -> Experiencer {
    let reading = doc.reading;
    let near = reading.source(&(found.words.end..found.words.end + NEAR)).end.max(reading.source(&found.words).end);
    let names = ["family", "other"];
    let cues = doc.scopes.cues(reading, &found.core);
    let reaches = cues.iter().any(|(says, place)| names.contains(says) && place.start <= near);
    match doc.scopes.mention_context(reading, &found.core).experiencer {
        Experiencer::Patient => Experiencer::Patient,
        _ if !reaches => Experiencer::Patient,
        someone => someone,
    }
}

/// "Encontrado ahorcado por su padre": the finder is not the victim.
fn is_found_by(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    let word = |at: usize| reading.word(at);
    let finds = |word: &str| {
        ["encontrad", "hallad", "descolgad", "rescatad"].iter().any(|stem| word.starts_with(stem)) || word == "found"
    };
    let by = (found.core.start..found.words.end + 2).find(|at| matches!(word(*at), "por" | "by"));
    by.is_some_and(|by| (by + 1..by + 4).any(|at| is_relative(word(at))))
        && (sentence.start.max(found.words.start.saturating_sub(4))..found.words.end).any(|at| finds(word(at)))
}

/// "Mother of a 19-year-old who took an overdose": the child's.
fn is_of_child(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    let word = |at: usize| reading.word(at);
    let parent = |at: usize| {
        is_relative(word(at)) && matches!((word(at + 1), word(at + 2)), ("of" | "de", "a" | "an" | "un" | "una"))
    };
    let Some(parent) = (sentence.start..found.words.start).find(|at| parent(*at)) else { return false };
    (parent + 3..=found.words.start).rev().take(4).any(|at| matches!(word(at), "who" | "que" | "that" | "quien"))
}

const LONGEST_NAMED: usize = 8;

/// How many words after words of risk their owner may be named: "attempt of her brother".
const NEAR: usize = 3;

/// A relative's attempt is part of the family's history; another person's attempt is not.
fn relation(reading: &TokenizedText<'_>, person: &Range<usize>) -> Experiencer {
    let kin =
        |word: usize| KIN.iter().any(|stem| reading.word(word).strip_prefix(stem).is_some_and(|end| end.len() <= 3));
    if person.clone().any(kin) { Experiencer::Family } else { Experiencer::Other }
}

/// "Padre de mano larga": a person right before active words of abuse does it; a person who "was beaten" suffers it.
fn is_done_by_another(reading: &TokenizedText<'_>, found: &RiskPhrase) -> bool {
    let suffers = |word: &str| {
        matches!(
            word,
            "was" | "were" | "been" | "being" | "got" | "gets" | "is" | "fue" | "era" | "ha" | "victim" | "victima"
        )
    };
    found.class == RiskClass::Abuse && !suffers(reading.word(found.words.start)) && found.sure
}

/// Whether a speaker says something of themselves: "I" is not quoted from someone who is named before.
fn is_said_first(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    !(sentence.start..found.words.start).any(|word| matches!(reading.word(word), "said" | "says" | "told" | "texted"))
}

/// Whether words name a relative, or another person who is close: whole words alone, for they are looked for in whole clauses.
pub(super) fn is_kin(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| is_relative(reading.word(word)))
}

pub(super) fn is_relative(word: &str) -> bool {
    let plain = word.strip_suffix('s').unwrap_or(word);
    RELATIVES.contains(&word) || RELATIVES.contains(&plain)
}

const RELATIVES: &[&str] = &[
    "mother",
    "father",
    "mom",
    "mum",
    "mam",
    "dad",
    "brother",
    "sister",
    "uncle",
    "aunt",
    "auntie",
    "cousin",
    "son",
    "daughter",
    "grandmother",
    "grandfather",
    "grandma",
    "grandpa",
    "nana",
    "nan",
    "nephew",
    "niece",
    "twin",
    "husband",
    "wife",
    "madre",
    "padre",
    "mama",
    "papa",
    "hermano",
    "hermana",
    "hermanito",
    "hermanita",
    "tio",
    "tia",
    "primo",
    "prima",
    "hijo",
    "hija",
    "abuelo",
    "abuela",
    "nieto",
    "nieta",
    "sobrino",
    "sobrina",
    "marido",
    "esposo",
    "esposa",
    "bisabuelo",
    "bisabuela",
    "carnal",
    "grandson",
    "granddaughter",
    "stepfather",
    "stepmother",
    "padrastro",
    "madrastra",
];

/// How words for relatives begin, in both languages; at most three letters may follow ("hermanas", "uncles").
const KIN: &[&str] = &[
    "mother",
    "father",
    "mom",
    "mum",
    "dad",
    "brother",
    "sister",
    "uncle",
    "aunt",
    "cousin",
    "son",
    "daughter",
    "grandm",
    "grandf",
    "grandmother",
    "grandfather",
    "grandpa",
    "grandson",
    "granddaughter",
    "nephew",
    "niece",
    "twin",
    "madre",
    "padre",
    "mama",
    "papa",
    "herman",
    "ti",
    "prim",
    "hij",
    "abuel",
    "bisabuel",
    "niet",
    "sobrin",
    "nan",
    "gran",
];

fn is_clause_break(reading: &TokenizedText<'_>, word: usize) -> bool {
    let sign = reading.words.get(word).is_some_and(|word| word.punctuation);
    sign || matches!(reading.word(word), "and" | "so" | "but" | "y" | "pero" | "asi" | "is" | "es")
}

fn is_conjunction(word: &str) -> bool {
    matches!(word, "and" | "y" | "or" | "o")
}

/// Prepositions make the person who follows an object: "con su hermana".
fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "con" | "with" | "a" | "to" | "de" | "of" | "by" | "por" | "segun" | "from" | "told" | "at" | "for" | "para"
    )
}

/// Words that a speaker uses only of themselves; "matarme" and "herself" are distinguished.
fn is_own(reading: &TokenizedText<'_>, at: usize) -> bool {
    let word = reading.word(at);
    let participle = |word: &str| ["ado", "ido", "cho", "sto", "rto"].iter().any(|end| word.ends_with(end));
    matches!(
        word,
        "i" | "me" | "my" | "myself" | "mi" | "mis" | "yo" | "conmigo" | "kms" | "us" | "nos" | "nosotros" | "nosotras"
    ) || (word.len() > 4
        && word.ends_with("me")
        && !matches!(word, "time" | "some" | "come" | "home" | "same" | "name" | "blame"))
        || matches!(
            word,
            "quiero"
                | "tengo"
                | "pienso"
                | "voy"
                | "queria"
                | "quisiera"
                | "guardo"
                | "intente"
                | "compre"
                | "estoy"
        )
        // "He" is a Spanish auxiliary and an English pronoun.
        || (word == "he" && participle(reading.word(at + 1)))
}
