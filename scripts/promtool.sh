#!/usr/bin/env bash
# Prometheus' own rule checker. Prints the path of the program: one that is installed, or one unpacked from Debian's
# package into the cache (nothing is installed or started). Prints nothing where neither can be had.
. "$(dirname "$0")/lib.sh"

if have promtool; then
    command -v promtool
    exit
fi
scripts/prometheus.sh >/dev/null
promtool=$CACHE/prometheus/usr/bin/promtool
[ ! -x "$promtool" ] || printf '%s\n' "$promtool"
