//! The fields of one question, read with a reason for each that cannot be taken.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Map, Value};

/// Why a question has no answer: a stable code, and the field it is about. Holds no value of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleRefusal {
    /// `malformed`, `unknown_rule`, `missing`, `mistyped`, `out_of_range`, `unknown_code`.
    pub(crate) code: &'static str,
    pub(crate) field: Option<String>,
}

impl RuleRefusal {
    pub(crate) fn new(code: &'static str, field: &str) -> Self {
        Self { code, field: Some(field.to_owned()) }
    }
}

/// Reads fields of an object; `null` is a missing field.
pub(super) struct QuestionFields<'a> {
    object: &'a Map<String, Value>,
    /// Name of the object in its parent, with a trailing dot; empty at the top.
    path: String,
}

impl<'a> QuestionFields<'a> {
    pub(crate) fn new(object: &'a Map<String, Value>) -> Self {
        Self { object, path: String::new() }
    }

    pub(crate) fn refuse(&self, code: &'static str, field: &str) -> RuleRefusal {
        RuleRefusal::new(code, &format!("{}{field}", self.path))
    }

    fn get(&self, field: &str) -> Option<&'a Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    fn read<T>(&self, field: &str, read: impl Fn(&'a Value) -> Option<T>) -> Result<Option<T>, RuleRefusal> {
        match self.get(field) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| self.refuse("mistyped", field)),
        }
    }

    /// The value, or the refusal of a field that must be there.
    pub(crate) fn must<T>(&self, field: &str, value: Option<T>) -> Result<T, RuleRefusal> {
        value.ok_or_else(|| self.refuse("missing", field))
    }

    pub(crate) fn text(&self, field: &str) -> Result<&'a str, RuleRefusal> {
        let text = self.text_or_none(field)?;
        self.must(field, text)
    }

    pub(crate) fn text_or_none(&self, field: &str) -> Result<Option<&'a str>, RuleRefusal> {
        self.read(field, Value::as_str)
    }

    pub(crate) fn flag(&self, field: &str) -> Result<bool, RuleRefusal> {
        Ok(self.read(field, Value::as_bool)?.unwrap_or(false))
    }

    pub(crate) fn number(&self, field: &str) -> Result<f64, RuleRefusal> {
        let number = self.number_or_none(field)?;
        self.must(field, number)
    }

    pub(crate) fn number_or_none(&self, field: &str) -> Result<Option<f64>, RuleRefusal> {
        self.read(field, Value::as_f64)
    }

    /// A number within a closed range.
    pub(crate) fn within(&self, field: &str, low: f64, high: f64) -> Result<Option<f64>, RuleRefusal> {
        match self.number_or_none(field)? {
            Some(number) if !(low..=high).contains(&number) => Err(self.refuse("out_of_range", field)),
            number => Ok(number),
        }
    }

    /// A count, 0 to `most`.
    pub(crate) fn count(&self, field: &str, most: u32) -> Result<Option<u32>, RuleRefusal> {
        match self.within(field, 0.0, f64::from(most))? {
            // Exact: whole and within u32.
            Some(number) if number.fract() == 0.0 => Ok(Some(number as u32)),
            Some(_) => Err(self.refuse("mistyped", field)),
            None => Ok(None),
        }
    }

    /// One of a closed set of codes.
    pub(crate) fn code<T>(&self, field: &str, from_code: impl Fn(&str) -> Option<T>) -> Result<Option<T>, RuleRefusal> {
        let Some(code) = self.text_or_none(field)? else { return Ok(None) };
        from_code(code).map(Some).ok_or_else(|| self.refuse("unknown_code", field))
    }

    /// A list of codes of a closed set; missing is empty.
    pub(crate) fn codes<T>(&self, field: &str, from_code: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, RuleRefusal> {
        let Some(list) = self.read(field, Value::as_array)? else { return Ok(Vec::new()) };
        list.iter()
            .map(|value| {
                let code = value.as_str().ok_or_else(|| self.refuse("mistyped", field))?;
                from_code(code).ok_or_else(|| self.refuse("unknown_code", field))
            })
            .collect()
    }

    /// An instant (RFC 3339) or a day (its first instant, UTC).
    pub(crate) fn instant(&self, field: &str) -> Result<Option<DateTime<Utc>>, RuleRefusal> {
        self.read(field, |value| instant(value.as_str()?))
    }

    /// An object within this one.
    pub(crate) fn object(&self, field: &str) -> Result<Option<QuestionFields<'a>>, RuleRefusal> {
        let object = self.read(field, Value::as_object)?;
        Ok(object.map(|object| QuestionFields { object, path: format!("{}{field}.", self.path) }))
    }
}

fn instant(text: &str) -> Option<DateTime<Utc>> {
    let day = || text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0).map(|start| start.and_utc());
    DateTime::parse_from_rfc3339(text).ok().map(|at| at.to_utc()).or_else(day)
}
