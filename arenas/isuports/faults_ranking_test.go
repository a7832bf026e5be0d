package isuports

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// rankingFaults are wrong rankings and uploads, caught before any load.
var rankingFaults = []arenatest.Fault{
	{Name: "more than 100 ranks", Want: by("ranking-limit"), Spoil: plain(unlimited)},
	{Name: "rank_after ignored", Want: by("ranking-ranks"), Spoil: query(func(q url.Values) { q.Del("rank_after") })},
	{Name: "rank_after inclusive", Want: by("ranking-ranks"), Spoil: query(func(q url.Values) {
		if n, err := strconv.Atoi(q.Get("rank_after")); err == nil {
			q.Set("rank_after", strconv.Itoa(n-1))
		}
	})},
	{Name: "equal scores share a rank", Want: by("ranking-ranks"), Spoil: list(atRanking, "ranks", shareRanks)},
	{Name: "ties by player", Want: by("ranking-ties"), Spoil: list(atRanking, "ranks", tiesByPlayer)},
	{Name: "ranking without names", Want: by("ranking-names"), Spoil: each(atRanking, "ranks", func(o object) { o["player_display_name"] = "" })},
	{Name: "worst score first", Want: by("ranking-order"), Spoil: list(atRanking, "ranks", func(v []any) []any {
		for i, j := 0, len(v)-1; i < j; i, j = i+1, j-1 {
			a, b := v[i].(object), v[j].(object)
			a["rank"], b["rank"] = b["rank"], a["rank"]
			v[i], v[j] = b, a
		}
		return v
	})},
	// Without its only rank, a ranking is the one before the first upload.
	{Name: "last rank left out", Want: by("ranking-length", "ranking-torn", "ranking-stale"), Spoil: list(atRanking, "ranks", func(v []any) []any { return v[:max(len(v)-1, 0)] })},
	{Name: "first row of a player counts", Want: by("ranking-score"), Spoil: plain(arenatest.When("", "POST", atScore, arenatest.Before(firstRows)))},
	{Name: "rows without repeated players", Want: by("rows"), Spoil: plain(arenatest.When("", "POST", atScore, arenatest.After(200, countPlayers)))},
	{Name: "ranking of a second ago", Want: by("ranking-stale", "competition-finished", "ranking-ranks"), Spoil: kept(atRanking, time.Second)},
	{Name: "half a ranking during an upload", Want: by("ranking-torn"), Spoil: torn},
	{Name: "refused upload stored", Want: by("ranking-score"), Spoil: plain(arenatest.When("", "POST", atScore, storeRefused))},
}

// query changes the parameters of requests for a ranking.
func query(change func(q url.Values)) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", atRanking, arenatest.Before(func(x *arenatest.Exchange) {
		if q, err := url.ParseQuery(x.Query); err == nil {
			change(q)
			x.Query = q.Encode()
		}
	})))
}

// unlimited appends the next rank to a full page.
var unlimited = arenatest.When("", "GET", atRanking, arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
	d := o["data"].(object)
	if v, ok := d["ranks"].([]any); ok && len(v) == rankingLimit {
		last := v[rankingLimit-1].(object)
		d["ranks"] = append(v, object{"rank": last["rank"].(float64) + 1, "score": last["score"], "player_id": "x", "player_display_name": "x"})
	}
	return o
})))

// shareRanks gives equal scores the rank of the first of them.
func shareRanks(v []any) []any {
	for i := 1; i < len(v); i++ {
		if a, b := v[i-1].(object), v[i].(object); a["score"] == b["score"] {
			b["rank"] = a["rank"]
		}
	}
	return v
}

// tiesByPlayer orders equal scores by the ids of their players.
func tiesByPlayer(v []any) []any {
	if len(v) == 0 {
		return v
	}
	first := v[0].(object)["rank"].(float64)
	slices.SortStableFunc(v, func(a, b any) int {
		x, y := a.(object), b.(object)
		return cmp.Or(cmp.Compare(y["score"].(float64), x["score"].(float64)), cmp.Compare(x["player_id"].(string), y["player_id"].(string)))
	})
	for i := range v {
		v[i].(object)["rank"] = first + float64(i)
	}
	return v
}

