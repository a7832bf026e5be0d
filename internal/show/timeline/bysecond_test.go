package timeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

// TestKeptSeconds: the seconds of a run without samples are read back, also packed,
// and are gone when they were pruned.
func TestKeptSeconds(t *testing.T) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, _, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 11, 22, 10, 0, 0, 123456789, time.UTC)
	seconds := &bench.Seconds{From: from, All: []bench.Second{{Answers: 120, Errors: 1, P50: 1500 * time.Microsecond, P95: 9 * time.Millisecond, P99: time.Second}, {}}}
	var samples []hoststat.Sample
	for i := range 3 { // the last one is after the last answer
		samples = append(samples, hoststat.Sample{At: from.Add(time.Duration(i+1)*time.Second + 20*time.Millisecond), User: 1, System: 0.5,
			Services: []hoststat.ServiceSample{{Name: "検索\tapp", User: float64(i), System: 0.25}, {Name: "other", User: 1}}})
	}
	if err := timeline.SaveSeconds(h, id, seconds, samples, nil); err != nil {
		t.Fatal(err)
	}
	const want = "[120 0] [1 0] [1.5 0] [9 0] [1000 0] [{host [1.5 1.5 1.5]} {検索_app [0.25 1.25 2.25]}] 3 true"
	check := func(state string) {
		t.Helper()
		s, err := timeline.SecondsOf(h, id, nil)
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if got := fmt.Sprint(s.Answers, s.Errors, s.P50, s.P95, s.P99, s.CPU, s.Length(), s.From.Equal(from)); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
	check("as written")
	if p, err := h.Pack(0, 1<<30); err != nil || p.Packed != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	check("packed")
	if p, err := h.Pack(0, 0); err != nil || p.Pruned != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := timeline.SecondsOf(h, id, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("pruned: %v", err)
	}
	if err := timeline.SaveSeconds(h, id, nil, nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := timeline.SecondsOf(h, id, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to keep, but there is a file: %v", err)
	}
}
