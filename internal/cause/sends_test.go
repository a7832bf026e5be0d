package cause_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A sentRow is a statement of a shop scene, with its digest.
type sentRow struct {
	digest, sql    string
	count          int64
	examined, sent int64
	took           time.Duration
}

// shopScene is a run of a site that keeps pictures in its database. Its source sends
// the statements from the functions of routes.
func shopScene(rows ...sentRow) *scene {
	x := newScene().
		route("GET /pictures/:id", "/pictures/7", 1000, 40_000, iikanji.WebRow{Upstream: 20 * time.Second}).
		route("GET /items/:id", "/items/7", 500, 5_000, iikanji.WebRow{Upstream: 20 * time.Second}).
		route("POST /items/:id/order", "/items/7/order", 100, 0, iikanji.WebRow{Upstream: time.Second}).
		with("nginx", string(fact.TopicAnswer), "GET /pictures/:id", fact.Answer{URL: "/pictures/7", Status: 200, Type: "image/png", Bytes: 40_000}).
		with("nginx", string(fact.TopicAnswer), "GET /items/:id", fact.Answer{URL: "/items/7", Status: 200, Type: "text/html", Bytes: 5_000})
	column := func(name, kind string) catalog.Column { return catalog.Column{Name: name, Type: kind} }
	key := []catalog.Index{{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}}}
	for name, t := range map[string]catalog.Table{
		"item": {Columns: []catalog.Column{column("id", "int(11)"), column("maker", "int(11)"), column("views", "int(11)"), column("picture", "mediumblob")}, Indexes: key},
		"note": {Columns: []catalog.Column{column("id", "int(11)"), column("item", "int(11)"), column("body", "text")}, Indexes: append(slices.Clone(key),
			catalog.Index{Name: "item", Kind: "btree", Parts: []catalog.IndexPart{{Column: "item"}}})},
		"sale": {Columns: []catalog.Column{column("id", "int(11)"), column("buyer", "int(11)")}, Indexes: key},
	} {
		t.Schema, t.Name = "app", name
		x.with("database", string(fact.TopicTable), "app."+name, t)
	}
	x.with("database", string(fact.TopicSize), "app.item", catalog.TableSize{Rows: 3000, Lengths: map[string]iikanji.Bytes{"picture": 39_000}}).
		with("database", string(fact.TopicSize), "app.note", catalog.TableSize{Rows: 60_000, Lengths: map[string]iikanji.Bytes{"body": 240}, Distinct: map[string]float64{"item": 3000}}).
		with("database", string(fact.TopicSize), "app.sale", catalog.TableSize{Rows: 90_000, Distinct: map[string]float64{"buyer": 9000}})
	p := iikanji.Profile{Source: iikanji.Slow}
	for _, r := range rows {
		p.Rows = append(p.Rows, iikanji.Row{Key: r.sql, Count: r.count, Total: r.took, Example: iikanji.Sighting{Text: r.sql},
			Query: &iikanji.SQLRow{Digest: r.digest, Fingerprint: strings.NewReplacer("7", "?").Replace(r.sql), DB: "app", Examined: r.examined, Sent: r.sent, MaxSent: 1}})
	}
	x.Profiles = append(x.Profiles, p)
	return x
}

// sends adds a statement of the source, in a function that the handler of a route
// reaches.
func (s *scene) sends(route, function, digest, sql string) *scene {
	return s.with("app", string(fact.TopicHandler), route, fact.Handler{Func: function, Reaches: []string{function}}).
		with("app", string(fact.TopicSends), "main.go:7", fact.SentStatement{Func: function, Digest: digest, Text: sql})
}

