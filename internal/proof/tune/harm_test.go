package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// TestTuneHarm checks that what helps in short runs and harms in full ones does not stay: alone it is
// undone by the last comparison, and beside a gain by a full run without it. The outcome shows what
// was measured.
func TestTuneHarm(t *testing.T) {
	tier.Slow(t)
	for _, c := range []struct {
		name  string
		alone bool    // nothing else is kept
		long  float64 // effect on ln(score) in long runs
		left  string  // what stays
		want  float64 // the ratio on ln
	}{
		{"slower in long runs, alone", true, -1.5, "map[]", math.Log(2) - 1.5},
		{"slower in long runs, beside a gain", false, -1.5, "map[index=1:true]", 0.3},
		{"faster by less", false, -0.3, "map[index=1:true pool=8:true]", math.Log(2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, tu := newMeadow(t, 5)
			m.effects = map[string]float64{"pool=8": math.Log(2), "index=1": 0.3}
			m.long = map[string]float64{"pool=8": c.long}
			m.finds = func(map[string]bool) []iikanji.Finding {
				found := []iikanji.Finding{turn("DB210", "pool", "8", 8), turn("DB101", "index", "1", 4)}
				if c.alone {
					found = found[:1]
				}
				return found
			}
			before := m.on()
			out, err := tu.Tune(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := math.Exp(c.want); out.Ratio.Lo > want || out.Ratio.Hi < want {
				t.Errorf("ratio %+v, want about %.2f", out.Ratio, want)
			}
			noted := slices.ContainsFunc(out.Notes, func(s string) bool { return strings.Contains(s, "slower with what was kept") })
			if noted != c.alone || fmt.Sprint(m.on()) != c.left || c.alone && out.Proofs != (search.Proofs{}) {
				t.Errorf("noted: %v; the site is %v; proofs %+v", noted, m.on(), out.Proofs)
			}
			ids, err := tu.Acts.RevertAll(t.Context(), "all")
			if err != nil || len(ids) != strings.Count(c.left, "true") || fmt.Sprint(m.on()) != fmt.Sprint(before) {
				t.Errorf("reverting all: %v %v, the site is %v", ids, err, m.on())
			}
		})
	}
}
