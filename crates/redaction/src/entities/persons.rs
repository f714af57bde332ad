//! Names of people: runs of capitalised words that the lists contain, and words after a title or a cue.

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextTokenKind};
use super::cues::{NameTrigger, PARTICLES, RELATIONS, TITLES, is_field, is_function, trigger};
use super::uncased_names::{is_addressed, lower_run};
use super::words::near;
use super::{eponyms, lexicon, person_verbs, words};
use crate::deadline;
use anamnesis_text::{Language, Span};

const LONGEST: usize = 9;
const ABBREVIATION: usize = 4;

/// Finds names of people.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let mut at = 0;
    while at < context.tokens.len() {
        deadline::check_at(at);
        if let Some(span) = inverted(context, at) {
            found.push(PiiFinding::new(span, label::PERSON, "name_inverted", 0.8, DetectionLayer::Entity));
        }
        if !may_begin(context, at) {
            at += 1;
            continue;
        }
        let trigger = trigger(context, at);
        match run_from(context, at, trigger) {
            Some((last, score)) => {
                let span = Span::new(context.tokens[at].span.start, context.tokens[last].span.end);
                found.push(PiiFinding::new(span, label::PERSON, "name", score, DetectionLayer::Entity));
                at = last + 1;
            }
            None => at += 1,
        }
    }
}

/// "SMITHERS, DOROTHEA", "Rutherford, Imogen": two capitalised words around a comma. The second is a first name, the
/// first a surname or an unlisted word.
fn inverted(context: &DocumentContext<'_>, at: usize) -> Option<Span> {
    let [last, comma, first] = context.tokens.get(at..at + 3)? else { return None };
    let large = last.is_capitalized() && first.is_capitalized() && last.case == first.case && !context.no_case();
    if !large || context.plain(comma) != "," || last.span.len() < 3 || first.span.len() < 3 {
        return None;
    }
    let (family, given) = (context.lower(last), context.lower(first));
    let named = lexicon::word(given).given && !lexicon::is_ordinary(given) && !super::places::is_place(given);
    let family_word = lexicon::word(family);
    let fits = family_word.surname && !family_word.given
        || !family_word.is_name() && !lexicon::is_ordinary(family) && !super::places::is_place(family);
    // "Hola, Julieta": a greeting is no surname.
    let is_greeting = super::cues::CUES.contains(family);
    (named && fits && !is_greeting && !is_field(family)).then(|| Span::new(last.span.start, first.span.end))
}

fn may_begin(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    token.is_word() && (token.is_capitalized() || lexicon::is_name(context.lower(token)) || is_addressed(context, at))
}

/// The name that starts at a token: its last token and its score.
fn run_from(context: &DocumentContext<'_>, at: usize, trigger: NameTrigger) -> Option<(usize, f64)> {
    let first = &context.tokens[at];
    if first.kind != TextTokenKind::Word {
        return None;
    }
    if !first.is_capitalized() {
        return lower_run(context, at, trigger);
    }
    let titled = context.tokens.get(at + 1).is_some_and(|next| next.is_capitalized() || context.plain(next) == ".");
    if TITLES.contains(context.lower(first)) && titled && trigger == NameTrigger::None {
        return None;
    }
    let (mut last, mut tally) =
        (at, NameTally { english: context.language == Language::English, ..NameTally::default() });
    let mut look = at;
    while look < context.tokens.len() && look < at + LONGEST {
        match step(context, at, look, trigger, &mut tally) {
            NameStep::Take => last = look,
            NameStep::Skip => {}
            NameStep::Stop => break,
        }
        look += 1;
    }
    tally.acts = last == at && first.is_capitalized() && person_verbs::acts(context, last);
    tally.titled = is_after_title(context, at);
    let score = tally.score(trigger)?;
    // A single word in capitals is an abbreviation rather than a name: "ADA", "CEA", "baby ASA".
    let unlisted = tally.given + tally.surnames + tally.weak == 0 && first.span.len() <= ABBREVIATION;
    if last == at
        && first.case == LetterCase::Upper
        && (trigger == NameTrigger::None || trigger != NameTrigger::Strong && unlisted)
    {
        return None;
    }
    // "Hoyer lift": a lone surname with the noun that it belongs to names a thing.
    let given = lexicon::word(context.lower(first));
    let doubtful = tally.given == 0 || given.surname && !words::is_everyday_name(context.lower(first));
    if trigger == NameTrigger::None && doubtful && person_verbs::leads_a_noun(context, at, last) {
        return None;
    }
    let thing = trigger != NameTrigger::Strong
        && (eponyms::denotes_thing(context, at, last) || eponyms::is_hyphenated(context, at, last + 1));
    (!thing && !is_heading(context, last)).then_some((last, score))
}

