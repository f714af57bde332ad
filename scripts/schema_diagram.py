#!/usr/bin/env python3
"""Entity-relationship diagrams of docs/schema.md, made from migrations/postgres/*.sql without the old names of columns.

Without an argument it prints them. `--write` puts them into the page, `--check` fails where the page differs.
"""

import pathlib
import re
import sys

PAGE = pathlib.Path("docs/schema.md")
OLD_NAMES = pathlib.Path("crates/store/sql/old_names.tsv")
BEGIN, END = "<!-- diagrams: scripts/schema_diagram.py --write -->", "<!-- end of diagrams -->"

GROUPS = {
    "Documents and search": ["documents", "document_archive", "passage", "embedding", "risk_flag"],
    "Memories": [
        "extracted_findings", "memory", "memory_link", "memory_event", "contradiction", "fold_checkpoint", "summary",
    ],
    "Clinical rows": ["conditions", "allergies", "medications", "symptom_states", "appointments", "health_signals"],
    "Patients, consent and rights": [
        "organization", "patient_profile", "profile_statement", "conversation_preferences", "consent", "ephemeral_mode",
        "legal_hold", "erasure", "rights_answer", "legacy_record",
    ],
    "Messages, jobs and audit": [
        "inbox", "attempt", "attempt_batch", "quarantine", "quarantine_act", "outbox", "job_run", "job_watermark",
        "confidence_course", "cohort_pattern", "action_audit", "audit_block", "key_binding", "command_metric",
    ],
}
# On every table; left out so that the columns of a table can be seen.
EVERYWHERE = {"created_at", "updated_at"}


class Table:
    def __init__(self) -> None:
        self.columns: dict[str, str] = {}
        self.key: list[str] = []
        self.references: list[tuple[list[str], str]] = []


def parts(body: str) -> list[str]:
    """What commas outside of brackets separate."""
    found, depth, current = [], 0, ""
    for character in body:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += character
    return [*found, current.strip()]


def names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",")]


def column(table: Table, definition: str) -> None:
    name, kind, *_ = definition.split()
    if definition.split()[1:3] == ["double", "precision"]:
        kind = "double"
    table.columns[name] = kind.replace("[]", "_array").lower()
    if "PRIMARY KEY" in definition:
        table.key = [name]
    if reference := re.search(r"REFERENCES (\w+)", definition):
        table.references.append(([name], reference[1]))


def create(table: Table, body: str) -> None:
    for part in parts(body):
        if key := re.match(r"PRIMARY KEY \(([^)]*)\)", part):
            table.key = names(key[1])
        elif foreign := re.match(r"FOREIGN KEY \(([^)]*)\)\s*REFERENCES (\w+)", part):
            table.references.append((names(foreign[1]), foreign[2]))
        elif not re.match(r"CHECK|CONSTRAINT|UNIQUE", part):
            column(table, part)


def read() -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for path in sorted(pathlib.Path("migrations/postgres").glob("[0-9]*.sql")):
        text = re.sub(r"--[^\n]*", "", path.read_text())
        text = re.sub(r"\$(\w*)\$.*?\$\1\$", "", text, flags=re.DOTALL)
        for statement in (one.strip() for one in text.split(";")):
            if made := re.match(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*)\)$", statement, re.DOTALL):
                create(tables.setdefault(made[1], Table()), made[2])
            elif dropped := re.match(r"DROP TABLE (?:IF EXISTS )?(\w+)", statement):
                tables.pop(dropped[1], None)
            elif changed := re.match(r"ALTER TABLE (?:ONLY )?(\w+)\s+(.*)$", statement, re.DOTALL):
                alter(tables, changed[1], changed[2])
    for line in OLD_NAMES.read_text().splitlines():
        if line.startswith("column\t"):
            _, table, old, new, _ = line.split("\t")
            columns = tables[table].columns
            kind = columns.pop(new)
            # In the place of the old one.
            tables[table].columns = {new if name == old else name: kind if name == old else of for name, of in columns.items()}
    return tables


def alter(tables: dict[str, Table], name: str, changes: str) -> None:
    table = tables[name]
    for change in parts(changes):
        if added := re.match(r"ADD COLUMN (?:IF NOT EXISTS )?(.*)$", change, re.DOTALL):
            column(table, added[1])
        elif gone := re.match(r"DROP COLUMN (?:IF EXISTS )?(\w+)", change):
            table.columns.pop(gone[1], None)
        elif renamed := re.match(r"RENAME COLUMN (\w+) TO (\w+)", change):
            table.columns = {renamed[2] if old == renamed[1] else old: kind for old, kind in table.columns.items()}
        elif moved := re.match(r"RENAME TO (\w+)", change):
            tables[moved[1]] = tables.pop(name)


def diagram(group: list[str], tables: dict[str, Table]) -> str:
    lines = ["```mermaid", "erDiagram"]
    for name in group:
        for _, target in tables[name].references:
            lines.append(f"    {target} ||--o{{ {name} : has")
    for name in group:
        table = tables[name]
        foreign = {column for columns, _ in table.references for column in columns}
        lines.append(f"    {name} {{")
        for column_name, kind in table.columns.items():
            if column_name in EVERYWHERE:
                continue
            marks = ["PK"] * (column_name in table.key) + ["FK"] * (column_name in foreign)
            lines.append(f"        {kind} {column_name}{' ' if marks else ''}{', '.join(marks)}")
        lines.append("    }")
    return "\n".join([*lines, "```"])


def main() -> int:
    tables = read()
    grouped = [name for group in GROUPS.values() for name in group]
    if missing := sorted(set(tables) ^ set(grouped)):
        print(f"error: GROUPS and the migrations differ by {', '.join(missing)}", file=sys.stderr)
        return 1
    text = "\n\n".join(f"## {title}\n\n{diagram(group, tables)}" for title, group in GROUPS.items())
    if len(sys.argv) < 2:
        print(text)
        return 0
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    now = f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"
    if sys.argv[1] == "--write":
        PAGE.write_text(now)
    elif now != page:
        print(f"error: {PAGE} is out of date: run scripts/schema_diagram.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
