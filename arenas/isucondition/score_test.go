package isucondition

import (
	"testing"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

func eventOf(band int64) scenario.Event { return scenario.Event(band) }

func TestBandOf(t *testing.T) {
	for n, want := range map[int]int{0: 3, 5: 3, 6: 2, 10: 2, 11: 1, 20: 1, 21: 0, 30: 0} {
		if got := bandOf(n); got != want {
			t.Errorf("an hour with %d conditions is in band %d, want %d", n, got, want)
		}
	}
}

func TestScoreTable(t *testing.T) {
	counts := make([]int64, len(table.Events))
	counts[eventInfo], counts[eventWarning], counts[eventCritical] = 149, 50, 100
	for band := range int64(bands) {
		counts[eventDay+eventOf(band)] = 1
		counts[eventToday+eventOf(band)] = 1
	}
	got := table.Score(counts, 7, 39)
	want := 1000. + 2*20 + 8 + 2*4 + (150 + 100 + 60 + 10) + (60 + 40 + 24 + 4)
	if got.Raw != want || got.Deducted != 7+3 || got.Final != want-10 {
		t.Errorf("score %+v, want %g raw and 10 deducted", got, want)
	}
	if len(table.Events) != int(eventToday)+bands {
		t.Errorf("%d events in the table, want %d", len(table.Events), int(eventToday)+bands)
	}
}

// hours returns a graph's counts: n conditions in the hours [from, to).
func hours(n, from, to int) (h [24]int) {
	for i := from; i < to; i++ {
		h[i] = n
	}
	return h
}

// TestCompleteDays tests the rule of completed days as a table: which days one
// graph of day 5 completes.
func TestCompleteDays(t *testing.T) {
	day := func(n int64) int64 { return T0.Unix() + n*daySeconds }
	for _, c := range []struct {
		says  string
		hours [24]int
		want  int64 // newest completed day
	}{
		{"no data completes nothing", hours(0, 0, 24), -1},
		{"hour 0 completes all before yesterday", hours(1, 0, 1), 3},
		{"hour 11 completes all before yesterday", hours(1, 11, 12), 3},
		{"hour 12 completes yesterday", hours(1, 12, 13), 4},
		{"hour 23 completes yesterday", hours(1, 23, 24), 4},
		{"a full day completes yesterday, not itself", hours(30, 0, 24), 4},
	} {
		l := newLedger(day(0))
		l.learn(day(5), &c.hours)
		if l.complete != day(c.want) {
			t.Errorf("%s: complete until day %d, want %d", c.says, (l.complete-day(0))/daySeconds, c.want)
		}
	}
}

func TestCompleteNeverShrinks(t *testing.T) {
	l := newLedger(T0.Unix())
	noon, morning := hours(1, 12, 13), hours(1, 0, 1)
	l.learn(T0.Unix()+5*daySeconds, &noon)
	l.learn(T0.Unix()+5*daySeconds, &morning)
	l.learn(T0.Unix()+2*daySeconds, &noon)
	if l.complete != T0.Unix()+4*daySeconds {
		t.Errorf("complete until day %d, want 4", (l.complete-T0.Unix())/daySeconds)
	}
}

func TestPay(t *testing.T) {
	day := func(n int64) int64 { return T0.Unix() + n*daySeconds }
	l := newLedger(day(2) + 5*hourSeconds)
	full, noon := hours(21, 0, 24), hours(1, 12, 13)
	if _, ok := l.pay(day(3), &full); ok {
		t.Error("a day that is not complete was paid")
	}
	l.learn(day(5), &noon)
	if _, ok := l.pay(day(1), &full); ok {
		t.Error("a day before the registration was paid")
	}
	if band, ok := l.pay(day(4), &full); !ok || band != 0 {
		t.Errorf("band %d, %v, want the best", band, ok)
	}
	if _, ok := l.pay(day(4), &full); ok {
		t.Error("a day was paid twice")
	}
	if !l.needs(day(3)) || !l.needs(day(2)) || l.needs(day(1)) {
		t.Error("the walk must go back to the registration while days are open")
	}
	gap := full
	gap[7] = 6
	if band, ok := l.pay(day(3), &gap); !ok || band != 2 {
		t.Errorf("band %d, %v, want that of the barest hour", band, ok)
	}
	if _, ok := l.pay(day(2), &noon); !ok || l.needs(day(4)) || !l.needs(day(5)) {
		t.Error("all days until the fourth are paid: the walk must stop there")
	}
}

func TestPayToday(t *testing.T) {
	day := T0.Unix()
	h := hours(30, 0, 10)
	h[10] = 7 // the current hour
	for _, c := range []struct {
		says string
		now  int64
		want int
	}{
		{"no hour has ended", day + 100, 3},
		{"the running hour is ignored", day + 10*hourSeconds + 1800, 0},
		{"an hour that has just ended counts", day + 11*hourSeconds, 2},
		{"an hour without data counts", day + 12*hourSeconds, 3},
		{"the next day", day + 30*hourSeconds, 3},
	} {
		if got := payToday(day, c.now, &h); got != c.want {
			t.Errorf("%s: band %d, want %d", c.says, got, c.want)
		}
	}
}

func TestGrowth(t *testing.T) {
	for _, c := range []struct{ updates, users, more, used int64 }{
		{0, 7, 0, 0}, {3499, 7, 0, 0}, {3500, 7, 1, 3500}, {8000, 7, 2, 7000},
	} {
		if more, used := growth(c.updates, c.users); more != c.more || used != c.used {
			t.Errorf("growth(%d, %d) = %d, %d", c.updates, c.users, more, used)
		}
	}
}
