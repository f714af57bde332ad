//! Names of known people: full, inverted, initials, nicknames, parts, folded accents and case.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::super::document::DocumentContext;
use super::super::entities::words;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::known_identity::KnownIdentity;
use super::nicknames;
use crate::deadline;
use crate::value_normalization::is_no_part_of_a_name;
use anamnesis_text::Span;

const RECOGNIZER: &str = "identity_name";

/// How sure a word is to be the person.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameStrength {
    /// Nothing else is meant by it.
    Sure,
    /// Also a common word ("esperanza", "may"): needs a capital letter or a neighbour.
    Common,
    /// One or two letters, or initials without dots: needs capital letters.
    Short,
}

/// The words of all known people, each with its person.
pub(crate) struct KnownNames {
    words: HashMap<String, (NameStrength, usize), RandomState>,
    /// First bytes of those words. Most words of a text begin with none of them.
    firsts: [bool; 256],
    initials: HashMap<String, usize, RandomState>,
    /// Normalised full names: what surrogates are made of.
    subjects: Vec<String>,
}

impl KnownNames {
    pub(crate) fn from_identities(identities: &[KnownIdentity]) -> Self {
        let (words, initials) = (HashMap::default(), HashMap::default());
        let mut known = Self { words, firsts: [false; 256], initials, subjects: Vec::new() };
        for identity in identities {
            let person = known.subjects.len();
            let first = identity.names.first().map(|name| words::folded_words(name)).unwrap_or_default();
            let mut subject: Vec<_> = first.into_iter().filter(|word| !is_no_part_of_a_name(word)).collect();
            subject.sort_unstable();
            known.subjects.push(subject.join(" "));
            for name in &identity.names {
                known.add_name(name, person);
            }
        }
        known
    }