// csvLines calls change with the data rows of an uploaded CSV.
func csvLines(body []byte, change func(rows [][]string)) []byte {
	const header = "player_id,score\n"
	text := string(body)
	begin := strings.Index(text, header)
	if begin < 0 {
		return body
	}
	begin += len(header)
	end := begin + strings.Index(text[begin:], "\r\n--")
	lines := strings.SplitAfter(text[begin:end], "\n")
	rows := make([][]string, len(lines)-1)
	for i := range rows {
		rows[i] = strings.SplitN(strings.TrimSuffix(lines[i], "\n"), ",", 2)
	}
	change(rows)
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return []byte(text[:begin] + b.String() + lines[len(lines)-1] + text[end:])
}

// firstRows gives every row of a player the score of its first row.
func firstRows(x *arenatest.Exchange) {
	x.Body = csvLines(x.Body, func(rows [][]string) {
		first := map[string]string{}
		for _, row := range rows {
			if _, err := strconv.Atoi(row[1]); err != nil {
				continue // refused by the app
			}
			if score, seen := first[row[0]]; seen {
				row[1] = score
			} else {
				first[row[0]] = row[1]
			}
		}
	})
}

// countPlayers counts the players of an upload instead of its rows.
func countPlayers(x *arenatest.Exchange) {
	players := map[string]bool{}
	csvLines(x.Body, func(rows [][]string) {
		for _, row := range rows {
			players[row[0]] = true
		}
	})
	arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
		o["data"].(object)["rows"] = len(players)
		return o
	})(x)
}

// storeRefused stores the first row of an upload that it then refuses.
func storeRefused(x *arenatest.Exchange, forward func()) {
	if forward(); x.Status != 400 {
		return
	}
	status, answer, reply := x.Status, x.Answer, x.Reply
	x.Body = []byte(strings.Replace(string(x.Body), noID+",1\n", "", 1))
	forward()
	x.Status, x.Answer, x.Reply = status, answer, reply
}

// kept keeps answers to each session and path for a while.
func kept(pattern string, life time.Duration) func() arenatest.Hook {
	return func() arenatest.Hook { return keeping("", pattern, life) }
}

func keeping(phase scenario.Phase, pattern string, life time.Duration) arenatest.Hook {
	type entry struct {
		x  arenatest.Exchange
		at time.Time
	}
	var cache sync.Map
	return arenatest.When(phase, "GET", pattern, func(x *arenatest.Exchange, forward func()) {
		key := x.Host + x.Path + "?" + x.Query + x.Header.Get("Cookie")
		if had, ok := cache.Load(key); ok && time.Since(had.(entry).at) < life {
			was := had.(entry).x
			x.Status, x.Answer, x.Reply = was.Status, was.Answer, was.Reply
			return
		}
		if forward(); x.Status == 200 {
			cache.Store(key, entry{*x, time.Now()})
		}
	})
}

// torn shows half of a ranking while its scores are uploaded again. The uploads
// take longer, so that a reader meets one.
func torn() arenatest.Hook {
	var uploads sync.Map // of competitions under upload
	return func(x *arenatest.Exchange, forward func()) {
		switch {
		case x.Is("POST", atScore):
			id := strings.Split(x.Path, "/")[4]
			uploads.Store(id, true)
			time.Sleep(200 * time.Millisecond)
			forward()
			uploads.Delete(id)
		case x.Is("GET", atRanking):
			forward()
			if _, busy := uploads.Load(strings.Split(x.Path, "/")[4]); busy && x.Status == 200 {
				arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
					d := o["data"].(object)
					v := d["ranks"].([]any)
					d["ranks"] = v[:len(v)/2]
					return o
				})(x)
			}
		default:
			forward()
		}
	}
}
