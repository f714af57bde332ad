//! The redactor: layers in order of priority, one merge, one application. Closed on failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use super::custom::CustomRecognisers;
use super::deadline;
use super::document::DocumentContext;
use super::error::RedactionError;
use super::finding::{PiiFinding, cut, merge};
use super::identities::KnownPeople;
use super::operator::Operator;
use super::passes::PassInput;
use super::policy::RedactionPolicy;
use super::redacted::Redacted;
use super::remote::{ExternalFinding, RemoteError, Services};
use super::surrogate::SurrogateKey;
use super::tagger::{ScoreCache, Tagger};
use super::tokenization::TokenKey;
use super::{entities, identifiers, label, residual, spoken_values};
use anamnesis_text::{Document, Span};

/// A stage of the redactor that can be measured separately; each analyses the text again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Folding and cutting into tokens: what every other part needs.
    Reading,
    /// Identifiers, telephones, mail and network addresses.
    Patterns,
    /// Names, places, organisations, dates and addresses by rules and lists.
    Lists,
    Speech,
    Learned,
}

/// The common part of all redactors: the compiled rules and lists.
struct BuiltinRecognisers {
    identifiers: identifiers::Identifiers,
    entities: entities::Entities,
}

/// Compiled once for all policies.
static RULES: LazyLock<BuiltinRecognisers> = LazyLock::new(|| BuiltinRecognisers {
    identifiers: identifiers::Identifiers::builtin(),
    entities: entities::Entities::builtin(),
});
static TAGGER: LazyLock<Arc<Tagger>> = LazyLock::new(|| {
    Arc::new(Tagger::builtin().expect("the model is part of the program, every test of redaction reads it"))
});

/// Compiles what every redactor shares, where that was not done yet: a process that starts does it next to other work.
pub fn warm() {
    LazyLock::force(&RULES);
    LazyLock::force(&TAGGER);
}

/// The model that is used in addition to the rules.
pub(super) enum TaggerSource {
    None,
    /// Loaded at the first use.
    Builtin,
    Own(Arc<Tagger>),
}

impl TaggerSource {
    pub(super) fn tagger(&self) -> Option<&Tagger> {
        match self {
            Self::None => None,
            Self::Builtin => Some(&TAGGER),
            Self::Own(tagger) => Some(tagger),
        }
    }
}

/// A redactor under one policy: cheap to make, shared by all threads.
pub struct Redactor {
    pub(super) policy: RedactionPolicy,
    pub(super) model: TaggerSource,
    pub(super) custom: Option<CustomRecognisers>,
    pub(super) token_key: Option<TokenKey>,
    /// Whether only identifiers and the people of the message are searched.
    pub(super) patterns_only: bool,
    services: Option<Services>,
}

impl Redactor {
    /// The built-in recognisers under a policy. The first document compiles them, unless [`warm`] has.
    pub fn builtin(policy: RedactionPolicy) -> Self {
        Self { model: TaggerSource::Builtin, ..Self::rules_only(policy) }
    }

    /// The built-in rules with another model, to measure training.
    pub fn with_tagger(policy: RedactionPolicy, tagger: Tagger) -> Self {
        Self { model: TaggerSource::Own(Arc::new(tagger)), ..Self::rules_only(policy) }
    }

    /// Rules and lists alone: what training reads.
    pub fn rules_only(policy: RedactionPolicy) -> Self {
        Self { policy, model: TaggerSource::None, custom: None, token_key: None, services: None, patterns_only: false }
    }

    /// Only identifiers and the people of the message, for comparisons with programs that search for patterns. Names
    /// that no message names stay in the text.
    pub fn patterns_only(policy: RedactionPolicy) -> Self {
        Self { patterns_only: true, ..Self::rules_only(policy) }
    }

    /// Adds recognisers and an allow list of the organisation's own.
    #[must_use]
    pub fn custom(self, custom: CustomRecognisers) -> Self {
        Self { custom: Some(custom), ..self }
    }

    /// Gives the key under which a policy with tokens seals values.
    #[must_use]
    pub fn token_key(self, key: TokenKey) -> Self {
        Self { token_key: Some(key), ..self }
    }

    /// Adds services whose findings are redacted too.
    #[must_use]
    pub fn services(self, services: Services) -> Self {
        Self { services: Some(services), ..self }
    }

    /// Policy, recognisers and the organisation's own recognisers, by their versions: what is stored with a document.
    pub fn revision(&self) -> String {
        let own = self.custom.as_ref().map(|custom| format!(".{:08x}", custom.version())).unwrap_or_default();
        self.policy.revision() + &own
    }

    pub fn policy(&self) -> &RedactionPolicy {
        &self.policy
    }

