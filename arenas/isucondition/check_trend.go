package isucondition

import (
	"bytes"
	"math"
	"net/http"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A trendWatch holds what one viewer has seen of the trend. It is not shared
// between viewers.
type trendWatch struct {
	last map[int64]glimpse // key: the target's id
	body []byte            // body of the last correct answer
	turn int64             // number of the answer
}

// A glimpse is the newest condition that a viewer saw of one ISU.
type glimpse struct {
	ts    int64
	level Level
	turn  int64 // turn of the last answer that listed the ISU
}

// A trendAnswer is the result of checking one answer.
type trendAnswer struct {
	isus    int
	updates int64 // ISU with a new timestamp that is also fresh
}

// checkTrend checks GET /api/trend against what the viewer saw before and what was
// posted. A timestamp above freshAfter (virtual Unix seconds) counts as an update
// if it is new to the viewer.
func (w *trendWatch) checkTrend(res *scenario.Response, ids map[int64]*chair, freshAfter int64) (a trendAnswer, err error) {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return a, err
	}
	if err := scenario.WantType(res, "application/json"); err != nil {
		return a, err
	}
	if len(w.body) > 0 && bytes.Equal(res.Body, w.body) {
		a.isus = len(w.last)
		return a, nil // identical to the last checked answer
	}
	t := trendReading{trendWatch: w, res: res, ids: ids, freshAfter: freshAfter, r: jsonread.New(res.Body)}
	if w.last == nil {
		w.last = map[int64]glimpse{}
	}
	w.turn++
	t.r.Array(t.character)
	if err := verify.EndJSON(res, &t.r); err != nil {
		return a, err
	}
	if t.wrong != nil {
		return a, t.wrong
	}
	if want := uint32(1)<<Characters - 1; t.characters != want {
		return a, scenario.Wrong(res, "trend-characters", "%s is missing", firstMissing(t.characters))
	}
	if t.isus < len(w.last) {
		return a, scenario.Wrong(res, "trend-shrunk", "%d ISU, but this viewer has seen %d", t.isus, len(w.last))
	}
	w.body = append(w.body[:0], res.Body...)
	return t.trendAnswer, nil
}

func firstMissing(characters uint32) string {
	for i, l := range Labels {
		if characters&(1<<i) == 0 {
			return l
		}
	}
	return "none"
}

// A trendReading is the state of reading one answer.
type trendReading struct {
	*trendWatch
	trendAnswer
	res        *scenario.Response
	r          jsonread.Reader
	ids        map[int64]*chair
	freshAfter int64
	characters uint32 // bits of the Labels found
	current    int    // index of the label being read
	wrong      error  // the first fault
}

func (t *trendReading) fail(check, format string, args ...any) {
	if t.wrong == nil && t.r.Err() == nil {
		t.wrong = scenario.Wrong(t.res, check, format, args...)
	}
}

// character reads one item. The name may follow the lists, so it is looked up
// first.
func (t *trendReading) character() {
	t.name()
	lists := 0
	t.r.Object(func(name []byte) {
		level, ok := ParseLevel(string(name))
		if !ok {
			t.r.Skip()
			return
		}
		lists |= 1 << level
		t.list(level)
	})
	if lists != 1<<Info|1<<Warning|1<<Critical {
		t.fail("trend-fields", "an item lacks info, warning or critical")
	}
}

// name finds the character of the item that begins here.
func (t *trendReading) name() {
	var label []byte
	ahead := t.r
	if ahead.First("character") {
		label = ahead.Str()
	} else {
		ahead = t.r
		ahead.Object(func(name []byte) {
			if string(name) == "character" {
				label = ahead.Str()
			} else {
				ahead.Skip()
			}
		})
	}
	if t.current = CharacterOf(string(label)); t.current < 0 {
		t.fail("trend-characters", "unknown character %q", label)
	} else if t.characters&(1<<t.current) != 0 {
		t.fail("trend-characters", "%s is there twice", label)
	} else {
		t.characters |= 1 << t.current
	}
}

// list reads the ISU listed under one level.
func (t *trendReading) list(level Level) {
	last := int64(math.MaxInt64)
	t.r.Array(func() {
		var id, ts int64
		t.r.Object(func(name []byte) {
			switch string(name) {
			case "isu_id":
				id = t.r.Int()
			case "timestamp":
				ts = t.r.Int()
			default:
				t.r.Skip()
			}
		})
		if ts > last {
			t.fail("trend-order", "timestamp %d after %d, want them descending", ts, last)
		}
		last = ts
		t.isu(id, ts, level)
	})
}

// isu checks one ISU against the viewer's memory and the history.
func (t *trendReading) isu(id, ts int64, level Level) {
	t.isus++
	seen := t.last[id]
	switch {
	case seen.turn == t.turn:
		t.fail("trend-duplicate", "isu_id %d is there twice", id)
	case ts < seen.ts:
		t.fail("trend-backwards", "isu_id %d was at %d and is now at %d", id, seen.ts, ts)
	case ts == seen.ts && level == seen.level:
		// Unchanged since the viewer last saw the ISU, and correct then.
	default:
		t.posted(id, ts, level)
		if ts > t.freshAfter {
			t.updates++
		}
	}
	if t.wrong == nil {
		t.last[id] = glimpse{ts: ts, level: level, turn: t.turn}
	}
}

// posted checks that the ISU posted this condition. Unknown ids are accepted,
// because the answer to their registration may still be in transit.
func (t *trendReading) posted(id, ts int64, level Level) {
	c := t.ids[id]
	if c == nil {
		return
	}
	if t.current >= 0 && c.character != t.current {
		t.fail("trend-character", "isu_id %d is listed under %s, want %s", id, Labels[t.current], Labels[c.character])
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if i, ok := c.past.find(ts); !ok {
		t.fail("trend-unknown", "isu_id %d never posted a condition with timestamp %d", id, ts)
	} else if want := c.past.states[i].level(); level != want {
		t.fail("trend-level", "isu_id %d at %d is listed under %s, want %s", id, ts, level, want)
	}
}

// checkTrendExact checks the trend of a target that holds the initial data only:
// exactly all its ISU, with their newest conditions.
func checkTrendExact(res *scenario.Response, w *world) error {
	var watch trendWatch
	if _, err := watch.checkTrend(res, w.ids(), math.MaxInt64); err != nil {
		return err
	}
	want := 0
	for _, u := range w.data.Users {
		for _, isu := range u.ISUs {
			if len(isu.Conditions) == 0 {
				continue
			}
			want++
			newest := isu.Conditions[len(isu.Conditions)-1].Timestamp
			if got, ok := watch.last[int64(isu.ID)]; !ok {
				return scenario.Wrong(res, "trend-missing", "isu_id %d is missing", isu.ID)
			} else if got.ts != newest {
				return scenario.Wrong(res, "trend-stale", "isu_id %d is at %d, want %d", isu.ID, got.ts, newest)
			}
		}
	}
	if len(watch.last) != want {
		return scenario.Wrong(res, "trend-extra", "%d ISU, want %d", len(watch.last), want)
	}
	return nil
}
