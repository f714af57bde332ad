//! The output of the demonstration, in an order and in words that a clinician can follow.

use std::path::Path;

use serde_json::{Value, json};

use super::{DemoJobRun, counts};
use crate::cli::CliError;
use crate::cli::output;
use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::DispositionCounts;
use anamnesis_search::{LineageNode, MemoryItem, Recall, SearchRequest, trace};
use anamnesis_store::read::{LineageDirection, Memory, MemoryFilter, ReadInstant};

/// Seed 003's own question, and the same in English.
const QUESTIONS: [(&str, &str); 2] = [
    ("Lucía", "Me siento igual que aquella vez que perdí mi trabajo"),
    ("Daniel", "I feel the same as that time I lost my job"),
];

pub(super) struct DemoReport<'a> {
    pub(crate) recall: &'a Recall,
    pub(crate) people: &'a [(&'static str, Scope)],
    pub(crate) tally: &'a DispositionCounts,
    pub(crate) job_runs: &'a [DemoJobRun],
    pub(crate) folder: &'a Path,
}

impl DemoReport<'_> {
    pub(crate) async fn print(&self) -> Result<(), CliError> {
        heading("Taken in")?;
        output::table(
            &["Disposition", "Messages"],
            self.tally.iter().map(|(d, n)| [d.code().to_owned(), n.to_string()]),
        )?;
        for (name, scope) in self.people.iter().take(2) {
            self.timeline(name, *scope).await?;
        }
        self.disagreements().await?;
        self.lineage().await?;
        for (name, question) in QUESTIONS {
            self.search(name, question).await?;
        }
        heading("Thirty days later")?;
        let rows = self.job_runs.iter().map(|n| [n.date.to_string(), n.job.to_owned(), n.changed.to_string()]);
        output::table(&["Night", "Job", "Memories changed"], rows)?;
        self.next_steps()
    }

    fn scope(&self, name: &str) -> Option<Scope> {
        self.people.iter().find(|(n, _)| *n == name).map(|(_, scope)| *scope)
    }

    /// A patient's memories, oldest first.
    async fn timeline(&self, name: &str, scope: Scope) -> Result<(), CliError> {
        heading(&format!("What is remembered of {name}"))?;
        let mut memories = self.memories(scope).await?;
        memories.sort_by_key(|m| (m.valid_from, m.id));
        let rows = memories.iter().map(|m| {
            let item = MemoryItem::conversational(m);
            let until = m.valid_to.map(|to| format!(" → {}", to.date_naive())).unwrap_or_default();
            let mut state = m.status.state.code().to_owned();
            if m.contested {
                state.push_str(", contested");
            }
            [format!("{}{until}", m.valid_from.date_naive()), item.statement.clone(), state, m.set_by.code().to_owned()]
        });
        output::table(&["When", "What", "State", "Source"], rows)
    }

    async fn memories(&self, scope: Scope) -> Result<Vec<Memory>, CliError> {
        let all = self
            .recall
            .store()
            .read()
            .memories(scope, &MemoryFilter::default(), ReadInstant::Now)
            .await
            .map_err(failed)?;
        Ok(all.into_iter().filter(|m| m.kind != Kind::Raw).collect())
    }

    /// Contradictions are stored and asked about, never resolved silently.
    async fn disagreements(&self) -> Result<(), CliError> {
        heading("Kept apart, and a person is asked")?;
        let mut rows = Vec::new();
        for (name, scope) in self.people {
            for opposed in anamnesis_search::context::contradictions(self.recall.store(), *scope, ReadInstant::Now)
                .await
                .map_err(failed)?
            {
                let words = |item: &Option<MemoryItem>| item.as_ref().map_or_else(String::new, |i| i.statement.clone());
                rows.push([(*name).to_owned(), words(&opposed.kept), words(&opposed.claim)]);
            }
        }
        output::table(&["Patient", "Recorded", "Contradicted by"], rows)
    }

    /// Why one fact is believed: a superseded dose, back to the words that carried it.
    async fn lineage(&self) -> Result<(), CliError> {
        if let Some((name, node)) = self.traced().await? {
            heading(&format!("Why is this believed of {name}?"))?;
            tree(&node, 0)?;
        }
        Ok(())
    }

    async fn traced(&self) -> Result<Option<(&'static str, LineageNode)>, CliError> {
        for (name, scope) in self.people {
            let memories = self.memories(*scope).await?;
            let successor = memories.iter().find(|m| {
                m.entity == Some(EntityType::Medication) && m.supersedes.is_some() && m.status.state == State::Active
            });
            let Some(memory) = successor else { continue };
            let node = trace(self.recall.store(), *scope, memory.id, LineageDirection::Up).await.map_err(failed)?;
            if let Some(node) = node {
                return Ok(Some((name, node)));
            }
        }
        Ok(None)
    }

    async fn search(&self, name: &str, question: &str) -> Result<(), CliError> {
        let Some(scope) = self.scope(name) else { return Ok(()) };
        heading(&format!("By meaning, of {name}: “{question}”"))?;
        let request = SearchRequest { query: question.to_owned(), top_k: Some(3), ..SearchRequest::default() };
        let found = self.recall.search(scope, &request).await.map_err(|error| CliError::failed(error.to_string()))?;
        let rows = found.hits.iter().map(|hit| {
            let similarity = hit.similarity.map_or("–".to_owned(), |s| format!("{s:.2}"));
            [
                similarity,
                hit.date.date_naive().to_string(),
                hit.document_type.code().to_owned(),
                shortened(&hit.fragment),
            ]
        });
        output::table(&["Similarity", "Date", "Document", "Fragment"], rows)
    }

    fn next_steps(&self) -> Result<(), CliError> {
        let Some((_, scope)) = self.people.first() else { return Ok(()) };
        let store = self.folder.join("store.db");
        let keys = self.folder.join("store.keys");
        heading("Try next")?;
        output::line(&format!(
            "export ANAMNESIS__STORE__PATH={} ANAMNESIS__STORE__KEYS={}",
            store.display(),
            keys.display()
        ))?;
        output::line(&format!(
            "anamnesis context --org {} --patient {} --query 'dormir mal'",
            scope.org(),
            scope.patient()
        ))?;
        output::line(&format!("anamnesis memory list --org {} --patient {}", scope.org(), scope.patient()))?;
        output::line("anamnesis job status")?;
        output::line("anamnesis ingest YOUR_FILE.ndjson")
    }

    /// The same for programs.
    pub(crate) async fn json(&self) -> Result<Value, CliError> {
        let mut searches = Vec::new();
        for (name, question) in QUESTIONS {
            let Some(scope) = self.scope(name) else { continue };
            let request = SearchRequest { query: question.to_owned(), top_k: Some(3), ..SearchRequest::default() };
            let found =
                self.recall.search(scope, &request).await.map_err(|error| CliError::failed(error.to_string()))?;
            searches.push(json!({"patient": scope.patient(), "found": found}));
        }
        let mut memories = serde_json::Map::new();
        for (_, scope) in self.people {
            let items: Vec<MemoryItem> = self.memories(*scope).await?.iter().map(MemoryItem::conversational).collect();
            memories.insert(scope.patient().to_string(), json!(items));
        }
        let lineage = self.traced().await?.map(|(_, node)| node);
        Ok(
            json!({"dispositions": counts(self.tally), "memories": memories, "lineage": lineage, "searches": searches, "job_runs": self.job_runs, "nights": self.job_runs, "store": self.folder}),
        )
    }
}

fn heading(text: &str) -> Result<(), CliError> {
    output::line(&format!("\n{text}"))
}

fn tree(node: &LineageNode, depth: usize) -> Result<(), CliError> {
    let relation = node.relation.as_deref().map(|r| format!("{r}: ")).unwrap_or_default();
    output::line(&format!("{}{relation}{}", "   ".repeat(depth), output::printable(&node.label)))?;
    for child in &node.children {
        tree(child, depth + 1)?;
    }
    Ok(())
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 220;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}

fn failed(error: anamnesis_store::StoreError) -> CliError {
    CliError::failed(error.to_string())
}
