#!/usr/bin/env bash
# When do words of a message that was worked leave the broker's disk? Publishes messages with a word that nobody else says to a
# private RabbitMQ, lets a worker store them, and looks for the word in every file of the broker: at once, after its log was
# rolled, and after so many more messages went through the same queue. Prints one JSON line; fails where the word is still there.
#   scripts/broker_segments.sh [MESSAGES]     further messages, 6000 unless given
. "$(dirname "$0")/lib.sh"

more=${1:-6000}
word=zqborradaxkq
work=$(mktemp -d)
export ANAMNESIS_RABBITMQ_DIR=$work/broker
trap '"$ROOT/scripts/rabbitmq.sh" stop >/dev/null 2>&1; rm -rf "$work"' EXIT

cd "$ROOT"
cargo build --locked --quiet --bin anamnesis
program=${CARGO_TARGET_DIR:-target}/debug/anamnesis
url=$(scripts/rabbitmq.sh private)
export ANAMNESIS__BROKER__URL=$url ANAMNESIS__STORE__PATH=$work/store.db ANAMNESIS__STORE__KEYS=$work/store.keys \
    ANAMNESIS__INTAKE__UNBOUND_PRODUCERS=allow ANAMNESIS__WORKER__SPOOL='' ANAMNESIS__HTTP__BIND=127.0.0.1:0

# notes FIRST COUNT TEXT: chat messages of one patient, one JSON object a line.
notes() {
    python3 -c 'import json, sys, uuid
first, count, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for n in range(first, first + count):
    print(json.dumps({"organization_id": "0aaa0000-0000-4000-8000-000000000001", "patient_id": "0aaa0000-0000-4000-8000-000000000002",
        "document_id": str(uuid.UUID(int=n)), "revision": 1, "document_type": "chat_message", "occurred_at": "2026-06-20T10:00:00Z",
        "text": text}))' "$@"
}

# How many files of the broker hold the word.
files() { { grep -rlaF "$word" "$ANAMNESIS_RABBITMQ_DIR" 2>/dev/null || true; } | wc -l; }

roll() {
    scripts/rabbitmq.sh ctl eval 'ra_log_wal:force_roll_over(ra_log_wal).' >/dev/null
    sleep 5
}

"$program" topology apply >/dev/null
notes 1 5 "Habló de $word." >"$work/words.ndjson"
"$program" publish "$work/words.ndjson" >/dev/null
published=$(files)
# It takes them within seconds, and ends when it is asked to.
timeout 20 "$program" worker >"$work/worker.log" 2>&1 || true
left=$(scripts/rabbitmq.sh ctl -q list_queues --no-table-headers name messages | awk '/\.ingest\./ { n += $2 } END { print n + 0 }')
[ "$left" = 0 ] || die "the worker left $left messages"
worked=$(files)
roll
rolled=$(files)
notes 100 "$more" 'Hola.' >"$work/more.ndjson"
"$program" publish "$work/more.ndjson" >/dev/null
for queue in realtime bulk; do scripts/rabbitmq.sh ctl -q purge_queue "anamnesis.ingest.$queue" >/dev/null; done
roll
after=$(files)
printf '{"files_when_published":%d,"when_worked":%d,"when_the_log_rolled":%d,"after_more_messages":%d,"more_messages":%d}\n' \
    "$published" "$worked" "$rolled" "$after" "$more"
[ "$published" -gt 0 ] || die "the word was never on the disk: nothing was shown"
[ "$after" = 0 ] || die "the word is still on the broker's disk"
