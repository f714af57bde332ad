#!/usr/bin/env python3
"""Lines of own code of the shipped program: a table by crate of the working tree, and the growth by piece of work, for the
commits of docs/code_size.tsv (columns commit, order and what; each commit is the last one of its piece of work).

`order` has the numbers of the piece of work in the plan, where its text names their subject: 7 whole documents, 8 safety, 9 crates,
10 rules, 11 risk, 12 reader, 13 keys, 14 speed, 15 privacy, 16 operations, 17 words. The last line has the limit, which is 56,000
and the growth of the orders 7, 8 and 10 to 16, and the present total next to it.

Counted is Rust in src and in the src folder of each crate: no blank lines, no comments, no tests. Tests are items after
`#[cfg(test)]`, the files of such modules, and files named tests.rs or …tests.rs. Statement files (.sql) of src and crates are
counted separately; migrations, tools and tests are not counted.
"""

import csv
import pathlib
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

LIST = pathlib.Path("docs/code_size.tsv")
PLANNED = 56_000
# Orders that add functions; their growth raises the limit.
RAISE = {7, 8, *range(10, 17)}
RUST = re.compile(r"^(?:src|crates/[^/]+/src)/.*\.rs$")
SQL = re.compile(r"^(?:src|crates)/.*\.sql$")
TEST_FILE = re.compile(r"(?:^|/)(?:\w*tests\.rs$|tests/)")
BLOCK_COMMENT = re.compile(r"^\s*/\*.*?\*/", re.DOTALL | re.MULTILINE)
MODULE = re.compile(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);")
PATH = re.compile(r'^#\[path = "([^"]+)"\]')


def product(text: str) -> tuple[list[str], list[str]]:
    """Lines of code and of comments of a file without its tests, and its test modules that are files: their name, or their path."""
    modules: list[str] = []
    lines: list[str] = []
    # None: no test item; else the indentation of the item that is skipped.
    skipped: str | None = None
    announced, path = False, ""
    for line in BLOCK_COMMENT.sub("", text).splitlines():
        code = line.strip()
        if skipped is not None:
            indent = line[: len(line) - len(line.lstrip())]
            if indent == skipped and code[:1] in ("}", "]", ")") and code.endswith(("}", "};", "];", ");")):
                skipped = None
        elif not code:
            continue
        elif code.startswith("//"):
            if not announced:
                lines.append(line)
        elif code == "#[cfg(test)]":
            announced, path = True, ""
        elif not announced:
            lines.append(line)
        elif code.startswith("#["):
            path = found[1] if (found := PATH.match(code)) else path
        else:
            announced = False
            if found := MODULE.match(code):
                modules.append(path or found[1])
            if not code.endswith((";", "}")):
                skipped = line[: len(line) - len(line.lstrip())]
    return lines, modules


def comment(line: str) -> bool:
    return line.lstrip().startswith("//")


def rust(text: str) -> tuple[int, list[str]]:
    """Lines of code of a file, and its test modules that are files."""
    lines, modules = product(text)
    return sum(not comment(line) for line in lines), modules


def sql(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("--"))


def part(path: str) -> str:
    """The crate of a file; the program itself is `anamnesis`."""
    return path.split("/")[1] if path.startswith("crates/") else "anamnesis"


def inside(file: str, module: str) -> str:
    """The file of a module that `file` declares, without its ending where only the name is known."""
    folder, name = posixpath.split(file)
    if module.endswith(".rs"):
        return posixpath.normpath(posixpath.join(folder, module))
    if name not in ("lib.rs", "main.rs", "mod.rs"):
        folder = posixpath.join(folder, name.removesuffix(".rs"))
    return posixpath.join(folder, module)


def without_tests(modules: dict[str, list[str]]) -> list[str]:
    """The files that are no tests, from the test modules that each file declares."""
    tests = [inside(file, module) for file, names in modules.items() for module in names]
    hidden = {name if name.endswith(".rs") else f"{name}.rs" for name in tests}
    folders = tuple(f"{name.removesuffix('.rs')}/" for name in tests)
    return [file for file in modules if file not in hidden and not file.startswith(folders) and not TEST_FILE.search(file)]


