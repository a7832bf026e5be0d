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

// checkLimit bounds the search for an order, which is given up then.
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

// check searches for an order of the calls on each row. Rows are checked one by one
// because about one answer in a million that the server itself gave had the write of a
// transaction, and not that of the transaction before it, whose lock it had waited for.
func (h *history) check(begin state) (ok, undecided bool, text string) {
	for id := int64(1); id <= mostID; id++ {
		r := h.ofRow(id)
		m := rowModel(begin.only(id))
		switch porcupine.CheckOperationsTimeout(m, r.calls, checkLimit) {
		case porcupine.Unknown:
			undecided = true
		case porcupine.Illegal:
			return false, false, fmt.Sprintf("row %d: %s", id, r.firstUnexplained(m))
		}
	}
	return !undecided, undecided, ""
}

// rowModel is the state of one row, present or not.
func rowModel(begin state) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(s, in, out any) (bool, any) {
			i := in.(input)
			if i.reads {
				var room [64]byte // for the answer about a row, so that it is not allocated
				return string(i.asked.appendAnswer(room[:0], s.(state))) == out.(string), s
			}
			next := s.(state)
			for _, e := range i.effects {
				next = e.apply(next)
			}
			return true, next
		},
		Equal: func(a, b any) bool { return slices.Equal(a.(state), b.(state)) },
	}
}

// ofRow are the calls as far as they concern a row.
func (h *history) ofRow(id int64) *history {
	out := &history{start: h.start}
	for _, c := range h.calls {
		in := c.Input.(input)
		if in.reads {
			seen, concerned := in.asked.seenOf(id, c.Output.(string))
			if !concerned {
				continue
			}
			c.Output = seen
		} else {
			in.effects = effectsOn(id, in.effects)
			c.Input = in
		}
		out.calls = append(out.calls, c)
	}
	return out
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
