package isuports

import (
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// refusalFaults accept or refuse requests in the wrong way, caught before any load.
var refusalFaults = []arenatest.Fault{
	{Name: "duplicate tenant accepted", Want: by("tenant-duplicate"), Spoil: instead("POST", atTenantAdd, 400, 200)},
	{Name: "tenant name in capitals accepted", Want: by("tenant-name"),
		Spoil: plain(arenatest.When("", "POST", atTenantAdd, arenatest.After(400, func(x *arenatest.Exchange) {
			if strings.Contains(string(x.Body), "Upper") {
				say(x, 200, accepted)
			}
		})))},
	{Name: "bad parameter of the admin's billing ignored", Want: by("before"), Spoil: instead("GET", atTenants, 400, 200)},
	{Name: "admin's API on the hosts of tenants", Want: by("admin-host"), Spoil: instead("GET", atTenants, 404, 403)},
	{Name: "unknown player answered with 400", Want: by("player-unknown"), Spoil: instead("GET", atDetail, 404, 400)},
	{Name: "unknown player disqualified", Want: by("player-unknown"), Spoil: instead("POST", "/api/organizer/player/*/disqualified", 404, 200)},
	{Name: "unknown competition answered with 500", Want: by("competition-unknown"), Spoil: instead("GET", atRanking, 404, 500)},
	{Name: "unknown competition finished", Want: by("competition-unknown"), Spoil: instead("POST", atFinish, 404, 200)},
	{Name: "CSV of unknown players accepted", Want: by("csv-player"), Spoil: csvAccepted(noID)},
	{Name: "CSV with swapped columns accepted", Want: by("csv-header"), Spoil: csvAccepted("score,player_id")},
	{Name: "CSV with words as scores accepted", Want: by("csv-score"), Spoil: csvAccepted(",many")},
	{Name: "upload after the end accepted", Want: by("csv-finished"),
		Spoil: plain(arenatest.When("", "POST", atScore, arenatest.After(400, func(x *arenatest.Exchange) {
			if strings.Contains(string(x.Reply), "finished") {
				say(x, 200, `{"status":true,"data":{"rows":1}}`)
			}
		})))},
	{Name: "players may do what organizers may", Want: by("role"), Spoil: instead("GET", atBilling, 403, 200)},
	{Name: "disqualified players may read", Want: by("disqualified"),
		Spoil: plain(arenatest.When("", "GET", atPlayerLists, arenatest.After(403, func(x *arenatest.Exchange) {
			if _, claims := tokenOf(x); claims["role"] == rolePlayer {
				say(x, 200, accepted)
			}
		})))},
	{Name: "expired sessions accepted", Want: by("token-expired"), Spoil: sessions(func(_ *arenatest.Exchange, _, claims object) bool {
		exp, ok := claims["exp"].(float64)
		return ok && int64(exp) < time.Now().Unix()
	})},
	{Name: "other signatures accepted", Want: by("token-algorithm"),
		Spoil: sessions(func(_ *arenatest.Exchange, header, _ object) bool { return header["alg"] != "RS256" })},
	{Name: "every signature accepted", Want: by("token-key", "token-algorithm"),
		Spoil: sessions(func(_ *arenatest.Exchange, header, claims object) bool {
			return claims["role"] == roleOrganizer && claims["exp"].(float64) > float64(time.Now().Unix())
		})},
	{Name: "sessions of other tenants accepted", Want: by("token-tenant"), Spoil: sessions(func(x *arenatest.Exchange, _, claims object) bool {
		aud, ok := claims["aud"].([]any)
		return ok && len(aud) == 1 && !strings.HasPrefix(x.Host, aud[0].(string)+".")
	})},
	{Name: "unknown tenant answered with 404", Want: by("tenant-unknown"),
		Spoil: plain(arenatest.When("", "GET", atPlayers, arenatest.After(401, func(x *arenatest.Exchange) {
			if strings.HasPrefix(x.Host, "no-such") {
				say(x, 404, refused)
			}
		})))},
	{Name: "refusal with status true", Want: by("envelope"),
		Spoil: plain(arenatest.When("", "GET", atPlayers, arenatest.After(403, func(x *arenatest.Exchange) { say(x, 403, accepted) })))},
}

// csvAccepted accepts uploads with a text that the app refuses.
func csvAccepted(text string) func() arenatest.Hook {
	return plain(arenatest.When("", "POST", atScore, arenatest.After(400, func(x *arenatest.Exchange) {
		if strings.Contains(string(x.Body), text) {
			say(x, 200, `{"status":true,"data":{"rows":2}}`)
		}
	})))
}
