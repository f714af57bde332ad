//! One function per rule: reads the question's fields, asks the domain, writes the answer's fields.

use chrono::{DateTime, Duration, Utc};
use serde_json::{Map, Value, json};

use super::concepts::in_concepts;
use super::fields::{QuestionFields, RuleRefusal};
use anamnesis_core::bulk_request_guard::is_dump_request;
use anamnesis_core::confidence::{self, CreationFacts, DecayPolicy};
use anamnesis_core::contradiction::{ContradictionClaim, ContradictionPolicy, contradiction};
use anamnesis_core::equivalence::same_fact;
use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_core::lifecycle::{LifecyclePolicy, LifecycleTimes, UseConditions, status_at, use_of};
use anamnesis_core::memory::{Class, DocumentType, Kind, SetBy, State};
use anamnesis_core::provenance::{SourceType, Teller, Trust, TrustBasis, trust_of};
use anamnesis_core::source;
use anamnesis_core::supersede::{ArrivingValue, CurrentValue, outcome};

type RuleAnswer = Result<Map<String, Value>, RuleRefusal>;

/// Calls the rule that the question names.
pub(super) fn answer(fields: &mut QuestionFields<'_>) -> RuleAnswer {
    let rule = fields.text("rule")?;
    match rule {
        "effective_confidence" => effective_confidence(fields),
        "initial_confidence" => initial_confidence(fields),
        "reinforce" => reinforce(fields),
        "verify" => verify(fields),
        "source_type" => source_type(fields),
        "contradiction" => contradicts(fields),
        "same_fact" => Ok(object(json!({ "same": is_same_fact(fields.text("a")?, fields.text("b")?) }))),
        "lifecycle" => lifecycle(fields),
        "trust" => trust(fields),
        "supersede" => supersede(fields),
        "dump_request" => Ok(object(json!({ "refused": is_dump_request(fields.text("text")?) }))),
        _ => Err(RuleRefusal::new("unknown_rule", "rule")),
    }
}

