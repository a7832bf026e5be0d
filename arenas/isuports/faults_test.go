package isuports

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ease makes the app fast enough for many runs: ids come from memory, MariaDB prepares no
// statements, SQLite does not wait for the disk and writes no trace, the rows of an upload
// and players that are added are one transaction, and the players of a tenant are read at
// once.
var ease = []arenatest.Edit{
	{File: "go/admin.go", Old: `	"strconv"` + "\n", New: `	"strconv"` + "\n\t" + `"sync/atomic"` + "\n"},
	{File: "go/admin.go", Old: "(string, error) {\n	var last error\n", New: "(string, error) {\n" +
		"	if id := easeID.Add(1); id > 0 {\n		return strconv.FormatInt(1<<40+id, 16), nil\n	}\n	var last error\n"},
	{File: "go/admin.go", Old: "type tenantWithBilling struct {", New: "var easeID atomic.Int64\n\ntype tenantWithBilling struct {"},
	arenatest.Interpolate(),
	{File: "go/tenantdb.go", Old: "&_pragma=busy_timeout(5000)\")", New: "&_pragma=busy_timeout(5000)&_pragma=synchronous(0)&_pragma=journal_mode(MEMORY)\")"},
	{File: "go/sqltrace.go", Old: `path := os.Getenv("ISUCON_SQLITE_TRACE_FILE")`, New: `path := ""`},
	{File: "go/organizer.go", Old: "func retrievePlayer(", New: "func playersOf(ctx context.Context, db *sqlx.DB, tenant int64) (map[string]*playerRow, error) {\n" +
		"	var rows []playerRow\n" +
		"	err := db.SelectContext(ctx, &rows, \"SELECT * FROM player WHERE tenant_id = ?\", tenant)\n" +
		"	players := map[string]*playerRow{}\n" +
		"	for i := range rows {\n		players[rows[i].ID] = &rows[i]\n	}\n" +
		"	return players, err\n}\n\nfunc retrievePlayer("},
	{File: "go/organizer.go", Old: "	for _, name := range names {\n", New: "	tx, err := db.BeginTxx(ctx, nil)\n	if err != nil {\n		return err\n	}\n	defer tx.Rollback()\n" +
		"	for _, name := range names {\n"},
	{File: "go/organizer.go", Old: "db.ExecContext(ctx,\n			\"INSERT INTO player (", New: "tx.ExecContext(ctx,\n			\"INSERT INTO player ("},
	{File: "go/organizer.go", Old: "		p, err := retrievePlayer(ctx, db, id)", New: "		p, err := retrievePlayer(ctx, tx, id)"},
	{File: "go/organizer.go", Old: "	return answer(c, map[string]any{\"players\": players})\n}\n\n// disqualifyPlayer", New: "	if err := tx.Commit(); err != nil {\n		return err\n	}\n" +
		"	return answer(c, map[string]any{\"players\": players})\n}\n\n// disqualifyPlayer"},
	{File: "go/player.go", Old: "	ranks := make([]rankView, 0, len(rows))\n", New: "	ranks := make([]rankView, 0, len(rows))\n" +
		"	players, err := playersOf(ctx, db, comp.TenantID)\n	if err != nil {\n		return nil, err\n	}\n"},
	{File: "go/player.go", Old: "		p, err := retrievePlayer(ctx, db, row.PlayerID)\n		if err != nil {\n			return nil, err\n		}\n",
		New: "		p := players[row.PlayerID]\n		if p == nil {\n			return nil, sql.ErrNoRows\n		}\n"},
	{File: "go/score.go", Old: `	"database/sql"` + "\n", New: ""},
	{File: "go/score.go", Old: "	var rows []playerScoreRow\n	for number", New: "	players, err := playersOf(ctx, db, comp.TenantID)\n	if err != nil {\n		return nil, err\n	}\n" +
		"	var rows []playerScoreRow\n	for number"},
	{File: "go/score.go", Old: "if _, err := retrievePlayer(ctx, db, playerID); errors.Is(err, sql.ErrNoRows) {", New: "if players[playerID] == nil {"},
	{File: "go/score.go", Old: "	for _, row := range rows {\n		if _, err := db.NamedExec", New: "	tx, err := db.BeginTxx(ctx, nil)\n	if err != nil {\n		return err\n	}\n	defer tx.Rollback()\n" +
		"	for _, row := range rows {\n		if _, err := tx.NamedExec"},
	{File: "go/score.go", Old: "\", row.RowNum, err)\n		}\n	}\n	return nil\n", New: "\", row.RowNum, err)\n		}\n	}\n	return tx.Commit()\n"},
}

