"""Private servers and workers: PostgreSQL, RabbitMQ, an embedding provider, and the program. Nothing is shared with others, and
`Stack.stop` leaves nothing."""

import base64
import hashlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PREFIX = "anamnesis"
MODEL = "stand-in"
DIMENSION = 64


class Failed(Exception):
    """What could not be done, for a person."""


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, timeout=5):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.read()


def answers(url):
    try:
        get(url, 2)
        return True
    except OSError:
        return False


def wait_for(what, ready, seconds=60, pause=0.2):
    """Calls `ready` until it is true."""
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        if ready():
            return
        time.sleep(pause)
    raise Failed(f"{what}: not within {seconds} s")


def password_hash(password):
    salt = secrets.token_bytes(4)
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


class Process:
    """A process of ours, with a log."""

    def __init__(self, name, command, log, environment=None, cwd=None):
        self.name, self.log = name, log
        with open(log, "ab") as file:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=cwd,
                env=os.environ | (environment or {}), start_new_session=True)

    def lives(self):
        return self.process.poll() is None

    def stop(self, patience=15):
        """SIGTERM, then SIGKILL; seconds that it took."""
        began = time.monotonic()
        if self.lives():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return time.monotonic() - began


class Stack:
    """`producers` are bindings, each with its user of the broker; `settings` are sections of the configuration."""

    def __init__(self, program, clock, producers, settings="", jobs=None, durable=False, keep=False):
        self.program, self.clock, self.producers = str(pathlib.Path(program).resolve()), clock, producers
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="anamnesis-live-"))
        # The database server runs as another user.
        self.folder.chmod(0o755)
        self.keep, self.settings, self.jobs, self.durable = keep, settings, jobs or {}, durable
        self.processes, self.workers, self.passwords = [], {}, {one["broker_user"]: secrets.token_hex(8) for one in producers}
        self.restarts, self.draining, self.lock = [], set(), threading.RLock()
        self.over = threading.Event()
        self.scripts = {
            "ANAMNESIS_POSTGRES_DIR": str(self.folder / "pg"),
            "ANAMNESIS_RABBITMQ_DIR": str(self.folder / "mq"),
            "ANAMNESIS_RABBITMQ_PLUGINS": "rabbitmq_prometheus",
            "ANAMNESIS_POSTGRES_FSYNC": "on" if durable else "off",
        }

    def script(self, name, *arguments, check=True, **more):
        done = subprocess.run([ROOT / "scripts" / name, *arguments], env=os.environ | self.scripts, text=True,
                              stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE, **more)
        if check and done.returncode:
            raise Failed(f"scripts/{name} {' '.join(arguments[:2])} failed")
        return done.stdout.strip()

    def own(self, name):
        return str(self.folder / name)

    # Servers

    def start(self):
        broker = threading.Thread(target=self.start_broker)
        broker.start()
        self.start_provider()
        self.start_database()
        broker.join()
        if not hasattr(self, "amqp"):
            raise Failed("RabbitMQ does not start")
        self.configure()
        self.run("migrate")
        self.run("keys", "init")
        self.run("topology", "apply")

    def start_broker(self):
        amqp = self.script("rabbitmq.sh", "private")
        self.broker_port = int(amqp.rsplit(":", 1)[1].split("/")[0])
        self.broker_metrics = self.script("rabbitmq.sh", "metrics")
        definitions = json.loads((ROOT / "deploy/rabbitmq/definitions.json").read_text())
        own = {"vhosts": [{"name": "/"}], "policies": definitions["policies"] + self.retry_policies(), "users": [], "permissions": []}
        for name, password in self.passwords.items():
            own["users"].append({"name": name, "password_hash": password_hash(password), "tags": [],
                                 "hashing_algorithm": "rabbit_password_hashing_sha256"})
            own["permissions"].append({"user": name, "vhost": "/", "configure": "^$", "read": "^$", "write": f"^{PREFIX}\\.ingest$"})
        file = self.folder / "definitions.json"
        file.write_text(json.dumps(own))
        self.script("rabbitmq.sh", "ctl", "-q", "import_definitions", str(file))
        self.amqp = amqp

    def retry_policies(self):
        """The delay queues wait in the machine's time: their pauses shrink with the clock's factor."""
        if self.clock.factor == 1:
            return []
        pauses = {"5s": 5, "1m": 60, "10m": 600, "1h": 3600}
        return [{"vhost": "/", "name": f"short-{name}", "pattern": f"^{PREFIX}\\.retry\\.{name}$", "apply-to": "queues", "priority": 2,
                 "definition": {"message-ttl": max(50, int(seconds * 1000 / self.clock.factor))}} for name, seconds in pauses.items()]

    def restart_broker(self):
        """Kills the node and starts it again; its messages stay."""
        self.script("rabbitmq.sh", "restart")

    def start_provider(self):
        self.provider_port = free_port()
        self.processes.append(Process(
            "provider", [sys.executable, ROOT / "scripts/live/provider.py", str(self.provider_port), str(DIMENSION)], self.own("provider.log")))
        wait_for("the embedding provider", lambda: answers(f"http://127.0.0.1:{self.provider_port}/health"), 15)

    def provider(self, **faults):
        """What the provider does from now on: fault (none, 503, 429, reset, not_json), share, latency_ms."""
        body = json.dumps(faults).encode()
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.provider_port}/control", data=body, method="POST"), timeout=5).read()

    def start_database(self):
        admin = self.script("postgres.sh", "start")
        self.database = admin.split("@")[1].split("/")[0]
        self.sql(subprocess.run([self.program, "migrate", "roles"], stdout=subprocess.PIPE, text=True, check=True).stdout)
        roles = {"owner": "anamnesis_owner", "app": "anamnesis_app", "jobs": "anamnesis_jobs"}
        self.sql("\n".join(f"CREATE ROLE live_{login} LOGIN IN ROLE {role};" for login, role in roles.items()))

    def sql(self, text):
        """Runs statements as administrator; the answer's rows, tab between columns."""
        done = subprocess.run([ROOT / "scripts/postgres.sh", "psql", "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-f", "-"], input=text,
                              env=os.environ | self.scripts, text=True, capture_output=True)
        if done.returncode:
            raise Failed(f"psql: {done.stderr.strip()[-500:]}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    # The program

    def configure(self):
        factor = self.clock.factor
        pause = lambda ms: max(1, int(ms / factor))
        bindings = "".join("[[intake.producers]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in bound.items())
                           for bound in self.producers)
        self.config = self.folder / "anamnesis.toml"
        self.config.write_text(f"""
[store]
url = "postgres://live_app@{self.database}/anamnesis"
migrate_url = "postgres://live_owner@{self.database}/anamnesis"
jobs_url = "postgres://live_jobs@{self.database}/anamnesis"
keys = "{self.own('keys')}"
postgres.allow_not_durable = {json.dumps(not self.durable)}
[extraction]
# Three workers and their servers share one machine.
profile = "fast"
[broker]
url = "{self.amqp}"
prefix = "{PREFIX}"
[embedding]
provider = "openai"
url = "http://127.0.0.1:{self.provider_port}/v1"
price_per_million_tokens = 0.02
profile = {{ model = "{MODEL}", dimension = {DIMENSION}, min_score = 0.5, contradiction_similarity = 0.9, generation = 1, max_tokens = 512 }}
retry = {{ initial_backoff_ms = {pause(250)}, max_backoff_ms = {pause(20000)} }}
breaker = {{ open_ms = {pause(5000)}, max_open_ms = {pause(60000)} }}
{self.settings.replace("{provider}", str(self.provider_port))}
{bindings}""")
        if self.jobs:
            (self.folder / "jobs").mkdir()
            for name, text in self.jobs.items():
                (self.folder / "jobs" / f"{name}.toml").write_text(text)

    def environment(self):
        given = {"ANAMNESIS_CONFIG": str(self.config), "ANAMNESIS_ACTOR": "operator"}
        if self.jobs:
            given["ANAMNESIS__JOBS__DIRECTORY"] = self.own("jobs")
        return given | self.clock.environment()

    def run(self, *arguments, check=True, more=None):
        """A command of the program; its standard output."""
        done = subprocess.run([self.program, *arguments], env=os.environ | self.environment() | (more or {}), cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if check and done.returncode:
            raise Failed(f"anamnesis {' '.join(arguments)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
        return done.stdout

    def start_worker(self, name, more=None, program=None):
        with self.lock:
            port = self.workers[name][1] if name in self.workers else free_port()
            program = program or (self.workers[name][2] if name in self.workers else self.program)
            environment = self.environment() | {"ANAMNESIS__HTTP__BIND": f"127.0.0.1:{port}"} | (more or {})
            process = Process(name, [program, "worker"], self.own(f"{name}.log"), environment, self.folder)
            self.workers[name] = (process, port, program, more)
            return port

    def ready(self, name):
        return answers(f"http://127.0.0.1:{self.workers[name][1]}/readyz")

    def wait_ready(self, name, seconds=60):
        wait_for(f"worker {name}", lambda: self.ready(name), seconds, 0.1)

    def supervise(self):
        """Starts a worker again that ended by itself, as Kubernetes would; `restarts` has when."""
        def watch():
            while not self.over.wait(0.5):
                with self.lock:
                    for name, (process, _, _, more) in list(self.workers.items()):
                        if not process.lives() and name not in self.draining:
                            self.restarts.append((time.time(), name, process.process.returncode))
                            self.start_worker(name, more)
        threading.Thread(target=watch, daemon=True).start()

    def replace_worker(self, name, program=None):
        """SIGTERM, then the same worker again, of another build where one is given; seconds to drain and to be ready."""
        with self.lock:
            self.draining.add(name)
            process, _, _, more = self.workers[name]
        drained = process.stop()
        began = time.monotonic()
        with self.lock:
            self.start_worker(name, more, program)
            self.draining.discard(name)
        self.wait_ready(name)
        return drained, time.monotonic() - began

    def stop(self):
        self.over.set()
        with self.lock:
            running = [entry[0] for entry in self.workers.values()]
            self.draining.update(self.workers)
        for process in running:
            if process.lives():
                process.process.send_signal(signal.SIGTERM)
        for process in running + self.processes[::-1]:
            process.stop()
        self.script("rabbitmq.sh", "stop", check=False)
        self.script("postgres.sh", "stop", check=False)
        if self.keep:
            say(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
