package selftest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	_ "github.com/iikanji/iikanji/internal/change/all"
)

// TestExplore prints the tally of searches, for work on the method.
func TestExplore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	if n == 0 {
		t.Skip()
	}
	for _, s := range explore() {
		began := time.Now()
		if os.Getenv("SAY") != "" {
			seed, _ := strconv.Atoi(os.Getenv("SAY"))
			s.Say = func(at time.Duration, line string) { fmt.Println(at.Truncate(time.Second), line) }
			r, err := s.Run(t.Context(), 1, uint64(seed))
			fmt.Println(r, err)
			continue
		}
		r, err := s.Simulate(t.Context(), 1, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := float64(n)
		fmt.Printf("%-34s anyNull %5.1f%% null %.2f  anyHarm %5.1f%% harmful %.2f harm %.2f%%  good %.2f missed %.2f all %3.0f%%  final x%.3f | hl %3.0f%% cov %3.0f%% shown %+.1f truth %+.1f | runs %.0f min %.1f | %.1fs\n", s.Name,
			100*float64(r.AnyNull)/f, float64(r.Null)/f, 100*float64(r.AnyHarm)/f, float64(r.Harmful)/f, 100*r.Harm/f, float64(r.Good)/f, float64(r.Missed)/f, 100*float64(r.AllGood)/f, 1+r.Final/f,
			100*float64(r.Covered)/max(1, float64(r.Compared)), 100*float64(r.Inside)/max(1, float64(r.Changes)), 100*r.Shown/max(1, float64(r.Changes)), 100*r.Truth/max(1, float64(r.Changes)), float64(r.Runs)/f, r.Minutes/f, time.Since(began).Seconds())
	}
}
