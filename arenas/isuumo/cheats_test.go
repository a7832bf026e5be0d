package isuumo

import (
	"bytes"
	"net/url"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// cheats make the app faster and wrong. A search that tries them must undo them.
var cheats = []arenatest.Fault{
	{Name: "purchases that are only acknowledged", Want: by("chair-not-gone"), Spoil: plain(acknowledged)},
	{Name: "only the first page is computed", Want: by("chair-search-rows"), Spoil: changedQuery("/api/chair/search", func(q url.Values) {
		if q.Get("page") == "1" {
			q.Set("page", "0")
		}
	})},
	{Name: "a cache that ignores the query", Want: by("chair-search-match", "chair-search-rows"), Spoil: cachedWithoutQuery("")},
}

// acknowledged answers purchases without the app. The purchases that must be
// refused still are.
func acknowledged(x *arenatest.Exchange, forward func()) {
	if x.Is("POST", "/api/chair/buy/*") && x.Path != "/api/chair/buy/0" && bytes.Contains(x.Body, []byte("email")) {
		x.Give(200, "", "")
		return
	}
	forward()
}
