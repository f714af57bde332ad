//! How a person wants to be spoken with and treated, read from a stated preference (seed 001, section 7; model.md, "Job
//! runs": stated preferences): topics and values of a closed vocabulary, Spanish and English. A preference that fits
//! none of them is stored as it was said. Treatments are not among them, since what a patient takes belongs to the
//! clinical store.

use super::coded_enum::codes;
use super::wording::{FoldedWord, denies, person, words};

#[rustfmt::skip] // lists of words read as paragraphs
#[path = "preference_words.rs"]
mod vocabulary;
use vocabulary::{
    AFTER_CALLING, AGAINST, CONDITIONS, CONTRAST, FILLERS, HOLLOW, KNOWING, LIKING, NOTHING_LASTING, REACH, SIGNS,
    SUBJECTS, TALK, TELLING, VISIT, WHERE,
};

codes!(
    /// The topic of a preference, as it is shown.
    Topic {
        Address = "form of address",
        Calls = "phone calls",
        Messages = "written messages",
        Voicemail = "voice messages",
        Email = "e-mail",
        Setting = "sessions",
        TimeOfDay = "time of appointments",
        Language = "language",
        Clinician = "clinician",
        Format = "group or alone",
        Tone = "tone",
        Length = "explanations",
        Touch = "being touched",
        /// Of a relative, who may be informed or not.
        Contact = "contact with",
        Subject = "talking about",
    }
);

/// The status of a pattern that consolidation made of such statements.
pub const STATED: &str = "stated";
/// The values of topics that are wanted or not.
pub const WANTED: &str = "wanted";
pub const UNWANTED: &str = "unwanted";

/// One thing that a person said they prefer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatedPreference {
    pub topic: Topic,
    /// Which relative, which subject, where: each is separate.
    pub about: Option<String>,
    /// [`WANTED`], [`UNWANTED`], one of the values of a topic with a choice, or "not" and that.
    pub value: String,
}

impl StatedPreference {
    /// The key by which a later statement replaces this one: topic and object.
    pub fn key(&self) -> String {
        format!("{}|{}", self.topic.code(), self.about.as_deref().unwrap_or(""))
    }

    /// `phone calls (at work)`, `contact with mother`.
    pub fn heading(&self) -> String {
        match (&self.about, self.topic) {
            (None, topic) => topic.code().to_owned(),
            (Some(about), Topic::Contact | Topic::Subject) => format!("{} {about}", self.topic.code()),
            (Some(about), topic) => format!("{} ({about})", topic.code()),
        }
    }
}

/// The words that must come with a sign, so that it concerns care and not life at large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignContext {
    Nothing,
    /// Nothing that makes it a name.
    Calling,
    /// A visit, or nothing but that it is preferred.
    Visit,
    /// Speech, or nothing but that it is preferred.
    Talk,
    /// Something that is sent, or nothing but that it is liked or not.
    Reach,
}

struct PreferenceSign {
    topic: Topic,
    value: &'static str,
    needs: SignContext,
    phrases: &'static [&'static str],
}

/// Where a sign begins, how many words it has, and which it is.
type SignMatch = (usize, usize, &'static PreferenceSign);

const LONGEST_SUBJECT: usize = 3;

/// The communication and treatment that a stated preference asks for, in the order of topics. Conditional statements,
/// statements for now only, and statements that contradict themselves give nothing.
pub fn stated(text: &str) -> Vec<StatedPreference> {
    let words: Vec<FoldedWord> = words(text).into_iter().filter(|word| !word.is_sign()).collect();
    let clause = PreferenceClause { words: words.iter().map(|word| word.folded.as_str()).collect() };
    if NOTHING_LASTING.iter().any(|phrase| clause.find(phrase).is_some()) {
        return Vec::new();
    }
    let mut found: Vec<StatedPreference> = Vec::new();
    found.extend(clause.subject());
    let contact = clause.contact();
    let is_contact = contact.is_some();
    found.extend(contact);
    if found.iter().all(|one| one.topic != Topic::Subject) {
        found.extend(clause.signs().filter(|one| !(is_contact && one.topic == Topic::Calls)));
    }
    settled(found)
}

/// One statement of each topic and object. Of a choice, a preferred value says more than a rejected one; two different
/// values say nothing.
fn settled(mut found: Vec<StatedPreference>) -> Vec<StatedPreference> {
    found.sort();
    found.dedup();
    let preferred: Vec<String> =
        found.iter().filter(|one| !one.value.starts_with("not ")).map(|one| one.key()).collect();
    found.retain(|one| !one.value.starts_with("not ") || !preferred.contains(&one.key()));
    let keys: Vec<String> = found.iter().map(StatedPreference::key).collect();
    found.retain(|one| keys.iter().filter(|key| **key == one.key()).count() == 1);
    found
}

struct PreferenceClause<'w> {
    words: Vec<&'w str>,
}

