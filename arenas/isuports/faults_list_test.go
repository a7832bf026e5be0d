package isuports

import "github.com/iikanji/iikanji/internal/contest/arena/arenatest"

// listFaults are wrong lists and pages of players and competitions, caught before
// any load.
var listFaults = []arenatest.Fault{
	{Name: "players in the wrong order", Want: by("players-order"), Spoil: list(atPlayers, "players", reversed)},
	{Name: "player missing in the list", Want: by("players-list"), Spoil: list(atPlayers, "players", func(v []any) []any { return v[1:] })},
	{Name: "added players in another order", Want: by("players-added"), Spoil: data("POST", atPlayersAdd, func(d object) { reversed(d["players"].([]any)) })},
	{Name: "two players with one id", Want: by("id-unique"), Spoil: data("POST", atPlayersAdd, func(d object) {
		if v := d["players"].([]any); len(v) > 1 {
			v[1].(object)["id"] = v[0].(object)["id"]
		}
	})},
	{Name: "competitions in the wrong order", Want: by("competitions-order"), Spoil: list(atHeld, "competitions", reversed)},
	{Name: "finished competition shown as open", Want: by("competition-finished"),
		Spoil: each(atPlayerLists, "competitions", func(o object) { o["is_finished"] = false })},
	{Name: "competition missing in the list", Want: by("competitions"), Spoil: list(atHeld, "competitions", func(v []any) []any { return v[1:] })},
	{Name: "score missing on a player's page", Want: by("player-scores"), Spoil: list(atDetail, "scores", func(v []any) []any { return v[:max(len(v)-1, 0)] })},
	{Name: "scores of a player in the wrong order", Want: by("player-scores"), Spoil: list(atDetail, "scores", reversed)},
	{Name: "page of another player", Want: by("player-name"), Spoil: data("GET", atDetail, func(d object) { d["player"].(object)["display_name"] = "other" })},
	{Name: "disqualification not shown", Want: by("disqualified-shown"),
		Spoil: data("GET", atDetail, func(d object) { d["player"].(object)["is_disqualified"] = false })},
}
