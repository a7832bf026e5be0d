package cause_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// fullCPU is a run of one minute in which an app used up two cores. Statements took
// 650 s because they waited for the CPU; the database used 24 s of it.
func fullCPU(t *testing.T, who string) cause.Input {
	t.Helper()
	connected := factOf(string(fact.TopicConnection), "database", fact.Connections{TCP: 10})
	connected.Target = "app"
	usage := []iikanji.Usage{{Who: "app", Share: 0.75, User: 90 * time.Second}, {Who: "database", Share: 0.2, User: 24 * time.Second}, {Who: "generator", Share: 0.05, User: 6 * time.Second}}
	if who == "database" {
		usage[0].Who, usage[1].Who = "database", "app"
	}
	in := cause.Input{Run: &iikanji.Run{Took: time.Minute, Place: iikanji.Placement{Cores: 2}, Steps: []iikanji.StepStat{{Count: 50000, Total: 3000 * time.Second}}, Usage: usage},
		Profiles: []iikanji.Profile{statements("SELECT 1", 200000, 500*time.Second, 100*time.Second), {Source: iikanji.Access, Rows: []iikanji.Row{{Key: "GET /a", Count: 50000, Web: &iikanji.WebRow{}}}}},
		Facts:    []iikanji.Fact{connected, variable("innodb_flush_log_at_trx_commit", "1"), status("innodb_row_lock_waits", "30000"), status("innodb_row_lock_time", "100000")}}
	in.Profiles[0].Rows = append(in.Profiles[0].Rows, readDigests(t, "5000 150 0 0 | COMMIT")...)
	return in
}

// TestRank checks the order if the app uses up the CPU: its code comes first, no gain
// exceeds the used time, seconds of statements are scaled to the CPU time of the
// database, and findings about locks, which do not save CPU time, come last.
func TestRank(t *testing.T) {
	in := fullCPU(t, "app")
	if b := in.Binding(); b.Resource != "cpu" || b.Who != "app" {
		t.Fatalf("bound by %+v", b)
	}
	fs, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	sameElsewhere(t, in, fs)
	at := func(code iikanji.Code) int {
		return slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == code })
	}
	if at("APP101") != 0 || at("DB116") < 0 || at("DB206") < 0 || at("DB117") != len(fs)-1 {
		t.Errorf("ranked\n%s", formatted(fs))
	}
	for _, f := range fs {
		if most := map[bool]float64{true: 24, false: 114}[f.Code[:2] == "DB"]; f.Gain.Hi > most || f.Gain.Lo > f.Gain.Hi {
			t.Errorf("%s saves %v s of %v", f.Code, f.Gain, most)
		}
	}
	if f := fs[len(fs)-1]; f.Gain.Lo != 0 || !slices.ContainsFunc(f.Evidence, func(e iikanji.Evidence) bool { return e.Source == "binding" }) {
		t.Errorf("not said that it is not felt: %+v", f)
	}
	if at("APP103") >= 0 {
		t.Errorf("a larger pool, where its statements wait for the CPU:\n%s", formatted(fs))
	}
	if w := in.StatementWeight(); w < 0.0369 || w > 0.037 {
		t.Errorf("a second of a statement weighs %v, want 24/650", w)
	}
}

// TestRankDatabase exchanges the CPU use of the app and the database: a second of a
// statement then counts more, and the cost of commits ranks higher.
func TestRankDatabase(t *testing.T) {
	fs, err := findAll(fullCPU(t, "database"))
	if err != nil {
		t.Fatal(err)
	}
	if len(fs) == 0 || fs[0].Code != "DB116" || fs[0].Gain.Hi > 90 {
		t.Errorf("ranked\n%s", formatted(fs))
	}
}

// TestPinnedApp checks that an app is CPU-bound if it uses up the one core of four
// that the stack has, and that the finding states how many cores the app can use.
func TestPinnedApp(t *testing.T) {
	for _, c := range []struct {
		name, stack  string
		share        float64
		may          string // by affinity, "" for not known
		claim, cores string
	}{
		{"one of four cores", "3", 0.24, "1", "96 % of the cores that the stack may use (1 of 4)", "the app can use 1 core:"},
		{"two of four cores", "2-3", 0.45, "", "90 % of the cores that the stack may use (2 of 4)", "the app can use 2 cores"},
		{"not pinned", "all", 0.9, "4", "90 % of the machine", "the app can use 4 cores"},
		{"another program uses most of the core", "3", 0.09, "1", "", ""},
	} {
		s := newScene()
		s.Run.Place.Stack = c.stack
		s.Run.Usage = []iikanji.Usage{{Who: "app", Share: c.share, User: 9600 * time.Millisecond}, {Who: "nginx", Share: 0.02}}
		if c.claim == "" {
			s.Run.Usage[1].Share = 0.15
		}
		if c.may != "" {
			s.with("app", string(fact.TopicProcess), "cores", c.may)
		}
		f, ok := found(t, s.Input, "APP101")
		if ok != (c.claim != "") || !strings.Contains(f.Claim, c.claim) ||
			ok && !slices.ContainsFunc(f.Evidence, func(e iikanji.Evidence) bool { return strings.Contains(e.Text, c.cores) }) {
			t.Errorf("%s: found %v: %s, %v", c.name, ok, f.Claim, f.Evidence)
		}
	}
}

// TestRoundTrips: the round trips of prepared statements cost the same, however long
// statements wait for the CPU.
func TestRoundTrips(t *testing.T) {
	for _, who := range []string{"app", "database"} {
		in := fullCPU(t, who)
		in.Facts = append(in.Facts, status("com_stmt_prepare", "100000"), status("com_stmt_execute", "100000"))
		fs, err := findAll(in)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == "DB115" })
		if i < 0 || fs[i].Gain.Lo < 2.9 || fs[i].Gain.Hi > 6.1 { // 60 µs each, half of them at least
			t.Errorf("%s is the limit: %s", who, formatted(fs))
		}
	}
}

// TestDoubtsFirst: doubts about the measurement stand above the causes, however large the
// causes are.
func TestDoubtsFirst(t *testing.T) {
	list := sentRow{"l1", "SELECT id, item FROM note ORDER BY body DESC", 10, 20_000, 20_000, 90 * time.Second}
	fs, err := findAll(shopScene(list).host(iikanji.MachineRow{Steal: 4 * time.Second}, map[string]iikanji.HostRow{"app": {User: 9 * time.Second}}).Input)
	if err != nil {
		t.Fatal(err)
	}
	doubts, causes := 0, 0
	for _, f := range fs {
		if !f.Doubt {
			causes++
		} else if doubts++; causes > 0 {
			t.Errorf("%s behind a cause:\n%s", f.Code, formatted(fs))
		}
	}
	if doubts == 0 || causes == 0 {
		t.Errorf("%d doubts and %d causes:\n%s", doubts, causes, formatted(fs))
	}
}
