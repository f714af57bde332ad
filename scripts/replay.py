#!/usr/bin/env python3
"""Puts files of messages through `anamnesis ingest` and shows what became of them (standard library only).

    scripts/replay.py [--binary PATH] [--every N] FILE...

In a folder of its own that is removed afterwards: every message is ingested, then all of them again, and the store's
tables are compared row by row; resident memory is read while it goes on; then each N-th document is looked for with one
of its own sentences as question (`anamnesis context`). Ends with one JSON line; exit code 1 when a message was not
stored, the second run changed a row, or a document was not found. Texts stay in memory: only counts are printed.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TENTHS = 10


def environment(folder):
    own = dict(os.environ)
    own.update({f"ANAMNESIS__STORE__{key}": str(folder / name) for key, name in (("PATH", "store.db"), ("KEYS", "keys"))})
    return own


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read())
    return int(found.group(1)) // 1024 if found else 0


def ingest(binary, files, folder):
    """Counts by disposition, seconds, and resident memory in MB, read four times a second."""
    started, curve = time.monotonic(), []
    with subprocess.Popen([binary, "ingest", "--output", "json", *files], env=environment(folder),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        def watch():
            while process.poll() is None:
                try:
                    curve.append(resident(process.pid))
                except OSError:
                    return
                time.sleep(0.25)

        watcher = threading.Thread(target=watch)
        watcher.start()
        said = process.stdout.read()
        watcher.join()
    if process.returncode not in (0, 3):
        sys.exit(f"error: ingest ended with {process.returncode}; run it alone to see why")
    last = json.loads(said.strip().splitlines()[-1])
    return last, time.monotonic() - started, [mb for mb in curve if mb]


def tables(folder):
    """Of each table: how many rows, and one hash over them in any order."""
    database = sqlite3.connect(f"file:{folder / 'store.db'}?mode=ro", uri=True)
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for name in names:
        rows = sorted(hashlib.sha256(repr(row).encode()).digest() for row in database.execute(f'SELECT * FROM "{name}"'))
        found[name] = (len(rows), hashlib.sha256(b"".join(rows)).hexdigest())
    database.close()
    return found


def question(message):
    """A sentence from the middle of the document: long enough to mean something, short enough to be asked."""
    data = message.get("data", message)
    texts = [turn["text"] for turn in data.get("turns", [])] or [data.get("text", "")]
    sentences = [s.strip() for text in texts for s in re.split(r"(?<=[.!?])\s+|\n", text)]
    fit = [s for s in sentences if 40 <= len(s) <= 200] or sorted(sentences, key=len)[-1:]
    return data, fit[len(fit) // 2][:400]


def documents_of(said):
    """Every document id that an answer of `context` cites, best first."""
    return [passage["document_id"] for passage in said.get("passages", [])]


def find(binary, messages, folder):
    found = collections.Counter()
    for message in messages:
        data, asked = question(message)
        said = subprocess.run(
            [binary, "context", "--org", data["organization_id"], "--patient", data["patient_id"],
             f"--query={asked}", "--output", "json"],
            env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        cited = documents_of(json.loads(said.stdout)) if said.returncode == 0 else []
        found["found" if data["document_id"] in cited else "missed"] += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "target/release/anamnesis"))
    parser.add_argument("--every", type=int, default=1, help="look for every N-th document only")
    parser.add_argument("files", nargs="+")
    asked = parser.parse_args()
    messages = [json.loads(line) for path in asked.files for line in open(path, encoding="utf-8") if line.strip()]
    with tempfile.TemporaryDirectory(prefix="anamnesis-replay-") as place:
        folder = pathlib.Path(place)
        first, seconds, curve = ingest(asked.binary, asked.files, folder)
        before = tables(folder)
        second, again, _ = ingest(asked.binary, asked.files, folder)
        after = tables(folder)
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        found = find(asked.binary, messages[::asked.every], folder)
    steps = [curve[len(curve) * tenth // TENTHS] for tenth in range(TENTHS)] if len(curve) >= TENTHS else curve
    print(f"{len(messages)} messages in {seconds:.0f} s: {first}")
    print(f"again in {again:.0f} s: {second}; tables that changed: {', '.join(changed) or 'none'}")
    print(f"resident memory in MB, tenth by tenth: {' '.join(map(str, steps))}; most: {max(curve, default=0)}")
    print(f"asked for with their own sentence: {found['found']} found, {found['missed']} missed")
    print(json.dumps({"messages": len(messages), "first": first, "second": second, "changed_tables": changed,
                      "resident_mb": steps, "found": found["found"], "missed": found["missed"]}))
    stored = first.get("stored", 0) + first.get("ephemeral", 0)
    return 0 if stored == len(messages) and not changed and not found["missed"] else 1


if __name__ == "__main__":
    sys.exit(main())
