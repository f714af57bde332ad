"""Fixtures of a release, written by its own program: stores of both engines with a little of everything, what the program
answers about them, one message of each type in each form of transport, and the events that it sent.

    scripts/release_fixtures.sh VERSION PROGRAM
"""

import gzip
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

VERSION, PROGRAM, ADMIN, DUMP, PSQL = sys.argv[1:6]
OUT = pathlib.Path("tests/data/releases") / VERSION
NOW = "2026-07-01T12:00:00Z"
SECRET = "fixture-secret-0123456789"
# Of each sample patient so many messages, the shortest of each type first.
SAMPLES = {"daniel": 7, "lucia": 7}
GONE = {"organization_id": "d178aba0-1217-5b49-8a70-ece3fdf27ded", "patient_id": "0f000000-0000-4000-8000-00000000dead"}
SOMEBODY = "0f000000-0000-4000-8000-000000000001"
KINDS = {"episode": "Took the bus again for the first time.", "note": "Keeps a notebook next to the bed.",
         "belief": "Walking helps more than resting.", "value": "Honesty comes before comfort.",
         "goal": "Wants to sleep seven hours.", "drive": "Wants to be useful to others.",
         "relationship": "Megan is a support in hard weeks."}


def kind_of(data: dict) -> str:
    for field, name in (("document_id", "document.submitted"), ("metric", "health_signal.recorded"), ("command", "memory.command"),
                        ("provision", "consent.recorded")):
        if field in data:
            return f"anamnesis.{name}.v1"
    return "anamnesis.profile.updated.v1"


def event(identity: str, data: dict, when: str) -> dict:
    return {"specversion": "1.0", "id": identity, "source": "urn:fixture", "type": kind_of(data), "time": when, "data": data}


def messages() -> list[dict]:
    """A little of everything of two patients, and a third one who is erased."""
    found = []
    for name, most in SAMPLES.items():
        lines = [json.loads(line) for line in pathlib.Path(f"samples/{name}.ndjson").read_text().splitlines()]
        lines.sort(key=lambda data: len(json.dumps(data)))
        found += [event(f"{name}-{at}", data, "2026-06-30T08:00:00Z") for at, data in enumerate(lines[:most])]
    scope = {key: found[0]["data"][key] for key in ("organization_id", "patient_id")}
    actor = {"id": SOMEBODY, "role": "clinician"}
    for kind, text in KINDS.items():
        command = {**scope, "actor": actor, "command": "add", "kind": kind, "text": text, "issued_at": "2026-06-30T09:00:00Z"}
        found.append(event(f"add-{kind}", command, "2026-06-30T09:00:00Z"))
    consent = {**scope, "scope": "research", "provision": "permit", "from": "2026-01-01T00:00:00Z", "recorded_by": SOMEBODY}
    found.append(event("consent", consent, "2026-06-30T09:00:00Z"))
    note = {**GONE, "document_id": str(uuid.UUID(int=7)), "document_type": "clinical_note", "occurred_at": "2026-05-01T10:00:00Z",
            "text": "Headache since April. Allergic to penicillin."}
    found.append(event("gone", note, "2026-05-01T10:00:00Z"))
    broken = event("broken", {**scope, "document_id": str(uuid.UUID(int=8)), "text": "no type"}, NOW)
    return found + [broken]


