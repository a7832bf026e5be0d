package rewrite

import (
	"path/filepath"
	"testing"
)

// knobsOfDrops are the constants that throttle in the app drops.
func knobsOfDrops(t *testing.T) []Hit {
	t.Helper()
	root, err := filepath.Abs("testdata/contest/drops")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), root, []string{"."}, Facts{}, []*Lever{&throttlingConstant})
	if err != nil || len(res.Problems) > 0 {
		t.Fatal(res, err)
	}
	return res.Hits
}

// TestDrops: a knob that leaves work out at random has the share that it leaves out;
// others have none.
func TestDrops(t *testing.T) {
	got := map[string]float64{}
	for _, h := range knobsOfDrops(t) {
		got[h.Func] = h.Drops
	}
	want := map[string]float64{"share": 0.9, "percent": 0.8, "allButOne": 0.8, "sometimes": 0, "oneOfTen": 0, "all": 0}
	for name, drops := range want {
		if d, ok := got[name]; !ok || d != drops {
			t.Errorf("%s leaves out %v (found: %v), want %v", name, d, ok, drops)
		}
	}
}

// TestPools: the most connections to a database are marked as such, idle ones are not.
func TestPools(t *testing.T) {
	var pools []string
	for _, h := range knobsOfDrops(t) {
		if h.Pool {
			pools = append(pools, h.Func+" "+h.What)
		}
	}
	if want := "pool a pool has a fixed size (10)"; len(pools) != 1 || pools[0] != want {
		t.Errorf("%q, want %q", pools, want)
	}
}
