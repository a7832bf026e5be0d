package isucondition

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

type testTrendISU struct {
	ID int64 `json:"isu_id"`
	TS int64 `json:"timestamp"`
}

type testTrend struct {
	Character string         `json:"character"`
	Info      []testTrendISU `json:"info"`
	Warning   []testTrendISU `json:"warning"`
	Critical  []testTrendISU `json:"critical"`
}

// trendWorld has three ISU of one character, with the ids 1, 2 and 3, and one ISU
// of another character with the id 4. All post every minute.
func trendWorld() map[int64]*chair {
	ids := map[int64]*chair{}
	for id := int64(1); id <= 4; id++ {
		c := testChair(0)
		c.id.Store(id)
		for i := range int64(50) {
			c.past.add(testStart+i*60+id, state(i+id)&7)
		}
		ids[id] = c
	}
	ids[4].character = 5
	return ids
}

// trendOf returns a correct answer that shows each ISU's n-th condition.
func trendOf(ids map[int64]*chair, n int) []testTrend {
	all := make([]testTrend, Characters)
	for i := range all {
		all[i] = testTrend{Labels[i], []testTrendISU{}, []testTrendISU{}, []testTrendISU{}}
	}
	for id, c := range ids {
		t := &all[c.character]
		list := map[Level]*[]testTrendISU{Info: &t.Info, Warning: &t.Warning, Critical: &t.Critical}[c.past.states[n].level()]
		*list = append(*list, testTrendISU{id, unixOf(c.past.times[n])})
		slices.SortFunc(*list, func(a, b testTrendISU) int { return int(b.TS - a.TS) })
	}
	return all
}

func TestCheckTrendRight(t *testing.T) {
	ids, w := trendWorld(), &trendWatch{}
	look := func(says string, v any, fresh int64) trendAnswer {
		t.Helper()
		a, err := w.checkTrend(answer(t, v), ids, fresh)
		wantFault(t, says, err, "")
		return a
	}
	if a := look("first", trendOf(ids, 10), testStart); a.isus != 4 || a.updates != 4 {
		t.Errorf("%+v, want 4 ISU and 4 updates", a)
	}
	if a := look("the same", trendOf(ids, 10), testStart); a.isus != 4 || a.updates != 0 {
		t.Errorf("%+v, want 4 ISU and no update", a)
	}
	next := trendOf(ids, 11)
	slices.Reverse(next)
	if a := look("newer, characters in another order", next, unixOf(ids[2].past.times[11])); a.updates != 2 {
		t.Errorf("%+v, want 2 updates that are fresh", a)
	}
	strange := trendOf(ids, 12)
	strange[0].Info = []testTrendISU{{99, testStart}}
	look("an unknown id", strange, 0)
}

func TestCheckTrendWrong(t *testing.T) {
	// In the n-th condition of id the level is that of state (n + id) & 7: at
	// 11 the ids 1..4 are warning (4), warning (5), warning (6), critical (7).
	for _, c := range []struct {
		check, says string
		spoil       func(v []testTrend) []testTrend
	}{
		{"trend-characters", "one character missing", func(v []testTrend) []testTrend { return v[:24] }},
		{"trend-characters", "one character twice", func(v []testTrend) []testTrend { return append(v, v[0]) }},
		{"trend-characters", "an unknown character", func(v []testTrend) []testTrend { v[0].Character = "x"; return v }},
		{"trend-fields", "no critical list", nil},
		{"trend-order", "ascending", func(v []testTrend) []testTrend { slices.Reverse(v[3].Warning); return v }},
		{"trend-duplicate", "an ISU twice", func(v []testTrend) []testTrend {
			v[3].Warning = append(v[3].Warning, v[3].Warning[2])
			return v
		}},
		{"trend-duplicate", "an ISU under two levels", func(v []testTrend) []testTrend { v[3].Critical = v[3].Warning[2:]; return v }},
		{"trend-backwards", "back by one", func(v []testTrend) []testTrend { v[3].Warning[2].TS -= 2 * 60; return v }},
		{"trend-unknown", "never posted", func(v []testTrend) []testTrend { v[3].Warning[0].TS++; return v }},
		{"trend-level", "another level", func(v []testTrend) []testTrend {
			v[5].Warning, v[5].Critical = v[5].Critical, v[5].Warning
			return v
		}},
		{"trend-character", "under another character", func(v []testTrend) []testTrend {
			v[6].Critical, v[5].Critical = v[5].Critical, v[6].Critical
			return v
		}},
		{"trend-shrunk", "one ISU missing", func(v []testTrend) []testTrend { v[5].Critical = []testTrendISU{}; return v }},
	} {
		ids, w := trendWorld(), &trendWatch{}
		_, err := w.checkTrend(answer(t, trendOf(ids, 10)), ids, 0)
		wantFault(t, "before", err, "")
		res := textAnswer(200, "application/json", `[{"character":"`+Labels[0]+`","info":[],"warning":[]}]`)
		if c.spoil != nil {
			res = answer(t, c.spoil(trendOf(ids, 11)))
		}
		_, err = w.checkTrend(res, ids, 0)
		wantFault(t, c.says, err, c.check)
	}
}

