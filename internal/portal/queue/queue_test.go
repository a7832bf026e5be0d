package queue

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/contest"
	"pgregory.net/rapid"
)

var noon = time.Date(2027, 2, 6, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

func ids(picks []Pick) (out []string) {
	for _, p := range picks {
		out = append(out, p.ID+":"+string(p.Why))
	}
	return out
}

func TestOrder(t *testing.T) {
	used := &Used{}
	used.Add("busy", time.Hour, ago(0))
	used.Add("old", time.Hour, ago(4*time.Hour)) // eight half-lives: 14 s
	used.Add("little", time.Minute, ago(0))
	s := &State{Now: noon, Used: used, Waiting: []Job{
		{ID: "a", Team: "busy", Lane: Live, Enqueued: ago(5 * time.Minute)},
		{ID: "b", Team: "little", Lane: Live, Enqueued: ago(time.Minute)},
		{ID: "c", Team: "old", Lane: Live, Enqueued: ago(2 * time.Minute)},
		{ID: "d", Team: "busy2", Lane: Live, Enqueued: ago(10 * time.Minute)},
		{ID: "e", Team: "x", Lane: Live, Enqueued: ago(time.Second), Again: true},
		{ID: "f", Team: "y", Lane: Practice, Enqueued: ago(time.Hour)},
		{ID: "g", Team: "z", Lane: Final, Enqueued: ago(time.Second)},
	}}
	if got, want := fmt.Sprint(ids(s.Order())), "[g:first e:again d:long c:least b:least a:least f:long]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	s.FIFO = true
	if got, want := fmt.Sprint(ids(s.Order())), "[g:first e:again d:first a:first c:first b:first f:first]"; got != want {
		t.Errorf("fifo %s, want %s", got, want)
	}
}

// TestShare: a lower lane that waits gets one of LowerEvery starts, none in the last half hour.
func TestShare(t *testing.T) {
	s := &State{Now: noon}
	for i := range 50 {
		s.Waiting = append(s.Waiting, Job{ID: fmt.Sprint(i), Team: fmt.Sprint(i), Lane: Live, Enqueued: noon, Number: int64(i)})
	}
	s.Waiting = append(s.Waiting, Job{ID: "p", Team: "p", Lane: Practice, Enqueued: noon})
	at := func() int {
		return slices.IndexFunc(s.Order(), func(p Pick) bool { return p.ID == "p" })
	}
	if got := at(); got != LowerEvery-1 {
		t.Errorf("the lower lane starts at place %d", got)
	}
	starts := 0
	for ; starts < 100; starts++ {
		p := s.Order()[0]
		s.Upper = s.Started(p)
		if p.ID == "p" {
			break
		}
	}
	if starts != LowerEvery-1 || s.Upper != 0 {
		t.Errorf("%d starts before that of the lower lane", starts)
	}
	if s.HighOnly = true; at() != 50 {
		t.Errorf("in the last half hour the lower lane is at place %d", at())
	}
}

// TestOrderIsPermutation: an order has each waiting job once, higher lanes never wait for more
// than one lower job in LowerEvery, and one state has one order.
func TestOrderIsPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &State{Now: noon, Used: &Used{}, FIFO: rapid.Bool().Draw(t, "fifo"), Upper: rapid.IntRange(0, 40).Draw(t, "upper")}
		n := rapid.IntRange(0, 60).Draw(t, "jobs")
		for i := range n {
			j := Job{ID: fmt.Sprint(i), Team: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "team")), Lane: rapid.SampledFrom(Lanes).Draw(t, "lane"),
				Enqueued: ago(time.Duration(rapid.IntRange(0, 1200).Draw(t, "ago")) * time.Second), Number: int64(i), Again: rapid.Bool().Draw(t, "again")}
			s.Waiting = append(s.Waiting, j)
			s.Used.Add(j.Team, time.Duration(rapid.IntRange(0, 300).Draw(t, "used"))*time.Second, ago(time.Minute))
		}
		order := s.Order()
		seen := map[string]bool{}
		lower := 0
		for i, p := range order {
			seen[p.ID] = true
			if p.Why == WhyLower {
				lower++
			}
			if i > 0 && p.Lane.rank() < order[i-1].Lane.rank() && order[i-1].Why != WhyLower {
				t.Fatalf("lane %s after %s", p.Lane, order[i-1].Lane)
			}
		}
		if len(seen) != n || len(order) != n || lower > (n+s.Upper)/LowerEvery+1 {
			t.Fatalf("%d of %d jobs, %d of lower lanes", len(seen), n, lower)
		}
		slices.Reverse(s.Waiting)
		if again := s.Order(); fmt.Sprint(ids(again)) != fmt.Sprint(ids(order)) {
			t.Fatalf("the order depends on the order of its input:\n%v\n%v", ids(order), ids(again))
		}
	})
}

func TestUsed(t *testing.T) {
	u := &Used{}
	u.Add("a", 100*time.Second, ago(HalfLife))
	u.Add("a", 100*time.Second, noon)
	if got := u.At("a", noon); math.Abs(got-150) > 1e-9 {
		t.Errorf("used %v, want 150", got)
	}
	other := &Used{} // the same in the other order
	other.Add("a", 100*time.Second, noon)
	other.Add("a", 100*time.Second, ago(HalfLife))
	if got := other.At("a", noon.Add(HalfLife)); math.Abs(got-75) > 1e-9 {
		t.Errorf("used %v, want 75", got)
	}
}

func TestExpect(t *testing.T) {
	got := Expect(make([]Pick, 4), []Running{{Left: 30 * time.Second}, {}, {Left: -time.Minute}}, time.Minute)
	want := []time.Duration{0, 0, 30 * time.Second, time.Minute}
	if !slices.Equal(got, want) || Expect(make([]Pick, 1), nil, time.Minute) != nil {
		t.Errorf("expected %v, want %v", got, want)
	}
}

func TestBudget(t *testing.T) {
	b := contest.Budget{Runs: 3, PerHour: 2, CoolDown: time.Minute}
	past := func(minutes ...int) (out []Past) {
		for _, m := range minutes {
			out = append(out, Past{ago(time.Duration(m) * time.Minute), ago(time.Duration(m)*time.Minute - 30*time.Second)})
		}
		return out
	}
	for _, c := range []struct {
		past []Past
		from time.Duration
		ok   bool
	}{{past(100, 90), 0, true}, {past(100, 90, 80), 0, false}, {past(50, 10), 10 * time.Minute, false}, {past(100, 1), 30 * time.Second, false}, {nil, 0, true}} {
		err := Check(b, c.past, noon, 5)
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.past, err)
		}
		if over, is := err.(*BudgetError); is && c.from > 0 && !over.From.Equal(noon.Add(c.from)) {
			t.Errorf("%v: from %v", c.past, over.From)
		}
	}
	b.Saturated = true
	if err := Check(b, past(3, 2, 1), noon, 0); err != nil {
		t.Errorf("nobody waits: %v", err)
	}
}

// TestPlan: the example of the docs, and Erlang C against a simulation of the queue.
func TestPlan(t *testing.T) {
	p := PlanFor(1000, 6, 75*time.Second, time.Minute)
	if p.Busy != 125 || p.Workers < 130 || p.Workers > 145 {
		t.Errorf("plan %+v", p)
	}
	if got := ErlangC(1, 0.5); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("M/M/1 with load ½ waits with chance %v", got)
	}
	if got := ErlangC(10, 8); math.Abs(got-0.409) > 0.001 { // a table's value
		t.Errorf("10 slots with load 8 wait with chance %v", got)
	}
}
