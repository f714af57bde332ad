//! The JSON Schema of the configuration, made from the types of the settings: for editors, and for the chart's values, whose
//! `config` is a file of this form.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Settings;

/// docs/schemas/configuration.json. Every section and key; unknown keys are refused. A file may leave out what has a default,
/// which is all but some keys of the elements of lists.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Settings);
    schema.insert("$id".to_owned(), Value::from("urn:anamnesis:schema:configuration"));
    schema.insert("title".to_owned(), Value::from("Configuration of anamnesis (TOML)"));
    let mut schema = schema.to_value();
    let mut elements = BTreeSet::new();
    collect_elements(&schema, &mut elements);
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, definition) in definitions.filter(|(name, _)| !elements.contains(name.as_str())) {
        definition.as_object_mut().and_then(|fields| fields.remove("required"));
    }
    schema.as_object_mut().and_then(|fields| fields.remove("required"));
    schema
}

/// The definitions that are elements of a list.
fn collect_elements(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let of = fields.get("items").and_then(|items| items["$ref"].as_str());
            found.extend(of.and_then(|path| path.strip_prefix("#/$defs/")).map(str::to_owned));
            fields.values().for_each(|value| collect_elements(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_elements(item, found)),
        _ => {}
    }
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
    fn only_elements_of_lists_have_required_keys() {
        let schema = schema();
        assert_eq!(schema.get("required"), None);
        assert_eq!(schema["$defs"]["StoreConfig"].get("required"), None);
        assert!(schema["$defs"]["Producer"]["required"].as_array().is_some_and(|keys| !keys.is_empty()));
    }

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
