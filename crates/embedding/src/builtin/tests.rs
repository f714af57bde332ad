//! The model against reference vectors (models/reference.json: what the original package and its pruned form say).

use std::sync::{Mutex, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::charsmap::Charsmap;
use super::*;
use crate::{EmbedObserver, EmbedRequest, RequestOutcome, build};
use anamnesis_config::embedding::{EmbeddingSettings, Provider};
use anamnesis_core::clock::{SystemClock, SystemEntropy};

/// The model file's name in `models/`.
const MODEL_FILE: &str = "use-multilingual-3-pruned.safetensors";

/// Loading takes a moment: once per test process.
fn embedder() -> &'static BuiltinEmbedder {
    static SHARED: OnceLock<BuiltinEmbedder> = OnceLock::new();
    SHARED.get_or_init(|| BuiltinEmbedder::open(&model_path()).unwrap())
}

fn model_path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(MODEL_FILE)
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[derive(serde::Deserialize)]
struct Reference {
    text: String,
    ids: Vec<u32>,
    original: String,
    pruned: String,
}

fn vector(text: &str) -> Vec<f32> {
    STANDARD.decode(text).unwrap().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn references() -> Vec<Reference> {
    serde_json::from_str(include_str!("../../../../models/reference.json")).unwrap()
}

/// Spanish and English of the same sentence.
fn parallel() -> Vec<(&'static str, &'static str)> {
    include_str!("../../../../models/sentences.tsv").lines().map(|line| line.split_once('\t').unwrap()).collect()
}

#[test]
fn every_reference_text_has_the_pieces_and_the_vector_of_the_reference_implementation() {
    let references = references();
    assert!(references.len() >= 20);
    let texts: Vec<&str> = references.iter().map(|row| row.text.as_str()).collect();
    for (row, got) in references.iter().zip(embedder().encoder.embed(&texts)) {
        assert_eq!(embedder().encoder.tokenizer.encode(&row.text), row.ids, "{:?}", row.text);
        let same = cosine(&got, &vector(&row.pruned));
        assert!(same >= 0.99999, "{same} {:?}", row.text);
    }
}

#[test]
fn pruning_keeps_the_vectors_of_the_original_model() {
    // The first rows are sentences; those after them are there to try the tokeniser.
    let references = references();
    let texts: Vec<&str> = references[..16].iter().map(|row| row.text.as_str()).collect();
    for (row, got) in references.iter().zip(embedder().encoder.embed(&texts)) {
        let kept = cosine(&got, &vector(&row.original));
        assert!(kept >= 0.99, "{kept} {:?}", row.text);
    }
}

#[test]
fn a_text_has_the_same_vector_to_the_last_bit_in_every_batch() {
    let pairs = parallel();
    let long = "me cuesta dormir y pienso en el trabajo ".repeat(120);
    let mut batch: Vec<&str> = pairs.iter().take(31).flat_map(|(es, en)| [*es, *en]).collect();
    batch.insert(20, &long);
    batch.insert(40, "");
    let together = embedder().encoder.embed(&batch);
    for (text, vector) in batch.iter().zip(&together) {
        let alone = embedder().encoder.embed(&[text]).remove(0);
        assert!(alone.iter().zip(vector).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?}", &text[..text.len().min(40)]);
    }
}

#[tokio::test]
async fn any_input_yields_a_finite_vector_of_length_one() {
    let long = "ansiedad ".repeat(3000);
    let one_word = "a".repeat(5000);
    let odd = [
        "",
        " ",
        "\n\t\r",
        "😀👍🏽👩‍👩‍👧",
        "Привет, как дела?",
        "她今天很好",
        "مرحبا",
        "ก็",
        "\u{0}\u{1}\u{feff}",
        "<s></s><unk>",
        "▁▁▁",
        "e\u{301}\u{301}\u{301}",
        "\u{10ffff}",
        &long,
        &one_word,
    ];
    let vectors = embedder().embed(Purpose::Document, &odd).await.unwrap();
    assert_eq!(vectors.len(), odd.len());
    for (text, vector) in odd.iter().zip(vectors) {
        let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        assert_eq!(vector.len(), embedder().profile().dimension);
        assert!((length - 1.0).abs() < 1e-5, "{length} {:?}", text.chars().take(9).collect::<String>());
    }
}

#[tokio::test]
async fn no_text_gives_no_vector_and_a_too_long_text_is_refused() {
    assert_eq!(embedder().embed(Purpose::Query, &[]).await.unwrap(), Vec::<Vec<f32>>::new());
    let long = "x".repeat(MAX_BYTES + 1);
    assert_eq!(embedder().embed(Purpose::Document, &["hola", &long]).await, Err(EmbedError::Rejected));
}

/// Texts that speak of losing one's work without the query's word, and texts that merely hold the word.
struct JobLoss {
    query: &'static str,
    about: [&'static str; 6],
    merely: [&'static str; 6],
}

const SPANISH: JobLoss = JobLoss {
    query: "Me siento igual que aquella vez que perdí mi trabajo",
    about: [
        "Se sintió inútil cuando lo despidieron de la empresa",
        "Cuando perdió su empleo cayó en una depresión",
        "Desde el despido siento que no valgo nada",
        "Me quedé en paro y me hundí por completo",
        "Me echaron de la fábrica y lo pasé muy mal",
        "Vivió el desempleo como una pérdida, con tristeza y culpa",
    ],
    merely: [
        "El permiso de trabajo caduca en 2027",
        "El tren al trabajo tarda cuarenta minutos",
        "La carpeta de trabajo está en el armario",
        "La mesa de trabajo está en el segundo piso",
        "El grupo de trabajo se reúne los martes",
        "Cuesta mucho trabajo abrir esa ventana",
    ],
};

const ENGLISH: JobLoss = JobLoss {
    query: "I feel just like that time I lost my job",
    about: [
        "He felt useless when he was dismissed from the company",
        "She fell into a depression when she became unemployed",
        "Since I was fired I feel worthless",
        "I was laid off and fell apart completely",
        "They sacked me from the factory and I took it very badly",
        "He lived unemployment as a loss, with sadness and guilt",
    ],
    merely: [
        "The paint job on the car looks great",
        "The job lot of screws arrived on Monday",
        "Hand in the job application form at window three",
        "The print job is waiting in the queue",
        "The nightly job copies the files at three",
        "The job queue is empty this morning",
    ],
};

/// The share of pairs (a text about it, another text) that the query orders rightly.
fn ordered(query: &str, about: &[&str], others: &[&str]) -> f64 {
    let encoder = &embedder().encoder;
    let query = encoder.embed(&[query]).remove(0);
    let similarities =
        |texts: &[&str]| -> Vec<f64> { encoder.embed(texts).iter().map(|v| cosine(&query, v)).collect() };
    let (about, others) = (similarities(about), similarities(others));
    let right: usize = about.iter().map(|score| others.iter().filter(|other| *other < score).count()).sum();
    right as f64 / (about.len() * others.len()) as f64
}

#[test]
fn a_lost_job_is_remembered_by_its_meaning_and_not_by_its_word() {
    // Every pair in Spanish, the language of the query; in English "sacked from the factory" is the model's weak spot.
    for (name, set, least) in [("es", SPANISH, 1.0), ("en", ENGLISH, 0.9)] {
        let share = ordered(set.query, &set.about, &set.merely);
        assert!(share >= least, "{name}: {share}");
    }
}

/// The model's known limit: another person's work or an idiom can come nearer than a far paraphrase.
#[test]
fn texts_that_share_word_and_person_seldom_pass_a_lost_job() {
    let es = ["El trabajo de mi hija en la escuela ganó un premio", "Mañana entrego el trabajo de historia"];
    let en = ["The train to my job takes forty minutes", "This drill does the job on brick walls"];
    for (name, set, others) in [("es", SPANISH, es), ("en", ENGLISH, en)] {
        let share = ordered(set.query, &set.about, &[&set.merely[..], &others].concat());
        assert!(share >= 0.8, "{name}: {share}");
    }
}

#[test]
fn a_lost_job_is_remembered_across_languages() {
    for (name, query, set) in [("es → en", SPANISH.query, ENGLISH), ("en → es", ENGLISH.query, SPANISH)] {
        let share = ordered(query, &set.about, &set.merely);
        assert!(share >= 0.9, "{name}: {share}");
    }
}

#[test]
fn a_translation_is_found_first_and_the_thresholds_tell_related_from_unrelated() {
    let pairs = parallel();
    let es = embedder().encoder.embed(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let en = embedder().encoder.embed(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let profile = embedder().profile();
    let (mut first, mut same, mut unrelated, mut mistaken) = (0, 0, 0, 0);
    for (i, query) in es.iter().enumerate() {
        let scores: Vec<f64> = en.iter().map(|vector| cosine(query, vector)).collect();
        let others = || scores.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, score)| *score);
        first += usize::from(others().all(|score| score < scores[i]));
        same += usize::from(scores[i] >= profile.contradiction_similarity);
        unrelated += others().filter(|score| *score >= profile.min_score).count();
        mistaken += others().filter(|score| *score >= profile.contradiction_similarity).count();
    }
    let count = pairs.len();
    let others = count * (count - 1);
    assert!(first * 100 >= count * 98, "{first} of {count} translations first");
    assert!(same * 100 >= count * 95, "{same} of {count} held to speak of the same");
    assert!(unrelated * 100 <= others * 35, "{unrelated} of {others} unrelated pairs count as hits");
    assert!(mistaken * 1000 <= others * 2, "{mistaken} of {others} unrelated pairs held to speak of the same");
}

#[cfg(feature = "builtin-encoder")]
#[test]
fn the_model_in_the_program_is_the_file_of_the_repository() {
    assert_eq!(MODEL, std::fs::read(model_path()).unwrap());
    assert_eq!(hex::encode(digest::digest(&digest::SHA256, MODEL)), MODEL_SHA256);
}

#[test]
fn a_model_file_that_differs_by_a_bit_is_refused() {
    let mut bytes = std::fs::read(model_path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(MODEL_FILE);
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(BuiltinEmbedder::open(&path).err(), Some(ModelError::Checksum));
    assert_eq!(
        BuiltinEmbedder::open(&folder.path().join("absent")).err(),
        Some(ModelError::Unreadable(std::io::ErrorKind::NotFound))
    );
}

#[test]
fn a_file_of_another_format_is_an_error_and_no_panic() {
    let empty = b"\x02\0\0\0\0\0\0\0{}".to_vec();
    assert_eq!(ModelFile::parse(Cow::Owned(b"no model".to_vec())).err(), Some(ModelError::Format));
    assert_eq!(ModelFile::parse(Cow::Owned(empty)).and_then(Encoder::new).err(), Some(ModelError::Format));
    assert!(Charsmap::parse(&[9, 0, 0, 0, 1]).is_none());
}

#[tokio::test]
async fn a_profile_of_another_dimension_is_refused_and_others_are_taken() {
    let profile = ModelProfile { min_score: 0.4, generation: 7, ..BuiltinEmbedder::default_profile() };
    let changed = embedder().clone().with_profile(profile.clone()).unwrap();
    assert_eq!(changed.profile(), &profile);
    let wrong = ModelProfile { dimension: 768, ..profile };
    assert_eq!(embedder().clone().with_profile(wrong).err(), Some(EmbedError::Dimension));
}

/// (outcome, texts, tokens) of each request.
#[derive(Default)]
struct RecordedRequests(Mutex<Vec<(RequestOutcome, usize, u64)>>);

impl EmbedObserver for RecordedRequests {
    fn request(&self, seen: &EmbedRequest<'_>) {
        assert_eq!((seen.provider, seen.model), (Provider::Builtin, "use-multilingual-3-pruned"));
        self.0.lock().unwrap().push((seen.outcome, seen.texts, seen.tokens));
    }
}

#[tokio::test]
async fn what_is_embedded_in_the_process_is_observed_like_what_a_provider_embeds() {
    let settings = EmbeddingSettings { model_file: Some(model_path()), ..EmbeddingSettings::default() };
    let seen = Arc::new(RecordedRequests::default());
    let made = build(&settings, Arc::new(SystemClock), Arc::new(SystemEntropy), seen.clone()).unwrap();
    assert_eq!(made.embed(Purpose::Document, &["toma sertralina", "duerme mal"]).await.unwrap().len(), 2);
    assert_eq!(made.embed(Purpose::Query, &["x".repeat(MAX_BYTES + 1).as_str()]).await, Err(EmbedError::Rejected));
    let requests = seen.0.lock().unwrap().clone();
    assert_eq!(
        requests.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(),
        [(RequestOutcome::Ok, 2), (RequestOutcome::Rejected, 1)]
    );
    assert!(requests.iter().all(|one| one.2 > 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_text_is_cut_into_known_ids_between_begin_and_end(text in any::<String>()) {
        let tokenizer = &embedder().encoder.tokenizer;
        let ids = tokenizer.encode(&text);
        prop_assert_eq!((ids[0], ids[ids.len() - 1]), (1, 2));
        prop_assert!(ids.len() >= 3);
        prop_assert!(ids[1..ids.len() - 1].iter().all(|id| *id == 0 || (6..tokenizer.len() as u32).contains(id)));
    }
}
