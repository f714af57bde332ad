//! The redactor: layers in order of priority, one merge, one application. Closed on failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use super::context::{Context, Manner};
use super::custom::Custom;
use super::deadline;
use super::error::RedactionError;
use super::finding::{Finding, cut, merge};
use super::identities::People;
use super::operator::Operator;
use super::policy::Policy;
use super::redacted::Redacted;
use super::remote::{RemoteError, RemoteFinding, Services};
use super::reversible::TokenKey;
use super::surrogate::SurrogateKey;
use super::tagger::{Known, Tagger};
use super::{apply, entities, further, identifiers, label, rounds, speech, sweep};
use anamnesis_text::{Document, Span};

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

/// Compiles what every redactor shares, where that was not done yet: a process that starts does it beside other work.
pub fn warm() {
    LazyLock::force(&RULES);
    LazyLock::force(&TAGGER);
}

/// Which model reads beside the rules.
enum Model {
    None,
    /// Loaded when it is first asked.
    Builtin,
    Own(Arc<Tagger>),
}

impl Model {
    fn tagger(&self) -> Option<&Tagger> {
        match self {
            Self::None => None,
            Self::Builtin => Some(&TAGGER),
            Self::Own(tagger) => Some(tagger),
        }
    }
}

/// A redactor under one policy: cheap to make, shared by all threads.
pub struct Redactor {
    policy: Policy,
    model: Model,
    custom: Option<Custom>,
    token_key: Option<TokenKey>,
    /// Whether anything but identifiers and the people of the message is looked for.
    patterns_only: bool,
    services: Option<Services>,
}

impl Redactor {
    /// The built-in recognisers under a policy. The first document compiles them, unless [`warm`] has.
    pub fn builtin(policy: Policy) -> Self {
        Self { model: Model::Builtin, ..Self::rules_only(policy) }
    }

    /// The built-in rules with another model: what training is judged by.
    pub fn with_tagger(policy: Policy, tagger: Tagger) -> Self {
        Self { model: Model::Own(Arc::new(tagger)), ..Self::rules_only(policy) }
    }

    /// Rules and lists alone: what training reads.
    pub fn rules_only(policy: Policy) -> Self {
        Self { policy, model: Model::None, custom: None, token_key: None, services: None, patterns_only: false }
    }

