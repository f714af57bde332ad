#!/usr/bin/env python3
"""Lines of own code of the shipped program: a table by crate of the working tree, and the growth by piece of work, for the
commits of docs/code_size.tsv (columns commit and what; each commit is the last one of its piece of work).

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

LIST = pathlib.Path("docs/code_size.tsv")
RUST = re.compile(r"^(?:src|crates/[^/]+/src)/.*\.rs$")
SQL = re.compile(r"^(?:src|crates)/.*\.sql$")
TEST_FILE = re.compile(r"(?:^|/)(?:\w*tests\.rs$|tests/)")
BLOCK_COMMENT = re.compile(r"^\s*/\*.*?\*/", re.DOTALL | re.MULTILINE)
MODULE = re.compile(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);")
PATH = re.compile(r'^#\[path = "([^"]+)"\]')


def rust(text: str) -> tuple[int, list[str]]:
    """Lines of code of a file, and its test modules that are files: their name, or their path."""
    modules: list[str] = []
    count = 0
    # None: no test item; else the indentation of the item that is skipped.
    skipped: str | None = None
    announced, path = False, ""
    for line in BLOCK_COMMENT.sub("", text).splitlines():
        code = line.strip()
        if skipped is not None:
            indent = line[: len(line) - len(line.lstrip())]
            if indent == skipped and code[:1] in ("}", "]", ")") and code.endswith(("}", "};", "];", ");")):
                skipped = None
        elif not code or code.startswith("//"):
            continue
        elif code == "#[cfg(test)]":
            announced, path = True, ""
        elif not announced:
            count += 1
        elif code.startswith("#["):
            path = found[1] if (found := PATH.match(code)) else path
        else:
            announced = False
            if found := MODULE.match(code):
                modules.append(path or found[1])
            if not code.endswith((";", "}")):
                skipped = line[: len(line) - len(line.lstrip())]
    return count, modules


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


def sizes(files: dict[str, tuple[int, list[str]]]) -> dict[str, list[int]]:
    """Lines of Rust and of SQL by crate, from the counts of all files."""
    tests = [inside(file, module) for file, (_, modules) in files.items() for module in modules]
    hidden = {name if name.endswith(".rs") else f"{name}.rs" for name in tests}
    folders = tuple(f"{name.removesuffix('.rs')}/" for name in tests)
    found: dict[str, list[int]] = {}
    for file, (count, _) in files.items():
        if file in hidden or file.startswith(folders) or TEST_FILE.search(file):
            continue
        found.setdefault(part(file), [0, 0])[0 if file.endswith(".rs") else 1] += count
    return found


def counted(path: str, text: str) -> tuple[int, list[str]]:
    return rust(text) if path.endswith(".rs") else (sql(text), [])


def working_tree() -> dict[str, list[int]]:
    paths = [path for root in ("src", "crates") for path in pathlib.Path(root).rglob("*.*") if path.is_file()]
    names = [str(path) for path in paths if RUST.match(str(path)) or SQL.match(str(path))]
    return sizes({name: counted(name, pathlib.Path(name).read_text(encoding="utf-8")) for name in names})


def commits(revisions: list[str]) -> dict[str, dict[str, list[int]]]:
    """The sizes at each commit that this checkout has. Each content is read and counted once."""
    trees: dict[str, dict[str, str]] = {}
    for revision in revisions:
        listed = subprocess.run(["git", "ls-tree", "-r", revision, "src", "crates"], capture_output=True, text=True)
        if listed.returncode == 0:
            rows = (line.split(maxsplit=3) for line in listed.stdout.splitlines())
            trees[revision] = {path: blob for _, _, blob, path in rows if RUST.match(path) or SQL.match(path)}
    kinds = {blob: path for tree in trees.values() for path, blob in tree.items()}
    asked = "".join(f"{blob}\n" for blob in kinds).encode()
    answer = subprocess.run(["git", "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    counts: dict[str, tuple[int, list[str]]] = {}
    start = 0
    for blob, path in kinds.items():
        end = answer.index(b"\n", start)
        length = int(answer[start:end].split()[2])
        counts[blob] = counted(path, answer[end + 1 : end + 1 + length].decode("utf-8", "replace"))
        start = end + length + 2
    return {revision: sizes({path: counts[blob] for path, blob in tree.items()}) for revision, tree in trees.items()}


def total(size: dict[str, list[int]]) -> tuple[int, int]:
    return sum(lines[0] for lines in size.values()), sum(lines[1] for lines in size.values())


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
    print(f"{'commit':<10} {'Rust':>8} {'change':>8} {'SQL':>7} {'change':>7}  what")
    before = (0, 0)
    for row in [*listed, {"commit": "", "what": "working tree"}]:
        commit = row["commit"]
        if commit and commit not in history:
            print(f"{commit:<10} not in this checkout: {row['what']}")
            continue
        size = total(history[commit]) if commit else (code, statements)
        changes = size[0] - before[0], size[1] - before[1]
        print(f"{commit:<10} {size[0]:>8,} {changes[0]:>+8,} {size[1]:>7,} {changes[1]:>+7,}  {row['what']}")
        before = size
    return 0


if __name__ == "__main__":
    sys.exit(main())
