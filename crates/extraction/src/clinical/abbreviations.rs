//! Abbreviations that mean an illness only where they stand: in capitals, in one language, beside other illnesses or after
//! a word that announces one. "HAS" is hypertension in a Spanish note and a verb in an English one; "thyroid" is an illness
//! in "no thyroid, no diabetes" and an organ elsewhere.

use std::ops::Range;

use super::Named;
use crate::matcher::{Hit, Matcher};
use crate::phrasebook::Builder;
use crate::reading::Reading;
use crate::scene::Scene;
use crate::structure::Section;
use anamnesis_text::Language;

pub(super) const FILE: &str = include_str!("../lexicon/abbreviations.tsv");
/// Words between two items of a list.
const LONGEST_STEP: usize = 5;
/// Letters of a line of capitals that still may be a list of abbreviations.
const LONGEST_SHOUT: usize = 40;

/// Where an abbreviation means what it stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Capitals,
    Listed,
    /// As `Listed`, but what stands beside it is a complaint: "CP" is chest pain among symptoms.
    Complaint,
    Word,
    Anywhere,
}

impl Place {
    fn takes_any_letters(self) -> bool {
        matches!(self, Self::Word | Self::Anywhere)
    }
}

struct Abbreviation {
    group: &'static str,
    name: &'static str,
    code: Option<&'static str>,
    language: Language,
    place: Place,
}

pub(crate) struct Abbreviations {
    known: Vec<Abbreviation>,
    /// One list for each language and each place: the same letters mean different things.
    lists: Vec<Matcher>,
}