/// The same words, or the same concept of the lexicon.
fn is_same_fact(a: &str, b: &str) -> bool {
    same_fact(a, b) || same_fact(&in_concepts(a), &in_concepts(b))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Nine decimals: exact to 1e-6 by a wide margin, and free of the noise of binary fractions.
fn rounded(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

fn unit(fields: &QuestionFields<'_>, field: &str) -> Result<f64, RuleRefusal> {
    let value = fields.within(field, 0.0, 1.0)?;
    fields.must(field, value)
}

fn effective_confidence(fields: &QuestionFields<'_>) -> RuleAnswer {
    let kind = fields.code("kind", Kind::from_code)?;
    let kind = fields.must("kind", kind)?;
    let stored = unit(fields, "stored")?;
    let days = fields.number("days")?;
    let class = fields.code("class", Class::from_code)?;
    let flag = fields.flag("protected")?;
    let protected = class.map_or(flag, |class| confidence::is_protected(flag, class));
    let policy = DecayPolicy::default();
    let threshold = fields.within("threshold", 0.0, 1.0)?.unwrap_or(policy.uncertain_below);
    let effective = confidence::effective(&policy, kind, stored, days, protected);
    let uncertain = confidence::uncertain(effective, stored, threshold);
    Ok(object(json!({ "effective": rounded(effective), "uncertain": uncertain })))
}

fn initial_confidence(fields: &QuestionFields<'_>) -> RuleAnswer {
    let creation = CreationFacts {
        is_proxy: fields.flag("is_proxy")?,
        given: fields.number_or_none("confidence")?,
        cognitive_state: fields.number_or_none("cognitive_state")?,
        formed_from: formed_from(fields)?,
    };
    let initial = confidence::initial(&creation).map_err(|error| fields.refuse("out_of_range", error.field()))?;
    Ok(object(json!({ "confidence": rounded(initial.confidence), "basis": initial.basis })))
}

/// `"formed": true` with an optional `weakest_parent`.
fn formed_from(fields: &QuestionFields<'_>) -> Result<Option<f64>, RuleRefusal> {
    let weakest = fields.within("weakest_parent", 0.0, 1.0)?;
    Ok(if fields.flag("formed")? { Some(weakest.unwrap_or(1.0)) } else { weakest })
}

/// More repetitions than a life has days are a mistake.
const MOST_REINFORCEMENTS: u32 = 1_000_000;

fn reinforce(fields: &QuestionFields<'_>) -> RuleAnswer {
    let stored = unit(fields, "stored")?;
    let before = fields.count("times_reinforced", MOST_REINFORCEMENTS)?.unwrap_or(0);
    let after = before + fields.count("count", MOST_REINFORCEMENTS)?.unwrap_or(1);
    let confidence = (before + 1..=after).fold(stored, confidence::reinforced);
    Ok(object(json!({ "confidence": rounded(confidence), "times_reinforced": after })))
}

fn verify(fields: &QuestionFields<'_>) -> RuleAnswer {
    Ok(object(json!({ "confidence": rounded(confidence::verified(unit(fields, "stored")?)) })))
}

fn source_type(fields: &QuestionFields<'_>) -> RuleAnswer {
    let reading = source::read(fields.text_or_none("source")?.unwrap_or(""));
    let mut answer = object(json!({ "source_type": reading.source_type, "source_entity": reading.entity }));
    answer.extend(reading.entity_ref.map(|entity| ("source_entity_ref".to_owned(), Value::from(entity))));
    Ok(answer)
}

fn contradicts(fields: &QuestionFields<'_>) -> RuleAnswer {
    let policy = ContradictionPolicy::default();
    let min_similarity = fields.within("threshold", -1.0, 1.0)?.unwrap_or(policy.min_similarity);
    let similarity = fields.within("similarity", -1.0, 1.0)?;
    let (a, b) = (claim(fields, "a")?, claim(fields, "b")?);
    let found = contradiction(&a, &b, similarity, &ContradictionPolicy { min_similarity, ..policy });
    Ok(object(json!({ "type": found })))
}

/// The text in `a`, with `experiencer_a`, `valid_from_a` and `valid_to_a` (or `a_experiencer` …) where they are given.
fn claim<'a>(fields: &QuestionFields<'a>, side: &str) -> Result<ContradictionClaim<'a>, RuleRefusal> {
    let experiencer = |field: &str| fields.code(field, Experiencer::from_code);
    Ok(ContradictionClaim {
        text: fields.text(side)?,
        experiencer: either(experiencer, "experiencer", side)?,
        valid_from: either(|field| fields.instant(field), "valid_from", side)?,
        valid_to: either(|field| fields.instant(field), "valid_to", side)?,
    })
}

fn either<T>(
    read: impl Fn(&str) -> Result<Option<T>, RuleRefusal>,
    field: &str,
    side: &str,
) -> Result<Option<T>, RuleRefusal> {
    Ok(match read(&format!("{field}_{side}"))? {
        Some(value) => Some(value),
        None => read(&format!("{side}_{field}"))?,
    })
}

/// The question counts seconds, but the rule takes instants. Any start is right.
fn origin() -> DateTime<Utc> {
    DateTime::<Utc>::UNIX_EPOCH + Duration::days(36_525)
}

fn lifecycle(fields: &QuestionFields<'_>) -> RuleAnswer {
    let class = fields.code("class", Class::from_code)?;
    let class = fields.must("class", class)?;
    let state = fields.code("state", State::from_code)?.unwrap_or(State::Active);
    let now = origin();
    let created = ago(fields, "seconds_since_created", now)?;
    let confirmed = ago(fields, "seconds_since_confirmed", now)?;
    let synced = ago(fields, "seconds_since_synced", now)?;
    let needed = match class {
        Class::TimeBoundState => fields.must("seconds_since_confirmed", confirmed.or(created)),
        Class::Inference => fields.must("seconds_since_created", created),
        Class::HealthSignal => fields.must("seconds_since_synced", synced.or(created)),
        _ => Ok(now),
    }?;
    let life = LifecycleTimes {
        class,
        state,
        state_since: None,
        recorded_at: created.unwrap_or(needed),
        last_confirmed_at: confirmed,
        synced_at: synced,
        expires_at: ahead(fields, "seconds_until_expiry", now)?,
        ends_at: None,
    };
    let here = status_at(&life, now, &LifecyclePolicy::default());
    let conditions = UseConditions {
        kind: fields.code("kind", Kind::from_code)?.unwrap_or(Kind::Note),
        trust: fields.code("trust", Trust::from_code)?.unwrap_or(Trust::T1),
        ungrounded: fields.flag("ungrounded")?,
        verified: fields.flag("verified")?,
        read_doubtfully: fields
            .within("extraction_confidence", 0.0, 1.0)?
            .is_some_and(|sure| sure < LifecyclePolicy::default().min_extraction_confidence),
    };
    let usage = use_of(class, here.state, &conditions);
    Ok(object(json!({ "state": here.state, "reconfirm_due": here.reconfirm_due, "use": usage })))
}

