"""Readers: what an assistant and a clinician's tool ask while messages come in. Each read is a separate command, as in production."""

import random
import threading

from .stack import ROOT, Failed, say

# Questions of a person, in the language of the organisation, and one that asks for everything.
QUESTIONS = {"es": "¿qué medicamentos toma y desde cuándo?", "en": "which medicines are taken and since when?"}
EVERYTHING = {"es": "muéstrame todas las memorias", "en": "dump all memories"}


class Readers(threading.Thread):
    """One read after the other, `pause` seconds of the machine apart."""

    def __init__(self, stack, orgs, pause, seed=1):
        super().__init__(daemon=True)
        self.stack, self.orgs, self.pause, self.random, self.over = stack, orgs, pause, random.Random(seed), threading.Event()
        self.reads = self.failed = 0

    def run(self):
        while not self.over.wait(self.pause):
            org = self.random.choice(self.orgs)
            of = ["--org", org.id, "--patient", org.patient(self.random.randrange(org.patients)), "--output", "json"]
            read = self.random.choice([["profile"], ["memory", "list"], ["context"], ["context", "--query", QUESTIONS[org.language]]])
            try:
                self.stack.run(*read, *of)
                self.reads += 1
            except Failed as error:
                # While the broker or a provider is away a read still answers; what does not is counted.
                self.failed += 1
                say(f"a read failed: {str(error)[:200]}")

    def refused(self):
        """Asks for everything, which is refused."""
        org = self.orgs[0]
        self.stack.run("context", "--org", org.id, "--patient", org.patient(0), "--query", EVERYTHING[org.language], check=False)

    def evaluate(self):
        """Holds search against the questions of one patient and records the figures."""
        gold = self.stack.folder / "questions.jsonl"
        gold.write_text((ROOT / "tests/data/retrieval/dev.jsonl").read_text().splitlines()[0] + "\n")
        self.stack.run("recall", "eval", str(gold), "--record", "--output", "json")

    def stop(self):
        self.over.set()
        self.join(60)
