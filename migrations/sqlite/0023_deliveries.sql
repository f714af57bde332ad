-- Delivery of events: the destinations that have taken one, so that none is sent it twice whatever process goes on, and how it
-- ended (delivered, refused, dropped, gone; empty while it waits). Notices of quarantined messages rest in the same way.
ALTER TABLE outbox ADD COLUMN taken TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN ended TEXT NOT NULL DEFAULT '';
ALTER TABLE quarantine ADD COLUMN notice_taken TEXT NOT NULL DEFAULT '';
ALTER TABLE quarantine ADD COLUMN notice_after INTEGER NOT NULL DEFAULT 0;
