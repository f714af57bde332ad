//! The JSON Schema of the configuration, made from the types of the settings: for editors, and for the chart's values, whose
//! `config` is a file of this form.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Settings, renamed};

/// docs/schemas/configuration.json. Every section and key; unknown keys are refused, and old names are deprecated. A file may
/// leave out what has a default, which is all but some keys of the elements of lists.
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
    add_old_names(&mut schema);
    schema
}

/// Adds the old names of keys as deprecated: a file with them still works.
fn add_old_names(schema: &mut Value) {
    for row in renamed::rows() {
        let Some(section) = definition(schema, row.section()) else { continue };
        let properties = schema.pointer_mut(&format!("{section}/properties"));
        let Some(properties) = properties.and_then(Value::as_object_mut) else { continue };
        let Some(mut old) = properties.get(row.new_name()).cloned() else { continue };
        if let Some(fields) = old.as_object_mut() {
            fields.remove("default");
            fields.insert("deprecated".to_owned(), Value::from(true));
            let about = format!("Renamed to `{}` in {}.", row.new_name(), row.since);
            fields.insert("description".to_owned(), Value::from(about));
        }
        properties.insert(row.old_name().to_owned(), old);
    }
}

/// The JSON pointer to the definition of a section.
fn definition(schema: &Value, section: &str) -> Option<String> {
    let mut at = String::new();
    for key in section.split('.') {
        let property = schema.pointer(&format!("{at}/properties/{key}"))?;
        let mut places = vec![&property["$ref"], &property["items"]["$ref"]];
        places.extend(property["anyOf"].as_array().into_iter().flatten().map(|part| &part["$ref"]));
        let path = places.into_iter().find_map(Value::as_str)?;
        at = path.trim_start_matches('#').to_owned();
    }
    Some(at)
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

/// The definition of the chart's schema that holds for `config`.
const DEFINITION: &str = "Configuration";

/// The chart's schema with what it says of `config` made anew: the blocks `$defs` and `config`. `None` where it lacks one.
///
/// The value is a table, which Helm checks, or TOML in a text, which `scripts/check_helm.py` and `config check` read.
pub fn into_values_schema(values: &str) -> Option<String> {
    let mut whole = schema();
    let fields = whole.as_object_mut()?;
    let mut definitions = fields.remove("$defs")?;
    // A definition with an id would be a separate document.
    for key in ["$schema", "$id"] {
        fields.remove(key);
    }
    definitions.as_object_mut()?.insert(DEFINITION.to_owned(), whole);
    let of = serde_json::json!({"$ref": format!("#/$defs/{DEFINITION}")});
    let text = serde_json::json!({"type": "string", "contentMediaType": "application/toml", "contentSchema": of});
    let values = with_block(values, (" ", "$defs"), &definitions)?;
    with_block(&values, ("  ", "config"), &serde_json::json!({"anyOf": [text, of]}))
}

/// JSON with an indent of one blank a level, in which the block of a key at this indent has another content.
fn with_block(text: &str, (indent, key): (&str, &str), content: &Value) -> Option<String> {
    let (begin, end) = (format!("\n{indent}\"{key}\": {{\n"), format!("\n{indent}}}"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    let mut made = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut made, form);
    serde::Serialize::serialize(content, &mut writer).ok()?;
    let made = String::from_utf8(made).ok()?.replace('\n', &format!("\n{indent}"));
    let body = made.strip_prefix("{\n")?.strip_suffix(&end)?;
    Some(format!("{before}{begin}{body}{end}{after}"))
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
    fn every_old_name_is_deprecated_and_has_the_type_of_the_new_one() {
        let schema = schema();
        for row in renamed::rows() {
            let section = definition(&schema, row.section()).expect(row.new);
            let properties = schema.pointer(&format!("{section}/properties")).expect(row.new);
            let (old, new) = (&properties[row.old_name()], &properties[row.new_name()]);
            assert_eq!(old["deprecated"], true, "{}", row.old);
            assert_eq!((&old["type"], &old["$ref"]), (&new["type"], &new["$ref"]), "{}", row.old);
        }
    }

    #[test]
    fn the_block_of_the_values_schema_is_replaced_and_nothing_else() {
        let values = "{\n \"$defs\": {\n  \"a\": {}\n },\n \"properties\": {\n  \"config\": {\n   \"type\": \"string\"\n  },\n  \"log\": {}\n }\n}\n";
        let made = into_values_schema(values).expect("there is a block");
        let read: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(read["$defs"]["Configuration"]["properties"], schema()["properties"]);
        assert_eq!(read["$defs"]["StoreConfig"], schema()["$defs"]["StoreConfig"]);
        assert_eq!(read["properties"]["config"]["anyOf"][1]["$ref"], "#/$defs/Configuration");
        assert_eq!(read["properties"]["log"], serde_json::json!({}));
        assert_eq!(into_values_schema(&made).as_deref(), Some(made.as_str()), "made twice is made once");
    }
}
