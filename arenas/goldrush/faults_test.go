package goldrush

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// by makes the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

const jsonType = "application/json"

// on plants a fault into the exchanges of an operation whose request has a text.
func on(method, path, text string, hook arenatest.Hook) func() arenatest.Hook {
	return func() arenatest.Hook {
		return arenatest.When("", method, path, func(x *arenatest.Exchange, forward func()) {
			if !strings.Contains(string(x.Body), text) {
				forward()
				return
			}
			hook(x, forward)
		})
	}
}

// swapped replaces a text in the answers of an operation.
func swapped(method, path, text, old, instead string) func() arenatest.Hook {
	return on(method, path, text, func(x *arenatest.Exchange, forward func()) {
		forward()
		x.Reply = bytes.ReplaceAll(x.Reply, []byte(old), []byte(instead))
	})
}

// given gives another answer for those of a status.
func given(method, path, text string, was, status int, body string) func() arenatest.Hook {
	return on(method, path, text, arenatest.After(was, func(x *arenatest.Exchange) { x.Give(status, jsonType, body) }))
}

// refusal is the body of a refusal with a code.
func refusal(code string) string { return `{"code":` + code + `,"message":"planted"}` }

// counted gives another answer for the nth exchange of an operation.
func counted(method, path string, nth int64, status int, body string) func() arenatest.Hook {
	return func() arenatest.Hook {
		var n atomic.Int64
		return arenatest.When("", method, path, func(x *arenatest.Exchange, forward func()) {
			forward()
			if n.Add(1) == nth {
				x.Give(status, jsonType, body)
			}
		})
	}
}

const (
	anyBody   = ""
	wholeBody = `"sizeX":3500`
	cellBody  = `"posX":1247`
	deepBody  = `"posX":1350`
)

// faults are planted into the answers of the server, which is the fixed side.
var faults = slices.Concat(worldFaults, licenseFaults, digFaults, coinFaults, requestFaults, busyFaults)

var worldFaults = []arenatest.Fault{
	{Name: "health is no JSON", Want: by("health"), Spoil: given("GET", "/health-check", anyBody, 200, 200, "OK")},
	{Name: "duplicates are drawn again", Want: by("golden-field"), Spoil: swapped("POST", "/explore", wholeBody, "489087", "490000")},
	{Name: "area is not in the answer", Want: by("golden-field"), Spoil: swapped("POST", "/explore", wholeBody, `"sizeX":3500`, `"sizeX":1`)},
	{Name: "x and y are exchanged", Want: by("golden-cell"), Spoil: swapped("POST", "/explore", cellBody, `"amount":1`, `"amount":0`)},
	{Name: "exploring costs no ticks", Want: by("explore-ticks"), Spoil: on("POST", "/explore", wholeBody,
		arenatest.Instead(200, jsonType, `{"area":{"posX":0,"posY":0,"sizeX":3500,"sizeY":3500},"amount":489087}`))},
	{Name: "dug treasures still count", Want: by("explore-dug"), Spoil: func() arenatest.Hook {
		var n atomic.Int64
		return on("POST", "/explore", cellBody, func(x *arenatest.Exchange, forward func()) {
			forward()
			if n.Add(1) == 2 {
				x.Reply = bytes.Replace(x.Reply, []byte(`"amount":0`), []byte(`"amount":1`), 1)
			}
		})()
	}},
}

var licenseFaults = []arenatest.Fault{
	{Name: "free licences never fail", Want: by("license-fails"), Spoil: counted("POST", "/licenses", 1, 200, `{"id":0,"digAllowed":3,"digUsed":0}`)},
	{Name: "free licences have 5 digs", Want: by("golden-license"), Spoil: swapped("POST", "/licenses", "[]", `"digAllowed":3`, `"digAllowed":5`)},
	{Name: "list without the digs that were used", Want: by("license-list"), Spoil: swapped("GET", "/licenses", anyBody, `"digUsed":1`, `"digUsed":0`)},
	{Name: "one coin buys 3 digs", Want: by("license-paid"), Spoil: swapped("POST", "/licenses", "[0]", `"digAllowed":5`, `"digAllowed":3`)},
	{Name: "eleven licences", Want: by("licenses-full"), Spoil: given("POST", "/licenses", "[]", 409, 200, `{"id":99,"digAllowed":3,"digUsed":0}`)},
	{Name: "licence service fails by 500", Want: by("license-fails"), Spoil: given("POST", "/licenses", "[]", 502, 500, refusal("500"))},
	{Name: "timeouts come at once", Want: by("license-timeout"), Spoil: func() arenatest.Hook {
		var unlucky atomic.Bool // the game after that of the crowd
		return func(x *arenatest.Exchange, forward func()) {
			if x.Path == "/licenses" && unlucky.Load() {
				x.Give(504, jsonType, refusal("504"))
				return
			}
			forward()
			unlucky.Store(unlucky.Load() || x.Path == "/cash" && x.Status == 503 && strings.Contains(string(x.Body), `"treasure"`))
		}
	}},
}

