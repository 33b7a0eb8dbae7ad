# What a developer or a first-time user does with Billow. `make help` lists it.
#
#   PORT=8080         where `make run` listens, on 127.0.0.1
#   SWIFT_FLAGS=…     passed on to every swift build and swift test
#   PREFIX=/usr/local where Scripts/setup puts the H3 library; give a folder of your own where that can't be written

PORT ?= 8080
SWIFT_FLAGS ?=
PREFIX ?= /usr/local
export PREFIX
ifneq ($(PREFIX),/usr/local)
export PKG_CONFIG_PATH := $(PREFIX)/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

# `make -C` from anywhere: the viewer and the styles are found relative to this folder.
sources := Package.swift $(shell find Sources -type f)
formatted := Package.swift Sources Tests Examples Fuzz/Targets Fuzz/Driver.swift \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources)

.PHONY: help run test check build setup format lint bench fuzz clean
.DEFAULT_GOAL := help

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build, and serve a simulated world at http://127.0.0.1:8080 (PORT=…)
	bin/billow serve --demo --port $(PORT)

build: bin/billow ## The release binary, at bin/billow

# Moved into place, so that a server that runs is not disturbed.
bin/billow: $(sources) | setup
	swift build -c release --product billow $(SWIFT_FLAGS)
	@mkdir -p bin
	@cp "$$(swift build -c release --show-bin-path $(SWIFT_FLAGS))/billow" bin/billow.new
	@mv bin/billow.new bin/billow

test: ## All tests
	@Scripts/setup test
	swift build --build-tests $(SWIFT_FLAGS)
	Scripts/test $(SWIFT_FLAGS)

check: ## The viewer: types, tests in a browser, map pages
	@Scripts/setup test
	swift build --product billow $(SWIFT_FLAGS)
	Scripts/check

setup: ## Install what is missing; nothing when nothing is
	@Scripts/setup

format: ## Bring the sources and documents into shape
	swift format --in-place --parallel --recursive $(formatted)
	Scripts/wrap-documents

lint: ## Say where they are out of shape
	swift format lint --strict --parallel --recursive $(formatted)
	Scripts/lint-tests
	Scripts/wrap-documents --check

bench: ## Measure, side by side with Mapnik
	@Scripts/setup bench
	Benchmarks/run

fuzz: ## Drive the parsers with libFuzzer (TARGET=…, SECONDS=60 each)
	@Scripts/setup
	Fuzz/run $(TARGET) $(SECONDS)

clean: ## Remove what was built, not what was set up
	rm -rf .build bin Benchmarks/.build Fuzz/.build
