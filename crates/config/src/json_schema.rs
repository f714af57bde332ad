//! The JSON Schema of the configuration, made from the types of the settings: for editors, and for the chart's values, whose
//! `config` is a file of this form.

use serde_json::Value;

use super::Settings;

/// docs/schemas/configuration.json. Every section and key; unknown keys are refused.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Settings);
    schema.insert("$id".to_owned(), Value::from("urn:anamnesis:schema:configuration"));
    schema.insert("title".to_owned(), Value::from("Configuration of anamnesis (TOML)"));
    schema.to_value()
}

/// Marks the block of the chart's schema that is made here.
const BEGIN: &str = "  \"config\": {\n";
const END: &str = "\n  }";

/// The chart's schema with the block of `config` made anew; `None` where there is no such block.
///
/// The value is TOML in a text. What Helm checks is the text; editors and `scripts/check_helm.py` check its content.
pub fn into_values_schema(values: &str) -> Option<String> {
    let (before, rest) = values.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let config =
        serde_json::json!({"type": "string", "contentMediaType": "application/toml", "contentSchema": schema()});
    let mut text = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, form);
    serde::Serialize::serialize(&config, &mut writer).ok()?;
    let text = String::from_utf8(text).ok()?.replace('\n', "\n  ");
    let body = text.strip_prefix("{\n")?.strip_suffix("\n  }")?;
    Some(format!("{before}{BEGIN}{body}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_values_schema_is_replaced_and_nothing_else() {
        let values = "{\n \"properties\": {\n  \"config\": {\n   \"type\": \"string\"\n  },\n  \"log\": {}\n }\n}\n";
        let made = into_values_schema(values).expect("there is a block");
        let read: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(read["properties"]["config"]["contentSchema"], schema());
        assert_eq!(read["properties"]["log"], serde_json::json!({}));
        assert_eq!(into_values_schema(&made).as_deref(), Some(made.as_str()), "made twice is made once");
    }
}
