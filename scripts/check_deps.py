"""Holds the tree of dependencies to deny.toml: no banned crate is built, every licence is an allowed one."""

import re
import subprocess
import sys
import tomllib

with open("deny.toml", "rb") as file:
    rules = tomllib.load(file)
allowed = set(rules["licenses"]["allow"])
banned = {entry["crate"]: entry["reason"] for entry in rules["bans"]["deny"]}


def accepted(expression: str) -> bool:
    """Whether some choice within an SPDX expression is made of allowed licences only."""
    expression = expression.replace("/", " OR ")
    tokens = re.findall(r"\(|\)|[A-Za-z0-9.+-]+", expression)
    words = []
    for token in tokens:
        if token in ("(", ")"):
            words.append(token)
        elif token in ("OR", "AND"):
            words.append(token.lower())
        elif token == "WITH":
            words.append("and")  # an exception only adds rights; its name is allowed below
        else:
            words.append(str(token in allowed or token.endswith("-exception")))
    return bool(words) and bool(eval(" ".join(words), {"__builtins__": {}}))


tree = subprocess.run(
    ["cargo", "tree", "--locked", "--all-features", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p}|{l}"],
    check=True, capture_output=True, text=True,
).stdout
problems = []
crates = sorted({line.removesuffix(" (*)") for line in tree.splitlines() if line})
for line in crates:
    package, licence = line.split("|", 1)
    name = package.split(" ")[0]
    if name in banned:
        problems.append(f"{name} is banned: {banned[name]}")
    if not accepted(licence):
        problems.append(f"{package} has the licence '{licence}', which deny.toml does not allow")
for problem in problems:
    print(f"error: {problem}", file=sys.stderr)
if problems:
    sys.exit(1)
print(f"dependencies: {len(crates)} crates, none banned, every licence allowed")
