# iikanji: `make demo` shows the main job, `make check` is what CI runs.

STATICCHECK_VERSION = v0.8.2
GOVULNCHECK_VERSION = v1.1.4
DEADCODE_VERSION = v0.52.0
STATICCHECK = .cache/bin/staticcheck-$(STATICCHECK_VERSION)
GOVULNCHECK = .cache/bin/govulncheck-$(GOVULNCHECK_VERSION)
DEADCODE = .cache/bin/deadcode-$(DEADCODE_VERSION)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
BUILD_FLAGS ?= -trimpath
# Flags of both commands of the demo. By default the servers' data and the runs
# are kept in the user's state folder.
DEMO_FLAGS ?=

# Debian installs servers into folders that a user's PATH lacks.
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: demo check check-all build install bench test check-build check-tests test-together test-arenas test-long test-rest test-race test-computing test-alone test-tuning test-loads test-repeat lint lint-code lint-rest lint-world fuzz fuzz-grow setup setup-check clean

build:
	go build $(BUILD_FLAGS) -o bin/iikanji ./cmd/iikanji

demo: setup build
	bin/iikanji bench isucondition $(DEMO_FLAGS)
	bin/iikanji tune isucondition --time 13m $(DEMO_FLAGS)

# Packages of libraries that take longest to compile, and run seldom: a parser of SQL and MCP.
# A pattern with "..." would cost each of a thousand go commands 8 ms.
SELDOM = github.com/pingcap/tidb/pkg/parser github.com/pingcap/tidb/pkg/parser/ast github.com/modelcontextprotocol/go-sdk/mcp

# lint, and then the tests that only compute, run beside the other tests with the lowest
# weight of the scheduler (scripts/idle.sh): those wait for their servers part of the time,
# and lint gets what they leave.
# A quarter of the work of a check is compiling. So each package is compiled once with
# the race detector and once without: the binary, lint, the tests and the apps that they
# build have the same flags. Paths are trimmed, so that another clone of the repository and
# another folder of an app find what was compiled for this one. The apps are built without
# cgo, so everything is; the race detector itself needs cgo. Nothing reads debug
# information, which is an eighth of the compiler's work, or the symbols of programs, a third
# of the linker's. Three packages that run seldom are compiled without optimizations, in half
# of the time. The go commands collect little garbage (scripts/toolchain.sh); the tests and
# the apps that they start collect as usual.
# Linked programs are kept, too (scripts/links.sh): two hundred programs of tests and apps.
# What go commands and the first tests write is in memory where the machine has much of it
# (scripts/memory.sh, scripts/gocache.sh); the tests that measure a site under load have a
# real disk.
check: export CGO_ENABLED = 0
check: export GOFLAGS += -trimpath -ldflags=-s -gcflags=all=-dwarf=false $(foreach path,$(SELDOM),'-gcflags=$(path)=-dwarf=false -N -l')
check:
	@scripts/setup.sh go
	@scripts/memory.sh GOCACHE_MEMORY 16 scripts/toolchain.sh scripts/gocache.sh scripts/links.sh 8 24 $(MAKE) --no-print-directory check-all

check-all:
	@mkdir -p .cache && rm -rf .cache/times .cache/repeat
	@$(MAKE) --no-print-directory -j 2 setup-check check-build
	@scripts/beside.sh lint -- $(MAKE) --no-print-directory check-tests
	@scripts/timed.sh test-repeat $(MAKE) --no-print-directory test-repeat
	@scripts/timed.sh
	@echo "make check: all passed"

# beside setup-check, which waits for packages
check-build:
	@scripts/timed.sh build $(MAKE) --no-print-directory build BUILD_FLAGS=

check-tests:
	@scripts/timed.sh test-together scripts/memory.sh TMPDIR 12 $(MAKE) --no-print-directory test-together
	@scripts/beside.sh test-computing -- scripts/timed.sh test-alone $(MAKE) --no-print-directory test-alone

