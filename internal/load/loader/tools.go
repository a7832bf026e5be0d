package loader

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A tool is a load tool whose output is known. read returns false for the output
// of another program.
type tool struct {
	name target.Tool
	read func(text string, docs []any) (Result, bool)
}

// tools are tried in this order: the output of oha has the lines of hey, too.
var tools = []tool{{"k6", readK6}, {"vegeta", readVegeta}, {"oha", readOha}, {"hey", readHey}, {"wrk", readWrk}, {"ab", readAB}, {"gotest", readGoTest}}

// numberText matches a number of an output.
const numberText = `([0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)`

// lineNumber returns the number of the last line that matches an expression with one number.
func lineNumber(re *regexp.Regexp, text string) (float64, bool) {
	all := re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0, false
	}
	return parseNumber(all[len(all)-1][1])
}

// fails adds a reason if an expression with a number matches with more than 0.
func (r *Result) fails(re *regexp.Regexp, text, reason string) {
	if n, ok := lineNumber(re, text); ok && n > 0 {
		r.Failed = append(r.Failed, fmt.Sprintf("%s: %g", reason, n))
	}
}

var (
	k6Reqs      = regexp.MustCompile(`(?m)^\s*[✓✗]?\s*http_reqs\.*:\s*([0-9]+)\s+` + numberText + `/s`)
	k6Failed    = regexp.MustCompile(`(?m)^\s*http_req_failed\.*:\s*` + numberText + `%`)
	k6Threshold = regexp.MustCompile(`(?m)^\s*✗ '.*$|thresholds on metrics? .* (?:have|has) been crossed`)
	k6Checks    = regexp.MustCompile(`(?m)^\s*checks_failed\.*:\s*` + numberText + `%`)
	k6OldChecks = regexp.MustCompile(`(?m)^\s*checks\.*:\s*` + numberText + `%`)
)

func readK6(text string, _ []any) (Result, bool) {
	m := k6Reqs.FindStringSubmatch(text)
	if m == nil {
		return Result{}, false
	}
	r := Result{}
	r.Requests, _ = strconv.ParseInt(m[1], 10, 64)
	r.Score, _ = parseNumber(m[2])
	r.fails(k6Failed, text, "percent of requests that failed")
	r.fails(k6Checks, text, "percent of checks that failed")
	if share, ok := lineNumber(k6OldChecks, text); ok && share < 100 {
		r.Failed = append(r.Failed, fmt.Sprintf("percent of checks that failed: %g", 100-share))
	}
	if line := k6Threshold.FindString(text); line != "" {
		r.Failed = append(r.Failed, "a threshold was crossed: "+strings.TrimSpace(line))
	}
	return r, true
}

var (
	vegetaRequests = regexp.MustCompile(`(?m)^Requests\s+\[total, rate(?:, throughput)?\]\s+([0-9]+), ` + numberText + `(?:, ` + numberText + `)?`)
	vegetaSuccess  = regexp.MustCompile(`(?m)^Success\s+\[ratio\]\s+` + numberText + `%`)
	vegetaErrors   = regexp.MustCompile(`(?s)Error Set:\n(.*)`)
)

func readVegeta(text string, docs []any) (Result, bool) {
	if r, ok := vegetaJSON(docs); ok {
		return r, true
	}
	m := vegetaRequests.FindStringSubmatch(text)
	if m == nil {
		return Result{}, false
	}
	r := Result{}
	r.Requests, _ = strconv.ParseInt(m[1], 10, 64)
	rate := m[3]    // answers a second
	if rate == "" { // before vegeta 12: requests a second
		rate = m[2]
	}
	r.Score, _ = parseNumber(rate)
	if share, ok := lineNumber(vegetaSuccess, text); !ok || share < 100 {
		r.Failed = append(r.Failed, fmt.Sprintf("success ratio: %g %%", share))
	}
	if m := vegetaErrors.FindStringSubmatch(text); m != nil {
		for line := range strings.Lines(m[1]) {
			if line = strings.TrimSpace(line); line != "" {
				r.Faults = append(r.Faults, line)
			}
		}
	}
	return r, true
}

