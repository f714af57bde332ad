//! Two generations of vectors side by side, without a text: what sampled passages find by each (seed 002, §12: shadow
//! comparison).

use serde::Serialize;
use uuid::Uuid;

use super::generation::{self, Generations};
use super::rebuild::{self, NeighborAgreement, PassageKey};
use crate::{GenerationStore, PageRequest, StoreError};
use anamnesis_core::ids::{OrgId, PassageId, PatientId};
use anamnesis_sql::Access;

/// Passages of one look.
const WALK: u32 = 500;

/// The input of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonRequest {
    pub generations: [i64; 2],
    /// At most about so many passages are questions, spread evenly over all.
    pub sample: u64,
    /// How many of the nearest count.
    pub nearest: usize,
}

/// One sampled passage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassageComparison {
    pub patient_id: PatientId,
    pub passage_id: PassageId,
    /// Share of the nearest that both generations name.
    pub overlap: f64,
    /// Spearman's rank correlation over all passages of the patient that both hold.
    pub rank_agreement: f64,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GenerationComparison {
    pub passages: u64,
    /// Passages that have a vector of both.
    pub in_both: u64,
    /// Sampled passages of patients who have too few to choose from.
    pub told_nothing: u64,
    pub answers: Vec<PassageComparison>,
}

impl GenerationComparison {
    pub fn mean_overlap(&self) -> Option<f64> {
        self.mean(|answer| answer.overlap)
    }

    pub fn mean_rank_agreement(&self) -> Option<f64> {
        self.mean(|answer| answer.rank_agreement)
    }

    fn mean(&self, of: impl Fn(&PassageComparison) -> f64) -> Option<f64> {
        let n = self.answers.len();
        (n > 0).then(|| self.answers.iter().map(of).sum::<f64>() / n as f64)
    }
}

impl GenerationStore<'_> {
    /// The generations of an organisation's vectors.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn generations(self, org: OrgId) -> Result<Generations, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        Ok(generation::read(&mut tx, org).await?)
    }

    /// Compares two generations by a sample of passages, page by page.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn compare_generations(
        self,
        org: OrgId,
        asked: ComparisonRequest,
    ) -> Result<GenerationComparison, StoreError> {
        let mut found = GenerationComparison::default();
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let every = (rebuild::count(&mut tx, org).await? / asked.sample.max(1)).max(1);
        let mut after: PassageKey = (Uuid::nil(), Uuid::nil());
        loop {
            let steps = rebuild::walk(&mut tx, org, PageRequest { after, limit: WALK }).await?;
            let [one, other] = asked.generations;
            let first = rebuild::vectors(&mut tx, org, one, &steps).await?;
            let second = rebuild::vectors(&mut tx, org, other, &steps).await?;
            for step in &steps {
                found.passages += 1;
                let Some((a, b)) = first.get(&step.key).zip(second.get(&step.key)) else { continue };
                found.in_both += 1;
                if !step.is_sampled(every) {
                    continue;
                }
                let both = [(one, a.as_slice()), (other, b.as_slice())];
                match rebuild::neighbor_agreement(&mut tx, org, step.key, asked.nearest, both).await? {
                    Some(likeness) => found.answers.push(answer(step.key, likeness)),
                    None => found.told_nothing += 1,
                }
            }
            match steps.last() {
                Some(last) if steps.len() == WALK as usize => after = last.key,
                _ => return Ok(found),
            }
            // A snapshot for each page: the rest of the store is not held up.
            tx = self.db.read(Access::Organization(org)).await?;
        }
    }
}

fn answer(key: PassageKey, NeighborAgreement { overlap, rank_agreement }: NeighborAgreement) -> PassageComparison {
    let (patient, passage) = key;
    PassageComparison { patient_id: PatientId(patient), passage_id: PassageId(passage), overlap, rank_agreement }
}
