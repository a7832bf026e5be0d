package lead

import (
	"math"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// TestNoise: a kept noise marks neighbours that single runs do not tell apart, also for those who
// follow already; the last one counts.
func TestNoise(t *testing.T) {
	h := newHall(t, 3)
	for team, score := range []float64{1000, 970, 500} {
		h.enqueue(team)
		h.finish(h.take("w1"), api.Report{Outcome: iikanji.Passed, Score: score})
	}
	var followed History
	joined := func(follow *History) (out [3]bool) {
		t.Helper()
		if _, err := h.Follow(t.Context(), "hall_day", follow); err != nil {
			t.Fatal(err)
		}
		for i, r := range board.Of(follow.Data, board.Reader{}, h.Now()).Rows {
			out[i] = r.Joined
		}
		return out
	}
	if got := joined(&followed); got != [3]bool{} {
		t.Errorf("without a noise %v", got)
	}
	for _, bad := range []api.Noise{{SD: -1, Runs: 8}, {SD: 2, Runs: 8}, {SD: math.NaN(), Runs: 8}, {SD: 0.02, Runs: 2}} {
		if h.SetNoise(t.Context(), "staff", "hall_day", bad) == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if h.SetNoise(t.Context(), "staff", "no_round", api.Noise{SD: 0.02, Runs: 8}) == nil {
		t.Error("the noise of no round was taken")
	}
	for _, c := range []struct {
		sd   float64
		want [3]bool
	}{{0.02, [3]bool{true}}, {0.5, [3]bool{true, true}}, {0.001, [3]bool{}}} {
		h.check(h.SetNoise(t.Context(), "staff", "hall_day", api.Noise{SD: c.sd, Runs: 8}))
		if got, fresh := joined(&followed), joined(&History{}); got != c.want || fresh != c.want {
			t.Errorf("with a noise of %v: %v, from the begin %v; want %v", c.sd, got, fresh, c.want)
		}
	}
}