setup:
	@scripts/setup.sh demo
	@scripts/apps.sh go list -deps -f '{{""}}' .

setup-check:
	@scripts/setup.sh check
	@scripts/apps.sh go list -deps -f '{{""}}' .

# deadcode and staticcheck take a third less CPU with this value, and staticcheck another
# sixth without collections below the limit. The two halves take about the same time; each
# prints when it is over. staticcheck has the compiler's results for all tests made: with the
# race detector, the tests need them, too.
lint lint-code lint-rest: export GOGC ?= 400
lint lint-code lint-rest: export GOMEMLIMIT = 4GiB
lint:
	@$(MAKE) --no-print-directory -j 2 --output-sync=target lint-code lint-rest

lint-code: $(STATICCHECK)
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt: run gofmt -w on:"; echo "$$out"; exit 1; fi
	go vet ./...
	env -u GOMAXPROCS CGO_ENABLED=1 GOFLAGS="$$GOFLAGS $(WITHRACE)" $(STATICCHECK) ./...
	@n=$$(wc -l <README.md); if [ $$n -gt 200 ]; then echo "README.md has $$n lines, 200 are allowed"; exit 1; fi

lint-rest: $(STATICCHECK) $(DEADCODE)
	@scripts/apps.sh go mod tidy -diff
	@scripts/apps.sh go vet ./...
	@scripts/apps.sh $(CURDIR)/$(STATICCHECK) ./...
	@scripts/deadcode.sh $(DEADCODE)
	@scripts/vuln.sh $(CURDIR)/$(GOVULNCHECK) $(MAKE) --no-print-directory $(GOVULNCHECK)

# Robustness of iikanji lint over foreign code; no part of check.
lint-world: build
	scripts/lint-world.sh $(CURDIR)/bin/iikanji 600

# A program that is built with -race sleeps 1 s when it exits, unless GORACE sets
# another time. The tests start hundreds of them.
test test-together test-arenas test-long test-rest test-race test-computing test-alone test-tuning test-loads test-repeat: export GORACE = atexit_sleep_ms=10

test:
	@rm -rf .cache/repeat
	@$(MAKE) --no-print-directory test-together
	@$(MAKE) --no-print-directory test-computing
	@$(MAKE) --no-print-directory test-alone
	@$(MAKE) --no-print-directory test-repeat

# The packages whose tests take longest start first, so that none of them is left
# alone at the end.
LONGEST = ./cmd/iikanji ./internal/change/workers ./internal/contest/stack

# These packages run with the race detector in test-rest, so that it takes as long as
# test-race. TestLong checks that they have no test whose name REAL has or that ends in
# UnderLoad.
LATER = ./internal/show/ui

# These packages have one goroutine, and so do those that they import (TestSerial checks
# that): the race detector has nothing to find. Simulations are several times slower with it.
SERIAL = ./internal/contest/arena ./internal/contest/arena/kit/draw ./internal/contest/arena/kit/files ./internal/contest/arena/kit/jsonread ./internal/contest/arena/kit/seeded ./internal/change/promise ./internal/show/chart ./internal/logs/filter ./internal/proof/judge ./internal/lang/sqltext ./internal/show/plain ./internal/show/redact ./internal/load/scenario ./internal/proof/stats ./internal/logs/tally

# A million calls of the query cache, and its mutants, are several times slower with
# the race detector: a part of the calls runs with it.
MODEL = ./internal/rewrite/sqlcache

# These packages compute in one goroutine, several times slower with the race detector:
# searches on a simulated site, rules, levers, settings of apps, parsers and editors of
# configurations and sources, tables of runs, and the tests of this repository as a whole.
# Only the tests in CONCURRENT, which are in CONCURRENTIN, start goroutines, and run with the
# detector (TestComputing checks that). So does a whole search: TestTuneUnderLoad.
COMPUTING = ./internal/rewrite ./internal/policy ./internal/proof/tune ./internal/cause ./internal/proof/attribute ./internal/change/appenv ./internal/machine/appserver ./internal/change/nginxedit ./internal/logs/errorlog ./internal/rewrite/gosource ./internal/machine/hostproc ./internal/contest/ladder ./internal/lang/nginx ./internal/show/summary ./internal/show/timeline ./internal/site/window ./internal/lang/sourcedb
CONCURRENT = ^(TestSource|TestPlantedFaults|TestServersAsNginxTakesThem)$$
CONCURRENTIN = ./internal/proof/tune ./internal/cause