// vegetaJSON reads "vegeta report -type=json".
func vegetaJSON(docs []any) (Result, bool) {
	for _, doc := range docs {
		d, ok := doc.(map[string]any)
		if !ok || d["throughput"] == nil || d["success"] == nil || d["status_codes"] == nil {
			continue
		}
		r := Result{}
		r.Score, _ = numberOf(d["throughput"])
		if n, ok := numberOf(d["requests"]); ok {
			r.Requests = int64(n)
		}
		if share, _ := numberOf(d["success"]); share < 1 {
			r.Failed = append(r.Failed, fmt.Sprintf("success ratio: %g %%", 100*share))
		}
		if list, ok := d["errors"].([]any); ok {
			for _, e := range list {
				r.Faults = append(r.Faults, textOf(e))
			}
		}
		return r, true
	}
	return Result{}, false
}

var (
	heyRate    = regexp.MustCompile(`(?m)^\s*Requests/sec:\s*` + numberText)
	heyStatus  = regexp.MustCompile(`(?m)^\s*\[([0-9]{3})\]\s+([0-9]+) responses`)
	heyErrors  = regexp.MustCompile(`(?m)^\s*\[([0-9]+)\]\s+(.*)$`)
	ohaSuccess = regexp.MustCompile(`(?m)^\s*Success rate:\s*` + numberText + `%`)
)

// statuses reads the distributions of status codes and errors of hey and oha.
// Requests that the end of the time cut off are not errors.
func (r *Result) statuses(text string) {
	codes, errors, _ := strings.Cut(text, "Error distribution:")
	for _, m := range heyStatus.FindAllStringSubmatch(codes, -1) {
		n, _ := strconv.ParseInt(m[2], 10, 64)
		r.Requests += n
		if m[1] >= "400" {
			r.Errors += n
			r.Failed = append(r.Failed, fmt.Sprintf("%d answers with status %s", n, m[1]))
		}
	}
	for _, m := range heyErrors.FindAllStringSubmatch(errors, -1) {
		if strings.Contains(m[2], "aborted due to deadline") {
			continue
		}
		n, _ := strconv.ParseInt(m[1], 10, 64)
		r.Errors += n
		r.Faults = append(r.Faults, fmt.Sprintf("%s (%d times)", m[2], n))
	}
	if len(r.Faults) > 0 {
		r.Failed = append(r.Failed, fmt.Sprintf("%d requests failed", r.Errors))
	}
}

func readOha(text string, docs []any) (Result, bool) {
	if r, ok := ohaJSON(docs); ok {
		return r, true
	}
	share, ok := lineNumber(ohaSuccess, text)
	if !ok {
		return Result{}, false
	}
	r := Result{}
	if r.Score, ok = lineNumber(heyRate, text); !ok {
		return r, false
	}
	r.statuses(text)
	if share < 100 {
		r.Failed = append(r.Failed, fmt.Sprintf("success rate: %g %%", share))
	}
	return r, true
}

// ohaJSON reads "oha --output-format json".
func ohaJSON(docs []any) (Result, bool) {
	for _, doc := range docs {
		d, _ := doc.(map[string]any)
		summary, _ := d["summary"].(map[string]any)
		codes, ok := d["statusCodeDistribution"].(map[string]any)
		rate, hasRate := numberOf(summary["requestsPerSec"])
		if !ok || !hasRate {
			continue
		}
		r := Result{Score: rate}
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			n, _ := numberOf(codes[code])
			r.Requests += int64(n)
			if code >= "400" {
				r.Errors += int64(n)
				r.Failed = append(r.Failed, fmt.Sprintf("%g answers with status %s", n, code))
			}
		}
		errors, _ := d["errorDistribution"].(map[string]any)
		for _, what := range slices.Sorted(maps.Keys(errors)) {
			if strings.Contains(what, "aborted due to deadline") {
				continue
			}
			n, _ := numberOf(errors[what])
			r.Errors += int64(n)
			r.Faults = append(r.Faults, fmt.Sprintf("%s (%g times)", what, n))
		}
		if share, ok := numberOf(summary["successRate"]); ok && share < 1 {
			r.Failed = append(r.Failed, fmt.Sprintf("success rate: %g %%", 100*share))
		}
		return r, true
	}
	return Result{}, false
}

