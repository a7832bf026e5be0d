package selftest

import "math"

// A Resource of a simulated site is what a request works on or waits for.
type Resource uint8

const (
	App Resource = iota
	Database
	Locks
	Resources // how many there are
)

var resourceNames = [Resources]string{"app", "database", "locks"}

func (r Resource) String() string { return resourceNames[r] }

// limit is how a diagnosis names the resource as the limit.
func (r Resource) limit() string {
	if r.usesCPU() {
		return "CPU (" + r.String() + ")"
	}
	return r.String() + " (database)"
}

// usesCPU reports whether work on the resource is CPU time of the service of that name.
func (r Resource) usesCPU() bool { return r != Locks }

// A Stack is the truth of a site whose requests need several resources. The work of a
// request consists of pieces, as of its statements; a change alters pieces.
type Stack struct {
	Pieces []Piece
	Acts   [][]Touch // by candidate; none for one that does nothing
	// Norm says how the resources limit the site together: the time of a request is
	// (Σ work^Norm)^(1/Norm). 1 is one client that waits for one after the other (Amdahl's
	// law), +Inf is a closed loop of many clients in which the busiest one decides.
	Norm float64
}

// A Piece is one part of the work of a request.
type Piece struct {
	Of   Resource
	Work float64
}

// A Touch is what a change does to a piece of work: it multiplies it, and adds to it.
type Touch struct {
	Piece        int
	Factor, Adds float64
}

// saves is a change of one piece that saves a share of it.
func saves(piece int, share float64) []Touch { return []Touch{{Piece: piece, Factor: 1 - share}} }

// pieces is the work of each piece in a state.
func (t *Stack) pieces(in Set, work []float64) []float64 {
	for _, p := range t.Pieces {
		work = append(work, p.Work)
	}
	for k, acts := range t.Acts {
		if in.Has(k) {
			for _, a := range acts {
				work[a.Piece] *= a.Factor
			}
		}
	}
	for k, acts := range t.Acts {
		if in.Has(k) {
			for _, a := range acts {
				work[a.Piece] += a.Adds
			}
		}
	}
	return work
}

// total is the work of a request on each resource.
func (t *Stack) total(in Set) (sum [Resources]float64) {
	var room [16]float64
	for i, w := range t.pieces(in, room[:0]) {
		sum[t.Pieces[i].Of] += w
	}
	return sum
}

// time is that of a request.
func (t *Stack) time(work [Resources]float64) float64 {
	most, sum := 0.0, 0.0
	for _, w := range work {
		most = max(most, w)
	}
	if math.IsInf(t.Norm, 1) {
		return most
	}
	for _, w := range work {
		sum += math.Pow(w/most, t.Norm)
	}
	return most * math.Pow(sum, 1/t.Norm)
}

// Score implements Truth.
func (t *Stack) Score(in Set, _ float64) float64 {
	return math.Log(t.time(t.total(0)) / t.time(t.total(in)))
}

// Active implements Truth.
func (t *Stack) Active() Set {
	var s Set
	for k, acts := range t.Acts {
		if len(acts) > 0 {
			s |= 1 << k
		}
	}
	return s
}

// Work implements Worker.
func (t *Stack) Work(in Set) [Resources]float64 {
	work, unit := t.total(in), t.time(t.total(0))
	for r := range work {
		work[r] /= unit
	}
	return work
}

// Busy implements Worker.
func (t *Stack) Busy(in Set) [Resources]float64 {
	work := t.total(in)
	one := t.time(work)
	for r := range work {
		work[r] /= one
	}
	return work
}

// Touched implements Worker: the share of all CPU work that a change would save. A diagnosis
// sees what a change saves, and not what it adds elsewhere.
func (t *Stack) Touched(in Set, k int) float64 {
	var room [16]float64
	all, saved := 0.0, 0.0
	for i, w := range t.pieces(in, room[:0]) {
		if !t.Pieces[i].Of.usesCPU() {
			continue
		}
		all += w
		for _, a := range t.Acts[k] {
			if a.Piece == i && a.Factor < 1 {
				saved += w * (1 - a.Factor)
			}
		}
	}
	return saved / all
}

// An Absorbing site does more work that scores nothing in the time that its database saves.
type Absorbing struct {
	*Stack
	// Share is how much of the time saved the app uses.
	Share float64
}

// Work implements Worker.
func (t Absorbing) Work(in Set) [Resources]float64 { return t.more(in, t.Stack.Work) }

// Busy implements Worker.
func (t Absorbing) Busy(in Set) [Resources]float64 { return t.more(in, t.Stack.Busy) }

// more adds the work that scores nothing.
func (t Absorbing) more(in Set, of func(Set) [Resources]float64) [Resources]float64 {
	now := of(in)
	now[App] += t.Share * max(0, of(0)[Database]-now[Database])
	return now
}
