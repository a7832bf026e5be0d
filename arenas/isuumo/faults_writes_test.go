package isuumo

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// writeFaults are wrong answers to posts and purchases, caught before any load.
var writeFaults = []arenatest.Fault{
	{Name: "rows of the run before", Want: by("estate-unknown", "estate-search-count", "estate-early"), Spoil: notInitialized},
	{Name: "chairs accepted and lost", Want: by("chair-missing"), Spoil: plain(arenatest.When("", "POST", "/api/chair", arenatest.Instead(201, "", "")))},
	{Name: "only the first of the estates stored", Want: by("estate-missing"),
		Spoil: plain(arenatest.When("", "POST", "/api/estate", arenatest.Before(func(x *arenatest.Exchange) {
			if first := bytes.Index(x.Body, fmt.Appendf(nil, "\n%d,", suiteSize.initial+2)); first > 0 {
				x.Body = append(bytes.Clone(x.Body[:first+1]), x.Body[bytes.LastIndex(x.Body, []byte("\r\n--")):]...)
			}
		})))},
	{Name: "post answered with 200", Want: on(iikanji.FaultStatus, onChairPost),
		Spoil: plain(arenatest.When("", "POST", "/api/chair", arenatest.After(201, func(x *arenatest.Exchange) { x.Status = 200 })))},
	{Name: "rows that are there before", Want: by("estate-early"),
		Spoil: plain(arenatest.When("prepare", "GET", "/api/estate/*", arenatest.After(404, func(x *arenatest.Exchange) {
			if x.Path != "/api/estate/0" {
				x.Give(200, "application/json", "{}")
			}
		})))},
	{Name: "purchase without effect", Want: by("chair-not-gone"),
		Spoil: plain(acknowledged)},
	{Name: "purchase refused", Want: by("buy-refused"),
		Spoil: plain(arenatest.When("", "POST", "/api/chair/buy/*", arenatest.After(200, func(x *arenatest.Exchange) { x.Give(404, "", "") })))},
	{Name: "documents not there", Want: on(iikanji.FaultStatus, onDocument),
		Spoil: plain(arenatest.When("", "POST", "/api/estate/req_doc/*", arenatest.After(200, func(x *arenatest.Exchange) { x.Give(404, "", "") })))},
	{Name: "sold-out chair in a cached page", Want: by("chair-not-gone"), Spoil: cachedDetail},
}

// notInitialized leaves rows in the target that a former run posted.
func notInitialized() arenatest.Hook {
	w := newWorld(generate(suiteSize), chairConditions(), estateConditions())
	body, contentType, err := w.estateBatch(generate(suiteSize).VerifyEstates).form()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return arenatest.When("", "POST", "/initialize", arenatest.After(200, func(x *arenatest.Exchange) {
		reply := x.Reply
		x.Send("POST", "/api/estate", contentType, body)
		x.Give(200, "application/json", string(reply))
	}))
}

// cachedDetail is a cache of the details of chairs that no purchase empties.
func cachedDetail() arenatest.Hook {
	var cache sync.Map
	return singles("/api/chair/", func(x *arenatest.Exchange, forward func()) {
		if had, ok := cache.Load(x.Path); ok {
			was := had.(arenatest.Exchange)
			x.Status, x.Answer, x.Reply = was.Status, was.Answer, was.Reply
			return
		}
		if forward(); x.Status == http.StatusOK {
			cache.Store(x.Path, *x)
		}
	})
}

// loaded changes the rows of a list under load only.
func loaded(method, pattern, field string, change func(rows []object) []object) func() arenatest.Hook {
	return plain(arenatest.When("load", method, pattern, arenatest.After(200, arenatest.JSON(
		func(_ *arenatest.Exchange, o object) object { o[field] = change(objects(o, field)); return o }))))
}

// loadedSingle changes the answers about one row under load only.
func loadedSingle(prefix string, change func(x *arenatest.Exchange)) arenatest.Hook {
	return singles(prefix, arenatest.After(200, func(x *arenatest.Exchange) {
		if x.Phase == "load" {
			change(x)
		}
	}))
}

