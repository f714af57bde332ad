#!/usr/bin/env python3
"""Scores what a memory holds over time: episodes, contradictions between two documents, and questions to the rules.

    score_memory.py SET... --anamnesis PROGRAM [--misses FILE] [--jobs N]

Each line of a set is one case; its fields say of which kind it is.

Episode: {"id", "language", "kind": recall|tracking|absence|deletion|cascade, "steps", "expect"}. Steps happen at their instants:
a "document", a "command" (forget by topic, forget the memories of a quote, erase a document) or "jobs". An expectation is judged at its
instant, over the rows of `memory list`, `context`, `export` and search:
  current              an affirmed row of the patient that is in force (with this dose, if one is named)
  not_current          no such row; where "why" begins with "Dependent:", a row that is flagged for review will do
  denied               a denial is held, and no affirmed row
  past                 a row is kept as history, and none is current
  absent_everywhere    no reader shows any of the strings

Contradictions: {"pair", "first", "second", "contradictions": [{"type", "first", "second"}]}. Both documents come in, the jobs run, and
`memory contradictions` is read. A pair that it shows is right if its two fragments share at least half of the words of the quotes
(or the reverse, whichever is shorter). Recall, precision, and the share of hits with the right type.

Rule: {"id", "group", "question", "answer"}: every field of the answer, numbers to 1e-6.

Prints one table, and one JSON object on the last line. Every case has a store of its own.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
import uuid

ORG = "0e910000-0000-4000-8000-000000000001"
PATIENT = "0e910000-0000-4000-8000-000000000002"
ACTOR = "0e910000-0000-4000-8000-000000000003"
IN_FORCE = {"active", "stale"}
SAME_KIND = {"symptom": {"symptom", "condition"}, "condition": {"symptom", "condition"},
             "allergy": {"allergy", "intolerance"}, "event": {"event", "procedure"}}


def fold(text):
    text = unicodedata.normalize("NFKD", str(text)).lower()
    return "".join(letter for letter in text if not unicodedata.combining(letter))


class Program:
    """The program over a store of its own, at an instant."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.folder = tempfile.TemporaryDirectory()
        self.now = "2026-01-01T00:00:00Z"
        self.sent = 0

    def run(self, *arguments, given=None):
        own = lambda name: os.path.join(self.folder.name, name)
        environment = dict(os.environ, ANAMNESIS__STORE__PATH=own("store.db"), ANAMNESIS__STORE__KEYS=own("keys"),
                           ANAMNESIS__PIPELINE__NOW=self.now)
        return subprocess.run([self.path, *arguments], input=given, capture_output=True, text=True,
                              env=environment, cwd=self.folder.name)

    def read(self, *arguments):
        done = self.run(*arguments, "--org", ORG, "--patient", PATIENT, "--output", "json")
        try:
            return json.loads(done.stdout)
        except ValueError:
            return []

    def send(self, kind, data):
        self.sent += 1
        data = {"organization_id": ORG, "patient_id": PATIENT, **data}
        event = {"specversion": "1.0", "id": f"case-{self.sent}", "source": "urn:case", "type": kind, "data": data}
        done = self.run("ingest", "-", "--output", "json", given=json.dumps(event) + "\n")
        if done.returncode:
            print(f"set aside: {done.stdout.strip()}", file=sys.stderr)

    def document(self, label, document, at):
        data = {"document_id": str(uuid.uuid5(uuid.UUID(ORG), label)), "revision": 1, "occurred_at": at,
                "document_type": document["document_type"], "language": document.get("language")}
        if "turns" in document:
            data["turns"] = document["turns"]
        else:
            data["text"] = document["text"]
        if document["document_type"] == "uploaded_document":
            data["file"] = {"name": "letter.pdf", "media_type": "application/pdf", "sha256": "0" * 64, "uri": "file:letter.pdf",
                            "pages": [0]}
        self.send("anamnesis.document.submitted.v1", data)

    def command(self, **data):
        self.send("anamnesis.memory.command.v1", {"actor": {"id": ACTOR, "role": "patient"}, **data})

    def jobs(self):
        for line in self.run("job", "list", "--output", "json").stdout.splitlines():
            self.run("job", "run", json.loads(line)["job"])


def overlap(one, other):
    one, other = (set(re.findall(r"\w{3,}", fold(text))) for text in (one, other))
    return len(one & other) / max(1, min(len(one), len(other)))


def episode(path, case):
    """One line for each expectation: whether it holds."""
    program = Program(path)
    steps = sorted(case["steps"], key=lambda step: step["at"])
    expected = sorted(case["expect"], key=lambda expectation: expectation["at"])
    results = []
    for at, _, what in sorted([(s["at"], 0, s) for s in steps] + [(e["at"], 1, e) for e in expected], key=lambda x: x[:2]):
        program.now = at
        if "document" in what:
            program.document(what["document"]["document_id_label"], what["document"], at)
        elif "command" in what:
            command = what["command"]
            if command["command"] == "erase_document":
                document = str(uuid.uuid5(uuid.UUID(ORG), command["document"]))
                program.run("erase", "--org", ORG, "--patient", PATIENT, "--document", document, "--by", ACTOR)
                program.command(command="erase", document_ids=[document])
            elif "topic" in command:
                program.run("memory", "forget", "--topic", command["topic"], "--org", ORG, "--patient", PATIENT,
                            "--by", ACTOR, "--role", "patient")
            else:
                rows = [row for row in program.read("memory", "list") if overlap(row.get("fragment") or "", command["quote"]) >= .6]
                ids = [row["memory_id"] for row in rows if row.get("fragment") and row["kind"] != "raw"]
                if ids:
                    program.command(command="forget", memory_ids=ids)
        elif "jobs" in what:
            program.jobs()
        else:
            results.append((what, holds(program, what)))
    return results


