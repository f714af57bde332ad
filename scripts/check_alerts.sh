#!/usr/bin/env bash
# Alerts ring when they must and not when they must not; every expression of alerts and dashboards is one that
# Prometheus itself can read.
. "$(dirname "$0")/lib.sh"

promtool=$(scripts/promtool.sh)
if [ -z "$promtool" ]; then
    say "alerts: not checked, promtool is neither installed nor to be had here"
    [ "${ANAMNESIS_WITHOUT_PROMETHEUS:-}" = allow ] || die "ANAMNESIS_WITHOUT_PROMETHEUS=allow lets this pass"
    exit 0
fi
python=$(scripts/python.sh)
helm=$(scripts/helm.sh)
exec "$python/python" scripts/check_alerts.py "$helm" "$promtool"
