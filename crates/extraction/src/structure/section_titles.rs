//! Titles, and how far each reaches: to the next title, a blank line after its content, or a change of turn. A title that
//! shares its line with its content reaches to the end of that line, and on over list items below it.

use std::ops::Range;

use super::super::matcher::PhraseMatcher;
use super::super::phrase_trie::TrieBuilder;
use super::super::tokenized::TokenizedText;
use super::{Section, SectionPosition};

pub(crate) const FILE: &str = include_str!("../lexicon/titles.tsv");
/// Words of an unknown line that still looks like a title.
const LONGEST_TITLE: usize = 6;
/// Words in brackets after a title, over a full stop of an abbreviation: "Medication (incl. over the counter):".
const LONGEST_BRACKET: usize = 12;
const LONGEST_BULLET: usize = 4;
/// Equal signs at the beginning of a line that is ruled.
const RULE: usize = 3;
/// Letters of a title that needs no colon where it is written in capitals ("PMH asthma").
const CAPITALS: Range<usize> = 2..6;

/// The titles of both languages.
pub(crate) struct SectionTitles {
    phrases: PhraseMatcher,
}

struct TitleLine {
    section: Section,
    /// The first word after it and its sign.
    end: usize,
}

/// Verbs of the patient's treatment, acts and statements, with which a sentence without a subject begins.
const OF_PATIENT: &[&str] = &[
    "takes",
    "smokes",
    "drinks",
    "lives",
    "works",
    "uses",
    "denies",
    "reports",
    "sleeps",
    "attends",
    "remains",
    "continues",
    "currently",
    "patient",
    "pt",
    "i",
    "toma",
    "fuma",
    "bebe",
    "vive",
    "trabaja",
    "consume",
    "niega",
    "refiere",
    "duerme",
    "acude",
    "sigue",
    "mantiene",
    "continua",
    "actualmente",
    "paciente",
    "tomo",
    "fumo",
    "bebo",
];

/// "FH: mother asthma. Takes ramipril": a sentence of the same line that begins so leaves the family.
fn is_of_patient(reading: &TokenizedText<'_>, index: usize) -> bool {
    let words = &reading.sentences[index].words;
    let first = words.clone().find(|word| !matches!(reading.word(*word), "the" | "el" | "la"));
    first.is_some_and(|word| OF_PATIENT.contains(&reading.word(word)))
}

/// "Past meds: sertraline. Current: duloxetine": a sentence of the same line that begins so leaves the past.
fn is_of_now(reading: &TokenizedText<'_>, index: usize) -> bool {
    let words = &reading.sentences[index].words;
    let mut first = words.clone().take(2).map(|word| reading.word(word));
    first.any(|word| matches!(word, "current" | "currently" | "now" | "actual" | "actuales" | "actualmente" | "ahora"))
}

impl SectionTitles {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let rows = FILE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
        let phrases = rows.flat_map(|(section, words)| {
            let known = Section::from_code(section);
            let meaning = Section::ALL.iter().position(|section| Some(*section) == known);
            let meaning = meaning.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX);
            words.split('|').map(move |phrase| (phrase.trim(), meaning))
        });
        Self { phrases: PhraseMatcher::new(trie, phrases) }
    }

    /// The section of each sentence.
    pub(super) fn places(&self, reading: &TokenizedText<'_>) -> Vec<Option<SectionPosition>> {
        let mut out = Vec::with_capacity(reading.sentences.len());
        let mut open: Option<SectionPosition> = None;
        for (index, sentence) in reading.sentences.iter().enumerate() {
            let gap = SentenceGap::before(reading, index);
            let inline = || self.title(reading, index).filter(|_| self.is_inline(reading, sentence.words.start));
            if let Some(title) = if gap.line { self.title(reading, index) } else { inline() } {
                let has_content = title.end < sentence.words.end;
                let place = SectionPosition {
                    section: title.section,
                    from: title.end,
                    on_title_line: has_content,
                    items_only: has_content,
                    number: number_of(reading, index),
                };
                open = Some(place);
                out.push(open);
                continue;
            }
            let left = |place: &SectionPosition| {
                !gap.line
                    && match place.section {
                        Section::Family => is_of_patient(reading, index),
                        Section::Tried | Section::Stopped => is_of_now(reading, index),
                        _ => false,
                    }
            };
            let stays = |place: &SectionPosition| !gap.turn && !left(place) && goes_on(reading, index, place, &gap);
            open = open.filter(stays).map(|place| SectionPosition {
                from: sentence.words.start,
                on_title_line: place.on_title_line && !gap.line,
                ..place
            });
            out.push(open);
        }
        out
    }

    /// "FH: epilepsy. PMH: asthma": a title within a line, which has a capital letter and its colon right after it.
    fn is_inline(&self, reading: &TokenizedText<'_>, word: usize) -> bool {
        let Some(hit) = self.phrases.at(reading, word) else { return false };
        let source = reading.source(&hit.words).slice(reading.text);
        source.chars().count() > 1 && source.starts_with(char::is_uppercase) && reading.word(hit.words.end) == ":"
    }

    fn title(&self, reading: &TokenizedText<'_>, index: usize) -> Option<TitleLine> {
        let words = reading.sentences[index].words.clone();
        let is_bullet = |word: &usize| {
            let text = reading.word(*word);
            reading.words[*word].punctuation || (text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit()))
        };
        let start = words.clone().take(LONGEST_BULLET).find(|word| !is_bullet(word))?;
        let hit = self.phrases.at(reading, start)?;
        let section = *Section::ALL.get(hit.meaning as usize)?;
        let closing = |word: usize| matches!(reading.word(word), "*" | "_" | "#");
        let mut end = hit.words.end;
        while end < words.end && closing(end) {
            end += 1;
        }
        if reading.word(end) == "("
            && let Some(close) = (end..end + LONGEST_BRACKET).find(|word| reading.word(*word) == ")")
            && reading.word(close + 1) == ":"
        {
            end = close + 1;
        }
        let over_a_stop = end > words.end;
        let asks = reading.word(end) == "?" && reading.sentences[index].turn.is_none();
        let signed = asks || matches!(reading.word(end), ":" | "-" | "–" | "—" | "=" | "→") && (end < words.end || over_a_stop)
                // "Family history | father | MI": the first cell of a row.
                || section == Section::Family && reading.word(end) == "|" && end < words.end;
        let source = reading.source(&hit.words).slice(reading.text);
        let letters = || source.chars().filter(|c| c.is_alphabetic());
        let capitals = letters().all(char::is_uppercase);
        let alone = end >= words.end;
        let short = CAPITALS.contains(&letters().count())
            || matches!(
                section,
                Section::Started | Section::Stopped | Section::Held | Section::Changed | Section::Unchanged
            );
        let colon = signed && reading.word(end) == ":";
        // "S: Sertraline" and "All: NKDA" are titles, "All - in all" is not.
        let one_letter = letters().count() < 3 || hit.words.len() == 1 && reading.word(start) == "all";
        let is_title = if one_letter {
            colon || capitals && (signed || short && letters().count() >= 2)
        } else {
            signed || alone || (capitals && short)
        };
        let end = if signed { end + 1 } else { end };
        while_signs(reading, end, words.end, is_title.then_some(section))
    }
}

