# make demo    builds a release and runs it over the sample files
# make test    runs the tests that a contributor runs, make check what takes longer
# make help    says what else there is

SWIFT ?= swift
RELEASE = .build/release
# With Swift's runtime in the programs: no symbol is looked up in it at each start, and what is installed needs no toolchain. They
# export nothing, which the linker would keep for libraries that look for it.
BUILD_RELEASE = $(SWIFT) build -c release --static-swift-stdlib -Xlinker --no-export-dynamic

.PHONY: help
help: ## Say what there is.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

.PHONY: dependencies dependencies-test dependencies-check dependencies-package
dependencies:
	@./install-dependencies.sh build

dependencies-test:
	@./install-dependencies.sh build test

dependencies-check:
	@./install-dependencies.sh build test check

dependencies-package:
	@./install-dependencies.sh build package

.PHONY: build
build: dependencies ## Build a debug version of everything.
	$(SWIFT) build

.PHONY: release
release: dependencies ## Build satchel and its codecs for use.
	@./Packaging/progress.sh .build/release.log "Building Satchel" $(MAKE) release-programs stand-ins

.PHONY: release-programs
release-programs:
	$(BUILD_RELEASE) --product satchel-codec
	$(BUILD_RELEASE) --product satchel-stills
	$(BUILD_RELEASE) --product satchel

.PHONY: stand-ins
stand-ins:
	./Packaging/stand-ins.sh $(RELEASE)

.PHONY: demo
demo: release ## Prepare a few sample files, and show the results side by side.
	@Media/demo.sh $(RELEASE)/satchel

.PHONY: demo-all
demo-all: release ## Prepare all sample files, and compare the results with the manifest.
	@Media/demo-all.sh $(RELEASE)/satchel

.PHONY: screenshots
screenshots: dependencies-check build ## Take the README's pictures, in Chromium.
	@Screenshots/take.sh .build/debug/satchel

.PHONY: demo-scaled
demo-scaled: dependencies-check release ## Show two nodes on PostgreSQL and a bucket, one of which is killed.
	@Media/demo-scaled.py $(RELEASE)/satchel

.PHONY: test
test: dependencies-test lint ## Run the tests that a contributor runs: 10 minutes after the build.
	$(SWIFT) build --build-tests
	./Tests/check-imports.sh .build/debug
	./Tests/run.sh test

.PHONY: check
check: dependencies-check ## Run the tests that need more servers or take longer: 20 minutes.
	$(SWIFT) build --build-tests
	./Tests/run.sh check

.PHONY: documentation
documentation: ## Build the documentation of SatchelClient, which may have no warning.
	$(SWIFT) package generate-documentation --target SatchelClient --warnings-as-errors

.PHONY: inner-bench
inner-bench:
	SATCHEL_BENCHMARKS=1 $(BUILD_RELEASE) --quiet --product inner-bench

# The service's executable of Debian 12 runs there as it is.
.PHONY: check-debian13
check-debian13: dependencies-check ## Run the codec side's tests and the demo on Debian 13, in a root of its own.
	SATCHEL_TARGETS=GIFTests,CodecsTests,satchel-codec,satchel-stills ./Tests/debian13.sh swift build --build-tests
	SATCHEL_TARGETS=GIFTests,CodecsTests,satchel-codec,satchel-stills ./Tests/debian13.sh ./Tests/bounded.py $(if $(filter full,$(SATCHEL_TESTS)),40,20) \
	    ./Tests/codecs.sh
	rm -rf .demo
	SATCHEL_CODEC=.build/debug ./Tests/debian13.sh Media/demo.sh /mnt/built/debug/satchel
	SATCHEL_CODEC=.build/debug ./Tests/debian13.sh Media/demo-all.sh /mnt/built/debug/satchel
	rm -rf .demo

# Sweeps try every case here, and some of them elsewhere.
.PHONY: test-full
test-full: export SATCHEL_TESTS = full
test-full: test check bench-inner deb-check history check-debian13 ## Run every test, with all cases of its sweeps, on Debian 12 and on Debian 13: hours.
	$(SWIFT) package resolve --scratch-path .build-debian13
	./Tests/debian13.sh swift build --build-tests
	./Tests/debian13.sh ./Tests/run.sh

