package slowlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// pgPrefixes are log_line_prefix values and the text that they give.
var pgPrefixes = map[string]string{
	"Debian (%m [%p] %q%u@%d )": "2026-11-22 05:11:27.119 UTC [16717] isu@lab ",
	"default (%m [%p] )":        "2026-11-22 05:11:27.119 UTC [16717] ",
	"pgBadger":                  "2026-11-22 14:11:27 JST [16717]: [7-1] user=isu,db=lab,app=psql,client=10.0.0.9 ",
	"RDS (%t:%r:%u@%d:[%p]:)":   "2026-11-22 05:11:27 UTC:10.0.0.9(52345):isu@lab:[16717]:",
	"with an offset":            "2026-11-22 14:11:27.119 +09 [16717] isu@lab ",
	"session id first":          "[16717] 2026-11-22 05:11:27.119 UTC isu@lab ",
}

// pgStderr is a log with messages of many kinds, each line after a prefix.
func pgStderr(prefix string) string {
	var b strings.Builder
	for _, line := range []string{
		"LOG:  database system is ready to accept connections",
		"LOG:  duration: 0.359 ms  statement: insert into t values (1,'it''s\n\ttwo lines: LOG:  x'),(2,E'x\\ny');",
		"LOG:  duration: 11.508 ms  parse <unnamed>: select a from \"T\" where id=$1",
		"LOG:  duration: 0.439 ms  bind <unnamed>: select a from \"T\" where id=$1",
		"DETAIL:  parameters: $1 = '7'",
		"LOG:  duration: 0.015 ms  execute <unnamed>: select a from \"T\" where id=$1",
		"DETAIL:  parameters: $1 = '7'",
		"LOG:  duration: 0.247 ms  statement: execute p(1,'b');",
		"DETAIL:  prepare: prepare p as select a from \"T\" where id = $1;",
		"LOG:  duration: 0.011 ms  statement: begin;",
		"LOG:  duration: 0.105 ms  statement: update t set a='\\' where id=1;",
		"LOG:  duration: 0.028 ms  statement: end;",
		"ERROR:  column \"nonsense\" does not exist at character 8",
		"STATEMENT:  select nonsense;",
		"LOG:  duration: 0.007 ms",
		"LOG:  statement: select $$dollar\n\tquoted$$ -- comment\n\t;",
		"LOG:  duration: 0.019 ms",
		"LOG:  statement: select 3 from untimed",
	} {
		b.WriteString(prefix + line + "\n")
	}
	return b.String()
}

