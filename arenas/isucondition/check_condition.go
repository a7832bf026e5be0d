package isucondition

import (
	"math"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// pageLimit is the maximum number of conditions in one answer.
const pageLimit = 20

// crossDelay is how long, in ms, the two endpoints that return conditions may
// differ in their content.
const crossDelay = 1000

// A wireCondition is a condition as the API shows it. A zero timestamp means that
// there is no condition.
type wireCondition struct {
	uuid, name, message []byte
	ts                  int64
	state               state
	level               Level
	wellFormed          bool // condition and condition_level have known values
	fields              uint8
}

// allFields has the bits of all fields that a condition must have.
const allFields = 1<<7 - 1

// readCondition reads one condition object.
func readCondition(r *jsonread.Reader) (w wireCondition) {
	var flagsOK, levelOK bool
	r.Object(func(name []byte) {
		switch string(name) {
		case "jia_isu_uuid":
			w.uuid = r.Str()
			w.fields |= 1
		case "isu_name":
			w.name = r.Str()
			w.fields |= 2
		case "timestamp":
			w.ts = r.Int()
			w.fields |= 4
		case "is_sitting":
			if r.Bool() {
				w.state |= sittingBit
			}
			w.fields |= 8
		case "condition":
			var f Flags
			f, flagsOK = ParseFlags(string(r.Str()))
			w.state |= state(f)
			w.fields |= 16
		case "condition_level":
			w.level, levelOK = ParseLevel(string(r.Str()))
			w.fields |= 32
		case "message":
			w.message = r.Str()
			w.fields |= 64
		default:
			r.Skip()
		}
	})
	w.wellFormed = flagsOK && levelOK
	return w
}

// wantPosted compares a condition with the one that its chair posted, and returns
// its index in the history. The caller holds the chair's lock.
func wantPosted(res *scenario.Response, check string, w *wireCondition, c *chair) (int, error) {
	switch {
	case w.fields != allFields:
		return 0, scenario.Wrong(res, check+"-fields", "a condition of %s lacks fields", c.uuid)
	case string(w.uuid) != c.uuid || string(w.name) != c.name:
		return 0, scenario.Wrong(res, check+"-isu", "a condition of %q (%q), want %s (%q)", w.uuid, w.name, c.uuid, c.name)
	}
	i, ok := c.past.find(w.ts)
	if !ok {
		return 0, scenario.Wrong(res, check+"-unknown", "%s never posted a condition with timestamp %d", c.uuid, w.ts)
	}
	said := c.past.states[i].said()
	switch {
	case !w.wellFormed || w.state != said || string(w.message) != Message(c.character, said.flags()):
		return 0, scenario.Wrong(res, check+"-altered", "condition of %s at %d is not what was posted", c.uuid, w.ts)
	case w.level != said.level():
		return 0, scenario.Wrong(res, check+"-level", "condition of %s at %d has level %s, want %s", c.uuid, w.ts, w.level, said.level())
	}
	return i, nil
}

// A levelSet is a set of levels, as a bit mask.
type levelSet uint8

func setOf(levels ...Level) (s levelSet) {
	for _, l := range levels {
		s |= 1 << l
	}
	return s
}

var (
	allLevels = setOf(Info, Warning, Critical)
	badLevels = setOf(Warning, Critical)
)

func (s levelSet) has(l Level) bool { return s&(1<<l) != 0 }

// A conditionQuery holds the parameters of a GET /api/condition/:uuid.
type conditionQuery struct {
	start  int64 // fromEver if the parameter is omitted
	end    int64
	levels levelSet
}

const fromEver = math.MinInt64

// from returns the start of the range in readable form.
func (q conditionQuery) from() string {
	if q.start == fromEver {
		return "-∞"
	}
	return strconv.FormatInt(q.start, 10)
}

// A page is a checked answer: indexes in the history, newest first.
type page struct {
	at     [pageLimit]int32
	states [pageLimit]state // at the time of the check
	n      int
}

// checkConditions checks one page of conditions. asked is when the request was
// sent, in ms since the clock's origin. recent holds indexes in the history that
// this client read before and that must still be returned.
func checkConditions(res *scenario.Response, c *chair, q conditionQuery, asked int64, recent []int32) (p page, err error) {
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return p, err
	}
	var wires [pageLimit]wireCondition
	n := 0
	r.Array(func() {
		if w := readCondition(&r); n < pageLimit {
			wires[n] = w
		}
		n++
	})
	if err := verify.EndJSON(res, &r); err != nil {
		return p, err
	}
	if n > pageLimit {
		return p, scenario.Wrong(res, "condition-limit", "%d conditions, want at most %d", n, pageLimit)
	}
	if err := wantOrder(res, wires[:n], q); err != nil {
		return p, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for i := range wires[:n] {
		at, err := wantPosted(res, "condition", &wires[i], c)
		if err != nil {
			return p, err
		}
		if !q.levels.has(c.past.states[at].level()) {
			return p, scenario.Wrong(res, "condition-filter", "a condition of level %s that was not asked for", wires[i].level)
		}
		p.at[i], p.states[i] = int32(at), c.past.states[at]
	}
	p.n = n
	return p, wantKept(res, c, q, &p, asked, recent)
}

// wantOrder checks that the timestamps are within the requested range and strictly
// descending.
func wantOrder(res *scenario.Response, wires []wireCondition, q conditionQuery) error {
	for i := range wires {
		ts := wires[i].ts
		if ts < q.start || ts >= q.end {
			return scenario.Wrong(res, "condition-range", "timestamp %d is not in [%s, %d)", ts, q.from(), q.end)
		}
		if i > 0 && ts >= wires[i-1].ts {
			return scenario.Wrong(res, "condition-order", "timestamp %d after %d, want them descending", ts, wires[i-1].ts)
		}
	}
	return nil
}

// wantKept checks that the answer contains every condition in its range that was
// returned before. A full page covers the range down to its last condition; a
// short page covers the whole range.
func wantKept(res *scenario.Response, c *chair, q conditionQuery, p *page, asked int64, recent []int32) error {
	lo, hi := 0, c.past.from(q.end)
	if q.start != fromEver {
		lo = c.past.from(q.start)
	}
	if p.n == pageLimit {
		lo = max(lo, int(p.at[p.n-1]))
	}
	next := 0 // first index in the page that may equal i
	for i := hi - 1; i >= lo; i-- {
		if next < p.n && int(p.at[next]) == i {
			next++
			continue
		}
		if q.levels.has(c.past.states[i].level()) && (c.past.known(i, asked-crossDelay) || holds(recent, i)) {
			return c.missing(res, "condition", i)
		}
	}
	return nil
}

// missing returns the fault for an answer that omits a condition which the target
// has.
func (c *chair) missing(res *scenario.Response, check string, i int) error {
	if ts := unixOf(c.past.times[i]); i >= c.past.loaded {
		return scenario.Wrong(res, check+"-lost", "the condition of %d is missing; it was given back before", ts)
	} else {
		return scenario.Wrong(res, check+"-missing", "the condition of %d is missing; it is initial data", ts)
	}
}

func holds(places []int32, i int) bool {
	for _, p := range places {
		if int(p) == i {
			return true
		}
	}
	return false
}

// sightPage records that a page's conditions were returned at a time, in ms since
// the clock's origin. With points set, the conditions count as read by their
// owner, and fresh is the number per level that had not been read before.
func (c *chair) sightPage(p *page, ms int64, points bool) (fresh [Critical + 1]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range p.at[:p.n] {
		c.past.sight(int(at), ms)
		if s := c.past.states[at]; points && s&readBit == 0 {
			c.past.states[at] |= readBit
			fresh[s.level()]++
		}
	}
	return fresh
}