class Release:
    """The program over one store."""

    def __init__(self, folder: pathlib.Path, url: str = ""):
        self.folder, self.url = folder, url
        # JOBS__TICK is the old name of JOBS__SCHEDULER: releases up to 0.2.0 know no other.
        own = {"STORE__PATH": folder / "store.db", "STORE__KEYS": folder / "keys", "STORE__URL": url,
               "STORE__POSTGRES__ALLOW_NOT_DURABLE": "true", "PIPELINE__NOW": NOW, "WORKER__SPOOL": "", "JOBS__TICK": "false",
               "INTAKE__UNBOUND_PRODUCERS": "allow", "HTTP__BIND": "127.0.0.1:0"}
        self.environment = {**os.environ, **{f"ANAMNESIS__{key}": str(value) for key, value in own.items()}}

    def run(self, *arguments, may: tuple = (0,), **more) -> str:
        done = subprocess.run([PROGRAM, *arguments], env={**self.environment, **more}, capture_output=True, text=True)
        if done.returncode not in may:
            raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def fill(self, all_messages: list[dict]):
        file = self.folder / "messages.ndjson"
        file.write_text("".join(json.dumps(message, ensure_ascii=False) + "\n" for message in all_messages))
        if self.url:
            self.run("keys", "init", may=(0, 1))
        self.run("ingest", str(file), may=(0, 3))
        for job in ("summaries", "expiry", "reconfirmation"):
            self.run("job", "run", job, "--as-of", "2026-06-30", may=(0, 3))
        self.run("erase", "--org", GONE["organization_id"], "--patient", GONE["patient_id"], "--by", SOMEBODY, may=(0,))

    def answers(self, patients) -> dict:
        """What it says of each patient, with what is random left out by the test."""
        found = {}
        for org, patient in patients:
            whom = ("--org", org, "--patient", patient, "--output", "json")
            found[patient] = {
                "profile": json.loads(self.run("profile", *whom)),
                "memories": json.loads(self.run("memory", "list", *whom)),
                "context": json.loads(self.run("context", *whom, "--query", "sleep and medication")),
            }
        return found

    def events(self, count_of_quiet: int = 6) -> list[dict]:
        """What a worker sends to a callback, until nothing more comes."""
        heard = []

        class Callback(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = self.folder / "worker.toml"
        config.write_text(f'[[broker.webhooks]]\nurl = "http://127.0.0.1:{server.server_port}/"\nsecret = "{SECRET}"\n')
        worker = subprocess.Popen([PROGRAM, "worker", "--config", str(config)], env=self.environment, stdout=subprocess.DEVNULL)
        quiet, before = 0, -1
        while quiet < count_of_quiet:
            time.sleep(1)
            quiet, before = (quiet + 1, before) if heard and len(heard) == before else (0, len(heard))
        worker.send_signal(signal.SIGTERM)
        worker.wait()
        server.shutdown()
        return heard


def forms(all_messages: list[dict]):
    """One message of each type in each form of transport, as `anamnesis publish` of this release sends them."""
    for message in {one["type"]: one for one in reversed(all_messages) if one["id"] != "broken"}.values():
        attributes = {key: value for key, value in message.items() if key != "data"}
        data = message["data"]
        properties = {"content_type": "application/json", "message_id": message["id"],
                      "headers": {f"cloudEvents_{key}": value for key, value in attributes.items()}}
        structured = {"content_type": "application/cloudevents+json"}
        for form, (head, body) in {"binary": (properties, data), "structured": (structured, message),
                                   "bare": ({"content_type": "application/json"}, data)}.items():
            text = json.dumps({"properties": head, "body": body}, ensure_ascii=False, indent=1)
            (OUT / "messages").mkdir(parents=True, exist_ok=True)
            (OUT / "messages" / f"{message['type']}.{form}.json").write_text(text + "\n")


def differing(one, other, path: str = ""):
    """Paths at which two answers differ; patients and places of lists are left out of them."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differing(one.get(key), other.get(key), path if "-" in key else f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for a, b in zip(one, other):
            yield from differing(a, b, f"{path}[]")
    elif one != other:
        yield f"{path.lstrip('.')} ({str(one)[:60]} / {str(other)[:60]})"


def sql(statement: str, database: str = "postgres"):
    subprocess.run([PSQL, "-q", "-v", "ON_ERROR_STOP=1", "-d", f"{ADMIN.rsplit('/', 1)[0]}/{database}", "-c", statement], check=True,
                   stdout=subprocess.DEVNULL)


def postgres(folder: pathlib.Path, keys: pathlib.Path, all_messages: list[dict]) -> tuple[str, Release]:
    """A separate database, with the roles of this release."""
    name = f"fixture_{os.getpid()}"
    sql(f"CREATE DATABASE {name}")
    roles = subprocess.run([PROGRAM, "migrate", "roles"], check=True, capture_output=True, text=True).stdout
    subprocess.run([PSQL, "-q", "-v", "ON_ERROR_STOP=1", "-d", f"{ADMIN.rsplit('/', 1)[0]}/{name}"], input=roles, check=True, text=True,
                   stdout=subprocess.DEVNULL)
    for login, role in (("fixture_owner", "anamnesis_owner"), ("fixture_app", "anamnesis_app")):
        sql(f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{login}') THEN "
            f"CREATE ROLE {login} LOGIN IN ROLE {role}; END IF; END $$")
    host = ADMIN.split("@")[1].split("/")[0]
    owner = Release(folder, f"postgres://fixture_owner@{host}/{name}")
    owner.run("migrate")
    # The keys of the embedded store: one key store opens both.
    for file in ("keys", "keys.master"):
        shutil.copy(keys / file, folder / file)
    return name, Release(folder, f"postgres://fixture_app@{host}/{name}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    all_messages = messages()
    patients = sorted({(m["data"]["organization_id"], m["data"]["patient_id"]) for m in all_messages if m["id"][:4] in ("dani", "luci")})
    with tempfile.TemporaryDirectory() as place:
        embedded, served = pathlib.Path(place) / "a", pathlib.Path(place) / "b"
        embedded.mkdir()
        served.mkdir()
        store = Release(embedded)
        store.fill(all_messages)
        answers = store.answers(patients)
        (OUT / "answers.json").write_text(json.dumps(answers, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")
        for file in ("keys", "keys.master"):
            shutil.copy(embedded / file, OUT / file)
        # Bound to these keys before anything is in it.
        name, server = postgres(served, embedded, all_messages)
        server.fill(all_messages)
        said = server.answers(patients)
        dump = subprocess.run([DUMP, "--inserts", "--rows-per-insert=50", "--schema=anamnesis", f"{ADMIN.rsplit('/', 1)[0]}/{name}"], check=True,
                              capture_output=True, text=True).stdout
        # Neither what only psql knows nor what servers before 17 do not know.
        lines = [line for line in dump.splitlines() if not line.startswith(("\\", "--", "SET transaction_timeout"))]
        dump = "".join(line + "\n" for line in lines if line).encode()
        (OUT / "postgres.sql.gz").write_bytes(gzip.compress(dump, 9, mtime=0))
        # Before its events are sent. Nobody has it open, so that all of it is in the one file.
        if (embedded / "store.db-wal").exists():
            raise SystemExit("the store has pages outside its file")
        (OUT / "store.db.gz").write_bytes(gzip.compress((embedded / "store.db").read_bytes(), 9, mtime=0))
        events = sorted(store.events(), key=lambda one: (one["type"], one["time"], one["id"]))
        (OUT / "events.ndjson").write_text("".join(json.dumps(one, sort_keys=True) + "\n" for one in events))
        sql(f"DROP DATABASE {name} WITH (FORCE)")
    forms(all_messages)
    (OUT / "messages.ndjson").write_text("".join(json.dumps(message, ensure_ascii=False) + "\n" for message in all_messages))
    apart = sorted(set(differing(answers, said)))
    size = sum(file.stat().st_size for file in OUT.rglob("*") if file.is_file())
    print(f"{VERSION}: {len(all_messages)} messages, {len(events)} events, {size // 1024} kB; engines differ in: {', '.join(apart) or 'nothing'}")


main()
