//! `redact eval`: evaluates redaction on annotated texts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::super::output::{self, OutputFormat};
use super::super::{CliError, Context, Exit};
use super::score::{LabeledSpan, RedactionScores, Score};
use super::{input, stream};
use anamnesis_redaction::label;
use anamnesis_redaction::{KnownPeople, Redacted, Redaction, Redactor, SurrogateKey};
use anamnesis_text::CodePoints;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Gold data: lines {"id","text","language"?,"known_identities"?,"spans":[{"start","end","label"}]}, offsets in code
    /// points; or annotated text lines: Soy [[PERSON|Ana]].
    gold: PathBuf,
    /// The policy that is evaluated: safe_harbor, gdpr_pseudonymise, strict, or a policy file (.toml).
    #[arg(long, default_value = "safe_harbor")]
    policy: String,
    /// Gold labels that are not scored, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "")]
    ignore: Vec<String>,
    /// Number of the worst misses to show.
    #[arg(long, default_value_t = 10)]
    misses: usize,
    /// Score the predictions of another program instead: lines {"id","spans"} (scripts/presidio.sh).
    #[arg(long, alias = "found", value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Score one in N templates only, if the set names templates: those that are not used for training.
    #[arg(long, value_name = "N")]
    templates: Option<u64>,
}

struct GoldDocument {
    id: String,
    fields: serde_json::Map<String, Value>,
    spans: Vec<LabeledSpan>,
}

#[derive(Deserialize)]
struct GoldEntity {
    start: usize,
    end: usize,
    label: String,
}

/// # Errors
/// When the policy is unknown, the file cannot be read or a line is no gold line; the line is named.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let policy = super::policy(&args.policy)?;
    let redactor = Redactor::builtin(policy.clone());
    let ignored: HashSet<&str> = args.ignore.iter().map(String::as_str).filter(|label| !label.is_empty()).collect();
    let language = args.gold.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = std::fs::read_to_string(&args.gold)?;
    let key = SurrogateKey::new(stream::COMMAND_LINE_KEY);
    let others = args.predictions.as_deref().map(predictions).transpose()?;
    let mut score = Score::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        let wrong = || CliError::usage(format!("line {}: no gold line", at + 1));
        let gold = if line.starts_with('{') { read(line) } else { unmarked(line, at, &language) }.ok_or_else(wrong)?;
        let template = gold.fields.get("template_id").and_then(Value::as_u64);
        if args.templates.is_some_and(|every| template.is_none_or(|template| template % every != 0)) {
            continue;
        }
        let (document, identities) = input::document(&gold.fields).map_err(|_| wrong())?;
        let found = match &others {
            Some(others) => others.get(&gold.id).cloned().unwrap_or_default(),
            None => redactor
                .redact(&document, &KnownPeople::from_identities(identities), &key)
                .map(|redacted| taken(&document.text, &redacted))
                .map_err(|error| CliError::failed(format!("line {}: {error}", at + 1)))?,
        };
        let characters: Vec<char> = document.text.chars().collect();
        // A year that the policy keeps is neither a leak nor, where it was taken with a date, too much.
        let stays = |span: &LabeledSpan| {
            let text = characters.get(span.start..span.end).unwrap_or_default().iter().collect::<String>();
            family(&span.label) == label::DATE && policy.keeps_years(&text)
        };
        let (excluded, kept): (Vec<LabeledSpan>, Vec<LabeledSpan>) =
            gold.spans.into_iter().partition(|span| ignored.contains(span.label.as_str()) || stays(span));
        let kept: Vec<LabeledSpan> =
            kept.into_iter().map(|span| LabeledSpan { label: family(&span.label).to_owned(), ..span }).collect();
        score.add(&gold.id, &document.text, &kept, &excluded, &found);
    }
    let report = score.report(args.misses);
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        tables(&report)?;
    } else {
        output::json(&report)?;
    }
    Ok(Exit::Done)
}

/// The redacted spans, in code points.
fn taken(text: &str, redacted: &Redacted) -> Vec<LabeledSpan> {
    let places = CodePoints::new(text);
    let marked = |one: &Redaction| {
        let span = places.span_from_bytes(one.source);
        LabeledSpan { start: span.start, end: span.end, label: family(one.label).to_owned() }
    };
    redacted.redactions().iter().map(marked).collect()
}

#[derive(Deserialize)]
struct PredictedSpans {
    id: String,
    spans: Vec<GoldEntity>,
}

/// Spans of another program by document.
fn predictions(path: &Path) -> Result<HashMap<String, Vec<LabeledSpan>>, CliError> {
    let mut all = HashMap::new();
    for (at, line) in std::fs::read_to_string(path)?.lines().enumerate() {
        let found: PredictedSpans = serde_json::from_str(line)
            .map_err(|_| CliError::usage(format!("line {} of what was found: no such line", at + 1)))?;
        let marked =
            |span: GoldEntity| LabeledSpan { start: span.start, end: span.end, label: family(&span.label).to_owned() };
        all.insert(found.id, found.spans.into_iter().map(marked).collect());
    }
    Ok(all)
}

