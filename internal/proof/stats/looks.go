package stats

import "slices"

// Looks are group-sequential looks at a growing sample, each with its own level.
type Looks struct {
	Sizes  []int     // ascending
	Levels []float64 // one-sided nominal level of each look
	// Futility is the one-sided level at which a look gives up, at the last look and
	// at earlier ones. Giving up keeps nothing, so that these levels cost power only.
	Futility, Early float64
}

// PairLooks returns the looks after 2 to 8 pairs. The levels of the first looks are
// lower: their estimate of the noise is the poorest. Together they keep a change that
// does nothing in 5.1 % of trials if the noise is known and no trial is given up, in
// less than 4 % by the whole rule, and in at most 6 % when the noise is not as
// assumed. The levels were found by simulation, which iikanji selftest repeats.
func PairLooks() Looks {
	return Looks{
		Sizes:    []int{2, 3, 4, 5, 6, 7, 8},
		Levels:   []float64{0.0113, 0.0148, 0.0215, 0.0214, 0.0176, 0.0156, 0.0156},
		Futility: 0.10,
		Early:    0.30,
	}
}

// Scaled returns the same looks with all levels multiplied by f, which is at
// most 1: a test that is repeated pays for it.
func (l Looks) Scaled(f float64) Looks {
	l.Levels = slices.Clone(l.Levels)
	for i := range l.Levels {
		l.Levels[i] *= f
	}
	return l
}

// GiveUp is the one-sided level at which the look at size n gives up.
func (l Looks) GiveUp(n int) float64 {
	if n < l.Last() {
		return l.Early
	}
	return l.Futility
}

// Patient returns the same looks; none gives up more readily than the last.
func (l Looks) Patient() Looks {
	l.Early = l.Futility
	return l
}

// Is reports whether a decision may be taken at size n.
func (l Looks) Is(n int) bool { return slices.Contains(l.Sizes, n) || n > l.Last() }

// Level is the level of the look at size n. Between two looks it is that of the
// look before.
func (l Looks) Level(n int) float64 {
	level := l.Levels[0]
	for i, s := range l.Sizes {
		if s <= n {
			level = l.Levels[i]
		}
	}
	return level
}

// Next is the size of the first look above n, or 0.
func (l Looks) Next(n int) int {
	for _, s := range l.Sizes {
		if s > n {
			return s
		}
	}
	return 0
}

// Last is the size of the last look.
func (l Looks) Last() int { return l.Sizes[len(l.Sizes)-1] }
