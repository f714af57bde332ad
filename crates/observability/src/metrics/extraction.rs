//! What a language model beside the rules did. Counts outcomes, never what was said.

use super::labels::ModelOutcome;
use super::registrar::area;

area! {
    /// Extraction by a language model, where one is configured.
    pub struct Extraction as "extraction" {
        /// Documents that a language model was asked about, by how that ended; all but `ok` keep the rules' result alone
        model_documents: Counters<ModelOutcome> = "extraction_model_documents_total";
        /// Findings of a language model that held against text and rules
        model_added: Counters<()> = "extraction_model_findings_added_total";
        /// Findings of a language model that were not taken: not in the text, known to the rules, only asked about
        model_dropped: Counters<()> = "extraction_model_findings_dropped_total";
        /// Findings of a language model whose polarity or numbers the rules read otherwise; the rules win
        model_overruled: Counters<()> = "extraction_model_findings_overruled_total";
        /// Sentences of documents that give orders to a language model; nothing is taken from them
        model_orders: Counters<()> = "extraction_model_orders_total";
    }
}
