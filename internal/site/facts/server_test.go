package facts_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

var server *factstest.Server

// TestMain runs one MariaDB for all tests.
func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s, err := factstest.Start(ctx, "")
	cancel()
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	server = s
	code := m.Run()
	s.Stop()
	os.Exit(code)
}

const schema = `
CREATE TABLE users (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, email VARCHAR(100) NOT NULL UNIQUE, bio TEXT NULL, spot POINT NOT NULL,
  joined DATETIME(6) NULL, upper_mail VARCHAR(100) AS (UPPER(email)) STORED, SPATIAL KEY sp (spot));
CREATE TABLE posts (id INT PRIMARY KEY, user_id BIGINT UNSIGNED NOT NULL, kind INT NOT NULL, body LONGTEXT NOT NULL, created_at DATETIME NOT NULL,
  KEY newest (user_id, created_at DESC), KEY b (body(20)), KEY old (kind) IGNORED, CONSTRAINT author FOREIGN KEY (user_id) REFERENCES users (id));
INSERT INTO users (email, bio, spot, joined) SELECT CONCAT('u', seq), REPEAT('b', 100), POINT(seq, seq), NULL FROM seq_1_to_200;
INSERT INTO posts SELECT seq, 1 + seq MOD 200, seq MOD 10, REPEAT('x', 2000), '2024-01-01' + INTERVAL seq MINUTE FROM seq_1_to_3000;
ANALYZE TABLE users, posts;`

