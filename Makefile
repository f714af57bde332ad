# Two commands do everything on a machine with a Rust toolchain and a package manager: `make demo` and `make test`.
# Each installs or starts what it needs, into .cache/ (ANAMNESIS_CACHE_DIR) and target/ (CARGO_TARGET_DIR).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CACHE := $(or $(ANAMNESIS_CACHE_DIR),$(CURDIR)/.cache)
export PATH := $(CACHE)/tools/bin:$(PATH)

.PHONY: help setup demo test examples scenarios features facts readers proofs check check-scripts check-deps check-helm check-alerts check-dashboards check-metrics dashboard-pictures day check-models check-security check-asyncapi check-release check-advisories prose comments retired-names advisories sbom lint fmt docs bench code-size replay campaign campaign-quick broker-segments upgrade upgrade-quick seeded-bugs clean type-names visibility

##@ Set up
help: ## Print this list
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Look for the toolchain; install what is missing
	@scripts/setup.sh

clean: ## Remove what was built, fetched or started here
	@scripts/postgres.sh stop
	@scripts/rabbitmq.sh stop
	@cargo clean
	@rm -rf "$(CACHE)"

##@ Everyday
demo: setup ## Sample documents become memory, then 30 simulated days pass
	@cargo build --locked --bin anamnesis
	@cargo run --locked --quiet -- demo

# Two tests more than there are processors: a year of job runs occupies one for minutes, and others wait for servers.
# With traces, which the shipped program leaves out: one build serves all tests. `make demo` and the campaigns run without.
test: setup check check-dashboards check-metrics ## Every check and test; CI adds `make lint`, `make demo`, `make campaign-quick` and `make upgrade-quick`
	@scripts/nextest.sh
	@export ANAMNESIS_TEST_POSTGRES_URL=$${ANAMNESIS_TEST_POSTGRES_URL:-$$(scripts/postgres.sh start)}; \
	export ANAMNESIS_TEST_AMQP_URL=$${ANAMNESIS_TEST_AMQP_URL:-$$(scripts/rabbitmq.sh start)}; \
	export NEXTEST_TEST_THREADS=$${NEXTEST_TEST_THREADS:-$$(($$(getconf _NPROCESSORS_ONLN) + 2))}; \
	ANAMNESIS_SCENARIOS=$${ANAMNESIS_SCENARIOS:-quick} cargo nextest run --locked --workspace --features otel --no-fail-fast

lint: setup ## Formatting and clippy, warnings are errors
	@cargo fmt --all --check
	@cargo clippy --locked --workspace -- -D warnings
	@cargo clippy --locked --workspace --all-targets --features otel,kms-aws -- -D warnings

fmt: ## Format the sources
	@cargo fmt --all

docs: setup ## Write generated pages and files again (docs/metrics.md, phrases.bin …)
	@scripts/nextest.sh
	@ANAMNESIS_UPDATE_DOCS=1 cargo nextest run --locked --workspace -E 'test(generated_docs) + test(the_serialized_phrase_trie)'
	@"$$(scripts/python.sh)/python" scripts/helm_readme.py --write

features: setup ## docs/features.md from the scenarios and their tags
	@ANAMNESIS_UPDATE_DOCS=1 cargo nextest run --locked --test scenarios -E 'test(page of features)'

scenarios: setup ## Every scenario of tests/scenarios, on both engines
	@ANAMNESIS_TEST_POSTGRES_URL=$$(scripts/postgres.sh start) cargo nextest run --locked --test scenarios

examples: setup ## Code of the READMEs of crates that can be used alone: compile and run
	@cargo build --locked --quiet --workspace --examples
	@cargo test --locked --quiet --workspace --doc
	@for example in passages redact extract similarity; do "$${CARGO_TARGET_DIR:-target}/debug/examples/$$example"; done
	@"$${CARGO_TARGET_DIR:-target}/debug/examples/check" < samples/lucia.ndjson

##@ Checks
check: prose comments retired-names type-names visibility check-scripts check-deps check-models check-security check-asyncapi check-release check-helm check-alerts check-advisories sbom ## All that is not Rust: scripts, container file, dependencies, models, pages, chart, alerts

