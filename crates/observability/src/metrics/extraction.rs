//! Extraction by a language model, in addition to the rules. Counts outcomes, never texts.

use super::labels::ModelOutcome;
use super::registrar::area;

area! {
    /// Extraction by a language model, where one is configured.
    pub struct ExtractionMetrics as "extraction" {
        /// Documents sent to a language model, by outcome; for all but `ok` only the rules' result is used
        model_documents: Counters<ModelOutcome> = "extraction_model_documents_total";
        /// Findings of a language model that were confirmed by text and rules
        model_added: Counters<()> = "extraction_model_findings_added_total";
        /// Findings of a language model that were dropped: not in the text, already found by the rules, or only a question
        model_dropped: Counters<()> = "extraction_model_findings_dropped_total";
        /// Findings of a language model whose polarity or numbers differ from those of the rules; the rules win
        model_overruled: Counters<()> = "extraction_model_findings_overruled_total";
        /// Sentences of documents that give instructions to a language model (prompt injection); nothing is extracted from them
        prompt_injections: Counters<()> = "llm_prompt_injections_total";
    }
}
