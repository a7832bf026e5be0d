package board

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// haunted is a day with a public ghost and one of staff.
func haunted() *Data {
	d := day(contest.Last).run("a", 100, 500)
	points := []GhostPoint{{Minute: 0, Score: 100}, {Minute: 60, Score: 300, Label: "an index"}, {Minute: 120, Score: 0}, {Minute: 470, Score: 900}}
	d.Ghosts = []Ghost{{ID: "g1", Name: "last year", Public: true, Points: points}, {ID: "g2", Name: "tune", Points: points[:1]}}
	return d
}

// TestGhosts: a ghost goes with the clock, stands still in a pause, has no rank, and is seen by
// staff alone unless its owner agreed.
func TestGhosts(t *testing.T) {
	say := func(v *View) string {
		var out []string
		for _, g := range v.Ghosts() {
			out = append(out, fmt.Sprintf("%s %g %g %s %d %v", g.ID, g.Score, g.Best, g.Label, len(g.Points), g.Ended))
		}
		return strings.Join(out, "; ")
	}
	d := haunted()
	for _, c := range []struct {
		reader Reader
		minute float64
		want   string
	}{
		{public, -1, "g1 0 0  0 false"}, {public, 0, "g1 100 100  1 false"}, {public, 60, "g1 300 300 an index 2 false"}, {public, 121, "g1 0 300 an index 3 false"},
		{member("a"), 475, "g1 900 900 an index 4 true"}, {staff, 59, "g1 100 100  1 false; g2 100 100  1 true"},
	} {
		if got := say(Of(d, c.reader, at(c.minute))); got != c.want {
			t.Errorf("%v at %v: %s, want %s", c.reader, c.minute, got, c.want)
		}
	}
	if got := ranks(Of(d, public, at(475))); got != "1a -b -c -d -g" {
		t.Errorf("with ghosts: %s", got)
	}
	for _, a := range []contest.Act{{At: at(50), Kind: contest.Pause, Reason: "r"}, {At: at(90), Kind: contest.Resume, Reason: "r"}} {
		if err := d.Clock.Apply(a); err != nil {
			t.Fatal(err)
		}
	}
	if got := say(Of(d, public, at(99))); got != "g1 100 100  1 false" {
		t.Errorf("after a pause of 40 minutes: %s", got)
	}
}

// TestGhostOfWindows: in a window round a ghost goes with the hours of the reader's team, and in an
// open round it is shown whole.
func TestGhostOfWindows(t *testing.T) {
	d := haunted()
	d.Clock.Kind, d.Clock.Windows = contest.Window, map[string]time.Time{"a": at(200)}
	if v := Of(d, member("a"), at(261)); len(v.Ghosts()[0].Points) != 2 {
		t.Errorf("61 minutes into the window: %+v", v.Ghosts())
	}
	if v := Of(d, member("b"), at(261)); len(v.Ghosts()[0].Points) != 4 {
		t.Errorf("without a window: %+v", v.Ghosts())
	}
	d.Clock.Kind = contest.Open
	if v := Of(d, public, at(1)); !v.Ghosts()[0].Ended {
		t.Errorf("in an open round: %+v", v.Ghosts())
	}
}

// TestAwards: a prize by hand is as the latest award says, hidden while the board is frozen, and
// never of a team that has gone.
func TestAwards(t *testing.T) {
	d := day(contest.Last)
	d.Round.Prizes = []contest.Prize{{ID: "jury", Kind: "manual"}}
	d.Awards = []Award{{Prize: "jury", Team: "a", At: at(100), Reason: "one"}, {Prize: "jury", Team: "b", At: at(430), Reason: "two"}, {Prize: "other", Team: "c", At: at(101)}}
	has := func(r Reader, minute float64) string {
		h := Of(d, r, at(minute)).Prizes()[0]
		return h.Team + " " + h.Reason
	}
	for _, c := range []struct {
		reader Reader
		minute float64
		want   string
	}{{public, 99, " "}, {public, 100, "a one"}, {public, 440, "a one"}, {member("b"), 440, "a one"}, {staff, 440, "b two"}} {
		if got := has(c.reader, c.minute); got != c.want {
			t.Errorf("%v at %v: %q, want %q", c.reader, c.minute, got, c.want)
		}
	}
	d.Teams[0].Gone, d.Teams[0].GoneAt = "disqualified", at(200)
	if got := has(public, 210); got != " " {
		t.Errorf("of a team that has gone: %q", got)
	}
	d.Awards = append(d.Awards, Award{Prize: "jury", At: at(150), Reason: "a mistake"})
	if got := has(public, 160); got != " a mistake" {
		t.Errorf("taken back: %q", got)
	}
}

// TestReached: each milestone has the first run that reached it; failed runs reach none.
func TestReached(t *testing.T) {
	d := day(contest.Last).run("a", 10, -1).run("a", 20, 100).run("a", 30, 150).run("a", 40, 200).run("a", 50, 400).run("b", 50, 400)
	d.Results[2].Clean, d.Results[4].Clean = true, true
	d.Results[0].Clean = true // of a run that failed
	var got []string
	for _, r := range Of(d, staff, at(60)).Reached("a", []time.Time{at(-5), at(39)}) {
		got = append(got, fmt.Sprintf("%s %g", r.Milestone, r.At.Sub(start).Minutes()))
	}
	if want := "pass 20, clean 30, double 40, reboot 50"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if got := Of(d, public, at(60)).Reached("b", nil); len(got) != 1 || got[0].Milestone != FirstPass {
		t.Errorf("of another team: %+v", got)
	}
	d.Judgements = []Judgement{{Job: d.Results[1].Job, At: at(55), Outcome: iikanji.Failed}}
	if got := Of(d, staff, at(60)).Reached("a", nil)[0]; got.At != at(30) {
		t.Errorf("after a judgement: %+v", got)
	}
}

func TestParseGhost(t *testing.T) {
	for text, want := range map[string][]GhostPoint{
		"minute,score,label\n0,100\n# a comment\n\n30.5, 250 ,\"an index, and more\"\r\n": {{0, 100, ""}, {30.5, 250, "an index, and more"}},
		"\ufeff1\t2\tthree\n": {{1, 2, "three"}},
	} {
		if got, err := ParseGhost(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "minute,score\n", "5,1\n4,2\n", "1,-1\n", "NaN,1\n", "1,NaN\n", "1,Inf\n", "-1,1\n", "1\n", "1,2\nx,y\n", "x,2\n", strings.Repeat("1,2\n", 2001), "600000,1\n"} {
		if got, err := ParseGhost(text); err == nil {
			t.Errorf("%.20q was read: %+v", text, got)
		}
	}
}

// FuzzGhost: lines are read as points that a ghost may have, or refused.
func FuzzGhost(f *testing.F) {
	f.Add("minute,score\n0,100,x\n30,200\n")
	f.Add("1e9,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		points, err := ParseGhost(text)
		if err != nil {
			return
		}
		before := 0.0
		for _, p := range points {
			if p.Minute < before || p.Score < 0 || math.IsInf(p.Score, 0) || math.IsNaN(p.Score+p.Minute) {
				t.Fatalf("%+v", points)
			}
			before = p.Minute
		}
	})
}
