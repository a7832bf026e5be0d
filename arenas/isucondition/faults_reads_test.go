package isucondition_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// An object is a JSON object whose fields do not matter here.
type object = map[string]any

// list changes a JSON array of objects in the answer.
func list(pattern string, change func(v []object) []object) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", pattern, arenatest.After(200, arenatest.JSON(
		func(_ *arenatest.Exchange, v []object) []object { return change(v) }))))
}

// each changes each object of a JSON array.
func each(pattern string, change func(o object)) func() arenatest.Hook {
	return list(pattern, func(v []object) []object {
		for _, o := range v {
			change(o)
		}
		return v
	})
}

// query changes the parameters of a request.
func query(pattern string, change func(q url.Values)) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", pattern, arenatest.Before(func(x *arenatest.Exchange) {
		q, err := url.ParseQuery(x.Query)
		if err != nil {
			return
		}
		change(q)
		x.Query = q.Encode()
	})))
}

// shift adds to a parameter if its value is a number.
func shift(name string, by int64) func(q url.Values) {
	return func(q url.Values) {
		if n, err := strconv.ParseInt(q.Get(name), 10, 64); err == nil {
			q.Set(name, strconv.FormatInt(n+by, 10))
		}
	}
}

func reversed(v []object) []object { slices.Reverse(v); return v }

// readFaults are wrong answers about the initial data.
var readFaults = []arenatest.Fault{
	{Name: "list in the wrong order", Want: by("list-uuid"), Spoil: list("/api/isu", reversed)},
	{Name: "list without newest conditions", Want: by("list-latest"),
		Spoil: each("/api/isu", func(o object) { o["latest_isu_condition"] = nil })},
	{Name: "name of another ISU", Want: by("isu-name"),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*", arenatest.After(200, arenatest.JSON(
			func(_ *arenatest.Exchange, o object) object { o["name"] = "椅子"; return o }))))},
	{Name: "icon of another ISU", Want: by("icon-md5"), Spoil: sameIcon},
	{Name: "conditions in the wrong order", Want: by("condition-order"), Spoil: list("/api/condition/*", reversed)},
	{Name: "limit 21", Want: by("condition-limit"), Spoil: limit21},
	{Name: "end_time inclusive", Want: by("condition-range"), Spoil: query("/api/condition/*", shift("end_time", 1))},
	{Name: "start_time exclusive", Want: by("condition-missing"), Spoil: query("/api/condition/*", shift("start_time", 1))},
	{Name: "level filter after the limit", Want: by("condition-missing"), Spoil: filterLate},
	{Name: "level filter ignored", Want: by("condition-filter"), Spoil: query("/api/condition/*", func(q url.Values) {
		if q.Get("condition_level") != "" {
			q.Set("condition_level", "info,warning,critical")
		}
	})},
	{Name: "message altered", Want: by("condition-altered"),
		Spoil: each("/api/condition/*", func(o object) { o["message"] = o["message"].(string) + "。" })},
	{Name: "critical called warning", Want: by("condition-level"), Spoil: each("/api/condition/*", func(o object) {
		if o["condition_level"] == "critical" {
			o["condition_level"] = "warning"
		}
	})},
	{Name: "graph shifted by an hour", Want: by("graph-hours"), Spoil: query("/api/isu/*/graph", shift("datetime", 3600))},
	{Name: "graph of a day in UTC", Want: by("graph-hours"), Spoil: query("/api/isu/*/graph", shift("datetime", 9*3600))},
	{Name: "graph's data shifted by an hour", Want: by("graph-outside"), Spoil: list("/api/isu/*/graph", func(v []object) []object {
		for i := len(v) - 1; i > 0; i-- {
			v[i]["data"], v[i]["condition_timestamps"] = v[i-1]["data"], v[i-1]["condition_timestamps"]
		}
		v[0]["data"], v[0]["condition_timestamps"] = nil, []int{}
		return v
	})},
	{Name: "percentages rounded up", Want: by("graph-percentage"), Spoil: each("/api/isu/*/graph", func(o object) {
		if data, ok := o["data"].(object); ok {
			roundUp(data["percentage"].(object), len(o["condition_timestamps"].([]any)))
		}
	})},
	{Name: "score of the hour off by one", Want: by("graph-score"), Spoil: each("/api/isu/*/graph", func(o object) {
		if data, ok := o["data"].(object); ok {
			data["score"] = data["score"].(float64) + 1
		}
	})},
	{Name: "graph without a condition", Want: by("graph-missing"), Spoil: each("/api/isu/*/graph", func(o object) {
		if len(o["condition_timestamps"].([]any)) == 1 {
			o["data"], o["condition_timestamps"] = nil, []int{}
		}
	})},
	{Name: "missing character", Want: by("trend-characters"),
		Spoil: list("/api/trend", func(v []object) []object { return v[1:] })},
	{Name: "trend without an ISU", Want: by("trend-missing"), Spoil: list("/api/trend", func(v []object) []object {
		v[3]["info"], v[3]["warning"], v[3]["critical"] = []int{}, []int{}, []int{}
		return v
	})},
	{Name: "trend in the wrong order", Want: by("trend-order"), Spoil: each("/api/trend", func(o object) {
		for _, level := range []string{"info", "warning", "critical"} {
			slices.Reverse(o[level].([]any))
		}
	})},
	{Name: "trend in local time", Want: by("trend-unknown"), Spoil: each("/api/trend", func(o object) {
		for _, isu := range o["info"].([]any) {
			isu.(object)["timestamp"] = isu.(object)["timestamp"].(float64) + 9*3600
		}
	})},
	{Name: "trend under the wrong level", Want: by("trend-level"), Spoil: each("/api/trend", func(o object) {
		o["info"], o["warning"] = o["warning"], o["info"]
	})},
}

