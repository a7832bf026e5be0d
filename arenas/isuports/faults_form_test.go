package isuports

import (
	"bytes"
	"net/http"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// formFaults are answers of a wrong form, caught before any load.
var formFaults = []arenatest.Fault{
	{Name: "page altered", Want: by("asset-crc"), Spoil: plain(arenatest.When("", "GET", "/", arenatest.After(200, func(x *arenatest.Exchange) {
		x.Reply = append(bytes.Clone(x.Reply), '\n')
	})))},
	{Name: "no page for a path of the page", Want: on(iikanji.FaultStatus, stepStatic),
		Spoil: plain(arenatest.When("", "GET", "/competitions", arenatest.Instead(404, "text/html", "not found")))},
	{Name: "no language after initialize", Want: by("initialize-lang"), Spoil: data("POST", "/initialize", func(d object) { d["lang"] = "" })},
	{Name: "initialize leaves a tenant", Want: by("tenants-page"), Spoil: leftover},
	{Name: "ranking for shared caches", Want: by("cache-control"),
		Spoil: plain(arenatest.When("", "GET", atRanking, arenatest.After(200, func(x *arenatest.Exchange) { x.Answer.Set("Cache-Control", "max-age=10") })))},
	{Name: "refusal for shared caches", Want: by("cache-control"),
		Spoil: plain(arenatest.When("", "GET", atDetail, arenatest.After(404, func(x *arenatest.Exchange) { x.Answer.Del("Cache-Control") })))},
	{Name: "wrong content type", Want: on(iikanji.FaultContentType, stepPlayers),
		Spoil: plain(arenatest.When("", "GET", atPlayers, arenatest.After(200, func(x *arenatest.Exchange) { x.Answer.Set("Content-Type", "text/plain") })))},
	{Name: "broken JSON", Want: on(iikanji.FaultBody, stepCompetitions),
		Spoil: plain(arenatest.When("", "GET", atHeld, arenatest.After(200, func(x *arenatest.Exchange) { x.Reply = bytes.TrimRight(x.Reply, "}\n") })))},
	{Name: "answer cut off", Want: on(iikanji.FaultClosed, stepRanking),
		Spoil: plain(arenatest.When("", "GET", atRanking, arenatest.After(200, func(x *arenatest.Exchange) { x.Cut = 50 })))},
	{Name: "status false with data", Want: by("envelope"),
		Spoil: plain(arenatest.When("", "GET", atBilling, arenatest.After(200, arenatest.JSON(
			func(_ *arenatest.Exchange, o object) object { o["status"] = false; return o }))))},
	{Name: "500 without a reason", Want: on(iikanji.FaultStatus, stepMe), Spoil: instead("GET", "/api/me", 200, 500)},
	{Name: "nobody is logged in", Want: by("me"), Spoil: data("GET", "/api/me", func(d object) { d["logged_in"] = false })},
}

// leftover adds a tenant after each initialize, as if an earlier run had left it.
func leftover() arenatest.Hook {
	return arenatest.When("", "POST", "/initialize", func(x *arenatest.Exchange, forward func()) {
		forward()
		status, answer, reply := x.Status, x.Answer, x.Reply
		key, err := signingKey()
		if err != nil {
			panic("BUG: " + err.Error())
		}
		token, err := claimsOf(roleAdmin, roleAdmin, adminTenant, time.Now()).signed(key)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		x.Path, x.Body = atTenantAdd, []byte("name=leftover&display_name=leftover")
		x.Header = http.Header{"Cookie": {sessionCookie + "=" + token}, "Content-Type": {formType}}
		forward()
		x.Status, x.Answer, x.Reply = status, answer, reply
	})
}
