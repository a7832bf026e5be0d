# iikanji: `make demo` shows the main job, `make check` is what CI runs.

STATICCHECK_VERSION = v0.8.2
GOVULNCHECK_VERSION = v1.1.4
STATICCHECK = .cache/bin/staticcheck-$(STATICCHECK_VERSION)
GOVULNCHECK = .cache/bin/govulncheck-$(GOVULNCHECK_VERSION)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 3
# The demo keeps its servers' data and its runs below the user's state folder.
DEMO_FLAGS ?=

# Debian keeps servers where a user's PATH does not look.
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: demo check build install bench test lint fuzz setup setup-check clean

build:
	go build -trimpath -o bin/iikanji ./cmd/iikanji

demo: setup build
	bin/iikanji bench isucondition $(DEMO_FLAGS)
	bin/iikanji tune isucondition --time 13m $(DEMO_FLAGS)

check: setup-check lint build test fuzz
	@echo "make check: all passed"

setup:
	@scripts/setup.sh demo

setup-check:
	@scripts/setup.sh check

lint: $(STATICCHECK) $(GOVULNCHECK)
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt: run gofmt -w on:"; echo "$$out"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...
	@scripts/vuln.sh $(GOVULNCHECK)
	@n=$$(wc -l <README.md); if [ $$n -gt 200 ]; then echo "README.md has $$n lines, 200 are allowed"; exit 1; fi

# Packages whose tests put a real site under load and watch its clock: one at
# a time, after the others, so that they have the machine to themselves.
LOADED = /arenas/isucondition$$ /bench/worse$$ /cmd/iikanji$$ /internal/loop$$ /internal/diagnose$$

test:
	go test -race -timeout 20m $$(go list ./... | grep -v $(foreach p,$(LOADED),-e '$(p)'))
	go test -race -timeout 20m -p 1 $$(go list ./... | grep $(foreach p,$(LOADED),-e '$(p)'))

fuzz:
	@scripts/fuzz.sh $(FUZZ_SECONDS)

bench: setup-check build
	go run ./bench/access
	go run ./bench/routes
	go run ./bench/slow
	go run ./bench/load

install: build
	install -D -m 755 bin/iikanji $(DESTDIR)$(PREFIX)/bin/iikanji

$(STATICCHECK):
	@scripts/tool.sh staticcheck honnef.co/go/tools $(STATICCHECK_VERSION) honnef.co/go/tools/cmd/staticcheck

$(GOVULNCHECK):
	@scripts/tool.sh govulncheck golang.org/x/vuln $(GOVULNCHECK_VERSION) golang.org/x/vuln/cmd/govulncheck

clean:
	rm -rf bin .cache
