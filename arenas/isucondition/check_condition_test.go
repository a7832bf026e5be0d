package isucondition

import (
	"slices"
	"testing"
)

// pageOf returns a correct answer: the newest conditions of a query.
func pageOf(c *chair, q conditionQuery) (page []testCondition) {
	for i := c.past.len() - 1; i >= 0 && len(page) < pageLimit; i-- {
		if ts := unixOf(c.past.times[i]); ts >= q.start && ts < q.end && q.levels.has(c.past.states[i].level()) {
			page = append(page, c.shown(i))
		}
	}
	return page
}

func TestCheckConditionsRight(t *testing.T) {
	c := knowAll(testChair(100), 0)
	for _, q := range []conditionQuery{
		{start: fromEver, end: testStart + 1e6, levels: allLevels},
		{start: fromEver, end: testStart + 600, levels: allLevels},
		{start: testStart + 60, end: testStart + 600, levels: setOf(Info)},
		{start: fromEver, end: testStart + 1e6, levels: setOf(Critical)},
		{start: fromEver, end: testStart + 1e6, levels: badLevels},
		{start: testStart + 1e6, end: testStart + 2e6, levels: allLevels},
	} {
		page := pageOf(c, q)
		if page == nil {
			page = []testCondition{}
		}
		p, err := checkConditions(answer(t, page), c, q, 1000, nil)
		wantFault(t, "right", err, "")
		if p.n != len(page) {
			t.Errorf("a page of %d conditions was read as %d", len(page), p.n)
		}
	}
}

func TestCheckConditionsWrong(t *testing.T) {
	q := conditionQuery{start: testStart + 10*60, end: testStart + 90*60, levels: allLevels}
	bad := q
	bad.levels = badLevels
	for _, c := range []struct {
		check, says string
		q           conditionQuery
		spoil       func(c *chair, page []testCondition) []testCondition
	}{
		{"condition-limit", "21 conditions", q, func(c *chair, p []testCondition) []testCondition { return append(p, c.shown(69)) }},
		{"condition-order", "ascending", q, func(c *chair, p []testCondition) []testCondition { slices.Reverse(p); return p }},
		{"condition-order", "one twice", q, func(c *chair, p []testCondition) []testCondition { p[1] = p[0]; return p }},
		{"condition-range", "end_time inclusive", q, func(c *chair, p []testCondition) []testCondition {
			return append([]testCondition{c.shown(90)}, p[:19]...)
		}},
		{"condition-range", "before start_time", q, func(c *chair, p []testCondition) []testCondition {
			return append(p[:19], c.shown(9))
		}},
		{"condition-filter", "a level not asked for", bad, func(c *chair, p []testCondition) []testCondition {
			return append([]testCondition{c.shown(80)}, slices.DeleteFunc(p, func(k testCondition) bool { return k.TS >= c.shown(80).TS })...)
		}},
		{"condition-unknown", "a timestamp never posted", q, func(c *chair, p []testCondition) []testCondition { p[0].TS++; return p }},
		{"condition-isu", "another ISU", q, func(c *chair, p []testCondition) []testCondition { p[0].UUID = "x"; return p }},
		{"condition-isu", "another name", q, func(c *chair, p []testCondition) []testCondition { p[0].Name = "x"; return p }},
		{"condition-altered", "another message", q, func(c *chair, p []testCondition) []testCondition { p[0].Message += "!"; return p }},
		{"condition-altered", "another condition", q, func(c *chair, p []testCondition) []testCondition { p[0].Cond = p[1].Cond; return p }},
		{"condition-altered", "no condition string", q, func(c *chair, p []testCondition) []testCondition { p[0].Cond = "is_dirty=true"; return p }},
		{"condition-altered", "someone sits", q, func(c *chair, p []testCondition) []testCondition { p[0].Sitting = !p[0].Sitting; return p }},
		{"condition-altered", "no level", q, func(c *chair, p []testCondition) []testCondition { p[0].Level = "bad"; return p }},
		{"condition-level", "another level", q, func(c *chair, p []testCondition) []testCondition { p[2].Level = "info"; return p }},
		{"condition-lost", "the newest left out", q, func(c *chair, p []testCondition) []testCondition { return p[1:] }},
		{"condition-lost", "one in the middle left out", q, func(c *chair, p []testCondition) []testCondition { return slices.Delete(p, 7, 8) }},
		{"condition-lost", "limit before filter", bad, func(c *chair, p []testCondition) []testCondition { return p[:17] }},
		{"condition-lost", "nothing", q, func(c *chair, p []testCondition) []testCondition { return p[:0] }},
	} {
		chair := knowAll(testChair(100), 0)
		_, err := checkConditions(answer(t, c.spoil(chair, pageOf(chair, c.q))), chair, c.q, 1000, nil)
		wantFault(t, c.says, err, c.check)
	}
	c := testChair(1)
	_, err := checkConditions(textAnswer(200, "application/json", `[{"timestamp":1}]`), c, conditionQuery{start: 0, end: 2, levels: allLevels}, 0, nil)
	wantFault(t, "fields left out", err, "condition-fields")
}

// TestConditionsLost tests which conditions may be missing, and from what time on
// they may not.
func TestConditionsLost(t *testing.T) {
	q := conditionQuery{start: fromEver, end: testStart + 1e6, levels: allLevels}
	c := testChair(10)
	without3 := slices.Delete(pageOf(c, q), 6, 7) // newest first: index 6 is condition 3
	check := func(asked int64, recent []int32) error {
		_, err := checkConditions(answer(t, without3), c, q, asked, recent)
		return err
	}
	wantFault(t, "never given back", check(1e9, nil), "")
	c.past.sight(3, 5000)
	wantFault(t, "given back half a second before", check(5500, nil), "")
	wantFault(t, "given back to this reader", check(5500, []int32{3}), "condition-lost")
	wantFault(t, "given back just under a second before", check(5999, nil), "")
	wantFault(t, "given back a second before", check(6000, nil), "condition-lost")
	c = testChair(10)
	c.past.loaded = 10
	wantFault(t, "initial data", check(0, nil), "condition-missing")
}

func TestSightPage(t *testing.T) {
	c := testChair(40)
	q := conditionQuery{start: fromEver, end: testStart + 1e6, levels: allLevels}
	p, err := checkConditions(answer(t, pageOf(c, q)), c, q, 0, nil)
	wantFault(t, "right", err, "")
	if fresh := c.sightPage(&p, 100, false); fresh != [4]int64{} {
		t.Errorf("without points %v were counted", fresh)
	}
	fresh := c.sightPage(&p, 200, true)
	if fresh[Info]+fresh[Warning]+fresh[Critical] != 20 || fresh[Info] == 0 || fresh[Critical] == 0 {
		t.Errorf("%v newly read, want 20 of all levels", fresh)
	}
	if again := c.sightPage(&p, 300, true); again != [4]int64{} {
		t.Errorf("%v were counted again", again)
	}
	if !c.past.known(39, 100) || c.past.known(39, 99) || c.past.known(19, 1e9) {
		t.Error("the first sighting must stand, and only for what the page held")
	}
}

func TestRecent(t *testing.T) {
	p := page{n: 3, at: [pageLimit]int32{9, 7, 5}}
	r := recent{8, 7, 1}.see(&p)
	if !slices.Equal(r, recent{9, 8, 7, 5, 1}) {
		t.Errorf("%v", r)
	}
	p.n = pageLimit
	for i := range p.at {
		p.at[i] = int32(100 - i)
	}
	if r = r.see(&p); len(r) != pageLimit || r[19] != 81 {
		t.Errorf("%v", r)
	}
}