def holds(program, expected):
    forms = [fold(form) for form in expected["any_of"]]
    if expected["state"] == "absent_everywhere":
        shown = [json.dumps(program.read("memory", "list"), ensure_ascii=False),
                 json.dumps(program.read("profile"), ensure_ascii=False),
                 program.run("export", "--org", ORG, "--patient", PATIENT).stdout]
        for form in expected["any_of"]:
            context = program.read("context", "--query", form)
            if isinstance(context, dict):
                context.pop("query", None)
            shown.append(json.dumps(context, ensure_ascii=False))
        return not any(form in fold(text) for text in shown for form in forms)
    kinds = SAME_KIND.get(expected["about"], {expected["about"]})
    rows = [row for row in program.read("memory", "list")
            if row["kind"] != "raw" and row["experiencer"] == "patient"
            and (expected["about"] == "any" or row["entity"] in kinds)
            and any(form in fold(f"{row['statement']} {row.get('at') or ''}") for form in forms)]
    dose = expected.get("dose")
    if dose:
        number = re.match(r"[\d.,]+", dose)
        number = number and number.group().replace(",", ".").rstrip(".")
        rows = [row for row in rows if number in re.findall(r"\d+(?:\.\d+)?", row["statement"].replace(",", "."))]
    denials = [row for row in rows if row["negated"] or row["absence"]]
    affirmed = [row for row in rows if not row["negated"] and not row["absence"]]
    current = [row for row in affirmed if row["state"] in IN_FORCE and row["use"] != "history"
               and row.get("status") not in ("stopped", "declined", "refuted", "cancelled")]
    match expected["state"]:
        case "current":
            return bool(current)
        case "not_current":
            if expected.get("why", "").startswith("Dependent:"):
                current = [row for row in current if not (row["reconfirm_due"] or row["contested"] or row["ungrounded"])]
            return not current
        case "denied":
            return bool(denials) and not current
        case "past":
            return bool(affirmed) and not current
    raise ValueError(expected["state"])


def contradictions(path, case):
    """Counts of gold, shown, right, and right with the right type."""
    program = Program(path)
    for label in ("first", "second"):
        program.now = case[label]["occurred_at"]
        program.document(label, case[label], case[label]["occurred_at"])
    later = datetime.datetime.fromisoformat(case["second"]["occurred_at"]) + datetime.timedelta(days=1)
    program.now = later.isoformat()
    program.jobs()
    shown = program.read("memory", "contradictions")
    gold = list(case["contradictions"])
    right = typed = 0
    for pair in shown:
        sides = [(pair[side] or {}).get("fragment") or "" for side in ("kept", "claim")]
        for wanted in gold:
            quotes = [wanted["first"], wanted["second"]]
            if any(all(overlap(a, b) >= .5 for a, b in zip(sides, order)) for order in (quotes, quotes[::-1])):
                right += 1
                typed += pair.get("type") == wanted["type"]
                gold.remove(wanted)
                break
    return {"gold": len(case["contradictions"]), "shown": len(shown), "right": right, "typed": typed}


def rules(path, cases):
    questions = "\n".join(json.dumps({**case["question"], "id": case["id"]}, ensure_ascii=False) for case in cases)
    answers = Program(path).run("rules", given=questions + "\n").stdout.splitlines()
    same = lambda a, b: abs(a - b) <= 1e-6 if all(type(x) in (int, float) for x in (a, b)) else a == b
    for case, answer in zip(cases, map(json.loads, answers), strict=True):
        yield case, answer, all(same(answer.get(key), value) for key, value in case["answer"].items())


def share(right, of):
    return f"{right:4d} of {of:4d}  {100 * right / of:5.1f} %" if of else "   –"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--anamnesis", required=True)
    parser.add_argument("--misses", help="writes what did not hold; makes a cold set one to learn from")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    cases = [json.loads(line) for file in arguments.sets for line in open(file, encoding="utf-8")]
    by_kind, misses = collections.defaultdict(collections.Counter), []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        episodes = [case for case in cases if "expect" in case]
        for case, results in zip(episodes, pool.map(lambda case: episode(arguments.anamnesis, case), episodes)):
            for expected, held in results:
                for name in (f"episodes: {case['kind']}", f"episodes: {expected['state']}", "episodes"):
                    by_kind[name].update(of=1, right=int(held))
                if not held:
                    misses.append({"id": case["id"], "kind": case["kind"], "expected": expected})
        pairs = [case for case in cases if "pair" in case]
        for case, counts in zip(pairs, pool.map(lambda case: contradictions(arguments.anamnesis, case), pairs)):
            by_kind["contradictions: recall"].update(of=counts["gold"], right=counts["right"])
            by_kind["contradictions: precision"].update(of=counts["shown"], right=counts["right"])
            by_kind["contradictions: type"].update(of=counts["right"], right=counts["typed"])
            if counts["right"] < max(counts["gold"], counts["shown"]):
                misses.append({"pair": case["pair"], **counts})
    questions = [case for case in cases if "question" in case]
    for case, answer, held in rules(arguments.anamnesis, questions) if questions else ():
        for name in (f"rules: {case['group']}", "rules"):
            by_kind[name].update(of=1, right=int(held))
        if not held:
            misses.append({**case, "given": answer})
    for name in sorted(by_kind):
        print(f"{name:32s} {share(by_kind[name]['right'], by_kind[name]['of'])}")
    if arguments.misses:
        with open(arguments.misses, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(miss, ensure_ascii=False) + "\n" for miss in misses)
    print(json.dumps({name: [count["right"], count["of"]] for name, count in sorted(by_kind.items())}))


if __name__ == "__main__":
    main()
