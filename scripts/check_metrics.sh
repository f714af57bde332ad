#!/usr/bin/env bash
# Every family of docs/metrics.md moves in a run through the front door. The program is the first argument, or the one that
# was built.
. "$(dirname "$0")/lib.sh"

program=${1:-${CARGO_TARGET_DIR:-target}/debug/anamnesis}
[ -x "$program" ] || die "build the program first: cargo build --bin anamnesis"
python=$(scripts/python.sh)
exec "$python/python" scripts/check_metrics.py "$program" "${@:2}"
