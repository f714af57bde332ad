//! Abbreviations that mean an illness only in certain places: in capitals, in one language, next to other illnesses or
//! after a word that announces one. "HAS" is hypertension in a Spanish note and a verb in an English one; "thyroid" is
//! an illness in "no thyroid, no diabetes" and an organ elsewhere.

use std::ops::Range;

use super::NamedCondition;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::{PhraseMatch, PhraseMatcher};
use crate::phrase_trie::TrieBuilder;
use crate::structure::Section;
use crate::tokenized::TokenizedText;
use anamnesis_text::Language;

pub(super) const FILE: &str = include_str!("../lexicon/abbreviations.tsv");
/// Words between two items of a list.
const LONGEST_STEP: usize = 5;
/// Letters of a line of capitals that still may be a list of abbreviations.
const LONGEST_SHOUT: usize = 40;

/// Where an abbreviation means what it stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AbbreviationSetting {
    Capitals,
    Listed,
    /// As `Listed`, but its neighbours are complaints: "CP" is chest pain among symptoms.
    Complaint,
    Word,
    Anywhere,
}

impl AbbreviationSetting {
    fn takes_any_letters(self) -> bool {
        matches!(self, Self::Word | Self::Anywhere)
    }
}

struct Abbreviation {
    group: &'static str,
    name: &'static str,
    code: Option<&'static str>,
    language: Language,
    place: AbbreviationSetting,
}

pub(crate) struct Abbreviations {
    known: Vec<Abbreviation>,
    /// One list for each language and each place: the same letters mean different things.
    lists: Vec<PhraseMatcher>,
}

impl Abbreviations {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut known = Vec::new();
        let mut phrases: Vec<(Language, AbbreviationSetting, Vec<(&'static str, u32)>)> = Vec::new();
        for line in FILE.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&'static str> = line.split('\t').collect();
            let [group, name, code, language, place, words] = fields[..] else { continue };
            let language = match language {
                "en" => Language::English,
                "es" => Language::Spanish,
                _ => Language::Unknown,
            };
            let place = match place {
                "caps" => AbbreviationSetting::Capitals,
                "listed" => AbbreviationSetting::Listed,
                "complaint" => AbbreviationSetting::Complaint,
                "free" => AbbreviationSetting::Anywhere,
                _ => AbbreviationSetting::Word,
            };
            let number = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let of = words.split('|').map(|phrase| (phrase.trim(), number));
            match phrases.iter_mut().find(|list| (list.0, list.1) == (language, place)) {
                Some(list) => list.2.extend(of),
                None => phrases.push((language, place, of.collect())),
            }
            known.push(Abbreviation { group, name, code: Some(code).filter(|c| *c != "-"), language, place });
        }
        let lists = phrases.into_iter().map(|(_, _, list)| PhraseMatcher::new(trie, list)).collect();
        Self { known, lists }
    }

    /// Where an abbreviation ends that is written in capitals at a word: enough for a list of findings, whose items are
    /// weighed afterwards.
    pub(crate) fn at(&self, reading: &TokenizedText<'_>, word: usize) -> Option<usize> {
        let hits = self.lists.iter().filter_map(|list| list.at(reading, word));
        let end = hits.map(|hit| hit.words.end).max()?;
        let said = reading.source(&(word..end)).slice(reading.text);
        let letters = || said.chars().filter(|c| c.is_alphabetic());
        (letters().count() > 1 && letters().all(char::is_uppercase)).then_some(end)
    }

    /// The abbreviations of a sentence that mean an illness in their place. `found` holds the illnesses known so far.
    pub(crate) fn find(
        &self,
        doc: &AnalyzedDocument<'_>,
        within: Range<usize>,
        cued: impl Fn(usize) -> bool,
        found: &[NamedCondition],
    ) -> Vec<NamedCondition> {
        let mut hits: Vec<_> = self.lists.iter().flat_map(|list| list.find(doc.reading, within.clone())).collect();
        hits.sort_by_key(|hit| (hit.words.start, std::cmp::Reverse(hit.words.end)));
        let language = doc.input.document.language;
        let fits = |known: &Abbreviation| known.language == Language::Unknown || known.language == language;
        let mut out: Vec<NamedCondition> = Vec::new();
        let is_word = |hit: &&PhraseMatch| self.known[hit.meaning as usize].place == AbbreviationSetting::Word;
        let words_denied = hits.iter().filter(is_word).filter(|hit| denies(doc, hit.words.start)).count();
        // Twice, since an item may be known by the one after it.
        for _ in 0..2 {
            for hit in &hits {
                let known = &self.known[hit.meaning as usize];
                let taken = out.iter().chain(found).any(|other| overlap(&other.words, &hit.words));
                if taken || !fits(known) || (!known.place.takes_any_letters() && !in_capitals(doc, &hit.words)) {
                    continue;
                }
                let announced = || {
                    cued(hit.words.start)
                        || in_a_list_of_illnesses(doc, hit.words.start)
                        || out.iter().chain(found).any(|other| is_neighbour(doc, &other.words, &hit.words))
                };
                // Among complaints, or denied alone: "no CP", "neg CP, SOB".
                let complained = || {
                    let near = |symptom: bool| {
                        let mut others = out.iter().chain(found).filter(|other| (other.group == "symptom") == symptom);
                        others.any(|other| is_neighbour(doc, &other.words, &hit.words))
                    };
                    near(true) || !near(false) && complains(doc, hit.words.start)
                };
                let nearby = || out.iter().chain(found).any(|other| is_neighbour(doc, &other.words, &hit.words));
                let heads = !known.place.takes_any_letters()
                    && known.place != AbbreviationSetting::Capitals
                    && is_label(doc, &hit.words);
                let holds = match known.place {
                    _ if heads => false,
                    AbbreviationSetting::Capitals | AbbreviationSetting::Anywhere => true,
                    AbbreviationSetting::Listed => announced() && !self.is_complaint(&hits, hit, &out, found, doc),
                    AbbreviationSetting::Complaint => complained(),
                    AbbreviationSetting::Word => {
                        let denied = words_denied > 1 && denies(doc, hit.words.start);
                        is_bare(doc, &hit.words) && (denied || nearby() || has_box(doc, &hit.words))
                    }
                };
                if holds {
                    let sureness = if known.place == AbbreviationSetting::Capitals { 1.0 } else { 0.9 };
                    let (group, name) = (known.group, known.name.to_owned());
                    out.push(NamedCondition { words: hit.words.clone(), group, name, code: known.code, sureness });
                }
            }
        }
        out
    }
}

