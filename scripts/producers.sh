#!/usr/bin/env bash
# Runs the producers of docs/producers against a broker: each sends its message, which must be in the queue afterwards.
#   scripts/producers.sh setup   fetches their libraries and prints the folder they are in
. "$(dirname "$0")/lib.sh"

home=$CACHE/producers

setup() {
    local python
    python=$(scripts/python.sh)
    mkdir -p "$home"
    if [ ! -d "$home/python/pika" ]; then
        say "fetching pika"
        "$python/python" -m pip install --quiet --disable-pip-version-check --target "$home/python" 'pika==1.3.2' >&2
    fi
    if [ ! -d "$home/node_modules/amqplib" ]; then
        system_package npm npm
        say "fetching amqplib and typescript"
        printf '{"private":true,"type":"module"}\n' >"$home/package.json"
        npm install --silent --no-audit --no-fund --prefix "$home" amqplib@0.10.9 typescript@5.9.3 @types/node@24 \
            @types/amqplib@0.10.7 >&2
    fi
    cp docs/producers/publish.ts "$home/publish.ts"
    (cd "$home" && node_modules/.bin/tsc --strict --skipLibCheck --module nodenext --moduleResolution nodenext \
        --esModuleInterop --target es2022 --types node publish.ts >&2)
    printf '%s\n' "$home"
}

case "${1:-}" in
    setup) setup ;;
    *) die "usage: scripts/producers.sh setup" ;;
esac
