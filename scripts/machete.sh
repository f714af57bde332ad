#!/usr/bin/env bash
# Finds dependencies that a manifest names and no source uses.
. "$(dirname "$0")/lib.sh"

version=0.9.1
export PATH="$CACHE/tools/bin:$PATH"
if ! cargo machete --version >/dev/null 2>&1; then
    say "building cargo-machete $version (once, a minute)"
    cargo install --quiet --locked --root "$CACHE/tools" --target-dir "$CACHE/tools/target" \
        --version "$version" cargo-machete
    rm -rf "$CACHE/tools/target"
fi
exec cargo machete .