impl Abbreviations {
    /// Whether the same letters name a complaint among complaints.
    fn is_complaint(
        &self,
        hits: &[PhraseMatch],
        hit: &PhraseMatch,
        out: &[NamedCondition],
        found: &[NamedCondition],
        doc: &AnalyzedDocument<'_>,
    ) -> bool {
        let twin = |other: &&PhraseMatch| {
            other.words == hit.words && self.known[other.meaning as usize].place == AbbreviationSetting::Complaint
        };
        hits.iter().any(|other| twin(&other))
            && (complains(doc, hit.words.start)
                || out
                    .iter()
                    .chain(found)
                    .any(|other| other.group == "symptom" && is_neighbour(doc, &other.words, &hit.words)))
    }
}

/// "EM: suspicaz": letters that head their line are its title, unless a value follows ("DM: no").
fn is_label(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "abbreviations.is_label");
    let reading = doc.reading;
    let opens = reading.sentences[reading.sentence_of(words.start)].words.start == words.start;
    let value = WORDS.contains(reading.word(words.end + 1));
    opens && reading.word(words.end) == ":" && !value
}

/// "C/o CP", "denies CP", "neg CP": a complaint, or a denied one, comes after these.
fn complains(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    matches!(
        word.checked_sub(1).map_or("", |at| doc.reading.word(at)),
        "no" | "neg"
            | "denies"
            | "denied"
            | "reports"
            | "reported"
            | "endorses"
            | "nil"
            | "w/o"
            | "without"
            | "with"
            | "for"
            | "c/o"
    )
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// "No thyroid, no sugar", "ni presión ni azúcar": the word comes right after a denial.
fn denies(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let before = word.checked_sub(1).map(|before| doc.reading.word(before));
    matches!(before, Some("no" | "ni" | "nor" | "sin" | "hay" | "niega" | "denies"))
}

/// Every letter a capital, except an s of the plural; Roman numbers and digits do not count.
fn in_capitals(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let place = doc.reading.source(words);
    let said = place.slice(doc.text());
    // "GAD-7" is a score, and in a line of capitals no letter says more than another.
    let mut rest = doc.text().get(place.end..).unwrap_or_default().chars();
    if rest.next() == Some('-') && rest.next().is_some_and(|c| c.is_ascii_digit()) || shouts(doc, words.start) {
        return false;
    }
    let bare = said.strip_suffix('s').unwrap_or(said);
    let letters = bare.chars().filter(|c| c.is_alphabetic());
    let lower = letters.clone().filter(|c| c.is_lowercase()).count();
    let upper = letters.count() - lower;
    lower == 0 || (upper >= 2 && lower == 1 && bare.chars().next().is_some_and(char::is_uppercase))
}

/// Whether a sentence of some length is written in capitals throughout.
fn shouts(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let sentence = &doc.reading.sentences[doc.reading.sentence_of(word)];
    let letters = || sentence.span.slice(doc.text()).chars().filter(|c| c.is_alphabetic());
    let small = letters().filter(|c| c.is_lowercase()).count();
    letters().count() > LONGEST_SHOUT && small * 5 < letters().count()
}

/// A section of diagnoses or of past illnesses, or the family's.
fn in_a_list_of_illnesses(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    let section = doc.section(word);
    matches!(section, Some(Section::History | Section::Assessment | Section::Family | Section::Differential))
}

fn has_box(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let sentence = doc.reading.sentence_of(words.start);
    doc.structure.boxes(sentence).iter().any(|ticked| ticked.label.contains(&words.start))
}

/// An item of a list: nothing but signs, denials and joining words around it.
fn is_bare(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let sentence = &doc.reading.sentences[doc.reading.sentence_of(words.start)];
    let before = words.start == sentence.words.start || is_separator(doc.reading.word(words.start - 1));
    let after = words.end >= sentence.words.end || is_separator(doc.reading.word(words.end)) || has_box(doc, words);
    before && after
}

/// Whether two mentions are items of one list.
fn is_neighbour(doc: &AnalyzedDocument<'_>, one: &Range<usize>, other: &Range<usize>) -> bool {
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    let between = first.end..second.start;
    if between.start > between.end || between.len() > LONGEST_STEP || between.is_empty() {
        return false;
    }
    doc.reading.sentence_of(first.start) == doc.reading.sentence_of(second.start)
        && between.clone().any(|word| is_separator(doc.reading.word(word)))
        && between.into_iter().all(|word| {
            let said = doc.reading.word(word);
            is_separator(said)
                || said.starts_with(|c: char| c.is_ascii_digit())
                || matches!(said, "(" | ")" | "a" | "x" | "type" | "tipo")
        })
}

/// Words between the items of a list.
fn is_separator(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "abbreviations.is_separator");
    WORDS.contains(word)
}
