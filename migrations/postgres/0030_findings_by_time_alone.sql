-- The index of migration 0028 begins like this one.
DROP INDEX extracted_findings_group;
