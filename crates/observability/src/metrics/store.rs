//! What the store did.

use super::ingest::STAGE_SECONDS;
use super::labels::{Conflict, Connection, Delivery, Disk, EventType, Transaction};
use super::registrar::area;

area! {
    /// The store and its outbox.
    pub struct Store as "store" {
        /// Transactions by how they ended
        transactions: Counters<Transaction> = "store_transactions_total";
        /// Seconds that a transaction took
        seconds: Histograms<()> = "store_transaction_duration_seconds" in STAGE_SECONDS;
        /// Writes that met something that was there before
        conflicts: Counters<Conflict> = "store_conflicts_total";
        /// Connections of the pool
        connections: Gauges<Connection> = "store_connections";
        /// Connections that the pool may open
        connections_limit: Gauges<()> = "store_connections_limit";
        /// Bytes that are free on a disk that the process writes to; 0 where it writes to none for this purpose
        disk_free: Gauges<Disk> = "disk_free_bytes";
        /// Bytes of that disk
        disk_size: Gauges<Disk> = "disk_size_bytes";
        /// Quarantined messages that wait for a person
        quarantine_waiting: Gauges<()> = "quarantine_waiting_messages";
        /// Age of the oldest of them, in seconds; 0 when none does
        quarantine_oldest: Gauges<()> = "quarantine_oldest_seconds";
        /// Vectors written
        vectors: Counters<()> = "vector_upserts_total";
        /// Events by how an attempt to deliver them ended: to all destinations, refused for good by one, or failed
        published: Counters<(EventType, Delivery)> = "outbox_events_total";
        /// Events that wait in the outbox
        outbox_pending: Gauges<()> = "outbox_pending";
        /// Age of the oldest event that waits, in seconds; 0 when none does
        outbox_oldest: Gauges<()> = "outbox_oldest_seconds";
        /// Events that lie in the broker's catch-all queue, which no subscriber took, as a worker last saw it
        catch_all: Gauges<()> = "catch_all_messages";
        /// Entries of the audit trail that were sealed into a block
        audit_sealed: Counters<()> = "audit_entries_sealed_total";
        /// Entries of the audit trail that were changed, or written without the key of the store: none may be
        audit_forged: Counters<()> = "audit_entries_not_authentic_total";
        /// Faults of the audit trail that the last check of all chains found, once a day: none may be
        audit_faults: Gauges<()> = "audit_faults";
        /// First 48 bits of the hash over the newest head of each organisation: the series is a witness of the audit trail
        audit_head: Gauges<()> = "audit_head";
        /// When the audit trail was last sealed, in seconds since 1970
        audit_sealed_at: Gauges<()> = "audit_sealed_timestamp_seconds";
        /// Rows that were changed behind the program, or written without the patient's key, as the job reconciliation finds them
        rows_forged: Counters<()> = "rows_not_authentic_total";
        /// The same, as the last run of reconciliation of each organisation found them, whichever process ran it
        rows_forged_now: Gauges<()> = "rows_not_authentic_last_run";
        /// When the organisation that waits longest was last compared by a whole run of reconciliation, in seconds since 1970
        rows_compared_at: Gauges<()> = "rows_compared_timestamp_seconds";
        /// Memories, clinical rows and days to go of sources that were not as log and policy say, and were made so by the job reconciliation
        rows_repaired: Counters<()> = "rows_repaired_total";
        /// The same, as the last run of reconciliation of each organisation made them so, whichever process ran it
        rows_repaired_now: Gauges<()> = "rows_repaired_last_run";
        /// 1 while the key store is away or not the right one: nothing is taken in, and nothing can be read
        keys_unavailable: Gauges<()> = "keys_unavailable";
    }
}
