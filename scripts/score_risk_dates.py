#!/usr/bin/env python3
"""Whether a risk is read as one of now or of the past, and which date it is given: scripts/score_risk_dates.py PROGRAM SET... [--misses].

A set (tests/data/cold/risk_dates*.jsonl) has notes of 2026-11-12: {"id", "lang", "text", "risk": [{"class", "denied", "past", "date", "since"}]}.
`date`: the day, month or year of the risk. `since`: its start, compared if `date` is empty. "": the text does not say it.
A risk is found if an unused finding of the patient has its class and is denied likewise. Wish, thought and plan count as one class. Among
several, one with the correct time is preferred. `past` is compared for found risks that are not denied, the date for all found risks.
Prints one JSON line for each set. `--misses` also prints the text of each risk that was read wrongly, not of those that were not found."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

THOUGHTS = {"passive_ideation", "active_ideation", "plan_or_means"}
DAY = "2026-11-12T10:00:00Z"


def read(program, notes):
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson", encoding="utf-8") as file:
        for note in notes:
            file.write(json.dumps({"text": note["text"], "language": note["lang"], "occurred_at": DAY}, ensure_ascii=False) + "\n")
        file.flush()
        env = {key: value for key, value in os.environ.items() if not key.startswith("ANAMNESIS")}
        done = subprocess.run([program, "extract", "--output", "json", file.name], capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip()[-300:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_same(found, expected):
    alike = found["class"] == expected["class"] or {found["class"], expected["class"]} <= THOUGHTS
    return alike and found["denied"] == expected["denied"]


def date(found, expected):
    """`none`, `right`, `wrong`, `missed` or `invented`."""
    wanted, got = expected["date"] or expected.get("since") or "", found.get("at") or ""
    if not wanted:
        return "invented" if got else "none"
    if not got:
        return "missed"
    return "right" if got.startswith(wanted) else "wrong"


def score(notes, answers, misses):
    total = collections.Counter()
    for note, answer in zip(notes, answers, strict=True):
        found = [dict(risk, denied=denied) for denied, key in ((False, "risk"), (True, "risk_denied")) for risk in answer.get(key, [])
                 if risk.get("experiencer", "patient") == "patient"]
        for expected in note["risk"]:
            total["risks"] += 1
            same = [risk for risk in found if is_same(risk, expected)]
            if not same:
                total["not found"] += 1
                continue
            past = lambda risk: risk["temporality"] == "historical"
            best = min(same, key=lambda risk: (past(risk) != expected["past"], risk["class"] != expected["class"]))
            found.remove(best)
            outcome = "date " + date(best, expected)
            total[outcome] += 1
            wrong = outcome in ("date invented", "date wrong", "date missed")
            if not expected["denied"]:
                time = "current" if not expected["past"] else "past"
                total[time] += 1
                if past(best) != expected["past"]:
                    total[f"{time} called {'current' if expected['past'] else 'past'}"] += 1
                    wrong = True
            if wrong and misses:
                print(note["id"], outcome, best["class"], best["temporality"], best.get("at"), expected, note["text"], sep=" | ")
    return total


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    ask.add_argument("program")
    ask.add_argument("sets", nargs="+")
    ask.add_argument("--misses", action="store_true")
    args = ask.parse_args()
    for path in args.sets:
        with open(path, encoding="utf-8") as file:
            notes = [json.loads(line) for line in file if line.strip()]
        total = score(notes, read(args.program, notes), args.misses)
        print(json.dumps({"set": os.path.basename(path), "notes": len(notes), **dict(sorted(total.items()))}))


if __name__ == "__main__":
    main()
