-- Delivery of events: the destinations that have taken one, so that none is sent it twice whatever process goes on, and how it
-- ended (delivered, refused, dropped, gone; empty while it waits). Notices of quarantined messages rest in the same way.
ALTER TABLE outbox ADD COLUMN taken text NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN ended text NOT NULL DEFAULT '';
ALTER TABLE quarantine ADD COLUMN notice_taken text NOT NULL DEFAULT '';
ALTER TABLE quarantine ADD COLUMN notice_after bigint NOT NULL DEFAULT 0;
