package mine

import (
	"context"
	"math/rand"
	"slices"
	"testing"
	"time"
)

func newTestGame(t *testing.T, s Size) *game {
	t.Helper()
	g, err := newGame(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go g.cpu.run(ctx)
	return g
}

// TestExplore compares counts of areas of all sizes with those of single cells.
func TestExplore(t *testing.T) {
	s := Size{X: 300, Y: 260, Depth: 10, Density: 20}
	f := newField(s)
	r := rand.New(rand.NewSource(1))
	s.generate(r, f.put)
	for range 3000 { // digs change the counts, too
		x, y := r.Intn(s.X), r.Intn(s.Y)
		if f.dug[x+s.X*y] < 10 {
			f.dig(x, y, int(f.dug[x+s.X*y])+1)
		}
	}
	for range 2000 {
		x, y := r.Intn(s.X), r.Intn(s.Y)
		wide, high := 1+r.Intn(s.X-x), 1+r.Intn(s.Y-y)
		want := 0
		for row := y; row < y+high; row++ {
			want += f.cells(x, x+wide, row, 1)
		}
		if got := f.explore(x, y, wide, high); got != want {
			t.Fatalf("%d at %d,%d in %d × %d, want %d", got, x, y, wide, high, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for area, want := range map[int]int{1: 5, 3: 5, 4: 10, 7: 10, 8: 15, 16: 20, 32: 25, 64: 30, 127: 30, 128: 35, 255: 35, 256: 40, 511: 40, 3500 * 3500: 115} {
		if got := ExploreTicks(area); got != want {
			t.Errorf("exploring %d cells: %d ticks, want %d", area, got, want)
		}
	}
	if DigTicks(1) != 10 || DigTicks(10) != 19 {
		t.Errorf("digs cost %d to %d ticks", DigTicks(1), DigTicks(10))
	}
}

// TestShares: each tick goes to the job that has waited longest, so that the jobs end in the
// order of their lengths.
func TestShares(t *testing.T) {
	c := &cpu{}
	long, short, middle := c.begin(9), c.begin(2), c.begin(5)
	over := func(j *job) bool {
		select {
		case <-j.done:
			return true
		default:
			return false
		}
	}
	c.offer(4)
	if over(short) {
		t.Error("the short job has ended before its second turn")
	}
	c.offer(1)
	if !over(short) || over(middle) {
		t.Error("after 5 ticks the short job must have ended, and no other")
	}
	c.offer(8)
	if !over(middle) || over(long) {
		t.Error("after 13 ticks the middle job must have ended, and the long one not")
	}
	c.offer(3)
	if !over(long) {
		t.Error("after 16 ticks the long job must have ended")
	}
	if got := c.count(); got != (Ticks{Used: 16}) {
		t.Errorf("%+v", got)
	}
}

func TestLostTicks(t *testing.T) {
	c := &cpu{}
	c.offer(50) // 20 are kept
	if j := c.begin(15); j != nil {
		t.Error("15 ticks were not stored")
	}
	j := c.begin(10) // 5 are stored
	c.offer(4)
	if !c.giveUp(j) {
		t.Error("the job has ended")
	}
	c.offer(1000) // 110 are made up for
	if got := c.count(); got != (Ticks{Used: 15, Wasted: 9, Idle: 30 + 90, Late: 890}) {
		t.Errorf("%+v", got)
	}
}

// TestTooLong: explorations that take longer than a second and digs that take longer than two
// are refused, and change nothing.
func TestTooLong(t *testing.T) {
	g, err := newGame(Small, 3)
	if err != nil {
		t.Fatal(err)
	}
	g.licenses.active[7] = &License{ID: 7, Allowed: 1}
	explored := make(chan *Refusal)
	go func() {
		_, refusal := g.explore(context.Background(), Area{0, 0, 1, 1})
		explored <- refusal
	}()
	began := time.Now()
	_, refusal := g.dig(context.Background(), spade{license: 7, depth: 1}) // no tick is offered
	if refusal == nil || refusal.Status != 503 || time.Since(began) < digMost {
		t.Errorf("dig: %v after %v", refusal, time.Since(began))
	}
	if refusal := <-explored; refusal == nil || refusal.Status != 503 {
		t.Errorf("explore: %v", refusal)
	}
	if g.field.dug[0] != 0 || g.licenses.active[7].Used != 0 {
		t.Error("a dig that took too long has changed something")
	}
}

func TestUndug(t *testing.T) {
	g := newTestGame(t, Small)
	var refusal *Refusal
	for refusal == nil || refusal.Status == 503 { // by chance
		_, refusal = g.cash(context.Background(), g.sealed(0, 1))
	}
	if refusal.Code != codeUndug || refusal.Status != 409 {
		t.Errorf("%+v", refusal)
	}
}

func TestPrices(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for coins, want := range map[int][2]int{0: {3, 3}, 1: {5, 5}, 5: {5, 5}, 6: {10, 10}, 10: {10, 10}, 11: {20, 29}, 20: {20, 29}, 21: {40, 49}, 1000: {40, 49}} {
		for range 100 {
			if got := digs(coins, r); got < want[0] || got > want[1] {
				t.Fatalf("%d coins buy %d digs, want %v", coins, got, want)
			}
		}
	}
}

func TestBank(t *testing.T) {
	b := newBank(100)
	if got := b.earn(70); len(got) != 70 || got[0] != 0 || got[69] != 69 {
		t.Errorf("%v", got)
	}
	if b.spend([]int{5, 6, 70}) || b.balance != 70 || !b.has(5) {
		t.Error("coins were spent although one of them is not issued")
	}
	if !b.spend([]int{0, 1, 64}) || b.has(0) || b.balance != 67 {
		t.Error("coins could not be spent")
	}
	if got := b.earn(31); got[29] != 99 || got[30] != 0 { // round
		t.Errorf("%v", got)
	}
	wallet := b.wallet()
	if len(wallet) != 98 || wallet[0] != 0 || wallet[1] != 99 || slices.Contains(wallet, 1) || slices.Contains(wallet, 64) {
		t.Errorf("%v", wallet)
	}
	if b.earn(3) != nil || b.earn(2) == nil || b.balance != 100 {
		t.Error("more coins than there are")
	}
}

func TestBucket(t *testing.T) {
	b, now := bucket{rate: 100}, time.Now()
	take := func() (n int) {
		for b.take(now) {
			n++
		}
		return n
	}
	if n := take(); n != 100 {
		t.Errorf("%d at once, want 100", n)
	}
	now = now.Add(250 * time.Millisecond)
	if n := take(); n != 25 {
		t.Errorf("%d after 250 ms, want 25", n)
	}
	now = now.Add(time.Hour)
	if n := take(); n != 100 {
		t.Errorf("%d after an hour, want 100", n)
	}
}