// TestTrendNameLast checks that fields may come in any order.
func TestTrendNameLast(t *testing.T) {
	ids := trendWorld()
	var v []map[string]any // maps are encoded in alphabetical order: character first
	for _, c := range trendOf(ids, 11) {
		v = append(v, map[string]any{"critical": c.Critical, "info": c.Info, "warning": c.Warning, "zz": 1})
	}
	body := answer(t, v)
	text := string(body.Body)
	for i := range v {
		text = replaceFirst(text, `"zz":1`, `"character":"`+Labels[i]+`"`)
	}
	_, err := new(trendWatch).checkTrend(textAnswer(200, "application/json", text), ids, 0)
	wantFault(t, "name behind its lists", err, "")
}

func TestCheckTrendExact(t *testing.T) {
	ids := trendWorld()
	w := &world{data: &Data{Users: []User{{}}}}
	for id := int64(1); id <= 4; id++ {
		isu := ISU{ID: int(id)}
		for _, ts := range ids[id].past.times[:12] {
			isu.Conditions = append(isu.Conditions, Condition{Timestamp: unixOf(ts)})
		}
		w.data.Users[0].ISUs = append(w.data.Users[0].ISUs, isu)
	}
	w.byID.Store(&ids)
	check := func(v []testTrend) error { return checkTrendExact(answer(t, v), w) }
	wantFault(t, "right", check(trendOf(ids, 11)), "")
	wantFault(t, "stale", check(trendOf(ids, 10)), "trend-stale")
	gone := trendOf(ids, 11)
	gone[5].Critical = []testTrendISU{}
	wantFault(t, "one missing", check(gone), "trend-missing")
	more := trendOf(ids, 11)
	more[7].Info = []testTrendISU{{9, testStart}}
	wantFault(t, "one more", check(more), "trend-extra")
}

func replaceFirst(s, old, new string) string {
	for i := 0; i+len(old) <= len(s); i++ {
		if s[i:i+len(old)] == old {
			return s[:i] + new + s[i+len(old):]
		}
	}
	return s
}

func BenchmarkCheckTrend(b *testing.B) {
	ids := map[int64]*chair{}
	for id := int64(1); id <= 200; id++ {
		c := testChair(15000)
		c.id.Store(id)
		c.character = int(id) % Characters
		ids[id] = c
	}
	var answers []*scenario.Response
	for n := range 50 {
		answers = append(answers, answer(new(testing.T), trendOf(ids, 14000+n)))
	}
	b.SetBytes(int64(len(answers[0].Body)))
	b.ReportAllocs()
	w := &trendWatch{}
	for i := 0; b.Loop(); i++ {
		if i%len(answers) == 0 {
			w = &trendWatch{}
		}
		if _, err := w.checkTrend(answers[i%len(answers)], ids, 0); err != nil {
			b.Fatal(err)
		}
	}
}
