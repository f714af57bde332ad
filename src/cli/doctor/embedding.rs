//! The embedding provider: asked for one vector of a word that is no one's. And the models that stored vectors need.

use std::sync::Arc;

use super::Doctor;
use anamnesis_config::embedding::Provider;
use anamnesis_embedding::{self as embed, BuildError, EmbedError, Models, NoopObserver, Purpose};

/// The embedded text: no text of a patient.
const WORD: &str = "doctor";

pub(super) async fn check(doctor: &mut Doctor) {
    let mut settings = doctor.settings.embedding.clone();
    // One try each: a person waits.
    settings.retry.attempts = 1;
    if let Some(next) = &mut settings.next {
        next.retry.attempts = 1;
    }
    let observer = Arc::new(NoopObserver) as _;
    match embed::build_models(&settings, &doctor.clock, &doctor.entropy, &observer) {
        Ok(models) => {
            ask(doctor, &models).await;
            generations(doctor, &models).await;
        }
        // It is a finding of the configuration already.
        Err(BuildError::Setting(_)) => {}
        Err(error @ BuildError::Model(_)) => doctor.found("model_file", error.to_string()),
        Err(error) => doctor.found("embedding_setting", error.to_string()),
    }
    doctor.done("models");
    doctor.done("embedding");
}

async fn ask(doctor: &mut Doctor, models: &Models) {
    let next = doctor.settings.embedding.next.as_ref().map(|_| ("embedding.next", models.wanted()));
    let place =
        if doctor.settings.embedding.provider == Provider::Builtin { "the built-in encoder" } else { "embedding.url" };
    for (place, model) in [(place, models.configured())].into_iter().chain(next) {
        let Err(error) = model.embed(Purpose::Query, &[WORD]).await else { continue };
        let code = match error {
            EmbedError::Transient { .. } | EmbedError::CircuitOpen { .. } => "embedding_unreachable",
            EmbedError::Misconfigured => "embedding_refused",
            EmbedError::Dimension => "embedding_dimension",
            EmbedError::Rejected | EmbedError::NotFinite | EmbedError::BadAnswer => "embedding_answer",
        };
        doctor.found(code, format!("{place}: {error}"));
    }
}

/// The model of an organisation's active vectors must be available under its name.
async fn generations(doctor: &mut Doctor, models: &Models) {
    let Some(store) = doctor.store.clone() else { return };
    let Ok(organizations) = store.stats().every_organization().await else { return };
    for org in organizations {
        let Ok(found) = store.vectors().generations(org).await else { continue };
        let Some(active) = found.active else { continue };
        let cause = match models.get(active) {
            None => format!("organisation {}: generation {active} was made by a model that is not configured", org.0),
            Some(model) if found.model.as_ref().is_some_and(|made| *made != model.profile().model) => {
                format!("organisation {}: generation {active} was made by another model of that number", org.0)
            }
            Some(_) => continue,
        };
        doctor.found("generation_without_model", cause);
    }
}
