package sqltext

import (
	"bufio"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// pieces are what the texts of TestServers are made of: each dialect reads some of them
// otherwise.
var pieces = []string{"'a'", "'a''b'", `'a\'`, `'a\'b'`, `'a\\'`, `"a"`, `"a""b"`, `"a\"`, "`a`", "[a]", "'", `"`, "`", "$$", "$$,$$", "$a$,$$,$a$", `E'\','`,
	"x'00'", "X'00'", "b'01'", "N'a,'", "_utf8mb4'a,'", "U&'a,'", "U&\"a\"", "1", "1e5", "1.5", ".5", "1.", "1e-2", "0xff", "t.a", "a", "1_000", "12a", "+1", "-1", "--1", "--", "-- ",
	"-- ,1\n", "--,1\n", "#,1\n", "#", "/*", "*/", "/*,1*/", "/*!,1*/", "/*!50000,1*/", "/*!,", "/*M!,1*/", "/*!9999999,1*/", "/*+,1*/", "/*/*,1*/,1*/", "*", "*/2", "\n", " ", "||", "(", ")", "(1,2)", "(1)"}

// randomText makes the same texts each time.
func randomText(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("SELECT 1")
	for range 1 + rng.IntN(5) {
		if rng.IntN(4) > 0 {
			b.WriteString(",")
		}
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	b.WriteString("\nFROM (SELECT 1 AS a) t")
	return b.String()
}

// columns is the number of columns of a SELECT by its tokens; 0 if it has none for a
// server: a quote, a comment or a parenthesis is open.
func columns(d Dialect, text string) int {
	tokens, ok := d.Tokens(text)
	if !ok {
		return 0
	}
	n := 1
	for _, t := range tokens {
		if t.Depth == 0 && t.Text == "," {
			n++
		}
	}
	return n
}

// TestServers compares what the tokens of random texts say of their columns with what a
// real server of each dialect answers. It is the judge of every quote and comment.
func TestServers(t *testing.T) {
	tier.Slow(t)
	rng := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 6000)
	for i := range texts {
		texts[i] = randomText(rng)
	}
	for _, c := range []struct {
		dialect Dialect
		name    string
		ask     func(*testing.T, []string) []int
	}{{MySQL, "MariaDB", mariadbColumns}, {SQLite, "SQLite", sqliteColumns}, {PostgreSQL, "PostgreSQL", postgresColumns}} {
		t.Run(c.name, func(t *testing.T) {
			accepted := 0
			for i, want := range c.ask(t, texts) {
				if want == 0 {
					continue // the server refuses the text
				}
				accepted++
				if got := columns(c.dialect, texts[i]); got != want {
					tokens, ok := c.dialect.Tokens(texts[i])
					t.Errorf("%q has %d columns, by its tokens %d: %v %v", texts[i], want, got, tokens, ok)
				}
			}
			if accepted < 200 {
				t.Errorf("the server accepted only %d texts: they prove too little", accepted)
			}
			t.Logf("%d texts accepted", accepted)
		})
	}
}

func mariadbColumns(t *testing.T, texts []string) []int {
	s, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	db, err := s.Open(t.Context(), "tokens")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, word := range []string{"12a", "1_000", "0xfg", "0b2", "1e", "1e5x", "2021_log", "1$", "0x", "12", "1e5", "0xff", "0b1", "1.5", "1e+5"} {
		var got int
		err := db.QueryRowContext(t.Context(), "SELECT "+word+" FROM (SELECT 7 AS "+word+") t").Scan(&got)
		tokens, _ := MySQL.Tokens(word)
		if isName := err == nil && got == 7; isName != (len(tokens) == 1 && tokens[0].Kind == Word) {
			t.Errorf("%s is a name for MariaDB: %v (%v), by its tokens %v", word, isName, err, tokens)
		}
	}
	return columnsOf(t, db, texts)
}

func sqliteColumns(t *testing.T, texts []string) []int {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return columnsOf(t, db, texts)
}

func columnsOf(t *testing.T, db *sql.DB, texts []string) []int {
	out := make([]int, len(texts))
	for i, text := range texts {
		rows, err := db.QueryContext(t.Context(), text)
		if err != nil {
			continue
		}
		names, err := rows.Columns()
		for err == nil && rows.Next() { // an error of the statement may come with its first row
		}
		if err == nil && rows.Err() == nil {
			out[i] = len(names)
		}
		rows.Close()
	}
	return out
}

// postgresColumns asks in a function of the server: psql itself never reads the texts.
func postgresColumns(t *testing.T, texts []string) []int {
	socket := servertest.Postgres(t, nil)
	var script strings.Builder
	script.WriteString(`CREATE FUNCTION columns(q text) RETURNS int AS $f$ DECLARE r record; n int; BEGIN
	EXECUTE q INTO r; SELECT count(*) INTO n FROM json_object_keys(row_to_json(r)); RETURN n;
	EXCEPTION WHEN OTHERS THEN RETURN 0; END $f$ LANGUAGE plpgsql;` + "\n")
	for _, text := range texts {
		fmt.Fprintf(&script, "SELECT columns(convert_from(decode('%s', 'hex'), 'UTF8'));\n", hex.EncodeToString([]byte(text)))
	}
	psql := exec.CommandContext(t.Context(), "psql", "-h", socket, "-U", "postgres", "-AtqX", "-v", "ON_ERROR_STOP=1")
	psql.Stdin = strings.NewReader(script.String())
	psql.WaitDelay = time.Second
	answer, err := psql.Output()
	if err != nil {
		t.Fatalf("asking PostgreSQL: %v", err)
	}
	var out []int
	for lines := bufio.NewScanner(strings.NewReader(string(answer))); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("asking PostgreSQL: %q", lines.Text())
		}
		out = append(out, n)
	}
	if len(out) != len(texts) {
		t.Fatalf("PostgreSQL answered %d of %d texts", len(out), len(texts))
	}
	return out
}