    /// Identifiers and the people of the message alone: for measurements beside programs that look for patterns. Names
    /// that no message names stay in the text.
    pub fn patterns_only(policy: Policy) -> Self {
        Self { patterns_only: true, ..Self::rules_only(policy) }
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

    /// Adds services whose findings are taken as well.
    #[must_use]
    pub fn services(self, services: Services) -> Self {
        Self { services: Some(services), ..self }
    }

    /// Policy, recognisers and the organisation's own recognisers, by their versions: what is stored with a document.
    pub fn revision(&self) -> String {
        let own = self.custom.as_ref().map(|custom| format!(".{:08x}", custom.version())).unwrap_or_default();
        self.policy.revision() + &own
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// As [`Self::redact`], with what the organisation's additional services find. Waits for them.
    ///
    /// # Errors
    /// As [`Self::redact`]; [`RedactionError::ServiceAway`] when a service may answer later, [`RedactionError::Service`]
    /// when somebody must look. Nothing that a service has not seen passes.
    pub fn redact_asking(
        &self,
        document: &Document,
        people: &People,
        keys: &SurrogateKey,
    ) -> Result<Redacted, RedactionError> {
        self.redact_with(document, people, keys, &self.ask(document)?)
    }

    /// What the organisation's additional services find; nothing where there are none. Waits for them.
    ///
    /// # Errors
    /// As [`Self::redact_asking`].
    pub fn ask(&self, document: &Document) -> Result<Vec<RemoteFinding>, RedactionError> {
        self.services.as_ref().map_or(Ok(Vec::new()), |services| services.find(document).map_err(failed))
    }

    /// Redacts a text that was redacted before, by another policy or other recognisers, asking additional services too. What
    /// stands in it as a replacement stays. So do values of labels that the policy replaces by invented values or moved
    /// dates: they cannot be told from real ones.
    ///
    /// # Errors
    /// As [`Self::redact_asking`].
    pub fn redact_again(&self, document: &Document, keys: &SurrogateKey) -> Result<Redacted, RedactionError> {
        let remote = match &self.services {
            Some(services) => services.find(document).map_err(failed)?,
            None => Vec::new(),
        };
        catch_unwind(AssertUnwindSafe(|| self.run(document, &People::default(), keys, (&remote, true))))
            .unwrap_or_else(|_| Err(ended()))
    }

    /// Takes personal data out of a document. `people` are those the message names, `keys` belong to its
    /// patient. Time grows linearly with the text. Nothing of the text is in an error.
    pub fn redact(
        &self,
        document: &Document,
        people: &People,
        keys: &SurrogateKey,
    ) -> Result<Redacted, RedactionError> {
        self.redact_with(document, people, keys, &[])
    }

    /// As [`Self::redact`], and takes out what an additional service found as well.
    ///
    /// # Errors
    /// As [`Self::redact`], and when a finding does not lie in the text.
    pub fn redact_with(
        &self,
        document: &Document,
        people: &People,
        keys: &SurrogateKey,
        remote: &[RemoteFinding],
    ) -> Result<Redacted, RedactionError> {
        // A recogniser that panics must stop the document, not the worker, and never let the text through.
        catch_unwind(AssertUnwindSafe(|| self.run(document, people, keys, (remote, false))))
            .unwrap_or_else(|_| Err(ended()))
    }

    fn run(
        &self,
        document: &Document,
        people: &People,
        keys: &SurrogateKey,
        (remote, again): (&[RemoteFinding], bool),
    ) -> Result<Redacted, RedactionError> {
        check_turns(document)?;
        if self.policy.is_reversible() && self.token_key.is_none() {
            return Err(RedactionError::NoTokenKey);
        }
        let mut known = Known::default();
        let context = Context::new(document, &self.policy);
        let mut redacted = self.look((document, &context), people, keys, (remote, again), &mut known)?;
        if self.patterns_only {
            // Patterns take all that they know at once: the last look before storage sees that they did.
            return Ok(redacted);
        }
        let mut manner = context.manner();
        let places = |redacted: &Redacted| redacted.redactions.iter().map(|one| one.redacted).collect::<Vec<Span>>();
        let mut new = places(&redacted);
        for _ in 1..rounds::MOST {
            if new.is_empty() {
                break;
            }
            let context = Context::behind(&redacted.document, &self.policy, &places(&redacted));
            if !again && self.sees_nothing_new(&context, manner, &new, people, &mut known) {
                break;
            }
            manner = context.manner();
            let next = self.look((&redacted.document, &context), people, keys, (&[], again), &mut known)?;
            new = places(&next);
            if !new.is_empty() {
                redacted = rounds::joined(redacted, next);
            }
        }
        Ok(redacted)
    }

    /// Whether a look at a text would find nothing, told from the surroundings of what the last look replaced. An
    /// organisation's own recognisers and allowed words may reach as far as they like.
    fn sees_nothing_new(
        &self,
        context: &Context<'_>,
        before: Manner,
        new: &[Span],
        people: &People,
        known: &mut Known,
    ) -> bool {
        if self.custom.is_some() {
            return false;
        }
        let place = |span: &Span| Span::new(context.view.from_source(span.start), context.view.from_source(span.end));
        let new: Vec<Span> = new.iter().map(place).collect();
        let Some(parts) = further::surroundings(context, before, &new) else { return false };
        parts.iter().all(|part| {
            let mut found = self.rule_findings(part, people);
            if let Some(tagger) = self.model.tagger() {
                found = tagger.find(part, found, known);
            }
            if !self.patterns_only {
                entities::trade::tidy(part, &mut found);
            }
            !entities::propagate::reaches_out(part, &found) && self.settle(part, found).is_empty()
        })
    }

    /// One look. `known` is what an earlier one reckoned.
    fn look(
        &self,
        (document, context): (&Document, &Context<'_>),
        people: &People,
        keys: &SurrogateKey,
        (remote, again): (&[RemoteFinding], bool),
        known: &mut Known,
    ) -> Result<Redacted, RedactionError> {
        deadline::check();
        let mut found = self.rule_findings(context, people);
        if let Some(tagger) = self.model.tagger() {
            found = tagger.find(context, found, known);
        }
        deadline::check();
        if !self.patterns_only {
            entities::trade::tidy(context, &mut found);
        }
        for one in remote {
            found.push(one.in_view(document, context).ok_or(RedactionError::Offsets)?);
        }
        if let Some(custom) = &self.custom {
            custom.find(context, &mut found);
        }
        if !self.patterns_only {
            entities::propagate::find(context, &mut found);
        }
        if let Some(custom) = &self.custom {
            custom.allow(context, &mut found);
        }
        if again {
            found.retain(|one| !self.policy.operator(label::public(one.label)).is_lifelike());
        }
        let taken = self.settle(context, found);
        deadline::check();
        let redacted = apply::apply(document, context, taken, keys, self.token_key.as_ref())?;
        Ok(Redacted { policy: self.revision(), ..redacted })
    }

    /// How much one part of the redactor finds: what `anamnesis-bench redact` measures.
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
                let model = self.model.tagger();
                found = model.map(|tagger| tagger.find(&context, found, &mut Known::default())).unwrap_or_default()
            }
        }
        found.len()
    }

