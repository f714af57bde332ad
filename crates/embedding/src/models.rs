//! The models at hand: the configured one and, where vectors are to be made anew, the one that is to follow it. Which of
//! them an organisation is searched with is told by its row, not by the configuration (seed 002, §12: two models beside
//! each other, compared before one replaces the other).

use std::sync::Arc;

use super::Embedder;

/// One model, or two while one replaces the other.
#[derive(Clone)]
pub struct Models {
    configured: Arc<dyn Embedder>,
    next: Option<Arc<dyn Embedder>>,
}

/// The generations of the models at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offered {
    pub(crate) configured: i64,
    pub(crate) next: Option<i64>,
    /// Numbers of a vector of the generation that is wanted.
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

    pub fn offered(&self) -> Offered {
        let next = self.next.as_ref().map(|next| next.profile().generation);
        let dimension = self.wanted().profile().dimension;
        Offered { configured: self.configured.profile().generation, next, dimension }
    }

    /// The model that is to make all vectors in the end.
    pub fn wanted(&self) -> &Arc<dyn Embedder> {
        self.next.as_ref().unwrap_or(&self.configured)
    }

    /// The model of an organisation's active generation: the configured one where the row names none. `None` where no
    /// model at hand made that generation: its vectors are compared with nothing else.
    pub fn active(&self, row: Option<i64>) -> Option<&Arc<dyn Embedder>> {
        row.map_or(Some(&self.configured), |generation| self.of(generation))
    }

    /// The model of a generation.
    pub fn of(&self, generation: i64) -> Option<&Arc<dyn Embedder>> {
        let both = [Some(&self.configured), self.next.as_ref()];
        both.into_iter().flatten().find(|model| model.profile().generation == generation)
    }
}

impl Offered {
    /// The active generation of an organisation whose row says this.
    pub fn active(self, row: Option<i64>) -> i64 {
        row.unwrap_or(self.configured)
    }

    /// The generation that is to be active in the end.
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
