package isucondition

import (
	"slices"
	"testing"
)

type testData struct {
	Score      int64            `json:"score"`
	Percentage map[string]int64 `json:"percentage"`
}

type testHour struct {
	Start  int64     `json:"start_at"`
	End    int64     `json:"end_at"`
	Data   *testData `json:"data"`
	Stamps []int64   `json:"condition_timestamps"`
}

// graphOf returns a correct answer.
func graphOf(c *chair, day int64) (hours []testHour) {
	for h := range int64(24) {
		start := day + h*hourSeconds
		hour := testHour{Start: start, End: start + hourSeconds, Stamps: []int64{}}
		points, n := int64(0), int64(0)
		counts := map[string]int64{"sitting": 0, "is_broken": 0, "is_dirty": 0, "is_overweight": 0}
		for i := c.past.from(start); i < c.past.from(start+hourSeconds); i++ {
			s := c.past.states[i]
			hour.Stamps = append(hour.Stamps, unixOf(c.past.times[i]))
			points += map[Level]int64{Info: 3, Warning: 2, Critical: 1}[s.level()]
			for name, is := range map[string]bool{"sitting": s.sitting(), "is_broken": s.flags()&Broken != 0,
				"is_dirty": s.flags()&Dirty != 0, "is_overweight": s.flags()&Overweight != 0} {
				if is {
					counts[name]++
				}
			}
			n++
		}
		if n > 0 {
			for name := range counts {
				counts[name] = counts[name] * 100 / n
			}
			hour.Data = &testData{Score: points * 100 / 3 / n, Percentage: counts}
		}
		hours = append(hours, hour)
	}
	return hours
}

// testGraphChair has one condition per minute in the hours 1, 2 and 23.
func testGraphChair() *chair {
	c := testChair(0)
	for _, h := range []int64{1, 2, 23} {
		for m := range int64(29) {
			c.past.add(testStart+h*hourSeconds+m*60, state(m%16))
		}
	}
	return c
}

func TestCheckGraphRight(t *testing.T) {
	c := knowAll(testGraphChair(), 0)
	g, err := checkGraph(answer(t, graphOf(c, testStart)), c, testStart, 1000)
	wantFault(t, "right", err, "")
	if g.counts[1] != 29 || g.counts[0] != 0 || g.counts[23] != 29 || len(g.at) != 87 {
		t.Errorf("counts %v", g.counts)
	}
	_, err = checkGraph(answer(t, graphOf(c, testStart+daySeconds)), c, testStart+daySeconds, 1000)
	wantFault(t, "an empty day", err, "")
}

func TestCheckGraphWrong(t *testing.T) {
	for _, c := range []struct {
		check, says string
		spoil       func(h []testHour) []testHour
	}{
		{"graph-length", "23 hours", func(h []testHour) []testHour { return h[:23] }},
		{"graph-length", "25 hours", func(h []testHour) []testHour { return append(h, h[0]) }},
		{"graph-hours", "shifted by an hour", func(h []testHour) []testHour { return append(h[1:], h[0]) }},
		{"graph-hours", "end before its time", func(h []testHour) []testHour { h[3].End--; return h }},
		{"graph-outside", "data shifted by an hour", func(h []testHour) []testHour {
			h[3].Data, h[3].Stamps = h[2].Data, h[2].Stamps
			return h
		}},
		{"graph-null", "data without conditions", func(h []testHour) []testHour { h[5].Data = h[1].Data; return h }},
		{"graph-null", "conditions without data", func(h []testHour) []testHour { h[1].Data = nil; return h }},
		{"graph-order", "timestamps descending", func(h []testHour) []testHour { slices.Reverse(h[1].Stamps); return h }},
		{"graph-order", "a timestamp twice", func(h []testHour) []testHour { h[1].Stamps[1] = h[1].Stamps[0]; return h }},
		{"graph-unknown", "a timestamp never posted", func(h []testHour) []testHour { h[1].Stamps[0]++; return h }},
		{"graph-score", "another score", func(h []testHour) []testHour { h[2].Data.Score++; return h }},
		{"graph-percentage", "percentages rounded up", func(h []testHour) []testHour {
			h[2].Data.Percentage["is_broken"]++
			return h
		}},
		{"graph-percentage", "sitting", func(h []testHour) []testHour { h[2].Data.Percentage["sitting"] = 0; return h }},
		{"graph-lost", "a condition left out", func(h []testHour) []testHour {
			h[23].Data, h[23].Stamps = nil, []int64{}
			return h
		}},
	} {
		chair := knowAll(testGraphChair(), 0)
		_, err := checkGraph(answer(t, c.spoil(graphOf(chair, testStart))), chair, testStart, 1000)
		wantFault(t, c.says, err, c.check)
	}
}

func TestCheckGraphFields(t *testing.T) {
	c := testGraphChair()
	hours := make([]map[string]int64, 24)
	for i := range hours {
		hours[i] = map[string]int64{"start_at": testStart}
	}
	_, err := checkGraph(answer(t, hours), c, testStart, 0)
	wantFault(t, "fields left out", err, "graph-fields")
	body := `[{"start_at":1,"end_at":2,"data":{"score":1,"percentage":{"sitting":0,"is_broken":0,"is_dirty":0}},"condition_timestamps":[1]}]`
	if _, err := checkGraph(textAnswer(200, "application/json", body), c, testStart, 0); err == nil {
		t.Error("a graph whose percentages lack is_overweight passed")
	}
}

// TestGraphLost checks that the two endpoints that return conditions must agree
// after a second.
func TestGraphLost(t *testing.T) {
	c := testGraphChair()
	c.past.sight(30, 7000)
	hours := graphOf(c, testStart)
	hours[2].Data, hours[2].Stamps = nil, []int64{}
	_, err := checkGraph(answer(t, hours), c, testStart, 7999)
	wantFault(t, "read less than a second before", err, "")
	_, err = checkGraph(answer(t, hours), c, testStart, 8000)
	wantFault(t, "read a second before", err, "graph-lost")
	g, err := checkGraph(answer(t, graphOf(c, testStart)), c, testStart, 8000)
	wantFault(t, "right", err, "")
	c.sightGraph(g, 9000)
	_, err = checkConditions(textAnswer(200, "application/json", "[]"), c,
		conditionQuery{start: fromEver, end: testStart + daySeconds, levels: allLevels}, 10000, nil)
	wantFault(t, "in a graph a second before", err, "condition-lost")
}
