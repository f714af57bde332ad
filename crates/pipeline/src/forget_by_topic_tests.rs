//! Commands with a topic.

use serde_json::{Value, json};

use super::*;
use crate::fixture::{DOCUMENT, command};

fn by_topic(name: &str, fields: &Value) -> bool {
    speaks_of_a_topic(&command(name, "patient", fields))
}

#[test]
fn forgetting_and_recovering_go_by_topic_where_no_memory_is_named() {
    for name in ["forget", "recover"] {
        assert!(by_topic(name, &json!({"topic": "mi divorcio"})), "{name}");
        assert!(by_topic(name, &json!({"topic": "mi divorcio", "memory_ids": []})), "{name}");
        assert!(!by_topic(name, &json!({"topic": "mi divorcio", "memory_ids": [DOCUMENT]})), "{name}: ids win");
        assert!(!by_topic(name, &json!({"topic": " \n "})), "{name}: a blank topic would mean everything");
        assert!(!by_topic(name, &json!({})), "{name}");
    }
}

#[test]
fn no_other_command_goes_by_topic() {
    for name in Command::ALL.iter().filter(|name| !matches!(name, Command::Forget | Command::Recover)) {
        assert!(!by_topic(name.code(), &json!({"topic": "mi divorcio"})), "{}", name.code());
    }
}
