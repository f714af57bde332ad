//! The redactor: layers in order of priority, one merge, one application. Closed on failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::context::Context;
use super::finding::{Finding, cut, merge};
use super::policy::Policy;
use super::{
    KnownIdentity, Redacted, RedactionError, SurrogateKey, apply, entities, identifiers, identities, speech, sweep,
};
use crate::text::Document;

/// A compiled redactor: made once, shared by all threads.
pub struct Redactor {
    policy: Policy,
    identifiers: identifiers::Identifiers,
    entities: entities::Entities,
}

impl Redactor {
    /// The built-in recognisers under a policy.
    pub fn builtin(policy: Policy) -> Self {
        Self { policy, identifiers: identifiers::Identifiers::builtin(), entities: entities::Entities::builtin() }
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
        let mut found = identities::find(&context, identities);
        self.identifiers.find(&context, &mut found);
        self.entities.find(&context, &mut found);
        speech::find(&context, &mut found);
        sweep::find(&context, &mut found);
        let taken = self.settle(&context, found);
        apply::apply(document, &context, taken, keys)
    }

    /// Cuts at walls, merges, and leaves what the policy keeps.
    fn settle(&self, context: &Context<'_>, found: Vec<Finding>) -> Vec<Finding> {
        let taken = found.into_iter().filter(|finding| self.policy.takes(finding.label)).collect();
        merge(cut(taken, &context.walls, &context.view.plain))
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
