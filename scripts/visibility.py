#!/usr/bin/env python3
"""What is public: the lines of Rust that begin with `pub `, fields included, by crate. Exit code 1 above the limit.

`pub(crate)` is not counted. The limit is the number that the crates need, plus a small reserve (docs/decisions/0010-crates.md).
To raise it, change LIMIT and give the reason on that page."""

import collections
import pathlib
import re
import sys

LIMIT = 4_250
PUBLIC = re.compile(r"^\s*pub ")
KINDS = ("fn", "type", "field", "use")


def kind(line: str) -> str:
    word = line.split()[1]
    if word in ("use", "mod"):
        return "use"
    if word in ("fn", "async", "unsafe") or line.lstrip().startswith("pub const fn"):
        return "fn"
    return "type" if word in ("struct", "enum", "trait", "type", "const", "static", "union") else "field"


def main() -> int:
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for path in sorted([*pathlib.Path("src").rglob("*.rs"), *pathlib.Path("crates").rglob("*.rs"), *pathlib.Path("tools").rglob("*.rs")]):
        crate = path.parts[0] if path.parts[0] == "src" else path.parts[1]
        table[crate].update(kind(line) for line in path.read_text(encoding="utf-8").splitlines() if PUBLIC.match(line))
    print("crate".ljust(16) + "".join(name.rjust(8) for name in KINDS) + "all".rjust(8))
    for crate, counts in sorted(table.items(), key=lambda row: -row[1].total()):
        print(crate.ljust(16) + "".join(str(counts[name]).rjust(8) for name in KINDS) + str(counts.total()).rjust(8))
    total = sum(counts.total() for counts in table.values())
    print(f"{total} lines begin with `pub `, at most {LIMIT}")
    return total > LIMIT


if __name__ == "__main__":
    sys.exit(main())
