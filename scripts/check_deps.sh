#!/usr/bin/env bash
# What is linked and under which licences, held against deny.toml without needing cargo-deny.
. "$(dirname "$0")/lib.sh"

system_package python3 python3
exec python3 scripts/check_deps.py
