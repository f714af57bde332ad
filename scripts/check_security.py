"""The pages on security name tests that exist.

Every `FILE::TEST` is a function of that file that runs as a test; every script and every make target that is named is there. In
a table whose last column is "test", each row names one of these, or says "organisation" or "open". What waits for the audit trail
says "(audit: pending)", until tests/suite/audit.rs exists.
"""

import pathlib
import re
import sys

PAGES = [pathlib.Path("SECURITY.md"), *sorted(pathlib.Path("docs/security").glob("*.md")), pathlib.Path("docs/retention.md")]
AUDIT = pathlib.Path("tests/suite/audit.rs")
PENDING = "(audit: pending)"
CITED = re.compile(r"`((?:tests|crates|src|tools|examples)/[\w./-]+\.rs)::(\w+)`")
# A list of proofs that a macro makes a test of, for each engine; and the attributes above a test.
LISTS = re.compile(r"\bon_every_(?:engine|program)!\s*\(([^;]*?)\);", re.DOTALL)
TEST = re.compile(r"#\[(?:tokio::)?test\b[^\n]*\]\s*(?:(?:#\[[^\n]*\]|//[^\n]*)\s*)*(?:pub )?(?:async )?fn (\w+)")

known: dict[str, set[str]] = {}


def tests_of(path: str) -> set[str]:
    """Functions of a file that run as tests."""
    if path not in known:
        text = pathlib.Path(path).read_text()
        listed = {name for block in LISTS.findall(text) for name in re.findall(r"\w+", block)}
        defined = set(re.findall(r"\bfn (\w+)", text))
        known[path] = set(TEST.findall(text)) | (listed & defined)
    return known[path]


def missing_tests(text: str) -> list[str]:
    found = []
    for path, name in CITED.findall(text):
        if not pathlib.Path(path).is_file():
            found.append(f"there is no {path}")
        elif name not in tests_of(path):
            found.append(f"{path} has no test {name}")
    return found


def missing_programs(text: str, targets: set[str]) -> list[str]:
    scripts = [path for path in re.findall(r"`(scripts/[\w./-]+)`", text) if not pathlib.Path(path).is_file()]
    made = [name for name in re.findall(r"`make ([\w-]+)", text) if name not in targets]
    return [f"there is no {path}" for path in scripts] + [f"there is no make target {name}" for name in made]


def bare_rows(text: str) -> list[str]:
    """Rows of tables with a column "test" at their end that name none and say nothing in its place."""
    found, asked = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            asked = False
        elif cells[-1] == "test":
            asked = True
        elif asked and set(line) - set("|-: "):
            last = cells[-1]
            says = CITED.search(last) or re.search(r"`(?:scripts/|make )|\b(?:organisation|open)\b", last) or PENDING in last
            if not says:
                found.append(f"a row names no test and says neither organisation nor open: {line[:100]}")
    return found


def main() -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", pathlib.Path("Makefile").read_text(), re.MULTILINE))
    problems, cited = [], 0
    for page in PAGES:
        text = page.read_text()
        cited += len(CITED.findall(text))
        of_page = missing_tests(text) + missing_programs(text, targets) + bare_rows(text)
        if AUDIT.exists() and PENDING in text:
            of_page.append(f"{PENDING} is still there, and so is {AUDIT}: name its tests")
        problems += [f"{page}: {problem}" for problem in of_page]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"pages on security: {cited} citations of tests, all of them there")


main()
