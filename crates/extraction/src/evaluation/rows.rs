//! How each kind of row is scored.

use chrono::NaiveDate;

use super::gold::{GoldMention, GoldRow};
use super::{EvaluationReport, MatchCounts};
use crate::dates::{self, DateExpression, DateMention};
use crate::{
    CurrentValues, Entity, Experiencer, Extraction, ExtractionInput, Extractor, MentionContext, StatementKind,
};
use anamnesis_core::fact_date::DatePrecision;
use anamnesis_text::{CodePoints, Document, Span};

/// The day as of which targets are read: sentences without a document have no day.
const AS_OF: Option<NaiveDate> = NaiveDate::from_ymd_opt(2026, 6, 1);

/// Mentions of one kind: whether each expected one was touched, and each found one touches an expected one.
fn overlap(expected: &[Span], found: &[Span]) -> MatchCounts {
    let touched = |span: &&Span, others: &[Span]| others.iter().any(|other| other.overlaps(span));
    let right = found.iter().filter(|span| touched(span, expected)).count();
    let missing = expected.iter().filter(|span| !touched(span, found)).count();
    MatchCounts { right, extra: found.len() - right, missing }
}

/// The day of a sentence that names days or months of a year is the latest of them; of any other, the given one.
fn day_of(document: &Document, otherwise: NaiveDate) -> NaiveDate {
    let whole = |mention: DateMention| match mention.said {
        DateExpression::Fixed(date) if date.precision != DatePrecision::Year => Some(date.day),
        _ => None,
    };
    dates::find(&document.text, document.language, otherwise).into_iter().filter_map(whole).max().unwrap_or(otherwise)
}

impl EvaluationReport {
    pub(super) fn row(&mut self, gold: &GoldRow, extractor: &Extractor) {
        if gold.dup {
            return;
        }
        let document = gold.document();
        let places = CodePoints::new(&document.text);
        let target = gold.start.zip(gold.end).and_then(|(start, end)| places.span_to_bytes(start, end));
        let targets: Vec<Span> = target.into_iter().collect();
        // Rows that ask for the context of a target are read as of a day; other rows were marked without one.
        let today = targets.first().and(AS_OF).map(|day| day_of(&document, day));
        let dates = today.map(|today| dates::find(&document.text, document.language, today)).unwrap_or_default();
        let input = ExtractionInput { targets: &targets, dates: &dates, today, ..ExtractionInput::new(&document) };
        let found = extractor.extract(&input);
        self.rows += 1;
        self.ungrounded += found.entities.iter().filter(|entity| !entity.is_grounded(&document.text)).count();
        if let Some(context) = found.targets.first() {
            self.context(gold, *context);
        }
        if let Some(marked) = &gold.entities {
            self.mentions(gold, marked, &found, &places);
        }
        self.sets(gold, &document, &found);
        self.risk(gold, &found);
        self.tone(gold, &found);
        self.facts(gold, &document, &found);
    }

    pub(super) fn context(&mut self, gold: &GoldRow, context: MentionContext) {
        let mut flag = |task: &str, expected: Option<bool>, found: bool| {
            let name = |on: bool| if on { "yes" } else { "no" };
            if let Some(expected) = expected {
                self.label(task, gold, name(expected), name(found), "no");
            }
        };
        flag("negated", gold.negated, context.negated);
        flag("uncertain", gold.uncertain, context.uncertain);
        let time = gold.temporality.as_deref();
        for value in ["historical", "hypothetical"] {
            flag(value, time.map(|time| time == value), context.temporality.code() == value);
        }
        let other = gold.experiencer.as_deref().map(|who| who != "patient");
        flag("other experiencer", other, context.experiencer != Experiencer::Patient);
    }

    fn mentions(&mut self, gold: &GoldRow, marked: &[GoldMention], found: &Extraction, places: &CodePoints<'_>) {
        for kind in ["medication", "dose", "frequency", "route", "preference", "goal", "relationship"] {
            let expected: Vec<Span> = marked
                .iter()
                .filter(|mark| mark.kind == kind)
                .filter_map(|mark| places.span_to_bytes(mark.start, mark.end))
                .collect();
            let found: Vec<Span> = found.entities.iter().flat_map(|entity| spans(entity, kind)).collect();
            let asked = gold.kinds.as_ref().map_or(!expected.is_empty(), |kinds| kinds.iter().any(|name| name == kind));
            if !asked {
                continue;
            }
            let count = overlap(&expected, &found);
            self.count(&format!("mention: {kind}"), gold, count);
            if count.extra + count.missing > 0 {
                let (expected, found) = (format!("{} missing", count.missing), format!("{} extra", count.extra));
                self.miss(&format!("mention: {kind}"), gold, &expected, &found);
            }
        }
    }

