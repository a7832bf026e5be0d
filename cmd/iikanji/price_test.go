package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/report"
)

// pairsOf returns pairs with the given ratios of score and CPU, observed to bare.
func pairsOf(ratios ...[2]float64) *sensorPrice {
	p := &sensorPrice{}
	for _, r := range ratios {
		p.add(pricePair{observed: priceRun{score: 1000 * r[0], cpu: 0.001 * r[1]}, bare: priceRun{score: 1000, cpu: 0.001}})
	}
	return p
}

// TestPriceSays tests the verdicts on sensors.
func TestPriceSays(t *testing.T) {
	for _, c := range []struct {
		name  string
		price *sensorPrice
		want  string
	}{
		{"cheap", pairsOf([2]float64{0.998, 1}, [2]float64{1.001, 1}, [2]float64{0.999, 1}, [2]float64{1, 1}), "costs 3 % or less"},
		{"dear", pairsOf([2]float64{0.80, 1.2}, [2]float64{0.81, 1.2}, [2]float64{0.79, 1.2}, [2]float64{0.80, 1.2}), "costs over 3 %"},
		{"noisy, cheap by CPU", pairsOf([2]float64{0.5, 1.002}, [2]float64{1.5, 1.001}, [2]float64{0.8, 1}, [2]float64{1.2, 0.999}), "by CPU: 3 % or less"},
		{"noisy, dear by CPU", pairsOf([2]float64{0.5, 1.2}, [2]float64{1.5, 1.21}, [2]float64{0.8, 1.2}, [2]float64{1.2, 1.19}), "by CPU: over 3 %"},
		{"noisy", pairsOf([2]float64{0.5, 1.5}, [2]float64{1.5, 0.5}), "not decided: more pairs"},
		{"one pair", pairsOf([2]float64{0.999, 1}), "not decided: more pairs"},
		{"none", &sensorPrice{}, "not decided: more pairs"},
	} {
		l := &priceList{Sensors: []*sensorPrice{c.price}}
		l.computeIntervals()
		if c.price.Says != c.want {
			t.Errorf("%s: %q, want %q (score %+v, CPU %+v)", c.name, c.price.Says, c.want, c.price.Score.Ratio, c.price.CPU.Ratio)
		}
		if _, err := json.Marshal(l); err != nil { // JSON has no infinities
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestPriceBorrowsNoise tests that quiet pairs of other sensors make the interval of
// a few pairs narrower, around the same middle.
func TestPriceBorrowsNoise(t *testing.T) {
	alone, helped := pairsOf([2]float64{0.99, 1}, [2]float64{1.01, 1}), pairsOf([2]float64{0.99, 1}, [2]float64{1.01, 1})
	quiet := pairsOf([2]float64{0.9, 1}, [2]float64{0.905, 1}, [2]float64{0.895, 1}, [2]float64{0.9, 1}, [2]float64{0.9, 1})
	(&priceList{Sensors: []*sensorPrice{alone}}).computeIntervals()
	(&priceList{Sensors: []*sensorPrice{helped, quiet}}).computeIntervals()
	a, h := alone.Score.Ratio, helped.Score.Ratio
	if h.Hi-h.Lo >= a.Hi-a.Lo || math.Abs(a.Mid-h.Mid) > 1e-12 || math.Abs(h.Mid-1) > 0.001 {
		t.Errorf("alone %+v, with others %+v", a, h)
	}
}

// TestPriceLeavesOut tests that invalid scores are left out, with a note.
func TestPriceLeavesOut(t *testing.T) {
	void := &iikanji.Run{ID: 7, Outcome: iikanji.Void, Score: 900, Steps: []iikanji.StepStat{{Count: 100, Cached: 20}},
		Usage: []iikanji.Usage{{Who: "app", User: time.Second}, {Who: "other", User: time.Hour}}}
	r := priceOf(void)
	if r.score != 0 || r.why != "run 7 is void" || math.Abs(r.cpu-0.01) > 1e-12 {
		t.Errorf("a void run: %+v", r)
	}
	failed := *void
	failed.Outcome = iikanji.Failed
	if r := priceOf(&failed); r.score != 0 || r.cpu != 0 {
		t.Errorf("a failed run: %+v", r)
	}
	p := &sensorPrice{Sensor: "slow log, all statements"}
	p.add(pricePair{observed: r, bare: priceRun{score: 1000, cpu: 0.01}})
	if len(p.Score.Logs) != 0 || len(p.CPU.Logs) != 1 || len(p.Left) != 1 {
		t.Errorf("a pair with a void run: %+v", p)
	}
	q := &sensorPrice{}
	q.add(pricePair{observed: priceRun{score: 900, cpu: 0.01}, bare: priceRun{score: 1000, cpu: 0.01}, void: "run 8: other programs"})
	if len(q.Score.Logs) != 0 || len(q.CPU.Logs) != 1 || !slices.Equal(q.Left, []string{"run 8: other programs"}) {
		t.Errorf("a pair with one disturbed run: %+v", q)
	}
	l := &priceList{Arena: "isucondition", Sensors: []*sensorPrice{p, pairsOf([2]float64{1, 1}, [2]float64{0.9, 1.1})}}
	l.computeIntervals()
	var out bytes.Buffer
	if err := l.write(&out, 80); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "slow log, all statements: the scores of a pair are left out: run 7 is void") {
		t.Errorf("it does not say what was left out:\n%s", out.String())
	}
	for line := range strings.Lines(out.String()) {
		if report.Width(strings.TrimSuffix(line, "\n")) > 92 {
			t.Errorf("a line of %d columns: %s", report.Width(line), line)
		}
	}
}

// TestPriceUnderLoad makes pairs of real runs; the command proves after each run that
// exactly its sensors were on. On a busy machine single runs may fail; they are
// listed, and the other runs keep their numbers.
func TestPriceUnderLoad(t *testing.T) {
	tier.Slow(t)
	dir := preparedFolder(t, "isucondition")
	var errs lockedBuffer
	status, out := commandOnTerminal(t.Context(), &errs, "bench", "isucondition", "--dir", dir, "--price", "--pairs", "2", "--load", "2s", "--sensors", "perf", "--json")
	var l priceList
	if err := json.Unmarshal([]byte(out), &l); err != nil || status != exitDone {
		t.Fatalf("status %d, %v\n%s\n%s", status, err, out, errs.String())
	}
	if l.Runs != 4 || len(l.Sensors) != 1 || l.Sensors[0].Sensor != "performance_schema" {
		t.Errorf("%d runs of %d sensors\n%s", l.Runs, len(l.Sensors), out)
	}
	for _, s := range l.Sensors {
		if len(s.Score.Logs)+len(s.Left) != 2 || len(s.CPU.Logs)+len(s.Left) < 2 {
			t.Errorf("of two pairs there is %+v", s)
		}
		if len(s.CPU.Logs) == 2 && !(s.CPU.Ratio.Lo > 0 && s.CPU.Ratio.Lo <= s.CPU.Ratio.Mid && s.CPU.Ratio.Mid <= s.CPU.Ratio.Hi) {
			t.Errorf("the interval of two pairs: %+v", s.CPU)
		}
	}
	if !strings.Contains(errs.String(), "of 4, about ") {
		t.Errorf("it never said how much time is left:\n%s", errs.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "history", "runs", "0004", priceFile)); err != nil {
		t.Error(err)
	}
	for _, left := range []string{"conf/mariadb.d/zz-passing.cnf", "conf/nginx.d/zz-passing.conf", "log/price-slow.log"} {
		if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
			t.Errorf("%s is left behind", left)
		}
	}
}

func TestPriceRefuses(t *testing.T) {
	for _, args := range [][]string{{"--pairs", "1"}, {"--no-load"}, {"--sensors", "smell"}, {"--url", "http://127.0.0.1:1"}} {
		var errs lockedBuffer
		args = append([]string{"bench", "isucondition", "--dir", workFolder(t), "--price"}, args...)
		if status, _ := command(t.Context(), &errs, args...); status != exitUsage {
			t.Errorf("%v: status %d\n%s", args, status, errs.String())
		}
	}
}
