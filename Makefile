# Two commands do everything on a machine with a Rust toolchain and a package manager: `make demo` and `make test`.
# Each installs or starts what it needs, into .cache/ (ANAMNESIS_CACHE_DIR) and target/ (CARGO_TARGET_DIR).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CACHE := $(or $(ANAMNESIS_CACHE_DIR),$(CURDIR)/.cache)
export PATH := $(CACHE)/tools/bin:$(PATH)

.PHONY: help setup demo test examples scenarios features facts readers proofs check check-scripts check-deps check-helm check-alerts check-dashboards check-metrics dashboard-pictures day check-models check-security check-asyncapi check-release check-advisories prose advisories sbom lint fmt docs bench replay campaign campaign-quick upgrade seeded-bugs clean

help: ## What can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Look for the toolchain; install what is missing
	@scripts/setup.sh

demo: setup ## Sample documents become memory, then 30 simulated nights pass
	@cargo build --locked --bin anamnesis
	@cargo run --locked --quiet -- demo

# With traces, which the shipped program leaves out: one build serves all tests. `make demo` and the campaigns run without.
test: setup check check-dashboards check-metrics ## Every check and test; CI adds `make lint`, `make demo` and `make campaign-quick`
	@scripts/nextest.sh
	@export ANAMNESIS_TEST_POSTGRES_URL=$${ANAMNESIS_TEST_POSTGRES_URL:-$$(scripts/postgres.sh start)}; \
	export ANAMNESIS_TEST_AMQP_URL=$${ANAMNESIS_TEST_AMQP_URL:-$$(scripts/rabbitmq.sh start)}; \
	ANAMNESIS_SCENARIOS=$${ANAMNESIS_SCENARIOS:-quick} cargo nextest run --locked --workspace --features otel --no-fail-fast

examples: setup ## The READMEs of the crates that can be used alone: their code compiles and their examples run
	@cargo build --locked --quiet --workspace --examples
	@cargo test --locked --quiet --workspace --doc
	@for example in passages redact extract similarity; do "$${CARGO_TARGET_DIR:-target}/debug/examples/$$example"; done
	@"$${CARGO_TARGET_DIR:-target}/debug/examples/check" < samples/lucia.ndjson

proofs: setup ## The long proofs: 2,000 orders, 10⁶ random operations, 10,000 changes of the audit trail, 50 starts of eight programs
	@scripts/nextest.sh
	@export ANAMNESIS_TEST_POSTGRES_URL=$${ANAMNESIS_TEST_POSTGRES_URL:-$$(scripts/postgres.sh start)}; \
	ANAMNESIS_TEST_LONG=1 cargo nextest run --locked --no-fail-fast --test suite store:: audit::no_change_of_the_trail

broker-segments: setup ## When words of a message that was worked leave the broker's disk: measured on a private node
	@scripts/broker_segments.sh

campaign-quick: setup ## The proving ground, quick, on both stores: kills, restarts, broken lines, keys away; one JSON line each
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@cargo run --locked --quiet --example campaign -- --store sqlite --messages 120 --kills 5 --key-faults 4
	@cargo run --locked --quiet --example campaign -- --keys table --key-faults 5

campaign: setup ## The proving ground at length: keys in a table, then in a file: 10,000 messages, 200 kills, 40 key faults …
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@cargo run --locked --quiet --example campaign -- --messages 2000 --kills 40 --broker-restarts 2 --database-crashes 6 --keys table --key-faults 40 --pause 1200 --patience 900
	@cargo run --locked --quiet --example campaign -- --messages 10000 --kills 200 --broker-restarts 10 --database-crashes 20 --keys file --key-faults 40 --pause 1200 --half-open --patience 1800

seeded-bugs: setup ## Break each promise on purpose and show that its proof notices
	@scripts/seeded_bugs.sh

check: prose check-scripts check-deps check-models check-security check-asyncapi check-release check-helm check-alerts check-advisories sbom ## What is not Rust: scripts, Dockerfile, dependencies with their advisories and parts list, models, pages on security, Helm chart, alerts

