package machine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Defaults of systemd: systemd-system.conf(5) for the start limit,
// systemd.service(5) for the others.
const (
	defaultInterval = "10s"
	defaultBurst    = "5"
	defaultDelay    = "100ms"
	defaultRestart  = "no"
)

// mostStarts bounds the simulation: a larger burst is not a limit in practice.
const mostStarts = 1 << 20

// restarts is how systemd restarts a service that fails at once.
type restarts struct {
	again    bool    // it is started again
	tries    int     // starts before systemd gives up; 0 for never
	patience float64 // least number of seconds from the first start to the last of them
	rows     []iikanji.Evidence
}

// restartsOf applies Restart= and the start limit: more than StartLimitBurst
// starts within StartLimitIntervalSec, counted from the first, are refused, and
// the unit stays down.
func restartsOf(u fact.Unit) restarts {
	policy := lastOf(u, defaultRestart, func(s string) bool { return slices.Contains(policies, s) }, "Service.Restart")
	r := restarts{again: policy.Value == "always" || policy.Value == "on-failure"}
	r.show(policy)
	delay := lastOf(u, defaultDelay, isSpan, "Service.RestartSec", "Manager.DefaultRestartSec")
	first, _ := span(delay.Value)
	if !r.again {
		return r
	}
	r.show(delay)
	if math.IsInf(first, 1) {
		r.again = false
		return r
	}
	interval := lastOf(u, defaultInterval, isSpan, "Unit.StartLimitIntervalSec", "Unit.StartLimitInterval", "Service.StartLimitInterval", "Manager.DefaultStartLimitIntervalSec", "Manager.DefaultStartLimitInterval")
	burst := lastOf(u, defaultBurst, isCount, "Unit.StartLimitBurst", "Service.StartLimitBurst", "Manager.DefaultStartLimitBurst")
	r.show(interval, burst)
	for _, s := range u.Settings {
		if s.Section == "Service" && s.Key == "StartLimitIntervalSec" {
			r.rows = append(r.rows, iikanji.Evidence{Source: "unit", Text: settingText(s) + " stands in [Service], where systemd passes over it: it belongs into [Unit]"})
		}
	}
	window, _ := span(interval.Value)
	n, _ := strconv.ParseUint(burst.Value, 0, 32)
	if window == 0 || n == 0 { // no limit
		return r
	}
	n = min(n, mostStarts)
	at, steps := 0.0, delays(u, first)
	for i := uint64(1); i <= n; i++ { // at is the time of start number i
		next := at + steps(int(i))
		if next > window {
			return r // a new interval begins: systemd never gives up
		}
		if i == n || first == 0 { // without a delay all starts are at the same time
			break
		}
		at = next
	}
	r.tries, r.patience = int(n), at
	return r
}

// policies are the values of Restart=. Only "always" and "on-failure" restart a
// program that exits with a failure.
var policies = []string{"no", "on-success", "on-failure", "on-abnormal", "on-watchdog", "on-abort", "always"}

// delays computes the wait before the i-th restart: RestartSec, or growing from
// it to RestartMaxDelaySec in RestartSteps (systemd 254).
func delays(u fact.Unit, first float64) func(i int) float64 {
	most, _ := span(lastOf(u, "infinity", isSpan, "Service.RestartMaxDelaySec").Value)
	n, _ := strconv.ParseUint(lastOf(u, "0", isCount, "Service.RestartSteps").Value, 0, 32)
	return func(i int) float64 {
		switch {
		case i <= 1 || n == 0 || first == 0 || math.IsInf(most, 1) || first >= most:
			return first
		case uint64(i) > n:
			return most
		}
		return first * math.Pow(most/first, float64(i-1)/float64(n))
	}
}

func (r *restarts) show(settings ...fact.Setting) {
	for _, s := range settings {
		r.rows = append(r.rows, iikanji.Evidence{Source: "unit", Text: settingText(s)})
	}
}

// lastOf is the last valid assignment of a setting, which may have several
// names as in "Service.Restart". Assignments in systemd's own configuration
// count only if the unit has none; the default is last.
func lastOf(u fact.Unit, def string, valid func(string) bool, names ...string) fact.Setting {
	_, key, _ := strings.Cut(names[0], ".")
	best := fact.Setting{Key: key, Value: def}
	for _, s := range u.Settings {
		if !slices.Contains(names, s.Section+"."+s.Key) || !valid(s.Value) {
			continue
		}
		if s.Section != "Manager" || best.Section == "" || best.Section == "Manager" {
			best = s
		}
	}
	return best
}

// settingText formats a setting with its file and line.
func settingText(s fact.Setting) string {
	if s.File == "" {
		return fmt.Sprintf("%s=%s (systemd's default)", s.Key, s.Value)
	}
	return fmt.Sprintf("%s=%s (%s:%d)", s.Key, cause.Cut(s.Value, 100), s.File, s.Line)
}

func isCount(text string) bool { _, err := strconv.ParseUint(text, 0, 32); return err == nil }
func isSpan(text string) bool  { _, ok := span(text); return ok }

// spanUnits are the units of time spans, in seconds (systemd.time(7)).
var spanUnits = map[string]float64{
	"": 1, "s": 1, "sec": 1, "second": 1, "seconds": 1,
	"us": 1e-6, "usec": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "msec": 1e-3,
	"m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
	"d": 86400, "day": 86400, "days": 86400, "w": 604800, "week": 604800, "weeks": 604800,
	"M": 2629800, "month": 2629800, "months": 2629800, "y": 31557600, "year": 31557600, "years": 31557600,
}

// span reads a time span as in "5", "2min 200ms" or "infinity". Seconds.
func span(text string) (float64, bool) {
	rest := strings.TrimSpace(text)
	if rest == "infinity" {
		return math.Inf(1), true
	}
	sum := 0.0
	for first := true; rest != "" || first; first = false {
		number, after := cutWhile(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		n, err := strconv.ParseFloat(number, 64)
		unit, next := cutWhile(strings.TrimLeft(after, " \t"), unicode.IsLetter)
		size, ok := spanUnits[unit]
		if err != nil || !ok {
			return 0, false
		}
		sum, rest = sum+n*size, strings.TrimLeft(next, " \t")
	}
	return sum, true
}

// cutWhile splits off the leading runes of a kind.
func cutWhile(s string, of func(rune) bool) (head, tail string) {
	i := strings.IndexFunc(s, func(r rune) bool { return !of(r) })
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}
