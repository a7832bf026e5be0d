package goldrush

import (
	"math"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
)

// columnShare is the share of the cells that have a treasure at some depth: 1 − e^−λ with λ
// treasures per cell.
func columnShare(s mine.Size) float64 {
	return 1 - math.Exp(-float64(s.Treasures())/float64(s.X*s.Y))
}

// digTicks is the mean cost of digging out a column: its treasure is at each depth with the
// same probability.
func digTicks() float64 {
	sum := 0.0
	for depth := 1; depth <= mine.Depths; depth++ {
		for d := 1; d <= depth; d++ {
			sum += float64(mine.DigTicks(d))
		}
	}
	return sum / mine.Depths
}

// coinsPerTick is the most that a tick can earn in a world with its best level: a column costs
// what finding it costs, its digs, and the cashing of treasures from some depth on, which is
// chosen for the most. Licences are free, and no tick is lost.
func coinsPerTick(best int, find float64) (rate float64, cashFrom int) {
	values := mine.Values(best)
	for from := 1; from <= mine.Depths; from++ {
		paid := 0.0
		for _, v := range values[from-1:] {
			paid += float64(v) / mine.Depths
		}
		cashed := float64(mine.Depths-from+1) / mine.Depths
		if r := paid / (find + digTicks() + mine.CashTicks*cashed); r > rate {
			rate, cashFrom = r, from
		}
	}
	return rate, cashFrom
}

// bound is the number of coins that no client can expect to exceed in a game of a length.
// It is that of a fluid: it has no beginning, no end, and no column with two treasures, which
// are worth one or two percent more.
func bound(best int, find float64, length time.Duration) float64 {
	rate, _ := coinsPerTick(best, find)
	return rate * length.Seconds() * mine.TicksPerSecond
}

// strip is the largest area of the plan, in cells; most is the largest number of columns in
// it that the plan tells apart, which one strip in a million exceeds.
const (
	strip      = 255
	mostInPlan = 30
)

// findTicks is the least mean cost of finding a column, in ticks, for a client that explores
// strips and then parts of them: the price at which exploring just pays.
func findTicks(share float64) float64 {
	lo, hi := 0.0, 200.0
	for range 40 {
		price := (lo + hi) / 2
		if gain(share, price) > 0 {
			hi = price
		} else {
			lo = price
		}
	}
	return hi
}

// gain is the expected gain of exploring a strip if a column that is found is worth price
// ticks: W(strip), less the cost of the strip.
//
// W(n, k) is the value of n cells in which k columns are known to be: nothing if they are
// given up, and otherwise the best of all parts m of them: the part costs its exploration, and
// leaves W(m, j) + W(n−m, k−j), where j has a hypergeometric distribution. One cell with a
// column is worth the price. What a part costs and what it shows is exact; that the strip's
// columns are independent of each other is so in this world.
func gain(share, price float64) float64 {
	w := plan(price)
	sum := -float64(mine.ExploreTicks(strip))
	p := math.Pow(1-share, strip) // binomial, of 0
	for k := 0; k <= mostInPlan; k++ {
		sum += p * w[strip][k]
		p *= share / (1 - share) * float64(strip-k) / float64(k+1)
	}
	return sum
}

// plan computes W by number of cells and columns.
func plan(price float64) [strip + 1][mostInPlan + 1]float64 {
	var w [strip + 1][mostInPlan + 1]float64
	for n := 1; n <= strip; n++ {
		for k := 1; k <= min(n, mostInPlan); k++ {
			if k == n {
				w[n][k] = price * float64(k) // every cell is one
				continue
			}
			for m := 1; m < n; m = 2*m + 1 {
				w[n][k] = max(w[n][k], split(&w, n, k, m)-float64(mine.ExploreTicks(m)))
			}
		}
	}
	return w
}

// split is the expected value after a part of m cells was explored.
func split(w *[strip + 1][mostInPlan + 1]float64, n, k, m int) float64 {
	least := max(0, k-(n-m))
	p := choose(m, least) * choose(n-m, k-least) / choose(n, k)
	sum := 0.0
	for j := least; j <= min(k, m); j++ {
		sum += p * (w[m][j] + w[n-m][k-j])
		p *= float64(m-j) * float64(k-j) / float64(j+1) / float64(n-m-k+j+1)
	}
	return sum
}

// choose is the binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}