impl Abbreviations {
    pub(crate) fn builtin(book: &mut Builder) -> Self {
        let mut known = Vec::new();
        let mut phrases: Vec<(Language, Place, Vec<(&'static str, u32)>)> = Vec::new();
        for line in FILE.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&'static str> = line.split('\t').collect();
            let [group, name, code, language, place, words] = fields[..] else { continue };
            let language = match language {
                "en" => Language::English,
                "es" => Language::Spanish,
                _ => Language::Unknown,
            };
            let place = match place {
                "caps" => Place::Capitals,
                "listed" => Place::Listed,
                "complaint" => Place::Complaint,
                "free" => Place::Anywhere,
                _ => Place::Word,
            };
            let number = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let of = words.split('|').map(|phrase| (phrase.trim(), number));
            match phrases.iter_mut().find(|list| (list.0, list.1) == (language, place)) {
                Some(list) => list.2.extend(of),
                None => phrases.push((language, place, of.collect())),
            }
            known.push(Abbreviation { group, name, code: Some(code).filter(|c| *c != "-"), language, place });
        }
        let lists = phrases.into_iter().map(|(_, _, list)| Matcher::new(book, list)).collect();
        Self { known, lists }
    }

    /// Where an abbreviation ends that is written in capitals at a word: enough for a list of findings, whose items are
    /// weighed afterwards.
    pub(crate) fn at(&self, reading: &Reading<'_>, word: usize) -> Option<usize> {
        let hits = self.lists.iter().filter_map(|list| list.at(reading, word));
        let end = hits.map(|hit| hit.words.end).max()?;
        let said = reading.source(&(word..end)).of(reading.text);
        let letters = || said.chars().filter(|c| c.is_alphabetic());
        (letters().count() > 1 && letters().all(char::is_uppercase)).then_some(end)
    }

    /// The abbreviations of a sentence that stand where they mean an illness. `found` holds the illnesses known so far.
    pub(crate) fn find(
        &self,
        scene: &Scene<'_>,
        within: Range<usize>,
        cued: impl Fn(usize) -> bool,
        found: &[Named],
    ) -> Vec<Named> {
        let mut hits: Vec<_> = self.lists.iter().flat_map(|list| list.find(scene.reading, within.clone())).collect();
        hits.sort_by_key(|hit| (hit.words.start, std::cmp::Reverse(hit.words.end)));
        let language = scene.input.document.language;
        let fits = |known: &Abbreviation| known.language == Language::Unknown || known.language == language;
        let mut out: Vec<Named> = Vec::new();
        let is_word = |hit: &&Hit| self.known[hit.meaning as usize].place == Place::Word;
        let words_denied = hits.iter().filter(is_word).filter(|hit| denies(scene, hit.words.start)).count();
        // Twice, since an item may be known by the one after it.
        for _ in 0..2 {
            for hit in &hits {
                let known = &self.known[hit.meaning as usize];
                let taken = out.iter().chain(found).any(|other| overlap(&other.words, &hit.words));
                if taken || !fits(known) || (!known.place.takes_any_letters() && !in_capitals(scene, &hit.words)) {
                    continue;
                }
                let announced = || {
                    cued(hit.words.start)
                        || in_a_list_of_illnesses(scene, hit.words.start)
                        || out.iter().chain(found).any(|other| is_neighbour(scene, &other.words, &hit.words))
                };
                // Among complaints, or denied alone: "no CP", "neg CP, SOB".
                let complained = || {
                    let near = |symptom: bool| {
                        let mut others = out.iter().chain(found).filter(|other| (other.group == "symptom") == symptom);
                        others.any(|other| is_neighbour(scene, &other.words, &hit.words))
                    };
                    near(true) || !near(false) && complains(scene, hit.words.start)
                };
                let beside = || out.iter().chain(found).any(|other| is_neighbour(scene, &other.words, &hit.words));
                let heads =
                    !known.place.takes_any_letters() && known.place != Place::Capitals && is_label(scene, &hit.words);
                let holds = match known.place {
                    _ if heads => false,
                    Place::Capitals | Place::Anywhere => true,
                    Place::Listed => announced() && !self.is_complaint(&hits, hit, &out, found, scene),
                    Place::Complaint => complained(),
                    Place::Word => {
                        let denied = words_denied > 1 && denies(scene, hit.words.start);
                        is_bare(scene, &hit.words) && (denied || beside() || has_box(scene, &hit.words))
                    }
                };
                if holds {
                    let sureness = if known.place == Place::Capitals { 1.0 } else { 0.9 };
                    let (group, name) = (known.group, known.name.to_owned());
                    out.push(Named { words: hit.words.clone(), group, name, code: known.code, sureness });
                }
            }
        }
        out
    }
}

impl Abbreviations {
    /// Whether the same letters name a complaint where complaints stand around them.
    fn is_complaint(&self, hits: &[Hit], hit: &Hit, out: &[Named], found: &[Named], scene: &Scene<'_>) -> bool {
        let twin =
            |other: &&Hit| other.words == hit.words && self.known[other.meaning as usize].place == Place::Complaint;
        hits.iter().any(|other| twin(&other))
            && (complains(scene, hit.words.start)
                || out
                    .iter()
                    .chain(found)
                    .any(|other| other.group == "symptom" && is_neighbour(scene, &other.words, &hit.words)))
    }
}

/// "EM: suspicaz": letters that head their line are its title, unless a value follows ("DM: no").
fn is_label(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    let reading = scene.reading;
    let opens = reading.sentences[reading.sentence_of(words.start)].words.start == words.start;
    let value = matches!(
        reading.word(words.end + 1),
        "yes"
            | "no"
            | "si"
            | "neg"
            | "pos"
            | "negativo"
            | "positivo"
            | "niega"
            | "denies"
            | "y"
            | "n"
            | "("
            | "-"
            | "+"
            | "0"
    );
    opens && reading.word(words.end) == ":" && !value
}

/// "C/o CP", "denies CP", "neg CP": what is complained of, or denied, stands behind these.
fn complains(scene: &Scene<'_>, word: usize) -> bool {
    matches!(
        word.checked_sub(1).map_or("", |at| scene.reading.word(at)),
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

/// "No thyroid, no sugar", "ni presión ni azúcar": the word stands right behind a denial.
fn denies(scene: &Scene<'_>, word: usize) -> bool {
    let before = word.checked_sub(1).map(|before| scene.reading.word(before));
    matches!(before, Some("no" | "ni" | "nor" | "sin" | "hay" | "niega" | "denies"))
}

/// Every letter a capital, but for an s of the plural; Roman numbers and digits do not count.
fn in_capitals(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    let place = scene.reading.source(words);
    let said = place.of(scene.text());
    // "GAD-7" is a score, and in a line of capitals no letter says more than another.
    let mut rest = scene.text().get(place.end..).unwrap_or_default().chars();
    if rest.next() == Some('-') && rest.next().is_some_and(|c| c.is_ascii_digit()) || shouts(scene, words.start) {
        return false;
    }
    let bare = said.strip_suffix('s').unwrap_or(said);
    let letters = bare.chars().filter(|c| c.is_alphabetic());
    let lower = letters.clone().filter(|c| c.is_lowercase()).count();
    let upper = letters.count() - lower;
    lower == 0 || (upper >= 2 && lower == 1 && bare.chars().next().is_some_and(char::is_uppercase))
}

/// Whether a sentence of some length is written in capitals throughout.
fn shouts(scene: &Scene<'_>, word: usize) -> bool {
    let sentence = &scene.reading.sentences[scene.reading.sentence_of(word)];
    let letters = || sentence.span.of(scene.text()).chars().filter(|c| c.is_alphabetic());
    let small = letters().filter(|c| c.is_lowercase()).count();
    letters().count() > LONGEST_SHOUT && small * 5 < letters().count()
}

/// A section of diagnoses or of past illnesses, or the family's.
fn in_a_list_of_illnesses(scene: &Scene<'_>, word: usize) -> bool {
    let section = scene.section(word);
    matches!(section, Some(Section::History | Section::Assessment | Section::Family | Section::Differential))
}

fn has_box(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    let sentence = scene.reading.sentence_of(words.start);
    scene.structure.boxes(sentence).iter().any(|ticked| ticked.label.contains(&words.start))
}

/// An item of a list: nothing but signs, denials and joining words around it.
fn is_bare(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    let sentence = &scene.reading.sentences[scene.reading.sentence_of(words.start)];
    let before = words.start == sentence.words.start || parts(scene.reading.word(words.start - 1));
    let after = words.end >= sentence.words.end || parts(scene.reading.word(words.end)) || has_box(scene, words);
    before && after
}

/// Whether two mentions are items of one list.
fn is_neighbour(scene: &Scene<'_>, one: &Range<usize>, other: &Range<usize>) -> bool {
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    let between = first.end..second.start;
    if between.start > between.end || between.len() > LONGEST_STEP || between.is_empty() {
        return false;
    }
    scene.reading.sentence_of(first.start) == scene.reading.sentence_of(second.start)
        && between.clone().any(|word| parts(scene.reading.word(word)))
        && between.into_iter().all(|word| {
            let said = scene.reading.word(word);
            parts(said)
                || said.starts_with(|c: char| c.is_ascii_digit())
                || matches!(said, "(" | ")" | "a" | "x" | "type" | "tipo")
        })
}

/// What stands between the items of a list.
fn parts(word: &str) -> bool {
    matches!(
        word,
        "," | ";"
            | "/"
            | "+"
            | "&"
            | "."
            | ":"
            | "-"
            | "•"
            | "*"
            | "y"
            | "e"
            | "o"
            | "u"
            | "ni"
            | "no"
            | "sin"
            | "and"
            | "or"
            | "nor"
            | "("
            | ")"
            | "?"
    )
}
