//! The cue lists: data files with one group of phrases a line.

use std::ops::Range;

use super::clauses::ClauseOpeners;
use super::experiencer::{self, ExperiencerRules};
use super::negated_verbs::NegatedVerbs;
use super::subjects::SubjectRules;
use crate::lexicon::LexiconList;
use crate::matcher::{PhraseMatch, PhraseMatcher};
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

/// Flags that a row may set for its cues, next to category, direction and reach.
const FLAGS: [&str; 11] =
    ["list", "header", "closing", "last", "inner", "either", "intrans", "opening", "far", "gone", "cause"];

/// The meaning of a cue for the words in its scope, or for the scopes around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CueCategory {
    Negated,
    Uncertain,
    Historical,
    /// Past and over: "cured", "outgrown".
    Ended,
    Hypothetical,
    Family,
    Other,
    /// The relative who speaks, of themselves.
    Speaker,
    /// The patient's, although a relative is named near.
    Own,
    /// Only asked, by someone who does not say so: "they ask me if …".
    Asked,
    /// Nothing is said: a leaflet, a side effect explained, a delusion, an order to the program.
    Unsaid,
    /// Turns a denial into doubt and says nothing without one ("sin lesiones claras").
    Weak,
    /// Ends every scope ("but", "aunque").
    End,
    /// A finite verb: a new clause where something has been said since the cue.
    Verb,
    /// Looks like a cue and is not ("no solo", "not only").
    Pseudo,
}

impl CueCategory {
    /// As the cue files name it, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Negated => "negated",
            Self::Uncertain => "uncertain",
            Self::Historical => "historical",
            Self::Ended => "ended",
            Self::Hypothetical => "hypothetical",
            Self::Family => "family",
            Self::Other => "other",
            Self::Speaker => "speaker",
            Self::Own => "own",
            Self::Asked => "asked",
            Self::Unsaid => "unsaid",
            Self::Weak => "weak",
            Self::End => "end",
            Self::Verb => "verb",
            Self::Pseudo => "pseudo",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CueDirection {
    Forward,
    Backward,
    Both,
}

/// A group of phrases that work alike.
#[derive(Debug, Clone)]
pub(crate) struct Cue {
    pub(crate) category: CueCategory,
    pub(crate) direction: CueDirection,
    /// Words that the scope may be long.
    pub(crate) reach: usize,
    /// The scope goes on through a list separated by commas.
    pub(crate) list: bool,
    /// A section's title: holds to the end of the sentence whatever follows.
    pub(crate) header: bool,
    /// Holds only at the very end of its clause ("X negative", "X: no").
    pub(crate) closing: bool,
    /// As `closing`, and only where a sign or the sentence's end follows ("…, ahora ya no.").
    pub(crate) last: bool,
    /// The denial stays inside its own words ("no mejora", "sin mejoría").
    pub(crate) inner: bool,
    /// Forward where its object follows ("se suspende el litio"), backward where it came before ("litio suspendido").
    pub(crate) either: bool,
    /// With `either`: backward unless an article follows ("el dolor cedió", "cedió el dolor").
    pub(crate) intransitive: bool,
    /// Forward where it opens its clause ("in childhood, asthma"), backward elsewhere ("asthma in childhood").
    pub(crate) opening: bool,
    /// Verbs and commas do not end the scope ("call if …, …, or …").
    pub(crate) far: bool,
    /// The denied finding was present and is over ("the asthma has resolved").
    pub(crate) gone: bool,
    /// The scope ends at the reason ("se suspende enalapril por tos").
    pub(crate) cause: bool,
}

/// A cue found in a sentence.
pub(crate) type CueHit = PhraseMatch;

/// All cues of both languages, compiled. Patients mix languages and producers mislabel them, so both always work.
pub(crate) struct Cues {
    groups: Vec<Cue>,
    matcher: PhraseMatcher,
    negated_verbs: NegatedVerbs,
    subjects: SubjectRules,
    clauses: ClauseOpeners,
    experiencer_rules: ExperiencerRules,
    /// The meaning of a word for a relative that is also another language's verb.
    relative: Option<u32>,
}

impl Cues {
    pub(crate) const FILES: &'static [&'static str] = &[
        include_str!("../lexicon/cues.assertion.es.tsv"),
        include_str!("../lexicon/cues.assertion.en.tsv"),
        include_str!("../lexicon/cues.speech.es.tsv"),
        include_str!("../lexicon/cues.speech.en.tsv"),
        include_str!("../lexicon/cues.gone.es.tsv"),
        include_str!("../lexicon/cues.gone.en.tsv"),
        include_str!("../lexicon/cues.unasserted.es.tsv"),
        include_str!("../lexicon/cues.unasserted.en.tsv"),
        include_str!("../lexicon/cues.es.tsv"),
        include_str!("../lexicon/cues.en.tsv"),
    ];

    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut groups = Vec::new();
        let built_in = cues_of(Self::FILES.iter().flat_map(|file| file.lines()), &mut groups);
        let matcher = PhraseMatcher::new(trie, built_in);
        let own = cues_of(trie.custom_rows(LexiconList::Cues).into_iter(), &mut groups);
        matcher.extend(trie, own);
        let of_family = |cue: &Cue| cue.category == CueCategory::Family && cue.direction == CueDirection::Both;
        let relative = groups.iter().rposition(of_family).and_then(|place| u32::try_from(place).ok());
        Self {
            relative,
            experiencer_rules: ExperiencerRules::builtin(trie),
            matcher,
            groups,
            negated_verbs: NegatedVerbs::builtin(trie),
            clauses: ClauseOpeners::builtin(trie),
            subjects: SubjectRules::builtin(trie),
        }
    }

    /// See [`ClauseOpeners`].
    pub(super) fn clauses(&self) -> &ClauseOpeners {
        &self.clauses
    }

    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Vec<CueHit> {
        self.matcher.find(reading, within)
    }

    /// "Her son has autism": the relative, where the same letters are a Spanish verb.
    pub(super) fn set_right(&self, reading: &TokenizedText<'_>, words: &Range<usize>, hits: &mut [CueHit]) {
        let Some(relative) = self.relative else { return };
        for hit in hits.iter_mut().filter(|hit| hit.words.len() == 1 && reading.word(hit.words.start) == "son") {
            if experiencer::is_english_son(reading, hit.words.start, words) {
                hit.meaning = relative;
            }
        }
    }

    /// See [`ExperiencerRules`].
    pub(super) fn experiencer_rules(&self) -> &ExperiencerRules {
        &self.experiencer_rules
    }

    /// See [`NegatedVerbs::spent`].
    pub(crate) fn spent(&self, reading: &TokenizedText<'_>, denial: &CueHit, limit: usize) -> Option<usize> {
        self.negated_verbs.spent(reading, denial, limit)
    }

    /// See [`SubjectRules`].
    pub(super) fn subjects(&self) -> &SubjectRules {
        &self.subjects
    }

    pub(crate) fn get(&self, hit: &CueHit) -> &Cue {
        &self.groups[hit.meaning as usize]
    }
}

