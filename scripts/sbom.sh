#!/usr/bin/env bash
# The parts list of the shipped program: scripts/sbom.py. Arguments go to it.
. "$(dirname "$0")/lib.sh"

exec "$(scripts/python.sh)/python" scripts/sbom.py "$@"
