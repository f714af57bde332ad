//! What the store is used for, one role each. A role borrows the store and has the methods of one task, so that code which
//! reads memories does not meet those that erase patients. [`Store`] itself has the parts that all roles share.

use std::ops::Deref;

use crate::Store;

/// One type for each role, and the method of [`Store`] that gives it.
macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $role:ident by $accessor:ident;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy)]
            pub struct $role<'a>(&'a Store);

            impl Deref for $role<'_> {
                type Target = Store;

                fn deref(&self) -> &Store {
                    self.0
                }
            }
        )+

        impl Store {
            $($(#[doc = $doc])+
            pub fn $accessor(&self) -> $role<'_> {
                $role(self)
            })+
        }
    };
}

roles! {
    /// Admits messages and commits their batches, with the attempts on each and the answers to questions.
    IntakeStore by intake;
    /// Binds the store to its key store, and finds the keys of patients.
    KeyStoreBinding by key_binding;
    /// Reads documents, findings, memories and what they come from.
    MemoryReader by read;
    /// Events that wait for delivery.
    OutboxStore by outbox;
    /// Messages that were quarantined.
    QuarantineStore by quarantined;
    /// Erasures with their receipts, and legal holds, which delay them.
    ErasureStore by erasure;
    /// The audit trail and its chains.
    AuditStore by audit_trail;
    /// Organisations, the consents of their patients, and reports on privacy.
    OrganizationStore by organization;
    /// Sums of the store for metrics.
    StatsStore by stats;
    /// Generations of vectors.
    GenerationStore by vectors;
}

impl<'a> MemoryReader<'a> {
    /// The store, for as long as the role borrows it.
    pub(crate) fn store(self) -> &'a Store {
        self.0
    }
}