func open(t *testing.T) (*facts.Server, *sql.DB) {
	t.Helper()
	db, err := server.Open(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	s, err := facts.Connect(t.Context(), db, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, db
}

func TestTables(t *testing.T) {
	s, _ := open(t)
	tables, err := s.Tables(t.Context(), "app")
	if err != nil || len(tables) != 2 {
		t.Fatal(tables, err)
	}
	posts, users := tables[0], tables[1]
	var got []string
	for _, ix := range append(posts.Indexes, users.Indexes...) {
		var parts []string
		for _, p := range ix.Parts {
			parts = append(parts, p.String())
		}
		text := ix.Name + " " + ix.Kind + " (" + strings.Join(parts, ", ") + ")"
		if ix.Unique {
			text += " unique"
		}
		if ix.Hidden {
			text += " hidden"
		}
		got = append(got, text)
	}
	want := []string{"PRIMARY btree (id) unique", "b btree (body(20))", "newest btree (user_id, created_at DESC)", "old btree (kind) hidden",
		"PRIMARY btree (id) unique", "email btree (email) unique", "sp spatial (spot)"}
	if !slices.Equal(got, want) {
		t.Errorf("indexes\n got %q\nwant %q", got, want)
	}
	if len(posts.Links) != 1 || posts.Links[0].Table != "users" || posts.Links[0].Columns[0] != "user_id" || posts.Links[0].Reference[0] != "id" {
		t.Errorf("links %+v", posts.Links)
	}
	id, email, joined := users.Columns[0], users.Columns[1], users.Columns[4]
	if !id.Auto || id.Nullable || id.Width != 8 || email.Width != 402 || !joined.Nullable || joined.Width != 9 || !users.Columns[5].Generated || !users.Columns[3].Spatial() || !posts.Columns[3].Long() {
		t.Errorf("columns %+v", users.Columns)
	}
	if posts.Size.Rows < 2000 || posts.Size.Data < 3000*2000 {
		t.Errorf("size %+v", posts.Size)
	}
}

func TestDistinctAndSelectivity(t *testing.T) {
	s, _ := open(t)
	tables, err := s.Tables(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	posts := &tables[0]
	if err := s.Distinct(t.Context(), posts, []string{"kind", "user_id", "body"}); err != nil {
		t.Fatal(err)
	}
	z := posts.Size
	if z.Rows != 3000 || z.Distinct["kind"] != 10 || z.Distinct["user_id"] != 200 || z.Lengths["body"] != 2000 {
		t.Errorf("%+v", z)
	}
	shares, err := s.Selectivity(t.Context(), posts, []string{"`kind` = 3", "`created_at` < '2024-01-02'", "no such (", "`body` LIKE 'y%'"})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(shares["`kind` = 3"]-0.1) > 1e-9 || math.Abs(shares["`created_at` < '2024-01-02'"]-1439.0/3000) > 1e-9 || shares["`body` LIKE 'y%'"] != 0 || len(shares) != 3 {
		t.Errorf("%v", shares)
	}
	if err := s.Distinct(t.Context(), posts, []string{"nothing"}); err == nil {
		t.Error("counted in a column that is not there")
	}
}

func TestPlans(t *testing.T) {
	s, _ := open(t)
	p, err := s.Explain(t.Context(), "SELECT id FROM posts WHERE user_id = 3 ORDER BY created_at DESC LIMIT 2")
	if err != nil || len(p.Steps) != 1 || p.Steps[0].Key != "newest" || p.Steps[0].Access != "ref" || p.Sort || p.Ran || !p.Steps[0].Covering {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = s.Analyze(t.Context(), "SELECT u.email, COUNT(*) FROM posts p STRAIGHT_JOIN users u ON u.id = p.user_id WHERE p.kind = 3 GROUP BY u.email ORDER BY 2")
	if err != nil || len(p.Steps) != 2 || !p.Ran || !p.Sort || !p.Temp {
		t.Errorf("%+v, %v", p, err)
	}
	for _, step := range p.Steps {
		if step.Table == "p" && (step.Access != "ALL" || step.Rows != 3000 || math.Abs(step.Filtered-10) > 0.1) {
			t.Errorf("%+v", step)
		}
	}
}

// TestBackslashes checks that the server and quoted agree on the end of strings, even
// if the server is set to NO_BACKSLASH_ESCAPES. Otherwise the text after a
// backslash could escape the check for harmless statements.
func TestBackslashes(t *testing.T) {
	_, db := open(t)
	db.SetMaxIdleConns(0) // new connections have the new mode
	if _, err := db.ExecContext(t.Context(), "SET GLOBAL sql_mode = CONCAT(@@GLOBAL.sql_mode, ',NO_BACKSLASH_ESCAPES')"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := db.Exec("SET GLOBAL sql_mode = REPLACE(@@GLOBAL.sql_mode, 'NO_BACKSLASH_ESCAPES', '')"); err != nil {
			t.Error(err)
		}
	}()
	s, err := facts.Connect(t.Context(), db, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	file := filepath.Join(t.TempDir(), "rows")
	if err := os.Chmod(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err = s.Analyze(t.Context(), `SELECT '\' INTO OUTFILE '`+file+`' -- '`)
	if _, gone := os.Stat(file); err == nil || gone == nil {
		t.Errorf("a file was written: %v, %v", err, gone)
	}
}

// TestUse plans a statement whose names refer to another schema than the
// connection's default.
func TestUse(t *testing.T) {
	s, db := open(t)
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE IF NOT EXISTS `oth``er`; CREATE OR REPLACE TABLE `oth``er`.only_there (id INT PRIMARY KEY); INSERT INTO `oth``er`.only_there VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Analyze(t.Context(), "SELECT id FROM only_there"); err == nil {
		t.Error("planned in a schema that does not have the table")
	}
	if err := s.Use(t.Context(), "oth`er"); err != nil {
		t.Fatal(err)
	}
	p, err := s.Analyze(t.Context(), "SELECT id FROM only_there")
	if err != nil || !p.Ran || len(p.Steps) != 1 || p.Steps[0].Rows != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := s.Use(t.Context(), "nowhere"); err == nil {
		t.Error("turned to a schema that is not there")
	}
}

// TestNothingIsWritten calls every method with writes and with slow statements, and
// checks that the data is unchanged.
func TestNothingIsWritten(t *testing.T) {
	s, db := open(t)
	p, err := s.Analyze(t.Context(), "DELETE FROM posts WHERE kind = 3")
	if err != nil || p.Ran || len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "SELECT 1 FROM posts") {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = s.Analyze(t.Context(), "UPDATE posts SET kind = 4 WHERE kind = 3"); err != nil || p.Ran || p.Steps[0].Access != "ALL" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Analyze(t.Context(), "SELECT * FROM posts FOR UPDATE"); err == nil {
		t.Error("a locking SELECT was planned")
	}
	// no file is written and no lock is taken, wherever the keywords occur
	file := filepath.Join(t.TempDir(), "rows")
	if err := os.Chmod(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"SELECT id FROM posts INTO OUTFILE 'PLACE'", "WITH q AS (SELECT id FROM posts) SELECT id FROM q INTO OUTFILE 'PLACE'",
		"(SELECT id FROM posts) UNION (SELECT id FROM users) INTO OUTFILE 'PLACE'", "SELECT 1.INTO OUTFILE 'PLACE'"} {
		if p, err := s.Analyze(t.Context(), strings.ReplaceAll(q, "PLACE", file)); err == nil {
			t.Errorf("%s was planned: %+v", q, p)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s was run", q)
			os.Remove(file)
		}
	}
	for _, q := range []string{"SELECT GET_LOCK('iikanji', 0)", "SELECT id FROM posts WHERE (GET_LOCK /* now */ ('iikanji', 0)) = 1", "SELECT * FROM (SELECT id FROM posts FOR UPDATE) q"} {
		if p, err := s.Analyze(t.Context(), q); err == nil {
			t.Errorf("%s was planned: %+v", q, p)
		}
	}
	var holder sql.NullInt64
	if err := db.QueryRowContext(t.Context(), "SELECT IS_USED_LOCK('iikanji')").Scan(&holder); err != nil || holder.Valid {
		t.Errorf("the lock is held by %d, %v", holder.Int64, err)
	}
	// a read-only session rejects a predicate that writes
	if _, err := db.ExecContext(t.Context(), "CREATE FUNCTION boom() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM posts; RETURN 1; END"); err != nil {
		t.Fatal(err)
	}
	tables, _ := s.Tables(t.Context(), "app")
	if shares, err := s.Selectivity(t.Context(), &tables[0], []string{"boom() = 1"}); err != nil || len(shares) != 0 {
		t.Errorf("%v, %v", shares, err)
	}
	if _, err := s.Analyze(t.Context(), "SELECT * FROM posts WHERE SLEEP(0.1) = 0"); err == nil {
		t.Error("a statement of five minutes was run to its end")
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM posts").Scan(&n); err != nil || n != 3000 {
		t.Errorf("%d posts are left, %v", n, err)
	}
}

func TestAllFacts(t *testing.T) {
	s, db := open(t)
	fs, tables, err := s.All(t.Context(), "database", "app")
	if err != nil || len(tables) != 2 {
		t.Fatal(err)
	}
	still := func(fs []iikanji.Fact) string {
		fs = slices.DeleteFunc(slices.Clone(fs), func(f iikanji.Fact) bool { return f.Moves })
		b, _ := json.Marshal(fs)
		return string(b)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM posts WHERE kind > 5"); err != nil {
		t.Fatal(err)
	}
	again, _, err := s.All(t.Context(), "database", "app")
	if err != nil || still(fs) != still(again) {
		t.Errorf("facts that do not move differ after a DELETE: %v", err)
	}
	before, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM posts WHERE kind = 5"); err != nil {
		t.Fatal(err)
	}
	after, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	grown := facts.StatusFacts("database", before, after)
	if !slices.ContainsFunc(grown, func(f iikanji.Fact) bool { return f.Key == "com_delete" && fact.Text(f) == "1" && f.Moves }) {
		t.Errorf("com_delete did not grow by 1 in %v", grown)
	}
}
