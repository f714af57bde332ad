#!/usr/bin/env bash
# Every query of the dashboards, and every series that an alert reads, is answered with data by a real Prometheus that
# scrapes a worker under load. The program is the first argument, or the one that was built.
. "$(dirname "$0")/lib.sh"

program=${1:-${CARGO_TARGET_DIR:-target}/debug/anamnesis}
[ -x "$program" ] || die "build the program first: cargo build --bin anamnesis"
prometheus=$(scripts/prometheus.sh)
if [ -z "$prometheus" ]; then
    say "dashboards: not checked, Prometheus is neither installed nor to be had here"
    [ "${ANAMNESIS_WITHOUT_PROMETHEUS:-}" = allow ] || die "ANAMNESIS_WITHOUT_PROMETHEUS=allow lets this pass"
    exit 0
fi
python=$(scripts/python.sh)
helm=$(scripts/helm.sh)
exec "$python/python" scripts/check_dashboards.py "$program" "$prometheus" "$helm" "${@:2}"
