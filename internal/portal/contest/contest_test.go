package contest

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// cup is a contest file with most keys.
const cup = `name = { ja = "冬の社内大会", en = "Winter cup" }
zone = "Asia/Tokyo"

[registration]
open = 2027-01-10T10:00
close = 2027-01-25T18:00
teams = 100
members = 3

[[divisions]]
id = "student"
rule = "all student"

[[rounds]]
id = "final"
kind = "live"
problem = "xsuportal"
start = 2027-02-06T10:00
hours = 8
freeze = "1h"

[rounds.rules]
standing = "last"
ties = ["best", "earlier"]
counts_if = "enqueued"
tail = "20m"
hosts = 3
profiling = true
stop_own_run = true

[rounds.show]
points = true
faults = 20
log = "64KiB"

[rounds.queue]
order = "fair"
budget.agent = "40 runs, 6 an hour"

[rounds.final]
reboot = true
order = "together"
back_in = "5m"
runs = 3
pass = 2
counts = "median"
void_retries = 2

[[rounds.prizes]]
id = "jump"
kind = "biggest_jump"
of = "ratio"
title = { ja = "急上昇賞", en = "Biggest jump" }

[problem.xsuportal]
arena = "xsuportal"
load = "60s"
timeout = "150s"
seed = "per-job"
final_seed = "secret"

[targets]
allow = ["10.20.0.0/16"]
ports = [80, 443, 50051]
`

func parsed(t *testing.T, text string) *Contest {
	t.Helper()
	c, err := Parse("cup.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParse(t *testing.T) {
	c := parsed(t, cup)
	r := c.Round("final")
	if r == nil || c.ID != "cup" || c.Name.In("ja") != "冬の社内大会" || c.Name.In("fr") != "Winter cup" {
		t.Fatalf("contest %+v", c)
	}
	if want := time.Date(2027, 2, 6, 1, 0, 0, 0, time.UTC); !r.Start.Equal(want) {
		t.Errorf("start %v, want %v: the file's times are of its zone", r.Start, want)
	}
	if b := r.Queue.Budget("agent"); b.Runs != 40 || b.PerHour != 6 {
		t.Errorf("budget %+v", b)
	}
	if r.Freeze != time.Hour || r.Final.Runs != 3 || r.Show.Log != 64<<10 || r.Prizes[0].Title.In("ja") != "急上昇賞" {
		t.Errorf("round %+v", r)
	}
	if c.Problem("xsuportal").Kind() != "arena" || c.Ranked("guest") || !c.Ranked("student") {
		t.Error("problem or divisions")
	}
}

// TestMistakes: each mistake is reported with its line.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`zone = "Asia/Tokyo"`, `zone = "Asia/Tokio"`, `cup.toml:2: zone: want a name`},
		{`hours = 8`, `hours = "eight"`, `cup.toml:19: hours: want a number`},
		{`hours = 8`, `hour = 8`, `cup.toml:19: unknown key "hour"`},
		{`problem = "xsuportal"`, `problem = "x"`, `cup.toml:17: there is no [problem.x]`},
		{`freeze = "1h"`, `freeze = "8h"`, `cup.toml:20: freeze: want less`},
		{`pass = 2`, `pass = 4`, `cup.toml:45: pass: 4 of 3 runs`},
		{`budget.agent = "40 runs, 6 an hour"`, `budget.robot = "40 runs"`, `cup.toml:38: budget: there is no division robot`},
		{`budget.agent = "40 runs, 6 an hour"`, `budget.agent = "many"`, `cup.toml:38: budget: want parts`},
		{`standing = "last"`, `standing = "median"`, `cup.toml:23: standing: want one of`},
		{`allow = ["10.20.0.0/16"]`, `allow = ["127.0.0.0/8"]`, `cup.toml:63: allow: 127.0.0.0/8 is loopback`},
		{`of = "ratio"`, `of = "x"`, `cup.toml:52: biggest_jump: of is ratio or points`},
		{`id = "final"`, `id = "Final!"`, `cup.toml:15: id: want`},
		{`runs = 3`, `runs = 3 3`, `cup.toml:44: `},
		{`arena = "xsuportal"`, "arena = \"xsuportal\"\ncallbacks = [80]", `callbacks: 80 is below 1024`},
		{`arena = "xsuportal"`, "arena = \"xsuportal\"\ncallbacks = [70000]", `callbacks: entry 1 is no port`},
		{`arena = "xsuportal"`, "arena = \"xsuportal\"\nset.push-listen = \"{callback}\"", `set: {callback} needs ports in callbacks`},
		{`arena = "xsuportal"`, "command = [\"x\"]\nshards = 2", `shards are of arenas`},
		{`seed = "per-job"`, "seed = \"per-job\"\nshadow.pages = [\"x\"]\nshadow.agent = \"b\"", `shadow: want paths such as /about, not "x"`},
		{`seed = "per-job"`, "seed = \"per-job\"\nshadow.pages = [\"/\"]", `shadow: agent is the User-Agent`},
		{`seed = "per-job"`, "seed = \"per-job\"\nshadow.pages = [\"/\", \"/a\", \"/b\", \"/c\", \"/d\"]\nshadow.agent = \"b\"", `shadow: at most 4 pages`},
		{`of = "ratio"`, "of = \"ratio\"\n[[rounds.prizes]]\nid = \"jump\"", `prize jump is declared twice`},
		{`of = "ratio"`, "of = \"ratio\"\n[[rounds.hints]]\nid = \"h\"", `a hint needs a text`},
		{`of = "ratio"`, "of = \"ratio\"\n[[rounds.hints]]\nid = \"h\"\ntext = \"x\"\nabove = -1", `above: want a score from 0`},
	} {
		_, err := Parse("cup.toml", []byte(strings.Replace(cup, c.from, c.to, 1)))
		if wrong := (*Error)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.to, err, c.want)
		}
	}
}

func TestCalendar(t *testing.T) {
	var got []string
	for _, e := range parsed(t, cup).Calendar() {
		got = append(got, e.At.Format("01-02 15:04 ")+e.What)
	}
	want := "01-10 01:00 registration opens|01-25 09:00 registration closes|02-06 01:00 starts: xsuportal, live|02-06 08:00 the board freezes|02-06 09:00 ends|02-06 09:20 the last enqueued job has to be done"
	if strings.Join(got, "|") != want {
		t.Errorf("calendar %q", got)
	}
}

func TestCompare(t *testing.T) {
	next := strings.Replace(strings.Replace(cup, "hours = 8", "hours = 7.5", 1), "profiling = true\n", "", 1)
	got, err := Compare([]byte(cup), []byte(next))
	if err != nil || len(got) != 2 || got[0] != (Difference{"rounds.final.hours", "8", "7.5"}) || got[1].To != "" {
		t.Errorf("differences %+v, %v", got, err)
	}
}

// FuzzParse: no file panics, and what is read has rounds with problems.
func FuzzParse(f *testing.F) {
	f.Add([]byte(cup))
	f.Add([]byte("[[rounds]]\nid=1\n[[rounds.prizes]]\n[problem.x]\nset={a=1}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("x.toml", text)
		if err != nil {
			return
		}
		for i := range c.Rounds {
			if r := &c.Rounds[i]; c.Problem(r.Problem) == nil || !ValidID(r.ID) {
				t.Errorf("round %+v", r)
			}
		}
		c.Calendar()
		if d, err := Compare(text, text); err != nil || len(d) != 0 {
			t.Errorf("a file differs from itself: %v, %v", d, err)
		}
	})
}