fn read(line: &str) -> Option<GoldDocument> {
    let Value::Object(mut fields) = serde_json::from_str::<Value>(line).ok()? else { return None };
    let spans: Vec<GoldEntity> = serde_json::from_value(fields.get("spans")?.clone()).ok()?;
    let id = fields.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned))?;
    if let Some(language) = fields.get("lang").cloned().filter(|_| !fields.contains_key("language")) {
        fields.insert("language".into(), language);
    }
    let spans =
        spans.into_iter().map(|span| LabeledSpan { start: span.start, end: span.end, label: span.label }).collect();
    Some(GoldDocument { id, fields, spans })
}

/// "Soy [[PERSON|Ana]]."; the file's name contains the language (`notes.es.txt`).
fn unmarked(line: &str, at: usize, file: &str) -> Option<GoldDocument> {
    let (mut text, mut spans, mut rest) = (String::new(), Vec::new(), line);
    while let Some((before, marked)) = rest.split_once("[[") {
        let (inside, behind) = marked.split_once("]]")?;
        let (label, value) = inside.split_once('|')?;
        text.push_str(before);
        let start = text.chars().count();
        text.push_str(value);
        spans.push(LabeledSpan { start, end: start + value.chars().count(), label: label.to_owned() });
        rest = behind;
    }
    text.push_str(rest);
    let mut fields = serde_json::Map::new();
    fields.insert("text".into(), Value::String(text));
    if let Some(language) = ["es", "en"].into_iter().find(|code| file.contains(&format!(".{code}."))) {
        fields.insert("language".into(), Value::String(language.into()));
    }
    Some(GoldDocument { id: (at + 1).to_string(), fields, spans })
}

/// Maps labels of public sets and of the contract to common kinds of data.
fn family(label: &str) -> &str {
    match label {
        "TERRITORIO" | "PAIS" | "POSTAL_CODE" | "COUNTRY" => "LOCATION",
        "FECHAS" | "DATE_TIME" => "DATE",
        "EDAD_SUJETO_ASISTENCIA" => "AGE",
        "NOMBRE_SUJETO_ASISTENCIA" | "NOMBRE_PERSONAL_SANITARIO" => "PERSON",
        "SEXO_SUJETO_ASISTENCIA" => "SEX",
        "CALLE" => "ADDRESS",
        "CORREO_ELECTRONICO" | "EMAIL_ADDRESS" => "EMAIL",
        "HOSPITAL" | "INSTITUCION" | "CENTRO_SALUD" => "ORGANIZATION",
        "FAMILIARES_SUJETO_ASISTENCIA" => "FAMILY",
        "PROFESION" => "PROFESSION",
        "NUMERO_TELEFONO" | "NUMERO_FAX" | "PHONE_NUMBER" => "PHONE",
        "CREDIT_CARD" => "CARD",
        "DOMAIN_NAME" => "URL",
        "IBAN_CODE" => "BANK_ACCOUNT",
        "OTROS_SUJETO_ASISTENCIA"
        | "PERSON"
        | "LOCATION"
        | "DATE"
        | "AGE"
        | "SEX"
        | "ADDRESS"
        | "ORGANIZATION"
        | "FAMILY"
        | "PROFESSION"
        | "PHONE"
        | "EMAIL"
        | "URL"
        | "HANDLE"
        | "IP_ADDRESS"
        | "DEVICE_ID"
        | "VEHICLE_ID"
        | "GEO"
        | "CARD"
        | "BANK_ACCOUNT"
        | "TITLE"
        | "PREFIX" => label,
        _ => "IDENTIFIER",
    }
}

fn tables(report: &RedactionScores) -> Result<(), CliError> {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let with = |share: f64, [from, to]: [f64; 2]| format!("{} ({:.2}–{:.2})", percent(share), 100.0 * from, 100.0 * to);
    let rows = [
        ("Documents", report.documents.to_string()),
        ("Gold spans", report.spans.to_string()),
        ("Leak: gold characters left in clear", with(report.leak, report.leak_interval)),
        ("Over-redaction: other characters taken", with(report.over, report.over_interval)),
        ("Spans wholly missed", percent(report.spans_missed)),
        ("Documents with a leak", percent(report.documents_leaking)),
        ("Documents without gold, touched", format!("{} of {}", percent(report.clean_touched), report.clean_documents)),
        ("Exact typed F1", format!("{:.4}", report.f1)),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    let rows = report.labels.iter().map(|(label, of)| {
        let counts = [label.clone(), of.gold.to_string(), of.predicted.to_string()];
        let shares = [of.leak, of.covered, of.exact_precision, of.exact_recall, of.exact_f1];
        counts.into_iter().chain(shares.map(percent)).collect::<Vec<_>>()
    });
    output::table(&["Label", "Gold", "Found", "Leak", "Covered", "Precision", "Recall", "F1"], rows)?;
    let rows = report.misses.iter().map(|miss| {
        [miss.id.clone(), miss.label.clone(), format!("{}–{}", miss.start, miss.end), miss.left.to_string()]
    });
    output::table(&["Worst misses: id", "Label", "Place", "Characters left"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_spans_in_code_points() {
        let gold = unmarked("ñ [[PERSON|José]] fue", 3, "notes.es.txt").unwrap();
        assert_eq!((gold.spans[0].start, gold.spans[0].end, gold.spans[0].label.as_str()), (2, 6, "PERSON"));
        assert_eq!((gold.fields["text"].as_str(), gold.fields["language"].as_str()), (Some("ñ José fue"), Some("es")));
        assert!(unmarked("[[PERSON|José", 1, "").is_none());
    }
}
