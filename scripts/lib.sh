# Shared by the scripts beside it: where things are kept, and how to say what is missing. Sourced, not run.
# shellcheck shell=bash

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Everything the scripts fetch or start lives here; a folder shared between checkouts saves the downloads.
CACHE=${ANAMNESIS_CACHE_DIR:-$ROOT/.cache}
mkdir -p "$CACHE"
cd "$ROOT"

say() { printf '%s\n' "$*" >&2; }

die() {
    say "error: $*"
    exit 1
}

# Whether a command is there.
have() { command -v "$1" >/dev/null 2>&1; }

# system_package COMMAND PACKAGE: installs PACKAGE where apt can, or tells what to install.
system_package() {
    have "$1" && return
    if have apt-get && [ "$(id -u)" = 0 ]; then
        say "installing $2"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
    fi
    have "$1" || die "'$1' is needed: install it with your package manager (on Debian and Ubuntu: apt-get install $2)"
}

# python_environment FOLDER REQUIREMENTS: an empty private Python in FOLDER, where what REQUIREMENTS names is not installed
# there yet; fails where it is. Whoever has installed it says so by `python_installed`.
python_environment() {
    [ "$(cat "$1/requirements.sum" 2>/dev/null)" = "$(sha256sum <"$2")" ] && return 1
    system_package python3 python3
    rm -rf "$1"
    if ! python3 -m venv "$1" >/dev/null 2>&1; then
        rm -rf "$1"
        if have apt-get && [ "$(id -u)" = 0 ]; then
            apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
        fi
        python3 -m venv "$1" >/dev/null || die "Python's venv module is needed (Debian and Ubuntu: apt-get install python3-venv)"
    fi
}

# python_installed FOLDER REQUIREMENTS
python_installed() { sha256sum <"$2" >"$1/requirements.sum"; }

# debian_package PACKAGE FOLDER: unpacks Debian's package into FOLDER; nothing is installed or started. Fails without apt.
debian_package() {
    have apt-get && have dpkg-deb || return 1
    local work
    work=$(mktemp -d "$2.XXXXXX")
    # apt's own user fetches it.
    chmod 755 "$work"
    if ! (cd "$work" && apt-get download -qq "$1" >/dev/null 2>&1); then
        [ "$(id -u)" = 0 ] && apt-get update -qq >&2
        (cd "$work" && apt-get download -qq "$1" >&2) || { rm -rf "$work"; return 1; }
    fi
    dpkg-deb -x "$work/$1"_*.deb "$work/root"
    rm -rf "$2"
    mv "$work/root" "$2"
    rm -rf "$work"
}
