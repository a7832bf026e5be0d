package cause_test

import (
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// coverScene is a run in which 1,000 covers of 40 kB were answered, and read from a
// table by one statement.
func coverScene(s fact.Series, a fact.Answer, columnType, statement string, length iikanji.Bytes) *scene {
	x := newScene().route("GET /covers/:id", "/covers/7", 1000, 40_000, iikanji.WebRow{Upstream: 20 * time.Second}).
		with("nginx", string(fact.TopicSeries), "GET /covers/:id", s).with("nginx", string(fact.TopicAnswer), "GET /covers/:id", a).
		with("database", string(fact.TopicTable), "app.book", catalog.Table{Schema: "app", Name: "book", Columns: []catalog.Column{{Name: "id", Type: "int(11)"}, {Name: "cover", Type: columnType}},
			Indexes: []catalog.Index{{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}}}}).
		with("database", string(fact.TopicSize), "app.book", catalog.TableSize{Rows: 300, Lengths: map[string]iikanji.Bytes{"cover": length}})
	x.Profiles = append(x.Profiles, iikanji.Profile{Source: iikanji.Slow, Rows: []iikanji.Row{{Key: statement, Count: 1000, Total: 5 * time.Second, Example: iikanji.Sighting{Text: statement},
		Query: &iikanji.SQLRow{Digest: "d1", Fingerprint: statement, DB: "app", Examined: 1000, Sent: 1000, MaxSent: 1}}}})
	return x
}

// TestBlobs expects the finding for pictures by id, and none where one part of the
// proof is missing.
func TestBlobs(t *testing.T) {
	fixed := fact.Series{URLs: 300, Again: 200, Fixed: 200, FixedRepeats: 700, FixedBytes: 28_000_000, Sizes: 180}
	moving := fixed
	moving.Fixed = 120
	rare := fixed
	rare.FixedRepeats = 20
	picture := fact.Answer{URL: "/covers/7", Status: 200, Type: "image/png", Bytes: 40_000, Same: true}
	cookie, file := picture, picture
	cookie.Cookie = true
	file.File = "/srv/public/covers/7"
	const read = "SELECT cover FROM book WHERE id = 7"
	for name, c := range map[string]struct {
		scene *scene
		want  int
	}{
		"pictures":              {coverScene(fixed, picture, "mediumblob", read, 39_000), 1},
		"in another column":     {coverScene(fixed, picture, "mediumblob", "SELECT id FROM book WHERE id = 7", 39_000), 0},
		"of another size":       {coverScene(fixed, picture, "mediumblob", read, 9_000), 0},
		"no blob":               {coverScene(fixed, picture, "varchar(60000)", read, 39_000), 0},
		"they change":           {coverScene(moving, picture, "mediumblob", read, 39_000), 0},
		"asked for once":        {coverScene(rare, picture, "mediumblob", read, 39_000), 0},
		"a cookie with each":    {coverScene(fixed, cookie, "mediumblob", read, 39_000), 0},
		"equal to files":        {coverScene(fixed, file, "mediumblob", read, 39_000), 0},
		"read with all columns": {coverScene(fixed, picture, "mediumblob", "SELECT * FROM book WHERE id = 7", 39_000), 1},
	} {
		t.Run(name, func(t *testing.T) {
			fs, err := findAll(c.scene.Input)
			if err != nil {
				t.Fatal(err)
			}
			fs = slices.DeleteFunc(fs, func(f iikanji.Finding) bool { return f.Code != "WEB111" })
			if len(fs) != c.want {
				t.Fatalf("%d findings, want %d: %+v", len(fs), c.want, fs)
			}
			if c.want == 1 && (fs[0].Where != "GET /covers/:id" || fs[0].Gain.Hi < 3 || len(fs[0].Remedies) != 2) {
				t.Errorf("%+v", fs[0])
			}
		})
	}
}

// TestUntilReset: the cache that a reset empties is proposed for pictures that never
// changed and are the same for all users, and not if a part of this proof is missing.
func TestUntilReset(t *testing.T) {
	fixed := fact.Series{URLs: 300, Again: 200, Fixed: 200, FixedRepeats: 700, FixedBytes: 28_000_000, Sizes: 180}
	one, alike, rare := fixed, fixed, fixed
	one.Fixed, alike.Sizes, rare.FixedRepeats = 199, 3, 40
	all := fact.Answer{URL: "/covers/7", Status: 200, Type: "image/png", Bytes: 40_000, Same: true, SameForAll: true, Users: 2, URLs: 3}
	own := all
	own.SameForAll = false
	const read = "SELECT cover FROM book WHERE id = 7"
	value := fact.StoredValue{URL: "/covers/7", Schema: "app", Table: "book", Column: "cover", ID: 7}
	for name, c := range map[string]struct {
		series fact.Series
		answer fact.Answer
		resets []string
		stored bool
		want   string
	}{
		"pictures":           {fixed, all, []string{"POST /initialize"}, false, "/initialize"},
		"asked for twice":    {fixed, all, []string{"POST /initialize", "GET /initialize"}, false, "/initialize"},
		"one changed":        {one, all, []string{"POST /initialize"}, false, ""},
		"of few sizes":       {alike, all, []string{"POST /initialize"}, false, ""},
		"stored":             {rare, all, []string{"POST /initialize"}, true, "/initialize"},
		"one client's own":   {fixed, own, []string{"POST /initialize"}, false, ""},
		"no reset is known":  {fixed, all, nil, false, ""},
		"two kinds of reset": {fixed, all, []string{"POST /initialize", "POST /admin/reset"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := coverScene(c.series, c.answer, "mediumblob", read, 39_000)
			for _, r := range c.resets {
				x.with("nginx", string(fact.TopicReset), r, "1")
			}
			if c.stored {
				x.with("database", string(fact.TopicValue), "GET /covers/:id", value)
			}
			fs, err := findAll(x.Input)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range fs {
				for _, r := range f.Remedies {
					if f.Code != "WEB111" || r.Args["act"] != "cache until reset" {
						continue
					}
					if got = r.Args["reset"]; !r.Proves(iikanji.SameForAll) || !r.Proves(iikanji.Unchanged) || r.Args["path"] != "/covers/:id" {
						t.Errorf("%+v", r)
					}
				}
			}
			if got != c.want {
				t.Errorf("dropped at %q, want %q", got, c.want)
			}
		})
	}
}