// checkPG checks the profile of pgStderr's log, in any format.
func checkPG(t *testing.T, name, log, format string, users bool) {
	t.Helper()
	want := ""
	for _, o := range []Options{{Workers: 1}, {Workers: 3, BlockSize: 100}, {Workers: 2, BlockSize: 500}} {
		p, err := readText(t, log, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Intake.Format != format || p.Intake.Bad != 0 {
			t.Errorf("%s: %+v", name, p.Intake)
		}
		r := row(t, p, "select a from t where id = ?")
		if r.Count != 2 || r.Total != 701*time.Microsecond || r.Query.Prepares != 1 || r.Query.PrepareTime != 11508*time.Microsecond {
			t.Errorf("%s: %+v %+v", name, r, r.Query)
		}
		if r.Example.Text != `select a from "T" where id=$1 /* parameters: $1 = '7' */` {
			t.Errorf("%s: example %q", name, r.Example.Text)
		}
		if users && (r.Query.DB != "lab" || r.Query.Users[0].Name != "isu") {
			t.Errorf("%s: %+v", name, r.Query)
		}
		row(t, p, "insert into t values (?+)")
		if u := row(t, p, "update t set a = ? where id = ?"); u.Total != 105*time.Microsecond {
			t.Errorf("%s: %+v", name, u)
		}
		if d := row(t, p, "select ?"); d.Total != 19*time.Microsecond || d.Count != 1 {
			t.Errorf("%s: %+v", name, d)
		}
		if u := row(t, p, "select ? from untimed"); u.Count != 1 || u.Total != 0 {
			t.Errorf("%s: %+v", name, u)
		}
		if len(p.Transactions) != 1 || p.Transactions[0].Shape != "begin; update t; end" || p.Transactions[0].Commit != 28*time.Microsecond {
			t.Errorf("%s: %+v", name, p.Transactions)
		}
		for _, n := range []string{"1 statements failed", "1 statements have no duration", "1 durations have no statement"} {
			if !hasNote(p.Notes, n) {
				t.Errorf("%s: no note %q in %q", name, n, p.Notes)
			}
		}
		if p.First.Truncate(time.Second).Unix() != 1795324287 {
			t.Errorf("%s: at %v", name, p.First)
		}
		got, _ := json.Marshal(p)
		if want == "" {
			want = string(got)
		}
		if string(got) != want {
			t.Errorf("%s: blocks change the result:\n%s\n%s", name, want, got)
		}
	}
}

// TestPostgresStderr: usual prefixes, statements with a duration on the same line
// and on the next.
func TestPostgresStderr(t *testing.T) {
	for name, prefix := range pgPrefixes {
		checkPG(t, name, pgStderr(prefix), "PostgreSQL log", !strings.HasPrefix(name, "default"))
		p := mustRead(t, pgStderr(prefix))
		if r := row(t, p, "select a from t where id = ?"); r.Example.Line != 7 {
			t.Errorf("%s: line %d", name, r.Example.Line)
		}
	}
	// Another log with the word LOG in it is not one of PostgreSQL.
	if _, err := readText(t, "hello LOG:  duration: 1 ms  statement: select 1\n", Options{}); err == nil {
		t.Error("a line without a time and a process id was accepted")
	}
	_, err := readText(t, "2026-11-22 05:11:27.119 UTC [16717] LOG:  ready\n", Options{})
	if e, ok := err.(*Error); !ok || !strings.Contains(e.Hints()[0], "log_min_duration_statement=0") {
		t.Errorf("without statements: %v", err)
	}
}

// TestPostgresCSV and JSON: the same log in the other formats.
func TestPostgresCSV(t *testing.T) {
	var csv, js strings.Builder
	messages := strings.Split(pgStderr("\x01"), "\x01")[1:]
	for i := 0; i < len(messages); i++ {
		severity, text, _ := strings.Cut(messages[i], ":  ")
		text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n\t", "\n")
		detail := ""
		if i+1 < len(messages) && strings.HasPrefix(messages[i+1], "DETAIL:  ") {
			detail = strings.TrimSuffix(messages[i+1][len("DETAIL:  "):], "\n")
			i++
		}
		if severity == "STATEMENT" {
			continue
		}
		quote := func(s string) string {
			if s == "" {
				return ""
			}
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
		fmt.Fprintf(&csv, "2026-11-22 05:11:27.119 UTC,\"isu\",\"lab\",16717,\"10.0.0.9:5432\",6b02797f.414d,2,\"X\",2026-11-22 05:11:27 UTC,3/0,0,%s,00000,%s,%s,,,,,,,,\"psql\",\"client backend\",,0\n", severity, quote(text), quote(detail))
		j, _ := json.Marshal(map[string]any{"timestamp": "2026-11-22 05:11:27.119 UTC", "user": "isu", "dbname": "lab", "pid": 16717, "remote_host": "10.0.0.9", "error_severity": severity, "message": text, "detail": detail})
		js.WriteString(string(j) + "\n")
	}
	checkPG(t, "csvlog", csv.String(), "PostgreSQL csvlog", true)
	checkPG(t, "jsonlog", js.String(), "PostgreSQL jsonlog", true)
}

// TestPostgresFingerprint: PostgreSQL's quotes, placeholders and comments.
func TestPostgresFingerprint(t *testing.T) {
	fp := Fingerprinter{Dialect: PostgreSQL}
	for sql, want := range map[string]string{
		`SELECT "Id", a::text FROM "public"."T" WHERE b = $1 AND c IN ($2, $3) LIMIT $4 OFFSET $5`: "select id, a :: text from public.t where b = ? and c in (?+) limit ?",
		`select $$it's$$, $tag$ $$ x $tag$, E'\'x', 'a\' from t --c`:                               "select ?, ?, ?, ? from t",
		`select data #> '{a,b}', x#>>'{c}' from t where y = any($1)`:                               "select data # > ?, x # >> ? from t where y = any (?)",
		`insert into t values ($1,$2),($3,$4) on conflict do nothing returning id`:                 "insert into t values (?+) on conflict do nothing returning id",
	} {
		if got := string(fp.Fingerprint([]byte(sql))); got != want {
			t.Errorf("%q\n got %s\nwant %s", sql, got, want)
		}
	}
}

// FuzzPostgres: any bytes after a message are read without a panic, and blocks
// change nothing.
func FuzzPostgres(f *testing.F) {
	for _, prefix := range pgPrefixes {
		f.Add([]byte(prefix + "LOG:  duration: 1.5 ms  execute a/b: select $1\n" + prefix + "DETAIL:  Parameters: $1 = 'x'\n\ty\n"))
	}
	f.Add([]byte("2026-11-22 05:11:27.119 UTC,\"a\"\"b\",\"c\",7,,,,,,,,LOG,,\"duration: 1 ms  statement: select \"\"x\"\"\n\",\n"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		sameInBlocks(t, "2026-11-22 05:11:27.119 UTC [1] LOG:  duration: 1 ms  statement: select 1\n"+string(tail))
		sameInBlocks(t, "2026-11-22 05:11:27.119 UTC,,,1,,,,,,,,LOG,,\"duration: 1 ms  statement: select 1\",,,\n"+string(tail))
		sameInBlocks(t, `{"timestamp":"2026-11-22 05:11:27.119 UTC","pid":1,"error_severity":"LOG","message":"duration: 1 ms  statement: select 1"}`+"\n"+string(tail))
	})
}

// FuzzDialects: the fingerprint of a fingerprint is the same in every dialect.
func FuzzDialects(f *testing.F) {
	for _, s := range []string{"select $1, $$a$$, $x$b$x$", "E'\\'' 'a\\'", "a#b --c\n d", `"a""b"`, "$", "$1a", "x'", "::"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		for _, d := range []Dialect{SQLite, PostgreSQL} {
			a, b := Fingerprinter{Dialect: d}, Fingerprinter{Dialect: d}
			once := string(a.Fingerprint(sql))
			if twice := string(b.Fingerprint([]byte(once))); len(once) < maxFingerprint/2 && once != twice {
				t.Errorf("dialect %d, %q: not idempotent:\n%q\n%q", d, sql, once, twice)
			}
		}
	})
}