    /// As [`Self::redact`], with the findings of the organisation's additional services. Waits for them.
    ///
    /// # Errors
    /// As [`Self::redact`]; [`RedactionError::ServiceAway`] if a service may answer later, [`RedactionError::Service`] if a
    /// person must decide. No text passes that a service has not seen.
    pub fn redact_with_services(
        &self,
        document: &Document,
        people: &KnownPeople,
        keys: &SurrogateKey,
    ) -> Result<Redacted, RedactionError> {
        self.redact_with(document, people, keys, &self.query_services(document)?)
    }

    /// The findings of the organisation's additional services; empty without services. Waits for them.
    ///
    /// # Errors
    /// As [`Self::redact_with_services`].
    pub fn query_services(&self, document: &Document) -> Result<Vec<ExternalFinding>, RedactionError> {
        self.services.as_ref().map_or(Ok(Vec::new()), |services| services.find(document).map_err(failed))
    }

    /// Redacts a text that was redacted before, by another policy or other recognisers, and calls additional services too.
    /// Existing replacements stay. So do values of labels with the operators `fake` and `shift`, because they cannot be
    /// distinguished from real ones.
    ///
    /// # Errors
    /// As [`Self::redact_with_services`].
    pub fn redact_again(&self, document: &Document, keys: &SurrogateKey) -> Result<Redacted, RedactionError> {
        let remote = match &self.services {
            Some(services) => services.find(document).map_err(failed)?,
            None => Vec::new(),
        };
        catch_unwind(AssertUnwindSafe(|| {
            self.run(document, &KnownPeople::default(), keys, PassInput { found: &remote, known: &[], again: true })
        }))
        .unwrap_or_else(|_| Err(ended()))
    }

    /// Redacts a document. `people` are those the message names, `keys` belong to its patient. Time is linear in the
    /// length of the text. No error contains text of the document.
    pub fn redact(
        &self,
        document: &Document,
        people: &KnownPeople,
        keys: &SurrogateKey,
    ) -> Result<Redacted, RedactionError> {
        self.redact_with(document, people, keys, &[])
    }

    /// As [`Self::redact`], and redacts the findings of additional services too.
    ///
    /// # Errors
    /// As [`Self::redact`], and if a finding is outside the text.
    pub fn redact_with(
        &self,
        document: &Document,
        people: &KnownPeople,
        keys: &SurrogateKey,
        remote: &[ExternalFinding],
    ) -> Result<Redacted, RedactionError> {
        // A recogniser that panics must stop the document, not the worker, and never let the text through.
        catch_unwind(AssertUnwindSafe(|| {
            self.run(document, people, keys, PassInput { found: remote, known: &[], again: false })
        }))
        .unwrap_or_else(|_| Err(ended()))
    }

    /// Further redactions of a text that this redactor redacted before. `found` is in `first`'s text; what follows from
    /// it (the same name elsewhere, its neighbours) is redacted too. The result belongs to `first`'s text;
    /// [`Redacted::then`] combines both.
    ///
    /// # Errors
    /// As [`Self::redact_with`].
    pub fn redact_further(
        &self,
        first: &Redacted,
        people: &KnownPeople,
        keys: &SurrogateKey,
        found: &[ExternalFinding],
    ) -> Result<Redacted, RedactionError> {
        let known: Vec<Span> = first.redactions.iter().map(|one| one.redacted).collect();
        let known = known.as_slice();
        catch_unwind(AssertUnwindSafe(|| {
            self.run(&first.document, people, keys, PassInput { found, known, again: false })
        }))
        .unwrap_or_else(|_| Err(ended()))
    }

    /// How much one stage of the redactor finds: what `anamnesis-bench redact` measures.
    pub fn count(&self, document: &Document, stage: Stage) -> usize {
        let context = DocumentContext::new(document, &self.policy);
        let mut found = Vec::new();
        match stage {
            Stage::Reading => return context.tokens.len(),
            Stage::Patterns => RULES.identifiers.find(&context, &mut found),
            Stage::Lists => RULES.entities.find(&context, &mut found),
            Stage::Speech => {
                spoken_values::find(&context, &mut found);
                residual::find(&context, &mut found);
            }
            Stage::Learned => {
                let model = self.model.tagger();
                found = model.map(|tagger| tagger.find(&context, found, &mut ScoreCache::default())).unwrap_or_default()
            }
        }
        found.len()
    }

    /// The findings of rules and lists, before the tagger.
    pub fn rule_findings(&self, context: &DocumentContext<'_>, people: &KnownPeople) -> Vec<PiiFinding> {
        let mut found = people.find(context);
        RULES.identifiers.find(context, &mut found);
        if !self.patterns_only {
            RULES.entities.find(context, &mut found);
            spoken_values::find(context, &mut found);
            residual::find(context, &mut found);
        }
        if !context.prose {
            let numbers = ["identifier", "phone"];
            found.retain(|one| {
                !numbers.contains(&one.recognizer)
                    || one.score >= 1.0
                    || one.label == label::CARD && one.span.len() >= CARD
                    || fills_its_cell(context, one.span)
            });
        }
        found
    }

