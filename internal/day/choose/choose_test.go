package choose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// history makes runs from lines as in "b 44269" or "b fail timeout".
func history(t *testing.T, lines string) (runs []Run) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		f := strings.Fields(line)
		r := Run{ID: iikanji.RunID(i + 1), State: State{Key: f[0], Says: f[0]}}
		if f[1] == "fail" {
			r.Faults = f[2:]
		} else {
			r.Passed = true
			if _, err := fmt.Sscan(f[1], &r.Score); err != nil {
				t.Fatal(err)
			}
		}
		runs = append(runs, r)
	}
	return runs
}

// seed is the last hour of a team that ended with capacity 120 and failed: 60 passed each
// time, 120 once in three.
const seed = `
60 31800
60 32173
60 32910
60 30950
60 32400
120 fail timeout
120 44269
120 fail timeout
`

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s: %g, want %g ± %g", what, got, want, within)
	}
}

// TestSeed: the state that passes each time is chosen, under both rules of registering.
func TestSeed(t *testing.T) {
	c := Among(history(t, seed), Rules{Last, DefaultFloor})
	if c.With != 0 || c.Rows[c.With].Key != "60" {
		t.Fatalf("chose %d of %+v", c.With, c.Rows)
	}
	near(t, "60 passes", c.Rows[0].Passes, 5.5/6, 1e-12)
	near(t, "120 passes", c.Rows[1].Passes, 1.5/4, 1e-12)
	near(t, "5 of 5 allow", c.Press.Rate, 1-math.Pow(0.05, 1./5), 1e-12)
	near(t, "10 of 10 allow", c.Press.More, 1-math.Pow(0.05, 1./10), 1e-12)
	if !c.Press.Again {
		t.Error("the last run is of capacity 120, and no further run is asked for")
	}
	if c = Among(history(t, seed+"60 33000"), Rules{Last, DefaultFloor}); c.Press.Again {
		t.Errorf("the last run is of the chosen state, and above its median: %s", c.Press.Why)
	}
	if c = Among(history(t, seed+"60 12000"), Rules{Last, DefaultFloor}); !c.Press.Again {
		t.Error("a last run far below the state's median is left as it is")
	}
	// Where the highest score registers, 44,269 is registered whatever is run now: 60 reaches
	// three quarters of it in few runs, 120 in all that pass.
	c = Among(history(t, seed), Rules{Best, DefaultFloor})
	if c.Rows[c.With].Key != "120" || c.Rows[0].Again > 0.5 {
		t.Errorf("best registers: chose %s of %+v", c.Rows[c.With].Key, c.Rows)
	}
}

// TestPasses compares with the mean of the posterior density p^(k−½)·(1−p)^(n−k−½), summed
// after the substitution p = sin² which makes it smooth.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		passed int
		failed float64
	}{{0, 0}, {5, 0}, {1, 2}, {0, 3}, {3, 1.5}, {40, 2}} {
		sum, mean := 0.0, 0.0
		for i := range 20000 {
			x := (float64(i) + 0.5) / 20000 * math.Pi / 2
			s, o := math.Sin(x), math.Cos(x)
			density := math.Pow(s*s, float64(c.passed)) * math.Pow(o*o, c.failed) // dp = 2·sin·cos takes both ½ away
			sum += density
			mean += density * s * s
		}
		near(t, fmt.Sprintf("%+v", c), passes(c.passed, c.failed), mean/sum, 1e-7)
	}
}

// studentSum is P(D ≤ distance) for a deviation D with the variance σ²·times, summed over
// the posterior of σ: df·s²/σ² has the χ² distribution with df degrees of freedom.
func studentSum(s Spread, distance, times float64) float64 {
	sum, all := 0.0, 0.0
	for i := range 40000 {
		x := (float64(i) + 0.5) / 40000 * 120 // χ²
		density := math.Exp((s.DF/2-1)*math.Log(x) - x/2)
		sigma := s.Sigma * math.Sqrt(s.DF/x)
		sum += density * 0.5 * math.Erfc(-distance/(sigma*math.Sqrt(times))/math.Sqrt2)
		all += density
	}
	return sum / all
}

