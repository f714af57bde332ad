"""Validates an AsyncAPI document against the JSON Schema that AsyncAPI publishes for its version, and each payload's schema as
a JSON Schema. Refuses copies that were broken on purpose, so that a check that takes everything is noticed."""

import copy
import json
import pathlib
import sys

import jsonschema
import referencing

folder, path = map(pathlib.Path, sys.argv[1:])
document = json.loads(path.read_text())
schema = json.loads((folder / f"{document['asyncapi']}.json").read_text())
# Every definition is under its own address.
definitions = {address: referencing.Resource.from_contents(one, default_specification=referencing.jsonschema.DRAFT7)
               for address, one in schema["definitions"].items()}
validator = jsonschema.Draft7Validator(schema, registry=referencing.Registry().with_resources(definitions.items()))


def wrong(candidate) -> list[str]:
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in validator.iter_errors(candidate)]


found = wrong(document)
for name, payload in document["components"]["schemas"].items():
    try:
        jsonschema.Draft7Validator.check_schema(payload)
    except jsonschema.SchemaError as error:
        found.append(f"components/schemas/{name}: {error.message[:200]}")
broken = {
    "an action that does not exist": lambda d: next(iter(d["operations"].values())).update(action="publish"),
    "a channel binding without an exchange": lambda d: next(
        c for c in d["channels"].values() if c["bindings"]["amqp"]["is"] == "routingKey")["bindings"]["amqp"].pop("exchange"),
    "no title": lambda d: d["info"].pop("title"),
    "a field that AsyncAPI does not know": lambda d: d.update(topics={}),
}
for name, breaks in broken.items():
    candidate = copy.deepcopy(document)
    breaks(candidate)
    if not wrong(candidate):
        found.append(f"the schema takes {name}: the check is void")
for problem in found:
    print(f"error: {path}: {problem}", file=sys.stderr)
if found:
    raise SystemExit(1)
print(f"AsyncAPI {document['asyncapi']}: {len(document['channels'])} channels, {len(document['operations'])} operations, "
      f"{len(document['components']['messages'])} messages; {len(broken)} broken copies refused")
