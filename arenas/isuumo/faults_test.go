package isuumo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// The routes; the names are the benchmarker's step names.
const (
	onChair       = "GET /api/chair/:id"
	onChairPost   = "POST /api/chair"
	onChairSearch = "GET /api/chair/search"
	onEstate      = "GET /api/estate/:id"
	onLow         = "GET /api/estate/low_priced"
	onNazotte     = "POST /api/estate/nazotte"
	onDocument    = "POST /api/estate/req_doc/:id"
)

// Values of the level: users who search only, users on the map too, and bots and
// posted rows too.
var (
	searching = arena.Values{levelSetting: "0"}
	mapping   = arena.Values{levelSetting: "1"}
	posting   = arena.Values{levelSetting: "2"}
)

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step string) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, step)}
}

// plain wraps a hook without state.
func plain(h arenatest.Hook) func() arenatest.Hook { return func() arenatest.Hook { return h } }

// An object is a JSON object whose fields do not matter here.
type object = map[string]any

// objects are the rows of a list.
func objects(o object, field string) []object {
	list, _ := o[field].([]any)
	rows := make([]object, 0, len(list))
	for _, row := range list {
		if row, ok := row.(object); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// answer changes the JSON object of a route's answers.
func answer(method, pattern string, change func(o object)) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(200, arenatest.JSON(
		func(_ *arenatest.Exchange, o object) object { change(o); return o }))))
}

// list changes the rows of a list.
func list(method, pattern, field string, change func(rows []object) []object) func() arenatest.Hook {
	return answer(method, pattern, func(o object) { o[field] = change(objects(o, field)) })
}

// single reports whether a request is for one row: GET PREFIX/ID.
func single(x *arenatest.Exchange, prefix string) bool {
	id, ok := strings.CutPrefix(x.Path, prefix)
	_, err := strconv.Atoi(id)
	return ok && err == nil && x.Method == "GET"
}

// singles applies a hook to the requests for one row.
func singles(prefix string, hook arenatest.Hook) arenatest.Hook {
	return func(x *arenatest.Exchange, forward func()) {
		if single(x, prefix) {
			hook(x, forward)
			return
		}
		forward()
	}
}

func reversed(rows []object) []object { slices.Reverse(rows); return rows }

// ease makes the app fast enough for many runs: lists are read in the order of an index,
// and no statement is prepared.
var ease = []arenatest.Edit{
	{File: "mysql/db/0_Schema.sql", Old: "    popularity  INTEGER             NOT NULL\n", New: "    popularity  INTEGER             NOT NULL,\n    KEY (popularity DESC, id), KEY (rent, id)\n"},
	{File: "mysql/db/0_Schema.sql", Old: "    stock       INTEGER         NOT NULL\n", New: "    stock       INTEGER         NOT NULL,\n    KEY (popularity DESC, id), KEY (price, id)\n"},
	arenatest.Interpolate(),
}

// faults lists all planted faults.
var faults = slices.Concat(readFaults, writeFaults, appFaults, loadFaults)

// appFaults break the app's source, where a proxy lacks the necessary data. "go/"
// is the folder of the app's source.
var appFaults = []arenatest.Fault{
	{Name: "app: features as whole labels", Want: by("chair-search-rows", "estate-search-rows", "chair-search-count", "estate-search-count"),
		Edits: []arenatest.Edit{{File: "go/condition.go", Old: "features LIKE CONCAT('%', ?, '%')", New: "FIND_IN_SET(?, features)"}}},
	{Name: "app: sold-out chairs searched", Want: by("chair-sold-out"),
		Edits: []arenatest.Edit{{File: "go/chair.go", Old: `s.conditions = append(s.conditions, "stock > 0")`, New: ``}}},
	{Name: "app: recommendation without turning the chair", Want: by("recommended-rows"), Edits: []arenatest.Edit{{File: "go/estate.go",
		Old: "FROM estate WHERE (door_width", New: "FROM (SELECT * FROM estate WHERE door_width <= door_height) estate WHERE (door_width"}}},
	{Name: "app: bounding box instead of polygon", Want: by("nazotte-match"), Edits: []arenatest.Edit{{File: "go/nazotte.go",
		Old: "AND ST_Contains(ST_PolygonFromText(?), ST_GeomFromText(?))\",\n\t\t\testate.ID, coordinates.toText(), point)",
		New: "AND ? <> ?\",\n\t\t\testate.ID, coordinates.toText(), point)"}}},
	{Name: "app: the first 50 of the box, not of the polygon", Want: by("nazotte-rows"), Edits: []arenatest.Edit{{File: "go/nazotte.go",
		Old: "longitude >= ? ORDER BY popularity DESC, id ASC", New: "longitude >= ? ORDER BY popularity DESC, id ASC LIMIT 50"}}},
	{Name: "app: range with its upper end", UnderLoad: true, Set: searching, Want: by("chair-search-match", "estate-search-match"),
		Also:  by("chair-search-count", "estate-search-count", "chair-search-rows", "estate-search-rows"),
		Edits: []arenatest.Edit{{File: "go/condition.go", Old: `column+" < ?"`, New: `column+" <= ?"`}}},
}
