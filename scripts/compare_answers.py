#!/usr/bin/env python3
"""Whether two builds of the program answer alike: scripts/compare_answers.py [--profile fast|careful] OLD NEW [FILE...]

Runs `extract` (in this profile) and `redact` of both programs on every text of the files, which are JSON lines with "text" or "turns". Without
FILE, it reads all *.jsonl files of tests/data. Prints counts and the names of differing fields, never a text; `version` and `elapsed_ms`
are ignored. Exit code 1: an answer differs, or a program failed, whose last message is printed.
Use it after a change that must not alter results: a new name, a moved file, another library."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).parent.parent / "tests/data"
VOLATILE = {"version", "elapsed_ms"}


def texts(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if not isinstance(row, dict):
            continue
        text = row.get("text")
        turns = row.get("turns")
        if text is None and isinstance(turns, list):
            text = "\n".join(turn.get("text", "") for turn in turns if isinstance(turn, dict))
        if isinstance(text, str) and text.strip():
            language = row.get("language") or row.get("lang")
            yield {"text": text, "occurred_at": "2026-11-12T10:00:00Z", **({"language": language} if language in ("es", "en") else {})}


def answers(program, verb, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        file.flush()
        env = {key: value for key, value in os.environ.items() if not key.startswith("ANAMNESIS")}
        done = subprocess.run([program, *verb, "--output", "json", file.name], capture_output=True, text=True, env=env, check=False)
    if done.returncode not in (0, 3):  # 3: some lines are refused, and answered so
        sys.exit(f"{program} {verb[0]} ends with {done.returncode}: {done.stderr.strip()[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    ask.add_argument("old")
    ask.add_argument("new")
    ask.add_argument("files", nargs="*", type=pathlib.Path)
    ask.add_argument("--profile", default="fast", choices=["fast", "careful"])
    args = ask.parse_args()
    files = args.files or sorted(path for path in DATA.rglob("*.jsonl"))
    rows = [row for path in files for row in texts(path)]
    print(f"{len(rows)} texts of {len(files)} files")
    total = 0
    for verb in (["extract", "--profile", args.profile], ["redact"]):
        old, new = (answers(program, verb, rows) for program in (args.old, args.new))
        if len(old) != len(new):
            sys.exit(f"{verb[0]}: {len(old)} answers and {len(new)}")
        differing = collections.Counter()
        count = 0
        for one, other in zip(old, new, strict=True):
            parts = [key for key in sorted(one.keys() | other.keys()) if key not in VOLATILE and one.get(key) != other.get(key)]
            differing.update(parts)
            count += bool(parts)
        print(f"{verb[0]}: {len(old) - count} alike, {count} differ" + "".join(f", {key} in {n}" for key, n in differing.most_common()))
        total += count
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
