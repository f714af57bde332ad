#!/usr/bin/env bash
# The checks of scripts/release.sh hold for this tree, and each notices its fault: they run again over copies with one fault.
. "$(dirname "$0")/lib.sh"

scripts/release.sh --dry-run
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# What the checks read.
git ls-files -z -- Cargo.toml Cargo.lock CHANGELOG.md Dockerfile crates/*/Cargo.toml tools/*/Cargo.toml docs helm migrations scripts |
    tar --create --file=- --null --files-from=- | tar --extract --file=- --directory="$copy"
mkdir -p "$copy/tests/data"
cp -r tests/data/releases "$copy/tests/data"
refused=0
# fault FILE SED: a fault in one file of the copy must be refused.
fault() {
    cp "$copy/$1" "$copy/whole"
    sed -i -E "$2" "$copy/$1"
    if cmp -s "$copy/$1" "$copy/whole"; then die "the fault of $1 changes nothing: $2"; fi
    if (cd "$copy" && ANAMNESIS_CACHE_DIR=$CACHE scripts/release.sh --dry-run) >/dev/null 2>&1; then
        die "scripts/release.sh takes a fault: $2 in $1"
    fi
    cp "$copy/whole" "$copy/$1"
    refused=$((refused + 1))
}
version=$(sed -nE '/^\[workspace\.package\]/,/^\[/s/^version = "(.*)"/\1/p' Cargo.toml)
(cd "$copy" && ANAMNESIS_CACHE_DIR=$CACHE scripts/release.sh --dry-run) >/dev/null
fault Dockerfile 's/^(ARG VERSION=).*/\19.9.9/'
fault helm/anamnesis/Chart.yaml 's/^(appVersion: ).*/\19.9.9/'
fault docs/schemas/asyncapi.json 's/^(    "version": ").*"/\19.9.9"/'
fault CHANGELOG.md 's/^## \['"$version"'\].*//'
fault docs/releases.md 's/^\| '"$version"' \|.*//'
fault crates/core/Cargo.toml 's/^version\.workspace = true$/version = "9.9.9"/'
printf 'release: %s faults refused\n' "$refused"
