//! Findings in the shape of contract.md (`extract`): offsets in code points.

use serde::Serialize;
use serde_json::{Map, Value, json};

use anamnesis_extraction::{self as extract, CurrentValues, Extraction};
use anamnesis_text::{CodePoints, Document, Span};

#[derive(Serialize)]
struct RenderedFinding<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    start: usize,
    end: usize,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<usize>,
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(flatten)]
    context: RenderedContext,
    epistemic: &'static str,
    confidence: f64,
    evidence: RenderedSpan,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dose: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reaction: Option<&'a str>,
    /// Of measurements, as said; unit, low and high with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a extract::Measured>,
    /// Of losses: who was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    /// Where dose, route and frequency were said.
    #[serde(skip_serializing_if = "Option::is_none")]
    regimen: Option<Value>,
}

#[derive(Serialize)]
struct RenderedContext {
    negated: bool,
    uncertain: bool,
    temporality: &'static str,
    experiencer: &'static str,
}

#[derive(Serialize)]
struct RenderedSpan {
    start: usize,
    end: usize,
}

impl From<extract::MentionContext> for RenderedContext {
    fn from(context: extract::MentionContext) -> Self {
        Self {
            negated: context.negated,
            uncertain: context.uncertain,
            temporality: context.temporality.code(),
            experiencer: context.experiencer.code(),
        }
    }
}

fn place(places: &CodePoints<'_>, span: Span) -> RenderedSpan {
    RenderedSpan { start: places.from_byte(span.start), end: places.from_byte(span.end) }
}

/// The answer to one line, without its id.
pub(super) fn answer(document: &Document, places: &CodePoints<'_>, found: &Extraction, targets: &[Span]) -> Value {
    let text = document.text.as_str();
    let entities: Vec<RenderedFinding<'_>> =
        found.entities.iter().map(|entity| finding(text, places, entity)).collect();
    let values = CurrentValues::from_entities(text, &found.entities);
    let spot = |span: Span| (places.from_byte(span.start), places.from_byte(span.end));
    let statements = found.statements.iter().map(|statement| {
        let (start, end) = spot(statement.span);
        json!({"kind": statement.kind.code(), "start": start, "end": end})
    });
    let of_patient = |risk: &&extract::Risk| risk.experiencer == extract::Experiencer::Patient;
    let shown = |risk: &extract::Risk| -> Value {
        let (start, end) = spot(risk.span);
        let mut row = json!({"class": risk.class.code(), "start": start, "end": end, "level": risk.level.code(),
            "temporality": risk.temporality.code()});
        if let Some(sure) = risk.learned {
            (row["by"], row["confidence"]) = (json!("learned"), json!(sure));
        }
        if let Some(sure) = risk.confirmed {
            row["confirmed"] = json!(sure);
        }
        if let Some(at) = risk.at {
            (row["at"], row["precision"]) = (json!(at.day.to_string()), json!(at.precision.code()));
        }
        if risk.experiencer != extract::Experiencer::Patient {
            (row["experiencer"], row["relation"]) = (json!(risk.experiencer.code()), json!(risk.relation));
        }
        row
    };
    let risk = found.risk.iter().filter(|risk| !risk.denied).filter(of_patient).map(shown);
    let denials = found.risk.iter().filter(|risk| risk.denied).map(shown);
    let others = found.risk.iter().filter(|risk| !risk.denied && !of_patient(risk)).map(shown);
    let hypotheses = found.hypotheses.iter().map(|hypothesis| {
        json!({"text": hypothesis.text, "confidence": hypothesis.confidence, "evidence": place(places, hypothesis.evidence)})
    });
    let contexts = targets.iter().zip(&found.targets).map(|(span, context)| {
        let (start, end) = spot(*span);
        let around = RenderedContext::from(*context);
        json!({"start": start, "end": end, "negated": around.negated, "uncertain": around.uncertain,
               "temporality": around.temporality, "experiencer": around.experiencer})
    });
    json!({
        "entities": entities,
        "statements": statements.collect::<Vec<_>>(),
        "risk": risk.collect::<Vec<_>>(),
        "risk_denied": denials.collect::<Vec<_>>(),
        "risk_of_others": others.collect::<Vec<_>>(),
        "themes": found.themes,
        "sentiment": found.sentiment.code(),
        "hypotheses": hypotheses.collect::<Vec<_>>(),
        "targets": contexts.collect::<Vec<_>>(),
        "values": {"allergies": values.allergies, "medications": values.medications},
    })
}

fn finding<'a>(text: &'a str, places: &CodePoints<'_>, entity: &'a extract::Entity) -> RenderedFinding<'a> {
    RenderedFinding {
        kind: entity.kind.code(),
        start: places.from_byte(entity.span.start),
        end: places.from_byte(entity.span.end),
        text: entity.span.slice(text),
        turn: entity.turn,
        value: &entity.value,
        code: entity.code,
        context: entity.context.into(),
        epistemic: entity.epistemic.code(),
        confidence: entity.confidence,
        evidence: place(places, entity.evidence),
        status: entity.status.as_deref(),
        severity: entity.severity.as_deref(),
        dose: entity.dose.as_deref(),
        route: entity.route.as_deref(),
        frequency: entity.frequency.as_deref(),
        at: entity.at.map(|at| at.day.to_string()),
        precision: entity.at.map(|at| at.precision.code()),
        measured: entity.measured.as_ref(),
        subject: entity.subject.as_deref(),
        reaction: entity.reaction.as_ref().map(|reaction| reaction.name.as_str()),
        regimen: regimen(places, entity),
    }
}

fn regimen(places: &CodePoints<'_>, entity: &extract::Entity) -> Option<Value> {
    let parts = [("dose", entity.places.dose), ("route", entity.places.route), ("frequency", entity.places.frequency)];
    let said: Map<String, Value> = parts
        .into_iter()
        .filter_map(|(name, span)| span.map(|span| (name.to_owned(), json!(place(places, span)))))
        .collect();
    (!said.is_empty()).then_some(Value::Object(said))
}

/// Adds to each finding the cues that affect it: their effect, their position, their words.
pub(super) fn explain(answer: &mut Value, places: &CodePoints<'_>, text: &str, why: &[Vec<(&'static str, Span)>]) {
    let Some(entities) = answer.get_mut("entities").and_then(Value::as_array_mut) else { return };
    for (entity, cues) in entities.iter_mut().zip(why) {
        let cues = cues.iter().map(|(says, span)| {
            let at = place(places, *span);
            json!({"says": says, "start": at.start, "end": at.end, "text": span.slice(text)})
        });
        entity["why"] = cues.collect();
    }
}

/// Adds to each finding its surroundings.
pub(super) fn marks(answer: &mut Value, marks: &[Vec<String>]) {
    let Some(entities) = answer.get_mut("entities").and_then(Value::as_array_mut) else { return };
    entities.iter_mut().zip(marks).for_each(|(entity, marks)| entity["marks"] = json!(marks));
}

/// Adds to each finding the learned reader's scores, if it was used.
pub(super) fn views(answer: &mut Value, found: &Extraction) {
    let Some(entities) = answer.get_mut("entities").and_then(Value::as_array_mut) else { return };
    for (entity, found) in entities.iter_mut().zip(&found.entities) {
        if let Some(surety) = extract::ConfidenceInputs::from_entity(found) {
            (entity["reader"], entity["surety"]) = (json!(found.view), json!(surety));
        }
    }
}
