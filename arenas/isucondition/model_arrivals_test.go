package isucondition

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

func testArrivals(seed uint64) *arrivals {
	return newArrivals(rand.New(rand.NewPCG(seed, 0)), &Data{Pool: make([]Image, 10), Users: []User{{ID: "able_abe"}}})
}

func TestPlanRepeats(t *testing.T) {
	a, b, other := testArrivals(1), testArrivals(1), testArrivals(2)
	for range 50 {
		ua, ub, uo := a.next(""), b.next(""), other.next("")
		if ua.id != ub.id || len(ua.isus) != len(ub.isus) || ua.isus[0] != ub.isus[0] {
			t.Fatalf("one seed made %v and %v", ua, ub)
		}
		if len(ua.isus) != len(uo.isus) {
			t.Fatal("the number of ISU depends on the seed")
		}
		if ua.isus[0].uuid == uo.isus[0].uuid {
			t.Fatal("two seeds made the same ISU")
		}
	}
	if a.sum() != b.sum() || a.sum() == other.sum() {
		t.Errorf("digests %g, %g, %g: want the first two alike only", a.sum(), b.sum(), other.sum())
	}
}

func TestPlanShape(t *testing.T) {
	p := testArrivals(3)
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	counts, bare, all := map[int]int{}, 0, 0
	names, uuids := map[string]bool{"able_abe": true}, map[string]bool{}
	for range 400 {
		u := p.next("")
		if names[u.id] {
			t.Fatalf("user %s twice", u.id)
		}
		names[u.id] = true
		counts[len(u.isus)]++
		for _, i := range u.isus {
			all++
			if i.image < 0 {
				bare++
			}
			if !uuid.MatchString(i.uuid) || uuids[i.uuid] || i.name == "" || i.image >= 10 || i.character < 0 || i.character >= Characters {
				t.Fatalf("ISU %+v", i)
			}
			uuids[i.uuid] = true
		}
	}
	if len(counts) != 9 || counts[0] != 0 {
		t.Errorf("users have %v ISU, want 1 to 9", counts)
	}
	if bare != all/20 {
		t.Errorf("%d of %d ISU have no image, want every 20th", bare, all)
	}
	if u := p.next("isucon"); u.id != "isucon" {
		t.Errorf("user %q, want isucon", u.id)
	}
}
