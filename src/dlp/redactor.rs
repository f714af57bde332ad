//! The redactor: layers in order of priority, one merge, one application. Closed on failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::context::Context;
use super::finding::{Finding, cut, merge};
use super::policy::Policy;
use super::tagger::Tagger;
use super::{
    KnownIdentity, Redacted, RedactionError, SurrogateKey, apply, entities, identifiers, identities, label, speech,
    sweep,
};
use crate::text::{Document, Span};

/// A compiled redactor: made once, shared by all threads.
pub struct Redactor {
    policy: Policy,
    identifiers: identifiers::Identifiers,
    entities: entities::Entities,
    tagger: Option<Tagger>,
}

impl Redactor {
    /// The built-in recognisers under a policy.
    pub fn builtin(policy: Policy) -> Self {
        let tagger = Tagger::builtin().expect("the model is part of the program, a test reads it");
        Self {
            policy,
            identifiers: identifiers::Identifiers::builtin(),
            entities: entities::Entities::builtin(),
            tagger: Some(tagger),
        }
    }

    /// Rules and lists alone: what training reads, and the profile for those who want no learned part.
    pub(super) fn rules_only(policy: Policy) -> Self {
        Self { tagger: None, ..Self::builtin(policy) }
    }

    /// The built-in rules with another model: what training is judged by.
    pub fn with_tagger(policy: Policy, tagger: Tagger) -> Self {
        Self { tagger: Some(tagger), ..Self::builtin(policy) }
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
        // A recogniser that panics must stop the document, not the worker, and never let the text through.
        catch_unwind(AssertUnwindSafe(|| self.run(document, identities, keys))).unwrap_or(Err(RedactionError::Failed))
    }

    fn run(
        &self,
        document: &Document,
        identities: &[KnownIdentity],
        keys: &SurrogateKey,
    ) -> Result<Redacted, RedactionError> {
        check_turns(document)?;
        let context = Context::new(document, &self.policy);
        let mut found = self.rule_findings(&context, identities);
        if let Some(tagger) = &self.tagger {
            found = tagger.find(&context, found);
        }
        entities::propagate::find(&context, &mut found);
        let taken = self.settle(&context, found);
        apply::apply(document, &context, taken, keys)
    }

    /// What rules and lists find, before the tagger reads it.
    pub(super) fn rule_findings(&self, context: &Context<'_>, identities: &[KnownIdentity]) -> Vec<Finding> {
        let mut found = identities::find(context, identities);
        self.identifiers.find(context, &mut found);
        self.entities.find(context, &mut found);
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
            self.identifiers.find(&context, &mut found);
            sweep::find(&context, &mut found);
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