// sameIcon is a cache that holds one icon and returns it for every ISU.
func sameIcon() arenatest.Hook {
	first := make(chan []byte, 1)
	return arenatest.When("", "GET", "/api/isu/*/icon", arenatest.After(200, func(x *arenatest.Exchange) {
		select {
		case first <- x.Reply:
		default:
			icon := <-first
			first <- icon
			x.Reply = icon
		}
	}))
}

// limit21 appends the next condition to a full page.
func limit21() arenatest.Hook {
	return arenatest.When("", "GET", "/api/condition/*", arenatest.After(200, arenatest.JSON(func(x *arenatest.Exchange, v []object) []object {
		q, err := url.ParseQuery(x.Query)
		if err != nil || len(v) < 20 {
			return v
		}
		q.Set("end_time", strconv.FormatInt(int64(v[19]["timestamp"].(float64)), 10))
		var next []object
		if _, body := x.Fetch(x.Path, q.Encode()); json.Unmarshal(body, &next) == nil && len(next) > 0 {
			v = append(v, next[0])
		}
		return v
	})))
}

// filterLate fetches 20 conditions of all levels and keeps those of the requested
// levels.
func filterLate() arenatest.Hook {
	return arenatest.When("", "GET", "/api/condition/*", func(x *arenatest.Exchange, forward func()) {
		q, err := url.ParseQuery(x.Query)
		wanted := q.Get("condition_level")
		if err == nil && wanted != "" {
			q.Set("condition_level", "info,warning,critical")
			x.Query = q.Encode()
		}
		if forward(); x.Status != 200 {
			return
		}
		arenatest.JSON(func(_ *arenatest.Exchange, v []object) []object {
			return slices.DeleteFunc(v, func(o object) bool { return !strings.Contains(wanted, o["condition_level"].(string)) })
		})(x)
	})
}

// roundUp adds 1 to the percentages of n conditions that were rounded down.
func roundUp(percentage object, n int) {
	for name, p := range percentage {
		if int(p.(float64))*n%100 != 0 {
			percentage[name] = p.(float64) + 1
		}
	}
}
