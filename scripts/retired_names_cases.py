"""The self-test of retired_names.py: made-up names of each kind, lines that must be found and lines that must not."""

import sys

import retired_names as checked

# Names of current keys in the made-up configuration: `retries` is one, so that the last part of an old key alone means nothing.
CURRENT = {"retries", "max_retries", "wait_ms", "limit"}

RULES = [
    checked.key_rule("lathe.spin_ms", "lathe.wait_ms", CURRENT),
    checked.key_rule("lathe.retries", "lathe.max_retries", CURRENT),
    checked.key_rule("lathe.drum", "lathe.barrel", CURRENT),
    checked.key_rule("thresholds.most_chips", "thresholds.limit", CURRENT, job="milling"),
    checked.key_rule("rest_ms", "wait_ms", CURRENT, job="*"),
    checked.command_rule("lathe", "spin", "turn"),
    checked.command_rule("lathe eval", "--piece", "--part"),
    checked.column_rule("column", "lathes", "oil_left", "oil_remaining"),
    checked.column_rule("column", "lathes", "chips", "waste"),
    checked.column_rule("index", "lathes", "lathes_oily", "lathes_oil"),
    checked.rule("metric", "anamnesis_chips_total", "anamnesis_waste_total", [(checked.EVERYWHERE, r"\banamnesis_chips_total\b")]),
    checked.label_rule("spindle", "axis"),
    *(checked.listed_rule(*row) for row in (
        ("value", "queue=bench", "poison"),
        ("code", "oil_gone", "oil_missing"),
        ("title", "Chips of the day", "Waste"),
        ("heading", "The way of one chip", "Chip lifecycle"),
        ("alert", "ChipsPiled", "WasteHigh"),
        ("type", "Chuck", "Clamp"),
        ("queue", "ingest.bench", "ingest.poison"),
    )),
]

