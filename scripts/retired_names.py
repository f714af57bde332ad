#!/usr/bin/env python3
"""Fails where a retired public name is used: prints file, line, the old name and the new one.

The names come from the tables that keep an old name working (TABLES), and from scripts/retired_names.tsv for names without such a
table. A name is found only in the form that it has on a surface: a key in TOML, a metric in a query, a word in backticks on a page,
a column in SQL. The same word in a sentence is an ordinary word.

Left out are pages about changes (LEFT_OUT), the section "Names of the version before" of docs/metrics.md, deprecated properties of
schemas, and what a row `allow` of the data file names. `--self-test` runs made-up names through the same rules.
"""

import csv
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field

DATA = "scripts/retired_names.tsv"
TABLES = {
    "key": "crates/config/src/renamed.tsv",
    "job key": "crates/jobs/src/renamed.tsv",
    "command": "src/cli/renamed.tsv",
    "column": "crates/store/sql/old_names.tsv",
    "metric": "crates/observability/src/metrics/deprecated.rs",
}
DEFAULTS = "crates/config/src/default.toml"
SURFACES = {
    "toml": [DEFAULTS, "jobs/*.toml"],
    "chart": ["helm/*", "deploy/*"],
    "dashboard": ["dashboards/*.json"],
    "alerts": ["tests/alerts.yaml"],
    "schema": ["docs/schemas/*"],
    "page": ["*.md"],
    "codes": ["crates/observability/src/log_codes.tsv", "src/cli/*/codes.tsv"],
    "sql": ["crates/*/sql/*.sql", "crates/store/sql/tables.tsv"],
    "script": ["scripts/*.py", "scripts/*.sh"],
    "help": ["src/cli/*.rs"],
    "rust": ["src/*.rs", "crates/*.rs", "tools/*.rs"],
}
LEFT_OUT = [*TABLES.values(), DATA, "scripts/retired_names.py", "CHANGELOG.md", "docs/upgrade.md", "docs/releases.md",
            "docs/decisions/*", "migrations/*", "tests/suite/*"]
EVERYWHERE = [name for name in SURFACES if name != "rust"]
NOT_RUST = [name for name in EVERYWHERE if name != "help"]
OLD_NAMES_SECTION = "## Names of the version before"


@dataclass
class Rule:
    kind: str
    old: str
    new: str
    # For each surface a pattern of the forms in which it shows the name.
    forms: dict[str, re.Pattern] = field(default_factory=dict)
    # Path of a key from the top of a TOML file, and the file stem that it counts in (`*` for each); empty for other kinds.
    path: str = ""
    job: str = ""

    def possible(self, lower: str) -> bool:
        """Whether a text in lower case can have the name: every form has all words of its last part."""
        last = re.split(r"[.=]", self.old)[-1]
        return all(part in lower for part in re.findall(r"[a-z0-9]+", last.lower()))


@dataclass
class Finding:
    path: str
    line: int
    rule: Rule

    def __str__(self) -> str:
        instead = f"use `{self.rule.new}`" if self.rule.new != "-" else "it has no new name"
        return f"{self.path}:{self.line}: retired {self.rule.kind} `{self.rule.old}`: {instead}"


def rule(kind: str, old: str, new: str, forms: list[tuple[list[str], str]], path: str = "", job: str = "") -> Rule:
    """A rule from pairs of surfaces and pattern; the patterns of a surface are alternatives."""
    joined: dict[str, list[str]] = {}
    for surfaces, pattern in forms:
        for surface in surfaces:
            joined.setdefault(surface, []).append(pattern)
    return Rule(kind, old, new, {name: re.compile("|".join(parts)) for name, parts in joined.items()}, path, job)


def word(text: str) -> str:
    return rf"(?<![\w.-]){re.escape(text)}(?![\w-])"


def backticked(text: str) -> str:
    return rf"`{re.escape(text)}`"


def key_rule(old: str, new: str, current: set[str], job: str = "") -> Rule:
    """A key: its full path, its variable, and its last part alone where it is no ordinary word and no current key."""
    leaf = old.rsplit(".", 1)[-1]
    forms = []
    if not job:
        variable = "ANAMNESIS__" + old.replace(".", "__").upper()
        forms += [(EVERYWHERE, word(old)), (EVERYWHERE, rf"\b{variable}(?![A-Z0-9])")]
    elif job != "*":
        forms += [(EVERYWHERE, word(f"{job}.{old}"))]
    if "_" in leaf and leaf not in current:
        forms += [(["page", "help"], backticked(leaf)), (["toml", "chart", "page"], rf"(?<![\w.-]){leaf}\s*=")]
    shown = f"{job}.{old}" if job else old
    return rule("job key" if job else "configuration key", shown, new, forms, path=old, job=job)


