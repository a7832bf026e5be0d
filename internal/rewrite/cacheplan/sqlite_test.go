package cacheplan

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

const fileSchema = `
-- a comment; with a semicolon
PRAGMA foreign_keys = OFF; BEGIN;
CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(40) NOT NULL UNIQUE COLLATE NOCASE, score INT NOT NULL DEFAULT 0, at DATETIME);
CREATE TABLE "posts" (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE, title TEXT DEFAULT ';', slug TEXT AS (lower(title)) STORED);
CREATE INDEX posts_user ON posts (user_id);
CREATE TABLE tags (post_id INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (post_id, tag)) WITHOUT ROWID;
CREATE TABLE kv (k TEXT PRIMARY KEY ON CONFLICT REPLACE, v NUMERIC);
CREATE TABLE counted (id INTEGER PRIMARY KEY, n INT);
CREATE TABLE log (at TEXT, n INTEGER);
CREATE TRIGGER counting AFTER UPDATE ON counted BEGIN INSERT INTO log VALUES ('x', new.id); UPDATE users SET score = CASE WHEN 1 THEN score + 1 END; END;
CREATE VIEW best AS SELECT name, score FROM users WHERE score > 2;
CREATE VIRTUAL TABLE search USING fts5(body);
INSERT INTO users VALUES (1, 'ann', 0, NULL); COMMIT;`

var fileTable = []struct{ text, want, why string }{
	{"SELECT * FROM users WHERE id = ?", "r users id:[0][]", ""},
	{"SELECT id, score FROM users AS u WHERE score > ?2 AND u.name = ?1", "r users name:[1][]", ""},
	{"SELECT id FROM users WHERE id = $1 AND score < $2", "r users id:[0][]", ""},
	{"SELECT id FROM users WHERE id = $2 AND score < $1", "", "placeholders"},
	{`SELECT title FROM "posts" WHERE "user_id" = ? ORDER BY id LIMIT 20`, "r posts user_id:[0][]", ""},
	{"SELECT tag FROM tags WHERE post_id IN (?, ?) AND tag <> 'a\\'", "r tags post_id:[0][]", ""},
	{"SELECT v FROM kv WHERE k = ?", "r kv k:[0][]", ""},
	{"SELECT n FROM counted WHERE id = ?", "r counted id:[0][]", ""},
	{"SELECT COUNT(*) FROM log", "r log", ""},
	{"SELECT title FROM posts WHERE slug = ?", "r posts", ""}, // computed from title
	{"SELECT title FROM posts WHERE rowid = ?", "r posts", ""},
	{"SELECT score FROM users WHERE id == ?", "r users", ""}, // not of the common part
	{"SELECT name FROM best", "r users", ""},
	{"SELECT name || '!' FROM users WHERE name LIKE ? OR id = ?", "r users", ""},
	{"WITH b AS (SELECT user_id u FROM posts) SELECT name FROM users WHERE id IN (SELECT u FROM b)", "r posts; r users", "-"},
	{"SELECT title FROM posts UNION SELECT tag FROM tags", "r posts; r tags", "-"},
	{"SELECT name, row_number() OVER (ORDER BY id) FROM users", "r users", ""},
	{"SELECT p.title, u.name FROM posts p JOIN users u ON u.id = p.user_id WHERE p.user_id = ?", "r posts user_id:[0][]; r users", ""},
	{"SELECT name FROM users WHERE at < datetime('now')", "", "datetime()"},
	{"SELECT random(), id FROM users", "", "random()"},
	{"SELECT CURRENT_TIMESTAMP, id FROM users", "", "current_timestamp()"},
	{"SELECT last_insert_rowid()", "", "last_insert_rowid()"},
	{"SELECT changes() FROM users", "", "changes()"},
	{"SELECT seq FROM sqlite_sequence", "", "table of SQLite"},
	{"SELECT name FROM sqlite_schema", "", "not of the schema"},
	{"SELECT body FROM search", "", "no such table"},
	{"SELECT value FROM json_each(?)", "", "more than"},
	{"SELECT name FROM users WHERE id = :id", "", "SQLite refuses"},
	{"SELECT 1", "", "no table"},
	{"SELECT custom(name) FROM users", "", "no such function"},

	{"INSERT INTO users (name, score) VALUES (?, 0)", "w users name:[0][]", ""},
	{"INSERT OR IGNORE INTO users (id, name) VALUES (?, ?)", "w users id:[0][] name:[1][]", ""},
	{"INSERT INTO users (id, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING RETURNING id", "w users id:[0][] name:[1][]", ""},
	{"INSERT OR REPLACE INTO users (id, name) VALUES (?, ?)", "w users; w posts", "-"},
	{"INSERT INTO users (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name", "w users", ""},
	{"INSERT INTO kv (k, v) VALUES (?, ?)", "w kv", ""},
	{"REPLACE INTO tags (post_id, tag) VALUES (?, ?)", "w tags", ""},
	{"INSERT INTO tags (post_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", "w tags post_id:[0][]", ""},
	{"INSERT INTO tags (post_id, tag) SELECT id, ? FROM posts WHERE user_id = ? AND id NOT IN (SELECT post_id FROM tags)", "w tags", ""},
	{"INSERT INTO posts (id, user_id, title) VALUES (?, ?, 'New')", "w posts user_id:[1][]", ""},
	{"UPDATE users SET score = score + 1, at = strftime('%s', 'now') WHERE id = ? RETURNING score", "w users id:[0][]", ""},
	{"UPDATE users SET name = ? WHERE name = ?", "w users name:[1 0][]", ""},
	{"UPDATE users SET rowid = ? WHERE id = ?", "w users", ""},
	{"UPDATE OR IGNORE users SET score = ? WHERE id = ?", "w users", ""},
	{"UPDATE counted SET n = ? WHERE id = ?", "w counted; w users; w log", "-"},
	{"UPDATE posts SET title = 'A' || posts.id FROM users WHERE users.id = posts.user_id AND users.name = ?", "w posts", ""},
	{"DELETE FROM users WHERE id = ?", "w users id:[0][]; w posts", "-"},
	{"DELETE FROM posts WHERE user_id = ?", "w posts user_id:[0][]", ""},
	{"DELETE FROM tags", "w tags", ""},
	{"DELETE FROM elsewhere", "", "no such table"},
	{"PRAGMA user_version = 3", "", "empties"},
	{"INSERT INTO counted (id, n) VALUES (?, ?)", "w counted", ""},
}

