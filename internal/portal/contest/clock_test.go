package contest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(minute int) time.Time {
	return time.Date(2027, 2, 6, 1, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

func act(minute int, kind ActKind, by int, team string) Act {
	return Act{At: at(minute), Kind: kind, By: time.Duration(by) * time.Minute, Team: team, Reason: "r", Who: "w"}
}

// clockOf is the time table after acts, in their order.
func clockOf(r *Round, acts []Act) (*Clock, error) {
	c := NewClock(r)
	for _, a := range acts {
		if err := c.Apply(a); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func TestClock(t *testing.T) {
	r := parsed(t, cup).Round("final")
	for _, c := range []struct {
		name                string
		acts                []Act
		start, freeze, ends int // minutes
	}{
		{"untouched", nil, 0, 420, 480},
		{"shifted", []Act{act(-60, Shift, 140, "")}, 140, 560, 620},
		{"paused", []Act{act(60, Pause, 0, ""), act(90, Resume, 0, "")}, 0, 450, 510},
		{"paused while frozen", []Act{act(430, Pause, 0, ""), act(440, Resume, 0, "")}, 0, 420, 490},
		{"extended", []Act{act(60, Extend, 30, "")}, 0, 450, 510},
		{"extended while frozen", []Act{act(430, Extend, 30, "")}, 0, 420, 510},
		{"made shorter", []Act{act(60, Extend, -30, "")}, 0, 390, 450},
		{"extra", []Act{act(60, Extra, 15, "a")}, 0, 420, 480},
	} {
		clock, err := clockOf(r, c.acts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !clock.Start.Equal(at(c.start)) || !clock.Freeze.Equal(at(c.freeze)) || !clock.End.Equal(at(c.ends)) {
			t.Errorf("%s: start %v, freeze %v, end %v", c.name, clock.Start, clock.Freeze, clock.End)
		}
	}
}

func TestClockRefuses(t *testing.T) {
	r := parsed(t, cup).Round("final")
	for _, c := range [][]Act{
		{act(10, Shift, 10, "")}, {act(-10, Shift, -30, "")}, {act(10, Resume, 0, "")}, {act(10, Pause, 0, ""), act(20, Pause, 0, "")},
		{act(-10, Pause, 0, "")}, {act(100, Extend, -400, "")}, {act(10, Extra, 0, "a")}, {act(10, Extra, 10, "")}, {act(479, Reveal, 0, "")},
		{act(10, Extra, 30, "a"), act(500, Reveal, 0, "")}, {act(480, Reveal, 0, ""), act(481, Extend, 5, "")}, {act(1, "undo", 0, "")},
		{{At: at(1), Kind: Pause}},
	} {
		_, err := clockOf(r, c)
		if refusal := (*RefusedError)(nil); !errors.As(err, &refusal) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

func TestCounts(t *testing.T) {
	r := parsed(t, cup).Round("final")
	clock, err := clockOf(r, []Act{act(60, Extra, 15, "late")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		team            string
		enqueued, ended int
		want            bool
	}{{"a", 479, 490, true}, {"a", 480, 490, false}, {"a", 479, 500, false}, {"late", 490, 510, true}, {"late", 495, 510, false}, {"a", -1, 5, false}} {
		if got := clock.Counts(c.team, at(c.enqueued), at(c.ended)); got != c.want {
			t.Errorf("%+v counts: %v", c, got)
		}
	}
	if clock.Frozen(at(419)) || !clock.Frozen(at(420)) || !clock.Frozen(at(2000)) {
		t.Error("frozen at the wrong times")
	}
	if err := clock.Apply(act(500, Reveal, 0, "")); err != nil || clock.Frozen(at(500)) || !clock.Frozen(at(499)) {
		t.Errorf("revealed: %v", err)
	}
}

func TestWindow(t *testing.T) {
	r := &Round{Kind: Window, Start: at(0), Length: time.Hour, Until: at(300), Rules: Rules{CountsIf: "finished"}}
	clock := NewClock(r)
	if clock.Runs("a", at(10)) {
		t.Error("a team runs before its window")
	}
	if err := clock.Begin("a", at(10)); err != nil || !clock.Runs("a", at(69)) || clock.Runs("a", at(70)) {
		t.Errorf("window: %v", err)
	}
	if err := clock.Begin("late", at(280)); err != nil || !clock.EndOf("late").Equal(at(300)) {
		t.Errorf("late window ends %v, %v", clock.EndOf("late"), err)
	}
	if clock.Begin("a", at(20)) == nil || clock.Begin("b", at(300)) == nil {
		t.Error("a window began twice, or after the end")
	}
	clock = NewClock(r)
	for _, err := range []error{clock.Begin("a", at(10)), clock.Apply(act(30, Pause, 0, "")), clock.Apply(act(40, Resume, 0, ""))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !clock.EndOf("a").Equal(at(80)) {
		t.Errorf("after a pause of 10 minutes the window ends %v", clock.EndOf("a"))
	}
}

// TestPastStays: no sequence of acts changes a time that is past, and play lasts as long as
// it was declared and extended.
func TestPastStays(t *testing.T) {
	r := parsed(t, cup).Round("final")
	rapid.Check(t, func(t *rapid.T) {
		clock, now, extended := NewClock(r), -100, time.Duration(0)
		for range rapid.IntRange(1, 12).Draw(t, "acts") {
			now += rapid.IntRange(0, 120).Draw(t, "after")
			a := act(now, rapid.SampledFrom([]ActKind{Shift, Pause, Resume, Extend, Extra, Reveal}).Draw(t, "kind"), rapid.IntRange(-90, 90).Draw(t, "by"), "a")
			before := []time.Time{clock.Start, clock.Freeze, clock.End}
			var past []bool
			for _, x := range before {
				past = append(past, clock.Reached(x, a.At))
			}
			frozen, err := clock.Frozen(a.At), clock.Apply(a)
			after := []time.Time{clock.Start, clock.Freeze, clock.End}
			if err != nil && !slices.EqualFunc(before, after, time.Time.Equal) {
				t.Fatalf("a refused act changed %v to %v", before, after)
			}
			for i := range before {
				// The end alone may be moved in the tail after it.
				if past[i] && !after[i].Equal(before[i]) && !(i == 2 && a.Kind == Extend) {
					t.Fatalf("%s at %d changed the past time %v to %v", a.Kind, now, before[i], after[i])
				}
			}
			if frozen && a.Kind != Reveal && !clock.Frozen(a.At) {
				t.Fatalf("%s ended the freeze", a.Kind)
			}
			if a.Kind == Extend && err == nil {
				extended += a.By
			}
			if !clock.Paused(a.At) && clock.Minute(clock.End) != 8*time.Hour+extended {
				t.Fatalf("play lasts %v, want %v", clock.Minute(clock.End), 8*time.Hour+extended)
			}
		}
	})
}

func TestMove(t *testing.T) {
	r := parsed(t, cup).Round("final")
	clock := NewClock(r)
	for _, c := range []struct {
		from, to State
		f        Facts
		ok       bool
	}{
		{Ready, Running, Facts{Now: at(-1)}, false}, {Ready, Running, Facts{Now: at(0)}, true},
		{Running, Ended, Facts{Now: at(479)}, false}, {Running, Ended, Facts{Now: at(480)}, true},
		{Ended, Judging, Facts{Now: at(500), OpenJobs: 1}, false}, {Ended, Judging, Facts{Now: at(500)}, true},
		{Ended, Provisional, Facts{Now: at(500)}, false}, {Judging, Provisional, Facts{Now: at(600)}, false},
		{Judging, Provisional, Facts{Now: at(600), Verdicts: true}, true}, {Provisional, Finished, Facts{Appeals: 1}, false},
		{Finished, Running, Facts{Now: at(10)}, false}, {Archived, Draft, Facts{}, false},
	} {
		if err := Move(r, clock, c.from, c.to, c.f); (err == nil) != c.ok {
			t.Errorf("%s → %s: %v", c.from, c.to, err)
		}
	}
	for _, c := range []struct {
		from State
		now  int
		want State
	}{{Ready, -1, Ready}, {Ready, 5, Running}, {Ready, 480, Ended}, {Running, 479, Running}, {Draft, 10, Draft}} {
		if got := ByTime(clock, c.from, at(c.now)); got != c.want {
			t.Errorf("%s at %d: %s, want %s", c.from, c.now, got, c.want)
		}
	}
	if got := fmt.Sprint(States); got != "[draft registration ready running ended judging provisional final archived]" {
		t.Error(got)
	}
}