    /// The last check before storage: how many stretches of a text that should be clean still read as one of the people
    /// of the message or as an identifier. Anything but 0 means that redaction failed, and the text must not be stored.
    pub fn count_residual_pii(&self, document: &Document, people: &KnownPeople) -> usize {
        let look = || {
            let context = DocumentContext::new(document, &self.policy);
            let mut found = people.find(&context);
            RULES.identifiers.find(&context, &mut found);
            if !self.patterns_only {
                residual::find(&context, &mut found);
            }
            // An invented telephone reads as a telephone: that is what it is for.
            found.retain(|one| self.policy.operator(label::public(one.label)) != Operator::Fake);
            // The tagger took four digits after a word such as "chart" for a year, and they stay. A badge's or a card's do not.
            let is_year = |text: &str| text.len() == 4 && self.policy.keeps_years(text);
            let stays =
                |one: &PiiFinding| one.label == label::MEDICAL_RECORD && is_year(one.span.slice(&context.view.plain));
            found.retain(|one| one.recognizer != "keyword_value" || !stays(one));
            // A finding that was examined and rejected because it names no person is no residual personal data.
            if !self.patterns_only {
                entities::post_filter::drop_false_positives(&context, &mut found);
            }
            self.resolve(&context, found).len()
        };
        catch_unwind(AssertUnwindSafe(look)).unwrap_or(1)
    }

    /// Cuts at boundaries, merges, and leaves what the policy keeps.
    pub(super) fn resolve(&self, context: &DocumentContext<'_>, mut found: Vec<PiiFinding>) -> Vec<PiiFinding> {
        countries_of_addresses(context, &mut found);
        let plain = &context.view.plain;
        // "mkeita2009" holds no year.
        let apart = |span: Span| {
            let before = plain.get(..span.start).and_then(|text| text.chars().next_back());
            let after = plain.get(span.end..).and_then(|text| text.chars().next());
            ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        };
        let stays = |one: &PiiFinding| {
            !self.policy.takes(one.label)
                || one.label == label::DATE && self.policy.keeps_years(one.span.slice(plain)) && apart(one.span)
        };
        let taken = found.into_iter().filter(|finding| !stays(finding)).collect();
        merge(cut(taken, &context.boundaries, &context.view.plain))
    }
}

/// Shortest card number: several may be in one cell.
const CARD: usize = 15;
/// How far a cell of bare values extends at most, either way, in bytes.
const CELL: usize = 64;

/// In a text of bare values, commas, bars, tabs and lines separate the values. A part of a value is no value.
fn fills_its_cell(context: &DocumentContext<'_>, span: Span) -> bool {
    let bytes = context.view.plain.as_bytes();
    let border = |byte: &&u8| !matches!(byte, b',' | b';' | b'|' | b'\t' | b'\n');
    let before = bytes[span.start.saturating_sub(CELL)..span.start].iter().rev().take_while(border);
    let behind = bytes[span.end..(span.end + CELL).min(bytes.len())].iter().take_while(border);
    !before.chain(behind).any(u8::is_ascii_digit)
}

/// Why a pass was left half-way.
fn ended() -> RedactionError {
    if deadline::is_over() { RedactionError::Timeout } else { RedactionError::Failed }
}

fn failed(error: RemoteError) -> RedactionError {
    if error.is_retryable() { RedactionError::ServiceAway(error) } else { RedactionError::Service(error) }
}

/// A country next to a street or a postal code is a line of the address, which leaves as a whole.
fn countries_of_addresses(context: &DocumentContext<'_>, found: &mut [PiiFinding]) {
    let of_address = |finding: &PiiFinding| matches!(finding.label, label::ADDRESS | label::POSTAL_CODE);
    let mut edges: Vec<(usize, usize)> =
        found.iter().filter(|one| of_address(one)).map(|one| (one.span.start, one.span.end)).collect();
    edges.sort_unstable();
    let gap = |from: usize, to: usize| {
        context.view.plain.get(from..to).is_some_and(|gap| gap.len() <= 4 && !gap.contains(char::is_alphanumeric))
    };
    for country in found.iter_mut().filter(|finding| finding.label == label::COUNTRY) {
        let Span { start, end } = country.span;
        let at = edges.partition_point(|edge| edge.0 < start);
        let behind = edges.get(at).is_some_and(|edge| gap(end, edge.0));
        let before = edges[..at].iter().rev().take(3).any(|edge| edge.1 > start || gap(edge.1, start));
        if behind || before {
            country.label = label::LOCATION;
        }
    }
}

/// Checks that turns are inside the text, in order, on character boundaries.
pub(super) fn check_turns(document: &Document) -> Result<(), RedactionError> {
    let mut from = 0;
    for turn in &document.turns {
        let fits = turn.span.start >= from && document.text.get(turn.span.start..turn.span.end).is_some();
        if !fits {
            return Err(RedactionError::Offsets);
        }
        from = turn.span.end;
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
