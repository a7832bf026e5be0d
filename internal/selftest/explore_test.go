package selftest

import (
	"os"
	"strings"
	"time"
)

func explore() []Search {
	const m = time.Minute
	five, three := World{Sigma: 0.05}, World{Sigma: 0.03}
	mix := func(a, b []Candidate) []Candidate { return append(a, b...) }
	all := []Search{
		{Name: "15x0 s5 15m", World: five, Candidates: candidates(15, 0), Options: options(15 * m)},
		{Name: "15x0 s5 60m", World: five, Candidates: candidates(15, 0), Options: options(60 * m)},
		{Name: "15x0 s5 nolimit", World: five, Candidates: candidates(15, 0), Options: options(0)},
		{Name: "15x-3 s3 15m", World: three, Candidates: candidates(15, -0.03), Options: options(15 * m)},
		{Name: "15x-3 s5 60m", World: five, Candidates: candidates(15, -0.03), Options: options(60 * m)},
		{Name: "15x-3 s10 15m", World: World{Sigma: 0.10}, Candidates: candidates(15, -0.03), Options: options(15 * m)},
		{Name: "15x-3 s10 60m", World: World{Sigma: 0.10}, Candidates: candidates(15, -0.03), Options: options(60 * m)},
		{Name: "12x-3 3x20 s3 15m", World: three, Candidates: mix(candidates(12, -0.03), candidates(3, 0.20)), Options: options(15 * m)},
		{Name: "12x0 3x8 s3 15m", World: three, Candidates: mix(candidates(12, 0), candidates(3, 0.08)), Options: options(15 * m)},
		{Name: "12x0 3x8 s3 60m", World: three, Candidates: mix(candidates(12, 0), candidates(3, 0.08)), Options: options(60 * m)},
		{Name: "1x15 s5 15m", World: five, Candidates: candidates(1, 0.15), Options: options(15 * m)},
		{Name: "3x15 s5 60m", World: five, Candidates: candidates(3, 0.15), Options: options(60 * m)},
		{Name: "ladder s3 15m", World: three, Candidates: ladder(), Options: options(15 * m)},
		{Name: "ladder s3 8m", World: three, Candidates: ladder(), Options: options(8 * m)},
		{Name: "ladder s5 15m", World: five, Candidates: ladder(), Options: options(15 * m)},
	}
	only := os.Getenv("ONLY")
	var out []Search
	for _, s := range all {
		for o := range strings.SplitSeq(only, ",") {
			if strings.HasPrefix(s.Name, o) {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// ladder is like the remedies of a real site: few large gains that promise much,
// some of +10 %, and many that do nothing.
func ladder() []Candidate {
	c := []Candidate{{1.5, 1.2}, {0.3, 0.5}, {0.10, 0.1}, {0.10, 0.15}, {0.10, 0.08}, {0.10, 0.2}, {0.10, 0.08}}
	for i := range 12 {
		c = append(c, Candidate{0, []float64{0.05, 0.1, 0.3, 0.08}[i%4]})
	}
	return c
}
