package otlp

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Limits bound the memory of a Store.
type Limits struct {
	Traces int // traces
	Spans  int // spans of one trace
	Bytes  int // of all texts and spans, about
}

// DefaultLimits take about 64 MB.
var DefaultLimits = Limits{Traces: 5_000, Spans: 1_000, Bytes: 64 << 20}

// A Trace is the spans of one request.
type Trace struct {
	ID    string
	Spans []Span // in the order of arrival
	// Dropped counts spans beyond the limit.
	Dropped int

	bytes int
}

// A Store keeps the latest traces. Its methods may be called from any goroutine.
type Store struct {
	mu     sync.Mutex
	limits Limits
	byID   map[string]*Trace
	order  []*Trace // oldest first
	bytes  int
	seen   int64 // spans that were received
	gone   int64 // traces that left
}

// NewStore returns an empty Store.
func NewStore(l Limits) *Store { return &Store{limits: l, byID: map[string]*Trace{}} }

// spanSize is the size of a span without its texts.
const spanSize = 300

func (s *Span) bytes() int {
	return spanSize + len(s.Name) + len(s.Service) + len(s.Route) + len(s.Statement) + len(s.System) + len(s.Method)
}

// Add adds spans. It returns how many were refused, because they have no valid
// identifiers or their trace is full.
func (t *Store) Add(spans []Span) (refused int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range spans {
		t.seen++
		if len(s.Trace) != 32 || len(s.ID) != 16 || s.From.IsZero() {
			refused++
			continue
		}
		tr := t.byID[s.Trace]
		if tr == nil {
			tr = &Trace{ID: s.Trace}
			t.byID[s.Trace] = tr
			t.order = append(t.order, tr)
		}
		if len(tr.Spans) >= t.limits.Spans {
			tr.Dropped++
			refused++
			continue
		}
		tr.Spans = append(tr.Spans, s)
		n := s.bytes()
		tr.bytes += n
		t.bytes += n
		t.evict()
	}
	return refused
}

// evict removes the oldest traces beyond the limits.
func (t *Store) evict() {
	for len(t.order) > 0 && (len(t.order) > t.limits.Traces || t.bytes > t.limits.Bytes) {
		old := t.order[0]
		t.order[0] = nil
		t.order = t.order[1:]
		t.bytes -= old.bytes
		delete(t.byID, old.ID)
		t.gone++
	}
}

// Counts are the numbers of spans received, traces kept and traces that left.
func (t *Store) Counts() (spans int64, traces int, gone int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen, len(t.order), t.gone
}

// Trace returns a copy of one trace, with its spans in the order of time; nil if it
// is not kept.
func (t *Store) Trace(id string) *Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.byID[id]
	if tr == nil {
		return nil
	}
	return tr.copy()
}

func (tr *Trace) copy() *Trace {
	c := &Trace{ID: tr.ID, Spans: slices.Clone(tr.Spans), Dropped: tr.Dropped}
	slices.SortStableFunc(c.Spans, func(a, b Span) int { return cmp.Or(a.From.Compare(b.From), b.To.Compare(a.To)) })
	return c
}

// Server is the span that handled the request: the outermost server span, or the
// outermost span. nil for a trace without spans.
func (tr *Trace) Server() *Span {
	var best *Span
	for i := range tr.Spans {
		s := &tr.Spans[i]
		if best == nil || s.Server && !best.Server || s.Server == best.Server && s.From.Before(best.From) {
			best = s
		}
	}
	return best
}

// A Route is the traces of one route. Times are means of a request.
type Route struct {
	Name       string
	Count      int
	Failed     int
	Mean, P95  time.Duration
	Statements float64 // database calls per request
	Database   time.Duration
	Slowest    string // identifier of the slowest trace
}

// Routes sums up the kept traces by route, the one with the most time first.
func (t *Store) Routes() []Route {
	type sum struct {
		took       []time.Duration
		failed     int
		statements int
		database   time.Duration
		slowest    string
		most       time.Duration
	}
	sums := map[string]*sum{}
	t.mu.Lock()
	for _, tr := range t.order {
		server := tr.Server()
		if server == nil {
			continue
		}
		name := server.route()
		s := sums[name]
		if s == nil {
			s = &sum{}
			sums[name] = s
		}
		if took := server.Took(); len(s.took) == 0 || took > s.most {
			s.slowest, s.most = tr.ID, took
		}
		s.took = append(s.took, server.Took())
		if server.Failed || server.Status >= 500 {
			s.failed++
		}
		for i := range tr.Spans {
			if x := &tr.Spans[i]; x.System != "" || x.Statement != "" {
				s.statements++
				s.database += x.Took()
			}
		}
	}
	t.mu.Unlock()
	var out []Route
	for name, s := range sums {
		slices.Sort(s.took)
		total := time.Duration(0)
		for _, d := range s.took {
			total += d
		}
		n := len(s.took)
		out = append(out, Route{Name: name, Count: n, Failed: s.failed, Mean: total / time.Duration(n), P95: s.took[min(n-1, n*95/100)],
			Statements: float64(s.statements) / float64(n), Database: s.database / time.Duration(n), Slowest: s.slowest})
	}
	slices.SortFunc(out, func(a, b Route) int {
		return cmp.Or(cmp.Compare(b.Mean*time.Duration(b.Count), a.Mean*time.Duration(a.Count)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Slowest lists the slowest traces of the routes that wanted selects by their names.
func (t *Store) Slowest(wanted func(route string) bool, most int) []*Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []*Trace
	for _, tr := range t.order {
		if s := tr.Server(); s != nil && wanted(s.route()) {
			found = append(found, tr)
		}
	}
	slices.SortStableFunc(found, func(a, b *Trace) int { return cmp.Compare(b.Server().Took(), a.Server().Took()) })
	var out []*Trace
	for _, tr := range found[:min(len(found), most)] {
		out = append(out, tr.copy())
	}
	return out
}

// Route is the name of the trace's route.
func (tr *Trace) Route() string {
	if s := tr.Server(); s != nil {
		return s.route()
	}
	return ""
}
