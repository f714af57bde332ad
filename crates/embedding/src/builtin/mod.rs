//! The built-in embedder: a multilingual sentence encoder (512 dimensions) computed in this process, without server,
//! key or network. The model is part of the program (feature `builtin-encoder`) or a file named by the configuration;
//! either way its bytes are those of one SHA-256. See models/README.md for its origin, licence and measured loss.

mod charsmap;
mod forward;
mod tokenizer;
mod weights;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::digest;

use self::forward::{DIMENSION, Encoder, SEGMENT};
use self::weights::ModelFile;
use super::{EmbedError, Embedder, ModelProfile, Purpose};
use anamnesis_text::{subject, without_marks};

/// SHA-256 of the model file, as `scripts/build_model.py` prints it.
pub(crate) const MODEL_SHA256: &str = "2af4e12dec50b44c0df0af5d611502500e4bf5b36eda2704571ee05170cd7574";
/// Longest text taken, in bytes. Anything longer is no statement and would hold a thread for seconds.
pub(crate) const MAX_BYTES: usize = 256 * 1024;

#[cfg(feature = "builtin-encoder")]
static MODEL: &[u8] = include_bytes!("../../../../models/use-multilingual-3-pruned.safetensors");

/// Why the model could not be loaded. Permanent: an operator must put the right file in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the model file cannot be read: {0}")]
    Unreadable(std::io::ErrorKind),
    #[error("the model file is not the one this program was built for (SHA-256 differs)")]
    Checksum,
    #[error("the model file has an invalid format")]
    Format,
    /// Built without the feature `builtin-encoder`, and no file was named.
    #[error("this program was built without the model: name its file in the configuration")]
    NotBuiltIn,
}

/// The encoder and its profile. Cheap to clone: the model is shared.
#[derive(Clone)]
pub struct BuiltinEmbedder {
    encoder: Arc<Encoder>,
    profile: ModelProfile,
}

impl BuiltinEmbedder {
    /// Loads the model that is part of the program. Takes a fraction of a second: do it once, at start.
    ///
    /// # Errors
    /// [`ModelError::NotBuiltIn`] when the program was built without it.
    pub fn embedded() -> Result<Self, ModelError> {
        #[cfg(feature = "builtin-encoder")]
        return Self::from_bytes(Cow::Borrowed(MODEL));
        #[cfg(not(feature = "builtin-encoder"))]
        Err(ModelError::NotBuiltIn)
    }

    /// Loads the model from a file; its SHA-256 must be [`MODEL_SHA256`].
    ///
    /// # Errors
    /// See [`ModelError`].
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(|error| ModelError::Unreadable(error.kind()))?;
        Self::from_bytes(Cow::Owned(bytes))
    }

    fn from_bytes(bytes: Cow<'static, [u8]>) -> Result<Self, ModelError> {
        if hex::encode(digest::digest(&digest::SHA256, &bytes)) != MODEL_SHA256 {
            return Err(ModelError::Checksum);
        }
        let encoder = Encoder::new(ModelFile::parse(bytes)?)?;
        Ok(Self { encoder: Arc::new(encoder), profile: Self::default_profile() })
    }

    /// What is true of this model. The thresholds were measured on `models/sentences.tsv` (models/README.md).
    pub fn default_profile() -> ModelProfile {
        ModelProfile {
            model: "use-multilingual-3-pruned".into(),
            dimension: DIMENSION,
            // A short question scores 0.14–0.48 against the statement that answers it: the floor only cuts noise, rank decides.
            min_score: 0.22,
            contradiction_similarity: 0.6,
            generation: anamnesis_config::embedding::BUILTIN_GENERATION,
            max_tokens: SEGMENT,
            document_task: None,
            query_task: None,
        }
    }

    /// The same model under another profile: thresholds or generation set by configuration.
    ///
    /// # Errors
    /// [`EmbedError::Dimension`] when the profile claims another dimension than the model has.
    pub(crate) fn with_profile(mut self, profile: ModelProfile) -> Result<Self, EmbedError> {
        if profile.dimension != DIMENSION {
            return Err(EmbedError::Dimension);
        }
        self.profile = profile;
        Ok(self)
    }
}

/// The unit vector between those of a query's two forms.
fn between(forms: &[Vec<f32>]) -> Vec<f32> {
    let sum = |at: usize| forms.iter().map(|vector| vector[at]).sum::<f32>();
    let mut vector: Vec<f32> = (0..forms.first().map_or(0, Vec::len)).map(sum).collect();
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|value| *value /= norm);
    }
    vector
}

#[async_trait]
impl Embedder for BuiltinEmbedder {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    /// Computed on a blocking thread; same text, same vector, whatever the batch. A query is embedded as what it would be as
    /// a statement: the model puts a question next to other questions, and the answer is none.
    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if purpose == Purpose::Query {
            let forms: Vec<String> = texts.iter().flat_map(|text| [without_marks(text), subject(text)]).collect();
            let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
            let vectors = self.embed(Purpose::Document, &forms).await?;
            return Ok(vectors.chunks(2).map(between).collect());
        }
        if texts.iter().any(|text| text.len() > MAX_BYTES) {
            return Err(EmbedError::Rejected);
        }
        let encoder = Arc::clone(&self.encoder);
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let vectors = tokio::task::spawn_blocking(move || encoder.embed(&texts)).await.map_err(|error| {
            // A panic would come again with the same text; a cancelled task means that the program is stopping.
            if error.is_panic() { EmbedError::Rejected } else { EmbedError::Transient { after: None } }
        })?;
        if vectors.iter().flatten().all(|value| value.is_finite()) { Ok(vectors) } else { Err(EmbedError::NotFinite) }
    }
}