pub(crate) enum NameStep {
    Take,
    /// Particles and hyphens: part of the name only before another part of it.
    Skip,
    Stop,
}

#[derive(Default)]
struct NameTally {
    given: usize,
    surnames: usize,
    /// Names that are also everyday words.
    weak: usize,
    weak_given_first: bool,
    unknown: usize,
    initials: usize,
    /// In English a noun follows the name of a thing ("Hoyer lift"), so a lone surname is a person.
    english: bool,
    /// A verb that only people have follows.
    acts: bool,
    titled: bool,
}

impl NameTally {
    fn score(&self, trigger: NameTrigger) -> Option<f64> {
        let names = self.given + self.surnames;
        let all = names + self.weak + self.unknown;
        let score = match trigger {
            NameTrigger::Strong if all > 0 || self.initials > 0 && self.titled => 0.95,
            NameTrigger::Weak if names > 0 || self.weak_given_first => 0.85,
            NameTrigger::Relation if names > 0 || self.weak_given_first || self.unknown > 0 => 0.85,
            _ if self.acts && (self.weak_given_first || self.unknown > 0) => 0.75,
            _ if self.given > 0 && all > 1 => 0.9,
            _ if self.given > 0 => 0.75,
            _ if self.surnames > 0 && self.english => 0.6,
            // "T. Lindqvist".
            _ if self.initials > 0 && self.unknown == 1 && self.english && all == 1 => 0.7,
            _ if self.surnames > 1 || (self.surnames > 0 && (self.initials > 0 || self.weak_given_first)) => 0.75,
            _ => return None,
        };
        Some(score)
    }
}

fn step(
    context: &DocumentContext<'_>,
    start: usize,
    at: usize,
    trigger: NameTrigger,
    tally: &mut NameTally,
) -> NameStep {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if token.kind == TextTokenKind::Sign {
        let inside =
            at > start && matches!(lower, "-" | "'" | "ª" | "º") || lower == "." && is_initial(context, at - 1);
        let tight = context.tokens[at - 1].span.end == token.span.start;
        return if inside && tight { NameStep::Skip } else { NameStep::Stop };
    }
    if token.kind != TextTokenKind::Word || at > start && !near(context, at) {
        return NameStep::Stop;
    }
    // "M.a José" is an abbreviated María.
    if lower == "a"
        && at >= start + 2
        && is_initial(context, at - 2)
        && context.tokens[at - 1].span.end == token.span.start
    {
        return NameStep::Skip;
    }
    if !token.is_capitalized() {
        let particle = at > start && PARTICLES.contains(lower) && capitalized_follows(context, at);
        return if particle { NameStep::Skip } else { NameStep::Stop };
    }
    if is_initial(context, at) {
        tally.initials += 1;
        return NameStep::Take;
    }
    if at > start && PARTICLES.contains(lower) && capitalized_follows(context, at) {
        return NameStep::Skip;
    }
    take_word(context, start, at, trigger, tally)
}

/// Products and services that begin with a title: "Mrs. Dash", "MS Contin", "Dr. Google".
const TITLED_THINGS: &[&str] = &["dash", "contin", "google", "scholl", "scholl's", "clean", "pepper"];

