#!/usr/bin/env bash
# Checks that a version is ready, and tags it. Builds, signs and publishes nothing.
#   scripts/release.sh VERSION             checks, then makes the tag vVERSION
#   scripts/release.sh --dry-run           checks the version of Cargo.toml as far as an open working tree allows, tags nothing
. "$(dirname "$0")/lib.sh"

dry=
if [ "${1:-}" = --dry-run ]; then
    dry=1
    shift
fi
declared=$(sed -nE '/^\[workspace\.package\]/,/^\[/s/^version = "(.*)"/\1/p' Cargo.toml)
version=${1:-$declared}
problems=0

problem() {
    say "error: $*"
    problems=$((problems + 1))
}

# expect WHAT FOUND: a place that names the version.
expect() {
    [ "$2" = "$version" ] || problem "$1 has ${2:-no version}, not $version"
}

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || problem "$version is no version of three numbers"
expect "Cargo.toml" "$declared"
expect "Cargo.lock" "$(awk '/^name = "anamnesis"$/ { getline; gsub(/version = |"/, ""); print }' Cargo.lock)"
expect "Dockerfile" "$(sed -nE 's/^ARG VERSION=(.*)/\1/p' Dockerfile)"
expect "helm/anamnesis/Chart.yaml (appVersion)" "$(sed -nE 's/^appVersion: "?([^"]*)"?$/\1/p' helm/anamnesis/Chart.yaml)"
expect "docs/schemas/asyncapi.json" "$(sed -nE 's/^    "version": "(.*)"/\1/p' docs/schemas/asyncapi.json)"
for manifest in crates/*/Cargo.toml tools/*/Cargo.toml; do
    grep -q '^version.workspace = true$' "$manifest" || problem "$manifest does not take the version of the workspace"
done

grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || problem "CHANGELOG.md has no section \"## [$version] - DATE\""
unreleased=$(awk '/^## \[Unreleased\]/ { on = 1; next } /^## / { on = 0 } on && NF' CHANGELOG.md | wc -l)
grep -q '^## \[Unreleased\]' CHANGELOG.md || problem "CHANGELOG.md has no section \"## [Unreleased]\""
[ -n "$dry" ] || [ "$unreleased" = 0 ] || problem "CHANGELOG.md has $unreleased lines under Unreleased"

grep -qF "| $version |" docs/releases.md || problem "docs/releases.md has no row of $version"
newest=$(for engine in sqlite postgres; do find "migrations/$engine" -name '[0-9]*.sql' -printf '%f\n'; done | cut -c1-4 | sort -n | tail -n 1)
row=$(sed -nE "s/^\| $version \| .* \| ([0-9]+) \| .*/\1/p" docs/releases.md)
# After a release the working tree has the migrations of the next one.
released=$(sed -nE "s/^\| $version \| [^|]+ \| \`([0-9a-f]+)\` .*/\1/p" docs/releases.md)
if [ -n "$dry" ] && [ -n "$released" ] && [ "${row:-0}" -gt 0 ] && [ "$row" -lt "$((10#$newest))" ]; then
    newest=$row
fi
[ "$row" = "$((10#$newest))" ] || problem "docs/releases.md gives $version schema ${row:-none}; the newest migration is $((10#$newest))"

# Every release before has fixtures, and every migration of a release is as it was.
mapfile -t releases < <(sed -nE 's/^\| ([0-9.]+) \| .*/\1/p' docs/releases.md)
for before in "${releases[@]}"; do
    [ "$before" = "$version" ] || [ -d "tests/data/releases/$before" ] || problem "tests/data/releases/$before is missing"
    commit=$(sed -nE "s/^\| $before \| [^|]+ \| \`([0-9a-f]+)\` .*/\1/p" docs/releases.md)
    if [ -n "$commit" ] && git cat-file -e "$commit^{commit}" 2>/dev/null; then
        changed=$(git diff --name-only --diff-filter=MDR "$commit" -- 'migrations/*/[0-9]*.sql')
        [ -z "$changed" ] || problem "migrations of $before were changed: $changed"
    fi
done

if [ -z "$dry" ]; then
    [ -z "$(git status --porcelain)" ] || problem "the working tree is not clean"
    ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || problem "the tag v$version exists"
fi
[ "$problems" = 0 ] || die "$problems problems: $version is not ready"
if [ -n "$dry" ]; then
    printf 'release %s: every place agrees; nothing was tagged\n' "$version"
    exit
fi
git tag --annotate "v$version" --message "anamnesis $version"
printf 'tagged v%s: push it with "git push origin v%s"\n' "$version" "$version"
