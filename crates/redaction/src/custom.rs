//! Recognisers and allow lists of an organisation's own, from a file. Patterns run over the folded text (lower case, no
//! accents) in linear time; what is wrong in a file is said by its place, never by its text.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::document::DocumentContext;
use super::entities::words::{fold, is_whole_word};
use super::finding::{DetectionLayer, PiiFinding};
use super::identifiers::has_keyword_before;
use super::label;
use anamnesis_linear_model::hash;
use anamnesis_text::Span;

/// Most bytes that a compiled pattern may take.
// A pattern such as "(a{1000}){1000}" must fail at the start, not fill the memory.
const LARGEST: usize = 1 << 20;

/// A fault of a file of recognisers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomError {
    #[error("the file is not valid TOML for recognisers: {0}")]
    Form(String),
    #[error("{place}: {problem}")]
    At { place: String, problem: &'static str },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct File")]
struct CustomFile {
    #[serde(default)]
    recogniser: Vec<CustomEntry>,
    #[serde(default)]
    allow: AllowList,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Written")]
struct CustomEntry {
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
#[serde(deny_unknown_fields, expecting = "struct Allow")]
struct AllowList {
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
}

fn sure() -> f64 {
    0.9
}

struct CustomRecogniser {
    label: &'static str,
    regex: Regex,
    keywords: Vec<String>,
    score: f64,
}

/// The compiled file.
#[derive(Default)]
pub struct CustomRecognisers {
    recognisers: Vec<CustomRecogniser>,
    allowed: Vec<Regex>,
    version: u32,
}

impl CustomRecognisers {
    /// Reads a file of recognisers and allowed words.
    ///
    /// # Errors
    /// When the text has another form, a label does not exist, a pattern is none, matches nothing or is too large.
    pub fn from_toml(text: &str) -> Result<Self, CustomError> {
        let file: CustomFile = toml::from_str(text)
            // One line only: an error must never quote the text of the file.
            .map_err(|error| CustomError::Form(error.message().lines().next().unwrap_or_default().to_owned()))?;
        let version = hash::hash_bytes(text.as_bytes()) as u32;
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
    pub(super) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let lower = &context.view.lower;
        for recogniser in &self.recognisers {
            for hit in recogniser.regex.find_iter(lower) {
                let span = Span::new(hit.start(), hit.end());
                let keywords: Vec<&str> = recogniser.keywords.iter().map(String::as_str).collect();
                let told = keywords.is_empty() || has_keyword_before(lower, span, &keywords);
                if told && is_whole_word(lower, span) {
                    found.push(PiiFinding::new(
                        span,
                        recogniser.label,
                        "custom",
                        recogniser.score,
                        DetectionLayer::Identifier,
                    ));
                }
            }
        }
    }

    /// Drops what lies within an allowed stretch. People named in the message and check digits are not allowed away.
    pub(super) fn allow(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let lower = &context.view.lower;
        let allowed: Vec<Span> = self
            .allowed
            .iter()
            .flat_map(|regex| regex.find_iter(lower).map(|hit| Span::new(hit.start(), hit.end())))
            .filter(|span| is_whole_word(lower, *span))
            .collect();
        if allowed.is_empty() {
            return;
        }
        // An allow list must not expose people named in the message or values with a valid check digit.
        let firm = |one: &PiiFinding| {
            one.layer == DetectionLayer::Identity || one.layer == DetectionLayer::Identifier && one.score >= sure()
        };
        found.retain(|one| firm(one) || !allowed.iter().any(|span| span.contains(&one.span)));
    }
}

fn compile(written: CustomEntry, place: &str) -> Result<CustomRecogniser, CustomError> {
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
    Ok(CustomRecogniser { label, regex, keywords, score: written.score })
}

fn regex(pattern: &str, place: &str) -> Result<Regex, CustomError> {
    let wrong = |problem| CustomError::At { place: place.to_owned(), problem };
    let regex = RegexBuilder::new(pattern)
        // The text is folded to lower case, so a pattern with capitals would never match.
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
        CustomRecognisers::from_toml(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn faults_are_reported_by_position_and_never_by_text() {
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

    /// The findings of a file in a text.
    fn findings(file: &str, text: &str) -> Vec<String> {
        let custom = CustomRecognisers::from_toml(file).unwrap();
        let found = crate::test_support::labelled(text, anamnesis_text::Language::Spanish, |context, found| {
            custom.find(context, found)
        });
        found.into_iter().map(|(label, text)| format!("{label} {text}")).collect()
    }

    #[test]
    fn custom_words_and_patterns_match_whole_words() {
        let words = "[[recogniser]]\nlabel = \"PERSON\"\nwords = [\"Zaraidá\", \"o.k\"]";
        assert_eq!(findings(words, "vino ZARAIDA hoy"), ["PERSON ZARAIDA"]);
        assert!(findings(words, "vino zaraidas hoy, oxk").is_empty(), "a part of a word, and a point that is one");
        let pattern = "[[recogniser]]\nlabel = \"MEDICAL_RECORD\"\npattern = \"exp-[0-9]{3}\"";
        assert_eq!(findings(pattern, "ver EXP-447 hoy"), ["MEDICAL_RECORD EXP-447"]);
        assert!(findings(pattern, "ver EXP-4471 hoy").is_empty());
    }

    #[test]
    fn a_recogniser_with_keywords_asks_for_one_before_the_value() {
        let file = "[[recogniser]]\nlabel = \"LICENSE\"\npattern = \"[0-9]{4}\"\nkeywords = [\"Ficha\"]\nscore = 0.4";
        assert_eq!(findings(file, "ficha 4471 y 4472\n4473"), ["LICENSE 4471", "LICENSE 4472"]);
        assert!(findings(file, "hoja 4471").is_empty());
    }

    #[test]
    fn an_allowed_span_drops_findings_inside_but_people_and_check_digits() {
        let custom =
            CustomRecognisers::from_toml("[allow]\nwords = [\"Hospital Norte\"]\npatterns = [\"sala [0-9]+\"]")
                .unwrap();
        let text = "hospital norte, sala 12, hospital norteno";
        crate::test_support::read(text, anamnesis_text::Language::Spanish, |context| {
            let one = |start, end, score, layer| {
                PiiFinding::new(Span::new(start, end), label::ORGANIZATION, "test", score, layer)
            };
            let mut found = vec![
                one(0, 14, 0.8, DetectionLayer::Entity),
                one(9, 14, 0.8, DetectionLayer::Entity),
                one(0, 14, 1.0, DetectionLayer::Identity),
                one(0, 14, 0.9, DetectionLayer::Identifier),
                one(0, 14, 0.89, DetectionLayer::Identifier),
                one(0, 20, 0.8, DetectionLayer::Entity),
                one(16, 23, 0.8, DetectionLayer::Residual),
                one(25, 41, 0.8, DetectionLayer::Entity),
            ];
            custom.allow(context, &mut found);
            let kept: Vec<_> = found.iter().map(|one| (one.span.start, one.span.end, one.layer)).collect();
            assert_eq!(
                kept,
                [
                    (0, 14, DetectionLayer::Identity),
                    (0, 14, DetectionLayer::Identifier),
                    (0, 20, DetectionLayer::Entity),
                    (25, 41, DetectionLayer::Entity)
                ]
            );
        });
    }

    #[test]
    fn every_fault_has_its_place() {
        let second = "[[recogniser]]\nlabel = \"PERSON\"\nwords = [\"a\"]\n[[recogniser]]\nlabel = \"PERSON\"\n";
        for (body, problem) in [
            ("words = [\"b\"]\nscore = 1.5", "recogniser[1].score: must lie between 0 and 1"),
            ("words = [\"b\"]\npattern = \"b\"", "recogniser[1].pattern: needs either `pattern` or `words`"),
            ("words = [\"b\"]\nkeywords = [\" \"]", "recogniser[1].keywords: has an empty word"),
            ("pattern = \"(a{1000}){1000}\"", "recogniser[1].pattern: is no pattern, or one that is too large"),
        ] {
            assert_eq!(wrong(&format!("{second}{body}")), problem);
        }
        assert_eq!(wrong("[allow]\nwords = [\"\"]"), "allow.words: has an empty word");
        assert_eq!(
            wrong("[allow]\npatterns = [\"a\", \"(\"]"),
            "allow.patterns[1]: is no pattern, or one that is too large"
        );
        assert!(CustomRecognisers::from_toml("").is_ok() && !wrong("recogniser = 3").is_empty());
        let (one, two) = (CustomRecognisers::from_toml("").unwrap(), CustomRecognisers::from_toml("# other").unwrap());
        assert_ne!(one.version(), two.version());
        assert_eq!(one.version(), CustomRecognisers::from_toml("").unwrap().version());
    }
}
