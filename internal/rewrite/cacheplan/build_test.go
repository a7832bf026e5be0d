package cacheplan

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

var creates = []string{
	`CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, score INT NOT NULL, bio TEXT)`,
	`CREATE TABLE posts (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, title VARCHAR(80), slug VARCHAR(80) AS (LOWER(title)) STORED,
		KEY (user_id), FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE)`,
	`CREATE TABLE tags (post_id INT NOT NULL, tag VARCHAR(20) NOT NULL, PRIMARY KEY (post_id, tag),
		FOREIGN KEY (post_id) REFERENCES posts (id) ON DELETE CASCADE)`,
}

func schema(t *testing.T) *Schema {
	s, err := ReadSchema(creates)
	if err != nil {
		t.Fatal(err)
	}
	s.Strict = true
	return s
}

// show prints an entry: the keys of reads and writes as column:groups+literals.
func show(s sqlcache.Statement) string {
	var b strings.Builder
	touch := func(mark string, list []sqlcache.Touch) {
		for _, t := range list {
			fmt.Fprintf(&b, "%s%s", mark, t.Table)
			for _, k := range t.Keys {
				fmt.Fprintf(&b, " %s:%v%v", k.Column, k.Groups, k.Literals)
			}
			b.WriteString("; ")
		}
	}
	touch("r ", s.Reads)
	touch("w ", s.Writes)
	return strings.TrimSuffix(b.String(), "; ")
}

// planned is what a plan has for a statement, as show prints it, and why it has nothing.
func planned(plan sqlcache.Plan, reasons []Reason, text string) (got, why string) {
	folded := sqlcache.Fold(plan.Dialect, text)
	for _, s := range plan.Statements {
		if s.Text == folded {
			got = show(s)
		}
	}
	for _, r := range reasons {
		if r.Text == text {
			why = r.Why
		}
	}
	return got, why
}

// The reads that make id, name, user_id and post_id key columns come first.
var table = []struct{ text, want, why string }{
	{"SELECT * FROM users WHERE id = ?", "r users id:[0][]", ""},
	{"SELECT id FROM users u WHERE score > ? AND u.name = ?", "r users name:[1][]", ""},
	{"SELECT * FROM posts WHERE user_id = ? ORDER BY id DESC LIMIT 20", "r posts user_id:[0][]", ""},
	{"SELECT tag FROM tags WHERE post_id IN (?, ?, ?) AND tag <> ?", "r tags post_id:[0][]", ""},
	{"SELECT tag FROM tags WHERE post_id IN (1, ?)", "r tags post_id:[0][1]", ""},
	{"SELECT COUNT(*) FROM posts", "r posts", ""},
	{"SELECT p.title, u.name FROM posts p JOIN users u ON u.id = p.user_id WHERE p.id = ?", "r posts id:[0][]; r users", ""},
	{"SELECT p.title FROM posts p LEFT JOIN users u ON u.id = 5 WHERE p.user_id = ?", "r posts user_id:[0][]; r users", ""},
	{"SELECT title FROM posts WHERE user_id = (SELECT id FROM users WHERE name = ?)", "r posts; r users", ""},
	{"SELECT title FROM posts WHERE id = ? OR user_id = ?", "r posts", ""},
	{"SELECT title FROM posts WHERE slug = ?", "r posts", ""}, // computed from title
	{"SELECT title FROM posts WHERE id + 0 = ?", "r posts", ""},
	{"SELECT title FROM posts WHERE NOT (id = ?)", "r posts", ""},
	{"SELECT title FROM posts WHERE id = ? FOR UPDATE", "", "locks"},
	{"SELECT NOW()", "", "now()"},
	{"SELECT title FROM posts WHERE id < RAND() * ?", "", "rand()"},
	{"SELECT title FROM posts WHERE id = @x", "", "variable"},
	{"SELECT title FROM other.posts WHERE id = ?", "", "schema"},
	{"SELECT a FROM view_of_posts", "", "no table"},
	{"SELECT LAST_INSERT_ID()", "", "last_insert_id()"},
	{"SELECT 1", "", "no table"},
	{"SELECT 1 FROM posts UNION SELECT 2 FROM users", "", "UNION"},
	{"SELECT bio FROM users WHERE id = ? INTO @a", "", "parse"},

	{"INSERT INTO users (name, score) VALUES (?, 0)", "w users name:[0][]", ""},
	{"INSERT INTO users (id, name, score) VALUES (?, ?, ?), (?, ?, ?)", "w users id:[0][] name:[1][]", ""},
	{"INSERT INTO users VALUES (?, ?, ?, ?)", "w users", ""},
	{"INSERT INTO users (name, score) VALUES (LOWER(?), 1)", "w users", ""},
	{"INSERT INTO users (name, score) VALUES (?, ?) ON DUPLICATE KEY UPDATE score = ?", "w users; w posts; w tags", "-"},
	{"REPLACE INTO tags (post_id, tag) VALUES (?, ?)", "w tags", ""},
	{"INSERT INTO tags (post_id, tag) SELECT id, ? FROM posts WHERE user_id = ?", "w tags", ""},
	{"UPDATE users SET score = score + 1 WHERE id = ?", "w users id:[0][]; w posts; w tags", "-"},
	{"UPDATE users SET name = ? WHERE name = ?", "w users name:[1 0][]; w posts; w tags", "-"},
	{"UPDATE users SET name = CONCAT(name, ?) WHERE name = ? AND id = ?", "w users id:[2][]; w posts; w tags", "-"},
	{"UPDATE tags SET tag = ? WHERE post_id = ?", "w tags post_id:[1][]", ""},
	{"UPDATE tags SET tag = ? WHERE tag = ?", "w tags", ""},
	{"UPDATE posts p JOIN users u ON u.id = p.user_id SET p.title = ? WHERE u.id = ?", "w posts; w users; w tags", "-"},
	{"DELETE FROM posts WHERE user_id = ?", "w posts user_id:[0][]; w tags", ""},
	{"DELETE FROM tags WHERE post_id = ? AND tag = ?", "w tags post_id:[0][]", ""},
	{"DELETE FROM tags WHERE post_id IN (SELECT id FROM posts WHERE user_id = ?)", "w tags; w posts", "-"},
	{"DELETE t FROM tags t JOIN posts p ON p.id = t.post_id", "", "no table"},
	{"DELETE FROM elsewhere", "", "no table"},
	{"TRUNCATE tags", "", "empties"},
	{"SELECT FROM", "", "parse"},
}

