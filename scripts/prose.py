#!/usr/bin/env python3
"""How easily the written pages read: for each Markdown page the number of sentences, the median and the 90th percentile
of their words, and the retired words that it still has.

A sentence is prose that a person reads: paragraphs, list items, and table cells of four words or more. Left out are code
blocks, HTML comments and headings. Inline code, figures and quoted sample text count as one word each.

Exit code 1 if a page of root or docs has a median above 18 words or a retired word, or if the glossary has more than 60
terms. Generated pages and the change log are printed only, and so are pages outside root and docs.
"""

import pathlib
import re
import statistics
import subprocess
import sys

MEDIAN = 18
GLOSSARY = pathlib.Path("docs/glossary.md")
# A longer list is not read: a term that needs no line is explained where it is used.
TERMS = 60
GENERATED = {f"docs/{page}.md" for page in
             ("command-line", "configuration", "doctor", "error-codes", "features", "jobs", "log", "metrics")}
PRINTED_ONLY = GENERATED | {"CHANGELOG.md"}

# Words that a reader of the field does not expect, and what to write instead.
RETIRED = {
    "told": (r"\btold\b", "said, stated, reported"),
    "reckon": (r"\breckon\w*", "compute"),
    "whoever": (r"\bwhoever\b", "name the person or the process"),
    "beside": (r"\bbeside\b", "next to, in addition to, during"),
    "somebody": (r"\bsomebody\b", "a person, a user, another process"),
    "nobody": (r"\bnobody\b", "no one with a name: no reviewer, no process"),
    "what stands": (r"\b(?:what|that|which) stands?\b", "the current value"),
    "let go": (r"\blet(?:s|ting)? go\b", "drop, delete"),
    "otherwise than": (r"\botherwise than\b", "differently"),
    "night": (r"\bnights?\b", "job run, run"),
    "behind": (r"\bbehind\b", "after, in arrears, without notice"),
}
# Phrases in which a retired word has its ordinary meaning.
ALLOWED = {
    "behind": [r"behind a (?:proxy|pooler|load balancer|service|front end|feature)", r"falls? behind", r"ideas? behind"],
    "night": [r"at night"],
}

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
# A full stop after these ends no sentence.
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|No|no|cf|Dr|Sr|Sra|Inc|approx|al|p|pp|art|Art)\.$")


def blocks(text: str) -> list[str]:
    """Paragraphs, list items and table cells of a page, without code."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    found: list[str] = []
    current: list[str] = []
    fence = ""
    in_list = False

    def end() -> None:
        if current:
            found.append(" ".join(current))
            current.clear()

    blank = True
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark:
            end()
            fence = "" if fence == mark[1] else (fence or mark[1])
        elif fence:
            continue
        elif not line.strip():
            end()
            blank = True
            continue
        elif line.startswith("    ") and blank and not in_list:
            continue
        elif line.startswith("#") or line.startswith(">"):
            end()
            in_list = False
        elif line.lstrip().startswith("|"):
            end()
            if set(line) - set("|-: "):
                cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
                found.extend(cell.strip() for cell in cells if len(words(plain(cell))) >= 4)
        elif ITEM.match(line):
            end()
            in_list = True
            current.append(ITEM.sub("", line))
        else:
            if not line.startswith(" ") and blank:
                in_list = False
            current.append(line.strip())
        blank = False
    end()
    return found


def plain(text: str) -> str:
    """The text as it is read: code and quoted samples are one word, a link is its text."""
    text = re.sub(r"``.+?``|`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\"[^\"]*\"|“[^”]*”|«[^»]*»", "QUOTE", text)
    text = re.sub(r"https?://\S+", "LINK", text)
    return re.sub(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}", "", text)


def words(text: str) -> list[str]:
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences(text: str) -> list[str]:
    found = []
    for block in blocks(text):
        start = 0
        shown = plain(block)
        for stop in re.finditer(r"[.!?…][\"”»)\]]*(?=\s+[A-ZÁÉÍÓÚÑ¿¡0-9\"“«(\[]|\s*$)", shown):
            if ABBREVIATION.search(shown[: stop.start() + 1]):
                continue
            found.append(shown[start : stop.end()])
            start = stop.end()
        found.append(shown[start:])
    return [sentence for sentence in found if len(words(sentence)) >= 3]


def retired(text: str) -> dict[str, int]:
    shown = " ".join(plain(block) for block in blocks(text))
    shown += " " + " ".join(line for line in text.splitlines() if line.startswith("#"))
    counts = {}
    for name, (pattern, _) in RETIRED.items():
        left = shown
        for phrase in ALLOWED.get(name, []):
            left = re.sub(phrase, "", left, flags=re.IGNORECASE)
        counts[name] = len(re.findall(pattern, left, re.IGNORECASE))
    return {name: count for name, count in counts.items() if count}


def pages() -> list[pathlib.Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True
    )
    if listed.returncode == 0 and listed.stdout:
        paths = [pathlib.Path(line) for line in listed.stdout.splitlines()]
    else:
        paths = [*pathlib.Path(".").glob("*.md"), *pathlib.Path("docs").rglob("*.md")]
    return sorted((path for path in set(paths) if path.is_file()), key=str)


def terms(text: str) -> int:
    """The rows of the glossary's table, without its head and the line below it."""
    return max(0, sum(line.startswith("|") for line in text.splitlines()) - 2)


def judged(page: pathlib.Path) -> bool:
    return str(page) not in PRINTED_ONLY and (len(page.parts) == 1 or page.parts[0] == "docs")


def main() -> int:
    asked = [pathlib.Path(name) for name in sys.argv[1:] if not name.startswith("-")]
    longest = next((int(name[2:]) for name in sys.argv[1:] if re.fullmatch(r"-n\d+", name)), 0)
    failed = []
    listed = 0
    print(f"{'page':<42} {'sentences':>9} {'median':>6} {'p90':>4}  retired words")
    for page in asked or pages():
        text = page.read_text(encoding="utf-8")
        if page == GLOSSARY:
            listed = terms(text)
        read = sentences(text)
        lengths = sorted(len(words(sentence)) for sentence in read)
        if not lengths:
            continue
        median = statistics.median(lengths)
        ninetieth = lengths[min(len(lengths) - 1, int(0.9 * len(lengths)))]
        found = retired(text)
        said = ", ".join(f"{name} {count}" for name, count in found.items())
        wrong = judged(page) and (median > MEDIAN or bool(found))
        if wrong:
            failed.append(page)
        mark = "*" if wrong else " "
        print(f"{mark}{page!s:<41} {len(lengths):>9} {median:>6g} {ninetieth:>4}  {said}")
        for sentence in sorted(read, key=lambda one: -len(words(one)))[:longest]:
            print(f"    {len(words(sentence)):>3}: {sentence.strip()}")
    if failed:
        print(f"error: {len(failed)} pages have a median above {MEDIAN} words or a retired word (*)", file=sys.stderr)
    if listed > TERMS:
        print(f"error: {GLOSSARY} has {listed} terms, at most {TERMS} are allowed", file=sys.stderr)
    if failed or listed > TERMS:
        return 1
    print(f"pages: median at most {MEDIAN} words, no retired word")
    return 0


if __name__ == "__main__":
    sys.exit(main())
