# iikanji: `make demo` shows the main job, `make check` is what CI runs.

STATICCHECK_VERSION = v0.8.2
GOVULNCHECK_VERSION = v1.1.4
DEADCODE_VERSION = v0.52.0
STATICCHECK = .cache/bin/staticcheck-$(STATICCHECK_VERSION)
GOVULNCHECK = .cache/bin/govulncheck-$(GOVULNCHECK_VERSION)
DEADCODE = .cache/bin/deadcode-$(DEADCODE_VERSION)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
# Flags of both commands of the demo. By default the servers' data and the runs
# are kept in the user's state folder.
DEMO_FLAGS ?=

# Debian installs servers into folders that a user's PATH lacks.
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: demo check build install bench test lint lint-world fuzz fuzz-grow setup setup-check clean

build:
	go build -trimpath -o bin/iikanji ./cmd/iikanji

demo: setup build
	bin/iikanji bench isucondition $(DEMO_FLAGS)
	bin/iikanji tune isucondition --time 13m $(DEMO_FLAGS)

check: setup-check
	@rm -f .cache/times
	@scripts/timed.sh lint $(MAKE) --no-print-directory lint
	@scripts/timed.sh build $(MAKE) --no-print-directory build
	@scripts/timed.sh test $(MAKE) --no-print-directory test
	@scripts/timed.sh
	@echo "make check: all passed"

setup:
	@scripts/setup.sh demo
	@scripts/apps.sh go list -deps -f '{{""}}' .

setup-check:
	@scripts/setup.sh check
	@scripts/apps.sh go list -deps -f '{{""}}' .

lint: $(STATICCHECK) $(GOVULNCHECK) $(DEADCODE)
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt: run gofmt -w on:"; echo "$$out"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...
	@scripts/apps.sh go mod tidy -diff
	@scripts/apps.sh go vet ./...
	@scripts/apps.sh $(CURDIR)/$(STATICCHECK) ./...
	@scripts/deadcode.sh $(DEADCODE)
	@scripts/vuln.sh $(GOVULNCHECK)
	@scripts/apps.sh $(CURDIR)/scripts/vuln.sh $(CURDIR)/$(GOVULNCHECK)
	@n=$$(wc -l <README.md); if [ $$n -gt 200 ]; then echo "README.md has $$n lines, 200 are allowed"; exit 1; fi

# Robustness of iikanji lint over foreign code; no part of check.
lint-world: build
	scripts/lint-world.sh $(CURDIR)/bin/iikanji 600

# The tests of these packages put a real site under load and measure times. They
# run one package at a time, after the others, so that no other test uses the
# machine.
LOADED = /arenas/isucondition$$ /bench/worse$$ /cmd/iikanji$$ /internal/observe$$ /internal/tune$$

# A program that is built with -race sleeps 1 s when it exits, unless GORACE sets
# another time. The tests start hundreds of them.
test: export GORACE = atexit_sleep_ms=10

test:
	go test -race -timeout 20m -parallel 4 $$(go list ./... | grep -v $(foreach p,$(LOADED),-e '$(p)'))
	go test -race -timeout 20m -p 1 $$(go list ./... | grep $(foreach p,$(LOADED),-e '$(p)'))

# Random inputs are no part of `check`, which replays the committed ones: see
# docs/adr/0008. fuzz-grow also commits to testdata/fuzz what it found.
fuzz:
	@scripts/fuzz.sh hunt $(FUZZ_SECONDS)

fuzz-grow:
	@scripts/fuzz.sh grow $(FUZZ_SECONDS)

bench: setup-check build
	go run ./bench/access
	go run ./bench/routes
	go run ./bench/slow
	go run ./bench/memory -size 1000000000
	go run ./bench/load

install: build
	install -D -m 755 bin/iikanji $(DESTDIR)$(PREFIX)/bin/iikanji

$(STATICCHECK):
	@scripts/tool.sh staticcheck honnef.co/go/tools $(STATICCHECK_VERSION) honnef.co/go/tools/cmd/staticcheck

$(GOVULNCHECK):
	@scripts/tool.sh govulncheck golang.org/x/vuln $(GOVULNCHECK_VERSION) golang.org/x/vuln/cmd/govulncheck

$(DEADCODE):
	@scripts/tool.sh deadcode golang.org/x/tools $(DEADCODE_VERSION) golang.org/x/tools/cmd/deadcode

clean:
	rm -rf bin .cache
