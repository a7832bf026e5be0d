package bench

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// stripes is the number of copies of each counter. Actors that count the same
// event at the same time mostly use different copies.
const stripes = 8

// eventCounts counts events from any goroutine with little contention.
type eventCounts struct {
	n     int
	cells []atomic.Int64 // stripes rows, each padded to whole cache lines
	row   int
}

func newEventCounts(n int) *eventCounts {
	row := (n + 7) / 8 * 8 // 8 counters fill a cache line
	return &eventCounts{n: n, row: row, cells: make([]atomic.Int64, row*stripes)}
}

func (c *eventCounts) add(e scenario.Event, n int64) {
	if int(e) < 0 || int(e) >= c.n {
		panic("BUG: the event is not in the scenario's score table")
	}
	c.cells[int(rand.Uint32()%stripes)*c.row+int(e)].Add(n)
}

func (c *eventCounts) count(e scenario.Event) (sum int64) {
	for s := range stripes {
		sum += c.cells[s*c.row+int(e)].Load()
	}
	return sum
}

// all returns the counts by event.
func (c *eventCounts) all() []int64 {
	counts := make([]int64, c.n)
	for e := range counts {
		counts[e] = c.count(scenario.Event(e))
	}
	return counts
}