fn take_word(
    context: &DocumentContext<'_>,
    start: usize,
    at: usize,
    trigger: NameTrigger,
    tally: &mut NameTally,
) -> NameStep {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    if at == start && TITLED_THINGS.contains(&lower) && is_after_title(context, at) {
        return NameStep::Stop;
    }
    let word = lexicon::word(lower.strip_suffix("'s").unwrap_or(lower));
    if TITLES.contains(lower) && !word.is_name() || is_field(lower) || is_function(lower) && !word.is_strong() {
        return NameStep::Stop;
    }
    let shouted = token.case == LetterCase::Upper;
    match (word.is_strong(), word.is_name(), word.common) {
        // "Dulce de leche": a first name that is also an ordinary word counts only with a surname.
        (true, _, _) if word.given && lexicon::is_ordinary(lower) && tally.given == 0 => {
            tally.weak_given_first |= at == start;
            tally.weak += 1;
        }
        (true, _, _) if word.given && (at == start || tally.surnames == 0) => tally.given += 1,
        // "Music is a comfort": a surname that is also an ordinary word is no person by itself.
        (true, _, _)
            if at == start
                && trigger == NameTrigger::None
                && lexicon::is_ordinary(lower)
                && !shouted
                && !person_verbs::acts(context, at) =>
        {
            return NameStep::Stop;
        }
        (true, _, _) => tally.surnames += 1,
        (_, true, _) => {
            let stops = tally.given + tally.surnames + tally.weak == 0 && trigger == NameTrigger::None && !word.given;
            if stops || at > start && (lexicon::is_eponym(lower) && trigger == NameTrigger::None && tally.given == 0) {
                return NameStep::Stop;
            }
            tally.weak_given_first |= at == start && word.given;
            tally.weak += 1;
        }
        // "Mrs. Pain denies": after a capitalised title every capitalised word is a name.
        (_, _, true) if at == start && is_after_title(context, at) && token.case == LetterCase::Title => {
            tally.unknown += 1
        }
        (_, _, true) => return NameStep::Stop,
        _ => {
            let own = token.case == LetterCase::Title && lower.len() > 2 && !RELATIONS.contains(lower);
            let acts = || at == start && own && !context.no_case() && person_verbs::acts(context, at);
            let welcome = tally.given > 0 || tally.initials > 0 || trigger != NameTrigger::None || acts();
            let known = tally.given + tally.surnames + tally.weak > 0;
            if !welcome
                || trigger != NameTrigger::Strong && lexicon::is_ordinary_in(context.language, lower)
                || (shouted && !context.tokens[start].is_word())
                || lower.len() < 2
                || (shouted && lower.len() < 4 && known)
            {
                return NameStep::Stop;
            }
            tally.unknown += 1;
        }
    }
    NameStep::Take
}

/// One capital letter, with or without its full stop.
fn is_initial(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let ordinal = context.view.plain[token.span.end..].starts_with('ª');
    // "67F": a letter that touches a number is a sex or a unit.
    let clings = at.checked_sub(1).is_some_and(|before| {
        let before = &context.tokens[before];
        before.kind == TextTokenKind::Number && before.span.end == token.span.start
    });
    let short = token.span.len() == 1 || token.span.len() == 2 && ordinal;
    token.kind == TextTokenKind::Word && token.is_capitalized() && short && !clings
}

/// "Dr. M", "Sra. L": directly after a capitalised title.
fn is_after_title(context: &DocumentContext<'_>, at: usize) -> bool {
    const SHORT: &[&str] = &["dr", "dra", "mr", "mrs", "ms", "miss", "sr", "sra"];
    let dotted = at > 1 && context.plain(&context.tokens[at - 1]) == ".";
    let title = at.checked_sub(1 + usize::from(dotted)).map(|before| &context.tokens[before]);
    title.is_some_and(|title| title.is_capitalized() && SHORT.contains(&context.lower(title)))
}

fn capitalized_follows(context: &DocumentContext<'_>, at: usize) -> bool {
    (at + 1..=at + 2).any(|next| {
        context.tokens.get(next).is_some_and(|token| {
            token.is_capitalized()
                && near(context, next)
                && (next == at + 1 || PARTICLES.contains(context.lower(&context.tokens[next - 1])))
        })
    })
}

/// "Nombre:" itself is no name.
fn is_heading(context: &DocumentContext<'_>, last: usize) -> bool {
    context.tokens.get(last + 1).is_some_and(|token| context.plain(token) == ":")
        && !context.no_case()
        && lexicon::word(context.lower(&context.tokens[last])).common
}
