package isuumo

import (
	"bytes"
	"net/url"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// changedQuery changes the parameters of a search.
func changedQuery(pattern string, change func(q url.Values)) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", pattern, arenatest.Before(func(x *arenatest.Exchange) {
		q, err := url.ParseQuery(x.Query)
		if err != nil {
			return
		}
		change(q)
		x.Query = q.Encode()
	})))
}

// accepted answers a request that must be refused as if it were right.
func accepted(method, pattern, query string, status int) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(status, func(x *arenatest.Exchange) {
		if strings.Contains(x.Query, query) {
			x.Give(200, "application/json", `{"count":0,"chairs":[],"estates":[]}`)
		}
	})))
}

// readFaults are wrong answers about the initial data, caught before any load.
var readFaults = []arenatest.Fault{
	{Name: "no language", Want: by("initialize-language"), Spoil: answer("POST", "/initialize", func(o object) { delete(o, "language") })},
	{Name: "price off by one", Want: by("chair-fields"),
		Spoil: answer("GET", "/api/chair/*", func(o object) {
			if p, ok := o["price"].(float64); ok {
				o["price"] = p + 1
			}
		})},
	{Name: "estate without its description", Want: by("estate-fields"),
		Spoil: answer("GET", "/api/estate/*", func(o object) { delete(o, "description") })},
	{Name: "coordinates swapped", Want: by("estate-fields"), Spoil: answer("POST", "/api/estate/nazotte", func(o object) {
		for _, e := range objects(o, "estates") {
			e["latitude"], e["longitude"] = e["longitude"], e["latitude"]
		}
	})},
	{Name: "search in the wrong order", Want: by("estate-search-order"), Spoil: list("GET", "/api/estate/search", "estates", reversed)},
	{Name: "count of the page", Want: by("chair-search-count"),
		Spoil: answer("GET", "/api/chair/search", func(o object) { o["count"] = len(objects(o, "chairs")) })},
	{Name: "features ignored", Want: by("chair-search-match"), Spoil: changedQuery("/api/chair/search", func(q url.Values) {
		if q.Get("features") != "" {
			q.Set("features", "")
			q.Set("heightRangeId", "0")
		}
	})},
	{Name: "only the first feature", Want: by("estate-search-match"), Spoil: changedQuery("/api/estate/search", func(q url.Values) {
		first, _, _ := strings.Cut(q.Get("features"), ",")
		q.Set("features", first)
	})},
	{Name: "first page for every page", Want: by("estate-search-rows"), Spoil: changedQuery("/api/estate/search", func(q url.Values) {
		if q.Get("page") == "1" {
			q.Set("page", "0")
		}
	})},
	{Name: "pages of ten", Want: by("chair-search-rows"), Spoil: changedQuery("/api/chair/search", func(q url.Values) {
		if q.Has("perPage") {
			q.Set("perPage", "10")
		}
	})},
	{Name: "low-priced chairs in the wrong order", Want: by("chair-low-order"), Spoil: list("GET", "/api/chair/low_priced", "chairs", reversed)},
	{Name: "low-priced estates without the first", Want: by("estate-low-rows"),
		Spoil: list("GET", "/api/estate/low_priced", "estates", func(rows []object) []object { return rows[1:] })},
	{Name: "a condition less", Want: by("chair-condition"), Spoil: answer("GET", "/api/chair/search/condition", func(o object) { delete(o, "kind") })},
	{Name: "another unit", Want: by("estate-condition"),
		Spoil: answer("GET", "/api/estate/search/condition", func(o object) { o["rent"].(object)["suffix"] = "万円" })},
	{Name: "recommendation in the wrong order", Want: by("recommended-order"), Spoil: list("GET", "/api/recommended_estate/*", "estates", reversed)},
	{Name: "recommendation of 19", Want: by("recommended-rows"),
		Spoil: list("GET", "/api/recommended_estate/*", "estates", func(rows []object) []object { return rows[:min(len(rows), 19)] })},
	{Name: "polygon search in the wrong order", Want: by("nazotte-order"), Spoil: list("POST", "/api/estate/nazotte", "estates", reversed)},
	{Name: "polygon search counts one more", Want: by("nazotte-count"),
		Spoil: answer("POST", "/api/estate/nazotte", func(o object) { o["count"] = o["count"].(float64) + 1 })},
	{Name: "unknown estate with 200", Want: by("estate-unknown-id"), Spoil: accepted("GET", "/api/estate/0", "", 404)},
	{Name: "search without a condition", Want: by("chair-search-condition"), Spoil: accepted("GET", "/api/chair/search", "page=0&perPage=25", 400)},
	{Name: "search without a page", Want: by("estate-search-page"), Spoil: accepted("GET", "/api/estate/search", "rentRangeId=1", 400)},
	{Name: "unknown range ignored", Want: by("chair-search-range"), Spoil: accepted("GET", "/api/chair/search", "RangeId=99", 400)},
	{Name: "purchase without an address", Want: by("buy-email"), Spoil: accepted("POST", "/api/chair/buy/1", "", 400)},
	{Name: "500 for an unknown chair", Want: by("recommended-unknown-id"),
		Spoil: plain(arenatest.When("", "GET", "/api/recommended_estate/0", arenatest.After(400, func(x *arenatest.Exchange) { x.Give(500, "", "") })))},
	{Name: "wrong content type", Want: on(iikanji.FaultContentType, onLow),
		Spoil: plain(arenatest.When("", "GET", "/api/estate/low_priced", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Answer.Set("Content-Type", "text/html")
		})))},
	{Name: "broken JSON", Want: on(iikanji.FaultBody, onNazotte),
		Spoil: plain(arenatest.When("", "POST", "/api/estate/nazotte", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = bytes.TrimRight(x.Reply, "}\n")
		})))},
	{Name: "answer cut off", Want: on(iikanji.FaultClosed, onEstate),
		Spoil: plain(singles("/api/estate/", arenatest.After(200, func(x *arenatest.Exchange) { x.Cut = 100 })))},
	{Name: "answer of 3 s", Want: on(iikanji.FaultTimeout, onChairSearch),
		Spoil: plain(arenatest.When("", "GET", "/api/chair/search", arenatest.Slow(3*time.Second)))},
}