impl PreferenceClause<'_> {
    fn find(&self, phrase: &[&str]) -> Option<usize> {
        (0..self.words.len()).find(|at| self.words[*at..].starts_with(phrase))
    }

    fn has(&self, any_of: &[&str]) -> bool {
        self.words.iter().any(|word| any_of.contains(word))
    }

    /// The signs that begin here, the longest first, none within another.
    fn signs(&self) -> impl Iterator<Item = StatedPreference> {
        let mut places: Vec<SignMatch> = Vec::new();
        for sign in SIGNS {
            for phrase in sign.phrases {
                let phrase: Vec<&str> = phrase.split(' ').collect();
                let at = (0..self.words.len()).filter(|at| self.words[*at..].starts_with(&phrase));
                places.extend(at.map(|at| (at, phrase.len(), sign)));
            }
        }
        places.sort_by_key(|(at, length, _)| (std::cmp::Reverse(*length), *at));
        let mut taken: Vec<SignMatch> = Vec::new();
        for place in places {
            if taken.iter().all(|other| place.0 + place.1 <= other.0 || other.0 + other.1 <= place.0) {
                taken.push(place);
            }
        }
        let place = self.place(&taken);
        let is_channel = |topic| matches!(topic, Topic::Calls | Topic::Messages | Topic::Voicemail | Topic::Email);
        let reaches = taken.iter().any(|(_, _, sign)| is_channel(sign.topic));
        let found: Vec<StatedPreference> = taken
            .iter()
            // "No me llame por la mañana" says when not to call.
            .filter(|(_, _, sign)| !(reaches && sign.topic == Topic::TimeOfDay))
            .filter(|place| self.is_meant(place, &taken))
            .filter_map(|(at, length, sign)| {
                let about = place.clone().filter(|_| is_channel(sign.topic));
                self.stated(sign.topic, about, sign.value, *at, *at + *length)
            })
            .collect();
        found.into_iter()
    }

    fn place(&self, taken: &[SignMatch]) -> Option<String> {
        let named = WHERE.iter().find(|(_, phrases)| {
            phrases.iter().any(|phrase| self.find(&phrase.split(' ').collect::<Vec<_>>()).is_some())
        });
        let time = || {
            let time = taken.iter().find(|(_, _, sign)| sign.topic == Topic::TimeOfDay);
            time.map(|(_, _, sign)| format!("in the {}", sign.value))
        };
        named.map(|(name, _)| (*name).to_owned()).or_else(time)
    }

    fn is_meant(&self, place: &SignMatch, taken: &[SignMatch]) -> bool {
        let (at, length, sign) = place;
        let is_sign = |n: usize| taken.iter().any(|(at, length, _)| (*at..at + length).contains(&n));
        let is_contrast = |word: &&str| CONTRAST.iter().any(|phrase| phrase.contains(word));
        let bare = |also: &[&str]| {
            let rest = self.words.iter().enumerate().filter(|(n, word)| !is_sign(*n) && !is_contrast(word));
            rest.into_iter().all(|(_, word)| [FILLERS, AGAINST, also].iter().any(|list| list.contains(word)))
        };
        match sign.needs {
            SignContext::Nothing => true,
            SignContext::Calling => self.words.get(at + length).is_none_or(|next| AFTER_CALLING.contains(next)),
            SignContext::Visit => self.has(VISIT) || bare(&[]),
            SignContext::Talk => self.has(TALK) || bare(&[]),
            SignContext::Reach => self.has(REACH) || bare(LIKING),
        }
    }

    fn stated(
        &self,
        topic: Topic,
        about: Option<String>,
        value: &str,
        at: usize,
        end: usize,
    ) -> Option<StatedPreference> {
        if self.words[end..].iter().any(|word| CONDITIONS.contains(word)) {
            return None;
        }
        let value = match (self.is_for(at)?, value) {
            (true, value) => value.to_owned(),
            (false, WANTED) => UNWANTED.to_owned(),
            (false, value) => format!("not {value}"),
        };
        Some(StatedPreference { topic, about, value })
    }

    /// Whether the sign here is preferred; `None` where that is unclear ("no me molesta que me llamen").
    fn is_for(&self, at: usize) -> Option<bool> {
        let contrast = CONTRAST.iter().filter_map(|phrase| self.find(phrase)).filter(|at| *at > 0).min();
        let before = &self.words[..contrast.unwrap_or(self.words.len())];
        let beyond = contrast.is_some_and(|contrast| contrast < at);
        // "Las llamadas no me gustan": the object comes first.
        let until = if at <= 2 || beyond { before.len() } else { at.min(before.len()) };
        let denied = before[..until].iter().any(|word| denies(word));
        let against = before.iter().any(|word| AGAINST.contains(word));
        if denied && against {
            return None;
        }
        Some((denied || against) == beyond)
    }

    /// "Prefiero no hablar de mi padre".
    fn subject(&self) -> Option<StatedPreference> {
        let (at, length) = SUBJECTS.iter().find_map(|phrase| Some((self.find(phrase)?, phrase.len())))?;
        let words = self.words[at + length..].iter().filter(|word| !HOLLOW.contains(word)).take(LONGEST_SUBJECT);
        let about: Vec<&str> = words.map(|word| person(word).unwrap_or(word)).collect();
        if about.is_empty() {
            return None;
        }
        self.stated(Topic::Subject, Some(about.join(" ")), WANTED, at, at + length)
    }

    /// "No quiero que llamen a mi madre", "I don't want my family to know".
    fn contact(&self) -> Option<StatedPreference> {
        let (at, who) = self.words.iter().enumerate().find_map(|(at, word)| Some((at, person(word)?)))?;
        let (before, after) = (&self.words[..at], &self.words[at + 1..]);
        let mine = |word: &str| matches!(word, "mi" | "mis" | "my");
        let owned = before.last().is_some_and(|word| mine(word));
        let is_telling = before.iter().any(|word| TELLING.contains(word))
            && (before.ends_with(&["a", "mi"]) || before.ends_with(&["a", "mis"]) || before.ends_with(&["my"]));
        let knows = before.iter().chain(after).any(|word| KNOWING.contains(word));
        if !owned || !(is_telling || knows) {
            return None;
        }
        // "Prefiero que mi familia no lo sepa": the denial may come after.
        let denied = self.words.iter().any(|word| denies(word) || AGAINST.contains(word));
        let stated = self.stated(Topic::Contact, Some(who.to_owned()), WANTED, at, at + 1)?;
        Some(if denied { StatedPreference { value: UNWANTED.to_owned(), ..stated } } else { stated })
    }
}

#[cfg(test)]
#[path = "preference_tests.rs"]
mod tests;