var digFaults = []arenatest.Fault{
	{Name: "golden treasure is not there", Want: by("golden-dig"), Spoil: given("POST", "/dig", cellBody, 200, 404, refusal("404"))},
	{Name: "two treasures in one dig", Want: by("golden-dig"), Spoil: swapped("POST", "/dig", cellBody, `["`, `["x","`)},
	{Name: "depth is not checked", Want: by("dig-depth"), Spoil: swapped("POST", "/dig", cellBody, `"code":1001`, `"code":1000`)},
	{Name: "failed digs are not charged", Want: by("dig-charged"), Spoil: given("POST", "/dig", cellBody, 403, 404, refusal("404"))},
	{Name: "any licence may dig", Want: by("dig-license"), Spoil: given("POST", "/dig", "999", 403, 404, refusal("404"))},
	{Name: "empty dig is a success", Want: by("dig-nothing"), Spoil: given("POST", "/dig", deepBody, 404, 200, "[]")},
	{Name: "empty dig does not dig", Want: by("dig-advances"), Spoil: given("POST", "/dig", `"depth":2`, 404, 422, refusal("1001"))},
}

var coinFaults = []arenatest.Fault{
	{Name: "payout is another one", Want: by("golden-cash"), Spoil: given("POST", "/cash", anyBody, 200, 200, "[0,1,2,3]")},
	{Name: "cashing costs no ticks", Want: by("cash-ticks"), Spoil: func() arenatest.Hook {
		var cashed atomic.Int64
		return arenatest.When("", "POST", "/cash", func(x *arenatest.Exchange, forward func()) {
			if cashed.Load() > 1 {
				x.Give(404, jsonType, refusal("404"))
				return
			}
			if forward(); x.Status != 503 {
				cashed.Add(1)
			}
		})
	}},
	{Name: "treasure is cashed twice", Want: by("cash-again"), Spoil: given("POST", "/cash", anyBody, 404, 200, "[3,4,5]")},
	{Name: "balance without coins", Want: by("balance"), Spoil: swapped("GET", "/balance", anyBody, `[2,1,0]`, `[]`)},
	{Name: "coin is spent twice", Want: by("coin-spent"), Spoil: counted("POST", "/licenses", 4, 200, `{"id":2,"digAllowed":5,"digUsed":0}`)},
	{Name: "unknown coins are coins", Want: by("coin-unknown"), Spoil: given("POST", "/licenses", "999999", 402, 200, `{"id":3,"digAllowed":5,"digUsed":0}`)},
	{Name: "failed purchase takes coins", Want: by("coins-rollback"), Spoil: swapped("GET", "/balance", anyBody, `{"balance":2,"wallet":[2,1]}`, `{"balance":1,"wallet":[2]}`)},
	{Name: "failed purchase takes no id", Want: by("license-id"), Spoil: swapped("POST", "/licenses", "[1]", `"id":5`, `"id":2`)},
	{Name: "unreadable treasure is not found", Want: by("cash-unreadable"), Spoil: given("POST", "/cash", "treasure", 500, 404, refusal("404"))},
	{Name: "cash never fails by chance", Want: by("cash-chance"), Spoil: given("POST", "/cash", "treasure", 503, 500, refusal("500"))},
}

var requestFaults = []arenatest.Fault{
	{Name: "unknown fields pass", Want: by("json-field"), Spoil: given("POST", "/explore", "other", 400, 422, refusal("1000"))},
	{Name: "any type of content", Want: by("content-type"), Spoil: func() arenatest.Hook {
		return arenatest.When("", "POST", "/explore", arenatest.After(http.StatusUnsupportedMediaType, func(x *arenatest.Exchange) { x.Give(200, jsonType, "{}") }))
	}},
	{Name: "missing field is 0", Want: by("field-missing"), Spoil: swapped("POST", "/explore", `{"posX":1}`, `"code":602`, `"code":1000`)},
	{Name: "negative is outside", Want: by("field-negative"), Spoil: swapped("POST", "/explore", "-1", `"code":609`, `"code":1000`)},
	{Name: "areas are cut at the edge", Want: by("explore-outside"), Spoil: given("POST", "/explore", "3499", 422, 200, "{}")},
	{Name: "depth 101 is outside", Want: by("depth-most"), Spoil: swapped("POST", "/dig", "101", `"code":608`, `"code":1000`)},
	{Name: "coins twice", Want: by("coins-twice"), Spoil: given("POST", "/licenses", "[2,2]", 422, 402, refusal("402"))},
	{Name: "too many coins", Want: by("coins-many"), Spoil: given("POST", "/licenses", "7,7,7", 422, 402, refusal("402"))},
	{Name: "refusal without a message", Want: by("json-malformed"), Spoil: swapped("POST", "/explore", "{", `"message":`, `"text":`)},
}

var busyFaults = []arenatest.Fault{
	{Name: "no request takes too long", Want: by("explore-busy"), Spoil: func() arenatest.Hook {
		return arenatest.When("", "POST", "/explore", arenatest.After(503, func(x *arenatest.Exchange) {
			x.Give(200, jsonType, `{"area":{"posX":0,"posY":0,"sizeX":3500,"sizeY":3500},"amount":489086}`)
		}))
	}},
	{Name: "no limit of requests", Want: by("rate-limit"), Spoil: func() arenatest.Hook {
		return arenatest.When("", "GET", "/balance", func(x *arenatest.Exchange, forward func()) {
			if forward(); x.Status == 429 {
				x.Give(200, jsonType, `{"balance":1,"wallet":[2]}`)
			}
			time.Sleep(time.Millisecond)
		})
	}},
	{Name: "limit by another status", Want: by("rate-limit"), Spoil: given("GET", "/balance", anyBody, 429, 503, refusal("503"))},
}
