#!/usr/bin/env bash
# Prometheus' own rule checker. Prints the path of the program: one that is installed, or one unpacked from Debian's
# package into the cache (nothing is installed or started). Prints nothing where neither can be had.
. "$(dirname "$0")/lib.sh"

if have promtool; then
    command -v promtool
    exit
fi
promtool=$CACHE/prometheus/usr/bin/promtool
if [ ! -x "$promtool" ]; then
    have apt-get && have dpkg-deb || exit 0
    say "fetching promtool"
    work=$(mktemp -d "$CACHE/prometheus.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work"
    if ! (cd "$work" && apt-get download -qq prometheus >/dev/null 2>&1); then
        [ "$(id -u)" = 0 ] && apt-get update -qq >&2
        (cd "$work" && apt-get download -qq prometheus >&2)
    fi
    dpkg-deb -x "$work"/prometheus_*.deb "$work/root"
    rm -rf "$CACHE/prometheus"
    mv "$work/root" "$CACHE/prometheus"
fi
printf '%s\n' "$promtool"