// foundIn are the findings with a code.
func foundIn(t *testing.T, s *scene, code iikanji.Code) []iikanji.Finding {
	t.Helper()
	fs, err := findAll(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(fs, func(f iikanji.Finding) bool { return f.Code != code })
}

// one expects one finding with a code at a place, or none for the empty place.
func one(t *testing.T, s *scene, code iikanji.Code, where string) iikanji.Finding {
	t.Helper()
	fs := foundIn(t, s, code)
	if where == "" {
		if len(fs) > 0 {
			t.Errorf("unexpected: %+v", fs)
		}
		return iikanji.Finding{}
	}
	if len(fs) != 1 || !strings.Contains(fs[0].Where, where) {
		t.Fatalf("%d findings %s, want one at %q: %+v", len(fs), code, where, fs)
	}
	return fs[0]
}

// TestBesideBlob: a statement is beside a blob if the source sends it for the same
// route.
func TestBesideBlob(t *testing.T) {
	picture := sentRow{"p1", "SELECT picture FROM item WHERE id = 7", 1000, 1000, 1000, 2 * time.Second}
	notes := sentRow{"n1", "SELECT COUNT(*) FROM note WHERE item = 7", 1000, 20_000, 1000, 3 * time.Second}
	f := one(t, shopScene(picture, notes).sends("GET /pictures/:id", "show", "n1", notes.sql), "DB135", "GET /pictures/:id")
	if f.Gain.Lo != 0 || f.Gain.Hi < 3 || !strings.Contains(f.Claim, "item.picture") || !strings.Contains(f.Claim, "1 other statement") {
		t.Errorf("%+v", f)
	}
	one(t, shopScene(picture, notes).sends("GET /items/:id", "page", "n1", notes.sql), "DB135", "") // of another route
	one(t, shopScene(notes).sends("GET /pictures/:id", "show", "n1", notes.sql), "DB135", "")       // no blob is read
	rare := notes
	rare.count = 100
	one(t, shopScene(picture, rare).sends("GET /pictures/:id", "show", "n1", notes.sql), "DB135", "")
}

// TestMoreThanShown: a list is too long if its texts do not fit into the page.
func TestMoreThanShown(t *testing.T) {
	const sql = "SELECT id, body FROM note WHERE item = 7 ORDER BY id DESC"
	list := func(rows int64) sentRow { return sentRow{"l1", sql, 500, 500 * rows, 500 * rows, 4 * time.Second} }
	f := one(t, shopScene(list(80)).sends("GET /items/:id", "page", "l1", sql), "DB136", "FROM note")
	if !strings.Contains(f.Claim, "80 rows") || !strings.Contains(f.Claim, "21 of them") || f.Gain.Hi < 2 || f.Gain.Hi > 4 {
		t.Errorf("%+v", f)
	}
	one(t, shopScene(list(24)).sends("GET /items/:id", "page", "l1", sql), "DB136", "") // nearly all of it fits
	one(t, shopScene(list(80)), "DB136", "")                                            // no route is known
	one(t, shopScene(list(80)).sends("GET /pictures/:id", "page", "l1", sql), "DB136", "")
	limited := list(80)
	limited.sql += " LIMIT 7"
	one(t, shopScene(limited).sends("GET /items/:id", "page", "l1", sql), "DB136", "")
	// An answer that is compressed shows nothing, but the look-ups of the loop do.
	const lookup = "SELECT buyer FROM sale WHERE id = 7"
	looked := func(times int64) *scene {
		s := shopScene(list(80), sentRow{"b1", lookup, 500 * times, 500 * times, 500 * times, time.Second}).
			with("nginx", string(fact.TopicAnswer), "GET /items/:id", fact.Answer{URL: "/items/7", Status: 200, Encoding: "gzip", Bytes: 900})
		s.sends("GET /items/:id", "page", "l1", sql)
		return s.with("app", string(fact.TopicSends), "main.go:9", fact.SentStatement{Func: "page", Digest: "b1", Text: lookup})
	}
	f = one(t, looked(20), "DB136", "FROM note")
	if !strings.Contains(f.Claim, "looked up for 20 of them") {
		t.Errorf("%+v", f)
	}
}

// TestCounterOfReads: an UPDATE that adds to a column is reported where only GET
// requests send it.
func TestCounterOfReads(t *testing.T) {
	const sql = "UPDATE item SET views = views + 7 WHERE id = 7"
	row := sentRow{"u1", sql, 500, 500, 0, 2 * time.Second}
	f := one(t, shopScene(row).sends("GET /items/:id", "page", "u1", sql), "DB137", "GET /items/:id")
	if !strings.Contains(f.Claim, "counter views") || f.Gain.Hi < 2 {
		t.Errorf("%+v", f)
	}
	one(t, shopScene(row).sends("POST /items/:id/order", "order", "u1", sql), "DB137", "")
	one(t, shopScene(row).sends("GET /items/:id", "page", "u1", sql).sends("POST /items/:id/order", "page", "u1", sql), "DB137", "")
	const other = "UPDATE item SET views = maker + 7 WHERE id = 7"
	row.sql = other
	one(t, shopScene(row).sends("GET /items/:id", "page", "u1", other), "DB137", "")
	row.sql, row.count = sql, 5
	one(t, shopScene(row).sends("GET /items/:id", "page", "u1", sql), "DB137", "")
}

// TestWriteInVain: a write that only GET requests send, and that seldom changes a row, is
// reported where the log counts the changed rows.
func TestWriteInVain(t *testing.T) {
	const sql, order = "UPDATE note SET body = '' WHERE item = 7 AND body = 'new'", "INSERT INTO sale (buyer) VALUES (7)"
	vain := sentRow{"u1", sql, 500, 500, 0, 2 * time.Second}
	scene := func(changed int64, route, function string) *scene {
		s := shopScene(vain, sentRow{"s1", order, 100, 0, 0, time.Second}).sends(route, function, "u1", sql)
		rows := s.Profiles[len(s.Profiles)-1].Rows
		rows[0].Query.Affected, rows[1].Query.Affected = changed, 100
		return s
	}
	f := one(t, scene(20, "GET /items/:id", "page"), "DB137", "GET /items/:id: UPDATE note")
	if !strings.Contains(f.Claim, "500 requests that read") || !strings.Contains(f.Claim, "changed 20 rows") || f.Gain.Hi < 1.5 || f.Gain.Hi > 2 {
		t.Errorf("%+v", f)
	}
	one(t, scene(480, "GET /items/:id", "page"), "DB137", "")                                                                                                                                 // it changes a row nearly each time
	one(t, scene(20, "POST /items/:id/order", "order"), "DB137", "")                                                                                                                          // of a request that writes
	one(t, scene(20, "GET /items/:id", "page").sends("POST /items/:id/order", "page", "u1", sql), "DB137", "")                                                                                // of both
	one(t, shopScene(vain).sends("GET /items/:id", "page", "u1", sql), "DB137", "")                                                                                                           // nothing counts changed rows
	one(t, shopScene(sentRow{"q1", "SELECT id FROM note WHERE id = 7", 500, 500, 0, 2 * time.Second}).sends("GET /items/:id", "page", "q1", "SELECT id FROM note WHERE id = 7"), "DB137", "") // a read
	vain.count = 15
	one(t, scene(1, "GET /items/:id", "page"), "DB137", "") // seldom
}

// TestUnsent: a statement of the source that the run did not send has an index, with
// no gain, unless it is not of a route, or the run sent it.
func TestUnsent(t *testing.T) {
	const sql = "SELECT id FROM sale WHERE buyer = ?"
	seen := sentRow{"n1", "SELECT COUNT(*) FROM note WHERE item = 7", 1000, 20_000, 1000, 3 * time.Second}
	f := one(t, shopScene(seen).sends("GET /me", "mine", "s1", sql), "DB138", "sale (buyer")
	if f.Gain.Hi != 0 || len(f.Remedies) != 1 || f.Remedies[0].Kind != "ddl" || f.Remedies[0].Args["columns"] == "" {
		t.Errorf("%+v", f)
	}
	one(t, shopScene(seen).with("app", string(fact.TopicSends), "main.go:7", fact.SentStatement{Func: "job", Digest: "s1", Text: sql}), "DB138", "")
	sent := sentRow{"s1", "SELECT id FROM sale WHERE buyer = 7", 2, 2, 2, time.Millisecond}
	one(t, shopScene(seen, sent).sends("GET /me", "mine", "s1", sql), "DB138", "")
	one(t, shopScene(seen).sends("GET /me", "mine", "s1", "SELECT id FROM sale WHERE id = ?"), "DB138", "")
	one(t, shopScene(seen).sends("POST /me", "mine", "s1", "DELETE FROM sale WHERE buyer = ?"), "DB138", "")
}

// TestStoredValue: an answer that is a value of the database, byte for byte, needs no
// repeated requests, unless the run wrote to its column.
func TestStoredValue(t *testing.T) {
	picture := sentRow{"p1", "SELECT picture FROM item WHERE id = 7", 1000, 1000, 1000, 2 * time.Second}
	value := fact.StoredValue{URL: "/pictures/7", Schema: "app", Table: "item", Column: "picture", ID: 7}
	few := fact.Series{URLs: 900, Again: 10, Fixed: 10, FixedRepeats: 12, Sizes: 9}
	stored := func(rows ...sentRow) *scene {
		return shopScene(append(rows, picture)...).with("nginx", string(fact.TopicSeries), "GET /pictures/:id", few)
	}
	f := one(t, stored().with("database", string(fact.TopicValue), "GET /pictures/:id", value), "WEB111", "GET /pictures/:id")
	if f.Gain.Hi < 2 || f.Gain.Lo > 0.5 || !strings.Contains(f.Claim, "no statement of the run wrote to it") {
		t.Errorf("%+v", f)
	}
	one(t, stored(), "WEB111", "")
	write := sentRow{"w1", "UPDATE item SET picture = 'x' WHERE id = 7", 1, 1, 0, time.Millisecond}
	one(t, stored(write).with("database", string(fact.TopicValue), "GET /pictures/:id", value), "WEB111", "")
	count := sentRow{"w1", "UPDATE item SET views = views + 1 WHERE id = 7", 1, 1, 0, time.Millisecond}
	one(t, stored(count).with("database", string(fact.TopicValue), "GET /pictures/:id", value), "WEB111", "GET /pictures/:id")
}

// TestUnreached: a place of source that only routes without a request reach is reported
// without a gain.
func TestUnreached(t *testing.T) {
	place := fact.CodePlace{Code: "APP206", File: "main.go", Line: 7, Func: "mine", What: "a template is parsed each time", How: "make it once"}
	unreached := shopScene().with("app", string(fact.TopicHandler), "GET /me", fact.Handler{Func: "mine", Reaches: []string{"mine"}}).with("app", string(fact.TopicCode), "APP206 main.go:7 mine", place)
	f := one(t, unreached, "APP206", "main.go:7")
	if f.Gain.Hi != 0 || !strings.Contains(f.Claim, "no request of the run reached it") {
		t.Errorf("%+v", f)
	}
	one(t, shopScene().with("app", string(fact.TopicCode), "APP206 main.go:7 mine", place), "APP206", "") // of no route

	// What only the request does that makes the data anew costs the load nothing.
	reset := func(s *scene) *scene { return s.with("nginx", string(fact.TopicReset), "GET /me", int64(1)) }
	one(t, reset(unreached), "APP206", "")
	both := shopScene().with("app", string(fact.TopicHandler), "GET /me", fact.Handler{Func: "mine", Reaches: []string{"mine"}}).
		with("app", string(fact.TopicHandler), "GET /them", fact.Handler{Func: "theirs", Reaches: []string{"mine", "theirs"}}).with("app", string(fact.TopicCode), "APP206 main.go:7 mine", place)
	one(t, reset(both), "APP206", "main.go:7")

	// Its statement took time: it is one finding, with a gain, and no second one without.
	sold := sentRow{"s1", "SELECT id FROM sale WHERE buyer = 7", 200, 90_000, 2, 4 * time.Second}
	place.Code, place.Digests = "APP205", []string{"s1"}
	taken := shopScene(sold).with("app", string(fact.TopicHandler), "GET /me", fact.Handler{Func: "mine", Reaches: []string{"mine"}}).with("app", string(fact.TopicCode), "APP205 main.go:7 mine", place)
	if f := one(t, taken, "APP205", "main.go:7"); f.Gain.Hi == 0 {
		t.Errorf("%+v", f)
	}
}

// TestWaitingInside: time of requests that neither statements nor CPU explain is a
// finding where the CPU was not the limit.
func TestWaitingInside(t *testing.T) {
	picture := sentRow{"p1", "SELECT picture FROM item WHERE id = 7", 1000, 1000, 1000, 2 * time.Second}
	idle := shopScene(picture) // 41 s in the apps, in 10 s of four cores
	f := one(t, idle, "APP221", "requests")
	if f.Gain.Lo != 0 || !strings.Contains(f.Claim, "took 41 s") || !strings.Contains(f.Claim, "95 %") || len(f.Evidence) != 3 {
		t.Errorf("%+v", f)
	}
	busy := shopScene(picture)
	busy.Run.Usage = []iikanji.Usage{{Who: "app", User: 29 * time.Second, Share: 0.74}}
	one(t, busy, "APP221", "")
	// A database that uses up the CPU makes the apps wait for it, too, but not this long.
	hungry := shopScene(picture)
	hungry.Run.Usage = []iikanji.Usage{{Who: "database", User: 38 * time.Second, Share: 0.96}, {Who: "app", User: 2 * time.Second, Share: 0.05}}
	if f := one(t, hungry, "APP221", "requests"); f.Gain.Hi != 0 {
		t.Errorf("with the CPU used up by the database: %+v", f)
	}
	hungry.Run.Usage[1].User = 6 * time.Second
	one(t, hungry, "APP221", "")
	slow := picture
	slow.took = 30 * time.Second
	one(t, shopScene(slow), "APP221", "")
}

// TestPlannedIndex: an index that a query plan of the run uses is not to be dropped,
// although no advised access needs it.
func TestPlannedIndex(t *testing.T) {
	write := sentRow{"w1", "INSERT INTO note (id, item, body) VALUES (7, 7, 'x')", 40_000, 0, 0, 9 * time.Second}
	drop := shopScene(write, sentRow{"r1", "SELECT body FROM note WHERE id = 7", 100, 100, 100, time.Second})
	drop.Profiles[len(drop.Profiles)-1].Rows[0].Query.Affected = 40_000
	one(t, drop, "DB104", "app.note item")
	plan := catalog.QueryPlan{SQL: "SELECT id FROM note n WHERE n.item = 7", Steps: []catalog.QueryStep{{Table: "n", Access: "ref", Key: "item"}}}
	one(t, drop.with("database", string(fact.TopicPlan), "x1"+fact.TypicalSuffix, plan), "DB104", "")
}

// TestHistoryFeedsLoop: a whole list is needed where another statement runs once for each
// of its rows.
func TestHistoryFeedsLoop(t *testing.T) {
	list := sentRow{"l1", "SELECT id, item FROM note ORDER BY body DESC", 10, 20_000, 20_000, 4 * time.Second}
	each := sentRow{"e1", "SELECT maker FROM item WHERE id = 7", 20_000, 20_000, 20_000, 3 * time.Second}
	one(t, shopScene(list), "DB110", "note")
	one(t, shopScene(list, each), "DB110", "")
	each.count = 900
	one(t, shopScene(list, each), "DB110", "note")
}
