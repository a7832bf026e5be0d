package selftest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
)

func TestQuick(t *testing.T) {
	if os.Getenv("Q") == "" {
		t.Skip()
	}
	const n = 12000
	ws := []World{{Name: "normal", Sigma: .05}, {Name: "c2", Sigma: .05, Candidate: 2}, {Name: "4th2", Sigma: .02, EveryFourth: true}}
	for _, w := range ws {
		for _, e := range []float64{0, .10} {
			if e > 0 && w.Name != "normal" {
				continue
			}
			var r TrialTally
			var mu sync.Mutex
			var wg sync.WaitGroup
			for c := range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					var x TrialTally
					for i := c; i < n; i += runtime.GOMAXPROCS(0) {
						x.Add(JudgeRule(w, e, rand.New(rand.NewPCG(7, uint64(i)))), e)
					}
					mu.Lock()
					r.Join(x)
					mu.Unlock()
				})
			}
			wg.Wait()
			fmt.Printf("%s %+.2f: %.2f %.3f | ", w.Name, e, 100*r.KeptShare(), r.MeanPairs())
		}
	}
	fmt.Println()
}
