# make demo    builds a release and runs it over the sample files
# make test    runs every test
# make help    says what else there is

SWIFT ?= swift
CONFIGURATION ?= debug
RELEASE = .build/release

.PHONY: help
help: ## Say what there is.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

.PHONY: dependencies
dependencies:
	@./install-dependencies.sh build test

.PHONY: build
build: dependencies ## Build a debug version of everything.
	$(SWIFT) build

.PHONY: release
release: dependencies ## Build satchel and satchel-codec for use.
	$(SWIFT) build -c release --product satchel-codec
	$(SWIFT) build -c release --product satchel

.PHONY: demo
demo: release ## Prepare the sample files, and show what came of it.
	@Media/demo.sh $(RELEASE)/satchel

.PHONY: test
test: dependencies lint ## Run every test.
	$(SWIFT) build --build-tests
	./Tests/check-imports.sh .build/debug
	$(SWIFT) test --skip-build

.PHONY: test-codecs
test-codecs: dependencies ## Run the tests of the codec side alone, which builds in seconds.
	SATCHEL_TARGETS=CodecsTests $(SWIFT) test --scratch-path .build-codecs

.PHONY: lint
lint: ## Check the style.
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks

.PHONY: format
format: ## Correct the style.
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks

.PHONY: bench
bench: release ## Measure against the peers, in alternation.
	$(SWIFT) build -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench $(RELEASE) Media/jpeg/earth-12-megapixels.jpg .bench

.PHONY: install
install: release ## Install under PREFIX (/usr/local), with the man pages and completions.
	@Docker/install.sh $(RELEASE) "$(or $(PREFIX),/usr/local)"

.PHONY: clean
clean: ## Remove what was built.
	rm -rf .build .build-* .demo .bench Benchmarks/.build
