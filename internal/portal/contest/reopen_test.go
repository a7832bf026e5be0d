package contest

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var reopened = Reopening{ID: "cup-practice", Round: "final", Start: time.Date(2027, 3, 1, 1, 2, 3, 4, time.UTC), Members: 1}

// TestReopen: a past round becomes practice, and what belongs to the day is gone.
func TestReopen(t *testing.T) {
	second := "[[rounds]]\nid = \"later\"\nkind = \"open\"\nproblem = \"other\"\n[problem.other]\ncommand = [\"bench\"]\n"
	file, err := Reopen([]byte(cup+second), reopened)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("cup-practice.toml", file)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Round("final")
	switch {
	case c.ID != "cup-practice" || c.Name.In("ja") != "冬の社内大会 の練習" || c.Name.In("en") != "Practice: Winter cup":
		t.Errorf("the contest is %s, %v", c.ID, c.Name)
	case len(c.Rounds) != 1 || len(c.Problems) != 1 || c.Problem("xsuportal") == nil:
		t.Errorf("rounds %+v, problems %+v", c.Rounds, c.Problems)
	case r.Kind != Open || !r.Start.Equal(reopened.Start.Truncate(time.Second)) || r.Length != 0 || r.Freeze != 0 || r.Final.Runs != 0 || len(r.Prizes) != 0:
		t.Errorf("round %+v", r)
	case r.Rules.Standing != Best || r.Rules.Hosts != 3 || r.Queue.Budget("agent").Runs != 40:
		t.Errorf("rules %+v, queue %+v", r.Rules, r.Queue)
	case c.Registration.Members != 1 || !c.Registration.Close.IsZero() || c.Registration.Teams != 0:
		t.Errorf("registration %+v", c.Registration)
	case c.Targets.Allow[0] != "10.20.0.0/16":
		t.Errorf("targets %+v", c.Targets)
	}
	by := reopened
	by.Members = 0
	if file, err = Reopen([]byte(cup), by); err != nil || strings.Contains(string(file), "registration") {
		t.Errorf("teams of staff alone: %v\n%s", err, file)
	}
	by.Round = "nowhere"
	if _, err = Reopen([]byte(cup), by); err == nil {
		t.Error("a round that is not there was reopened")
	}
	by = reopened
	by.ID = "No Id"
	if _, err = Reopen([]byte(cup), by); !errors.As(err, new(*Error)) {
		t.Errorf("an id that is none: %v", err)
	}
}

// TestOver: a round whose results are not final, or are hidden, is not over.
func TestOver(t *testing.T) {
	r := *parsed(t, cup).Round("final")
	c := NewClock(&r)
	now := c.End.Add(time.Hour)
	shown := *c
	shown.Revealed = now
	for _, x := range []struct {
		c     *Clock
		state State
		runs  int
		want  bool
	}{
		{c, Finished, 3, false}, {&shown, Finished, 3, true}, {&shown, Provisional, 3, true}, {&shown, Judging, 3, false},
		{&shown, Ended, 3, false}, {&shown, Ended, 0, true}, {&shown, Running, 0, false},
	} {
		r.Final.Runs = x.runs
		if got := Over(&r, x.c, x.state, now); got != x.want {
			t.Errorf("%s with %d final runs, revealed %v: over %v", x.state, x.runs, x.c.Revealed, got)
		}
	}
}

// FuzzReopen: what a valid file is reopened to is valid, and reopening it again changes nothing
// but its name.
func FuzzReopen(f *testing.F) {
	f.Add([]byte(cup))
	f.Add([]byte("name=\"x\"\nlocal=true\n[[rounds]]\nid=\"final\"\nkind=\"open\"\nproblem=\"x\"\n[problem.x]\ncommand=[\"y\"]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("x.toml", text)
		if err != nil || c.Round("final") == nil {
			return
		}
		out, err := Reopen(text, reopened)
		if err != nil {
			t.Fatalf("a valid file cannot be reopened: %v\n%s", err, text)
		}
		again, err := Reopen(out, reopened)
		if err != nil {
			t.Fatalf("the second time: %v\n%s", err, out)
		}
		differences, err := Compare(out, again)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range differences {
			if !strings.HasPrefix(d.Key, "name") {
				t.Errorf("%+v", d)
			}
		}
	})
}
