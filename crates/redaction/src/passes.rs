//! Passes over one text: each replaces its findings, and the last one finds nothing.

use super::deadline;
use super::document::{DocumentContext, TextProfile};
use super::error::RedactionError;
use super::identities::KnownPeople;
use super::redacted::Redacted;
use super::redactor::{Redactor, check_turns};
use super::remote::{ExternalFinding, READER};
use super::surrogate::SurrogateKey;
use super::tagger::ScoreCache;
use super::{apply, entities, fixpoint, incremental, label};
use anamnesis_text::{Document, Span};

/// The input of passes besides the text.
#[derive(Clone, Copy)]
pub(super) struct PassInput<'a> {
    /// Findings of others in the text, applied by the first pass.
    pub(super) found: &'a [ExternalFinding],
    /// Replacements of an earlier redaction, in order.
    pub(super) known: &'a [Span],
    /// Whether the text may contain invented values of an earlier policy: labels with such values stay.
    pub(super) again: bool,
}

impl Redactor {
    /// Repeats passes until one finds nothing.
    pub(super) fn run(
        &self,
        document: &Document,
        people: &KnownPeople,
        keys: &SurrogateKey,
        input: PassInput<'_>,
    ) -> Result<Redacted, RedactionError> {
        check_turns(document)?;
        if self.policy.is_reversible() && self.token_key.is_none() {
            return Err(RedactionError::NoTokenKey);
        }
        let mut cache = ScoreCache::default();
        let context = DocumentContext::with_replacements(document, &self.policy, input.known);
        let mut redacted = self.pass((document, &context), people, keys, input, &mut cache)?;
        if self.patterns_only {
            // Patterns replace everything they know in one pass; the final check before storage verifies that.
            return Ok(redacted);
        }
        let mut profile = context.profile();
        let places = |redacted: &Redacted| redacted.redactions.iter().map(|one| one.redacted).collect::<Vec<Span>>();
        let mut new = places(&redacted);
        for _ in 1..fixpoint::MAX_PASSES {
            if new.is_empty() {
                break;
            }
            // Replacements of an earlier redaction moved with the text; what they say is never read again.
            let mut known = places(&redacted);
            known.extend(input.known.iter().map(|known| redacted.cover_of(*known)));
            known.sort_unstable();
            let context = DocumentContext::with_replacements(&redacted.document, &self.policy, &known);
            if !input.again && self.is_fixpoint(&context, profile, &new, people, &mut cache) {
                break;
            }
            profile = context.profile();
            let none = PassInput { found: &[], ..input };
            let next = self.pass((&redacted.document, &context), people, keys, none, &mut cache)?;
            new = places(&next);
            if !new.is_empty() {
                redacted = redacted.then(next);
            }
        }
        Ok(redacted)
    }

    /// Whether another pass would find nothing, judged by the surroundings of the last replacements. Own recognisers
    /// and allowed words of an organisation need a full pass, because their patterns may match text of any length.
    pub(super) fn is_fixpoint(
        &self,
        context: &DocumentContext<'_>,
        before: TextProfile,
        new: &[Span],
        people: &KnownPeople,
        cache: &mut ScoreCache,
    ) -> bool {
        if self.custom.is_some() {
            return false;
        }
        let place = |span: &Span| Span::new(context.view.from_source(span.start), context.view.from_source(span.end));
        let new: Vec<Span> = new.iter().map(place).collect();
        let Some(parts) = incremental::surroundings(context, before, &new) else { return false };
        parts.iter().all(|part| {
            let mut found = self.rule_findings(part, people);
            if let Some(tagger) = self.model.tagger() {
                found = tagger.find(part, found, cache);
            }
            if !self.patterns_only {
                entities::post_filter::drop_false_positives(part, &mut found);
            }
            !entities::propagate::reaches_out(part, &found) && self.resolve(part, found).is_empty()
        })
    }

    /// One pass. `cache` caches the scores that an earlier one computed.
    pub(super) fn pass(
        &self,
        (document, context): (&Document, &DocumentContext<'_>),
        people: &KnownPeople,
        keys: &SurrogateKey,
        input: PassInput<'_>,
        cache: &mut ScoreCache,
    ) -> Result<Redacted, RedactionError> {
        deadline::check();
        let mut found = self.rule_findings(context, people);
        if let Some(tagger) = self.model.tagger() {
            found = tagger.find(context, found, cache);
        }
        deadline::check();
        // A place outside of the text stops the document: nothing is redacted by guess.
        let mut given = Vec::with_capacity(input.found.len());
        for one in input.found {
            given.push(one.in_view(document, context).ok_or(RedactionError::Offsets)?);
        }
        // Findings of a service are never doubted; those of the reader are filtered like those of the rules.
        let (read, served): (Vec<_>, Vec<_>) = given.into_iter().partition(|one| one.recognizer == READER);
        found.extend(read);
        if !self.patterns_only {
            entities::post_filter::drop_false_positives(context, &mut found);
        }
        found.extend(served);
        if let Some(custom) = &self.custom {
            custom.find(context, &mut found);
        }
        if !self.patterns_only {
            entities::propagate::find(context, &mut found);
        }
        if let Some(custom) = &self.custom {
            custom.allow(context, &mut found);
        }
        if input.again {
            found.retain(|one| !self.policy.operator(label::public(one.label)).is_lifelike());
        }
        let taken = self.resolve(context, found);
        deadline::check();
        let redacted = apply::apply(document, context, taken, keys, self.token_key.as_ref())?;
        Ok(Redacted { policy: self.revision(), ..redacted })
    }
}
