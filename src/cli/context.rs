//! `context`: all that is known of one patient for one question, in the order of precedence (seed 002, section 7).

use std::sync::Arc;

use uuid::Uuid;

use super::app::App;
use super::output::OutputFormat;
use super::patient::{NOBODY, PatientArgs, PatientResponse, TimePoint, known};
use super::{CliError, Context, Exit, PatientAnswer, output, render};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::RiskLevel;
use anamnesis_extraction::Sentiment;
use anamnesis_pipeline::{Extractors, Redactors};
use anamnesis_search::{ContextRequest, PatientContext, Recall};
use anamnesis_store::read::{DocumentFilter, TimeWindow};

/// The assembled context of a patient.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// A question: adds matching passages, and ranks memories by relevance to it.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: Option<String>,
    /// Maximum number of passages [default: 5].
    #[arg(long, value_name = "N")]
    top_k: Option<usize>,
    /// Minimum cosine similarity of passages found by vector search [default: the embedding model's].
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true)]
    min_score: Option<f64>,
    /// Only documents from this date or instant.
    #[arg(long, value_name = "DATE")]
    since: Option<TimePoint>,
    /// Only documents until this date (inclusive) or instant (exclusive).
    #[arg(long, value_name = "DATE")]
    until: Option<TimePoint>,
    /// The state at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
    /// Search only documents of this type: session_transcript, analysis, intake_form, chat_message, clinical_note,
    /// uploaded_document; may be repeated, like the next three options.
    #[arg(long = "type", value_name = "TYPE", value_parser = |text: &str| known(text, DocumentType::ALL, DocumentType::code))]
    types: Vec<DocumentType>,
    /// Search only documents with this sentiment: positive, neutral, negative, mixed.
    #[arg(long, value_name = "TONE", value_parser = |text: &str| known(text, Sentiment::ALL, Sentiment::code))]
    sentiment: Vec<Sentiment>,
    /// Search only documents with this risk level: none, low, medium, high.
    #[arg(long, value_name = "LEVEL", value_parser = |text: &str| known(text, RiskLevel::ALL, RiskLevel::code))]
    risk_level: Vec<RiskLevel>,
    /// Search only documents of this therapist.
    #[arg(long, value_name = "ID")]
    therapist: Vec<Uuid>,
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or the question requests everything.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    if args.min_score.is_some_and(|score| !(-1.0..=1.0).contains(&score)) {
        return Err(CliError::usage("--min-score is a cosine: −1.0 to 1.0"));
    }
    let request = ContextRequest {
        query: args.query.filter(|query| !query.trim().is_empty()),
        top_k: args.top_k,
        min_score: args.min_score,
        sources: DocumentFilter {
            window: TimeWindow { since: args.since.map(TimePoint::start), until: args.until.map(TimePoint::end) },
            types: args.types,
            sentiments: args.sentiment.into_iter().map(|tone| tone.code().to_owned()).collect(),
            risk_levels: args.risk_level,
            therapists: args.therapist,
        },
        as_of: args.as_of.map(TimePoint::last),
    };
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        let app = App::open(context).await?;
        let known = recall(&app, args.of.org).await?.context(scope, &request).await?;
        match format {
            OutputFormat::Json => {
                output::json(&PatientResponse { answer: PatientAnswer::known(known.known), read: &known })?
            }
            OutputFormat::Table => print(&known)?,
        }
        Ok(Exit::Done)
    })
}

/// The reading side of a world, with the redaction policy of the organisation's documents.
pub async fn recall(app: &App, org: anamnesis_core::ids::OrgId) -> Result<Recall, CliError> {
    let rules = app.store.intake().organizations(&[org]).await?.remove(&org);
    let policy = rules.map_or_else(|| "safe_harbor".to_owned(), |rules| rules.redaction_policy);
    let redactors = Redactors::load(&app.settings.redaction).map_err(|error| CliError::usage(error.to_string()))?;
    let redactor = redactors.get(org, &policy).ok_or_else(|| CliError::failed("the redaction policy is not known"))?;
    let extractors = Extractors::rules(&app.settings.extraction).map_err(|error| CliError::usage(error.to_string()))?;
    let recall = Recall::new(app.store.clone(), app.models()?, Arc::clone(redactor), Arc::clone(&app.metrics));
    Ok(recall.with_extractor(extractors.get(org)))
}

fn print(known: &PatientContext) -> Result<(), CliError> {
    output::line(&format!("Context of patient {} at {}", known.patient_id, known.at.format("%Y-%m-%d %H:%M UTC")))?;
    if !known.known {
        return output::line(NOBODY);
    }
    render::profile(&known.profile)?;
    render::items("Also stated", &known.statements)?;
    render::items("Hypotheses (ask, do not act)", &known.hypotheses)?;
    if !known.contradictions.is_empty() {
        render::title("Contradictions")?;
        render::contradictions(&known.contradictions)?;
    }
    if !known.recent_documents.is_empty() {
        render::title("Recent documents")?;
        let rows = known.recent_documents.iter().map(|d| {
            let risk = d.risk_level.clone().unwrap_or_default();
            let unread = if d.unread { " (language not read)" } else { "" };
            let (themes, sentiment) = (d.themes.join(", "), d.sentiment.clone().unwrap_or_default());
            [format!("{}{unread}", d.source), themes, sentiment, risk, d.producer.line()]
        });
        output::table(&["document", "themes", "sentiment", "risk", "producer says"], rows)?;
    }
    if known.query.is_some() {
        render::passages(&known.passages)?;
    }
    if known.notes.contains(&"by_words_alone") {
        output::note("note: the embedding provider gave no vector; passages were found by their words alone");
    }
    Ok(())
}
