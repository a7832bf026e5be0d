package isucondition_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

// wanted computes a page of the history according to the rules.
func wanted(isu ISU, start, end int64, levels string) []apiCondition {
	page := []apiCondition{}
	for _, c := range slices.Backward(isu.Conditions) {
		if start <= c.Timestamp && c.Timestamp < end && slices.Contains(strings.Split(levels, ","), c.Level().String()) && len(page) < 20 {
			page = append(page, conditionOf(isu, c))
		}
	}
	return page
}

func testHistory(t *testing.T) {
	c := fresh(t)
	isu := c.data.Users[0].ISUs[2]
	first, last := isu.Conditions[0].Timestamp, isu.Conditions[len(isu.Conditions)-1].Timestamp
	middle := isu.Conditions[40].Timestamp
	g := signedIn(t, "isucon1")
	const all = "info,warning,critical"
	for _, q := range []struct {
		name       string
		start, end int64
		levels     string
		extra      string
	}{
		{"newest", 0, last + 1, all, ""},
		{"the end is outside", 0, last, all, ""},
		{"from the middle", 0, middle, all, ""},
		{"the start is inside", middle, last, all, fmt.Sprintf("&start_time=%d", middle)},
		{"just after", middle + 1, last, all, fmt.Sprintf("&start_time=%d", middle+1)},
		{"nothing", 0, first, all, ""},
		{"only the first", 0, first + 1, all, ""},
		{"empty range", middle, middle, all, fmt.Sprintf("&start_time=%d", middle)},
		{"levels come before the limit", 0, last + 1, "critical", ""},
		{"info", 0, last + 1, "info", ""},
		{"warning and critical", 0, last + 1, "warning,critical", ""},
		{"in any order", 0, last + 1, "critical,info", ""},
		{"unknown levels are none", 0, last + 1, "fine,critical", ""},
		{"only an unknown level", 0, last + 1, "fine", ""},
		{"an empty start is none", 0, last + 1, all, "&start_time="},
		{"a start of zero", 0, last + 1, all, "&start_time=0"},
		{"the end of time", 0, 1<<62 - 1, all, ""},
		{"before time", -1 << 62, -1 << 61, all, "&start_time=-4611686018427387904"},
	} {
		t.Run(q.name, func(t *testing.T) {
			var page []apiCondition
			g.Get(fmt.Sprintf("/api/condition/%s?end_time=%d&condition_level=%s%s", isu.UUID, q.end, q.levels, q.extra)).Decode(t, 200, &page)
			if want := wanted(isu, q.start, q.end, q.levels); !reflect.DeepEqual(page, want) {
				t.Errorf("got %d conditions %+v\nwant %d %+v", len(page), page, len(want), want)
			}
		})
	}
	for query, text := range map[string]string{
		"":                            "bad format: end_time",
		"condition_level=info":        "bad format: end_time",
		"end_time=x":                  "bad format: end_time",
		"end_time=1.5":                "bad format: end_time",
		"end_time=1":                  "missing: condition_level",
		"end_time=1&condition_level=": "missing: condition_level",
		"end_time=1&start_time=x":     "missing: condition_level",
		"end_time=1&condition_level=info&start_time=x": "bad format: start_time",
	} {
		g.Get("/api/condition/"+isu.UUID+"?"+query).Want(t, 400, text)
		g.Get("/api/condition/unknown?"+query).Want(t, 400, text) // checked before the ISU is
	}
}

// report is one element of a POST of conditions.
type report struct {
	IsSitting bool   `json:"is_sitting"`
	Condition string `json:"condition"`
	Message   string `json:"message"`
	Timestamp int64  `json:"timestamp"`
}