    /// Finds the names of known people.
    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let hits: Vec<Option<usize>> =
            context.tokens.iter().enumerate().map(|(at, token)| self.hit(context, at, token)).collect();
        let mut at = 0;
        while at < hits.len() {
            deadline::check_at(at);
            let Some(person) = hits[at] else {
                at += 1;
                continue;
            };
            let (first, last) = (self.reach_back(context, at, person), self.reach_on(context, &hits, at, person));
            let span = Span::new(context.tokens[first].span.start, context.tokens[last].span.end);
            let mut finding = PiiFinding::new(span, label::PERSON, RECOGNIZER, 1.0, DetectionLayer::Identity);
            finding.subject = Some(self.subjects[person].clone());
            found.push(finding);
            at = last + 1;
        }
    }

    fn add_name(&mut self, name: &str, person: usize) {
        let parts: Vec<String> =
            words::folded_words(name).into_iter().filter(|word| !is_no_part_of_a_name(word)).collect();
        for part in &parts {
            self.add_word(part.clone(), person);
            for form in nicknames::forms(part) {
                if form.len() > 2 {
                    self.add_word(form, person);
                }
            }
        }
        for window in 2..=parts.len() {
            for run in parts.windows(window) {
                self.add_word(run.concat(), person);
            }
        }
        let initials: String = parts.iter().filter_map(|part| part.chars().next()).collect();
        for length in 2..=initials.chars().count() {
            let start: String = initials.chars().take(length).collect();
            self.initials.entry(start).or_insert(person);
        }
    }

    fn add_word(&mut self, word: String, person: usize) {
        let strength = match word.chars().count() {
            0 => return,
            1 | 2 => NameStrength::Short,
            _ if words::is_common(&word) => NameStrength::Common,
            _ => NameStrength::Sure,
        };
        if let Some(first) = word.bytes().next() {
            self.firsts[usize::from(first)] = true;
        }
        self.words.entry(word).or_insert((strength, person));
    }

    /// The word, or what it is the genitive or plural of.
    fn word(&self, lower: &str) -> Option<(NameStrength, usize)> {
        if !lower.bytes().next().is_some_and(|first| self.firsts[usize::from(first)]) {
            return None;
        }
        let bare = lower.strip_suffix("'s").unwrap_or(lower);
        let plural = bare.strip_suffix("es").or(bare.strip_suffix('s')).filter(|stem| stem.len() > 3);
        self.words.get(bare).or_else(|| plural.and_then(|stem| self.words.get(stem))).copied()
    }

    fn hit(&self, context: &DocumentContext<'_>, at: usize, token: &TextToken) -> Option<usize> {
        if token.kind != TextTokenKind::Word {
            return None;
        }
        if let Some((strength, person)) = self.word(context.lower(token)) {
            let large = token.is_capitalized();
            let sure = match strength {
                NameStrength::Sure => true,
                NameStrength::Short => large,
                NameStrength::Common => {
                    (large && !words::reads_as_common(context, at)) || words::cue_of_a_name(context, at)
                }
            };
            return sure.then_some(person);
        }
        self.initials_at(context, at, token)
    }

    /// "JPG" or "J.P.G.", of a known person.
    fn initials_at(&self, context: &DocumentContext<'_>, at: usize, token: &TextToken) -> Option<usize> {
        let lower = context.lower(token);
        if token.case == LetterCase::Upper && lower.len() >= 2 {
            return self.initials.get(lower).copied().filter(|_| lower.len() > 2 || !words::is_abbreviation(lower));
        }
        if lower.len() != 1 || token.case == LetterCase::Lower || !context.view.plain[token.span.end..].starts_with('.')
        {
            return None;
        }
        // The whole run of dotted initials around this letter decides.
        let (mut first, mut last) = (at, at);
        while first >= 2 && is_dotted_initial(context, first - 2) {
            first -= 2;
        }
        while is_dotted_initial(context, last + 2) || is_closing_initial(context, last + 2) {
            last += 2;
        }
        let run: String = (first..=last).step_by(2).map(|index| context.lower(&context.tokens[index])).collect();
        (run.len() >= 2).then(|| self.initials.get(&run).copied()).flatten()
    }

    /// Initials and titles of forms before the first word: "J. Pérez".
    fn reach_back(&self, context: &DocumentContext<'_>, at: usize, person: usize) -> usize {
        let mut first = at;
        while first >= 2 && is_dotted_initial(context, first - 2) && self.starts_word(context, first - 2, person) {
            first -= 2;
        }
        if first == at && at >= 1 && context.touches(at - 1, at) {
            let before = &context.tokens[at - 1];
            let single = before.is_word() && before.span.len() == 1 && before.case == LetterCase::Title;
            if single && self.starts_word(context, at - 1, person) {
                first -= 1;
            }
        }
        // "esperanza ruescas": a common word of the person's names next to a sure one.
        while first >= 1 && context.touches(first - 1, first) && self.follows(context, first - 1, person) {
            first -= 1;
        }
        first
    }

    /// Further words of the same person, with particles, commas, hyphens and initials between them.
    fn reach_on(&self, context: &DocumentContext<'_>, hits: &[Option<usize>], at: usize, person: usize) -> usize {
        let mut last = at;
        let mut look = at + 1;
        while look < hits.len() && look <= last + 4 {
            let token = &context.tokens[look];
            if hits[look].is_some() || self.follows(context, look, person) {
                last = look;
            } else if token.kind == TextTokenKind::Word && !is_no_part_of_a_name(context.lower(token)) {
                break;
            } else if token.kind == TextTokenKind::Sign && !matches!(context.plain(token), "," | "-" | "." | "'") {
                break;
            } else if matches!(token.kind, TextTokenKind::Number | TextTokenKind::Break) {
                break;
            }
            look += 1;
        }
        // "Pérez G." ends with its dot.
        let dotted = context.tokens[last].span.len() == 1 && context.touches(last, last + 1);
        let dot = context.tokens.get(last + 1).is_some_and(|token| context.plain(token) == ".");
        if dotted && dot { last + 1 } else { last }
    }

    /// A word that only counts next to another one of the same person: an initial, a common word in any case.
    fn follows(&self, context: &DocumentContext<'_>, at: usize, person: usize) -> bool {
        let token = &context.tokens[at];
        if token.kind != TextTokenKind::Word {
            return false;
        }
        let lower = context.lower(token);
        if token.span.len() == 1 {
            return token.case != LetterCase::Lower && self.starts_word(context, at, person);
        }
        self.words.get(lower).is_some_and(|&(_, of)| of == person)
    }

    fn starts_word(&self, context: &DocumentContext<'_>, at: usize, person: usize) -> bool {
        let letter = context.lower(&context.tokens[at]);
        self.subjects[person].split(' ').any(|word| word.starts_with(letter))
    }
}

fn is_dotted_initial(context: &DocumentContext<'_>, at: usize) -> bool {
    is_closing_initial(context, at) && context.tokens.get(at + 1).is_some_and(|dot| context.plain(dot) == ".")
}

fn is_closing_initial(context: &DocumentContext<'_>, at: usize) -> bool {
    context.tokens.get(at).is_some_and(|token| {
        token.kind == TextTokenKind::Word && token.span.len() == 1 && token.case != LetterCase::Lower
    })
}