/// Signs after a title ("PLAN :-") belong to it.
fn while_signs(reading: &TokenizedText<'_>, from: usize, limit: usize, section: Option<Section>) -> Option<TitleLine> {
    let signs = |word: &usize| matches!(reading.word(*word), "-" | "–" | "*" | "_");
    let end = from + (from..limit).take_while(signs).count();
    Some(TitleLine { section: section?, end })
}

struct SentenceGap {
    turn: bool,
    line: bool,
    blank: bool,
}

impl SentenceGap {
    fn before(reading: &TokenizedText<'_>, index: usize) -> Self {
        let here = &reading.sentences[index];
        let Some(previous) = index.checked_sub(1).map(|before| &reading.sentences[before]) else {
            return Self { turn: true, line: true, blank: true };
        };
        let between = reading.text.get(previous.span.end..here.span.start).unwrap_or("");
        let feeds = between.matches('\n').count();
        let turn = previous.turn != here.turn;
        Self { turn, line: feeds > 0 || turn, blank: feeds > 1 }
    }
}

fn number_of(reading: &TokenizedText<'_>, index: usize) -> Option<u32> {
    let text = reading.sentences[index].span.slice(reading.text);
    let (number, rest) = text.split_once(['.', ')'])?;
    let heads = number.len() <= 2 && rest.starts_with(' ');
    number.parse().ok().filter(|_| heads)
}

/// Whether an open section reaches over a sentence without a title of the list.
fn goes_on(reading: &TokenizedText<'_>, index: usize, open: &SectionPosition, gap: &SentenceGap) -> bool {
    if !gap.line {
        return true;
    }
    let sentence = &reading.sentences[index];
    let text = sentence.span.slice(reading.text);
    let item = text.starts_with(['-', '*', '•', '·', '–', '+', '☐', '☒', '☑', '[', '>'])
        || text.split_once([')', '.']).is_some_and(|(number, _)| {
            number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty()
        })
        || text
            .split_once(')')
            .is_some_and(|(letter, _)| letter.len() == 1 && letter.bytes().all(|b| b.is_ascii_alphabetic()));
    // "3. Family: …" ends where the form goes on with "4. …".
    let next = open.number.is_some_and(|number| number_of(reading, index) == Some(number + 1));
    if next || is_rule(text) || looks_like_a_title(text, sentence.words.len()) {
        return false;
    }
    // A title with content on its line: only items below it still belong to it. A line after these holds no allergen
    // and no relative's illness; a list of medicines often goes on without its signs.
    let is_strict = matches!(open.section, Section::Allergies | Section::Intolerances | Section::Family);
    if open.on_title_line || open.items_only && is_strict {
        return item && !gap.blank;
    }
    let previous_was_title =
        index.checked_sub(1).is_some_and(|before| open.from >= reading.sentences[before].words.end);
    !gap.blank || previous_was_title
}

/// "--- 09/07 night shift ---", "=====": a line that separates the text above it from the text below.
fn is_rule(text: &str) -> bool {
    let signs = text.trim_start();
    signs.chars().next().is_some_and(|first| matches!(first, '-' | '=' | '*' | '_' | '~' | '—'))
        && signs.chars().take(RULE).filter(|sign| signs.starts_with(*sign)).count() == RULE
}

/// A short line that ends in a colon, begins with a few words and a colon, or is in capitals.
fn looks_like_a_title(text: &str, words: usize) -> bool {
    let bare = text.trim_start_matches(['-', '*', '#', '•', ' ']);
    let head = bare.split_once(':').map(|(head, _)| head.split_whitespace().count());
    let item = bare.len() < text.len() && !text.starts_with('#') && !text.starts_with("**");
    let capitals = bare.chars().any(char::is_alphabetic) && !bare.chars().any(char::is_lowercase);
    (head.is_some_and(|count| count <= LONGEST_TITLE) && !item && bare.starts_with(char::is_uppercase))
        || (capitals && words <= LONGEST_TITLE && words > 1 && !item && !bare.chars().any(|c| c.is_ascii_digit()))
}
