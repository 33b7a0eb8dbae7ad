# What a developer or a first-time user does with Billow. `make help` lists it.
#
#   PORT=8080         where `make run` listens, on 127.0.0.1
#   SWIFT_FLAGS=…     passed on to every swift build and swift test
#   PREFIX=/usr/local where `make install` puts Billow
#   PACKAGES=dist     the folder of what `make deb` and `make archive` make
#   DESTDIR=          a folder that stands for / there, as for making a package
#   H3_PREFIX=…       where Scripts/setup puts the H3 library; give a folder of your own where /usr/local can't be
#                     written

PORT ?= 8080
SWIFT_FLAGS ?=
PREFIX ?= /usr/local
H3_PREFIX ?= /usr/local
export H3_PREFIX
ifneq ($(H3_PREFIX),/usr/local)
export PKG_CONFIG_PATH := $(H3_PREFIX)/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

# What `billow --version` says beside the release; nothing where this is no clone.
commit := $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)

# `make -C` from anywhere: the viewer and the styles are found relative to this folder.
sources := Package.swift $(shell find Sources -type f)
formatted := Package.swift Sources Tests Examples Fuzz/Targets Fuzz/Driver.swift \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources)

.PHONY: help run build-tests test check check-clients documentation build install deb archive setup format lint bench \
	soak fuzz clean FORCE
.DEFAULT_GOAL := help

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build, and serve a simulated world at http://127.0.0.1:8080 (PORT=…)
	bin/billow serve --demo --port $(PORT)

build: bin/billow ## The release binary, at bin/billow

# Moved into place, so that a server that runs is not disturbed.
bin/billow: $(sources) .build/commit | setup
	BUILD_COMMIT=$(commit) swift build -c release --product billow $(SWIFT_FLAGS)
	@mkdir -p bin
	@cp "$$(swift build -c release --show-bin-path $(SWIFT_FLAGS))/billow" bin/billow.new
	@mv bin/billow.new bin/billow

# Changes when the commit does, and not else.
.build/commit: FORCE
	@mkdir -p .build
	@echo '$(commit)' | cmp -s - $@ || echo '$(commit)' >$@

install: bin/billow ## Install below PREFIX: binary, viewer, manual, completions, systemd unit
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Scripts/install bin/billow

# Debian has no Swift runtime, so the binary of a package has its own. Another binary can be given instead of a build.
PACKAGED ?= .build/packaged/billow
PACKAGES ?= dist

ifeq ($(PACKAGED),.build/packaged/billow)
$(PACKAGED): $(sources) .build/commit | setup
	BUILD_COMMIT=$(commit) Scripts/build-packaged $@ $(SWIFT_FLAGS)
endif

deb: $(PACKAGED) ## A package for Debian 12, in PACKAGES (PACKAGED=… for a binary that is built)
	@Scripts/package deb $(PACKAGED) $(PACKAGES)

archive: $(PACKAGED) ## The release archive, which runs from any folder, in PACKAGES
	@Scripts/package archive $(PACKAGED) $(PACKAGES)

# Tests run optimised code: with the debugger's a run takes several times as long. Whole modules compile in half the
# time of single files; without threads they lack the index that a test bundle is made from. The four share one build.
build-tests test check documentation: export OPTIMISED_TESTS := 1
build-tests test check documentation: export SWIFT_FLAGS += -debug-info-format none \
	-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2

build-tests: ## Build all tests
	@Scripts/setup
	swift build --build-tests $(SWIFT_FLAGS)

test: ## All tests
	@Scripts/setup test
	swift build --build-tests $(SWIFT_FLAGS)
	Scripts/test $(SWIFT_FLAGS)

check: ## The viewer: tests in a browser, map pages; the interface by its description
	@Scripts/setup test
	swift build --product billow $(SWIFT_FLAGS)
	Scripts/check

check-clients: bin/billow ## QGIS, MapProxy, OWSLib, GDAL and geopandas against a demo (PICTURES=folder)
	@Scripts/setup clients
	Scripts/check-clients $(if $(PICTURES),--pictures '$(PICTURES)') bin/billow

documentation: ## The DocC archives of the products; fails on a warning
	@Scripts/setup
	Scripts/documentation

setup: ## Install what is missing; nothing when nothing is
	@Scripts/setup

format: ## Bring the sources and documents into shape
	swift format --in-place --parallel --recursive $(formatted)
	Scripts/wrap-documents

lint: ## Say where they are out of shape, and check the viewer's types
	@Scripts/setup test
	swift format lint --strict --parallel --recursive $(formatted)
	Scripts/lint-tests
	Scripts/lint-lines
	Scripts/wrap-documents --check
	tsc -p jsconfig.json
	Scripts/timeline-types --check

bench: ## Measure, side by side with Mapnik
	@Scripts/setup bench
	Benchmarks/run

soak: bin/billow ## An hour of mixed clients and failing upstreams (MINUTES=60)
	Benchmarks/soak.py --billow bin/billow --minutes $(or $(MINUTES),60)

fuzz: ## Drive the parsers with libFuzzer (TARGET=…, SECONDS=60 each)
	@Scripts/setup
	Fuzz/run $(TARGET) $(SECONDS)

clean: ## Remove what was built, not what was set up
	rm -rf .build bin Benchmarks/.build Fuzz/.build