check-scripts: ## Shell scripts and container file
	@bin=$$(scripts/python.sh); \
	"$$bin/shellcheck" --external-sources --source-path=SCRIPTDIR scripts/*.sh .ci/run; \
	"$$bin/hadolint" Dockerfile; \
	echo "scripts and Dockerfile: no findings"

check-deps: setup ## Licences, sources and duplicates of dependencies; unused ones
	@scripts/check_deps.sh
	@scripts/machete.sh

check-models: ## Models against their checksums
	@scripts/check_models.sh

check-security: ## Tests and targets that the pages on security name
	@scripts/check_security.sh

check-asyncapi: ## AsyncAPI document against its schema and the code
	@scripts/check_asyncapi.sh

check-helm: ## Chart: rendering, schemas of Kubernetes, values and README
	@scripts/check_helm.sh

check-alerts: ## Alert rules and their tests with promtool
	@scripts/check_alerts.sh

check-dashboards: setup ## Every query of dashboards and alerts against a real Prometheus and a worker under load
	@cargo build --locked --quiet --bin anamnesis
	@scripts/check_dashboards.sh

check-metrics: setup ## Every metric family moves in an end-to-end run
	@cargo build --locked --quiet --bin anamnesis
	@scripts/check_metrics.sh

prose: ## Sentence length and retired words of each written page
	@python3 scripts/schema_diagram.py --check
	@python3 scripts/dashboard_page.py --check
	@python3 scripts/prose.py

retired-names: ## Retired names in configuration, queries, pages, help texts and SQL
	@python3 scripts/retired_names.py --self-test
	@python3 scripts/retired_names.py

visibility: ## Public lines by crate, and their limit
	@python3 scripts/visibility.py

type-names: ## Type names of the program that have several definitions
	@python3 scripts/words.py --types

comments: ## Comment lines for 100 lines of code in each file of rules
	@python3 scripts/comments.py

##@ Proofs and campaigns
proofs: setup ## Long proofs: 2,000 orders, 10⁶ random operations, 10,000 changes of the audit trail
	@scripts/nextest.sh
	@export ANAMNESIS_TEST_POSTGRES_URL=$${ANAMNESIS_TEST_POSTGRES_URL:-$$(scripts/postgres.sh start)}; \
	ANAMNESIS_TEST_LONG=1 cargo nextest run --locked --no-fail-fast --test suite store:: audit::no_change_of_the_trail

campaign-quick: setup ## Quick fault campaign on both stores: kills, restarts, broken lines, missing keys
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@cargo run --locked --quiet --example campaign -- --store sqlite --messages 120 --kills 5 --key-faults 4
	@cargo run --locked --quiet --example campaign -- --keys table --key-faults 5

campaign: setup ## Long fault campaign: 12,000 messages, 240 kills, 80 key faults
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@cargo run --locked --quiet --example campaign -- --messages 2000 --kills 40 --broker-restarts 2 --database-crashes 6 --keys table --key-faults 40 --pause 1200 --patience 900
	@cargo run --locked --quiet --example campaign -- --messages 10000 --kills 200 --broker-restarts 10 --database-crashes 20 --keys file --key-faults 40 --pause 1200 --half-open --patience 1800

seeded-bugs: setup ## Break each promise on purpose and show that its test notices
	@scripts/seeded_bugs.sh

broker-segments: setup ## Measure when processed words leave the disk of the broker, on a private node
	@scripts/broker_segments.sh

upgrade: setup ## Upgrade under load from the version before: migration, rolling replacement; table and JSON line
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@program=$$(scripts/release_program.sh $(or $(FROM),0.1.0)); \
	cargo run --locked --quiet --example campaign -- --upgrade-from "$$program" --messages 3000

upgrade-quick: setup ## The same in a minute, and the migrations next to 10,000 rows; part of CI
	@cargo build --locked --quiet --bin anamnesis --example campaign
	@program=$$(scripts/release_program.sh 0.1.0) || { [ $$? -eq 3 ] && exit 0; exit 1; }; \
	cargo run --locked --quiet --example campaign -- --upgrade-from "$$program" --messages 500 --workers 2 --step-seconds 2
	@scripts/migration_times.sh --rows 10000 --from 25

# MINUTES=N is a shorter piece of the day, DAY="…" has other options of scripts/day.py. The deploy needs a second build: the same
# sources under another revision.
day: setup ## A day in production in an hour: workers, organisations, a deploy, outages; pictures, alerts
	@out=$${CARGO_TARGET_DIR:-target}/day; revision=$$(git rev-parse --short HEAD 2>/dev/null || echo day); mkdir -p "$$out"; \
	for build in "$$revision" "$$revision-next"; do \
		ANAMNESIS_REVISION=$$build cargo build --locked --quiet --bin anamnesis; \
		cp "$${CARGO_TARGET_DIR:-target}/debug/anamnesis" "$$out/anamnesis$${build#"$$revision"}"; \
	done; \
	"$$(scripts/python.sh)/python" scripts/day.py --minutes $(or $(MINUTES),60) --program "$$out/anamnesis" --next "$$out/anamnesis-next" $(DAY)

dashboard-pictures: ## Draw the dashboards again from the answers of the last `make day`
	@"$$(scripts/python.sh)/python" scripts/dashboard_pictures.py --answers "$${CARGO_TARGET_DIR:-target}/day/answers.json" --out "$${CARGO_TARGET_DIR:-target}/day"

##@ Benchmarks and measurements
bench: setup ## Benchmarks: tables, and one JSON line each
	@cargo build --locked --profile dist --quiet --package anamnesis --package anamnesis-bench
	@cargo run --locked --profile dist --quiet --package anamnesis-bench -- ingest

replay: setup ## Ingest FILES="…" twice and search each document again: counts, memory, changed tables
	@cargo build --locked --release --quiet --bin anamnesis
	@scripts/replay.py $(FILES)

code-size: ## Lines of own code by crate, and growth by piece of work
	@python3 scripts/code_size.py

##@ Models
facts: setup ## What is remembered correctly of whole documents, for each set of tests/data/facts; last line JSON
	@cargo build --locked --quiet --bin anamnesis
	@python3 scripts/score_facts.py tests/data/facts/*.jsonl --anamnesis "$${CARGO_TARGET_DIR:-target}/debug/anamnesis"

readers: setup ## Rules alone and with the learned reader, on the cold sets (half an hour); last lines JSON
	@cargo build --locked --quiet --bin anamnesis
	@for profile in fast careful; do python3 scripts/score_facts.py tests/data/cold/[d-o].jsonl --profile $$profile \
		--anamnesis "$${CARGO_TARGET_DIR:-target}/debug/anamnesis"; done

##@ Release
check-release: ## Versions, change log and kept data of a release agree
	@scripts/check_release.sh

# Where no database can be had, nothing was checked, and that is said.
check-advisories: setup ## Known vulnerabilities; passes with a note where no database is available
	@scripts/advisories.sh || [ $$? -eq 3 ]

advisories: setup ## Known vulnerabilities of the dependencies; fails where no advisory database is available
	@scripts/advisories.sh

sbom: setup ## Bill of materials of the program and its models: target/sbom/anamnesis.cdx.json (CycloneDX)
	@scripts/sbom.sh
