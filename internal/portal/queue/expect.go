package queue

import (
	"container/heap"
	"time"
)

// A Running is the remaining time of one slot. A free slot has 0.
type Running struct{ Left time.Duration }

// Expect is when each job of an order starts, from now, if each run takes length. Without a
// slot the result is nil.
func Expect(order []Pick, slots []Running, length time.Duration) []time.Duration {
	if len(slots) == 0 {
		return nil
	}
	h := make(ends, len(slots))
	for i, s := range slots {
		h[i] = max(s.Left, 0)
	}
	heap.Init(&h)
	out := make([]time.Duration, len(order))
	for i := range order {
		out[i] = h[0]
		h[0] += length
		heap.Fix(&h, 0)
	}
	return out
}

type ends []time.Duration

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i] < h[j] }
func (h ends) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any)        { *h = append(*h, x.(time.Duration)) }
func (h *ends) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
