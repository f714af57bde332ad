#!/usr/bin/env python3
"""How densely the rule files are commented: for each crate of rules the lines of code, the comment lines for 100 of them,
and the files with too many or too few.

A comment line is `//`, or `///` of something that is not `pub`. The head of a file (`//!`) and the documentation of `pub`
items do not count, and neither do test modules and files of tests. A file of at least 40 code lines has between 3 and 8
comment lines for 100 of code: fewer hide why a rule exists, more repeat the code.

Documentation of what is `pub` through its block (variants of a `pub` enum, methods of a `pub` trait, the closed sets of
`MACROS`) is quoted by the published schemas: it counts for the minimum and not for the maximum.

Exit code 1 if a file is outside; each such file is printed with its counts.
"""

import pathlib
import re
import sys

CRATES = ("extraction", "redaction", "core")
FEWEST, MOST = 3, 8
# A shorter file says enough in its head.
JUDGED_FROM = 40
# What these declare is `pub`.
MACROS = ("codes", "id", "events", "reasons")
PUBLIC_BLOCK = re.compile(rf"^(?:pub(?:\([^)]*\))? (?:enum|trait) .*|(?:{'|'.join(MACROS)})! ?[({{])$")
TESTS = re.compile(r"tests?\.rs$|/tests/")


def starts_test_module(lines: list[str], place: int) -> bool:
    """Whether `#[cfg(test)]` at this place begins an inline module: the rest of the file is tests."""
    if lines[place].strip() != "#[cfg(test)]":
        return False
    following = (line.strip() for line in lines[place + 1 :])
    item = next((line for line in following if line and not line.startswith("#[")), "")
    return item.startswith("mod") and item.endswith("{")


def measure(path: pathlib.Path) -> tuple[int, int, int]:
    """Lines of code, of comments, and of documentation that is public through its block."""
    lines = path.read_text(encoding="utf-8").splitlines()
    code = comments = within = pending = 0
    public_from: int | None = None
    for place, raw in enumerate(lines):
        if starts_test_module(lines, place):
            break
        line = raw.strip()
        if not line or line.startswith("//!"):
            continue
        if line.startswith("///"):
            pending += 1
        elif line.startswith("//"):
            comments += 1
        else:
            code += 1
            indent = len(raw) - len(raw.lstrip())
            if public_from == indent and line[0] in ")}":
                public_from = None
            # Attributes come between the documentation and its item.
            if line.startswith("#["):
                continue
            if public_from is not None:
                within += 0 if line.startswith("pub") else pending
            elif not line.startswith("pub"):
                comments += pending
            pending = 0
            if public_from is None and PUBLIC_BLOCK.match(line) and line[-1] in "({":
                public_from = indent
    return code, comments, within


def main() -> int:
    outside = 0
    print(f"{'crate':<12}{'files':>6}{'code':>8}{'comments':>10}{'per 100':>9}{'above':>7}{'below':>7}")
    for crate in CRATES:
        files = code = comments = 0
        above: list[str] = []
        below: list[str] = []
        for path in sorted(pathlib.Path("crates", crate, "src").rglob("*.rs")):
            if TESTS.search(path.as_posix()):
                continue
            in_file, commented, within = measure(path)
            files, code, comments = files + 1, code + in_file, comments + commented
            if in_file < JUDGED_FROM:
                continue
            found = f"  {path}: {commented} comment lines, {in_file} of code"
            if commented * 100 > MOST * in_file:
                above.append(f"{found}; {commented - MOST * in_file // 100} fewer")
            elif (commented + within) * 100 < FEWEST * in_file:
                below.append(f"{found}; {-(-FEWEST * in_file // 100) - commented - within} more")
        per_hundred = 100 * comments / code if code else 0.0
        print(f"{crate:<12}{files:>6}{code:>8}{comments:>10}{per_hundred:>9.1f}{len(above):>7}{len(below):>7}")
        for line in above + below:
            print(line)
        outside += len(above) + len(below)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
