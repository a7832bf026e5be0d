package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/propose"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

func TestMain(m *testing.M) {
	stack.MaybeSupervise()
	os.Exit(m.Run())
}

// workFolder returns a folder that the services may enter.
func workFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "iikanji-worse-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTicketsUnderLoad checks that the app answers correctly under its own load, that the
// proposed larger pool takes effect, and that undoing it restores every byte.
func TestTicketsUnderLoad(t *testing.T) {
	tier.Slow(t)
	dir := filepath.Join(workFolder(t), "tickets")
	a := ticketsArena()
	err := arenasite.Use(t.Context(), a, stack.Options{Dir: dir}, func(ctx context.Context, p *arenasite.Subject) error {
		url := p.Stack.Places().URL()
		answersRight(t, url)
		loaded(ctx, t, p)
		hold := heldRow(ctx, t, p)
		if got := pooled(ctx, t, p, url, hold, 10); got != 10 {
			t.Errorf("the app had %d connections at once, its source says 10", got)
		}
		source := filepath.Join(p.Site().Services["app"].Source, "main.go")
		before, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		h, err := history.Open(filepath.Join(dir, "..", "history"))
		if err != nil {
			return err
		}
		defer h.Close()
		acts := &change.Executor{Hands: p.Site(), Journal: h, Policy: p.Site().Target.Policy}
		if err := give(ctx, p.Site(), h, acts, proposals[0].remedy); err != nil {
			return err
		}
		if got := pooled(ctx, t, p, url, hold, 11); got <= 10 {
			t.Errorf("with a pool of 200 the app had %d connections at once", got)
		}
		loaded(ctx, t, p)
		if _, err := acts.RevertAll(ctx, "test"); err != nil {
			return err
		}
		if after, err := os.ReadFile(source); err != nil || !bytes.Equal(before, after) {
			t.Errorf("after the undo the source is another one: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// send sends one request and checks the status.
func send(t *testing.T, method, url string, status int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		t.Errorf("%s %s: %s, %v, want %d; %s", method, url, r.Status, err, status, b)
	}
	return string(b)
}

// answersRight tries each function of the app once.
func answersRight(t *testing.T, url string) {
	t.Helper()
	if got, want := send(t, "POST", url+"/initialize", 200), fmt.Sprintf(`{"shows":%d,"stock":%d}`, saleShows, saleStock); strings.TrimSpace(got) != want {
		t.Errorf("initialize: %s, want %s", got, want)
	}
	if got := send(t, "POST", url+"/orders?show=2&show=1", 200); strings.TrimSpace(got) != `{"tickets":[1,2]}` {
		t.Errorf("the first order: %s", got)
	}
	if got, want := send(t, "GET", url+"/shows", 200), fmt.Sprintf(`[{"id":1,"remaining":%d},{"id":2,"remaining":%d},{"id":3,"remaining":%d},`, saleStock-1, saleStock-1, saleStock); !strings.HasPrefix(got, want) {
		t.Errorf("the shows: %s, want %s…", got, want)
	}
	for _, bad := range []string{"", "?show=0", "?show=21", "?show=x"} {
		send(t, "POST", url+"/orders"+bad, 400)
	}
}

// loaded runs the load for a moment. Every answer and the final balance are
// checked; customers must not see deadlocks.
func loaded(ctx context.Context, t *testing.T, p *arenasite.Subject) {
	t.Helper()
	run, err := p.Scenario(arena.Options{}).Load(ctx, field.Load{Time: time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault: %+v", f)
		}
	}
	if run.Steps[stepOrder].Count < 2 {
		t.Errorf("%d orders", run.Steps[stepOrder].Count)
	}
}

// heldRow returns a connection that the test uses to lock a row.
func heldRow(ctx context.Context, t *testing.T, p *arenasite.Subject) *sql.Conn {
	t.Helper()
	c, err := p.Site().Services["database"].DB().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// pooled locks a hot row and sends more orders for it than a pool of 10 has
// connections, so that every connection of the app ends up waiting for the row. It
// returns the largest number of connections seen. It waits until that number is as
// large as wanted, and a moment longer to detect a larger one.
func pooled(ctx context.Context, t *testing.T, p *arenasite.Subject, url string, hold *sql.Conn, want int) int {
	t.Helper()
	for _, s := range []string{"BEGIN", "SELECT remaining FROM shows WHERE id = 1 FOR UPDATE"} {
		if _, err := hold.ExecContext(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	const orders = 16
	done := make(chan error, orders)
	for range orders {
		go func() {
			r, err := http.Post(url+"/orders?show=1", "", nil)
			if err == nil {
				err = r.Body.Close()
			}
			done <- err
		}()
	}
	db := p.Site().Services["database"].DB()
	most := 0
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'tickets'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if most = max(most, n); most >= want && time.Until(end) > time.Second {
			end = time.Now().Add(time.Second) // wait a moment longer: more connections than wanted would be a fault
		}
	}
	if _, err := hold.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for range orders {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return most
}

// TestProposer checks that the real protocol accepts the proposals, each for its
// own arena only.
func TestProposer(t *testing.T) {
	for _, arena := range []string{"tickets", "isucondition", "elsewhere"} {
		q, err := propose.Question(propose.Input{Target: iikanji.Target{Name: arena}, Kinds: change.Names()})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := answerQuestion(bytes.NewReader(q), &out); err != nil {
			t.Fatal(err)
		}
		got, err := propose.Answer(out.Bytes(), change.Names())
		if err != nil {
			t.Fatal(err)
		}
		var want []iikanji.Remedy
		for _, p := range proposals {
			if p.arena == arena {
				want = append(want, p.remedy)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d proposals, want %d", arena, len(got), len(want))
		}
		for i := range want {
			if (search.Candidate{Remedy: got[i].Remedy}).Key() != (search.Candidate{Remedy: want[i]}).Key() {
				t.Errorf("%s: %+v, want %+v", arena, got[i].Remedy, want[i])
			}
		}
	}
	if err := answerQuestion(strings.NewReader(`{"version": 2}`), io.Discard); err == nil {
		t.Error("a question of another version was answered")
	}
}

// TestStatus checks that the exit status shows a kept proposal, whatever else
// happened, and also a proposal without a verdict.
func TestStatus(t *testing.T) {
	attempt := func(call iikanji.Call, parked bool, skipped string) search.Attempt {
		r := proposals[0].remedy
		return search.Attempt{Candidate: search.Candidate{Remedy: r}, Key: search.Candidate{Remedy: r}.Key(), Parked: parked, Skipped: skipped,
			Verdict: iikanji.Verdict{Call: call, Base: []iikanji.RunID{1}, Tried: []iikanji.RunID{2}}}
	}
	for name, c := range map[string]struct {
		attempts []search.Attempt
		call     string
		status   int
	}{
		"kept":       {[]search.Attempt{attempt(iikanji.Keep, false, "")}, "kept", statusKept},
		"reverted":   {[]search.Attempt{attempt(iikanji.Revert, false, "")}, "reverted", statusDone},
		"parked":     {[]search.Attempt{attempt(iikanji.Inconclusive, true, "")}, "parked (undone)", statusDone},
		"parked won": {[]search.Attempt{attempt(iikanji.Inconclusive, true, ""), attempt(iikanji.Keep, false, "")}, "kept", statusKept},
		"skipped":    {[]search.Attempt{attempt(iikanji.CallUnknown, false, "nothing to do")}, "not tried", statusFailed},
		"cut off":    {nil, "no verdict", statusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r := &result{}
			r.add("tickets", &held{&tune.Outcome{Attempts: c.attempts}, map[iikanji.RunID]float64{1: 100, 2: 50}})
			if len(r.Trials) != 1 || r.Trials[0].Call != c.call || r.status() != c.status {
				t.Errorf("%+v, status %d; want %q, %d", r.Trials, r.status(), c.call, c.status)
			}
			for _, asJSON := range []bool{false, true} {
				var out bytes.Buffer
				if err := (&options{json: asJSON}).print(&out, r); err != nil || !strings.Contains(out.String(), c.call) {
					t.Errorf("%v: no %q in %s", err, c.call, out.String())
				}
				if asJSON && !json.Valid(out.Bytes()) {
					t.Errorf("no JSON: %s", out.String())
				}
			}
		})
	}
}

// TestUntouched checks that a work folder is refused if its history has a change
// in force, and accepted otherwise.
func TestUntouched(t *testing.T) {
	dir := t.TempDir()
	if err := untouched(dir); err != nil {
		t.Errorf("a folder without a history: %v", err)
	}
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := untouched(dir); err != nil {
		t.Errorf("an empty history: %v", err)
	}
	c := &iikanji.Change{Kind: "mysqlconf", Target: "database", Says: "a change"}
	if err := h.AddChange(c, ""); err != nil {
		t.Fatal(err)
	}
	for _, to := range []iikanji.Stage{iikanji.Applying, iikanji.Applied, iikanji.Kept} {
		if err := h.MoveChange(c.ID, to, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := untouched(dir); err == nil || !strings.Contains(err.Error(), "revert") {
		t.Errorf("a change in force: %v", err)
	}
}

// TestUsage checks that a wrong command line starts nothing.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"-only", "elsewhere"}, {"-load", "1s"}, {"-time", "1s"}, {"-role", "x"}, {"-no-such"}} {
		var errs bytes.Buffer
		if got := run(args, strings.NewReader(""), io.Discard, &errs); got != statusUsage || errs.Len() == 0 {
			t.Errorf("%v: status %d, %q", args, got, errs.String())
		}
	}
}