def sizes(files: dict[str, tuple[int, list[str]]]) -> dict[str, list[int]]:
    """Lines of Rust and of SQL by crate, from the counts of all files."""
    found: dict[str, list[int]] = {}
    for file in without_tests({file: modules for file, (_, modules) in files.items()}):
        found.setdefault(part(file), [0, 0])[0 if file.endswith(".rs") else 1] += files[file][0]
    return found


def counted(path: str, text: str) -> tuple[int, list[str]]:
    return rust(text) if path.endswith(".rs") else (sql(text), [])


def working_tree() -> dict[str, list[int]]:
    paths = [path for root in ("src", "crates") for path in pathlib.Path(root).rglob("*.*") if path.is_file()]
    names = [str(path) for path in paths if RUST.match(str(path)) or SQL.match(str(path))]
    return sizes({name: counted(name, pathlib.Path(name).read_text(encoding="utf-8")) for name in names})


def contents(blobs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each blob with its text, read by one process."""
    blobs = list(blobs)
    asked = "".join(f"{blob}\n" for blob in blobs).encode()
    answer = subprocess.run(["git", "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    start = 0
    for blob in blobs:
        end = answer.index(b"\n", start)
        length = int(answer[start:end].split()[2])
        yield blob, answer[end + 1 : end + 1 + length].decode("utf-8", "replace")
        start = end + length + 2


def commits(revisions: list[str]) -> dict[str, dict[str, list[int]]]:
    """The sizes at each commit that this checkout has. Each content is read and counted once."""
    trees: dict[str, dict[str, str]] = {}
    for revision in revisions:
        listed = subprocess.run(["git", "ls-tree", "-r", revision, "src", "crates"], capture_output=True, text=True)
        if listed.returncode == 0:
            rows = (line.split(maxsplit=3) for line in listed.stdout.splitlines())
            trees[revision] = {path: blob for _, _, blob, path in rows if RUST.match(path) or SQL.match(path)}
    kinds = {blob: path for tree in trees.values() for path, blob in tree.items()}
    counts = {blob: counted(kinds[blob], text) for blob, text in contents(kinds)}
    return {revision: sizes({path: counts[blob] for path, blob in tree.items()}) for revision, tree in trees.items()}


def total(size: dict[str, list[int]]) -> tuple[int, int]:
    return sum(lines[0] for lines in size.values()), sum(lines[1] for lines in size.values())


def raises(order: str) -> bool:
    """Whether the growth of a row counts: all its orders add functions."""
    numbers = {int(number) for number in order.split()}
    return bool(numbers) and numbers <= RAISE


def main() -> int:
    now = working_tree()
    print(f"{'crate':<16} {'Rust':>8} {'SQL':>7}")
    for name, (code, statements) in sorted(now.items(), key=lambda row: -row[1][0]):
        print(f"{name:<16} {code:>8,} {statements:>7,}")
    code, statements = total(now)
    print(f"{'total':<16} {code:>8,} {statements:>7,}\n")

    with LIST.open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file, delimiter="\t"))
    history = commits([row["commit"] for row in listed])
    print(f"{'commit':<10} {'Rust':>8} {'change':>8} {'SQL':>7} {'change':>7} {'order':>5}  what")
    before = (0, 0)
    limit = PLANNED
    for row in [*listed, {"commit": "", "order": "", "what": "working tree"}]:
        commit = row["commit"]
        if commit and commit not in history:
            print(f"{commit:<10} not in this checkout: {row['what']}")
            continue
        size = total(history[commit]) if commit else (code, statements)
        changes = size[0] - before[0], size[1] - before[1]
        print(f"{commit:<10} {size[0]:>8,} {changes[0]:>+8,} {size[1]:>7,} {changes[1]:>+7,} {row['order']:>5}  {row['what']}")
        limit += changes[0] if raises(row["order"]) else 0
        before = size
    print(f"\nlimit {limit:,} = {PLANNED:,} + {limit - PLANNED:,} of the orders 7, 8 and 10 to 16; present total {code:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
