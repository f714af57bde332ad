-- name: delete
DELETE FROM memory WHERE org_id = $1 AND (patient_id, id) IN {pairs $2};

-- name: delete_history
-- Lines that the fold and time write; what people did stays.
DELETE FROM memory_event WHERE org_id = $1 AND derived = 1 AND (patient_id, memory_id) IN {pairs $2};

-- name: delete_links
-- The links that memories have to where they come from.
DELETE FROM memory_link WHERE org_id = $1 AND (patient_id, from_id) IN {pairs $2} AND relation <> 'processed_into';

-- name: delete_back_links
-- The links to memories from where they come from.
DELETE FROM memory_link WHERE org_id = $1 AND (patient_id, to_id) IN {pairs $2} AND relation = 'processed_into';