func TestAgain(t *testing.T) {
	scores := []float64{100, 108, 97}
	mean := (math.Log(100) + math.Log(108) + math.Log(97)) / 3
	for _, s := range []Spread{{Sigma: 0.08, DF: 4}, {Sigma: 0.2, DF: 9}, {Sigma: 0.03, DF: 20}} {
		for _, floor := range []float64{0.75, 0.9, 1} {
			near(t, fmt.Sprint("next of ", s, floor), s.againNext(floor), studentSum(s, -math.Log(floor), 2), 2e-5)
			near(t, fmt.Sprint("best of ", s, floor), s.againBest(scores, 108, floor), studentSum(s, mean-math.Log(floor*108), 1+1./3), 2e-5)
		}
	}
	one := Spread{Sigma: 0.1, DF: 4}
	near(t, "one run that registers is one run again", one.againBest([]float64{50}, 50, 0.75), one.againNext(0.75), 1e-12)
}

// TestSelection: the highest of n runs is too high. The chance falls with n, as drawn runs
// show, and the estimate from the mean of all runs has the right average.
func TestSelection(t *testing.T) {
	const sigma, floor, draws = 0.15, 0.75, 30000
	rng := rand.New(rand.NewPCG(39, 1))
	s := Spread{Sigma: sigma, DF: 1e6}
	last := 1.0
	for _, n := range []int{1, 2, 5, 10} {
		hits, told := 0.0, 0.0
		for range draws {
			scores, highest := make([]float64, n), 0.0
			for i := range scores {
				scores[i] = math.Exp(sigma * rng.NormFloat64())
				highest = max(highest, scores[i])
			}
			if math.Exp(sigma*rng.NormFloat64()) >= floor*highest {
				hits++
			}
			told += s.againBest(scores, highest, floor)
		}
		near(t, fmt.Sprint("told of ", n), told/draws, hits/draws, 0.008)
		if hits/draws >= last {
			t.Errorf("the highest of %d is reached in %.3f, of fewer in %.3f", n, hits/draws, last)
		}
		last = hits / draws
	}
}

// TestRegisters compares the integral with a sum over all outcomes of deviations that have
// 2,000 equally likely values.
func TestRegisters(t *testing.T) {
	const cells = 2000
	for _, sigma := range []float64{0.03, 0.08, 0.2} {
		s := Spread{Sigma: sigma, DF: 4}
		for _, n := range []int{1, 2, 7} {
			sum := 0.0
			for i := range cells { // the chance that the highest is value i of the cells
				chance := math.Pow(float64(i+1)/cells, float64(n)) - math.Pow(float64(i)/cells, float64(n))
				z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/cells-1)
				reach := 0.5 * math.Erfc((z+math.Log(0.75)/sigma)/math.Sqrt2)
				sum += chance * math.Exp(sigma*z) * reach
			}
			near(t, fmt.Sprint(sigma, n), s.registers(n, 0.75), sum, 2e-3)
		}
	}
}

// TestStop: with a wide spread each further run costs more by the floor than it adds to the
// highest score; with a small one it adds, less and less.
func TestStop(t *testing.T) {
	for sigma, want := range map[float64]bool{0.05: true, 0.3: false} {
		c := Among(history(t, "a 100"), Rules{Best, 0.75})
		c.Spread = Spread{Sigma: sigma, DF: 20}
		if again, why := c.pressBest(c.Rows[0]); again != want {
			t.Errorf("σ %g: %v (%s), want %v", sigma, again, why, want)
		}
	}
	many := Among(history(t, strings.Repeat("a 100\na 104\n", 30)), Rules{Best, 0.75})
	if many.Press.Again {
		t.Errorf("after 60 runs: %s", many.Press.Why)
	}
}

