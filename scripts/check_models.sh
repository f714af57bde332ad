#!/usr/bin/env bash
# The models are the files that models/SHA256SUMS names, byte for byte, and it names every one that the program includes.
# check_models.sh --write writes the sums again, after a model was made anew.
. "$(dirname "$0")/lib.sh"

sums=models/SHA256SUMS

# Weights, and what tests compare them with.
models() { git ls-files 'models/*.safetensors' 'models/*.bin' models/reference.json | LC_ALL=C sort; }

# What sources include from the folder of models.
included() {
    git grep -hoE 'include_bytes!\("(\.\./)+models/[^"]+"' -- '*.rs' | sed -E 's|.*"(\.\./)+(models/[^"]+)"|\2|' | LC_ALL=C sort -u
}

if [ "${1:-}" = --write ]; then
    models | xargs sha256sum >"$sums"
    say "written: $sums"
    exit 0
fi

[ -s "$sums" ] || die "there is no $sums"
sha256sum --check --strict --quiet "$sums" >&2 || die "a model differs from $sums; scripts/check_models.sh --write, if that is meant"
listed=$(awk '{ print $2 }' "$sums" | LC_ALL=C sort)
missing=$(comm -23 <({ models; included; } | LC_ALL=C sort -u) <(printf '%s\n' "$listed"))
[ -z "$missing" ] || die "$sums does not name: $(tr '\n' ' ' <<<"$missing")"
printf 'models: %s files, every checksum holds\n' "$(wc -l <"$sums")"
