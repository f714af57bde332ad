#!/usr/bin/env bash
# Known vulnerabilities of the crates in Cargo.lock, by cargo-deny and the RustSec advisory database. Ends with 0 where there
# are none, with 1 where there is one or the check fails, and with 3 where no database can be had: then nothing was checked.
# ANAMNESIS_ADVISORY_DB names a copy of the database (a git repository) for machines that do not reach the original.
. "$(dirname "$0")/lib.sh"

version=0.20.2
original=https://github.com/RustSec/advisory-db
database=${ANAMNESIS_ADVISORY_DB:-$original}
# Where this version of cargo-deny looks for its copy of the original.
copy=$CACHE/advisory-db/advisory-db-3157b0e258782691
export PATH="$CACHE/tools/bin:$PATH" GIT_TERMINAL_PROMPT=0

rm -rf "$copy"
mkdir -p "$(dirname "$copy")"
if ! timeout 120 git clone --quiet --depth 1 "$database" "$copy" 2>/dev/null; then
    say "not checked: no advisory database at $database"
    exit 3
fi

if ! cargo deny --version >/dev/null 2>&1; then
    say "building cargo-deny $version (once, some minutes)"
    cargo install --quiet --locked --root "$CACHE/tools" --target-dir "$CACHE/tools/target" --version "$version" cargo-deny
    rm -rf "$CACHE/tools/target"
fi
cargo fetch --locked --quiet

# The rules of deny.toml, and where the copy lies.
rules=$CACHE/advisories.toml
awk -v urls="db-urls = [\"$original\"]" -v path="db-path = \"$CACHE/advisory-db\"" \
    '{ print } /^\[advisories\]$/ { print urls; print path }' deny.toml >"$rules"
cargo deny --locked --offline --config "$rules" check advisories >&2 || exit 1
printf 'advisories: none for the crates of Cargo.lock, database of %s\n' "$(git -C "$copy" show -s --format=%cs)"
