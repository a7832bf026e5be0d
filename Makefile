# iikanji: `make demo` shows the main job.
#
# The check has three tiers. A test says beside its name in which it runs (internal/policy/tier):
#   make quick   formatting, vet, staticcheck, and the tests that need no slow server
#   make check   what CI runs: all tests, the race detector, dead code, known vulnerabilities
#   make soak    every test with the race detector, every kill, every ladder, random inputs
# Go keeps the results of tests: a package is tested again when it or a file that it read has
# changed. TESTFLAGS=-count=1 tests all.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
# Flags of the commands of the demo. By default the servers' data and the runs
# are kept in the user's state folder.
DEMO_FLAGS ?=
TESTFLAGS ?=

STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = go run golang.org/x/vuln/cmd/govulncheck@v1.1.4
DEADCODE = go run golang.org/x/tools/cmd/deadcode@v0.52.0

# Debian installs servers into folders that a user's PATH lacks.
export PATH := $(PATH):/usr/sbin:/sbin
# Without the paths of folders in them, what was compiled for one copy of an app or of this
# repository serves the next: the tests copy apps hundreds of times.
export GOFLAGS += -trimpath
# A program that is built with -race sleeps 1 s when it exits, unless GORACE sets another
# time. The tests start hundreds of them.
export GORACE = atexit_sleep_ms=10

.PHONY: demo build dist install bench corpus quick check soak lint audit test test-race test-load fuzz fuzz-grow setup setup-check clean

build:
	go build -o bin/iikanji ./cmd/iikanji

# A release from the commit that is checked out, built twice and compared: see packaging/main.go.
dist:
	go run ./packaging $(DISTFLAGS)

demo: setup build
	bin/iikanji bench isucondition --load 10s $(DEMO_FLAGS)
	bin/iikanji tune isucondition --time 13m $(DEMO_FLAGS)
	bin/iikanji report isucondition --out bin/demo.html $(DEMO_FLAGS)

quick: lint
	go test -short $(TESTFLAGS) ./...

check: setup-check lint audit build test test-race test-load
	@echo "make check: all passed"

lint:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt: run gofmt -w on:"; echo "$$out"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...

# What is not about one package: the modules of the apps, dead code, vulnerabilities.
audit:
	@scripts/apps.sh go mod tidy -diff
	@scripts/apps.sh go vet ./...
	@scripts/apps.sh $(STATICCHECK) ./...
	@scripts/deadcode.sh $(DEADCODE)
	@scripts/vuln.sh $(GOVULNCHECK)

GOTEST = go test -timeout 60m $(TESTFLAGS)

test:
	$(GOTEST) -skip 'UnderLoad$$' ./...

# The short tests of the packages that share memory among goroutines.
test-race:
	$(GOTEST) -race -short $$(go list -f '{{range .Imports}}{{if eq . "sync" "sync/atomic"}}{{$$.ImportPath}} {{end}}{{end}}' ./...)

# Tests whose names end in UnderLoad put a real site under load and measure times: one
# after the other, with nothing beside them. They are whole commands, so they have the race
# detector, too.
test-load:
	$(GOTEST) -race -p 1 -run 'UnderLoad$$' $$(grep -rl --include='*_test.go' '^func Test.*UnderLoad(' cmd internal arenas bench | xargs -n 1 dirname | sort -u | sed 's|^|./|')

soak: export IIKANJI_SOAK = 1
soak: setup-check
	go test -race -timeout 12h -skip 'UnderLoad$$' $(TESTFLAGS) ./...
	@$(MAKE) --no-print-directory test-load fuzz
	@echo "make soak: all passed"

# Random inputs are no part of `check`, which replays the committed ones: see
# docs/adr/0008. fuzz-grow also commits to testdata/fuzz what it found.
fuzz:
	@scripts/fuzz.sh hunt $(FUZZ_SECONDS)

fuzz-grow:
	@scripts/fuzz.sh grow $(FUZZ_SECONDS)

setup:
	@scripts/setup.sh demo
	@scripts/apps.sh go list -deps -f '{{""}}' .

setup-check:
	@scripts/setup.sh check
	@scripts/apps.sh go list -deps -f '{{""}}' .

bench: setup-check build
	go run ./bench/access
	go run ./bench/routes
	go run ./bench/digests
	go run ./bench/slow
	go run ./bench/memory -size 1000000000
	go run ./bench/load
	go run ./bench/load -h2

# CORPUS is a file with a line for each application: NAME GIT-ADDRESS [FOLDER]; without a
# network a NAME alone, fetched into .cache/corpus beforehand with the modules it needs.
# CORPUSFLAGS are further flags: -only APP204,APP205, -reasons 50, or -test for the apps' own tests.
corpus: build
	go run ./bench/corpus -list "$(CORPUS)" $(CORPUSFLAGS)

install: build
	install -D -m 755 bin/iikanji $(DESTDIR)$(PREFIX)/bin/iikanji

clean:
	rm -rf bin .cache
