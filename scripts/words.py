#!/usr/bin/env python3
"""Vocabulary of code, comments and pages: how often words to unlearn occur, type names with several definitions, length of
sentences, and comments of rule files.

    scripts/words.py                     the working tree
    scripts/words.py --commit COMMIT     a commit of this checkout
    scripts/words.py --before COMMIT     a table: that commit, and the working tree or `--commit`
    scripts/words.py … --places          each word in code, comments and pages separately; the type names
    scripts/words.py --types             fails if a type name of the working tree has several definitions

Code and comments are those of the shipped program without tests (scripts/code_size.py), statements (.sql) and shipped settings
(default.toml, jobs/*.toml). Pages are those of root and docs without CHANGELOG. In code a word is a part of a name too: `told_at`
has "told". Rule files are those of the crates extraction, redaction and core.
"""

import argparse
import collections
import pathlib
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
import code_size
import prose
import retired_names

WORDS = {
    "told": r"told",
    "night": r"nights?|nightly",
    "what stands/is/was": r"what (?:stands?|is|was)",
    "beside": r"beside",
    "somebody, nobody, whoever": r"somebody|nobody|whoever",
    "kept": r"kept",
    "reckon": r"reckon\w*",
    "behind": r"behind",
}
PLACES = ("code", "comments", "pages")
TYPE = re.compile(r"^(?:\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait)|(?:pub(?:\([^)]*\))?\s+)?type)\s+([A-Z]\w*)")
# Names that clap's commands share. Only one of two files of a pair is compiled: the other is for builds without its feature.
# A job is named by its type: `registry.rs` makes the code of the job from it.
SHARED_TYPES = {"Args", "Cli", "Redaction"}
PAIRED = {"crates/observability/src/traces/off.rs": "crates/observability/src/traces/live.rs"}
OF = re.compile(r"\bfn of\b")
NIGHT_NAME = re.compile(r"\b\w*Night\w*\b")
SETTINGS = re.compile(r"^(?:crates/config/src/default|jobs/\w+)\.toml$")
RULES = re.compile(r"^crates/(?:extraction|redaction|core)/src/")


@dataclass
class Vocabulary:
    counts: dict[str, collections.Counter] = field(default_factory=lambda: {place: collections.Counter() for place in PLACES})
    # The files of each type name, once for each definition.
    types: dict[str, list[str]] = field(default_factory=lambda: collections.defaultdict(list))
    night_names: int = 0
    named_of: int = 0
    lengths: list[int] = field(default_factory=list)
    # Words of all kinds, the measure of the others.
    size: collections.Counter = field(default_factory=collections.Counter)
    rule_code: int = 0
    rule_comments: int = 0

    def count(self, place: str, text: str) -> None:
        """Adds the words of a text. In code the parts of a name are words."""
        self.size[place] += len(text.split())
        if place == "code":
            text = text.replace("_", " ")
        for name, pattern in WORDS.items():
            left = text
            for phrase in prose.ALLOWED.get(name, []):
                left = re.sub(phrase, "", left, flags=re.IGNORECASE)
            self.counts[place][name] += len(re.findall(rf"\b(?:{pattern})\b", left, re.IGNORECASE))

    def rust(self, path: str, lines: list[str]) -> None:
        code = [line for line in lines if not code_size.comment(line)]
        comments = [line for line in lines if code_size.comment(line)]
        self.count("code", "\n".join(code))
        # A phrase can go on in the next line.
        self.count("comments", " ".join(line.strip().lstrip("/!").strip() for line in comments))
        for line in code:
            if found := TYPE.match(line):
                self.types[found[1]].append(path)
        self.night_names += sum(len(NIGHT_NAME.findall(line)) for line in code)
        self.named_of += sum(bool(OF.search(line)) for line in code)
        if RULES.match(path):
            self.rule_code += len(code)
            self.rule_comments += len(comments)

    def marked(self, text: str, mark: str) -> None:
        """SQL or TOML: lines that begin with a mark are comments."""
        lines = [line.strip() for line in text.splitlines()]
        self.count("code", "\n".join(line for line in lines if not line.startswith(mark)))
        self.count("comments", " ".join(line.removeprefix(mark).strip() for line in lines if line.startswith(mark)))

    def page(self, path: str, text: str) -> None:
        self.count("pages", " ".join(text.split()))
        if prose.judged(pathlib.Path(path)):
            self.lengths += [len(prose.words(sentence)) for sentence in prose.sentences(text)]

    def total(self, word: str) -> int:
        return sum(self.counts[place][word] for place in PLACES)

    def repeated(self) -> list[tuple[str, int]]:
        counts = collections.Counter({name: len(paths) for name, paths in self.types.items()})
        return [(name, count) for name, count in counts.most_common() if count > 1]

    def ambiguous(self) -> list[tuple[str, list[str]]]:
        """Type names with several definitions that no exception covers."""
        found = []
        for name, paths in sorted(self.types.items()):
            left = [path for path in paths if PAIRED.get(path) not in paths]
            if name not in SHARED_TYPES and len(left) > 1:
                found.append((name, left))
        return found


