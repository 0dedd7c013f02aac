# Assay. `make` lists the targets.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
NATIVE := $(VENV)/.native-built
TIMED_FILE := target/release/assay-timed-file
# A command that says how far it is, and shows its log where it fails.
STAGE := python3 tools/stage.py

.PHONY: help setup demo test test-all test-both soak test-rust check bench dist docs instructions test-drives test-installed stubs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(NATIVE) ## install everything into .venv and build the native module

demo: $(NATIVE) ## the whole client IOPS test on a simulated drive; ends with the path of the report
	@$(BIN)/assay run 'sim:client-2011?capacity=32GB' --suite client --test iops

# Each starts pytest once: making its workers and runs that several tests look at takes a while.
test: test-packages test-rust test-ready ## pass the tests, but for those that take long; 20 minutes on two quiet cores
	$(BIN)/pytest -m "not long and not soak"

test-all: test-packages test-rust test-ready ## pass all tests, those that take long as well
	$(BIN)/pytest -m "not soak"

# What needs root is skipped for the user, and so runs afterwards.
test-both: test-packages test-rust-built test-ready ## as root: the quick tests as an ordinary user, then all others; CI runs this
	@tools/test-as-user target/passed-as-user
	$(BIN)/pytest -m "not soak" --without-passed=target/passed-as-user

soak: test-packages test-ready ## hours of what test-all takes a sample of: changed folders and files, trials of the gate and of a disturbed host
	$(BIN)/pytest -m soak -rP

.PHONY: test-ready test-packages
test-ready: $(NATIVE) $(TIMED_FILE)

# Before anything is built, so that nobody learns at the end what would have been tested.
test-packages:
	@tools/needs
	@tools/debian-packages

test-rust: test-rust-built
	cargo test --locked --quiet --workspace --release

.PHONY: test-rust-built
test-rust-built: Cargo.lock
	@tools/needs
	@$(STAGE) target/test-build.log "Building the Rust tests (4 min on two quiet cores)" \
		cargo test --locked --workspace --release --no-run

check: $(NATIVE) ## formatting, lints, types, boundaries, stubs
	@tools/cargo-lock --check
	cargo fmt --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	@for crate in assay-core assay-json assay-ftl assay-trace assay-uring; do \
		if cargo tree --locked --quiet -e normal,build -p $$crate | grep -q pyo3; then echo "$$crate depends on pyo3"; exit 1; fi; done
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	tools/stubs --check
	tools/procedure-pages --check
	tools/reference-page --check
	tools/rules-page --check
	tools/kinds-page --check
	tools/json-schemas --check
	tools/openapi --check
	$(BIN)/stubtest assay._native --mypy-config-file pyproject.toml

stubs: $(NATIVE) ## write the type stubs of the native module anew
	tools/stubs

bench: $(NATIVE) $(TIMED_FILE) ## run the benchmarks at real size
	@cargo run --locked --quiet --release -p assay-ftl --example speed
	@for bench in benches/*.py; do PYTHONPATH=tools $(BIN)/python $$bench || exit 1; done

.PHONY: dist-needs
dist-needs:
	@tools/needs --dist

dist: dist-needs $(NATIVE) ## make wheel, source archive, Debian package, bill of materials and checksums in dist/
	@tools/dist

docs: $(NATIVE) ## build the documentation site and a sample report into target/site
	@tools/docs

instructions: $(NATIVE) ## hold the instructions per I/O against the kept figures, in a guest
	@PYTHONPATH=tools $(BIN)/python benches/instructions.py --gate

test-drives: $(NATIVE) ## tests on emulated NVMe, SATA and SCSI drives, in a guest; ARGS="-k word" for some of them
	@PYTHONPATH=tools $(BIN)/python tools/drive_tests.py $(ARGS)

test-installed: $(NATIVE) ## tests of the agent as installed, in a guest under systemd; ARGS as above
	@PYTHONPATH=tools $(BIN)/python tools/installed_tests.py $(ARGS)

clean: ## remove everything that was built
	rm -rf $(VENV) target

# Every Rust dependency, direct or not, as the committed list has it.
Cargo.lock: crates/dependencies.toml tools/cargo-lock
	@tools/needs
	@tools/cargo-lock

# The file of known service times that tests and benchmarks hold our figures against.
$(TIMED_FILE): $(RUST_SOURCES)
	@$(STAGE) target/timed-file-build.log "Building the file of known times (1 min on two quiet cores)" \
		cargo build --locked --release --package assay-timed-file
	@touch $@

$(NATIVE): pyproject.toml requirements.txt $(RUST_SOURCES)
	@tools/set-up