# Path, text, and the old name that must be found in it; an empty one: nothing must be found.
CASES = [
    (checked.DEFAULTS, "[lathe]\nspin_ms = 3", "lathe.spin_ms"),
    (checked.DEFAULTS, "[lathe]\n# retries = 3", "lathe.retries"),
    (checked.DEFAULTS, "[mill]\nretries = 3", ""),
    (checked.DEFAULTS, "[lathe.drum]\nlimit = 1", "lathe.drum"),
    (checked.DEFAULTS, "retry = { spin_ms = 3 }", "lathe.spin_ms"),
    ("jobs/milling.toml", "[thresholds]\nmost_chips = 3", "milling.thresholds.most_chips"),
    ("jobs/turning.toml", "rest_ms = 3", "*.rest_ms"),
    ("jobs/turning.toml", "[thresholds]\nlimit = 3", ""),
    ("helm/anamnesis/values.yaml", "config: |\n  [lathe]\n  retries = 3", "lathe.retries"),
    ("helm/anamnesis/values.yaml", "config: |\n  [lathe]\n  limit = 3\nlater: |\n  retries = 3", ""),
    ("helm/anamnesis/values.yaml", "    ChipsPiled: { enabled: true }", "ChipsPiled"),
    ("helm/anamnesis/templates/rule.yaml", '"expr" "max(ready{queue=\\"bench\\"}) > 0"', "queue=bench"),
    ("deploy/compose/compose.yaml", "  ANAMNESIS__LATHE__SPIN_MS: 3", "lathe.spin_ms"),
    ("deploy/rabbitmq/definitions.json", '"name": "anamnesis.ingest.bench"', "ingest.bench"),
    ("dashboards/a.json", '"expr": "rate(anamnesis_chips_total[1m])"', "anamnesis_chips_total"),
    ("dashboards/a.json", '"expr": "sum by (job, spindle) (x)"', "spindle"),
    ("dashboards/a.json", '"expr": "x{spindle=\\"a\\"}"', "spindle"),
    ("dashboards/a.json", '"legendFormat": "{{spindle}}"', "spindle"),
    ("dashboards/a.json", '"expr": "x{queue=~\\"bulk|bench|late\\"}"', "queue=bench"),
    ("dashboards/a.json", '"title": "Chips of the day",', "Chips of the day"),
    ("dashboards/a.json", '"description": "Chips of the day and the spindle of the bench",', ""),
    ("tests/alerts.yaml", "        alertname: AnamnesisChipsPiled", "ChipsPiled"),
    ("tests/alerts.yaml", '      - series: x{job="a", queue="bench"}', "queue=bench"),
    ("docs/faq.md", "Set `lathe.retries` to 3.", "lathe.retries"),
    ("docs/faq.md", "Set `retries` to 3.", ""),
    ("docs/faq.md", "Set `spin_ms` to 3.", "lathe.spin_ms"),
    ("docs/faq.md", "```toml\n[lathe]\nretries = 3\n```", "lathe.retries"),
    ("docs/faq.md", "The milling job has `most_chips`.", "milling.thresholds.most_chips"),
    ("docs/faq.md", "Run `anamnesis lathe spin`.", "lathe spin"),
    ("docs/faq.md", "A lathe can spin. Its spindle has chips, and a bench.", ""),
    ("docs/faq.md", "`anamnesis lathe eval FILE --piece X`", "lathe eval --piece"),
    ("docs/faq.md", "`anamnesis lathe eval FILE` and `mill --piece X`", ""),
    ("docs/faq.md", "| `x` | counter | `queue`: file, bench | Messages |", "queue=bench"),
    ("docs/faq.md", "By `spindle`.", "spindle"),
    ("docs/faq.md", "The code is `oil_gone`.", "oil_gone"),
    ("docs/faq.md", "| Mill | Chips of the day | All chips |", "Chips of the day"),
    ("docs/faq.md", "## The way of one chip", "The way of one chip"),
    ("docs/faq.md", "[there](docs/faq.md#the-way-of-one-chip)", "The way of one chip"),
    ("docs/faq.md", "A `Chuck` is an `anamnesis_mill::Chuck`.", "Chuck"),
    ("docs/faq.md", "The column `lathes.chips` is `oil_left`.", "lathes.chips"),
    ("docs/metrics.md", f"{checked.OLD_NAMES_SECTION}\n`anamnesis_chips_total`\n## Next", ""),
    ("docs/metrics.md", f"{checked.OLD_NAMES_SECTION}\nnone\n## Next\n`anamnesis_chips_total`", "anamnesis_chips_total"),
    ("docs/upgrade.md", "`anamnesis_chips_total` is `anamnesis_waste_total`", ""),
    ("README.md", "anamnesis lathe \\\n  eval \\\n  --piece X", "lathe eval --piece"),
    ("docs/schemas/a.json", '{"properties": {"spin_ms": {"type": "integer"}}}', "lathe.spin_ms"),
    ("docs/schemas/a.json", '{"properties": {"spin_ms": {"deprecated": true}}}', ""),
    ("docs/schemas/a.json", '{"$defs": {"Chuck": {"type": "object"}}}', "Chuck"),
    ("src/cli/lathe.rs", "    /// Like `anamnesis lathe spin`", "lathe spin"),
    ("src/cli/lathe.rs", '#[command(about = "Set lathe.spin_ms")]', "lathe.spin_ms"),
    ("src/cli/lathe.rs", '    let x = call("anamnesis_chips_total");', ""),
    ("src/cli/lathe/codes.tsv", "oil\toil_gone\tfault\tThere is no oil.\tadd oil", "oil_gone"),
    ("crates/observability/src/log_codes.tsv", "oil_gone\tthere is no oil\tadd oil", "oil_gone"),
    ("crates/store/sql/lathes.sql", "SELECT chips FROM lathes", "lathes.chips"),
    ("crates/store/sql/lathes.sql", "-- rows: lathes (org_id, oil_left)", "lathes.oil_left"),
    ("crates/store/sql/lathes.sql", "CREATE INDEX lathes_oily ON lathes (x)", "lathes_oily"),
    ("crates/store/sql/lathes.sql", "-- Its chips.\nSELECT waste FROM lathes WHERE kind = 'chips'", ""),
    ("crates/store/sql/tables.tsv", "lathes\toil_left\tint", "lathes.oil_left"),
    ("crates/mill/src/chuck.rs", "pub(crate) struct Chuck {", "Chuck"),
    ("crates/mill/src/chuck.rs", "pub struct Chucks; // a Chuck", ""),
    ("scripts/lathe.py", 'run("lathe", "eval", "--piece", file)', "lathe eval --piece"),
    ("scripts/lathe.sh", "[lathe]\nretries = 3", "lathe.retries"),
    ("scripts/lathe.py", 'line["code"] == "oil_gone"', "oil_gone"),
]


def self_test() -> int:
    wrong = []
    seen: set[str] = set()
    for path, text, expected in CASES:
        found = [one for surface in checked.surface_of(path) for one in checked.findings(path, surface, text, RULES)]
        names = {one.rule.old for one in found}
        seen |= {one.rule.kind for one in found}
        if expected and expected not in names or not expected and names:
            wrong.append(f"{path}: {text!r}: expected `{expected or 'nothing'}`, found {sorted(names) or 'nothing'}")
        if any(not 1 <= one.line <= text.count("\n") + 1 for one in found):
            wrong.append(f"{path}: {text!r}: a line that does not exist")
    wrong += [f"no case finds the kind `{kind}`" for kind in sorted({one.kind for one in RULES} - seen)]
    wrong += [f"no case has the surface `{name}`" for name in checked.SURFACES
              if not any(name in checked.surface_of(path) for path, *_ in CASES)]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if not wrong:
        print(f"retired names: {len(CASES)} lines of the self-test, {len(seen)} kinds")
    return 1 if wrong else 0
