#!/usr/bin/env bash
# The program of a release, built from the commit that docs/releases.md names. Prints its path.
#   scripts/release_program.sh VERSION
. "$(dirname "$0")/lib.sh"

version=${1:?usage: scripts/release_program.sh VERSION}
commit=$(sed -nE "s/^\| $version \| [^|]+ \| \`([0-9a-f]+)\` .*/\1/p" docs/releases.md)
[ -n "$commit" ] || die "docs/releases.md has no commit of $version"
home=$(realpath -m "${CARGO_TARGET_DIR:-target}")/releases/$version
program=$home/target/debug/anamnesis
if [ ! -x "$program" ]; then
    if [ ! -d "$home/source" ]; then
        say "the source of $version: $commit"
        git worktree prune
        git worktree add --quiet --detach "$home/source" "$commit" >&2 ||
            die "commit $commit is not in this repository: fetch its whole history (git fetch --unshallow)"
    fi
    say "building $version"
    (cd "$home/source" && CARGO_TARGET_DIR=$home/target cargo build --locked --quiet --bin anamnesis >&2)
fi
printf '%s\n' "$program"
