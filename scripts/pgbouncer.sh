#!/usr/bin/env bash
# A PgBouncer for tests: no service, in the foreground, until whoever started it ends it.
#   scripts/pgbouncer.sh run FILE   runs it with this configuration (installs it the first time)
. "$(dirname "$0")/lib.sh"

# It refuses to run as root, and its folder must be one that another user can reach.
owner=nobody

# The package would start a service of its own; only its files are wanted.
install_pooler() {
    have pgbouncer && return
    if have apt-get && [ "$(id -u)" = 0 ]; then
        say "installing pgbouncer"
        local block=/usr/sbin/policy-rc.d made=
        [ -e "$block" ] || { printf '#!/bin/sh\nexit 101\n' >"$block" && chmod +x "$block" && made=1; }
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq pgbouncer >/dev/null
        [ -z "$made" ] || rm -f "$block"
    fi
    have pgbouncer || die "PgBouncer is needed: install your system's pgbouncer"
}

run() {
    [ -f "${1:-}" ] || die "there is no such configuration"
    # One at a time: tests that run beside each other all ask for it.
    exec 9>"$CACHE/pgbouncer.lock"
    flock 9
    install_pooler
    exec 9>&-
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid="$owner" --regid="$(id -g "$owner")" --clear-groups -- pgbouncer --quiet "$1"
    fi
    exec pgbouncer --quiet "$1"
}

case "${1:-}" in
    run) run "${2:-}" ;;
    *) die "usage: scripts/pgbouncer.sh run FILE" ;;
esac
