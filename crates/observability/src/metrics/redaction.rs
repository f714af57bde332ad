//! What redaction found, and whether it held.

use super::labels::{InfoType, RedactionOutcome, ServiceFailure};
use super::registrar::area;

area! {
    /// Redaction. Counts kinds, never values.
    pub struct Redaction as "redaction" {
        /// Documents by what redaction made of them; a failed one is never stored
        documents: Counters<RedactionOutcome> = "dlp_documents_total";
        /// Stretches of text replaced, by kind
        findings: Counters<InfoType> = "dlp_findings_total";
        /// Times that the last look before storage found personal data which redaction had left; must stay 0
        leak_guard: Counters<()> = "dlp_leak_guard_total";
        /// Texts that an additional redaction service did not answer for; each is offered again
        services: Counters<ServiceFailure> = "dlp_service_failures_total";
    }
}