def wanted(path: str) -> bool:
    page = path.endswith(".md") and path != "CHANGELOG.md" and ("/" not in path or path.startswith("docs/"))
    return page or bool(code_size.RUST.match(path) or code_size.SQL.match(path) or SETTINGS.match(path))


def working_tree() -> Iterator[tuple[str, str]]:
    for path in retired_names.files():
        if wanted(path) and pathlib.Path(path).is_file():
            yield path, pathlib.Path(path).read_text(encoding="utf-8")


def commit(revision: str) -> Iterator[tuple[str, str]]:
    listed = subprocess.run(["git", "ls-tree", "-r", revision], capture_output=True, text=True)
    if listed.returncode != 0:
        raise SystemExit(f"error: {revision} is not in this checkout")
    rows = [line.split(maxsplit=3) for line in listed.stdout.splitlines()]
    paths: dict[str, list[str]] = {}
    for _, _, blob, path in rows:
        if wanted(path):
            paths.setdefault(blob, []).append(path)
    for blob, text in code_size.contents(paths):
        for path in paths[blob]:
            yield path, text


def read(files: Iterator[tuple[str, str]]) -> Vocabulary:
    found = Vocabulary()
    sources: dict[str, tuple[list[str], list[str]]] = {}
    for path, text in files:
        if path.endswith(".rs"):
            sources[path] = code_size.product(text)
        elif path.endswith(".md"):
            found.page(path, text)
        else:
            found.marked(text, "--" if path.endswith(".sql") else "#")
    for path in code_size.without_tests({path: modules for path, (_, modules) in sources.items()}):
        found.rust(path, sources[path][0])
    return found


def rows(places: bool) -> Iterator[tuple[str, Callable[[Vocabulary], str]]]:
    """Each measure with how it is printed."""
    for name in WORDS:
        yield name, lambda found, name=name: f"{found.total(name):,}"
        for place in PLACES if places else ():
            yield f"  in {place}", lambda found, name=name, place=place: f"{found.counts[place][name]:,}"
    for place in PLACES[1:]:
        yield f"all words of {place}", lambda found, place=place: f"{found.size[place]:,}"
    yield "Night in names of code", lambda found: f"{found.night_names:,}"
    yield "type names with several definitions", lambda found: f"{len(found.repeated()):,}"
    yield "their definitions", lambda found: f"{sum(count for _, count in found.repeated()):,}"
    yield "functions named of", lambda found: f"{found.named_of:,}"
    yield "words of a sentence, median", lambda found: f"{statistics.median(found.lengths):g}"
    yield "words of a sentence, p90", lambda found: str(sorted(found.lengths)[int(0.9 * len(found.lengths))])
    yield "comment lines per 100 lines of code, rule files", lambda found: f"{100 * found.rule_comments / max(1, found.rule_code):.1f}"


def check_types() -> int:
    found = read(working_tree())
    ambiguous = found.ambiguous()
    for name, paths in ambiguous:
        print(f"error: type `{name}` is defined in {', '.join(paths)}: rename all but one", file=sys.stderr)
    if not ambiguous:
        print(f"type names: {len(found.types)} names, none ambiguous")
    return 1 if ambiguous else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Vocabulary of code, comments and pages.")
    parser.add_argument("--commit", help="this commit in place of the working tree")
    parser.add_argument("--before", help="a first column with this commit")
    parser.add_argument("--places", action="store_true", help="words by place, and the type names with several definitions")
    parser.add_argument("--types", action="store_true", help="fail if a type name has several definitions")
    asked = parser.parse_args()
    if asked.types:
        return check_types()
    columns = {asked.before: read(commit(asked.before))} if asked.before else {}
    columns[asked.commit or "working tree"] = read(commit(asked.commit) if asked.commit else working_tree())
    print("| measure |" + "".join(f" {name} |" for name in columns))
    print("|---|" + "--:|" * len(columns))
    for name, value in rows(asked.places):
        print(f"| {name} |" + "".join(f" {value(found)} |" for found in columns.values()))
    if asked.places:
        for name, found in columns.items():
            print(f"\n{name}: " + ", ".join(f"{of} {count}" for of, count in found.repeated()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