    /// What rules and lists find, before the tagger reads it.
    pub fn rule_findings(&self, context: &Context<'_>, people: &People) -> Vec<Finding> {
        let mut found = people.find(context);
        RULES.identifiers.find(context, &mut found);
        if !self.patterns_only {
            RULES.entities.find(context, &mut found);
            speech::find(context, &mut found);
            sweep::find(context, &mut found);
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

    /// The last look before storage: how many stretches of a text that should be clean still read as one of the people
    /// of the message or as an identifier. Anything but 0 means that redaction failed, and the text must not be stored.
    pub fn left_over(&self, document: &Document, people: &People) -> usize {
        let look = || {
            let context = Context::new(document, &self.policy);
            let mut found = people.find(&context);
            RULES.identifiers.find(&context, &mut found);
            if !self.patterns_only {
                sweep::find(&context, &mut found);
            }
            // An invented telephone reads as a telephone: that is what it is for.
            found.retain(|one| self.policy.operator(label::public(one.label)) != Operator::Fake);
            // The tagger took four digits behind a word such as "chart" for a year, and they stay. A badge's or a card's do not.
            let is_year = |text: &str| text.len() == 4 && self.policy.keeps_years(text);
            let stays = |one: &Finding| one.label == label::MEDICAL_RECORD && is_year(one.span.of(&context.view.plain));
            found.retain(|one| one.recognizer != "keyword_value" || !stays(one));
            // What was looked at and left because it names nobody is nothing that redaction left behind.
            if !self.patterns_only {
                entities::trade::tidy(&context, &mut found);
            }
            self.settle(&context, found).len()
        };
        catch_unwind(AssertUnwindSafe(look)).unwrap_or(1)
    }

    /// Cuts at walls, merges, and leaves what the policy keeps.
    fn settle(&self, context: &Context<'_>, mut found: Vec<Finding>) -> Vec<Finding> {
        countries_of_addresses(context, &mut found);
        let plain = &context.view.plain;
        // "mkeita2009" holds no year.
        let apart = |span: Span| {
            let before = plain.get(..span.start).and_then(|text| text.chars().next_back());
            let after = plain.get(span.end..).and_then(|text| text.chars().next());
            ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        };
        let stays = |one: &Finding| {
            !self.policy.takes(one.label)
                || one.label == label::DATE && self.policy.keeps_years(one.span.of(plain)) && apart(one.span)
        };
        let taken = found.into_iter().filter(|finding| !stays(finding)).collect();
        merge(cut(taken, &context.walls, &context.view.plain))
    }
}

/// Least length of a card's number: several of them may stand in one cell.
const CARD: usize = 15;
/// How far a cell of bare values is looked at, either way, in bytes.
const CELL: usize = 64;

/// In a text of bare values, a value is what stands between commas, bars, tabs and lines: a part of one is none.
fn fills_its_cell(context: &Context<'_>, span: Span) -> bool {
    let bytes = context.view.plain.as_bytes();
    let border = |byte: &&u8| !matches!(byte, b',' | b';' | b'|' | b'\t' | b'\n');
    let before = bytes[span.start.saturating_sub(CELL)..span.start].iter().rev().take_while(border);
    let behind = bytes[span.end..(span.end + CELL).min(bytes.len())].iter().take_while(border);
    !before.chain(behind).any(u8::is_ascii_digit)
}

/// Why a look was left half-way.
fn ended() -> RedactionError {
    if deadline::is_over() { RedactionError::Timeout } else { RedactionError::Failed }
}

fn failed(error: RemoteError) -> RedactionError {
    if error.is_retryable() { RedactionError::ServiceAway(error) } else { RedactionError::Service(error) }
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
