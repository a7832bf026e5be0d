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

// TestTuneHarm checks that what helps in short runs and harms in those of the last
// comparison does not stay, and that the outcome shows what was measured.
func TestTuneHarm(t *testing.T) {
	tier.Slow(t)
	for _, c := range []struct {
		name  string
		long  float64 // effect on ln(score) in long runs
		stays bool
	}{
		{"slower in long runs", -1.5, false},
		{"faster by less", -0.3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, tu := newMeadow(t, 5)
			m.effects = map[string]float64{"pool=8": math.Log(2), "index=1": 0.3}
			m.long = map[string]float64{"pool=8": c.long}
			m.finds = func(map[string]bool) []iikanji.Finding {
				return []iikanji.Finding{turn("DB210", "pool", "8", 8), turn("DB101", "index", "1", 4)}
			}
			before := m.on()
			out, err := tu.Tune(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := 2 * math.Exp(c.long+0.3)
			if out.Ratio.Lo > want || out.Ratio.Hi < want {
				t.Errorf("ratio %+v, want about %.2f", out.Ratio, want)
			}
			noted := slices.ContainsFunc(out.Notes, func(s string) bool { return strings.Contains(s, "slower with what was kept") })
			if noted == c.stays || (fmt.Sprint(m.on()) == fmt.Sprint(before)) == c.stays || !c.stays && out.Proofs != (search.Proofs{}) {
				t.Errorf("noted: %v; the site is %v; proofs %+v", noted, m.on(), out.Proofs)
			}
			ids, err := tu.Acts.RevertAll(t.Context(), "all")
			if err != nil || (len(ids) > 0) != c.stays || fmt.Sprint(m.on()) != fmt.Sprint(before) {
				t.Errorf("reverting all: %v %v, the site is %v", ids, err, m.on())
			}
		})
	}
}