func TestSpread(t *testing.T) {
	few := spreadOf(groupsOf(history(t, "a 100\nb 300")))
	if few.Sigma != priorSigma || !few.Assumed || few.DF != fewDF {
		t.Errorf("without a repeated run: %+v", few)
	}
	d := math.Log(1.1) / 2 // each run's distance from the mean of its pair
	two := spreadOf(groupsOf(history(t, "a 100\na 110\nb 200\nb 220")))
	near(t, "two pairs and two parts of the prior", two.Sigma, math.Sqrt((4*d*d+2*priorSigma*priorSigma)/4), 1e-12)
	own := spreadOf(groupsOf(history(t, "a 100\na 110\nb 200\nb 220\nc 100\nc 110\nd 1\nd 1.1\nd fail x")))
	near(t, "four pairs", own.Sigma, math.Sqrt(8*d*d/4), 1e-12)
	if own.Assumed || own.DF != 4 {
		t.Errorf("four pairs: %+v", own)
	}
}

// TestNeighbours: the fault of a state counts half where the state before or after has it.
func TestNeighbours(t *testing.T) {
	c := Among(history(t, "a 100\na 100\na fail timeout\nb fail timeout\nb 120\nb fail other\nc fail timeout\nc 90"), Rules{Last, 0.75})
	near(t, "a", c.Rows[0].Near, 0.5, 0)
	near(t, "a passes", c.Rows[0].Passes, 2.5/4.5, 1e-12)
	near(t, "b has two neighbours with it", c.Rows[1].Near, 1, 0)
	near(t, "c is no neighbour of a", c.Rows[2].Near, 0.5, 0)
}

func TestTie(t *testing.T) {
	runs := history(t, "a 1000\na 1000\na 1000\nb 1004\nb 1004\nb 1004")
	for i := range runs {
		if runs[i].State.Key == "b" {
			runs[i].State.Unproven = 3
		}
	}
	if c := Among(runs, Rules{Last, 0.75}); c.Rows[c.With].Key != "a" {
		t.Error("a tie went to the state with unproven edits")
	}
	runs = history(t, "a 1000\na 1000\na 1000\nb 1104\nb 1104\nb 1104")
	for i := range runs {
		runs[i].State.Unproven = map[string]int{"a": 0, "b": 3}[runs[i].State.Key]
	}
	if c := Among(runs, Rules{Last, 0.75}); c.Rows[c.With].Key != "b" {
		t.Error("10 % are no tie")
	}
}

func TestGood(t *testing.T) {
	runs := history(t, "a 10\na 10\na 10\nb 12\nb 12\nb 12\nc 13\nc 13")
	for i := range runs {
		runs[i].State.Rehearsed = true
	}
	if c := Among(runs, Rules{Last, 0.75}); c.Good != 1 {
		t.Errorf("good is %d, want the second: the third has two runs", c.Good)
	}
	for i := range runs {
		runs[i].State.Boot = map[string]int{"b": 1}[runs[i].State.Key]
	}
	if c := Among(runs, Rules{Last, 0.75}); c.Good != 0 {
		t.Errorf("good is %d, want the first: the second would not come back", c.Good)
	}
	if c := Among(nil, Rules{Last, 0.75}); c.Good != -1 || c.With != -1 || !c.Press.Again {
		t.Errorf("no run: %+v", c)
	}
}

// TestBounds: chances are chances, whatever the runs are.
func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var runs []Run
		for i := range rng.IntN(12) {
			r := Run{ID: iikanji.RunID(i + 1), State: State{Key: string(rune('a' + rng.IntN(3)))}, Passed: rng.IntN(3) > 0}
			if r.Passed {
				r.Score = float64(rng.IntN(3)) * math.Exp(rng.NormFloat64())
			} else {
				r.Faults = []string{string(rune('p' + rng.IntN(2)))}
			}
			runs = append(runs, r)
		}
		c := Among(runs, Rules{[]Final{Last, Best}[rng.IntN(2)], rng.Float64()*0.99 + 0.01})
		for _, r := range c.Rows {
			if !(r.Passes > 0 && r.Passes < 1 && r.Again >= 0 && r.Again <= 1 && r.Worth >= 0 && !math.IsInf(r.Worth, 0)) {
				t.Fatalf("%+v of %+v", r, runs)
			}
		}
	}
}
