//! Generated pages: each equals the output of the current code. `make docs` writes them again.

use std::path::Path;

use anamnesis_config::reference::reference_page as configuration_page;
use anamnesis_observability::metrics::{Identity, Metrics, reference_page};
use anamnesis_rabbitmq::{Names, definitions};

/// Compares a page with its generated text, or writes it when `ANAMNESIS_UPDATE_DOCS` is set.
fn holds(page: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("ANAMNESIS_UPDATE_DOCS").is_some() {
        std::fs::write(&path, now).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == now, "{page} is out of date: run `make docs`");
}

#[test]
fn the_page_of_metrics_is_what_the_registry_declares() {
    let metrics = Metrics::new(&Identity::default()).unwrap();
    holds("docs/metrics.md", &reference_page(metrics.catalogue()));
}

#[test]
fn the_page_of_the_configuration_is_what_the_types_declare() {
    holds("docs/configuration.md", &configuration_page());
}

#[test]
fn the_page_of_findings_is_what_doctor_can_find() {
    holds("docs/doctor.md", &anamnesis::cli::doctor::codes::page());
}

#[test]
fn the_page_of_log_codes_is_what_the_table_says() {
    holds("docs/log.md", &anamnesis_observability::log_codes::page());
}

#[test]
fn the_page_of_the_command_line_is_what_the_parser_takes() {
    holds("docs/command-line.md", &anamnesis::cli::reference::page());
}

#[test]
fn the_page_of_error_codes_is_what_the_table_says() {
    holds("docs/error-codes.md", &anamnesis::cli::errors::page());
}

#[test]
fn the_page_of_jobs_is_what_the_policies_say() {
    holds("docs/jobs.md", &anamnesis_jobs::reference::page());
}

#[test]
fn the_schemas_are_those_of_the_types() {
    let mut files = anamnesis::cli::contract::files();
    files.push(("configuration.json".to_owned(), format!("{:#}\n", anamnesis_config::json_schema::schema())));
    files.push(("asyncapi.json".to_owned(), anamnesis::cli::contract::asyncapi::text("anamnesis")));
    for (name, text) in &files {
        holds(&format!("docs/schemas/{name}"), text);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let there = std::fs::read_dir(folder).expect("the folder is there").count();
    assert_eq!(there, files.len(), "docs/schemas has a file that nothing makes");
}

#[test]
fn the_schema_of_the_charts_values_knows_every_key_of_the_configuration() {
    let page = "helm/anamnesis/values.schema.json";
    let written = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let now = anamnesis_config::json_schema::into_values_schema(&written).expect("the schema has a block for `config`");
    holds(page, &now);
}

#[test]
fn the_definitions_for_the_broker_are_the_topology_of_the_code() {
    let shipped = definitions::shipped(&Names::new("anamnesis"));
    holds("deploy/rabbitmq/definitions.json", &format!("{}\n", serde_json::to_string_pretty(&shipped).unwrap()));
    let users = definitions::users(&Names::new("anamnesis"));
    holds("deploy/rabbitmq/users.json", &format!("{}\n", serde_json::to_string_pretty(&users).unwrap()));
}
