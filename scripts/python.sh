#!/usr/bin/env bash
# A private Python with the linters and schema checkers of requirements.txt. Prints its folder of programs.
. "$(dirname "$0")/lib.sh"

venv=$CACHE/python
stamp=$venv/requirements.sum
wanted=$(sha256sum <scripts/requirements.txt)
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    system_package python3 python3
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        if have apt-get && [ "$(id -u)" = 0 ]; then
            apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
        fi
        python3 -m venv "$venv" >/dev/null || die "Python's venv module is needed (Debian and Ubuntu: apt-get install python3-venv)"
    fi
    say "fetching the checkers of scripts/requirements.txt"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt >&2
    printf '%s\n' "$wanted" >"$stamp"
fi
printf '%s\n' "$venv/bin"
