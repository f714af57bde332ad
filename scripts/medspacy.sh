#!/usr/bin/env bash
# medspacy.sh GOLD…: the rules, negspacy and medspaCy on the same rows with the same scorer, side by side.
# medspacy.sh --predictions negspacy|medspacy GOLD: only what that one says, for `anamnesis extract eval GOLD --predictions FILE`.
golds=()
for argument in "$@"; do
    # Paths are those of whoever calls; what follows runs at the root.
    if [ -f "$argument" ]; then golds+=("$(realpath "$argument")"); else golds+=("$argument"); fi
done
set -- "${golds[@]}"
. "$(dirname "$0")/lib.sh"

venv=$CACHE/medspacy
if python_environment "$venv" scripts/medspacy.txt; then
    say "fetching negspacy, medspaCy and the models"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check spacy==3.8.18 >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r scripts/medspacy.txt >&2
    python_installed "$venv" scripts/medspacy.txt
fi
if [ "${1:-}" = --predictions ]; then
    exec "$venv/bin/python" scripts/context_peers.py "$2" "$3"
fi
[ $# -gt 0 ] || die "which gold set? (anamnesis extract eval --help)"
program=${ANAMNESIS:-target/debug/anamnesis}
[ -x "$program" ] || die "no program at $program: build it, or name it in ANAMNESIS"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for gold in "$@"; do
    found=()
    for peer in negspacy medspacy; do
        # One that has no rules for a language says so and is left out: nothing is no figure.
        if "$venv/bin/python" scripts/context_peers.py "$peer" "$gold" >"$work/$peer.jsonl"; then
            found+=(--predictions "$work/$peer.jsonl")
        fi
    done
    "$program" extract eval "$gold" "${found[@]}" --output table
done