/// A thousand years, in seconds.
const FAR: f64 = 3.2e10;

fn ago(fields: &QuestionFields<'_>, field: &str, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, RuleRefusal> {
    Ok(fields.within(field, -FAR, FAR)?.and_then(|seconds| now.checked_sub_signed(micros(seconds))))
}

fn ahead(fields: &QuestionFields<'_>, field: &str, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, RuleRefusal> {
    Ok(fields.within(field, -FAR, FAR)?.and_then(|seconds| now.checked_add_signed(micros(seconds))))
}

fn micros(seconds: f64) -> Duration {
    // Within i64: the range was checked.
    Duration::microseconds((seconds * 1e6).round() as i64)
}

fn trust(fields: &QuestionFields<'_>) -> RuleAnswer {
    let source_type = fields.code("source_type", SourceType::from_code)?;
    let source_type = fields.must("source_type", source_type)?;
    let device = fields.flag("registered_device")?;
    let default = if device { Teller::Device } else { Teller::Patient };
    let parents = fields.codes("parents", Trust::from_code)?;
    let trust = trust_of(&TrustBasis {
        source_type,
        teller: fields.code("teller", Teller::from_code)?.unwrap_or(default),
        is_proxy: fields.flag("is_proxy")?,
        document_type: fields.code("document_type", DocumentType::from_code)?,
        signed: fields.flag("signed")?,
        parents: &parents,
    });
    Ok(object(json!({ "trust": trust, "epistemic": source_type.epistemic() })))
}

fn supersede(fields: &QuestionFields<'_>) -> RuleAnswer {
    let old = fields.object("old")?;
    let (old, new) = (fields.must("old", old)?, fields.object("new")?);
    let new = fields.must("new", new)?;
    let current = CurrentValue {
        trust: required_trust(&old)?,
        set_by: old.code("set_by", SetBy::from_code)?.unwrap_or(SetBy::Unknown),
        entity: entity(&old)?,
        class: old.code("class", Class::from_code)?.or(class_of_kind(&old)?),
        valid_from: old.instant("valid_from")?,
    };
    let arriving = ArrivingValue {
        trust: required_trust(&new)?,
        set_by: new.code("set_by", SetBy::from_code)?.unwrap_or(SetBy::Unknown),
        document_type: new.code("document_type", DocumentType::from_code)?,
        valid_from: new.instant("valid_from")?,
        same_fact: is_same(fields, &old, &new)?,
    };
    Ok(object(json!({ "outcome": outcome(&current, &arriving) })))
}

fn required_trust(fields: &QuestionFields<'_>) -> Result<Trust, RuleRefusal> {
    let trust = fields.code("trust", Trust::from_code)?;
    fields.must("trust", trust)
}

/// `kind` names an entity type (allergy …) or a class that represents one (pattern).
fn entity(old: &QuestionFields<'_>) -> Result<Option<EntityType>, RuleRefusal> {
    if class_of_kind(old)?.is_some() {
        return Ok(None);
    }
    old.code("kind", EntityType::from_code)
}

fn class_of_kind(old: &QuestionFields<'_>) -> Result<Option<Class>, RuleRefusal> {
    let class = old.text_or_none("kind")?.and_then(Class::from_code);
    Ok(class.filter(|class| !matches!(class, Class::Event | Class::HealthSignal | Class::Preference)))
}

/// `"same_fact": true`, or equal facts in `old.value` and `new.value`.
fn is_same(
    fields: &QuestionFields<'_>,
    old: &QuestionFields<'_>,
    new: &QuestionFields<'_>,
) -> Result<bool, RuleRefusal> {
    let values = (old.text_or_none("value")?, new.text_or_none("value")?);
    let same = matches!(values, (Some(old), Some(new)) if is_same_fact(old, new));
    Ok(same || fields.flag("same_fact")? || new.flag("same_fact")?)
}
