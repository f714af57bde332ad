#!/usr/bin/env bash
# The pages on security name tests, scripts and targets that exist: scripts/check_security.py.
. "$(dirname "$0")/lib.sh"

system_package python3 python3
exec python3 scripts/check_security.py
