//! Findings of a model, checked against the text and the rules.

use super::LlmReport;
use super::wire::{LlmAnswer, LlmFinding};
use crate::analysis::AssertionStatus;
use crate::{Entity, Extraction, ExtractionInput, Extractor, RegimenPlaces};
use anamnesis_core::finding::{EntityType, Epistemic};
use anamnesis_text::Span;

/// A longer quote proves nothing in particular; bytes.
const LONGEST_QUOTE: usize = 600;
/// Findings of one answer that are considered.
const MOST_ITEMS: usize = 200;
/// An inference of a model is never surer than this.
const CONFIDENCE: f64 = 0.5;

/// Adds the findings that hold, and counts the others.
pub(crate) fn add(
    answer: &LlmAnswer,
    rules: &Extractor,
    input: &ExtractionInput<'_>,
    orders: &[Span],
    found: &mut Extraction,
    seen: &mut LlmReport,
) {
    let text = input.document.text.as_str();
    seen.dropped += answer.findings.len().saturating_sub(MOST_ITEMS);
    let items: Vec<&LlmFinding> = answer.findings.iter().take(MOST_ITEMS).collect();
    let places: Vec<Option<GroundedQuote>> = items.iter().map(|item| place(item, text, orders)).collect();
    let mentions: Vec<Span> = places.iter().map(|place| place.map_or_else(Span::default, |p| p.mention)).collect();
    let assertions = rules.assertions(input, &mentions);
    for ((item, place), assertion) in items.into_iter().zip(places).zip(assertions) {
        let entity = place.zip(assertion).and_then(|(place, assertion)| entity(item, text, place, &assertion, seen));
        match entity.filter(|entity| entity.is_grounded(text) && !is_known(found, entity)) {
            Some(entity) => {
                seen.added += 1;
                found.entities.push(entity);
            }
            None => seen.dropped += 1,
        }
    }
    found.entities.sort_by_key(|entity| (entity.span, entity.kind));
}

#[derive(Clone, Copy)]
struct GroundedQuote {
    quote: Span,
    mention: Span,
}

/// The first place where the quote appears word for word, outside orders, with the mention in it.
fn place(item: &LlmFinding, text: &str, orders: &[Span]) -> Option<GroundedQuote> {
    let (quote, mention) = (item.quote.trim(), item.mention.trim());
    if quote.is_empty() || mention.is_empty() || quote.len() > LONGEST_QUOTE {
        return None;
    }
    let inside = quote.find(mention)?;
    let mut places = text.match_indices(quote).map(|(at, _)| Span::new(at, at + quote.len()));
    let quote = places.find(|span| !orders.iter().any(|order| order.overlaps(span)))?;
    let mention = Span::new(quote.start + inside, quote.start + inside + mention.len());
    whole_words(text, mention).then_some(GroundedQuote { quote, mention })
}

/// "asma" inside "asmático" names nothing.
fn whole_words(text: &str, span: Span) -> bool {
    let before = text[..span.start].chars().next_back();
    let after = text[span.end..].chars().next();
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}

/// The finding as the rules read its place; `None` where they would not store one.
fn entity(
    item: &LlmFinding,
    text: &str,
    place: GroundedQuote,
    assertion: &AssertionStatus,
    seen: &mut LlmReport,
) -> Option<Entity> {
    let kind = EntityType::from_code(&item.kind)?;
    let delicate = matches!(kind, EntityType::Medication | EntityType::Allergy);
    let mut context = assertion.context;
    if context.negated != item.negated {
        seen.overruled += 1;
        // A medicine or an allergy that the rules deny and the model affirms, or the reverse, is not added.
        if delicate {
            return None;
        }
    }
    context.uncertain |= delicate;
    let dose = item.dose.as_deref().and_then(|dose| dose_in(dose, text, place));
    seen.overruled += usize::from(item.dose.is_some() && dose.is_none());
    let said = dose.map(|span| span.slice(text).to_lowercase());
    Some(Entity {
        kind,
        span: place.mention,
        evidence: Span::new(
            place.quote.start.min(assertion.evidence.start),
            place.quote.end.max(assertion.evidence.end),
        ),
        turn: assertion.turn,
        value: place.mention.slice(text).to_lowercase(),
        code: None,
        context,
        epistemic: Epistemic::Inferred,
        confidence: CONFIDENCE,
        status: None,
        severity: None,
        dose: said,
        route: None,
        frequency: None,
        places: RegimenPlaces { dose, ..RegimenPlaces::default() },
        at: None,
        ends: None,
        reaction: None,
        measured: None,
        subject: None,
        group: None,
        view: None,
    })
}

/// A dose counts where it appears word for word in the quote, its numbers whole.
fn dose_in(dose: &str, text: &str, place: GroundedQuote) -> Option<Span> {
    let dose = dose.trim();
    let at = place.quote.slice(text).find(dose).filter(|_| dose.bytes().any(|byte| byte.is_ascii_digit()))?;
    let span = Span::new(place.quote.start + at, place.quote.start + at + dose.len());
    let split = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let before = text[..span.start].chars().next_back().is_some_and(split);
    let after = text[span.end..].chars().next().is_some_and(|c| c.is_ascii_digit());
    (!before && !after).then_some(span)
}

fn is_known(found: &Extraction, entity: &Entity) -> bool {
    found.entities.iter().any(|known| known.span.overlaps(&entity.span))
}
