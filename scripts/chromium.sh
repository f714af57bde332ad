#!/usr/bin/env bash
# A browser for pictures. Prints the path of the program; installs Debian's package where apt can.
. "$(dirname "$0")/lib.sh"

for name in chromium chromium-browser google-chrome; do
    have "$name" && { command -v "$name"; exit; }
done
system_package chromium chromium
command -v chromium
