//! The writer's part of an erasure: removes one subject of a patient whose other data stay.

use std::collections::{BTreeMap, BTreeSet};

use super::BatchWriter;
use crate::erasure::ErasurePart;
use crate::records::WriteTarget;
use crate::{ErasureStore, Keys, Store, StoreError};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Transaction;

impl ErasureStore<'_> {
    /// Removes a document with all that was made of it, or a memory with its words; returns rows by table.
    ///
    /// # Errors
    /// When the store cannot be read or written, or a cell does not open.
    pub(crate) async fn erase_part(
        self,
        tx: &mut Transaction,
        scope: Scope,
        keys: &Keys,
        part: ErasurePart,
    ) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let mut writer = self.writer(tx, WriteTarget { org: scope.org(), now: self.clock.now() }, keys);
        writer.hold(BTreeSet::from([scope.patient().0])).await?;
        let counts = match part {
            ErasurePart::Document(document) => {
                let [documents, findings] = writer.remove_document(scope, document.0).await?;
                BTreeMap::from([("documents", documents), ("extracted_findings", findings)])
            }
            ErasurePart::Memory(memory) => writer.remove_memory(scope, memory.0).await?,
        };
        writer.flush_events().await?;
        Ok(counts)
    }
}

impl Store {
    pub(super) fn writer<'w>(
        &'w self,
        tx: &'w mut Transaction,
        target: WriteTarget,
        keys: &'w Keys,
    ) -> BatchWriter<'w> {
        BatchWriter::new(tx, target, (keys, self.keys.platform()), self.entropy.as_ref(), &self.policy)
    }
}
