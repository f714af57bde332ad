#!/usr/bin/env bash
# docs/schemas/asyncapi.json against AsyncAPI's own JSON Schema and its own parser, which also checks references, operations
# and examples. Neither is part of the repository.
. "$(dirname "$0")/lib.sh"

home=$CACHE/asyncapi
if [ ! -d "$home/node_modules/@asyncapi/parser" ]; then
    system_package npm npm
    say "fetching AsyncAPI's schemas and parser"
    mkdir -p "$home"
    printf '{"private":true,"type":"module"}\n' >"$home/package.json"
    npm install --silent --no-audit --no-fund --prefix "$home" @asyncapi/specs@6.11.1 @asyncapi/parser@3.6.6 >&2
fi
python=$(scripts/python.sh)
"$python/python" scripts/check_asyncapi.py "$home/node_modules/@asyncapi/specs/schemas" docs/schemas/asyncapi.json
cp scripts/check_asyncapi.mjs "$home/check.mjs"
node "$home/check.mjs" docs/schemas/asyncapi.json
