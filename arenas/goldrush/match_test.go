package goldrush

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// TestJudge: what a client does wrong while it plays, and what it may do.
func TestJudge(t *testing.T) {
	sleep := arena.Program{Path: "/bin/sleep", Args: []string{"60"}, UID: os.Getuid(), GID: os.Getgid()}
	p, err := startPlayer(sleep, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	refused := func(n int64, after time.Duration) mine.Report {
		return mine.Report{Started: true, Elapsed: after, Answers: map[string]map[int]int64{"dig": {200: 5000}, "cash": {429: n - 1}, "list": {429: 1}}}
	}
	for _, c := range []struct {
		report mine.Report
		limit  time.Duration
		check  string
	}{
		{refused(4*floodMost+1, 4*time.Second), time.Hour, "client-flood"},
		{refused(4*floodMost, 4*time.Second), time.Hour, ""},
		{refused(100_000, floodSpared), time.Hour, ""},
		{mine.Report{}, time.Hour, ""},
		{mine.Report{}, 0, "client-start"},
	} {
		m := &match{report: c.report}
		done, err := m.judge(p, c.limit)
		var f *scenario.Fault
		if errors.As(err, &f); done != (c.check != "") || (f == nil) != (c.check == "") || f != nil && f.Check != c.check {
			t.Errorf("%+v: %v, %v; want %q", c.report, done, err, c.check)
		}
	}
}

// TestBound compares the computed bound with that of a contestant, which has 42 ticks for a
// column that is found, in thousands of coins.
func TestBound(t *testing.T) {
	find := findTicks(columnShare(mine.Normal))
	if math.Abs(find-42) > 0.5 {
		t.Errorf("finding a column costs %.2f ticks, want about 42", find)
	}
	for best, want := range map[int]struct {
		bound float64
		from  int
	}{3: {600, 3}, 4: {740, 3}, 5: {880, 3}, 6: {1030, 4}, 7: {1187, 4}} {
		_, from := coinsPerTick(best, find)
		if got := bound(best, find, contestTime) / 1000; math.Abs(got/want.bound-1) > 0.005 || from != want.from {
			t.Errorf("best level %d: %.0f thousand coins, cashed from level %d; want %.0f and %d", best, got, from, want.bound, want.from)
		}
	}
}

func TestWorlds(t *testing.T) {
	for best := 3; best <= 7; best++ {
		if got := mine.BestDepth(seedOf(best)); got != best {
			t.Errorf("the seed for level %d has %d", best, got)
		}
	}
	for _, c := range []struct {
		setting string
		load    time.Duration
		want    int
	}{{"", contestTime, 5}, {"auto", 5 * worldTime, 5}, {"", 5*worldTime - 1, 1}, {"one", contestTime, 1}, {"five", time.Second, 5}} {
		if got := worldsOf(c.setting, 7, c.load); len(got) != c.want || c.want == 1 && got[0] != 7 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if checkWorlds("six") == nil || checkWorlds("five") != nil {
		t.Error("values of the setting")
	}
}

func TestTail(t *testing.T) {
	var log strings.Builder
	out := &tail{log: &log}
	if got := out.lines(); got != "it printed nothing" {
		t.Error(got)
	}
	line := strings.Repeat("x", 999) + "\n"
	for range 2000 {
		if n, err := out.Write([]byte(line)); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = out.Write([]byte("one\n\n\x1b[31mtwo\xff\n three"))
	if got := out.lines(); got != "its last lines: one | [31mtwo? | three" {
		t.Errorf("%q", got)
	}
	if log.Len() != logMost || len(out.kept) > tailMost {
		t.Errorf("%d bytes of log, %d in memory", log.Len(), len(out.kept))
	}
}
