//! `recall eval`: the search of this program and its configuration, held against a set of questions.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chrono::Duration;
use serde_json::json;

use super::super::app::App;
use super::super::keyring::KeyStoreSetup;
use super::super::output::{self, OutputFormat};
use super::super::{CliError, Context, Exit};
use super::gold::{GoldPatient, GoldQuestion};
use anamnesis_config::Settings;
use anamnesis_core::clock::ManualClock;
use anamnesis_observability::metrics::labels::Measure;
use anamnesis_pipeline::RawMessage;
use anamnesis_search::evaluation::{DEPTH, JudgedQuery, RetrievalMetrics};
use anamnesis_search::{Ranking, Recall, SearchHit, SearchRequest};

const RANKINGS: [(&str, Ranking); 4] = [
    ("by meaning", Ranking::Meaning),
    ("by words", Ranking::Words),
    ("by concepts", Ranking::Concepts),
    ("together", Ranking::Together),
];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Gold data, one patient per line: {"id","lang","documents":[{"id","type","occurred_at","text"|"turns"}],
    /// "questions":[{"id","lang","text","answers":[{"document","quote"}]}]}
    gold: PathBuf,
    /// Write every passage of every question with the components of its score, without text (NDJSON).
    #[arg(long, value_name = "FILE")]
    ranks: Option<PathBuf>,
    /// Store the results in the configured store; its workers export them as retrieval_quality_ratio.
    #[arg(long)]
    record: bool,
}

/// Questions of one language about records of the same or the other one.
#[derive(Default)]
struct RecallColumn {
    same: Vec<JudgedQuery>,
    across: Vec<JudgedQuery>,
}

/// # Errors
/// When the file cannot be read, a line is no patient (the line is named), or a document is not stored.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let patients = read(&args.gold)?;
    let mut ranks = args.ranks.map(File::create).transpose()?.map(BufWriter::new);
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        // Opened first, because half an hour later is too late to learn that it fails.
        let record = if args.record { Some(App::open(context).await?) } else { None };
        let mut columns: [RecallColumn; RANKINGS.len()] = Default::default();
        let progress = output::progress_count(Some(patients.iter().map(|p| p.questions.len() as u64).sum()));
        for patient in &patients {
            let folder = tempfile::tempdir()?;
            let recall = filled(App::scratch_settings(context, folder.path())?, patient).await?;
            for question in &patient.questions {
                for ((_, ranking), column) in RANKINGS.iter().zip(&mut columns) {
                    let asked = SearchRequest { ranking: *ranking, ..request(question) };
                    let (answered, _) = ask(&recall, patient, question, &asked).await?;
                    let place = if question.lang == patient.lang { &mut column.same } else { &mut column.across };
                    place.push(answered);
                }
                if let Some(out) = &mut ranks {
                    let whole = SearchRequest { min_score: Some(-1.0), top_k: Some(usize::MAX), ..request(question) };
                    let (answered, hits) = ask(&recall, patient, question, &whole).await?;
                    writeln!(out, "{}", parts(patient, question, &answered, &hits))?;
                }
                progress.inc(1);
            }
            recall.store().close().await;
        }
        progress.finish_and_clear();
        if let Some(app) = record {
            // The ranking that readers get is the last one.
            let together = columns.last().into_iter().flat_map(|column| column.same.iter().chain(&column.across));
            let figures = RetrievalMetrics::compute(together);
            let quality = &app.metrics.recall.quality;
            for (measure, share) in [
                (Measure::HitAt1, figures.hit_at_1),
                (Measure::HitAt5, figures.hit_at_5),
                (Measure::HitAt10, figures.hit_at_10),
            ] {
                quality.with_labels(measure).set(share);
            }
        }
        print(&columns, format)
    })
}

fn read(path: &std::path::Path) -> Result<Vec<GoldPatient>, CliError> {
    let lines = BufReader::new(File::open(path)?).lines().enumerate();
    let mut patients = Vec::new();
    for (at, line) in lines {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let patient = serde_json::from_str(&line).map_err(|error| {
            CliError::usage(format!(
                "{}: line {}, column {}: no patient of a set",
                path.display(),
                at + 1,
                error.column()
            ))
        })?;
        patients.push(patient);
    }
    Ok(patients)
}

