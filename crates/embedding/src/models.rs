//! The available models: the configured one and, during a re-embedding, its successor. The organisation's row decides
//! which of them it is searched with, not the configuration (seed 002, §12: two models next to each other, compared
//! before one replaces the other).

use std::sync::Arc;

use super::Embedder;

/// One model, or two while one replaces the other.
#[derive(Clone)]
pub struct Models {
    configured: Arc<dyn Embedder>,
    next: Option<Arc<dyn Embedder>>,
}

/// The generations of the available models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelGenerations {
    pub(crate) configured: i64,
    pub(crate) next: Option<i64>,
    /// Dimension of the vectors of the wanted generation.
    pub dimension: usize,
}

impl Models {
    pub fn new(configured: Arc<dyn Embedder>, next: Option<Arc<dyn Embedder>>) -> Self {
        Self { configured, next }
    }

    /// The model of `[embedding]`.
    pub fn configured(&self) -> &Arc<dyn Embedder> {
        &self.configured
    }

    pub fn generations(&self) -> ModelGenerations {
        let next = self.next.as_ref().map(|next| next.profile().generation);
        let dimension = self.wanted().profile().dimension;
        ModelGenerations { configured: self.configured.profile().generation, next, dimension }
    }

    /// The model of the wanted generation: the successor where there is one.
    pub fn wanted(&self) -> &Arc<dyn Embedder> {
        self.next.as_ref().unwrap_or(&self.configured)
    }

    /// The model of an organisation's active generation: the configured one where the row names none. `None` where no
    /// available model made that generation: its vectors are compared with nothing else.
    pub fn active(&self, row: Option<i64>) -> Option<&Arc<dyn Embedder>> {
        row.map_or(Some(&self.configured), |generation| self.get(generation))
    }

    /// The model of a generation.
    pub fn get(&self, generation: i64) -> Option<&Arc<dyn Embedder>> {
        let both = [Some(&self.configured), self.next.as_ref()];
        both.into_iter().flatten().find(|model| model.profile().generation == generation)
    }
}

impl ModelGenerations {
    /// The active generation of an organisation whose row says this.
    pub fn active(self, row: Option<i64>) -> i64 {
        row.unwrap_or(self.configured)
    }

    /// The generation that becomes active after a re-embedding.
    pub fn wanted(self) -> i64 {
        self.next.unwrap_or(self.configured)
    }

    pub fn has(self, generation: i64) -> bool {
        self.configured == generation || self.next == Some(generation)
    }
}

impl From<Arc<dyn Embedder>> for Models {
    fn from(configured: Arc<dyn Embedder>) -> Self {
        Self::new(configured, None)
    }
}

impl<E: Embedder + 'static> From<Arc<E>> for Models {
    fn from(configured: Arc<E>) -> Self {
        Self::new(configured, None)
    }
}
