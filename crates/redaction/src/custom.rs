//! Recognisers and allow lists of an organisation's own, from a file. Patterns run over the folded text (lower case, no
//! accents) in linear time; what is wrong in a file is said by its place, never by its text.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::context::Context;
use super::entities::words::{fold, stands_alone};
use super::finding::{Finding, Layer};
use super::identifiers::has_keyword_before;
use super::label;
use anamnesis_linear_model::hash;
use anamnesis_text::Span;

/// Most bytes that a compiled pattern may take.
const LARGEST: usize = 1 << 20;

/// What is wrong with a file of recognisers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomError {
    #[error("the file is not TOML of the right form: {0}")]
    Form(String),
    #[error("{place}: {problem}")]
    At { place: String, problem: &'static str },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    recogniser: Vec<Written>,
    #[serde(default)]
    allow: Allow,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    label: String,
    pattern: Option<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default = "sure")]
    score: f64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allow {
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
}

fn sure() -> f64 {
    0.9
}

struct Recogniser {
    label: &'static str,
    regex: Regex,
    keywords: Vec<String>,
    score: f64,
}

/// The compiled file.
#[derive(Default)]
pub struct Custom {
    recognisers: Vec<Recogniser>,
    allowed: Vec<Regex>,
    version: u32,
}

impl Custom {
    /// Reads a file of recognisers and allowed words.
    ///
    /// # Errors
    /// When the text has another form, a label does not exist, a pattern is none, matches nothing or is too large.
    pub fn from_toml(text: &str) -> Result<Self, CustomError> {
        let file: File = toml::from_str(text)
            .map_err(|error| CustomError::Form(error.message().lines().next().unwrap_or_default().to_owned()))?;
        let version = hash::of(text.as_bytes()) as u32;
        let mut custom = Self { version, ..Self::default() };
        for (at, written) in file.recogniser.into_iter().enumerate() {
            custom.recognisers.push(compile(written, &format!("recogniser[{at}]"))?);
        }
        if !file.allow.words.is_empty() {
            custom.allowed.push(any_of(&file.allow.words, "allow.words")?);
        }
        for (at, pattern) in file.allow.patterns.iter().enumerate() {
            custom.allowed.push(regex(pattern, &format!("allow.patterns[{at}]"))?);
        }
        Ok(custom)
    }

    /// A number that changes with the file.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// Adds what the organisation's recognisers find.
    pub(super) fn find(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
        let lower = &context.view.lower;
        for recogniser in &self.recognisers {
            for hit in recogniser.regex.find_iter(lower) {
                let span = Span::new(hit.start(), hit.end());
                let keywords: Vec<&str> = recogniser.keywords.iter().map(String::as_str).collect();
                let told = keywords.is_empty() || has_keyword_before(lower, span, &keywords);
                if told && stands_alone(lower, span) {
                    found.push(Finding::new(span, recogniser.label, "custom", recogniser.score, Layer::Identifier));
                }
            }
        }
    }

    /// Drops what lies within an allowed stretch. People named in the message and check digits are not allowed away.
    pub(super) fn allow(&self, context: &Context<'_>, found: &mut Vec<Finding>) {
        let lower = &context.view.lower;
        let allowed: Vec<Span> = self
            .allowed
            .iter()
            .flat_map(|regex| regex.find_iter(lower).map(|hit| Span::new(hit.start(), hit.end())))
            .filter(|span| stands_alone(lower, *span))
            .collect();
        if allowed.is_empty() {
            return;
        }
        let firm =
            |one: &Finding| one.layer == Layer::Identity || one.layer == Layer::Identifier && one.score >= sure();
        found.retain(|one| firm(one) || !allowed.iter().any(|span| span.contains(&one.span)));
    }
}

fn compile(written: Written, place: &str) -> Result<Recogniser, CustomError> {
    let wrong = |field: &str, problem| CustomError::At { place: format!("{place}.{field}"), problem };
    let label = label::ALL.iter().find(|known| **known == written.label).copied();
    let label = label.ok_or_else(|| wrong("label", "names no label of the contract"))?;
    if !(0.0..=1.0).contains(&written.score) {
        return Err(wrong("score", "must lie between 0 and 1"));
    }
    let regex = match (written.pattern, written.words.is_empty()) {
        (Some(pattern), true) => regex(&pattern, &format!("{place}.pattern"))?,
        (None, false) => any_of(&written.words, &format!("{place}.words"))?,
        _ => return Err(wrong("pattern", "needs either `pattern` or `words`")),
    };
    let keywords: Vec<String> = written.keywords.iter().map(|word| fold(word)).collect();
    if keywords.iter().any(|word| word.trim().is_empty()) {
        return Err(wrong("keywords", "has an empty word"));
    }
    Ok(Recogniser { label, regex, keywords, score: written.score })
}

fn regex(pattern: &str, place: &str) -> Result<Regex, CustomError> {
    let wrong = |problem| CustomError::At { place: place.to_owned(), problem };
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(LARGEST)
        .build()
        .map_err(|_| wrong("is no pattern, or one that is too large"))?;
    if regex.is_match("") { Err(wrong("matches the empty text")) } else { Ok(regex) }
}

fn any_of(words: &[String], place: &str) -> Result<Regex, CustomError> {
    let folded: Vec<String> = words.iter().map(|word| regex::escape(fold(word).trim())).collect();
    if folded.iter().any(String::is_empty) {
        return Err(CustomError::At { place: place.to_owned(), problem: "has an empty word" });
    }
    regex(&folded.join("|"), place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        Custom::from_toml(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_wrong_is_said_by_its_place_and_never_by_its_text() {
        let at = |body: &str| wrong(&format!("[[recogniser]]\n{body}"));
        assert_eq!(at("label = \"SECRET\"\nwords = [\"a\"]"), "recogniser[0].label: names no label of the contract");
        assert_eq!(
            at("label = \"PERSON\"\npattern = \"(secret\""),
            "recogniser[0].pattern: is no pattern, or one that is too large"
        );
        assert_eq!(at("label = \"PERSON\"\npattern = \"x*\""), "recogniser[0].pattern: matches the empty text");
        assert_eq!(at("label = \"PERSON\""), "recogniser[0].pattern: needs either `pattern` or `words`");
        assert_eq!(at("label = \"PERSON\"\nwords = [\"\"]"), "recogniser[0].words: has an empty word");
        assert!(wrong("[allow]\nwrds = []").contains("wrds"));
    }
}
