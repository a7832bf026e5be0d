package bench

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// maxFaultKinds limits the number of groups, in case check names are unbounded.
const maxFaultKinds = 1000

type faultKey struct {
	kind  iikanji.FaultKind
	step  scenario.Step
	check string
}

// faultGroups groups faults by kind, step and check. Faults are rare, so one
// lock is enough.
type faultGroups struct {
	mu    sync.Mutex
	known map[faultKey]*iikanji.Fault
}

// faultOf returns the Fault in an error. Any other error becomes a failed check "internal".
func faultOf(err error) *scenario.Fault {
	var f *scenario.Fault
	if errors.As(err, &f) {
		return f
	}
	return &scenario.Fault{Kind: iikanji.FaultCheck, Step: -1, Check: "internal", Message: err.Error(), Cause: err}
}

// isCut reports whether a fault only means that its phase has ended.
func isCut(f *scenario.Fault) bool {
	return f.Kind == iikanji.FaultCut || f.Check == "internal" && errors.Is(f.Cause, context.Canceled)
}

// add counts a fault. The first fault of a group is the group's example.
func (b *faultGroups) add(f *scenario.Fault, steps []string, fatal bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := faultKey{f.Kind, f.Step, f.Check}
	g := b.known[key]
	if g == nil {
		if len(b.known) == maxFaultKinds {
			return
		}
		g = &iikanji.Fault{Kind: f.Kind, Check: f.Check, Message: f.Message, Example: f.Example}
		if f.Step >= 0 && int(f.Step) < len(steps) {
			g.Step = steps[f.Step]
		}
		if b.known == nil {
			b.known = make(map[faultKey]*iikanji.Fault)
		}
		b.known[key] = g
	}
	g.Count++
	g.Fatal = g.Fatal || fatal
}

// severity orders kinds: wrong content first, then wrong form, then missing
// answers.
var severity = map[iikanji.FaultKind]int{
	iikanji.FaultCheck: 0, iikanji.FaultBody: 1, iikanji.FaultContentType: 2, iikanji.FaultStatus: 3,
	iikanji.FaultProtocol: 4, iikanji.FaultClosed: 5, iikanji.FaultDial: 6, iikanji.FaultTimeout: 7,
}

// compareFaults puts the most severe first.
func compareFaults(a, b iikanji.Fault) int {
	if a.Fatal != b.Fatal {
		if a.Fatal {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(severity[a.Kind], severity[b.Kind]), cmp.Compare(b.Count, a.Count),
		cmp.Compare(a.Step, b.Step), cmp.Compare(a.Check, b.Check))
}

// list returns the groups, the most severe first.
func (b *faultGroups) list() []iikanji.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]iikanji.Fault, 0, len(b.known))
	for _, g := range b.known {
		all = append(all, *g)
	}
	slices.SortFunc(all, compareFaults)
	return all
}
