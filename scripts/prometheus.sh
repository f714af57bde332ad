#!/usr/bin/env bash
# The Prometheus server. Prints the path of the program: one that is installed, or one unpacked from Debian's package
# into the cache (nothing is installed or started). Prints nothing where neither can be had.
. "$(dirname "$0")/lib.sh"

if have prometheus; then
    command -v prometheus
    exit
fi
prometheus=$CACHE/prometheus/usr/bin/prometheus
if [ ! -x "$prometheus" ]; then
    have apt-get && have dpkg-deb || exit 0
    say "fetching Prometheus"
    debian_package prometheus "$CACHE/prometheus"
fi
printf '%s\n' "$prometheus"
