package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// carve is knob for source: its trial compares answers first.
type carve struct{ knob }

func (carve) Name() string { return "carve" }
func (carve) Help() string { return "a knob of the meadow that counts as source" }
func (carve) Acts() []change.Act {
	act := knobAct
	act.Rewrites = true
	return []change.Act{act}
}
func (c carve) Match(iikanji.Remedy) (change.Act, error) { return c.Acts()[0], nil }

func init() { change.Register(carve{}) }

// A cause is one that a slow site has: seconds of each hundred that it takes.
type cause struct {
	name   string
	cost   float64
	claims float64 // what a diagnosis takes it for
	source bool    // its remedy changes source
	hidden string  // the cause that must be cured before a diagnosis sees this one
	breaks bool    // its remedy fails the checks
}

// A slowSite is a site whose runs take a minute, with causes that add up: each cure
// makes the rest a larger share, as on a real site.
type slowSite struct {
	*meadow
	causes []cause
	base   float64 // seconds of each hundred that nothing cures
}

// overhead is the time of a run beyond its load, comparison that of one of answers.
const (
	overhead    = 5 * time.Second
	answersTake = 30 * time.Second
)

// left is the time that requests take in the present state.
func (s *slowSite) left() float64 {
	on, sum := s.on(), s.base
	for _, c := range s.causes {
		if !on[c.name+"=1"] {
			sum += c.cost
		}
	}
	return sum
}

func (s *slowSite) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	s.now = s.now.Add(overhead + spec.Rest)
	s.level = math.Log(100 / s.left())
	return s.meadow.Bench(ctx, spec)
}

func (s *slowSite) Observe(_ context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	s.now = s.now.Add(overhead + spec.Load + 10*time.Second)
	on, left := s.on(), s.left()
	d := &diagnose.Diagnosis{Run: &iikanji.Run{}, CPU: left, Statements: left, Binding: "cpu"}
	for _, c := range s.causes {
		if on[c.name+"=1"] || c.hidden != "" && !on[c.hidden+"=1"] {
			continue
		}
		f := turn("DB101", c.name, "1", c.claims)
		f.Where = c.name
		if c.source {
			f.Code, f.Remedies[0].Kind = "APP201", "carve"
		}
		d.Findings = append(d.Findings, f)
	}
	return d, nil, nil
}

func (s *slowSite) SameAnswers(ctx context.Context, spec load.AnswerSpec) (load.AnswerReport, error) {
	s.now = s.now.Add(answersTake)
	return load.AnswerReport{Answered: iikanji.Answered{Requests: 100}}, spec.Swap(ctx, true)
}

// minuteSite is a site with 20 causes, four of which have 88 % of the time, so that
// curing these gives × 8.3; one of the four is in source, one is seen late.
func minuteSite(t *testing.T, seed uint64) (*slowSite, *Tuner) {
	m, tu := newMeadow(t, seed)
	m.sigma = 0.06
	rng := rand.New(rand.NewPCG(seed, 7))
	s := &slowSite{meadow: m, base: 8}
	add := func(c cause) {
		if c.claims == 0 {
			c.claims = c.cost * (0.5 + rng.Float64())
		}
		s.causes = append(s.causes, c)
	}
	add(cause{name: "first", cost: 45})
	add(cause{name: "second", cost: 25, source: true})
	add(cause{name: "third", cost: 12})
	add(cause{name: "late", cost: 6, hidden: "first"})
	for i := range 16 {
		c := cause{name: fmt.Sprint("small", i), cost: 0.25, source: i%3 == 0}
		if i == 4 || i == 7 {
			c.claims = 10 // takes a small cause for a large one
		}
		c.breaks = i == 5 && seed%2 == 0
		add(c)
	}
	for _, c := range s.causes {
		m.breaks[c.name+"=1"] = c.breaks
	}
	tu.Field = s
	tu.Options = search.Options{Time: 20 * time.Minute, Short: time.Minute, Full: time.Minute, Watch: time.Minute, Pairs: 2, Seed: seed}
	return s, tu
}

// TestLongRuns: with runs of a minute and 20 minutes, three of the four large causes are
// cured in each of three searches, and two of them where the remedy of a small cause fails the checks,
// which takes runs to find. The last comparison is complete.
func TestLongRuns(t *testing.T) {
	tier.Slow(t)
	for seed := range uint64(6) {
		s, tu := minuteSite(t, seed)
		before, began := s.on(), s.now
		tu.Say = nil
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		took, gain := s.now.Sub(began), 100/s.left()
		want := 5.5
		if s.breaks["small5=1"] {
			want = 3.3
		}
		if gain < want {
			t.Errorf("seed %d: × %.1f, want × 5.5 and more, and × 3.3 where a remedy breaks the site; in force is %v", seed, gain, s.on())
		}
		if len(out.Final) < 2 || out.Ratio.Lo > 1.5*gain || took > 20*time.Minute {
			t.Errorf("seed %d: %d pairs in the last comparison, ratio %v for × %.1f, %v", seed, len(out.Final), out.Ratio, gain, took)
		}
		if s.on()["small5=1"] && s.breaks["small5=1"] {
			t.Errorf("seed %d: what fails the checks is in force", seed)
		}
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(s.on()) != len(before) {
			t.Errorf("seed %d: reverting all: %v, the site is %v", seed, err, s.on())
		}
	}
}
