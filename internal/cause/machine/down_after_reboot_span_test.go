package machine

import (
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// spans are in seconds; a negative value is not a span.
var spans = map[string]float64{
	"5": 5, "0": 0, "100ms": 0.1, "2min 200ms": 120.2, "1h30m": 5400, "1.5s": 1.5, "1d 2": 86402, "3 weeks": 1814400, "7µs": 7e-6, "1M": 2629800,
	"": -1, "s": -1, "-1s": -1, "1..2": -1, "5 furlongs": -1, "1e3": -1, "infinity": math.Inf(1), "infinity 5": -1,
}

func TestSpan(t *testing.T) {
	for text, want := range spans {
		got, ok := span(text)
		if !ok {
			got = -1
		}
		if got != want && math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestSpanAgainstSystemd compares the spans with the real systemd.
func TestSpanAgainstSystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here: spans are held against the table only")
	}
	for text, want := range spans {
		if math.IsInf(want, 1) || strings.HasPrefix(text, "-") { // printed as a word; an option
			continue
		}
		out, err := exec.CommandContext(t.Context(), analyze, "timespan", text).Output()
		got := -1.0
		for line := range strings.Lines(string(out)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && err == nil && strings.HasSuffix(name, "s") && len(name) == 3 {
				if us, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
					got = us / 1e6
				}
			}
		}
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: systemd says %v, want %v:\n%s", text, got, want, out)
		}
	}
}

func FuzzSpan(f *testing.F) {
	for text := range spans {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, ok := span(text); ok && (s < 0 || math.IsNaN(s)) {
			t.Errorf("%q: %v", text, s)
		}
	})
}
