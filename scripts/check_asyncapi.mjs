// AsyncAPI's own parser over a document: every diagnostic of severity error is printed, and fails.
import { readFileSync } from "node:fs";

import { Parser } from "@asyncapi/parser";

const path = process.argv[2];
const { document, diagnostics } = await new Parser().parse(readFileSync(path, "utf8"), { source: path });
const errors = diagnostics.filter((one) => one.severity === 0);
for (const one of errors) console.error(`error: ${path}: ${one.path.join("/")}: ${one.message}`);
if (errors.length > 0 || !document) process.exit(1);
console.log(`AsyncAPI parser: ${document.operations().all().length} operations, no error`);
