//! Findings of redaction, and residual personal data.

use super::labels::{InfoType, RedactionOutcome, ServiceFailure};
use super::registrar::area;

area! {
    /// Redaction. Counts kinds, never values.
    pub struct RedactionMetrics as "redaction" {
        /// Documents by outcome of redaction; a failed one is never stored
        documents: Counters<RedactionOutcome> = "dlp_documents_total";
        /// Spans of text replaced, by kind
        findings: Counters<InfoType> = "dlp_findings_total";
        /// Identifiers that the final check before storage found in redacted text; must stay 0
        residual_pii: Counters<()> = "redaction_residual_pii_total";
        /// Texts for which an additional redaction service failed; each is retried
        services: Counters<ServiceFailure> = "dlp_service_failures_total";
    }
}
