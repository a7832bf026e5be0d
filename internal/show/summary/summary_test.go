package summary_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
)

func load(t testing.TB, dir string) (*summary.Summary, *history.History) {
	t.Helper()
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	s, err := summary.Load(h, "toy")
	if err != nil {
		t.Fatal(err)
	}
	return s, h
}

// TestLoad compares the summary of a search with what the search itself saw.
func TestLoad(t *testing.T) {
	s, h := load(t, summarytest.Make(t))
	rec, err := tune.ReadRecord(h)
	if err != nil || len(rec.Searches) != 1 {
		t.Fatalf("%d searches, %v", len(rec.Searches), err)
	}
	if s.Headline == nil || s.Headline.Derived || s.Headline.Ratio != rec.Searches[0].Ratio || math.Abs(s.Headline.Ratio.Mid-3) > 0.3 || s.Headline.Pairs != 4 {
		t.Fatalf("headline %+v, want a ratio of about 3 of 4 pairs", s.Headline)
	}
	parts := map[summary.Part]int{}
	for _, r := range s.Runs {
		parts[r.Part]++
		switch r.Part {
		case summary.PartUntouched: // the noise is also measured with what was kept
			if len(r.With) > 0 {
				t.Errorf("run %d of %s has changes %v", r.ID, r.Part, r.With)
			}
		case summary.PartWith, summary.PartFinal:
			if len(r.With) == 0 {
				t.Errorf("run %d of %s has no change", r.ID, r.Part)
			}
		}
		if r.Part == summary.PartWith && r.Trial == 0 || r.Part == summary.PartWithout && r.Trial == 0 {
			t.Errorf("run %d of %s has no trial", r.ID, r.Part)
		}
	}
	if parts[summary.PartCalibration] != 6 || parts[summary.PartUntouched] != 4 || parts[summary.PartFinal] != 4 || parts[summary.PartObserved] < 2 || parts[summary.PartWith] < 2 {
		t.Errorf("parts %v", parts)
	}
	results := map[string]int{}
	for _, x := range s.Trials {
		results[x.Result]++
	}
	if results["keep"] != 1 || results["revert"] != 2 {
		t.Errorf("results %v, want one kept and two reverted", results)
	}
	for _, c := range s.Changes {
		if c.Claim == "" || len(c.Evidence) == 0 || c.Diff == "" || c.Verdict == nil || len(c.Moves) < 3 {
			t.Errorf("change %d is not complete: %+v", c.ID, c)
		}
	}
	if len(s.Routes.Rows) != 2 || len(s.CPU.Rows) != 2 || len(s.Digests.Rows) != 1 {
		t.Fatalf("compared %d routes, %d services, %d digests", len(s.Routes.Rows), len(s.CPU.Rows), len(s.Digests.Rows))
	}
	if d := s.Digests.Rows[0]; d.A.Mean != 40 || d.B.Mean != 1 || d.A.Rows != 10 {
		t.Errorf("the statement is %+v, want means of 40 and 1 ms", d)
	}
	if r := s.Routes.Rows[0]; r.Key != summarytest.HostileRoute || r.A.Mean < 2.5*r.B.Mean || math.Abs(r.A.Share-2./3) > 0.01 {
		t.Errorf("the first route is %+v", r)
	}
	if len(s.Notes) != 1 || s.Notes[0].Run != 3 || s.Machine == nil || s.Machine.CPU != "Toy CPU" || len(s.Commands) == 0 || s.Commands[0] != "iikanji tune toy --seed 1" {
		t.Errorf("notes %+v, machine %+v, commands %q", s.Notes, s.Machine, s.Commands)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

// TestDerived: without the record of the search, the pairs of the journal give the
// same headline.
func TestDerived(t *testing.T) {
	dir := summarytest.Make(t)
	want, _ := load(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "searches")); err != nil {
		t.Fatal(err)
	}
	got, _ := load(t, dir)
	if got.Headline == nil || !got.Headline.Derived || fmt.Sprint(got.Headline.Untouched, got.Headline.Final) != fmt.Sprint(want.Headline.Untouched, want.Headline.Final) ||
		math.Abs(got.Headline.Ratio.Mid-want.Headline.Ratio.Mid) > 1e-9 || math.Abs(got.Headline.Ratio.Lo-want.Headline.Ratio.Lo) > 1e-9 {
		t.Errorf("derived %+v\nrecorded %+v", got.Headline, want.Headline)
	}
}

// TestNewerSearch: a record of a newer version is refused by name.
func TestNewerSearch(t *testing.T) {
	dir := summarytest.Make(t)
	if err := os.WriteFile(filepath.Join(dir, "searches", "0002.json"), []byte(`{"version": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := summary.Load(h, "toy"); err == nil || !strings.Contains(err.Error(), "0002.json has version 99") {
		t.Errorf("a record of version 99: %v", err)
	}
}

// TestClone: a history without the files that are not committed still has its runs,
// trials, changes and headline.
func TestClone(t *testing.T) {
	dir := summarytest.Make(t)
	whole, _ := load(t, dir)
	for _, pattern := range []string{"facts.json", "slow.json", "errors.json"} {
		files, err := filepath.Glob(filepath.Join(dir, "runs", "*", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, _ := load(t, dir)
	if len(s.Runs) != len(whole.Runs) || len(s.Trials) != len(whole.Trials) || s.Headline == nil || len(s.Observed) != len(whole.Observed) {
		t.Errorf("%d runs, %d trials, headline %v", len(s.Runs), len(s.Trials), s.Headline)
	}
	for _, o := range s.Observed {
		if o.Error == "" {
			t.Errorf("observed run %d: no error", o.Run)
		}
	}
}

// TestReplay plans the way to the states of every run, and checks it against the
// state that the summary gives the run.
func TestReplay(t *testing.T) {
	s, h := load(t, summarytest.Make(t))
	changes, err := h.Changes()
	if err != nil {
		t.Fatal(err)
	}
	var now []iikanji.ChangeID // the final state: the last run may be one of the untouched site
	for _, c := range changes {
		if c.Stage == iikanji.Kept {
			now = append(now, c.ID)
		}
	}
	if len(now) == 0 {
		t.Fatal("the history has no kept change")
	}
	for _, r := range s.Runs {
		p, err := summary.ReplayOf(h, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		state := map[iikanji.ChangeID]bool{}
		for _, id := range now {
			state[id] = true
		}
		for _, id := range p.Revert {
			if !state[id] {
				t.Errorf("run %d: change %d is undone and was not applied", r.ID, id)
			}
			delete(state, id)
		}
		for _, id := range p.Apply {
			state[id] = true
		}
		if len(state) != len(r.With) {
			t.Errorf("run %d: %v leads to %v, want %v", r.ID, p, state, r.With)
		}
		for _, id := range r.With {
			if !state[id] {
				t.Errorf("run %d: change %d is missing", r.ID, id)
			}
		}
	}
	if _, err := summary.ReplayOf(h, 9999); err == nil {
		t.Error("a run that is not in the journal was planned")
	}
}

// TestCompare: two observed runs differ in what was changed between them.
func TestCompare(t *testing.T) {
	s, h := load(t, summarytest.Make(t))
	first, last := s.Observed[0].Run, s.Observed[len(s.Observed)-1].Run
	a, err := summary.Of(h, first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := summary.Of(h, last)
	if err != nil {
		t.Fatal(err)
	}
	d := summary.Compare(a, b)
	if len(d.OnlyA) != 0 || len(d.OnlyB) == 0 || d.Ratio < 2 || len(d.Doubts) != 0 || len(d.Digests.Rows) != 1 || len(d.Host) < 2 {
		t.Errorf("%+v", d)
	}
	b.Facts[0].Value = "11"
	b.Run.Seed = 2
	d = summary.Compare(a, b)
	if len(d.Settings) != 1 || d.Settings[0].A != "10.11.0-Toy" || d.Settings[0].B != "11" || len(d.Doubts) != 1 {
		t.Errorf("settings %+v, doubts %q", d.Settings, d.Doubts)
	}
}

func TestParseHost(t *testing.T) {
	good := "time\tservice\tuser_cores\tsystem_cores\trss_bytes\n" +
		"2026-11-22T01:00:00Z\thost\t0.5\t0.25\t100\n2026-11-22T01:00:00Z\tother/x\t1\t1\t1\n" +
		"2026-11-22T01:00:01Z\thost\t1\t0\t200\n2026-11-22T01:00:01Z\tapp\t0.5\t0\t10\n"
	s, err := summary.ParseHost([]byte(good))
	if err != nil || len(s.At) != 2 || len(s.Services) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if got := fmt.Sprint(s.Services); got != "[{host [0.75 1] [100 200]} {app [0 0.5] [0 10]}]" {
		t.Error(got)
	}
	for _, bad := range []string{"", "time\tservice\n", strings.Replace(good, "2026", "x", 1)} {
		if _, err := summary.ParseHost([]byte(bad)); err == nil {
			t.Errorf("%.20q was read", bad)
		}
	}
}

// FuzzParseHost: no file panics, and every series has a value for each sample.
func FuzzParseHost(f *testing.F) {
	f.Add([]byte("time\tservice\tuser_cores\tsystem_cores\trss_bytes\n2026-11-22T01:00:00Z\thost\t0.5\t0.25\t100\n"))
	f.Fuzz(func(t *testing.T, tsv []byte) {
		s, err := summary.ParseHost(tsv)
		if err != nil {
			return
		}
		for _, v := range s.Services {
			if len(v.Cores) != len(s.At) || len(v.Memory) != len(s.At) {
				t.Fatalf("%d samples, %d and %d values of %q", len(s.At), len(v.Cores), len(v.Memory), v.Name)
			}
		}
	})
}

// TestReplaySensors: the logs of an observation are not part of the state of its run.
func TestReplaySensors(t *testing.T) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var run iikanji.RunID
	for _, kind := range []string{"ddl", "sensor"} {
		c := &iikanji.Change{Kind: kind}
		if err := h.AddChange(c, ""); err != nil {
			t.Fatal(err)
		}
		for _, to := range []iikanji.Stage{iikanji.Applying, iikanji.Applied, iikanji.Reverting, iikanji.Reverted} {
			if to == iikanji.Reverting && kind == "ddl" {
				break
			}
			if to == iikanji.Reverting {
				if run, _, err = h.NewRun(); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.MoveChange(c.ID, to, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r, err := summary.ReplayOf(h, run); err != nil || len(r.Apply)+len(r.Revert) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// thousand makes a history of n runs with bare data.
func thousand(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	template, _ := load(t, summarytest.Make(t))
	steps := make([]iikanji.StepStat, 20)
	for i := range steps {
		steps[i] = iikanji.StepStat{Step: fmt.Sprintf("GET /route/%d", i), Count: 100, Total: time.Second, Mean: 10 * time.Millisecond}
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	var journal strings.Builder
	for i := 1; i <= n; i++ { // written directly: a sync for each event would take minutes
		run := iikanji.Run{Version: iikanji.RunVersion, ID: iikanji.RunID(i), Scenario: "toy", Began: template.Runs[0].Began.Add(time.Duration(i) * time.Minute), Took: 10 * time.Second, Outcome: iikanji.Passed, Score: 1000 + float64(i), Steps: steps}
		b, err := json.MarshalIndent(run, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, "runs", fmt.Sprintf("%04d", i))
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "run.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		stamp := run.Began.Format(time.RFC3339)
		fmt.Fprintf(&journal, `{"v":1,"seq":%d,"at":"%s","what":"run-begun","run":%d}`+"\n"+`{"v":1,"seq":%d,"at":"%s","what":"run-saved","run":%d,"outcome":"passed","score":%d}`+"\n", 2*i-1, stamp, i, 2*i, stamp, i, 1000+i)
	}
	if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(journal.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// cpuTime is what this process has used so far. Wall time would also count other
// programs on the machine.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestThousandRuns: a history of a thousand runs opens in less than a second.
func TestThousandRuns(t *testing.T) {
	tier.Slow(t)
	dir := thousand(t, 1000)
	before := cpuTime(t)
	s, _ := load(t, dir)
	took := cpuTime(t) - before
	if len(s.Runs) != 1000 || took > time.Second*slowness {
		t.Errorf("%d runs in %s of CPU", len(s.Runs), took)
	}
}

// BenchmarkThousandRuns loads a history of a thousand runs.
func BenchmarkThousandRuns(b *testing.B) {
	dir := thousand(b, 1000)
	for b.Loop() {
		load(b, dir)
	}
}
