#!/usr/bin/env bash
# tests/data/releases/VERSION, written by the program of that version: scripts/release_fixtures.py.
#   scripts/release_fixtures.sh VERSION            builds the program from the commit that docs/releases.md names
#   scripts/release_fixtures.sh VERSION PROGRAM    takes this program
. "$(dirname "$0")/lib.sh"

version=${1:?usage: scripts/release_fixtures.sh VERSION [PROGRAM]}
program=${2:-$(scripts/release_program.sh "$version")}
url=$(scripts/postgres.sh start)
programs=$(scripts/postgres.sh programs)
exec python3 scripts/release_fixtures.py "$version" "$(realpath "$program")" "$url" "$programs/pg_dump" "$programs/psql"