func readHey(text string, _ []any) (Result, bool) {
	r := Result{}
	var ok bool
	if r.Score, ok = lineNumber(heyRate, text); !ok || !strings.Contains(text, "Response time histogram:") {
		return r, false
	}
	r.statuses(text)
	if r.Requests == 0 {
		r.Failed = append(r.Failed, "no request was answered")
	}
	return r, true
}

var (
	wrkRate   = regexp.MustCompile(`(?m)^Requests/sec:\s*` + numberText)
	wrkCount  = regexp.MustCompile(`(?m)^\s*([0-9]+) requests in `)
	wrkBad    = regexp.MustCompile(`(?m)^\s*Non-2xx or 3xx responses: ([0-9]+)`)
	wrkSocket = regexp.MustCompile(`(?m)^\s*Socket errors: (.*)$`)
)

func readWrk(text string, _ []any) (Result, bool) {
	rate, ok := lineNumber(wrkRate, text)
	n, counted := lineNumber(wrkCount, text)
	if !ok || !counted {
		return Result{}, false
	}
	r := Result{Score: rate, Requests: int64(n)}
	r.fails(wrkBad, text, "answers that are neither 2xx nor 3xx")
	if m := wrkSocket.FindStringSubmatch(text); m != nil {
		r.Failed = append(r.Failed, "socket errors: "+m[1])
		r.Faults = append(r.Faults, m[0])
	}
	if r.Requests == 0 {
		r.Failed = append(r.Failed, "no request was answered")
	}
	return r, true
}

var (
	abRate     = regexp.MustCompile(`(?m)^Requests per second:\s*` + numberText)
	abComplete = regexp.MustCompile(`(?m)^Complete requests:\s*([0-9]+)`)
	abFailed   = regexp.MustCompile(`(?m)^Failed requests:\s*([0-9]+)`)
	abWrite    = regexp.MustCompile(`(?m)^Write errors:\s*([0-9]+)`)
	abNon2xx   = regexp.MustCompile(`(?m)^Non-2xx responses:\s*([0-9]+)`)
)

func readAB(text string, _ []any) (Result, bool) {
	rate, ok := lineNumber(abRate, text)
	n, counted := lineNumber(abComplete, text)
	if !ok || !counted {
		return Result{}, false
	}
	r := Result{Score: rate, Requests: int64(n)}
	r.fails(abFailed, text, "failed requests")
	r.fails(abWrite, text, "write errors")
	r.fails(abNon2xx, text, "answers that are not 2xx")
	return r, true
}

var (
	goBench = regexp.MustCompile(`(?m)^Benchmark\S+\s+[0-9]+\s+` + numberText + ` ns/op`)
	goEnd   = regexp.MustCompile(`(?m)^(PASS|FAIL|ok\s|--- FAIL)`)
)

// readGoTest takes the geometric mean of operations per second, so that each
// benchmark has the same weight.
func readGoTest(text string, _ []any) (Result, bool) {
	all := goBench.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return Result{}, false
	}
	var rates []float64 // operations per second
	for _, m := range all {
		ns, ok := parseNumber(m[1])
		if !ok || ns <= 0 {
			return Result{}, false
		}
		rates = append(rates, 1e9/ns)
	}
	r := Result{Score: stats.GeometricMean(rates)}
	ends := goEnd.FindAllString(text, -1)
	if len(ends) == 0 || strings.Contains(strings.Join(ends, " "), "FAIL") {
		r.Failed = append(r.Failed, "go test did not end with PASS")
	}
	return r, true
}
