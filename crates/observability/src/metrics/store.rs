//! Metrics of the store and its outbox.

use super::ingest::STAGE_SECONDS;
use super::labels::{Conflict, Connection, Delivery, Disk, EventType, Transaction};
use super::registrar::area;

area! {
    /// The store and its outbox.
    pub struct StoreMetrics as "store" {
        /// Transactions by outcome
        transactions: Counters<Transaction> = "store_transactions_total";
        /// Duration of a transaction, in seconds
        seconds: Histograms<()> = "store_transaction_duration_seconds" in STAGE_SECONDS;
        /// Writes in conflict with existing rows or other writers
        conflicts: Counters<Conflict> = "store_conflicts_total";
        /// Connections of the pool
        connections: Gauges<Connection> = "store_connections";
        /// Connections that the pool may open
        connections_limit: Gauges<()> = "store_connections_limit";
        /// Free bytes of a disk that the process writes to; 0 if it writes to none for this purpose
        disk_free: Gauges<Disk> = "disk_free_bytes";
        /// Size of that disk in bytes
        disk_size: Gauges<Disk> = "disk_size_bytes";
        /// Quarantined messages that wait for review
        quarantine_waiting: Gauges<()> = "quarantine_waiting_messages";
        /// Age of the oldest quarantined message that waits for review, in seconds; 0 if there is none
        quarantine_oldest: Gauges<()> = "quarantine_oldest_seconds";
        /// Vectors written
        vectors: Counters<()> = "vector_upserts_total";
        /// Attempts to deliver events by outcome: delivered to all destinations, permanently refused by one, or failed
        published: Counters<(EventType, Delivery)> = "outbox_events_total";
        /// Events in the outbox that are not delivered
        outbox_pending: Gauges<()> = "outbox_pending";
        /// Age of the oldest event that is not delivered, in seconds; 0 if there is none
        outbox_oldest: Gauges<()> = "outbox_oldest_seconds";
        /// Events without a subscriber in the catch-all queue of the broker, as a worker last saw it
        catch_all: Gauges<()> = "catch_all_messages";
        /// Entries of the audit trail that were sealed into a block
        audit_sealed: Counters<()> = "audit_entries_sealed_total";
        /// Entries of the audit trail that were changed, or written without the key of the store; must stay 0
        audit_forged: Counters<()> = "audit_entries_not_authentic_total";
        /// Faults of the audit trail found by the last daily check of all chains; must stay 0
        audit_faults: Gauges<()> = "audit_faults";
        /// First 48 bits of the hash over the newest head of each organisation: the series is a witness of the audit trail
        audit_head: Gauges<()> = "audit_head";
        /// Last seal of the audit trail, in seconds since 1970
        audit_sealed_at: Gauges<()> = "audit_sealed_timestamp_seconds";
        /// Rows changed outside the program, or written without the key of the patient, found by the job reconciliation
        rows_forged: Counters<()> = "rows_not_authentic_total";
        /// The same, found by the last reconciliation of each organisation in any process
        rows_forged_now: Gauges<()> = "rows_not_authentic_last_run";
        /// Oldest of the last complete reconciliations of all organisations, in seconds since 1970
        rows_compared_at: Gauges<()> = "rows_compared_timestamp_seconds";
        /// Memories, clinical rows and retention dates of sources that differed from log and policy, repaired by the job reconciliation
        rows_repaired: Counters<()> = "rows_repaired_total";
        /// The same, repaired by the last reconciliation of each organisation in any process
        rows_repaired_now: Gauges<()> = "rows_repaired_last_run";
        /// 1 while the key store is missing or belongs to another store: no message is processed, and nothing can be read
        keys_unavailable: Gauges<()> = "keys_unavailable";
    }
}
