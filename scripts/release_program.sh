#!/usr/bin/env bash
# The program of a release, built from the commit that docs/releases.md names. Prints its path.
#   scripts/release_program.sh VERSION
# Exit code 3: this copy of the repository lacks the commit (a clone without history).
. "$(dirname "$0")/lib.sh"

version=${1:?usage: scripts/release_program.sh VERSION}
commit=$(sed -nE "s/^\| $version \| [^|]+ \| \`([0-9a-f]+)\` .*/\1/p" docs/releases.md)
[ -n "$commit" ] || die "docs/releases.md has no commit of $version"
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
home=$target/releases/$version
program=$home/anamnesis
if [ ! -x "$program" ]; then
    if ! git cat-file -e "$commit^{commit}" 2>/dev/null && ! git fetch --quiet --unshallow >&2 2>/dev/null; then
        say "commit $commit of $version is not in this copy: fetch the whole history (git fetch --unshallow)"
        exit 3
    fi
    rm -rf "$home"
    mkdir -p "$home/source"
    git archive "$commit" | tar -x -C "$home/source"
    say "building $version"
    # In the target folder of the present version: most dependencies are the same and need no second build. The present
    # program has the same path there, so that it is put aside meanwhile.
    here=$target/debug/anamnesis
    if [ -e "$here" ]; then mv "$here" "$home/present"; fi
    (cd "$home/source" && CARGO_TARGET_DIR=$target cargo build --locked --quiet --bin anamnesis >&2) || failed=$?
    if [ -z "${failed:-}" ]; then mv "$here" "$program"; fi
    if [ -e "$home/present" ]; then mv "$home/present" "$here"; fi
    [ -z "${failed:-}" ] || die "$version could not be built"
    rm -rf "$home/source"
fi
printf '%s\n' "$program"
