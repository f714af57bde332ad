//! The redactor: layers in order of priority, one merge, one application. Closed on failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use super::context::Context;
use super::custom::Custom;
use super::finding::{Finding, cut, merge};
use super::operator::Operator;
use super::policy::Policy;
use super::remote::RemoteFinding;
use super::reversible::TokenKey;
use super::tagger::Tagger;
use super::{
    KnownIdentity, Redacted, RedactionError, SurrogateKey, apply, entities, identifiers, identities, label, speech,
    sweep,
};
use crate::text::{Document, Span};

/// A part of the redactor that can be measured alone; each reads the text anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Folding and cutting into tokens: what every other part needs.
    Reading,
    /// Identifiers, telephones, mail and network addresses.
    Patterns,
    /// Names, places, organisations, dates and addresses by rules and lists.
    Lists,
    Speech,
    Learned,
}

/// What every redactor shares: the compiled rules and lists.
struct Rules {
    identifiers: identifiers::Identifiers,
    entities: entities::Entities,
}

/// Compiled once for all policies.
static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    identifiers: identifiers::Identifiers::builtin(),
    entities: entities::Entities::builtin(),
});
static TAGGER: LazyLock<Arc<Tagger>> = LazyLock::new(|| {
    Arc::new(Tagger::builtin().expect("the model is part of the program, every test of redaction reads it"))
});

/// A redactor under one policy: cheap to make, shared by all threads.
pub struct Redactor {
    policy: Policy,
    tagger: Option<Arc<Tagger>>,
    custom: Option<Custom>,
    token_key: Option<TokenKey>,
}

impl Redactor {
    /// The built-in recognisers under a policy. The first one compiles them.
    pub fn builtin(policy: Policy) -> Self {
        LazyLock::force(&RULES);
        Self { tagger: Some(Arc::clone(&TAGGER)), ..Self::rules_only(policy) }
    }

    /// The built-in rules with another model: what training is judged by.
    pub fn with_tagger(policy: Policy, tagger: Tagger) -> Self {
        Self { tagger: Some(Arc::new(tagger)), ..Self::rules_only(policy) }
    }

    /// Rules and lists alone: what training reads.
    pub(super) fn rules_only(policy: Policy) -> Self {
        Self { policy, tagger: None, custom: None, token_key: None }
    }

    /// Adds recognisers and an allow list of the organisation's own.
    #[must_use]
    pub fn custom(self, custom: Custom) -> Self {
        Self { custom: Some(custom), ..self }
    }

    /// Gives the key under which a policy with tokens seals values.
    #[must_use]
    pub fn token_key(self, key: TokenKey) -> Self {
        Self { token_key: Some(key), ..self }
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Takes personal data out of a document. `identities` are the people the message names, `keys` belong to its
    /// patient. Time grows linearly with the text. Nothing of the text is in an error.
    pub fn redact(
        &self,
        document: &Document,
        identities: &[KnownIdentity],
        keys: &SurrogateKey,
    ) -> Result<Redacted, RedactionError> {
        self.redact_with(document, identities, keys, &[])
    }

    /// As [`Self::redact`], and takes out what an additional service found as well.
    ///
    /// # Errors
    /// As [`Self::redact`], and when a finding does not lie in the text.
    pub fn redact_with(
        &self,
        document: &Document,
        identities: &[KnownIdentity],
        keys: &SurrogateKey,
        remote: &[RemoteFinding],
    ) -> Result<Redacted, RedactionError> {
        // A recogniser that panics must stop the document, not the worker, and never let the text through.
        catch_unwind(AssertUnwindSafe(|| self.run(document, identities, keys, remote)))
            .unwrap_or(Err(RedactionError::Failed))
    }

    fn run(
        &self,
        document: &Document,
        identities: &[KnownIdentity],
        keys: &SurrogateKey,
        remote: &[RemoteFinding],
    ) -> Result<Redacted, RedactionError> {
        check_turns(document)?;
        if self.policy.is_reversible() && self.token_key.is_none() {
            return Err(RedactionError::NoTokenKey);
        }
        let context = Context::new(document, &self.policy);
        let mut found = self.rule_findings(&context, identities);
        if let Some(tagger) = &self.tagger {
            found = tagger.find(&context, found);
        }
        for one in remote {
            found.push(one.in_view(document, &context)?);
        }
        if let Some(custom) = &self.custom {
            custom.find(&context, &mut found);
        }
        entities::propagate::find(&context, &mut found);
        if let Some(custom) = &self.custom {
            custom.allow(&context, &mut found);
        }
        let taken = self.settle(&context, found);
        apply::apply(document, &context, taken, keys, self.token_key.as_ref())
    }

    /// How much one part of the redactor finds: what `bench redact` measures.
    pub fn count(&self, document: &Document, part: Part) -> usize {
        let context = Context::new(document, &self.policy);
        let mut found = Vec::new();
        match part {
            Part::Reading => return context.tokens.len(),
            Part::Patterns => RULES.identifiers.find(&context, &mut found),
            Part::Lists => RULES.entities.find(&context, &mut found),
            Part::Speech => {
                speech::find(&context, &mut found);
                sweep::find(&context, &mut found);
            }
            Part::Learned => {
                found = self.tagger.as_ref().map(|tagger| tagger.find(&context, found)).unwrap_or_default()
            }
        }
        found.len()
    }

    /// What rules and lists find, before the tagger reads it.
    pub(super) fn rule_findings(&self, context: &Context<'_>, identities: &[KnownIdentity]) -> Vec<Finding> {
        let mut found = identities::find(context, identities);
        RULES.identifiers.find(context, &mut found);
        RULES.entities.find(context, &mut found);
        speech::find(context, &mut found);
        sweep::find(context, &mut found);
        found
    }

    /// The last look before storage: how many stretches of a text that should be clean still read as one of the people
    /// of the message or as an identifier. Anything but 0 means that redaction failed, and the text must not be stored.
    pub fn left_over(&self, document: &Document, identities: &[KnownIdentity]) -> usize {
        let look = || {
            let context = Context::new(document, &self.policy);
            let mut found = identities::find(&context, identities);
            RULES.identifiers.find(&context, &mut found);
            sweep::find(&context, &mut found);
            // An invented telephone reads as a telephone: that is what it is for.
            found.retain(|one| self.policy.operator(label::public(one.label)) != Operator::Fake);
            self.settle(&context, found).len()
        };
        catch_unwind(AssertUnwindSafe(look)).unwrap_or(1)
    }

    /// Cuts at walls, merges, and leaves what the policy keeps.
    fn settle(&self, context: &Context<'_>, mut found: Vec<Finding>) -> Vec<Finding> {
        countries_of_addresses(context, &mut found);
        let taken = found.into_iter().filter(|finding| self.policy.takes(finding.label)).collect();
        merge(cut(taken, &context.walls, &context.view.plain))
    }
}

/// A country beside a street or a postal code is a line of the address, which leaves as a whole.
fn countries_of_addresses(context: &Context<'_>, found: &mut [Finding]) {
    let of_address = |finding: &Finding| matches!(finding.label, label::ADDRESS | label::POSTAL_CODE);
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

/// Turns lie in the text, in order, on character boundaries.
fn check_turns(document: &Document) -> Result<(), RedactionError> {
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