func TestBuild(t *testing.T) {
	var texts []string
	for _, c := range table {
		texts = append(texts, c.text)
	}
	plan, reasons := Build(schema(t), texts)
	if _, err := sqlcache.New(plan, sqlcache.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		got, why := planned(plan, reasons, c.text)
		if c.why == "-" { // a table more than needed is allowed, one less is not
			for _, w := range strings.Split(c.want, "; ") {
				if !strings.Contains(got+"; ", w+"; ") {
					t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
				}
			}
		} else if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s\n got %s (%s)\nwant %s (%s)", c.text, got, why, c.want, c.why)
		}
	}
}

func TestTriggersAndStrictness(t *testing.T) {
	s := schema(t)
	s.Triggers["tags"] = true
	s.Strict = false
	plan, _ := Build(s, []string{"SELECT * FROM users WHERE name = ?", "INSERT INTO users (name, score) VALUES (?, ?)", "DELETE FROM tags WHERE post_id = ?"})
	for _, st := range plan.Statements {
		if len(st.Writes) > 0 && len(st.Writes[0].Keys) > 0 {
			t.Errorf("without strict mode the stored name may differ from the argument: %s", show(st))
		}
		if strings.HasPrefix(st.Text, "DELETE") {
			t.Errorf("a write of a table with a trigger is listed: %s", show(st))
		}
	}
}

// TestAgainstServer: after every write, every read through the cache gives what
// the server gives. The statements are those of the table, with random
// arguments.
func TestAgainstServer(t *testing.T) {
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	direct, err := server.Open(t.Context(), "plan")
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	var texts []string
	for _, c := range table {
		texts = append(texts, c.text)
	}
	for _, c := range creates {
		if _, err := direct.Exec(c); err != nil {
			t.Fatal(err)
		}
	}
	plan, _ := Build(schema(t), texts)
	cache, err := sqlcache.New(plan, sqlcache.Options{Bytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(cache.Connector(connector(t, server.Socket), "plan"))
	defer pool.Close()
	rng := rand.New(rand.NewPCG(5, 5))
	writes, reads := 0, 0
	for range 6000 {
		c := table[rng.IntN(len(table))]
		if !strings.HasPrefix(c.text, "SELECT") && rng.IntN(3) > 0 {
			continue // more reads than writes, so that some are hits
		}
		args := arguments(rng, c.text)
		if !strings.HasPrefix(c.text, "SELECT") {
			if _, err := pool.Exec(c.text, args...); err == nil {
				writes++
			}
			continue
		}
		if c.want == "" {
			continue
		}
		got, want := answer(t, pool, c.text, args), answer(t, direct, c.text, args)
		if got != want {
			t.Fatalf("%s with %v after %d writes\n got %s\nwant %s", c.text, args, writes, got, want)
		}
		reads++
	}
	hits := int64(0)
	for _, s := range cache.Stats().Statements {
		hits += s.Hits
	}
	if writes < 300 || reads < 300 || hits < 30 {
		t.Errorf("%d writes, %d reads, %d hits: too few to prove anything", writes, reads, hits)
	}
}

func connector(t *testing.T, socket string) driver.Connector {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams, c.Logger = "root", "unix", socket, "plan", true, &mysql.NopLogger{}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// arguments draws a small number for each placeholder, or a text where the
// statement names a text column just before.
func arguments(rng *rand.Rand, text string) (args []any) {
	parts := strings.Split(text, "?")
	texts := strings.Contains(text, "INSERT INTO users (name") || strings.Contains(text, "SELECT id, ?")
	for i, p := range parts[:len(parts)-1] {
		name := strings.Contains(p, "name = ") || strings.Contains(p, "tag") || strings.Contains(p, "title = ") || strings.Contains(p, "name, ") ||
			strings.Contains(p, "slug") || strings.Contains(p, "LOWER") || texts && i == 0 || strings.Contains(text, "(id, name") && i%3 == 1
		if name && !strings.Contains(p, "post_id = ") && !strings.HasSuffix(p, "post_id IN (") {
			args = append(args, []string{"ann", "Ann", "bob", "é"}[rng.IntN(4)])
			continue
		}
		args = append(args, 1+rng.IntN(4))
	}
	return args
}

func answer(t *testing.T, db *sql.DB, text string, args []any) string {
	rows, err := db.QueryContext(context.Background(), text, args...)
	if err != nil {
		t.Fatalf("%s with %v: %v", text, args, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		v := make([]sql.NullString, len(cols))
		p := make([]any, len(cols))
		for i := range v {
			p[i] = &v[i]
		}
		if err := rows.Scan(p...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, v)
	}
	return b.String()
}
