#!/usr/bin/env bash
# Times of the migrations over large tables: scripts/migration_times.py. ANAMNESIS_PROGRAM names the program.
. "$(dirname "$0")/lib.sh"

program=$(realpath "${ANAMNESIS_PROGRAM:-${CARGO_TARGET_DIR:-target}/debug/anamnesis}")
url=$(scripts/postgres.sh start)
programs=$(scripts/postgres.sh programs)
exec python3 scripts/migration_times.py "$@" "$program" "$url" "$programs/psql"