/// The phrases of rows, each with the place of its group, which is put after the others.
fn cues_of(lines: impl Iterator<Item = &'static str>, groups: &mut Vec<Cue>) -> Vec<(&'static str, u32)> {
    let mut phrases = Vec::new();
    for (cue, words) in lines.filter_map(parse) {
        let index = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
        groups.push(cue);
    }
    phrases
}

/// Whether category, direction, reach and flags are such that a row of an extension may have them.
///
/// # Errors
/// Which of the four is not, and why.
pub(crate) fn is_cue([category, direction, reach, flags]: [&str; 4]) -> Result<(), (usize, &'static str)> {
    parse(&format!("{category}\tfwd\t0\t\tx")).ok_or((0, "there is no such category of cues"))?;
    if !matches!(direction, "fwd" | "back" | "both") {
        return Err((1, "a direction is fwd, back or both"));
    }
    if !reach.parse::<usize>().is_ok_and(|reach| reach <= 99) {
        return Err((2, "a reach is a number of words up to 99"));
    }
    match flags.split(',').all(|flag| flag.is_empty() || FLAGS.contains(&flag)) {
        true => Ok(()),
        false => Err((3, "there is no such flag")),
    }
}

/// `category TAB direction TAB reach TAB flags TAB phrase|phrase…`; `#` begins a comment.
fn parse(line: &str) -> Option<(Cue, &str)> {
    if line.starts_with('#') || line.trim().is_empty() {
        return None;
    }
    let mut fields = line.splitn(5, '\t');
    let category = match fields.next()? {
        "neg" => CueCategory::Negated,
        "unc" => CueCategory::Uncertain,
        "hist" => CueCategory::Historical,
        "ended" => CueCategory::Ended,
        "hyp" => CueCategory::Hypothetical,
        "fam" => CueCategory::Family,
        "oth" => CueCategory::Other,
        "ask" => CueCategory::Asked,
        "none" => CueCategory::Unsaid,
        "weak" => CueCategory::Weak,
        "end" => CueCategory::End,
        "verb" => CueCategory::Verb,
        "pseudo" => CueCategory::Pseudo,
        _ => return None,
    };
    let direction = match fields.next()? {
        "back" => CueDirection::Backward,
        "both" => CueDirection::Both,
        _ => CueDirection::Forward,
    };
    let reach = fields.next()?.parse().unwrap_or(99);
    let flags = fields.next()?;
    let has = |flag: &str| flags.split(',').any(|f| f == flag);
    let cue = Cue {
        category,
        direction,
        reach,
        list: has("list"),
        header: has("header"),
        closing: has("closing"),
        last: has("last"),
        inner: has("inner"),
        either: has("either"),
        intransitive: has("intrans"),
        opening: has("opening"),
        far: has("far"),
        gone: has("gone"),
        cause: has("cause"),
    };
    Some((cue, fields.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_cue_files_is_read() {
        for line in Cues::FILES.iter().flat_map(|file| file.lines()) {
            let data = !line.starts_with('#') && !line.trim().is_empty();
            assert_eq!(parse(line).is_some(), data, "{line}");
        }
    }
}
