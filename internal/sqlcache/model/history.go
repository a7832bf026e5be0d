package model

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// An input is what a call did: writes that took effect at one moment, or a
// question.
type input struct {
	effects []effect
	reads   bool
	asked   question
}

// history collects calls of several clients.
type history struct {
	mu    sync.Mutex
	start time.Time
	calls []porcupine.Operation
}

// add appends a call. A write whose fate is unknown has no end: it may take
// effect at any later moment, or never.
func (h *history) add(client int, in input, out string, from, to time.Time, unknown bool) {
	end := to.Sub(h.start).Nanoseconds()
	if unknown {
		end = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: in, Output: out,
		Call: from.Sub(h.start).Nanoseconds(), Return: end})
}

// checkLimit bounds the search for an order.
const checkLimit = 30 * time.Second

// explainLimit bounds the search for the call to name in a Violation.
const explainLimit = 200 * time.Millisecond

// A Violation is a history that no order of its calls explains.
type Violation struct {
	Seed  uint64
	Round int
	Calls int
	Text  string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("seed %d, round %d: no order of the %d calls explains the answers: %s", v.Seed, v.Round, v.Calls, v.Text)
}

// check searches for an order. undecided: the limit was reached.
func (h *history) check(begin state) (ok, undecided bool, text string) {
	m := porcupine.Model{
		Init: func() any { return begin },
		Step: func(s, in, out any) (bool, any) {
			i := in.(input)
			if i.reads {
				return i.asked.answer(s.(state)) == out.(string), s
			}
			next := s.(state)
			for _, e := range i.effects {
				next = e.apply(next)
			}
			return true, next
		},
		Equal: func(a, b any) bool { return slices.Equal(a.(state), b.(state)) },
	}
	switch porcupine.CheckOperationsTimeout(m, h.calls, checkLimit) {
	case porcupine.Ok:
		return true, false, ""
	case porcupine.Unknown:
		return false, true, ""
	}
	return false, false, h.firstUnexplained(m)
}

// firstUnexplained names a call that the longest explained order leaves out.
func (h *history) firstUnexplained(m porcupine.Model) string {
	_, info := porcupine.CheckOperationsVerbose(m, h.calls, explainLimit)
	best := []int{}
	for _, partition := range info.PartialLinearizations() {
		for _, order := range partition {
			if len(order) > len(best) {
				best = order
			}
		}
	}
	in := make(map[int]bool, len(best))
	for _, i := range best {
		in[i] = true
	}
	first := -1
	for i, c := range h.calls {
		if !in[i] && c.Input.(input).reads && (first < 0 || c.Call < h.calls[first].Call) {
			first = i
		}
	}
	if first < 0 {
		return "every read is in the longest order"
	}
	c := h.calls[first]
	return fmt.Sprintf("%+v gave %q at %d–%d ns", c.Input.(input).asked, c.Output, c.Call, c.Return)
}
