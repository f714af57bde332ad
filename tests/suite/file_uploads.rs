//! An uploaded document: file hash and page accompany every finding from message to reader. So does the version of
//! rules and lexicons, including those of the deployment.

use std::sync::Arc;

use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::OrgId;
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_search::{ContextRequest, Recall, SearchRequest};
use anamnesis_store::read::{MemoryFilter, ReadInstant};
use serde_json::{Value, json};

use crate::support::{
    Clinic, ORG, Program, TestEngine, bodies, count, document, embedder, feed, on_every_engine, on_every_program, rows,
    scope,
};

on_every_engine!(
    page_and_file_hash_go_from_the_message_to_everything_that_is_handed_out,
    a_medicine_of_an_organisations_own_lexicon_is_stored_with_the_lexicons_version,
);
on_every_program!(the_program_shows_page_file_and_version);

const AT: &str = "2026-06-28T10:00:00Z";
const HASH: &str = "ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34";
/// Three pages. Redaction in the first moves the starts of the others; two-byte letters precede them.
const FIRST: &str = "Paciente: Ana María Ñúñez, teléfono 655 010 203. Alérgica a la penicilina.\n";
const SECOND: &str = "Toma sertralina 50 mg al día. Refiere insomnio.\n";
const THIRD: &str = "Dice que quiere quitarse la vida.\n";

fn report(id: u128) -> Value {
    let second = FIRST.chars().count();
    let third = second + SECOND.chars().count();
    let mut message = document(id, 1, AT, &format!("{FIRST}{SECOND}{THIRD}"));
    message["document_type"] = json!("uploaded_document");
    message["language"] = json!("es");
    message["file"] = json!({"name": "informe.pdf", "media_type": "application/pdf", "sha256": HASH.to_uppercase(),
        "pages": [0, second, third]});
    message
}

async fn stored(pipeline: &Pipeline, message: Value) {
    assert_eq!(feed(pipeline, &bodies(&[message]), 4).await, [Disposition::Stored]);
}

async fn page_and_file_hash_go_from_the_message_to_everything_that_is_handed_out(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    stored(&pipeline, report(1)).await;
    let store = pipeline.store();
    for (entity, page) in [(EntityType::Allergy, 1), (EntityType::Medication, 2), (EntityType::Condition, 2)] {
        let filter = MemoryFilter { entities: vec![entity], ..MemoryFilter::default() };
        let memories = store.read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
        assert_eq!(memories.len(), 1, "{entity}");
        let file = memories[0].file.as_ref().unwrap();
        assert_eq!((file.sha256.as_str(), file.page), (HASH, Some(page)), "{entity}");
    }
    let risks = store.read().risks(scope(), ReadInstant::Now).await.unwrap();
    assert!(!risks.is_empty() && risks.iter().all(|risk| risk.file.as_ref().unwrap().page == Some(3)));

    let redactor = Arc::clone(pipeline.redactor(OrgId(ORG), "safe_harbor").unwrap());
    let recall = Recall::new(store.clone(), embedder(), redactor, Arc::clone(pipeline.metrics()));
    let context = recall.context(scope(), &ContextRequest::default()).await.unwrap();
    let source = &context.profile.medications[0].source;
    assert_eq!((source.file.as_ref().unwrap().page, source.file.as_ref().unwrap().sha256.as_str()), (Some(2), HASH));
    assert!(source.label.contains("uploaded_document, page 2"), "{}", source.label);
    let request = SearchRequest { query: "insomnio".into(), ..SearchRequest::default() };
    let found = recall.search(scope(), &request).await.unwrap();
    let hit = found.hits.iter().find(|hit| hit.fragment.contains("insomnio")).unwrap();
    let begins = if hit.fragment.contains("Paciente") { 1 } else { 2 };
    assert_eq!(hit.file.as_ref().unwrap().page, Some(begins), "{}", hit.fragment);
    assert!(hit.source.contains(&format!("page {begins}")));

    // A finding of no file has none.
    let clean = clinic.pipeline().await;
    stored(&clean, document(2, 1, AT, "Toma sertralina 50 mg al día.")).await;
    let memories = clean.store().read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
    assert!(!memories.is_empty() && memories.iter().all(|memory| memory.file.is_none()));
    assert_eq!(count(clean.store(), "SELECT count(*) FROM memory WHERE file_sealed IS NOT NULL").await, 0);
}

async fn a_medicine_of_an_organisations_own_lexicon_is_stored_with_the_lexicons_version(engine: TestEngine) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.tsv");
    std::fs::write(&path, "# list: drugs\n# version: clinic-3\nssri\tzumbatrol\t-\tzumbatrol\n").unwrap();
    let clinic = Clinic::on(engine).await.with(|settings| settings.extraction.lexicons = vec![path.clone()]);
    let pipeline = clinic.pipeline().await;
    stored(&pipeline, document(1, 1, AT, "Toma zumbatrol 50 mg al día.")).await;
    let filter = MemoryFilter { entities: vec![EntityType::Medication], ..MemoryFilter::default() };
    let memories = pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    assert_eq!(memories[0].words.as_ref().unwrap().concept, "zumbatrol");
    let version = pipeline.extractor_of(OrgId(ORG)).version().to_owned();
    assert!(version.contains("+clinic-3."), "{version}");
    for table in ["SELECT extractor_version FROM extracted_findings", "SELECT extractor_version FROM documents"] {
        let stored = rows(pipeline.store(), table).await;
        assert!(!stored.is_empty() && stored.iter().all(|row| row.text(0).unwrap() == version), "{table}");
    }
    assert_eq!(pipeline.store().read().read_by(scope(), memories[0].id).await.unwrap(), Some(version));
}

async fn the_program_shows_page_file_and_version(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert!(program.ingest(&bodies(&[report(1)]), &[]).status.success());
    let patient = ["--org", &ORG.to_string(), "--patient", &crate::support::PATIENT.to_string()].map(str::to_owned);
    let said = |verb: &[&str]| {
        let output = program.command(&[]).args(verb).args(&patient).args(["--output", "json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = said(&["export"]);
    let all: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let medicine = all.iter().find(|line| line["memory"]["entity"] == "medication").unwrap();
    assert_eq!(medicine["memory"]["file"], json!({"sha256": HASH, "page": 2}));
    let exported = all.iter().find(|line| line["type"] == "document").unwrap();
    assert_eq!(exported["file"]["sha256"], HASH);
    let id = medicine["memory"]["id"].as_str().unwrap();
    let source: Value = serde_json::from_str(&said(&["memory", "source", id])).unwrap();
    assert_eq!(source["file"], json!({"sha256": HASH, "page": 2}));
    assert!(source["read_by"].as_str().unwrap().starts_with("2."), "{source}");
    assert!(said(&["memory", "trace", id]).contains(HASH));
    assert!(said(&["context"]).contains("uploaded_document, page 2"));
}