async fn filled(settings: Settings, patient: &GoldPatient) -> Result<Recall, CliError> {
    let messages = patient.messages();
    let wrong = || CliError::usage(format!("patient {}: no documents", patient.id));
    let (first, last) = messages.first().zip(messages.last()).ok_or_else(wrong)?;
    let (first, last) = (first.0, last.0);
    let clock = Arc::new(ManualClock::at(first));
    let app = App::at(settings, Arc::clone(&clock) as _, KeyStoreSetup::Create).await?;
    let pipeline = app.pipeline()?;
    clock.set(last + Duration::hours(1));
    let bodies = messages.into_iter().map(|(_, body)| RawMessage::from_body(body)).collect();
    let refused = pipeline.run(bodies).await.into_iter().find(|done| done.code() != "stored");
    if let Some(disposition) = refused {
        let code = disposition.code();
        return Err(CliError::failed(format!("patient {}: a document was not taken in ({code})", patient.id)));
    }
    let scope = patient.scope().ok_or_else(wrong)?;
    super::super::context::recall(&app, scope.org()).await
}

fn request(question: &GoldQuestion) -> SearchRequest {
    SearchRequest { query: question.text.clone(), top_k: Some(DEPTH), ..SearchRequest::default() }
}

async fn ask(
    recall: &Recall,
    patient: &GoldPatient,
    question: &GoldQuestion,
    request: &SearchRequest,
) -> Result<(JudgedQuery, Vec<SearchHit>), CliError> {
    let scope = patient.scope().ok_or_else(|| CliError::usage(format!("patient {}: no id", patient.id)))?;
    let started = Instant::now();
    let found = recall.search(scope, request).await?;
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let hits = found.hits.iter().map(|hit| patient.answer_in(question, hit)).collect();
    Ok((JudgedQuery { hits, answers: question.answers.len(), micros }, found.hits))
}

/// All passages of a question, best first, by the parts of their scores.
fn parts(
    patient: &GoldPatient,
    question: &GoldQuestion,
    answered: &JudgedQuery,
    hits: &[SearchHit],
) -> serde_json::Value {
    let part = |(hit, answer): (&SearchHit, &Option<usize>)| {
        json!({
            "document": hit.document_id, "start": hit.start, "end": hit.end, "date": hit.date, "score": hit.score,
            "meaning": hit.similarity, "words": hit.keyword, "concepts": hit.concept,
            "confidence": hit.effective_confidence, "question": hit.fragment.trim_end().ends_with('?'),
            "answer": answer,
        })
    };
    let passages: Vec<_> = hits.iter().zip(&answered.hits).map(part).collect();
    json!({"patient": patient.id, "question": question.id, "same_language": question.lang == patient.lang, "passages": passages})
}

fn print(columns: &[RecallColumn; RANKINGS.len()], format: OutputFormat) -> Result<Exit, CliError> {
    let rows = RANKINGS.iter().zip(columns).flat_map(|((name, _), column)| {
        let all = column.same.iter().chain(&column.across);
        [
            (*name, "same language", RetrievalMetrics::compute(&column.same)),
            (*name, "across languages", RetrievalMetrics::compute(&column.across)),
            (*name, "all", RetrievalMetrics::compute(all)),
        ]
    });
    match format {
        OutputFormat::Json => {
            let rows: Vec<_> = rows
                .map(
                    |(ranking, questions, figures)| json!({"ranking": ranking, "asked": questions, "figures": figures}),
                )
                .collect();
            output::json(&json!({"rankings": rows}))?;
        }
        OutputFormat::Table => {
            let share = |value: f64| format!("{:.1}", 100.0 * value);
            let rows = rows.map(|(ranking, questions, f)| {
                let hits = [f.hit_at_1, f.hit_at_3, f.hit_at_5, f.hit_at_10, f.mrr, f.ndcg].map(share);
                let times = [f.p50_ms, f.p95_ms].map(|ms| format!("{ms:.1}"));
                let mut row = vec![ranking.to_owned(), questions.to_owned(), f.questions.to_string()];
                row.extend(hits.into_iter().chain(times));
                row
            });
            let header = [
                "ranking",
                "asked",
                "questions",
                "hit@1",
                "hit@3",
                "hit@5",
                "hit@10",
                "MRR",
                "nDCG",
                "p50 ms",
                "p95 ms",
            ];
            output::table(&header, rows)?;
        }
    }
    Ok(Exit::Done)
}