def command_rule(command: str, old: str, new: str) -> Rule:
    between = r"[\"',\s\[\]]+"
    called = between.join(re.escape(part) for part in command.split())
    if old.startswith("--"):
        pattern = rf"(?<![\w-]){called}\b[^`|]*?(?<![\w-]){re.escape(old)}(?![\w-])"
    else:
        pattern = rf"(?<![\w-]){called}{between}{re.escape(old)}(?![\w-])"
    return rule("command", f"{command} {old}", f"{command} {new}", [(EVERYWHERE, pattern)])


def column_rule(kind: str, table: str, old: str, new: str) -> Rule:
    forms = [(["sql"], rf"\b{old}\b"), (["page"], word(f"{table}.{old}"))]
    if "_" in old:
        forms += [(["page"], backticked(old)), (["script"], rf"\b{old}\b")]
    return rule(kind, old if kind != "column" else f"{table}.{old}", new, forms)


def label_rule(old: str, new: str) -> Rule:
    queries = [name for name in NOT_RUST if name not in ("sql", "codes")]
    forms = [
        (queries, rf"[{{,]\s*{old}\s*(?:=~|!~|!=|=)\s*\\*[\"']"),
        (queries, rf"\b(?:by|without|on|ignoring)\s*\([^)]*\b{old}\b"),
        (queries, rf"{{{{\s*{old}\s*}}}}"),
        (["page"], backticked(old)),
    ]
    return rule("label", old, new, forms)


def value_rule(old: str, new: str) -> Rule:
    """`label=value`."""
    label, value = old.split("=", 1)
    forms = [
        (NOT_RUST, rf"\b{label}\s*(?:=~|!~|!=|=)\s*\\*\"(?:[^\"\\]*\|)?{value}(?:\|[^\"\\]*)?\\*\""),
        (["page"], rf"`{label}`: (?:[\w-]+, )*{value}\b"),
    ]
    return rule("label value", old, new, forms)


def code_rule(old: str, new: str) -> Rule:
    forms = [
        (["codes"], rf"^(?:[^\t]+\t)?{old}(?=\t)"),
        (["page"], backticked(old)),
        (NOT_RUST, rf"\bcode\\*[\"']?\]?\s*[:=]+\s*\\*[\"']{old}\\*[\"']"),
    ]
    if "_" in old:
        forms += [(["chart", "alerts"], rf"\\*[\"']{old}\\*[\"']")]
    return rule("code", old, new, forms)


def title_rule(old: str, new: str) -> Rule:
    text = re.escape(old)
    forms = [(["dashboard"], rf"\"title\":\s*\"(?:Anamnesis / )?{text}\""), (["page"], rf"\| {text} \||\"{text}\"|“{text}”")]
    return rule("dashboard title", old, new, forms)


def heading_rule(old: str, new: str) -> Rule:
    slug = re.sub(r"[^\w -]", "", old.lower()).replace(" ", "-")
    return rule("heading", old, new, [(["page"], rf"^#+\s+{re.escape(old)}\s*$"), (["page"], rf"#{re.escape(slug)}[)>]")])


def type_rule(old: str, new: str) -> Rule:
    forms = [
        (["rust", "help"], rf"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|type|union)\s+{old}\b"),
        (["page"], rf"`(?:\w+::)*{old}(?:::\w+)*`"),
        (["schema"], rf"\"{old}\":|/{old}\""),
    ]
    return rule("type", old, new, forms)


def listed_rule(kind: str, old: str, new: str) -> Rule:
    """A row of the data file."""
    plain = {"value": value_rule, "code": code_rule, "title": title_rule, "heading": heading_rule, "type": type_rule}
    if kind in plain:
        return plain[kind](old, new)
    if kind == "alert":
        return rule("alert", old, new, [(EVERYWHERE, rf"\b(?:Anamnesis)?{old}\b")])
    if kind == "queue":
        return rule("queue", old, new, [(EVERYWHERE, rf"\.{re.escape(old)}\b")])
    raise SystemExit(f"error: {DATA}: unknown kind `{kind}`")


def rows(path: str) -> list[list[str]]:
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def keys_of(table: dict) -> Iterator[str]:
    for name, value in table.items():
        yield name
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from keys_of(inner)


