"""Parts list of the shipped program in CycloneDX 1.6, held against the standard's own schema.

Crates are those that Cargo builds for the program with its default features; versions and checksums come from Cargo.lock. The
models that are part of the program stand next to them, with the checksums of models/SHA256SUMS. The same tree gives the same
bytes: time and serial number are those of the commit.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

PROGRAM = "anamnesis"
# Which model of the program has which licence; models/NOTICE has the whole of it.
MODELS = {
    "models/use-multilingual-3-pruned.safetensors": ("sentence-encoder", "Apache-2.0", "Sentence encoder of the built-in embedder"),
    "models/reader.safetensors": ("reader", "MIT", "Learned reader of the extraction profile careful"),
    "models/redaction/tagger.bin": ("redaction-tagger", "Apache-2.0", "Tagger of personal data"),
    "models/redaction/verifier.bin": ("redaction-verifier", "Apache-2.0", "Verifier of what the tagger finds"),
    "models/risk/classifier.bin": ("risk-classifier", "Apache-2.0", "Classifier of sentences that speak of risk"),
}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def built(target: str, edges: str) -> set[tuple[str, str]]:
    """Name and version of every crate that Cargo builds for the program."""
    tree = output("cargo", "tree", "--locked", "--package", PROGRAM, "--edges", edges, "--target", target, "--prefix", "none",
                  "--format", "{p}")
    words = [line.split() for line in tree.splitlines() if line]
    return {(name, version.removeprefix("v")) for name, version, *_ in words}


def sums() -> dict[str, str]:
    """Checksums of the models that sources include, by path."""
    lines = [line.split() for line in pathlib.Path("models/SHA256SUMS").read_text().splitlines()]
    named = {path: digest for digest, path in lines}
    found = output("git", "grep", "-hoE", r'include_bytes!\("(\.\./)+models/[^"]+"', "--", "*.rs")
    included = set(re.findall(r'/(models/[^"]+)"', found))
    for unknown in included ^ set(MODELS) | included - set(named):
        raise SystemExit(f"error: {unknown} is included, listed in scripts/sbom.py and in models/SHA256SUMS, or in none of them")
    return {path: named[path] for path in included}


def sha256(digest: str) -> list[HashType]:
    return [HashType(alg=HashAlgorithm.SHA_256, content=digest)]


def references(package: dict) -> list[ExternalReference]:
    kinds = {"repository": ExternalReferenceType.VCS, "homepage": ExternalReferenceType.WEBSITE,
             "documentation": ExternalReferenceType.DOCUMENTATION}
    return [ExternalReference(type=kind, url=XsUri(package[key])) for key, kind in kinds.items() if package[key]]


def crate(package: dict, checksum: str | None, runs: bool) -> Component:
    name, version = package["name"], package["version"]
    licence = (package["license"] or "").replace("/", " OR ")
    return Component(
        type=ComponentType.LIBRARY, name=name, version=version, bom_ref=f"pkg:cargo/{name}@{version}",
        purl=PackageURL("cargo", None, name, version), description=package["description"],
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=sha256(checksum) if checksum else [], external_references=references(package),
        # Macros run in the compiler and are no part of the program.
        scope=ComponentScope.REQUIRED if runs else ComponentScope.EXCLUDED,
    )


def model(path: str, digest: str) -> Component:
    name, licence, description = MODELS[path]
    return Component(
        type=ComponentType.MACHINE_LEARNING_MODEL, name=name, version=f"sha256-{digest[:12]}", bom_ref=f"model:{name}",
        description=description, licenses=[LicenseFactory().make_from_string(licence)], hashes=sha256(digest),
        scope=ComponentScope.REQUIRED,
        properties=[Property(name="anamnesis:file", value=path), Property(name="anamnesis:notice", value="models/NOTICE")],
    )


def assemble(target: str) -> Bom:
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1"))
    lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock}
    shipped, running = built(target, "normal"), built(target, "normal,no-proc-macro")
    packages = {entry["id"]: entry for entry in metadata["packages"] if (entry["name"], entry["version"]) in shipped}
    if len(packages) != len(shipped):
        raise SystemExit(f"error: Cargo's metadata describes {len(packages)} of {len(shipped)} crates")
    components = {}
    for identity, package in packages.items():
        key = package["name"], package["version"]
        components[identity] = crate(package, checksums[key], key in running)
    root = next(identity for identity, package in packages.items() if package["name"] == PROGRAM)
    program = components.pop(root)
    program.type, program.scope = ComponentType.APPLICATION, None

    bom = Bom()
    bom.metadata.component = program
    models = [model(path, digest) for path, digest in sorted(sums().items())]
    for component in [*components.values(), *models]:
        bom.components.add(component)
    everything = {**components, root: program}
    for node in metadata["resolve"]["nodes"]:
        if node["id"] not in everything:
            continue
        normal = [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        needs = [everything[pkg] for pkg in normal if pkg in everything]
        bom.register_dependency(everything[node["id"]], needs + (models if node["id"] == root else []))
    return bom


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="target/sbom/anamnesis.cdx.json")
    parser.add_argument("--target", default="x86_64-unknown-linux-gnu", help="as for cargo: the image's unless given")
    arguments = parser.parse_args()

    bom = assemble(arguments.target)
    commit, seconds = output("git", "log", "-1", "--format=%H %ct").split()
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    bom.metadata.properties.add(Property(name="anamnesis:target", value=arguments.target))
    bom.metadata.properties.add(Property(name="anamnesis:commit", value=commit))
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"urn:anamnesis:{commit}:{arguments.target}")

    text = JsonV1Dot6(bom).output_as_string(indent=2)
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault:
        print(f"error: the list breaks the schema of CycloneDX 1.6: {fault}", file=sys.stderr)
        sys.exit(1)
    path = pathlib.Path(arguments.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    excluded = sum(component.scope == ComponentScope.EXCLUDED for component in bom.components)
    kinds = [component.type for component in bom.components]
    print(f"{path}: {kinds.count(ComponentType.LIBRARY)} crates ({excluded} of them macros), "
          f"{kinds.count(ComponentType.MACHINE_LEARNING_MODEL)} models, valid CycloneDX 1.6")


main()
