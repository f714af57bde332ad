//! Text of a message in a type that does not show itself.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Text that a person said or a producer wrote. `Debug` shows its length only, so that no log, panic or test output
/// of a message can quote them.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SensitiveText(String);

impl SensitiveText {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl Deref for SensitiveText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SensitiveText {
    fn from(text: &str) -> Self {
        Self(text.to_string())
    }
}

impl From<String> for SensitiveText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl JsonSchema for SensitiveText {
    /// A plain string in the JSON schema.
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

impl fmt::Debug for SensitiveText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_show_themselves() {
        assert_eq!(format!("{:?}", Some(SensitiveText::from("me llamo Lucía"))), "Some(<15 bytes>)");
    }
}
