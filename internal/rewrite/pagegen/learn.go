package pagegen

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// maxPages bounds the pages whose digests are kept, maxWrites the latest writes.
	maxPages  = 10_000
	maxWrites = 4096
	// maxPairs bounds the pairs of a write and a page that are counted.
	maxPairs = 2000
)

// A page is one answer that the app computed.
type page struct {
	url, path string
	route     string
	values    []string // at the placeholders of the route
	digest    uint64
}

// A Pair is how often pages of a route differed after one write, and nothing else, than
// before it.
type Pair struct {
	Write string `json:"write"` // as in a Row
	Page  string `json:"page"`  // the route, with ids of the write as :1, others as :id
	// Changed and Same count pages whose bytes before and after one write are known.
	Changed int `json:"changed"`
	Same    int `json:"same"`
}

// A learner sees which pages a write changes. Only pages that were computed while no
// write was under way count.
type learner struct {
	plan *Plan

	mu             sync.Mutex
	started, ended int
	writes         []done // the latest, in the order of their ends
	pages          map[string]known
	pairs          map[[2]string]*Pair
	unstable       map[string]int // by route: pages that changed without any write
	stale          []Stale        // the first one only: after it every write drops all pages
	dirty          bool
}

// A done is a write that ended.
type done struct{ method, path string }

// A known is a page as it was computed last, and after how many writes.
type known struct {
	digest uint64
	writes int
}

// A Stale is a page that changed although its writes did not drop it.
type Stale struct {
	Page  string `json:"page"`
	Write string `json:"write"` // the last of the writes since the page was computed
}

func newLearner(p *Plan) *learner {
	return &learner{plan: p, pages: map[string]known{}, pairs: map[[2]string]*Pair{}, unstable: map[string]int{}}
}

func (l *learner) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started++
}

func (l *learner) end(method, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
	l.writes = append(l.writes, done{method, path})
	if len(l.writes) > maxWrites {
		l.writes = slices.Delete(l.writes, 0, maxWrites/2)
	}
}

// now is the number of writes, or -1 while one is under way.
func (l *learner) now() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started != l.ended {
		return -1
	}
	return l.ended
}

// read compares a page with the one before it. from is the number of writes at its
// beginning. It returns a page that should have been dropped.
func (l *learner) read(p page, from int) *Stale {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from < 0 || from != l.started {
		return nil
	}
	before, ok := l.pages[p.url]
	if !ok && len(l.pages) >= maxPages {
		return nil
	}
	l.pages[p.url] = known{p.digest, from}
	since := l.since(before.writes)
	if !ok || from > before.writes && since == nil {
		return nil
	}
	l.dirty = true
	differs := p.digest != before.digest
	switch {
	case len(since) == 0 && differs:
		l.unstable[p.route]++
	case len(since) == 1:
		l.count(since[0], p, differs)
	}
	if differs && len(since) > 0 && len(l.plan.Table) > 0 && len(l.stale) == 0 && !slices.ContainsFunc(since, func(w done) bool { return l.plan.drops(w, p.path) }) {
		stale := Stale{Page: p.path, Write: since[len(since)-1].method + " " + since[len(since)-1].path}
		l.stale = append(l.stale, stale)
		return &stale
	}
	return nil
}

// since are the writes after the first n; nil if they are not known any more.
func (l *learner) since(n int) []done {
	count := l.ended - n
	if count > len(l.writes) {
		return nil
	}
	return l.writes[len(l.writes)-count:]
}

// count notes one page before and after one write.
func (l *learner) count(w done, p page, differs bool) {
	write, ids := WriteOf(w.method, w.path)
	key := [2]string{write, related(p.route, p.values, ids)}
	pair := l.pairs[key]
	if pair == nil {
		if len(l.pairs) >= maxPairs {
			return
		}
		pair = &Pair{Write: write, Page: key[1]}
		l.pairs[key] = pair
	}
	if !differs {
		pair.Same++
		return
	}
	pair.Changed++
}

// related is a route with the ids of a write in it. A page that has another id is of
// another pair: it has ":id" at that place.
func related(route string, values, ids []string) string {
	segments := strings.Split(route, "/")
	n := 0
	for i, s := range segments {
		if !strings.HasPrefix(s, ":") {
			continue
		}
		segments[i] = ":id"
		if at := slices.Index(ids, values[n]); at >= 0 && at < 9 {
			segments[i] = ":" + strconv.Itoa(at+1)
		}
		n++
	}
	return strings.Join(segments, "/")
}

// drops reports whether a write drops the page of a path.
func (p *Plan) drops(w done, path string) bool {
	pages, known := p.pagesOf(w.method, w.path)
	if !known {
		return true
	}
	if route, _ := p.routeOf(path); route == "" {
		return true // a page of the common link
	}
	return slices.ContainsFunc(pages, func(page string) bool { return BucketOf(page) == BucketOf(path) })
}
