"""How long migrations take over large tables, and how long a concurrent writer waits for them.

Makes a database at an older schema, fills documents, findings, memories and their log with rows that the schema takes, applies
the later migrations by the program while one connection keeps writing, and prints one line for each migration. Rows are not
readable memories: what is measured are statements over tables of that size.

    scripts/migration_times.sh [--rows N] [--from VERSION] [--engine postgres|sqlite]
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import threading
import time

TABLES = ["documents", "extracted_findings", "memory", "memory_event"]
ORG = "00000000-0000-4000-8000-000000000001"


def files(engine: str) -> list[tuple[int, str, str]]:
    """Number, name and text of each migration."""
    found = sorted(pathlib.Path(f"migrations/{engine}").glob("[0-9]*.sql"))
    return [(int(path.name[:4]), path.stem[5:].replace("_", " "), path.read_text()) for path in found]


def value(column: str, kind: str, constraints: list[str], nullable: bool, postgres: bool) -> str:
    """An expression over `n`, the number of the row, that the column takes."""
    # A server fills its new name in every row (0067).
    if column == "fade_level":
        return "n % 1000"
    if nullable:
        return "NULL"
    if column == "current":
        return "1"
    if column == "patient_id":
        return "md5((n % 20000)::text)::uuid" if postgres else "CAST(printf('%016d', n % 20000) AS BLOB)"
    for check in constraints:
        # One of several words, or a fixed length.
        if match := re.search(rf"\b{column}\b(?:\)?::text)?\s+(?:= ANY \(+ARRAY\[|IN\s*\()'?([^',\]:)]+)", check):
            return f"'{match[1]}'" if not match[1].lstrip("-").isdigit() else match[1]
        if match := re.search(rf"(?:octet_length|length)\({column}\) = (\d+)", check):
            return f"decode(lpad(to_hex(n), {2 * int(match[1])}, '0'), 'hex')" if postgres else \
                f"CAST(printf('%0{match[1]}d', n) AS BLOB)"
    if column == "org_id":
        return f"'{ORG}'::uuid" if postgres else f"x'{ORG.replace('-', '')}'"
    if kind == "uuid" or (not postgres and column.endswith("id")):
        return "md5(n::text)::uuid" if postgres else "CAST(printf('%016d', n) AS BLOB)"
    if kind in ("bytea", "BLOB"):
        return "decode(lpad(to_hex(n), 64, '0'), 'hex')" if postgres else "CAST(printf('%032d', n) AS BLOB)"
    if kind in ("text", "TEXT"):
        return "'x'"
    if kind == "boolean":
        return "false"
    if kind == "ARRAY" or kind.endswith("[]"):
        return "'{}'"
    if kind in ("double precision", "real", "REAL"):
        return "0.5"
    return "1"


def report(engine: str, rows: int, taken: list[tuple[int, str, float, float]], waits: list[tuple[float, float]]):
    """`taken`: number, name, seconds and beginning of each migration; `waits`: beginning and length of each write."""
    print(f"\n{engine}, {rows:,} rows in each of {', '.join(TABLES)}")
    print(f"{'migration':<34} {'seconds':>8} {'longest wait of a writer':>25}")
    for version, name, seconds, at in taken:
        within = [wait for start, wait in waits if start < at + seconds and start + wait > at]
        print(f"{version:04} {name:<29} {seconds:>8.2f} {max(within, default=0.0):>23.2f} s")
    longest = max((wait for _, wait in waits), default=0.0)
    print(json.dumps({"engine": engine, "rows": rows, "migrations": len(taken), "seconds": round(sum(s for _, _, s, _ in taken), 2),
                      "slowest": max(taken, key=lambda one: one[2])[0] if taken else None,
                      "longest_wait_seconds": round(longest, 3), "writes": len(waits)}))


class Postgres:
    def __init__(self, admin: str, psql: str):
        self.admin, self.psql = admin, psql
        self.name = f"migration_times_{os.getpid()}"
        self.base = admin.rsplit("/", 1)[0]
        self.host = admin.split("@")[1].split("/")[0]

    def sql(self, text: str, database: str | None = None) -> str:
        options = ["-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", f"{self.base}/{database or self.name}"]
        done = subprocess.run([self.psql, *options], input=text, text=True, capture_output=True)
        if done.returncode:
            raise SystemExit(f"psql: {done.stderr[-2000:]}")
        return done.stdout

    def make(self, program: str, first: int):
        self.sql(f"CREATE DATABASE {self.name}", "postgres")
        self.sql(subprocess.run([program, "migrate", "roles"], check=True, capture_output=True, text=True).stdout)
        self.sql("DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fixture_owner') THEN "
                 "CREATE ROLE fixture_owner LOGIN IN ROLE anamnesis_owner; END IF; END $$")
        head = "SET ROLE anamnesis_owner; SET search_path = anamnesis, public;\n"
        self.sql(head + "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, description text NOT NULL, installed_on "
                 "timestamptz NOT NULL DEFAULT now(), success boolean NOT NULL, checksum bytea NOT NULL, execution_time bigint NOT NULL);")
        for version, name, text in files("postgres"):
            if version >= first:
                break
            batched = "-- batched" in text.splitlines()[1:2]
            self.sql(head + ("" if batched else text.replace("CONCURRENTLY", "")) + ";\n"
                     f"INSERT INTO _sqlx_migrations VALUES ({version}, '{name}', now(), true, "
                     f"'\\x{hashlib.sha384(text.encode()).hexdigest()}', 0);")

    def fill(self, rows: int):
        for table in TABLES:
            columns = [line.split("|") for line in self.sql(
                "SELECT column_name, data_type, is_nullable, coalesce(column_default, ''), is_generated FROM information_schema.columns "
                f"WHERE table_schema = 'anamnesis' AND table_name = '{table}' ORDER BY ordinal_position").splitlines()]
            checks = self.sql(f"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'anamnesis.{table}'::regclass "
                              "AND contype = 'c'").splitlines()
            own = [(name, kind, null) for name, kind, null, default, made in columns if not default and made == "NEVER"]
            values = ", ".join(value(name, kind, checks, null == "YES", True) for name, kind, null in own)
            names = ", ".join(f'"{name}"' for name, *_ in own)
            self.sql(f"SET session_replication_role = replica; SET search_path = anamnesis, public; INSERT INTO {table} ({names}) "
                     f"SELECT {values} FROM generate_series(1, {rows}) AS n;")
        self.sql(f"SET session_replication_role = replica; SET search_path = anamnesis, public; "
                 f"INSERT INTO organization (org_id, created_at, updated_at) VALUES ('{ORG}', 1, 1) ON CONFLICT DO NOTHING; ANALYZE;")

    def write(self, stop: threading.Event, waits: list):
        """Single updates, one after the other, each in a separate transaction; how long each took."""
        options = ["-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", f"{self.base}/{self.name}"]
        psql = subprocess.Popen([self.psql, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        psql.stdin.write("SET session_replication_role = replica; SET search_path = anamnesis, public;\n")
        number = 0
        while not stop.is_set():
            number += 1
            table = TABLES[number % len(TABLES)]
            began = time.time()
            key = "document_id" if table == "documents" else "id"
            psql.stdin.write(f"WITH one AS (UPDATE {table} SET updated_at = updated_at + 1 WHERE org_id = '{ORG}' AND patient_id = "
                             f"md5('1')::uuid AND {key} = md5('1')::uuid RETURNING 1) SELECT count(*) FROM one;\n")
            psql.stdin.flush()
            psql.stdout.readline()
            waits.append((began, time.time() - began))
            time.sleep(0.002)
        psql.stdin.close()
        psql.wait()

    def measure(self, program: str, rows: int, first: int):
        try:
            self.make(program, first)
            began = time.time()
            self.fill(rows)
            print(f"filled in {time.time() - began:.0f} s", flush=True)
            waits, stop = [], threading.Event()
            writer = threading.Thread(target=self.write, args=(stop, waits))
            writer.start()
            time.sleep(1)
            began = time.time()
            environment = {**os.environ, "ANAMNESIS__STORE__URL": f"postgres://fixture_owner@{self.host}/{self.name}",
                           "ANAMNESIS__STORE__POSTGRES__ALLOW_NOT_DURABLE": "true"}
            done = subprocess.run([program, "migrate", "--backup-done"], env=environment, capture_output=True, text=True)
            whole = time.time() - began
            stop.set()
            writer.join()
            if done.returncode:
                raise SystemExit(done.stderr)
            waits = [(start, wait) for start, wait in waits if start + wait > began and start < began + whole]
            lines = self.sql("SELECT version, description, execution_time, extract(epoch FROM installed_on) FROM "
                             f"anamnesis._sqlx_migrations WHERE version >= {first} ORDER BY version").splitlines()
            # A row is written at the beginning of a transaction, and after what runs without one.
            alone = {version for version, _, text in files("postgres") if text.startswith("-- no-transaction")}
            taken = []
            for version, name, nanoseconds, at in (line.split("|") for line in lines):
                seconds = int(nanoseconds) / 1e9
                taken.append((int(version), name, seconds, float(at) - (seconds if int(version) in alone else 0)))
            print(f"all of it: {whole:.1f} s")
            report("postgres", rows, taken, waits)
        finally:
            subprocess.run([self.psql, "-q", "-d", f"{self.base}/postgres", "-c", f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)"])


def sqlite(program: str, rows: int, first: int):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store.db"
        store = sqlite3.connect(path, isolation_level=None)
        store.execute("PRAGMA journal_mode = WAL")
        # Older libraries lack it.
        store.create_function("unhex", 1, lambda text: bytes.fromhex(text), deterministic=True)
        store.execute("CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, installed_on TIMESTAMP "
                      "NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum BLOB NOT NULL, execution_time BIGINT NOT NULL)")
        for version, name, text in files("sqlite"):
            if version >= first:
                break
            store.executescript(text)
            store.execute("INSERT INTO _sqlx_migrations VALUES (?, ?, CURRENT_TIMESTAMP, 1, ?, 0)",
                          (version, name, hashlib.sha384(text.encode()).digest()))
        began = time.time()
        for pragma in ("foreign_keys = OFF", "synchronous = OFF", "cache_size = -1000000"):
            store.execute(f"PRAGMA {pragma}")
        for table in TABLES:
            columns = store.execute(f"PRAGMA table_info({table})").fetchall()
            made = store.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
            own = [(name, kind, not required) for _, name, kind, required, default, _ in columns if default is None]
            values = ", ".join(value(name, kind, [made], null, False) for name, kind, null in own)
            names = ", ".join(f'"{name}"' for name, *_ in own)
            store.execute(f"WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows}) "
                          f"INSERT INTO {table} ({names}) SELECT {values} FROM s")
        store.close()
        print(f"filled in {time.time() - began:.0f} s: {os.path.getsize(path) >> 20} MiB", flush=True)
        environment = {**os.environ, "ANAMNESIS__STORE__PATH": path, "ANAMNESIS__STORE__KEYS": f"{folder}/keys"}
        began = time.time()
        done = subprocess.run([program, "migrate"], env=environment, capture_output=True, text=True)
        whole = time.time() - began
        if done.returncode:
            raise SystemExit(done.stderr)
        store = sqlite3.connect(path)
        taken = [(v, name, ns / 1e9, began) for v, name, ns in store.execute(
            "SELECT version, description, execution_time FROM _sqlx_migrations WHERE version >= ? ORDER BY version", (first,))]
        # One program has the file alone meanwhile: a writer waits for all of it, the copy before it included.
        print(f"all of it, with the copy before it: {whole:.1f} s")
        report("sqlite", rows, taken, [(began, whole)])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--from", dest="first", type=int, default=25)
    options.add_argument("--engine", choices=["postgres", "sqlite"], action="append")
    options.add_argument("program")
    options.add_argument("admin")
    options.add_argument("psql")
    given = options.parse_args()
    for engine in given.engine or ["postgres", "sqlite"]:
        if engine == "postgres":
            Postgres(given.admin, given.psql).measure(given.program, given.rows, given.first)
        else:
            sqlite(given.program, given.rows, given.first)


main()
