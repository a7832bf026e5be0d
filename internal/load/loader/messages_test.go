package loader

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestMessages: a run has what its benchmarker said, by the table and by the site's file.
func TestMessages(t *testing.T) {
	l := command(t, `echo "users did not increase"; echo "users did not increase"; echo "crowd level stays at 3" >&2; echo score: 12`)
	l.Bench.Messages = []target.Message{{Match: "^crowd level", Means: iikanji.MeansNoGrowth, Route: "GET /api/trend"}}
	run := load(t, l, field.Load{})
	no := map[string]iikanji.Message{}
	for _, m := range run.Messages {
		if m.Means == iikanji.MeansNoGrowth {
			no[m.Text] = m
		}
	}
	if no["users did not increase"].Count != 2 || no["crowd level stays at 3"].Route != "GET /api/trend" || len(no) != 2 || run.Outcome != iikanji.Passed {
		t.Errorf("%+v", run.Messages)
	}
}

// TestSlowerSince: a run is named where all since it are slower than the median before.
func TestSlowerSince(t *testing.T) {
	for name, c := range map[string]struct {
		past  []float64 // seconds
		now   float64
		since iikanji.RunID
	}{
		"since run 4":              {[]float64{11, 10, 12, 23, 24}, 24, 4},
		"it came back":             {[]float64{11, 23, 11, 12}, 11.5, 0},
		"the present one only":     {[]float64{11, 11}, 24, 0},
		"the first run":            {nil, 24, 0},
		"a quarter of little":      {[]float64{1, 1.3, 1.4}, 1.5, 0},
		"slower, and slower again": {[]float64{5, 10, 20}, 20, 2},
	} {
		var past []Initialized
		for i, s := range c.past {
			past = append(past, Initialized{iikanji.RunID(i + 1), time.Duration(s * float64(time.Second))})
		}
		if _, since := slowerSince(past, time.Duration(c.now*float64(time.Second))); since != c.since {
			t.Errorf("%s: since run %d, want %d", name, since, c.since)
		}
	}
}
