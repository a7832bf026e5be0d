package selftest

import (
	"fmt"
	"os"
	"testing"
)

func TestQuick(t *testing.T) {
	if os.Getenv("Q") == "" {
		t.Skip()
	}
	m := &measurement{ctx: t.Context(), seed: 177, scale: 0.5, tell: func(string) {}}
	p, _ := m.trials(World{Sigma: .05}, .10, 3000, 40000)
	fmt.Printf("+10 %.2f in %.3f\n", 100*p.KeptShare(), p.MeanPairs())
	for _, w := range []World{{Sigma: .05, Candidate: 2}, {Sigma: .02, EveryFourth: true}, {Sigma: .05, EveryFourth: true}} {
		p, _ := m.trials(w, 0, 2000, 40000)
		fmt.Printf("%.2f\n", 100*p.KeptShare())
	}
}