# make history SEEDS="7 8" SECONDS=180
.PHONY: history
history: dependencies-check build ## Run nodes, clients and what breaks, judge what clients were told: 20 minutes.
	./Tests/System/history.sh --seconds $(or $(SECONDS),350) .build/debug/satchel $(or $(SEEDS),1 2 3)

.PHONY: docker-check
docker-check: dependencies-check build ## Check the image's runtime stage in a fresh Debian, without a Docker engine.
	./Docker/check.sh .build/debug

.PHONY: deb-check
deb-check: dependencies-check dependencies-package build ## Check the Debian package under systemd, in a fresh Debian.
	./Packaging/man.py .build/debug/satchel .build/man
	./Packaging/check.sh .build/debug

.PHONY: test-codecs
test-codecs: dependencies-test ## Run the tests of the codec side alone, which builds in seconds.
	SATCHEL_TARGETS=GIFTests,CodecsTests $(SWIFT) build --build-tests --scratch-path .build-codecs
	./Tests/codecs.sh .build-codecs

.PHONY: sanitize
sanitize: dependencies-test ## Run the tests of the codec side with every use of memory checked.
	SATCHEL_TARGETS=GIFTests,CodecsTests $(SWIFT) build --build-tests --sanitize=address --scratch-path .build-asan
	./Tests/sanitize.sh address

