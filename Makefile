# `make demo` traces a sample discharge, `make test` runs every check. Both install what is missing first.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Rust's own installer puts cargo here; a shell that was open before does not know it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

# PROFILE=release builds slower and runs faster.
PROFILE ?= dev
SAMPLE_STRUCTURE := OF-04
TOWN := demo/sample-village

.PHONY: help demo test towns setup clean

help:
	@echo "make demo    trace a sample discharge through the made-up village of Alder Mills"
	@echo "make test    format, lints, tests, documentation"
	@echo "make towns   count what headwall init makes of real towns (HEADWALL_REAL names their folder); writes docs/towns.md"
	@echo "make setup   install what is missing (GDAL, SQLite, pkg-config, a C compiler)"

setup:
	@scripts/setup.sh

demo: setup
	@echo "== build"
	cargo build --locked --profile $(PROFILE) --bin headwall
	@echo "== copy the sample village"
	rm -rf $(TOWN)
	mkdir -p demo
	cp -R data/sample-village $(TOWN)
	@echo "== import"
	cargo run --locked --quiet --profile $(PROFILE) -- import $(TOWN)
	@echo "== investigate: suds at outfall $(SAMPLE_STRUCTURE)"
	cargo run --locked --quiet --profile $(PROFILE) -- investigate $(TOWN) --structure $(SAMPLE_STRUCTURE) --pollutant suds
	cargo run --locked --quiet --profile $(PROFILE) -- investigate $(TOWN) --structure $(SAMPLE_STRUCTURE) --pollutant suds --format geojson --output demo/investigation.geojson
	@echo
	@echo "The whole answer is in demo/investigation.geojson; to look into it:"
	@echo "  ogrinfo -al -so demo/investigation.geojson"
	@echo "What a good inspector would conclude stands in data/sample-village/README.md."

test: setup
	@echo "== format"
	cargo fmt --check
	@echo "== lints"
	cargo clippy --locked --all-targets -- -D warnings
	@echo "== tests"
	cargo test --locked
	@echo "== documentation"
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps
	@echo "== all checks passed"

towns: setup
	HEADWALL_WRITE_TOWNS=1 cargo test --locked --test suite towns::

clean:
	cargo clean
	rm -rf $(TOWN) demo/investigation.geojson
