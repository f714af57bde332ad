//! Seed 003's own example, through the whole program: a question about a lost job finds texts about one, with or
//! without the word, before texts that only share the word.

use std::sync::Arc;

use anamnesis_config as config;
use anamnesis_embedding::Embedder;
use anamnesis_embedding::builtin::BuiltinEmbedder;
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_redaction::{RedactionPolicy, Redactor};
use anamnesis_search::{Recall, SearchRequest};

use super::support::{Clinic, TestEngine, bodies, document, feed, scope};

struct SearchCase {
    query: &'static str,
    about: &'static [&'static str],
    merely: &'static [&'static str],
}

const SPANISH: SearchCase = SearchCase {
    query: "Me siento igual que aquella vez que perdí mi trabajo",
    about: &[
        "Se sintió inútil cuando lo despidieron de la empresa.",
        "Cuando perdió su empleo cayó en una depresión.",
        "Desde el despido siento que no valgo nada.",
        "Me quedé en paro y me hundí por completo.",
        "Me echaron de la fábrica y lo pasé muy mal.",
        "Vivió el desempleo como una pérdida, con tristeza y culpa.",
    ],
    merely: &[
        "El permiso de trabajo caduca en 2027.",
        "El tren al trabajo tarda cuarenta minutos.",
        "La carpeta de trabajo está en el armario.",
        "La mesa de trabajo está en el segundo piso.",
        "El grupo de trabajo se reúne los martes.",
        "Cuesta mucho trabajo abrir esa ventana.",
        "El trabajo de mi hija en la escuela ganó un premio.",
        "Mañana entrego el trabajo de historia.",
    ],
};

const ENGLISH: SearchCase = SearchCase {
    query: "I feel just like that time I lost my job",
    about: &[
        "He felt useless when he was dismissed from the company.",
        "She fell into a depression when she became unemployed.",
        "Since I was fired I feel worthless.",
        "I was laid off and fell apart completely.",
        "They sacked me from the factory and I took it very badly.",
        "He lived unemployment as a loss, with sadness and guilt.",
    ],
    merely: &[
        "The paint job on the car looks great.",
        "The job lot of screws arrived on Monday.",
        "Hand in the job application form at window three.",
        "The print job is waiting in the queue.",
        "The nightly job copies the files at three.",
        "The job queue is empty this morning.",
        "The train to my job takes forty minutes.",
        "I like my job very much.",
    ],
};

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_job_is_found_by_meaning_before_texts_that_merely_share_the_word_in_both_languages() {
    for reported in [SPANISH, ENGLISH] {
        let clinic = Clinic::on(TestEngine::File).await;
        let store = clinic.pipeline().await.store().clone();
        let embedder: Arc<dyn Embedder> = Arc::new(BuiltinEmbedder::embedded().unwrap());
        let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
        let settings = config::load(None).unwrap();
        let pipeline = Pipeline::new(store.clone(), Arc::clone(&embedder), &settings, Arc::clone(&metrics)).unwrap();
        // Interleaved, so that no order of arrival helps.
        let texts: Vec<&str> = reported.merely.iter().chain(reported.about).rev().copied().collect();
        let notes: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(n, text)| document(n as u128 + 1, 1, "2026-05-04T10:00:00Z", text))
            .collect();
        let done = feed(&pipeline, &bodies(&notes), 32).await;
        assert!(done.iter().all(|d| *d == Disposition::Stored), "{done:?}");
        let recall = Recall::new(store, embedder, Arc::new(Redactor::builtin(RedactionPolicy::default())), metrics);
        let request = SearchRequest {
            query: reported.query.to_owned(),
            top_k: Some(texts.len()),
            min_score: Some(-1.0),
            ..SearchRequest::default()
        };
        let found = recall.search(scope(), &request).await.unwrap();
        assert_eq!(found.hits.len(), texts.len(), "everything is compared");
        let order: Vec<&str> = found.hits.iter().map(|hit| hit.fragment.trim()).collect();
        let first: Vec<bool> = order.iter().map(|text| reported.about.contains(text)).collect();
        assert!(first[..reported.about.len()].iter().all(|about| *about), "{order:#?}");
    }
}
