#!/usr/bin/env bash
# Sees to it that `cargo nextest` works: the test runner that gives every test its own process.
. "$(dirname "$0")/lib.sh"

version=0.9.143
export PATH="$CACHE/tools/bin:$PATH"
if ! cargo nextest --version >/dev/null 2>&1; then
    say "building cargo-nextest $version (once, a few minutes)"
    cargo install --quiet --locked --root "$CACHE/tools" --target-dir "$CACHE/tools/target" \
        --version "$version" cargo-nextest
    rm -rf "$CACHE/tools/target"
fi