// untilRead repeats a POST of conditions until the app does not drop it. A post
// was not dropped if the answer differs from a drop's, or if the number of rows
// changed.
func untilRead(t *testing.T, uuid string, body apptest.Edit) apptest.Answer {
	t.Helper()
	count := func() (n int) {
		if err := contest.DB.QueryRow("SELECT COUNT(*) FROM isu_condition").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	g := contest.NewClient(t)
	before := count()
	for range 400 { // the probability that all are dropped is 10^-18
		res := g.Send("POST", "/api/condition/"+uuid, body)
		if res.Status != http.StatusAccepted || count() != before {
			return res
		}
		res.WantEmpty(t, http.StatusAccepted)
	}
	t.Fatalf("400 posts to %s were dropped", uuid)
	return apptest.Answer{}
}

func testTakesReports(t *testing.T) {
	c := fresh(t)
	isu := c.data.Users[0].ISUs[0]
	now := T0.Unix()
	const good = "is_dirty=true,is_overweight=false,is_broken=true"
	batch := []report{{true, good, "ひとこと🪑", now}, {false, "is_dirty=false,is_overweight=false,is_broken=false", "", now + 60}}
	untilRead(t, isu.UUID, apptest.WithJSON(batch)).WantEmpty(t, http.StatusAccepted)

	var page []apiCondition
	signedIn(t, "isucon1").Get(fmt.Sprintf("/api/condition/%s?end_time=%d&start_time=%d&condition_level=info,warning", isu.UUID, now+61, now)).Decode(t, 200, &page)
	want := []apiCondition{
		{isu.UUID, isu.Name, now + 60, false, batch[1].Condition, "info", ""},
		{isu.UUID, isu.Name, now, true, good, "warning", "ひとこと🪑"},
	}
	if !reflect.DeepEqual(page, want) {
		t.Errorf("stored %+v, want %+v", page, want)
	}
	var stored string
	if err := c.DB.QueryRow("SELECT CAST(`timestamp` AS CHAR) FROM isu_condition WHERE message LIKE 'ひとこと%'").Scan(&stored); err != nil || stored != "2021-08-08 00:00:00" {
		t.Errorf("the database has %q (%v), want the time in Tokyo", stored, err)
	}
}

func testRefusesReports(t *testing.T) {
	c := fresh(t)
	uuid := c.data.Users[0].ISUs[0].UUID
	one := func(condition string) apptest.Edit {
		return apptest.WithJSON([]report{{false, "is_dirty=false,is_overweight=false,is_broken=false", "good", 1}, {false, condition, "bad", 2}})
	}
	for name, body := range map[string]apptest.Edit{
		"no JSON":      apptest.WithBody("application/json", "[{"),
		"an object":    apptest.WithBody("application/json", "{}"),
		"empty":        apptest.WithBody("application/json", "[]"),
		"null":         apptest.WithBody("application/json", "null"),
		"nothing":      apptest.WithBody("application/json", ""),
		"no type":      apptest.WithBody("text/plain", "[]"),
		"time is text": apptest.WithBody("application/json", `[{"condition":"is_dirty=false,is_overweight=false,is_broken=false","timestamp":"1"}]`),
		"wrong order":  one("is_overweight=false,is_dirty=false,is_broken=false"),
		"spaces":       one("is_dirty=false, is_overweight=false,is_broken=false"),
		"capitals":     one("is_dirty=True,is_overweight=false,is_broken=false"),
		"one missing":  one("is_dirty=false,is_overweight=false"),
		"one more":     one("is_dirty=false,is_overweight=false,is_broken=false,"),
		"trailing":     one("is_dirty=false,is_overweight=false,is_broken=falsee"),
		"none":         one(""),
	} {
		t.Run(name, func(t *testing.T) {
			untilRead(t, uuid, body).Want(t, 400, "bad request body")
			untilRead(t, "unknown", body).Want(t, 400, "bad request body") // checked before the ISU is
		})
	}
	untilRead(t, "unknown", one("is_dirty=true,is_overweight=true,is_broken=true")).Want(t, 404, "not found: isu")
	var n int
	if err := c.DB.QueryRow("SELECT COUNT(*) FROM isu_condition").Scan(&n); err != nil || n != 618 {
		t.Errorf("%d conditions are stored, want none more than the 618 (%v)", n, err)
	}
}

// testDrops checks that nine in ten posts are dropped without being read.
func testDrops(t *testing.T) {
	c := fresh(t)
	uuid := c.data.Users[0].ISUs[0].UUID
	const posts = 600
	g := contest.NewClient(t)
	for i := range posts {
		body := []report{{false, "is_dirty=false,is_overweight=false,is_broken=false", "drop", int64(i)}}
		g.Send("POST", "/api/condition/"+uuid, apptest.WithJSON(body)).WantEmpty(t, http.StatusAccepted)
	}
	var n int
	if err := c.DB.QueryRow("SELECT COUNT(*) FROM isu_condition WHERE message = 'drop'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	// The mean is 60, the standard deviation 7.3; the limits are five deviations to
	// each side.
	if n < 23 || n > 97 {
		t.Errorf("%d of %d posts are stored, want about a tenth", n, posts)
	}
}

type apiGraph struct {
	StartAt int64 `json:"start_at"`
	EndAt   int64 `json:"end_at"`
	Data    *struct {
		Score      int `json:"score"`
		Percentage struct {
			Sitting      int `json:"sitting"`
			IsBroken     int `json:"is_broken"`
			IsDirty      int `json:"is_dirty"`
			IsOverweight int `json:"is_overweight"`
		} `json:"percentage"`
	} `json:"data"`
	Timestamps []int64 `json:"condition_timestamps"`
}

// checkGraph compares a graph with conditions, hour by hour.
func checkGraph(t *testing.T, graph []apiGraph, start int64, conditions []Condition) {
	t.Helper()
	if len(graph) != 24 {
		t.Fatalf("%d items, want 24", len(graph))
	}
	for i, item := range graph {
		from := start + int64(i)*3600
		if item.StartAt != from || item.EndAt != from+3600 || item.Timestamps == nil {
			t.Errorf("item %d: from %d to %d with %v, want from %d", i, item.StartAt, item.EndAt, item.Timestamps, from)
		}
		var times []int64
		var points, sitting, broken, dirty, heavy, n int
		for _, c := range conditions {
			if c.Timestamp < from || c.Timestamp >= from+3600 {
				continue
			}
			n++
			times = append(times, c.Timestamp)
			points += map[Level]int{Info: 3, Warning: 2, Critical: 1}[c.Level()]
			for _, add := range []struct {
				to  *int
				yes bool
			}{{&sitting, c.IsSitting}, {&broken, c.Flags&Broken != 0}, {&dirty, c.Flags&Dirty != 0}, {&heavy, c.Flags&Overweight != 0}} {
				if add.yes {
					*add.to++
				}
			}
		}
		if !slices.Equal(times, item.Timestamps) {
			t.Errorf("item %d: timestamps %v, want %v", i, item.Timestamps, times)
		}
		if (item.Data == nil) != (n == 0) {
			t.Errorf("item %d: data %v for %d conditions", i, item.Data, n)
		}
		if item.Data == nil || n == 0 {
			continue
		}
		got := fmt.Sprint(*item.Data)
		if want := fmt.Sprintf("{%d {%d %d %d %d}}", points*100/3/n, sitting*100/n, broken*100/n, dirty*100/n, heavy*100/n); got != want {
			t.Errorf("item %d: %s, want %s", i, got, want)
		}
	}
}

func testGraph(t *testing.T) {
	c := fresh(t)
	isu := &c.data.Users[0].ISUs[1]
	g := signedIn(t, "isucon1")
	ask := func(t *testing.T, datetime, start int64, conditions []Condition) {
		t.Helper()
		var graph []apiGraph
		g.Get(fmt.Sprintf("/api/isu/%s/graph?datetime=%d", isu.UUID, datetime)).Decode(t, 200, &graph)
		checkGraph(t, graph, start, conditions)
	}
	day := time.Unix(isu.Conditions[30].Timestamp, 0).In(JST)
	midnight := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, JST).Unix()
	t.Run("a full day", func(t *testing.T) { ask(t, midnight, midnight, isu.Conditions) })
	t.Run("the day before all", func(t *testing.T) { ask(t, midnight-90*86400, midnight-90*86400, isu.Conditions) })
	t.Run("cut down to the hour", func(t *testing.T) { ask(t, midnight+7*3600+1799, midnight+7*3600, isu.Conditions) })
	t.Run("last second of the hour", func(t *testing.T) { ask(t, midnight+3599, midnight, isu.Conditions) })

	t.Run("borders and rounding", func(t *testing.T) {
		// Odd numbers within the hour, both its ends, and the neighboring hours.
		start := T0.AddDate(0, 0, 3).Unix()
		var conditions []Condition
		for i, at := range []int64{start - 1, start, start + 1, start + 59, start + 600, start + 601, start + 3000, start + 3599, start + 3600,
			start + 5*3600, start + 5*3600 + 1, start + 5*3600 + 2, start + 86399, start + 86400} {
			conditions = append(conditions, Condition{Timestamp: at, IsSitting: i%3 == 0, Flags: Flags(i % 8)})
		}
		for _, k := range conditions {
			if _, err := c.DB.Exec("INSERT INTO isu_condition (jia_isu_uuid, `timestamp`, is_sitting, `condition`, message) VALUES (?, ?, ?, ?, '')",
				isu.UUID, time.Unix(k.Timestamp, 0).In(JST).Format(time.DateTime), k.IsSitting, k.Flags.Condition()); err != nil {
				t.Fatal(err)
			}
		}
		ask(t, start, start, conditions)
		ask(t, start-1, start-3600, conditions)
	})

	for query, text := range map[string]string{"": "missing: datetime", "datetime=": "missing: datetime", "datetime=x": "bad format: datetime", "datetime=1.5": "bad format: datetime"} {
		g.Get("/api/isu/"+isu.UUID+"/graph?"+query).Want(t, 400, text)
		g.Get("/api/isu/unknown/graph?"+query).Want(t, 400, text)
	}
}