check-scripts:
	@bin=$$(scripts/python.sh); \
	"$$bin/shellcheck" --external-sources --source-path=SCRIPTDIR scripts/*.sh .ci/run; \
	"$$bin/hadolint" Dockerfile; \
	echo "scripts and Dockerfile: no findings"

check-deps: setup
	@scripts/check_deps.sh
	@scripts/machete.sh

check-models:
	@scripts/check_models.sh

check-security:
	@scripts/check_security.sh

# Where no database can be had, nothing was checked, and that is said.
check-advisories: setup
	@scripts/advisories.sh || [ $$? -eq 3 ]

check-asyncapi:
	@scripts/check_asyncapi.sh

check-release:
	@scripts/check_release.sh

check-helm:
	@scripts/check_helm.sh

check-alerts:
	@scripts/check_alerts.sh

check-dashboards: setup ## Every query of dashboards and alerts is answered by a real Prometheus that scrapes a worker under load
	@cargo build --locked --quiet --bin anamnesis
	@scripts/check_dashboards.sh

check-metrics: setup ## Every family of metrics moves in a run through the front door
	@cargo build --locked --quiet --bin anamnesis
	@scripts/check_metrics.sh

# MINUTES=N is a shorter piece of the day, DAY="…" has other options of scripts/day.py. The deploy needs a second build: the same
# sources under another revision.
day: setup ## A day in production in an hour: servers, three workers, four organisations, a deploy, outages; pictures, alerts, objectives
	@out=$${CARGO_TARGET_DIR:-target}/day; revision=$$(git rev-parse --short HEAD 2>/dev/null || echo day); mkdir -p "$$out"; \
	for build in "$$revision" "$$revision-next"; do \
		ANAMNESIS_REVISION=$$build cargo build --locked --quiet --bin anamnesis; \
		cp "$${CARGO_TARGET_DIR:-target}/debug/anamnesis" "$$out/anamnesis$${build#"$$revision"}"; \
	done; \
	"$$(scripts/python.sh)/python" scripts/day.py --minutes $(or $(MINUTES),60) --program "$$out/anamnesis" --next "$$out/anamnesis-next" $(DAY)

dashboard-pictures: ## The pictures of the dashboards again, from the answers that the last `make day` kept
	@"$$(scripts/python.sh)/python" scripts/dashboard_pictures.py --answers "$${CARGO_TARGET_DIR:-target}/day/answers.json" --out "$${CARGO_TARGET_DIR:-target}/day"

prose: ## Length of sentences and retired words of each written page
	@python3 scripts/schema_diagram.py --check
	@python3 scripts/dashboard_page.py --check
	@python3 scripts/prose.py

advisories: setup ## Known vulnerabilities of the dependencies; fails, and says so, where no advisory database can be had
	@scripts/advisories.sh

sbom: setup ## Parts list of the shipped program: target/sbom/anamnesis.cdx.json (CycloneDX), with its models
	@scripts/sbom.sh

lint: setup ## Formatting and clippy, warnings are errors
	@cargo fmt --all --check
	@cargo clippy --locked --workspace -- -D warnings
	@cargo clippy --locked --workspace --all-targets --features otel -- -D warnings
	@cargo clippy --locked --package anamnesis-crypto --lib --features kms-aws -- -D warnings

fmt: ## Format the sources
	@cargo fmt --all

upgrade: setup ## An upgrade under load from the version before: workers, migration, rolling replacement; one table and a JSON line
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@program=$$(scripts/release_program.sh $(or $(FROM),0.1.0)); \
	cargo run --locked --quiet --example campaign -- --upgrade-from "$$program" --messages 3000

docs: setup ## Write again what is made from the code (docs/metrics.md, phrasebook.bin …)
	@scripts/nextest.sh
	@ANAMNESIS_UPDATE_DOCS=1 cargo nextest run --locked --workspace -E 'test(generated_docs) + test(the_printed_book_of_phrases)'
	@"$$(scripts/python.sh)/python" scripts/helm_readme.py --write

facts: setup ## Whole documents in, memory out: what is remembered rightly, for each set of tests/data/facts; last line JSON
	@cargo build --locked --quiet --bin anamnesis
	@python3 scripts/score_facts.py tests/data/facts/*.jsonl --anamnesis "$${CARGO_TARGET_DIR:-target}/debug/anamnesis"

scenarios: setup ## Every scenario of tests/scenarios, on both engines
	@ANAMNESIS_TEST_POSTGRES_URL=$$(scripts/postgres.sh start) cargo nextest run --locked --test scenarios

features: setup ## docs/features.md from the scenarios and their tags
	@ANAMNESIS_UPDATE_DOCS=1 cargo nextest run --locked --test scenarios -E 'test(page of features)'

readers: setup ## Rules alone, and with the learned reader, on the cold sets of whole documents (half an hour); last lines JSON
	@cargo build --locked --quiet --bin anamnesis
	@for profile in fast careful; do python3 scripts/score_facts.py tests/data/cold/[d-o].jsonl --profile $$profile \
		--anamnesis "$${CARGO_TARGET_DIR:-target}/debug/anamnesis"; done

bench: setup ## Benchmarks: tables, and one JSON line each
	@cargo build --locked --profile dist --quiet --package anamnesis --package anamnesis-bench
	@cargo run --locked --profile dist --quiet --package anamnesis-bench -- ingest

replay: setup ## Ingest FILES="…" twice and look for each document again: counts, memory, changed tables
	@cargo build --locked --release --quiet --bin anamnesis
	@scripts/replay.py $(FILES)

clean: ## Remove what was built, fetched or started here
	@scripts/postgres.sh stop
	@scripts/rabbitmq.sh stop
	@cargo clean
	@rm -rf "$(CACHE)"