func fileTexts() (texts []string) {
	for _, c := range fileTable {
		texts = append(texts, c.text)
	}
	return texts
}

func TestBuildSQLite(t *testing.T) {
	plan, reasons, err := BuildSQLite(t.Context(), fileSchema, fileTexts())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlcache.New(plan, sqlcache.Options{}); err != nil || plan.Dialect != sqlcache.SQLite {
		t.Fatal(plan.Dialect, err)
	}
	for _, c := range fileTable {
		got, why := planned(plan, reasons, c.text)
		if c.why == "-" { // in any order
			have, want := strings.Split(got, "; "), strings.Split(c.want, "; ")
			slices.Sort(have)
			slices.Sort(want)
			if !slices.Equal(have, want) {
				t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
			}
		} else if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s\n got %s (%s)\nwant %s (%s)", c.text, got, why, c.want, c.why)
		}
	}
}

// TestBuildSQLiteRefuses: definitions that SQLite refuses, and none.
func TestBuildSQLiteRefuses(t *testing.T) {
	if _, _, err := BuildSQLite(t.Context(), "CREATE TABLE a (", nil); err == nil {
		t.Error("half a definition was read")
	}
	plan, reasons, err := BuildSQLite(t.Context(), "ATTACH 'x.db' AS x; SELECT 1", []string{"SELECT a FROM b"})
	if err != nil || len(plan.Statements) > 0 || len(reasons) != 1 {
		t.Errorf("%+v %+v %v", plan, reasons, err)
	}
}

// TestAgainstFile: after every write, every read through the cache gives what the file
// gives. The statements are those of the table, with random arguments of all types.
func TestAgainstFile(t *testing.T) {
	file := "file:" + filepath.Join(t.TempDir(), "plan.db") + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(2000)&_pragma=synchronous(OFF)&_pragma=journal_mode(WAL)"
	direct, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	for _, text := range fileDefinitions(fileSchema) {
		if _, err := direct.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	plan, _, err := BuildSQLite(t.Context(), fileSchema, fileTexts())
	if err != nil {
		t.Fatal(err)
	}
	cache := sqlcache.Register("planned+cache", "sqlite", plan, sqlcache.Options{Bytes: 8 << 20})
	pool, err := sql.Open("planned+cache", file)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rng := rand.New(rand.NewPCG(7, 7))
	values := []any{1, 2, 3, 4, 1, 2, 3, 4, "1", "2", " 2", "3.0", 3.0, "ann", "Ann", "ANN ", "bob", "é", "É", []byte("2"), []byte("ann"), nil, true, 0}
	writes, reads := 0, 0
	for range 20000 {
		c := fileTable[rng.IntN(len(fileTable))]
		if c.want == "" {
			continue
		}
		write := strings.HasPrefix(c.want, "w")
		if write && rng.IntN(4) > 0 || strings.HasPrefix(c.text, "DELETE") && rng.IntN(3) > 0 {
			continue // more reads than writes, so that some are hits
		}
		_, used, _ := sqlcache.Markers(sqlcache.SQLite, c.text)
		args := make([]any, slices.Max(append([]int{-1}, used...))+1)
		for i := range args {
			args[i] = values[rng.IntN(len(values))]
			if rng.IntN(3) > 0 {
				args[i] = 1 + rng.IntN(4)
			}
		}
		if write {
			if rows, err := pool.Query(c.text, args...); err == nil { // by Query for RETURNING
				for rows.Next() {
				}
				if rows.Err() == nil {
					writes++
				}
				rows.Close()
			}
			continue
		}
		if got, want := answer(t, pool, c.text, args), answer(t, direct, c.text, args); got != want {
			t.Fatalf("%s with %v after %d writes\n got %s\nwant %s", c.text, args, writes, got, want)
		}
		reads++
	}
	hits := int64(0)
	for _, s := range cache.Stats().Statements {
		hits += s.Hits
	}
	if writes < 500 || reads < 1500 || hits < 200 {
		t.Errorf("%d writes, %d reads, %d hits: too few to prove anything", writes, reads, hits)
	}
	t.Logf("%d writes, %d reads, %d hits", writes, reads, hits)
}

// FuzzFileDefinitions: a definition is a part of the text.
func FuzzFileDefinitions(f *testing.F) {
	for _, s := range []string{fileSchema, "a'b''c", `"a""b`, "[x] /* y", "--", "CREATE TRIGGER a BEGIN x; END;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range fileDefinitions(s) {
			if !strings.Contains(s, d) || len(statementTokens(d)) < 3 {
				t.Fatalf("the definition %q of %q", d, s)
			}
		}
		common(s)
	})
}