# The codecs that are started are those of `build`.
.PHONY: sanitize-threads
sanitize-threads: dependencies-check build ## Run the tests of the service side's parts with every access from two threads checked.
	SATCHEL_TARGETS=PlatformTests,IngestTests,HTTPServerTests,StoresTests,S3Tests,JobsTests,APITests \
	    $(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-tsan
	./Tests/sanitize.sh thread

# make fuzz SECONDS=60 TARGETS="gif http"; without SECONDS half an hour for those that read most, five minutes for the others.
.PHONY: fuzz
fuzz: dependencies-test ## Give everything that reads foreign bytes what libFuzzer makes of its corpus: four hours.
	./Tests/Fuzz/fuzz.sh $(if $(SECONDS),--seconds $(SECONDS)) $(TARGETS)

.PHONY: fuzz-huffman
fuzz-huffman: dependencies-test ## Compare our decoder of Huffman codes with libjpeg's on what libFuzzer makes: half an hour.
	./Tests/Fuzz/fuzz.sh --seconds $(or $(SECONDS),1800) --keep huffman

# make storm COUNT=2000 SEED=7; FIRST=400 leaves out what an earlier run has done
.PHONY: storm
storm: dependencies-test release ## Send changed samples through a batch and a service, and look at what is left: hours.
	PYTHONPATH=Tests/System python3 -B -m storm --count $(or $(COUNT),100000) --first $(or $(FIRST),0) --seed $(or $(SEED),1) $(RELEASE)/satchel

# make soak MINUTES=5 SEED=7
.PHONY: soak
soak: dependencies-check release ## Serve mixed work for 45 minutes while one thing after the other breaks: all stays flat, and all ends once.
	./Tests/System/soak.sh --minutes $(or $(MINUTES),45) --seed $(or $(SEED),1) $(if $(PLOT),--plot $(PLOT)) $(RELEASE)/satchel

.PHONY: sbom
sbom: release ## Write .build/satchel.cdx.json, which says what the programs link, as CycloneDX.
	./Packaging/supply/supply.py sbom $(RELEASE)/satchel $(RELEASE)/satchel-codec $(RELEASE)/satchel-stills > .build/satchel.cdx.json

# The root of the last `make docker-check` has the image's packages.
.PHONY: lock
lock: ## Write the locks of Debian's and Swift's packages anew, and the list in SECURITY.md.
	./Packaging/supply/supply.py lock .build/docker/runtime-*.tar
	./Packaging/supply/supply.py list

.PHONY: lint
lint: prose ## Check the style, and the texts.
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples
	shellcheck .ci/run $$(git ls-files '*.sh')

.PHONY: docs
docs: dependencies-test ## Write the documentation's reference tables and outputs, from the code.
	$(SWIFT) build --build-tests
	SATCHEL_WRITE_DOCS=1 .build/debug/satchelPackageTests.xctest --testing-library swift-testing --no-parallel \
	    --filter '^SatchelTests\.(ReferenceTable|Page)Tests/'

.PHONY: prose
prose: ## Check the sentences, links and lengths of documents and messages.
	python3 -B -m unittest discover -q -s Tests/Prose -p tests.py
	./Tests/Prose/check.py

.PHONY: format
format: ## Correct the style.
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks Examples

BENCH_PYTHON = venv/bench/bin/python -B
BENCH = PYTHONPATH=Benchmarks .bench/$(BENCH_PYTHON) -m bench --programs $(RELEASE)

.bench/jpeg-floor: Benchmarks/floors/jpeg-floor.c
	mkdir -p .bench
	$(CC) -O2 -Wall -Wextra -Werror -o $@ $< -ljpeg

.bench/remux: Benchmarks/floors/remux.c
	mkdir -p .bench
	$(CC) -O2 -Wall -Wextra -Werror -o $@ $< -lavformat -lavcodec -lavutil

.PHONY: bench-build
bench-build: release .bench/jpeg-floor .bench/remux inner-bench

.PHONY: bench-peers
bench-peers: ## Install what is measured beside.
	@./install-dependencies.sh bench
	@Benchmarks/peers/environments.sh .bench

.PHONY: bench
bench: bench-peers bench-build ## Measure against the peers, in alternation: minutes.
	@$(BENCH) $(BENCH_OPTIONS)

.PHONY: bench-full
bench-full: bench-peers bench-build ## The same with all parts, more inputs and more rounds: hours.
	@$(BENCH) --full $(BENCH_OPTIONS)

.PHONY: bench-publish
bench-publish: ## Put the plots and tables of the last run under Benchmarks.
	@$(BENCH) --publish Benchmarks

# In an environment below .build, which is another one on Debian 13.
.PHONY: bench-test
bench-test: ## Run the tests of the benchmarks themselves.
	@Benchmarks/peers/environments.sh .build/bench bench
	@PYTHONPATH=Benchmarks .build/bench/$(BENCH_PYTHON) -m unittest discover -s Benchmarks/Tests

.PHONY: bench-inner
bench-inner: dependencies-check inner-bench ## Count the instructions of inner pieces, and compare them with their thresholds.
	./Benchmarks/inner/check.sh

.PHONY: man
man: release ## Write the man pages into .build/man.
	./Packaging/man.py $(RELEASE)/satchel .build/man

PREFIX ?= /usr/local
TARGET = $(DESTDIR)$(PREFIX)

.PHONY: install
install: man ## Install under PREFIX (/usr/local), with completions and man pages.
	install -D -s -m 755 $(RELEASE)/satchel $(TARGET)/bin/satchel
	install -D -s -m 755 $(RELEASE)/satchel-codec $(TARGET)/libexec/satchel-codec
	install -D -s -m 755 $(RELEASE)/satchel-stills $(TARGET)/libexec/satchel-stills
	./Packaging/stand-ins.sh $(TARGET)/libexec
	install -d $(TARGET)/share/man/man1 $(TARGET)/share/bash-completion/completions \
	    $(TARGET)/share/zsh/site-functions $(TARGET)/share/fish/vendor_completions.d
	install -m 644 .build/man/*.1 $(TARGET)/share/man/man1/
	$(RELEASE)/satchel --generate-completion-script bash > $(TARGET)/share/bash-completion/completions/satchel
	$(RELEASE)/satchel --generate-completion-script zsh > $(TARGET)/share/zsh/site-functions/_satchel
	$(RELEASE)/satchel --generate-completion-script fish > $(TARGET)/share/fish/vendor_completions.d/satchel.fish

.PHONY: deb
deb: dependencies-package man ## Build the Debian package into .build/deb, for this machine's release of Debian.
	./Packaging/build.sh $(RELEASE) .build/deb

.PHONY: clean
clean: ## Remove what was built.
	rm -rf .build .build-* .demo .bench
