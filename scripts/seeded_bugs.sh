#!/usr/bin/env bash
# Breaks each promise on purpose (crates/core/src/failpoints.rs) and runs the proof that must notice. Prints a table and one JSON line; fails
# when a bug goes unnoticed, or when a proof fails without any.
. "$(dirname "$0")/lib.sh"

# bug | proof that must fail
table='
ack_before_commit|intake_amqp::as_a_process_on_a_file::a_kill_at_any_point
no_inbox|crash::as_a_process_on_a_file
no_body_check|intake_amqp::as_a_process_on_a_file::poison_is_quarantined
ignore_ack_false|acker::tests::an_acknowledgement_that_was_not_sent
ack_over_open|whatever_fails
retry_without_confirm|whatever_fails
no_mandatory|relay::an_event_that_no_queue_takes
publish_unconfirmed|relay::on_a_file::an_event_that_is_not_taken
outbox_watermark|relay::on_a_file::an_event_that_was_committed_late
quarantine_unwritten|relay::a_quarantine_that_cannot_be_written
attempt_after_work|intake_amqp::as_a_process_on_a_file::a_message_that_kills
error_text_logged|relay::the_worker_announces_stored
fence_ignored|jobs::kills::an_owner_that_slept_past_its_lease
session_set|store::network_faults::nothing_that_a_transaction_sets
deferred_begin|store::embedded::programs_that_read_and_then_write
vectors_unmarked|store::reembedding::on_a_file::documents_that_come
env_proxy|transport::no_request_goes_through_a_proxy_of_the_environment
refused_is_ok|relay::on_a_file::an_event_that_a_callback_does_not_take_waits
amqp_plain|transport::a_broker_beyond_this_machine_is_reached_encrypted_or_not_at_all
keys_reminted|keys::as_a_process_on_a_file::a_second_host
master_swapped|keys::as_a_process_on_a_file::another_master
absent_is_erased|keyring::tests::a_key_that_is_absent
restore_foreign_keys|backup::on_a_file::a_pair_that
header_flood|endpoints::requests_that_are_never_finished
spool_by_path|spool::as_a_process_on_a_file::a_file_renamed
migrate_unlocked|store::embedded::a_new_file_that_many_open
migrate_under_others|store::embedded::a_newer_program_leaves
refusal_blamed|refusals::a_server_that_refuses
checkpoint_outlived|store::checkpoints::on_a_file::a_statement_about_an_earlier
erase_keeps_quarantine|erasure::on_a_file::what_waits
erase_unseen|erasure::on_a_file::a_batch_under_way
role_from_body|producers::as_a_process_on_a_file::a_chat_application
any_scope_consents|consent::as_a_process_on_a_file::where_consent_is_required
chain_cut|audit::as_a_process_on_a_file::a_chain_is_proved
read_unaudited|audit::as_a_process_on_a_file::every_message
quarantine_under_platform|quarantine::on_a_file::a_message_is_quarantined
answers_for_ever|rights::as_a_process_on_a_file::an_answer_goes
quarantine_forever|quarantine::as_a_process_on_a_file::the_content_of
emergency_reads_hypotheses|emergency::as_a_process_on_a_file::an_emergency
erase_keeps_cache|store::erased_parts::on_a_file::a_summary_is_removed_with_its_memory
erase_keeps_accounts|store::erased_parts::on_a_file::a_summary_is_removed_with_its_memory
no_hash_is_old|audit::as_a_process_on_a_file::what_was_said_cannot
acts_unread|audit::as_a_process_on_a_file::what_people_did_and_set
answer_counts_asked|rights::as_a_process_on_a_file::an_answer_says_what_was_done
receipt_unproven|erasure::on_a_file::a_receipt_that_this_program_did_not_write
records_for_ever|store::retention_terms::on_a_file::a_patient_without_activity
waits_counted|intake_refusals::a_store_that_refuses_for_hours
'

scripts/nextest.sh
ANAMNESIS_TEST_POSTGRES_URL=${ANAMNESIS_TEST_POSTGRES_URL:-$(scripts/postgres.sh start)}
ANAMNESIS_TEST_AMQP_URL=${ANAMNESIS_TEST_AMQP_URL:-$(scripts/rabbitmq.sh start)}
export ANAMNESIS_TEST_POSTGRES_URL ANAMNESIS_TEST_AMQP_URL

proof() { cargo nextest run --locked --workspace --no-fail-fast --hide-progress-bar --status-level none --final-status-level none -E "test($1)" >"$CACHE/seeded-bug.log" 2>&1; }

cargo nextest run --locked --workspace --no-run >&2
proofs=$(printf '%s\n' "$table" | cut -d'|' -f2 -s | sort -u)
say "the proofs, without a bug …"
for name in $proofs; do
    proof "$name" || { tail -n 40 "$CACHE/seeded-bug.log" >&2; die "$name fails without a bug"; }
done

bugs=0 caught=0
printf '%-24s %-8s %s\n' BUG CAUGHT PROOF
while IFS='|' read -r bug name; do
    [ -n "$bug" ] || continue
    bugs=$((bugs + 1))
    if ANAMNESIS_BUG=$bug proof "$name"; then
        verdict=NO
    # A proof that could not be run has noticed nothing.
    elif grep -q ' tests\? run: .* failed' "$CACHE/seeded-bug.log"; then
        verdict=yes
        caught=$((caught + 1))
    else
        tail -n 20 "$CACHE/seeded-bug.log" >&2
        verdict='?'
    fi
    printf '%-24s %-8s %s\n' "$bug" "$verdict" "$name"
done <<<"$table"

# The table and the code name the same bugs.
known=$(sed -n '/^pub(crate) const BUGS/,/^];/s/^    ("\([a-z_]*\)".*/\1/p' crates/core/src/failpoints.rs | sort)
[ "$known" = "$(printf '%s\n' "$table" | cut -d'|' -f1 -s | sort)" ] || die "crates/core/src/failpoints.rs and this table name different bugs"
printf '{"bugs":%d,"caught":%d}\n' "$bugs" "$caught"
[ "$bugs" = "$caught" ]