// loadFaults appear under load only.
var loadFaults = []arenatest.Fault{
	{Name: "load: pages of the first search", UnderLoad: true, Set: searching, Want: by("chair-search-match", "chair-search-rows"),
		Also: by("chair-search-count", "chair-sold-out"), Spoil: cachedWithoutQuery("load")},
	{Name: "load: a chair left out", UnderLoad: true, Set: searching, Want: by("chair-search-rows"),
		Spoil: loaded("GET", "/api/chair/search", "chairs", func(rows []object) []object {
			if len(rows) > 2 {
				rows = append(rows[:1], rows[2:]...)
			}
			return rows
		})},
	{Name: "load: estates in the wrong order", UnderLoad: true, Set: searching, Want: by("estate-search-order"),
		Spoil: loaded("GET", "/api/estate/search", "estates", reversed)},
	{Name: "load: the cheapest estate left out", UnderLoad: true, Set: searching, Want: by("estate-low-rows"),
		Spoil: loaded("GET", "/api/estate/low_priced", "estates", func(rows []object) []object { return rows[1:] })},
	{Name: "load: sold-out chair among the low-priced", UnderLoad: true, Set: searching, Want: by("chair-sold-out"), Spoil: soldCheap},
	{Name: "load: purchases that do not happen", UnderLoad: true, Set: searching, Want: by("chair-sold-out", "buy-oversold"),
		Spoil: plain(arenatest.When("load", "POST", "/api/chair/buy/*", arenatest.Instead(200, "", "")))},
	{Name: "load: purchases refused", UnderLoad: true, Set: searching, Want: by("buy-refused"),
		Spoil: plain(arenatest.When("load", "POST", "/api/chair/buy/*", arenatest.Instead(404, "", "")))},
	{Name: "load: estate gone", UnderLoad: true, Set: searching, Want: by("estate-missing"),
		Spoil: plain(loadedSingle("/api/estate/", func(x *arenatest.Exchange) {
			x.Give(404, "", "")
		}))},
	{Name: "load: 500", UnderLoad: true, Set: searching, Want: on(iikanji.FaultStatus, onChair),
		Spoil: plain(loadedSingle("/api/chair/", func(x *arenatest.Exchange) {
			x.Give(500, "", "")
		}))},
	{Name: "load: estates without a door", UnderLoad: true, Set: searching, Want: by("recommended-match", "recommended-rows"), Spoil: sameRecommendation},
	{Name: "load: estates outside of the polygon", UnderLoad: true, Set: mapping, Want: by("nazotte-match"),
		Also: by("nazotte-rows"), Spoil: otherPolygon},
	{Name: "load: posted rows late", UnderLoad: true, Set: posting, Want: by("chair-missing"), Spoil: latePosts},
	{Name: "load: post of 6 s", UnderLoad: true, Set: posting, Want: on(iikanji.FaultTimeout, onChairPost),
		Spoil: plain(arenatest.When("load", "POST", "/api/chair", func(x *arenatest.Exchange, _ func()) {
			time.Sleep(6 * time.Second)
			x.Give(201, "", "") // without the app, which would store the rows in the next run's tables
		}))},
	{Name: "load: people taken for bots", UnderLoad: true, Set: posting,
		Want: append(on(iikanji.FaultStatus, onChair), on(iikanji.FaultStatus, onEstate)...),
		Spoil: plain(func(x *arenatest.Exchange, forward func()) {
			if x.Phase == "load" && strings.HasPrefix(x.Header.Get("User-Agent"), "ISUCON") {
				x.Give(503, "", "")
				return
			}
			forward()
		})},
}

// cachedWithoutQuery is a cache whose key lacks the query.
func cachedWithoutQuery(phase scenario.Phase) func() arenatest.Hook {
	return func() arenatest.Hook {
		var mu sync.Mutex
		var first *arenatest.Exchange
		return arenatest.When(phase, "GET", "/api/chair/search", func(x *arenatest.Exchange, forward func()) {
			mu.Lock()
			defer mu.Unlock()
			if first != nil {
				x.Status, x.Answer, x.Reply = first.Status, first.Answer, first.Reply
				return
			}
			if forward(); x.Status == http.StatusOK {
				was := *x
				first = &was
			}
		})
	}
}

// soldCheap keeps the chair that the verification sold out in the low-priced
// list.
func soldCheap() arenatest.Hook {
	var details sync.Map
	var mu sync.Mutex
	var sold []byte
	return func(x *arenatest.Exchange, forward func()) {
		forward()
		mu.Lock()
		defer mu.Unlock()
		switch {
		case x.Phase != "load" && single(x, "/api/chair/") && x.Status == 200:
			details.Store(x.Path, x.Reply)
		case x.Phase != "load" && x.Is("POST", "/api/chair/buy/*") && x.Status == 200:
			if detail, ok := details.Load(strings.Replace(x.Path, "/buy", "", 1)); ok {
				sold = bytes.TrimSpace(detail.([]byte))
			}
		case x.Phase == "load" && x.Is("GET", "/api/chair/low_priced") && sold != nil:
			x.Reply = bytes.Replace(x.Reply, []byte("]"), append([]byte(","), append(bytes.Clone(sold), ']')...), 1)
		}
	}
}

// sameRecommendation is a cache that holds one recommendation for all chairs.
func sameRecommendation() arenatest.Hook {
	var mu sync.Mutex
	var first []byte
	return arenatest.When("load", "GET", "/api/recommended_estate/*", arenatest.After(200, func(x *arenatest.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = bytes.Clone(x.Reply)
		}
		x.Reply = first
	}))
}

// otherPolygon answers every polygon with the first that was not empty.
func otherPolygon() arenatest.Hook {
	var mu sync.Mutex
	var first object
	return arenatest.When("load", "POST", "/api/estate/nazotte", arenatest.After(200, arenatest.JSON(
		func(_ *arenatest.Exchange, o object) object {
			mu.Lock()
			defer mu.Unlock()
			if first == nil && len(objects(o, "estates")) > 0 {
				first = o
			}
			if first != nil {
				return first
			}
			return o
		})))
}

// latePosts hides the rows that were posted under load.
func latePosts() arenatest.Hook {
	posted := fmt.Sprint(suiteSize.initial + suiteSize.verify)
	return loadedSingle("/api/chair/", func(x *arenatest.Exchange) {
		if id := strings.TrimPrefix(x.Path, "/api/chair/"); len(id) >= len(posted) && id > posted {
			x.Give(404, "", "")
		}
	})
}