# These kinds of changes start no goroutine (TestKinds checks that). Their tests of
# conformance start and kill a thousand processes, and most of the work of such a process
# is the start of the race detector. Their other tests, some of which plan and apply in
# several goroutines, run with it.
KINDS = ./internal/change/nginxconf ./internal/change/httpcache ./internal/change/ddl

# The suites of the arenas load real servers hundreds of times, which takes about
# twice as long with the race detector. Their benchmarkers run with it against an app
# in memory. The last names in REAL are tests of the arenas' data, which one goroutine
# draws: TestDataIsSerial checks that. Where two write it, another test of fewer rows has
# the detector.
ARENAS = $(sort $(filter-out ./arenas/all,$(patsubst %/arena.go,%,$(wildcard ./arenas/*/arena.go))))
REAL = ^(TestArena|TestNodeArena|TestRubyApp|TestSite|TestContestSize|TestPool|TestInitialData|TestGenerate|TestGenerateCannot)$$

# In cmd, ladders are climbed on real arenas, the examples of all help texts run as
# commands, the script selftest simulates, the script lint loads packages from their
# source eight times, and the scripts of tables, flags and errors start a hundred
# commands that read small logs: the other scripts and the tests of the readers have the
# detector. One goroutine builds the parser of all commands for each help topic and each
# example. In ddl, processes that alter SQLite files are killed: SQLite as Go code is
# several times slower with the race detector, with which the other tests alter such files.
# In accesslog, routes are learned from the logs of generated sites: one goroutine learns,
# after the readers of a log, which run with the detector in the other tests. In slowlog,
# one goroutine reads two million statements. In ui, one goroutine follows every link of
# every page, one after the other. TestLong holds the names.
LONG = ^TestLadders$$|^TestExamplesAsWritten$$|^TestHelpTopics$$|^TestExamplesParse$$|^TestScripts$$/^selftest$$|^TestScripts$$/^lint$$|^TestScripts$$/^change_usage$$|^TestScripts$$/^access_alp$$|^TestScripts$$/^access_bad$$|^TestScripts$$/^access_table$$|^TestScripts$$/^access_where$$|^TestScripts$$/^access_wishes$$|^TestScripts$$/^slow_bad$$|^TestScripts$$/^slow_pt$$|^TestScripts$$/^slow_table$$|^TestScripts$$/^slow_wishes$$|^TestScripts$$/^usage$$|^TestFilesKilledWithin$$|^TestSites$$|^TestOtherKinds$$|^TestSitesOfParts$$|^TestReferers$$|^TestSitesWithLess$$|^TestTraceIDsNeedNoMemory$$|^TestEveryLink$$
LONGIN = ./cmd/iikanji ./internal/change/ddl ./internal/logs/accesslog ./internal/logs/slowlog ./internal/show/ui

# Packages that do not run whole with the race detector, or later.
APART = $(patsubst ./%,-e '/%$$',$(SERIAL) $(MODEL) $(COMPUTING) $(KINDS) $(ARENAS) $(LATER))

# lint runs go vet: the part of it that go test runs has nothing to add. Nothing reads the
# debug information of the test programs, which is a third of the work of linking them.
# A test that fails beside others is repeated alone, with the flags before the colon: see
# docs/adr/0011.
GOTEST = scripts/repeat.sh note go test -vet=off -ldflags=-s -timeout 60m
RUNTIME = "$(CURDIR)/scripts/runtime.sh"
TEST = $(GOTEST) -exec '$(RUNTIME)' : -parallel 3
# The detector does not look into two packages, which start no goroutine and have no generic
# function (docs/adr/0013): each program that draws the data of isucondition encodes
# thousands of JPEGs, and SQLite is C code in the form of Go.
UNWATCHED = image/jpeg modernc.org/sqlite/lib
WITHRACE = -race $(foreach package,$(UNWATCHED),'-gcflags=$(package)=-dwarf=false -race=false')
RACE = CGO_ENABLED=1 $(GOTEST) $(WITHRACE) -exec 'env CGO_ENABLED=0 $(RUNTIME)' :

# First the arenas beside the first of the tests with the race detector, then three groups
# side by side: most tests wait for servers half of their time. In test-long, one long test
# of cmd takes most of the time.
test-together:
	@$(MAKE) --no-print-directory -j 3 test-race test-long test-rest

test-arenas:
	$(TEST) -p 2 -run '$(REAL)' $(ARENAS)

test-long: test-arenas
	$(TEST) -p 2 -run '$(LONG)' $(filter-out $(READERS),$(LONGIN))
	$(TEST) -p 2 -run 'Conformance' $(KINDS)

test-race:
	$(RACE) -parallel 3 -p 2 -skip 'UnderLoad$$|$(LONG)' $(LONGEST) $$(go list ./... | grep -v $(APART))
	$(RACE) -parallel 3 -p 2 -skip 'UnderLoad$$|Conformance|$(LONG)' $(KINDS)

test-rest: test-arenas
	$(RACE) -parallel 3 -p 1 -skip '$(REAL)|$(LONG)' $(LATER) $(ARENAS)
	$(RACE) -parallel 3 -skip 'TestMutants' $(MODEL) -rounds 40 -file-rounds 20
	$(RACE) -parallel 3 -p 1 -run '$(CONCURRENT)' $(CONCURRENTIN)
	$(TEST) -p 2 -skip '$(CONCURRENT)' $(SERVERS)

# Tests that compute run beside test-alone, with what it leaves of the CPUs: those in
# COMPUTING and the long ones of the readers of logs. The packages in SERVERS do not: their
# servers and apps have to answer in time.
SERVERS = ./internal/rewrite ./internal/cause ./internal/change/appenv
READERS = ./internal/logs/accesslog ./internal/logs/slowlog
test-computing:
	$(TEST) -p 2 -run '$(LONG)' $(READERS)
	$(TEST) -p 2 -skip '$(CONCURRENT)' $(MODEL) $(filter-out $(SERVERS),$(COMPUTING)) $(SERIAL)

# Tests whose names end in UnderLoad put a real site under load and measure times.
# They run after the others, in two groups side by side that take about the same time: each
# waits for its servers and for its least times more than half of the time. Nothing else runs
# beside them but what scripts/beside.sh starts.
TUNING = ^(TestTuneUnderLoad|TestPriceUnderLoad)$$

test-alone:
	@$(MAKE) --no-print-directory -j 2 test-tuning test-loads

test-tuning:
	$(RACE) -p 1 -run '$(TUNING)' ./cmd/iikanji
	$(RACE) -p 1 -run 'UnderLoad$$' \
		$$(grep -rl --include='*_test.go' -E '^func Test[A-Za-z0-9]*UnderLoad\(' . | xargs -n 1 dirname | sort -u | grep -v '^./cmd/iikanji$$')

test-loads:
	$(RACE) -p 1 -run 'UnderLoad$$' -skip '$(TUNING)' ./cmd/iikanji

# Tests that failed beside others, one after the other.
test-repeat:
	@scripts/repeat.sh alone

# Random inputs are no part of `check`, which replays the committed ones: see
# docs/adr/0008. fuzz-grow also commits to testdata/fuzz what it found.
fuzz:
	@scripts/fuzz.sh hunt $(FUZZ_SECONDS)

fuzz-grow:
	@scripts/fuzz.sh grow $(FUZZ_SECONDS)

bench: setup-check build
	go run ./bench/access
	go run ./bench/routes
	go run ./bench/digests
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
