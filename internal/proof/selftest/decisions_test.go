package selftest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/proof/search"
)

// A trail is the steps of a search in a line; what repeats is counted.
type trail struct {
	steps []string
	times int
}

// add adds a step.
func (tr *trail) add(_ search.State, step search.Step) {
	n, text := len(tr.steps), strings.ReplaceAll(step.String(), "change k", "k")
	if n > 0 && (tr.steps[n-1] == text || strings.HasPrefix(tr.steps[n-1], text+" ×")) {
		tr.times++
		tr.steps[n-1] = fmt.Sprintf("%s × %d", text, tr.times)
		return
	}
	tr.steps, tr.times = append(tr.steps, text), 1
}

// TestDecisions: the steps of one simulated search of each kind are those that were recorded.
// A change of the strategy shows here: UPDATE=1 writes them again, to be read.
func TestDecisions(t *testing.T) {
	minutes := nulls(World{Sigma: 0.06}, 20*time.Minute)
	minutes.Name, minutes.Options.Short, minutes.Options.Watch, minutes.Options.Pairs = "15 × 0 %, runs of a minute, 20 min", time.Minute, time.Minute, 2
	again := mixed(World{Sigma: 0.05}, quarter, 8, 0, 4, 0.30)
	again.Name += ", each promises 0.6"
	for i := range again.Candidates {
		again.Candidates[i].Promise = 0.6
	}
	kinds := append(Searches(), minutes, again, Ladder(World{Sigma: 0.05}, 0))
	var all strings.Builder
	for k, s := range kinds {
		var tr trail
		s.Trace = tr.add
		if _, err := s.Run(t.Context(), 700, uint64(k)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n  %s\n\n", s.Name, strings.Join(tr.steps, "\n  "))
	}
	const file = "testdata/decisions.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(all.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of %s: recorded %q, now %q", i+1, file, line, append(got, "", "")[min(i, len(got))])
		}
	}
}
