//! The recent documents of a patient, named and not quoted, with their findings and the annotations of their producers.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::context::ContextRequest;
use super::memory_item::document_label;
use super::{Recall, RecallError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::DocumentId;
use anamnesis_core::scope::Scope;
use anamnesis_store::read::TimeWindow;

/// Seed 002, section 7: recent is the last 14–30 days.
const RECENT_DAYS: i64 = 30;
/// Most recent documents named.
const RECENT_DOCUMENTS: usize = 10;

/// A recent document, named but not quoted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecentDocument {
    pub(crate) document_id: DocumentId,
    pub(crate) revision: u32,
    pub(crate) document_type: DocumentType,
    pub(crate) date: DateTime<Utc>,
    pub themes: Vec<String>,
    /// In an unsupported language: stored sealed, without findings.
    pub unread: bool,
    pub sentiment: Option<String>,
    pub risk_level: Option<String>,
    /// The annotations of its producer, next to our findings.
    #[serde(skip_serializing_if = "ProducerAnnotations::is_empty")]
    pub producer: ProducerAnnotations,
    pub source: String,
}

/// Themes, tone and level of risk by a producer's own reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProducerAnnotations {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) themes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sentiment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) risk_level: Option<String>,
}

impl ProducerAnnotations {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `negative, risk high, grief`.
    pub fn line(&self) -> String {
        let risk = self.risk_level.as_ref().map(|level| format!("risk {level}"));
        let parts = self.sentiment.iter().cloned().chain(risk).chain(self.themes.iter().cloned());
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl Recall {
    pub(super) async fn recent(
        &self,
        scope: Scope,
        request: &ContextRequest,
    ) -> Result<Vec<RecentDocument>, RecallError> {
        let when = request.when();
        let asked = request.sources.window;
        let since = asked.since.unwrap_or(self.store.read().instant(when) - TimeDelta::days(RECENT_DAYS));
        let window = TimeWindow { since: Some(since), until: asked.until };
        let documents = self.store.read().documents(scope, window, RECENT_DOCUMENTS, when).await?;
        let named = documents.into_iter().map(|d| RecentDocument {
            // Older documents hold one level only: the producer's, where the producer gave one.
            risk_level: d.content.read_risk_level.or(d.risk_level.filter(|_| d.content.producer_risk_level.is_none())),
            document_id: d.id,
            revision: d.revision,
            document_type: d.document_type,
            date: d.occurred_at,
            producer: ProducerAnnotations {
                themes: d.content.producer_themes,
                sentiment: d.content.producer_sentiment,
                risk_level: d.content.producer_risk_level,
            },
            themes: d.content.themes,
            unread: d.content.unread.is_some(),
            sentiment: d.sentiment,
            source: document_label(d.document_type, d.occurred_at, &[]),
        });
        Ok(named.collect())
    }
}
