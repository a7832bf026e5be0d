package mine

import (
	"math/bits"
	"math/rand"
	"slices"
	"testing"
)

// The golden values of this file were taken from the contest's server.

func TestValues(t *testing.T) {
	for best, want := range map[int][]int{
		3: {4, 9, 15, 19, 22, 24, 26, 28, 29, 30},
		4: {4, 9, 15, 23, 27, 30, 33, 35, 37, 38},
		5: {4, 9, 15, 23, 33, 37, 40, 43, 45, 47},
		6: {4, 9, 15, 23, 33, 45, 49, 52, 55, 57},
		7: {4, 9, 15, 23, 33, 45, 60, 64, 67, 70},
	} {
		if got := Values(best); !slices.Equal(got, want) {
			t.Errorf("best level %d: %v, want %v", best, got, want)
		}
	}
}

func TestBestDepth(t *testing.T) {
	for best, seeds := range map[int][]int64{3: {11, 15, 17, 20, 21}, 4: {1, 2, 5, 7, 9, 14, 18, 19}, 5: {13}, 6: {3, 6, 8, 16}, 7: {4, 10, 12, 22}} {
		for _, seed := range seeds {
			if got := BestDepth(seed); got != best {
				t.Errorf("seed %d: best level %d, want %d", seed, got, best)
			}
		}
	}
}

func TestSupply(t *testing.T) {
	for best, want := range map[int]int{3: 18_130_000, 4: 23_030_000, 5: 28_420_000, 6: 34_790_000, 7: 42_630_000} {
		if got := supply(Normal, payouts(Normal, Values(best))); got != want {
			t.Errorf("best level %d: %d coins, want %d", best, got, want)
		}
	}
}

// place is a treasure of a test.
type place struct{ x, y, depth int }

// drawn are the draws of a world, with those that hit a place twice.
func drawn(s Size, seed int64) (all []place, twice int) {
	seen := map[place]bool{}
	twice = s.generate(rand.New(rand.NewSource(seed)), func(x, y, depth int) bool {
		p := place{x, y, depth}
		all = append(all, p)
		free := !seen[p]
		seen[p] = true
		return free
	})
	return all, twice
}

func TestSmallWorld(t *testing.T) {
	got, twice := drawn(Size{X: 3, Y: 2, Depth: 2, Density: 3}, 666)
	var distinct []place
	for _, p := range got {
		if !slices.Contains(distinct, p) {
			distinct = append(distinct, p)
		}
	}
	want := []place{{0, 1, 2}, {0, 0, 2}, {2, 0, 1}}
	for _, p := range want {
		if !slices.Contains(distinct, p) {
			t.Errorf("no treasure at %v", p)
		}
	}
	if len(distinct) != len(want) || twice != 1 {
		t.Errorf("%v, %d twice", got, twice)
	}
}

func TestSparseWorld(t *testing.T) {
	n := 0
	Size{X: 3500, Y: 3500, Depth: 10, Density: 3500}.generate(rand.New(rand.NewSource(0)), func(_, _, depth int) bool {
		if depth == 1 {
			n++
		}
		return true
	})
	if n != 3506 {
		t.Errorf("%d treasures at depth 1, want 3506", n)
	}
}

func TestNormalWorld(t *testing.T) {
	f, first := newField(Normal), []place(nil)
	twice := Normal.generate(rand.New(rand.NewSource(3)), func(x, y, depth int) bool {
		if len(first) < 4 {
			first = append(first, place{x, y, depth})
		}
		return f.put(x, y, depth)
	})
	if want := []place{{1508, 1977, 7}, {1350, 777, 10}, {2416, 1017, 5}, {1247, 1366, 1}}; !slices.Equal(first, want) {
		t.Errorf("the first treasures are %v, want %v", first, want)
	}
	columns := map[int]int{} // by their treasures
	for _, levels := range f.at {
		columns[bits.OnesCount16(levels)]++
	}
	if twice != 913 || columns[1] != 471_812 || columns[2] != 8_505 || columns[3] != 87 || columns[4] != 1 {
		t.Errorf("%d draws were skipped, columns by treasures: %v", twice, columns)
	}
}

func TestLicenser(t *testing.T) {
	l := licenser{rand: rand.New(rand.NewSource(11)), timeouts: 10}
	got := map[int]int{}
	for range 1000 {
		status, _ := l.call(50)
		got[status]++
	}
	if got[504] != 46 || got[502] != 421 {
		t.Errorf("%v, want 46 timeouts and 421 other failures", got)
	}
}

func TestBalance(t *testing.T) {
	s := Size{X: 40, Y: 40, Depth: 1, Density: 1}
	r := rand.New(rand.NewSource(0))
	n := s.Treasures() - s.generate(r, newField(s).put)
	b := newBank(s.Treasures() * 2)
	for range n {
		b.earn(1 + r.Intn(2))
	}
	if b.balance != 1538 {
		t.Errorf("a balance of %d, want 1538", b.balance)
	}
	if got := digs(1000, r); got != 43 {
		t.Errorf("1000 coins buy %d digs, want 43", got)
	}
}
