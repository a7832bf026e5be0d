package isublog_test

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// The routes; the names are the benchmarker's step names.
const (
	onInitialize = "POST /initialize"
	onIndex      = "GET /"
	onArticle    = "GET /article/:id"
	onComment    = "POST /comment/:id"
	onCSS        = "GET /css/*"
	onJS         = "GET /js/*"
	onImages     = "GET /images/*"
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

// ease reads the sidebar from the newest comments only.
var ease = []arenatest.Edit{{File: "go/data.go",
	Old: "SELECT a.id, a.title FROM comment c INNER JOIN article a ON c.article = a.id GROUP BY a.id ORDER BY MAX(c.created_at) DESC LIMIT 10",
	New: "SELECT a.id, a.title FROM article a INNER JOIN (SELECT article, MAX(id) AS newest FROM " +
		"(SELECT id, article FROM comment ORDER BY id DESC LIMIT 300) AS recent GROUP BY article) AS latest ON latest.article = a.id ORDER BY latest.newest DESC LIMIT 10"},
	arenatest.Interpolate()}

// faults lists all planted faults.
var faults = slices.Concat(transportFaults, staticFaults, pageFaults, freshFaults, loadFaults, appFaults)

// appFaults break the app's source, where a proxy lacks the necessary data.
var appFaults = []arenatest.Fault{
	{Name: "app: a gap in the ids of articles", Want: by("article-id"), Edits: []arenatest.Edit{
		{File: "go/data.go", Old: "\t_, err := a.db.ExecContext(ctx, \"INSERT INTO article", New: "\tif _, err := a.db.ExecContext(ctx, \"INSERT INTO article (title, body) VALUES ('gap', '')\"); err != nil {\n\t\treturn err\n\t}\n" +
			"\tif _, err := a.db.ExecContext(ctx, \"DELETE FROM article WHERE title = 'gap'\"); err != nil {\n\t\treturn err\n\t}\n" +
			"\t_, err := a.db.ExecContext(ctx, \"INSERT INTO article"},
	}},
}