def metric_rows(text: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Old and new names of the families and of the labels of deprecated.rs."""
    found = []
    for constant in ("RENAMED_FAMILIES", "RENAMED_LABELS"):
        block = re.search(rf"pub(?:\(crate\))? const {constant}\b.*?\];", text, re.DOTALL)
        if not block:
            raise SystemExit(f"error: {TABLES['metric']} has no {constant}")
        found.append(re.findall(r'old:\s*"([^"]+)",\s*new:\s*"([^"]+)"', block[0]))
    return found[0], found[1]


def rules_of_tables() -> list[Rule]:
    missing = [path for path in (*TABLES.values(), DATA) if not pathlib.Path(path).is_file()]
    if missing:
        raise SystemExit(f"error: no table at {', '.join(missing)}; correct TABLES of scripts/retired_names.py")
    current = set(keys_of(tomllib.loads(pathlib.Path(DEFAULTS).read_text(encoding="utf-8"))))
    for policy in pathlib.Path("jobs").glob("*.toml"):
        current |= set(keys_of(tomllib.loads(policy.read_text(encoding="utf-8"))))
    found = [key_rule(row[0], row[1], current) for row in rows(TABLES["key"])]
    for row in rows(TABLES["job key"]):
        (job, old), new = row[0].split(".", 1), row[1]
        found.append(key_rule(old, new, current, job))
    found += [command_rule(row[0], row[1], row[2]) for row in rows(TABLES["command"])]
    found += [column_rule(row[0], row[1], row[2], row[3]) for row in rows(TABLES["column"])]
    families, labels = metric_rows(pathlib.Path(TABLES["metric"]).read_text(encoding="utf-8"))
    found += [rule("metric", old, new, [(EVERYWHERE, rf"\b{old}\b")]) for old, new in families]
    found += [label_rule(old, new) for old, new in labels]
    return found


def listed() -> tuple[list[Rule], list[tuple[str, str]]]:
    """Rules and allowed places (pattern of paths, old name) of the data file."""
    found, allowed = [], []
    with open(DATA, encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader((line for line in file if not line.startswith("#")), delimiter="\t"), 1):
            if len(row) != 4 or not all(row):
                raise SystemExit(f"error: {DATA}: row {number} has not kind, old, new and reason: {row}")
            kind, old, new, _ = row
            if kind == "allow":
                allowed.append((old, new))
            else:
                found.append(listed_rule(kind, old, new))
    return found, allowed


SECTION = re.compile(r"^\s*\[{1,2}([a-z_][\w.]*)\]{1,2}\s*(?:#.*)?$")
ASSIGNED = re.compile(r"^\s*(?:# ?)?([a-z_][\w.]*)\s*=(?!=)")
YAML_KEY = re.compile(r"^\s*[\w-]+:(?:\s|$)")


def toml_paths(lines: list[str], surface: str) -> Iterator[tuple[int, str]]:
    """Each line that names a section or assigns a key, with the path from the top of the TOML that it belongs to."""
    section = ""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced, section = not fenced, ""
        elif surface == "page" and not fenced:
            continue
        elif found := SECTION.match(line):
            section = found[1]
            yield number, section
        elif surface == "chart" and YAML_KEY.match(line):
            section = ""
        elif found := ASSIGNED.match(line):
            yield number, f"{section}.{found[1]}".lstrip(".")


def key_findings(path: str, surface: str, lines: list[str], rules: list[Rule]) -> Iterator[Finding]:
    stem = pathlib.PurePath(path).stem if path.startswith("jobs/") else ""
    for number, place in toml_paths(lines, surface):
        for one in rules:
            # A policy outside jobs/ does not say its job; its keys under [thresholds] do.
            counts = not stem if not one.job else one.job in ("*", stem) if stem else place.startswith("thresholds.")
            if counts and (place == one.path or place.startswith(f"{one.path}.")):
                yield Finding(path, number, one)


def schema_findings(path: str, text: str, rules: list[Rule]) -> Iterator[Finding]:
    """Properties with the last part of an old key that are not marked as deprecated, where no current key has that name."""
    leaves = {one.path.rsplit(".", 1)[-1]: one for one in rules if not one.job and "page" in one.forms
              and one.forms["page"].search(f"`{one.path.rsplit('.', 1)[-1]}`")}

    def walk(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            properties = node.get("properties")
            for name, value in properties.items() if isinstance(properties, dict) else ():
                if name in leaves and not (isinstance(value, dict) and value.get("deprecated")):
                    yield name
            for value in node.values():
                yield from walk(value)
        elif isinstance(node, list):
            for value in node:
                yield from walk(value)

    for name in walk(json.loads(text)):
        line = text[: text.index(f'"{name}"')].count("\n") + 1
        yield Finding(path, line, leaves[name])


def shown(surface: str, line: str) -> str:
    """What a line shows of a surface: the help of the command line, or SQL without comments and texts."""
    if surface == "help":
        code = line.strip()
        help_text = code.startswith("///") or re.search(r"\b(?:about|help|long|name|value_name|alias)\s*=\s*\"", code)
        return code if help_text or re.match(r"(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) ", code) else ""
    if surface == "sql":
        if re.match(r"\s*-- (?:rows?|shared|keys|name):", line):
            return "" if "name:" in line else line
        return re.sub(r"'[^']*'", "''", line.split("--")[0])
    return line


def logical(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; a line that ends with a backslash goes on in the next one."""
    begun, text = 0, ""
    for number, line in enumerate(lines, 1):
        begun, text = begun or number, text + line
        if line.endswith("\\") and number < len(lines):
            text = text[:-1] + " "
        else:
            yield begun, text
            begun, text = 0, ""


def findings(path: str, surface: str, text: str, rules: list[Rule]) -> list[Finding]:
    lines = text.splitlines()
    if path == "docs/metrics.md" and OLD_NAMES_SECTION in lines:
        start = lines.index(OLD_NAMES_SECTION)
        end = next((at for at in range(start + 1, len(lines)) if lines[at].startswith("## ")), len(lines))
        lines[start:end] = [""] * (end - start)
    found: list[Finding] = []
    lower = text.lower()
    rules = [one for one in rules if one.possible(lower)]
    keys = [one for one in rules if one.path]
    if surface in ("toml", "chart", "page", "script"):
        found += key_findings(path, surface, lines, keys)
    if surface == "schema":
        found += schema_findings(path, text, keys)
    formed = [one for one in rules if surface in one.forms]
    for number, line in logical(lines):
        if seen := shown(surface, line):
            found += [Finding(path, number, one) for one in formed if one.forms[surface].search(seen)]
    once = {(one.line, one.rule.kind, one.rule.old): one for one in found}
    return sorted(once.values(), key=lambda one: (one.line, one.rule.old))


def surface_of(path: str) -> list[str]:
    if any(fnmatch.fnmatch(path, pattern) for pattern in LEFT_OUT):
        return []
    found = []
    for name, patterns in SURFACES.items():
        for pattern in patterns:
            if fnmatch.fnmatch(path, pattern):
                found.append(name)
                break
    # A page of the chart is read as a page only.
    return [name for name in found if name != "chart" or "page" not in found]


def files() -> list[str]:
    answer = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    if answer.returncode == 0 and answer.stdout:
        return sorted(set(answer.stdout.splitlines()))
    return sorted(str(path) for path in pathlib.Path(".").rglob("*") if path.is_file() and "target" not in path.parts)


def check() -> int:
    listed_rules, allowed = listed()
    rules = rules_of_tables() + listed_rules
    read, found = 0, []
    for path in files():
        surfaces = surface_of(path)
        if not surfaces or not pathlib.Path(path).is_file() or pathlib.Path(path).is_symlink():
            continue
        text = pathlib.Path(path).read_text(encoding="utf-8")
        read += 1
        for surface in surfaces:
            found += findings(path, surface, text, rules)
    tracked = files()
    for pattern, _ in allowed:
        if not any(fnmatch.fnmatch(path, pattern) for path in tracked):
            print(f"error: {DATA}: no file matches the allowed place {pattern}", file=sys.stderr)
            return 1
    left = [one for one in found if not any(fnmatch.fnmatch(one.path, pattern) and name in ("*", one.rule.old)
                                            for pattern, name in allowed)]
    for one in left:
        print(one, file=sys.stderr)
    if left:
        print(f"error: {len(left)} uses of retired names", file=sys.stderr)
        return 1
    print(f"retired names: {len(rules)} names, {read} files, none in use")
    return 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        sys.dont_write_bytecode = True
        from retired_names_cases import self_test

        return self_test()
    if sys.argv[1:]:
        print("usage: retired_names.py [--self-test]", file=sys.stderr)
        return 2
    return check()


if __name__ == "__main__":
    sys.exit(main())
