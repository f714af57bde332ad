//! `anamnesis-bench peers`: the same documents into other memory libraries on the same server, embedded by the same fake server.
//! They store one text and one vector for a document (LlamaIndex's own pipeline as many as its splitter makes), in the clear, and
//! extract nothing. Those that do not redact are
//! compared with the pipeline that finds patterns only, the one that does with the whole.

use std::path::Path;
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::process::Command;

use super::corpus;

/// Runs inside the person's own Python, which decides what is installed.
const SCRIPT: &str = include_str!("../../../scripts/peers.py");

/// The libraries that `scripts/peers.py` knows, each in the way in which it works, and whether they redact.
pub(crate) const PEERS: [(&str, bool); 4] =
    [("llamaindex", false), ("llamaindex-nodes", false), ("mem0", false), ("llamaindex+presidio", true)];

/// What may go wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeersError {
    #[error("Python cannot be started: {0}")]
    Python(std::io::ErrorKind),
    #[error("{peer} failed; its output is in {log}")]
    Failed { peer: &'static str, log: String },
    #[error("a temporary file cannot be written: {0}")]
    File(std::io::ErrorKind),
}

/// Where a peer works.
#[derive(Debug, Clone)]
pub(crate) struct PeerLocation<'a> {
    pub(crate) python: &'a Path,
    /// For the documents, the script and what a peer keeps next to the database.
    pub(crate) folder: &'a Path,
    /// An administrator's, of a database with pgvector that is the peer's alone.
    pub(crate) url: &'a str,
    /// `/embeddings` is appended to it.
    pub(crate) embeddings: &'a str,
    pub(crate) dimension: usize,
    /// Texts of a call, where a peer takes several.
    pub(crate) batch: usize,
}

/// What a peer did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    pub(crate) peer: String,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) documents: u64,
    #[serde(default)]
    pub(crate) seconds: f64,
    /// Why there is no figure.
    #[serde(default)]
    pub(crate) error: Option<String>,
}

impl Peer {
    /// One that failed has no rate.
    pub(crate) fn failed(peer: &str, error: &PeersError) -> Self {
        Self { peer: peer.to_owned(), version: None, documents: 0, seconds: 0.0, error: Some(error.to_string()) }
    }

    pub(crate) fn documents_per_second(&self) -> Option<f64> {
        (self.error.is_none() && self.seconds > 0.0).then(|| self.documents as f64 / self.seconds)
    }
}

/// Runs one peer over the first `documents` of the corpus.
///
/// # Errors
/// When Python cannot be started or the peer fails; a peer that is not installed is told in [`Peer::error`].
pub(crate) async fn run(peer: &'static str, documents: u64, place: &PeerLocation<'_>) -> Result<Peer, PeersError> {
    let file = |error: std::io::Error| PeersError::File(error.kind());
    let (script, lines) = (place.folder.join("peers.py"), place.folder.join("documents.ndjson"));
    std::fs::write(&script, SCRIPT).map_err(file)?;
    std::fs::write(&lines, (0..documents).map(line).collect::<String>()).map_err(file)?;
    let output = Command::new(place.python)
        .arg(&script)
        .args(["--peer", peer, "--url", place.url, "--embeddings", place.embeddings])
        .args(["--dimension", &place.dimension.to_string(), "--batch", &place.batch.to_string()])
        .arg("--documents")
        .arg(&lines)
        .env("PEERS_HOME", place.folder)
        .env("HOME", place.folder)
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|error| PeersError::Python(error.kind()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let found = printed.lines().rev().find_map(|line| serde_json::from_str::<Peer>(line).ok());
    found.filter(|_| output.status.success()).ok_or_else(|| {
        let log = std::env::temp_dir().join(format!("anamnesis-bench-{peer}.log"));
        // A log that cannot be written leaves the failure to be told without it.
        let _ = std::fs::write(&log, &output.stderr);
        PeersError::Failed { peer, log: log.display().to_string() }
    })
}

/// A document of the corpus as a peer takes it: whose, which, and its words.
fn line(number: u64) -> String {
    let message: Value = serde_json::from_slice(&corpus::document(number)).unwrap_or_default();
    let data = message.get("data").unwrap_or(&message);
    let turns = data["turns"].as_array().into_iter().flatten();
    let said: Vec<&str> = turns.filter_map(|turn| turn["text"].as_str()).collect();
    let text = data["text"].as_str().map_or_else(|| said.join("\n"), str::to_owned);
    let own = json!({"patient_id": data["patient_id"], "document_id": data["document_id"],
        "language": data["language"], "text": text});
    format!("{own}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_gets_the_words_of_every_document() {
        for number in 0..12 {
            let own: Value = serde_json::from_str(&line(number)).unwrap();
            assert!(own["text"].as_str().is_some_and(|text| text.len() > 200), "{own}");
            assert!(["patient_id", "document_id", "language"].iter().all(|key| own[key].is_string()));
        }
    }

    #[test]
    fn a_peer_that_is_not_installed_has_no_rate() {
        let printed = r#"{"peer": "mem0", "error": "not installed: mem0"}"#;
        assert_eq!(serde_json::from_str::<Peer>(printed).unwrap().documents_per_second(), None);
    }
}
