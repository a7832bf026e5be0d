package bench

import (
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A stepTally counts the exchanges of one step.
type stepTally struct {
	count, errors, timeouts, quietTimeouts, cut, cached, notMod int64
	sent, received                                              int64
	latency                                                     tally.Sketch
}

func (t *stepTally) merge(o *stepTally) {
	t.count += o.count
	t.errors += o.errors
	t.timeouts += o.timeouts
	t.quietTimeouts += o.quietTimeouts
	t.cut += o.cut
	t.cached += o.cached
	t.notMod += o.notMod
	t.sent += o.sent
	t.received += o.received
	t.latency.Merge(&o.latency)
}

// add counts one exchange. A cut exchange counts as cut only; an answer from the
// browser's cache is not an answer of the target.
func (t *stepTally) add(x *exchange) {
	switch {
	case x.fault == iikanji.FaultCut:
		t.cut++
		return
	case x.cached:
		t.cached++
		return
	}
	t.count++
	t.sent += x.sent
	t.received += x.received
	if x.notMod {
		t.notMod++
	}
	if x.fault == iikanji.FaultUnknown {
		t.latency.Add(time.Duration(x.end - x.due))
		return
	}
	timeout := x.fault == iikanji.FaultTimeout
	switch {
	case !x.quiet:
		t.errors++
		if timeout {
			t.timeouts++
		}
	case timeout:
		t.quietTimeouts++
	}
}

func (t *stepTally) stat(name string) iikanji.StepStat {
	l := &t.latency
	return iikanji.StepStat{
		Step: name, Count: t.count, Errors: t.errors, Timeouts: t.timeouts, QuietTimeouts: t.quietTimeouts, Cut: t.cut,
		Cached: t.cached, NotMod: t.notMod,
		Sent: iikanji.Bytes(t.sent), Received: iikanji.Bytes(t.received),
		Total: l.Sum(), Mean: l.Mean(), P50: l.Quantile(0.50), P90: l.Quantile(0.90),
		P95: l.Quantile(0.95), P99: l.Quantile(0.99), Max: l.Max(),
	}
}

// An exchange is the record of one request. Times are clock times.
type exchange struct {
	due, start, end int64
	step            scenario.Step
	client          uint32
	status          int
	fault           iikanji.FaultKind // FaultUnknown for none
	sent, received  int64
	cached, notMod  bool
	quiet           bool
}

// A shard counts for a part of the browsers, which reduces contention for locks
// and cache lines. There are a few shards per core, not one per browser: ten
// thousand browsers must not need ten thousand sketches per step.
type shard struct {
	mu      sync.Mutex
	steps   []stepTally
	samples *sampleBuffer  // nil when none are kept
	seconds *secondTallies // nil when seconds are not counted
	_       [64]byte       // puts shards on different cache lines
}

func newShards(n, steps int, samples *sampleWriter) []shard {
	all := make([]shard, n)
	for i := range all {
		all[i].steps = make([]stepTally, steps)
		all[i].samples = samples.buffer()
	}
	return all
}

// record counts an exchange and keeps its sample.
func (s *shard) record(x *exchange, phase uint8) {
	s.mu.Lock()
	s.steps[x.step].add(x)
	if s.samples != nil {
		s.samples.add(x, phase)
	}
	if s.seconds != nil && phase == numLoad {
		s.seconds.add(x)
	}
	s.mu.Unlock()
}

// fault counts a failed check on an answer that was counted as a success.
func (s *shard) fault(step scenario.Step, timeout bool) {
	s.mu.Lock()
	s.steps[step].errors++
	if timeout {
		s.steps[step].timeouts++
	}
	s.mu.Unlock()
}

// takeTallies merges all shards and resets them for the next phase.
func takeTallies(shards []shard, steps int) []stepTally {
	sum := make([]stepTally, steps)
	for i := range shards {
		s := &shards[i]
		s.mu.Lock()
		old := s.steps
		s.steps = make([]stepTally, steps)
		s.mu.Unlock()
		for j := range old {
			sum[j].merge(&old[j])
		}
	}
	return sum
}

// requests returns the number of requests of the phase so far.
func requests(shards []shard) (n int64) {
	for i := range shards {
		s := &shards[i]
		s.mu.Lock()
		for j := range s.steps {
			n += s.steps[j].count
		}
		s.mu.Unlock()
	}
	return n
}