    fn sets(&mut self, gold: &GoldRow, document: &Document, found: &Extraction) {
        let (Some(task), Some(expected)) = (gold.task.as_deref(), &gold.gold) else { return };
        let values = CurrentValues::from_entities(&document.text, &found.entities);
        let (values, none) = if task.starts_with("allerg") {
            (values.allergies, StatementKind::NoKnownAllergies)
        } else {
            (values.medications, StatementKind::NoMedications)
        };
        let mut used = vec![false; values.len()];
        let mut right = 0;
        for alternatives in expected {
            let mut hit = false;
            for (slot, value) in values.iter().enumerate() {
                if !used[slot] && alternatives.split('|').any(|name| same_value(name, value)) {
                    (used[slot], hit) = (true, true);
                }
            }
            right += usize::from(hit);
        }
        // An incomplete gold set does not say what else is right.
        let extra = if gold.complete { used.iter().filter(|used| !**used).count() } else { 0 };
        let count = MatchCounts { right, extra, missing: expected.len() - right };
        self.count(task, gold, count);
        if count.extra + count.missing > 0 {
            self.miss(task, gold, &expected.join(", "), &values.join(", "));
        }
        if gold.gold_none_stated {
            let stated = found.statements.iter().any(|statement| statement.kind == none);
            let name = |on: bool| if on { "stated" } else { "not stated" };
            self.label(&format!("{task}: none stated"), gold, "stated", name(stated), "not stated");
        }
    }

    fn risk(&mut self, gold: &GoldRow, found: &Extraction) {
        let Some(expected) = gold.risk.as_deref() else { return };
        let own = found.risk.iter().find(|risk| !risk.denied && risk.experiencer == Experiencer::Patient);
        let class = own.map_or("none", |risk| risk.class.code());
        let any = |class: &str| if class == "none" { "none" } else { "risk" };
        self.label("risk", gold, any(expected), any(class), "none");
        if expected != "none" && class != "none" {
            self.label("risk: class", gold, expected, class, "none");
        }
    }

    fn tone(&mut self, gold: &GoldRow, found: &Extraction) {
        if let Some(themes) = &gold.themes {
            let found: Vec<&str> = found.themes.iter().map(|theme| &**theme).collect();
            self.set("themes", gold, themes, &found);
        }
        if let Some(sentiment) = gold.sentiment.as_deref() {
            self.label("sentiment", gold, sentiment, found.sentiment.code(), "");
        }
        if let Some(patterns) = &gold.patterns {
            let found: Vec<&str> =
                found.hypotheses.iter().map(|h| h.text.strip_prefix("possible ").unwrap_or(&h.text)).collect();
            self.set("hypotheses", gold, patterns, &found);
        }
    }

    fn set(&mut self, task: &str, gold: &GoldRow, expected: &[String], found: &[&str]) {
        let right = expected.iter().filter(|name| found.contains(&name.as_str())).count();
        let count = MatchCounts { right, extra: found.len() - right, missing: expected.len() - right };
        self.count(task, gold, count);
        if count.extra + count.missing > 0 {
            self.miss(task, gold, &expected.join(", "), &found.join(", "));
        }
    }
}

/// The places of an entity for a kind of mention.
fn spans(entity: &Entity, kind: &str) -> Vec<Span> {
    match kind {
        "dose" => entity.places.dose.into_iter().collect(),
        "frequency" => entity.places.frequency.into_iter().collect(),
        "route" => entity.places.route.into_iter().collect(),
        kind if entity.kind.code() == kind => vec![entity.span],
        _ => Vec::new(),
    }
}

/// One is a whole-word run of the other; an empty one never matches.
pub(super) fn same_value(a: &str, b: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (mut short, mut long) = (words(a), words(b));
    if short.len() > long.len() {
        std::mem::swap(&mut short, &mut long);
    }
    !short.is_empty() && long.windows(short.len()).any(|run| run == short)
}
