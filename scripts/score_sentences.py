#!/usr/bin/env python3
"""What is read of basic sentences: scripts/score_sentences.py PROGRAM [SET] [--misses].

Each line of the set (tests/data/cold/sentences.jsonl) has a text and what must be read of it: a medicine (`taken`, `stopped`, `not_taken`), a
condition, allergy, procedure or substance (`present`, `denied`, `absent`: no such row of the patient), a risk (`affirmed`, `denied`, `none`).
Values are compared as words of each other, in lower case. The last line is JSON."""
import collections
import json
import pathlib
import subprocess
import sys

SET = pathlib.Path(__file__).parent.parent / "tests/data/cold/sentences.jsonl"
SAME = {
    "dyspnea": ["shortness of breath", "breathless", "dyspnoea"], "post-traumatic stress disorder": ["ptsd", "posttraumatic"],
    "hypertension": ["high blood pressure"], "paracetamol": ["acetaminophen"], "valproate": ["valpro"], "stroke": ["cerebrovascular"],
    "tobacco": ["smok", "nicotine", "cigarette"], "alcohol": ["beer", "drinking"], "cannabis": ["marijuana"],
    "mri": ["magnetic resonance"], "appendectomy": ["appendicectomy"], "fatigue": ["exhaust", "tired"], "insomnia": ["sleep"],
    "metamizole": ["dipyrone"], "vomiting": ["emesis"], "attention": ["adhd"], "dizziness": ["vertigo"], "fever": ["pyrexia"],
}
KINDS = {
    "medication": {"medication"}, "condition": {"condition", "symptom"}, "allergy": {"allergy"}, "procedure": {"procedure", "measurement"},
    "substance": {"substance_use", "condition", "symptom"},
}
TAKEN = {None, "active", "started", "changed", "not_adherent"}


def named(value, row):
    value, read = value.lower(), str(row.get("value") or "").lower()
    return bool(read) and (value in read or read in value or any(word in read for word in SAME.get(value, [])))


def is_right(found, expected, area):
    state = expected["state"]
    if expected["kind"] == "risk":
        affirmed, denied = bool(found["risk"]), bool(found["risk_denied"])
        return {"affirmed": affirmed, "denied": denied and not affirmed, "none": not affirmed}[state]
    rows = [row for row in found["entities"]
            if row["type"] in KINDS[expected["kind"]] and row["experiencer"] == "patient" and named(expected["value"], row)]
    said = [row for row in rows if not row["negated"]]
    past = [row for row in said if row["temporality"] == "historical"]
    real = [row for row in said if row["temporality"] != "hypothetical"]
    if expected["kind"] == "medication":
        now = [row for row in real if row.get("status") in TAKEN]
        current = [row for row in now if row not in past]
        over = {"stopped", "not_taken"}
        if state == "taken":
            return bool(now)
        if state == "stopped":
            return not current and any(row.get("status") in over or row in past for row in rows)
        explicit = any(row["negated"] or row.get("status") in over | {"declined", "suggested"} for row in rows)
        return not current and (explicit or area == "relatives")
    if state == "present":
        return any(expected["kind"] == "procedure" or row not in past for row in real)
    if state == "denied":
        return any(row["negated"] for row in rows) and not any(row not in past for row in real)
    return not said


def main():
    options = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    lines = [json.loads(line) for line in pathlib.Path(options[1] if len(options) > 1 else SET).read_text().splitlines()]
    texts = "".join(json.dumps({"text": line["text"]}) + "\n" for line in lines)
    read = subprocess.run([options[0], "extract", "-"], input=texts, capture_output=True, text=True, check=True).stdout.splitlines()
    counts = collections.defaultdict(lambda: [0, 0])
    for line, found in zip(lines, map(json.loads, read), strict=True):
        for expected in line["expect"]:
            right = is_right(found, expected, line["area"])
            for group in (line["area"], line["lang"], "all"):
                counts[group][0] += right
                counts[group][1] += 1
            if not right and "--misses" in sys.argv:
                print(f"{expected['kind']} {expected.get('value', '')} {expected['state']}: {line['text']}")
    for group, (right, total) in counts.items():
        print(f"{group:22}{right:4} of {total}")
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