// faults are all planted faults.
var faults = slices.Concat(formFaults, listFaults, rankingFaults, billingFaults, refusalFaults, loadFaults, appFaults)

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step scenario.Step) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, stepNames[step])}
}

// plain wraps a hook without state.
func plain(h arenatest.Hook) func() arenatest.Hook { return func() arenatest.Hook { return h } }

// Patterns of the APIs.
const (
	atRanking     = "/api/player/competition/*/ranking"
	atDetail      = "/api/player/player/*"
	atScore       = "/api/organizer/competition/*/score"
	atFinish      = "/api/organizer/competition/*/finish"
	atBilling     = "/api/organizer/billing"
	atTenants     = "/api/admin/tenants/billing"
	atTenantAdd   = "/api/admin/tenants/add"
	atPlayers     = "/api/organizer/players"
	atPlayersAdd  = "/api/organizer/players/add"
	atHeld        = "/api/organizer/competitions"
	atPlayerLists = "/api/player/competitions"
)

// data changes the data of successful answers.
func data(method, pattern string, change func(d object)) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
		if d, ok := o["data"].(object); ok {
			change(d)
		}
		return o
	}))))
}

// list changes a list in the data of successful answers to a GET.
func list(pattern, field string, change func(v []any) []any) func() arenatest.Hook {
	return data("GET", pattern, func(d object) {
		if v, ok := d[field].([]any); ok {
			d[field] = change(v)
		}
	})
}

// each changes each object of a list.
func each(pattern, field string, change func(o object)) func() arenatest.Hook {
	return list(pattern, field, func(v []any) []any {
		for _, o := range v {
			change(o.(object))
		}
		return v
	})
}

func reversed(v []any) []any { slices.Reverse(v); return v }

// add adds to a number of an object.
func add(o object, name string, n float64) { o[name] = o[name].(float64) + n }

// say answers as the app would.
func say(x *arenatest.Exchange, status int, body string) {
	x.Give(status, "application/json", body)
	x.Answer.Set("Cache-Control", "private")
}

const (
	accepted = `{"status":true,"data":{}}`
	refused  = `{"status":false,"message":""}`
)

// instead answers those requests otherwise that the app answers with a status.
func instead(method, pattern string, status, other int) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(status, func(x *arenatest.Exchange) { answerAs(x, other) })))
}

func answerAs(x *arenatest.Exchange, status int) {
	body := refused
	if status == 200 {
		body = accepted
	}
	say(x, status, body)
}

// sessions accepts sessions that the app refuses, if accept returns true for the
// header and the claims of their tokens.
func sessions(accept func(x *arenatest.Exchange, header, claims object) bool) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", atPlayers, arenatest.After(401, func(x *arenatest.Exchange) {
		if header, claims := tokenOf(x); header != nil && accept(x, header, claims) {
			say(x, 200, accepted)
		}
	})))
}

// tokenOf returns the header and the claims of a request's token, nil if it has
// none.
func tokenOf(x *arenatest.Exchange) (header, claims object) {
	cookie, err := (&http.Request{Header: x.Header}).Cookie(sessionCookie)
	if err != nil {
		return nil, nil
	}
	parts := strings.Split(cookie.Value, ".")
	if len(parts) != 3 {
		return nil, nil
	}
	for i, to := range []*object{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(text, to) != nil {
			return nil, nil
		}
	}
	return header, claims
}
