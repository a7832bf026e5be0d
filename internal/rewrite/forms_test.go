package rewrite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A sqlForm is one way to send a statement in Go source. Setup stands before the
// statement is sent, and Send is the expression that sends it.
type sqlForm struct {
	name        string
	decl        string // at package level
	setup, send string
}

// In the source of forms, $Q is the statement as a literal, $N the same with a named
// parameter, $I the same with "IN (?)", $HEAD and $TAIL are its two parts, $F is the
// statement with %s for the name of its table, $T the table, $A its argument, $D the
// destination, and $0 makes names unique.
var readForms = []sqlForm{
	{"literal", "", "", "db.Select($D, $Q, $A)"},
	{"constant", "const text$0 = $Q", "", "db.Select($D, text$0, $A)"},
	{"local variable", "", "text := $Q", "db.Select($D, text, $A)"},
	{"package variable", "var text$0 = $Q", "", "db.Select($D, text$0, $A)"},
	{"sum of constants", "const tail$0 = $TAIL", "", "db.Select($D, $HEAD+tail$0, $A)"},
	{"Sprintf", "const table$0 = \"$T\"", "text := fmt.Sprintf($F, table$0)", "db.Select($D, text, $A)"},
	{"Rebind", "", "", "db.Select($D, db.Rebind($Q), $A)"},
	{"prepared", "", "stmt, err := db.Preparex($Q)\nif err != nil {\nreturn \"\", err\n}\ndefer stmt.Close()", "stmt.Select($D, $A)"},
	{"prepared with names", "", "stmt, err := db.PrepareNamed($N)\nif err != nil {\nreturn \"\", err\n}", "stmt.Select($D, map[string]any{\"x\": $A})"},
	{"transaction with a context", "", "", "tx.SelectContext(ctx, $D, $Q, $A)"},
	{"helper with a handle of sqlx", "", "", "sqlx.Select(q, $D, $Q, $A)"},
	{"helper with an interface", "", "", "h.SelectContext(ctx, $D, $Q, $A)"},
	{"interface in a field", "", "", "s.q.SelectContext(ctx, $D, $Q, $A)"},
	{"interface with embedded ones", "", "", "s.all.SelectContext(ctx, $D, $Q, $A)"},
	{"type parameter", "", "", "s.h.SelectContext(ctx, $D, $Q, $A)"},
	{"type parameter of a union", "", "", "s.u.SelectContext(ctx, $D, $Q, $A)"},
	{"field of a receiver", "", "", "s.db.SelectContext(ctx, $D, $Q, $A)"},
	{"closure", "", "", "CLOSURE db.Select($D, $Q, $A)"},
}

// listForms expand a list of arguments.
var listForms = []sqlForm{
	{"In", "", "text, args, err := sqlx.In($I, []string{$A})\nif err != nil {\nreturn \"\", err\n}", "db.Select($D, text, args...)"},
	{"In, bound in the call", "", "text, args, err := sqlx.In($I, []string{$A})\nif err != nil {\nreturn \"\", err\n}", "db.Select($D, db.Rebind(text), args...)"},
	{"In, bound before", "", "text, args, err := sqlx.In($I, []string{$A})\nif err != nil {\nreturn \"\", err\n}\ntext = db.Rebind(text)", "db.Select($D, text, args...)"},
	{"Named", "", "text, args, err := sqlx.Named($N, map[string]any{\"x\": $A})\nif err != nil {\nreturn \"\", err\n}", "db.Select($D, text, args...)"},
}

// cursorForms read row by row.
var cursorForms = []sqlForm{
	{"database/sql", "", "", "plain.Query($Q, $A)"},
	{"database/sql, constant", "const text$0 = $Q", "", "plain.QueryContext(ctx, text$0, $A)"},
	{"database/sql, transaction", "", "", "tx.Tx.Query($Q, $A)"},
	{"database/sql, prepared", "", "stmt, err := plain.Prepare($Q)\nif err != nil {\nreturn \"\", err\n}\ndefer stmt.Close()", "stmt.Query($A)"},
	{"database/sql, interface", "", "", "p.QueryContext(ctx, $Q, $A)"},
	{"database/sql, interface in a field", "", "", "s.all.QueryContext(ctx, $Q, $A)"},
	{"database/sql, interface that prepares", "", "stmt, err := s.all.PrepareContext(ctx, $Q)\nif err != nil {\nreturn \"\", err\n}\ndefer stmt.Close()", "stmt.Query($A)"},
	{"database/sql, type parameter", "", "", "s.h.QueryContext(ctx, $Q, $A)"},
	{"database/sql, type parameter of a union", "", "", "s.u.QueryContext(ctx, $Q, $A)"},
	{"Queryx", "", "", "db.Queryx($Q, $A)"},
	{"NamedQuery", "", "", "db.NamedQuery($N, map[string]any{\"x\": $A})"},
}

var execForms = []sqlForm{
	{"literal", "", "", "tx.Exec($Q, r.At, r.Good)"},
	{"constant", "const text$0 = $Q", "", "tx.Exec(text$0, r.At, r.Good)"},
	{"local variable", "", "text := $Q", "tx.Exec(text, r.At, r.Good)"},
	{"sum of constants", "const tail$0 = $TAIL", "", "tx.Exec($HEAD+tail$0, r.At, r.Good)"},
	{"Sprintf", "const table$0 = \"$T\"", "text := fmt.Sprintf($F, table$0)", "tx.Exec(text, r.At, r.Good)"},
	{"Rebind", "", "", "tx.Exec(tx.Rebind($Q), r.At, r.Good)"},
	{"prepared, sqlx", "", "stmt, err := tx.Preparex($Q)\nif err != nil {\nreturn \"\", err\n}\ndefer stmt.Close()", "stmt.Exec(r.At, r.Good)"},
	{"prepared, database/sql", "", "stmt, err := tx.Prepare($Q)\nif err != nil {\nreturn \"\", err\n}\ndefer stmt.Close()", "stmt.Exec(r.At, r.Good)"},
	{"NamedExec", "", "", "tx.NamedExec($N, r)"},
	{"NamedExec with a map", "", "", "tx.NamedExecContext(ctx, $N, map[string]any{\"at\": r.At, \"good\": r.Good})"},
	{"helper with a handle of sqlx", "", "", "e.ExecContext(ctx, $Q, r.At, r.Good)"},
	{"helper with an interface", "", "", "x.ExecContext(ctx, $Q, r.At, r.Good)"},
	{"interface in a field", "", "", "s.all.ExecContext(ctx, $Q, r.At, r.Good)"},
	{"type parameter", "", "", "s.h.ExecContext(ctx, $Q, r.At, r.Good)"},
	{"type parameter of a union", "", "", "s.u.ExecContext(ctx, $Q, r.At, r.Good)"},
	{"field of a receiver", "", "", "s.db.ExecContext(ctx, $Q, r.At, r.Good)"},
	{"closure", "", "", "CLOSURE tx.Exec($Q, r.At, r.Good)"},
}

// Lookalikes go through an interface that a type of the program implements by methods of
// its own: it counts the calls. No lever reports them.
var (
	fakeReads   = []sqlForm{{"counted", "", "", "s.counted.Select($D, $Q, $A)"}, {"counted parameter", "", "", "s.c.Select($D, $Q, $A)"}}
	fakeCursors = []sqlForm{{"counted cursor", "", "", "s.counted.Query($Q, $A)"},
		{"counted, prepared", "", "stmt, err := s.counted.Prepare($Q)\nif err != nil {\nreturn \"\", err\n}\ndefer stmt.Close()", "stmt.Query($A)"}}
	fakeExecs = []sqlForm{{"counted Exec", "", "", "s.counted.Exec($Q, r.At, r.Good)"}, {"counted parameter", "", "", "s.c.Exec($Q, r.At, r.Good)"}}
)

// isFake reports whether a form is a lookalike.
func isFake(form sqlForm) bool { return strings.HasPrefix(form.name, "counted") }

// A formLever is a lever with the places that it must rewrite in every form. rows and
// cursor use what the statement reads; empty: the lever has no such use.
type formLever struct {
	lever              *Lever
	text, table, key   string // the statement, its table, and the column of its parameter
	rows, cursor, exec string
	lists              bool
	// hints are the forms that it reports without a fix, or not at all, with the reason.
	hints map[string]string
}

// namedMap is why a filter adds no condition to a statement with names.
const namedMap = "the value would have to enter a struct or a map of the app"

// others are the forms that APP205 leaves alone.
const byHand = "the text has no place of its own beside the call"

var formLevers = []formLever{
	{lever: &firstRowOnly, text: "SELECT * FROM t WHERE name = ? ORDER BY id", table: "t", key: "name", lists: true,
		rows:   "var rows []Row\n$SETUP\nif err := $SEND; err != nil {\nreturn \"\", err\n}\nif len(rows) == 0 {\nreturn \"\", nil\n}\nreturn rows[0].Name, nil",
		cursor: "$SETUP\nrows, err := $SEND\nif err != nil {\nreturn \"\", err\n}\ndefer rows.Close()\nvar id int\nvar name, level string\nif rows.Next() {\nerr = rows.Scan(&id, &name, &level)\n}\nreturn name, err"},
	{lever: &loopStopsEarly, text: "SELECT * FROM t WHERE name = ? ORDER BY id", table: "t", key: "name", lists: true,
		rows:   "var rows []Row\n$SETUP\nif err := $SEND; err != nil {\nreturn \"\", err\n}\nout := \"\"\nfor i, r := range rows {\nif i >= 3 {\nbreak\n}\nout += r.Level\n}\nreturn out, nil",
		cursor: "$SETUP\nrows, err := $SEND\nif err != nil {\nreturn \"\", err\n}\ndefer rows.Close()\nvar out []string\nfor rows.Next() {\nvar id int\nvar name, level string\nif err := rows.Scan(&id, &name, &level); err != nil {\nreturn \"\", err\n}\nout = append(out, name)\nif len(out) >= 3 {\nbreak\n}\n}\nreturn out[0], rows.Err()"},
	{lever: &unreadColumns, text: "SELECT * FROM book WHERE title = ?", table: "book", key: "title", lists: true,
		rows: "var rows []Book\n$SETUP\nif err := $SEND; err != nil {\nreturn \"\", err\n}\nout := \"\"\nfor _, r := range rows {\nout += r.Title\n}\nreturn out, nil"},
	{lever: &nPlusOne, text: "SELECT * FROM users WHERE name = ?", table: "users", key: "name",
		hints: map[string]string{"Rebind": byHand, "prepared with names": byHand},
		rows:  "$SETUP\nout := \"\"\nfor _, key := range keys {\nvar rows User\nif err := $GET; err != nil {\nreturn \"\", err\n}\nout += strconv.FormatInt(rows.ID, 10)\n}\nreturn out, nil"},
	{lever: &overread, text: "SELECT id, user_id, kind FROM event WHERE kind = ? ORDER BY id", table: "event", key: "kind", lists: true,
		hints:  map[string]string{"prepared with names": namedMap, "Named": namedMap, "NamedQuery": namedMap},
		rows:   "var rows []Event\n$SETUP\nif err := $SEND; err != nil {\nreturn \"\", err\n}\nout := \"\"\nfor _, r := range rows {\nif r.UserID != user {\ncontinue\n}\nout += r.Kind\n}\nreturn out, nil",
		cursor: "$SETUP\nrows, err := $SEND\nif err != nil {\nreturn \"\", err\n}\ndefer rows.Close()\nout := \"\"\nfor rows.Next() {\nvar id, owner int64\nvar kind string\nif err := rows.Scan(&id, &owner, &kind); err != nil {\nreturn \"\", err\n}\nif owner != user {\ncontinue\n}\nout += kind\n}\nreturn out, rows.Err()"},
	{lever: &rowByRowInsert, text: "INSERT INTO report (at, good) VALUES (?, ?)", table: "report",
		exec: "$SETUP\nfor _, r := range reports {\nif _, err := $SEND; err != nil {\nreturn \"\", err\n}\n}\nreturn \"\", nil"},
}

const formsHead = `package main

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID          int    @db:"id"@
	Name, Level string @db:"name"@
}

type Book struct {
	ID      int64  @db:"id"@
	Title   string @db:"title"@
	Cover   []byte @db:"cover"@
	Comment string @db:"comment"@
}

type User struct {
	ID   int64  @db:"id"@
	Name string @db:"name"@
}

type Event struct {
	ID     int64  @db:"id"@
	UserID int64  @db:"user_id"@
	Kind   string @db:"kind"@
}

type Report struct {
	At   int64 @db:"at"@
	Good bool  @db:"good"@
}

type reader interface {
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
	GetContext(ctx context.Context, dest any, query string, args ...any) error
}

type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type writer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// everything is implemented by *sqlx.DB and *sqlx.Tx only.
type everything interface {
	reader
	asker
	writer
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

type union interface {
	*sqlx.DB | *sqlx.Tx
	everything
}

// counted is implemented by *sqlx.DB, and by counting.
type counted interface {
	Select(dest any, query string, args ...any) error
	Get(dest any, query string, args ...any) error
	Query(query string, args ...any) (*sql.Rows, error)
	Exec(query string, args ...any) (sql.Result, error)
	Prepare(query string) (*sql.Stmt, error)
}

type counting struct {
	*sqlx.DB
	n int
}

func (c *counting) Get(dest any, query string, args ...any) error {
	c.n++
	return c.DB.Get(dest, query, args...)
}

// named has the methods of *sqlx.DB and no others that the interfaces have.
type named struct {
	*sqlx.DB
	name string
}

type store[H everything, U union, C counted] struct {
	db      *sqlx.DB
	q       reader
	all     everything
	h       H
	u       U
	counted counted
	c       C
}

var _ = fmt.Sprint(strconv.Itoa(1))

func main() {}
`

// source is a function that sends the lever's statement in a form.
func (f formLever) source(form sqlForm, body string, id int) string {
	head, tail := f.text[:len(f.text)/2], f.text[len(f.text)/2:]
	named := strings.Replace(f.text, "= ?", "= :x", 1)
	if f.exec != "" {
		named = strings.Replace(f.text, "?, ?", ":at, :good", 1)
	}
	send, closure := strings.CutPrefix(form.send, "CLOSURE ")
	if closure {
		body = "return func() (string, error) {\n" + body + "\n}()"
	}
	arg, dest := "key", "&rows"
	body = strings.NewReplacer("$SETUP", form.setup, "$SEND", send, "$GET", strings.Replace(send, "Select", "Get", 1)).Replace(body)
	all := strings.TrimSpace(form.decl) + "\n\nfunc (s *store[H, U, C]) F$0(ctx context.Context, db *sqlx.DB, plain *sql.DB, tx *sqlx.Tx, q sqlx.Queryer, h reader, p asker, e sqlx.ExecerContext, x writer, " +
		"key string, keys []string, user int64, reports []Report) (string, error) {\n" + body + "\n}\n\n"
	quote := func(s string) string { return `"` + s + `"` }
	return strings.NewReplacer("$Q", quote(f.text), "$N", quote(named), "$I", quote(strings.Replace(f.text, "= ?", "IN (?)", 1)), "$HEAD", quote(head), "$TAIL", quote(tail),
		"$F", quote(strings.Replace(f.text, " "+f.table+" ", " %s ", 1)), "$T", f.table, "$A", arg, "$D", dest, "$0", fmt.Sprint(id)).Replace(all)
}

// bodies are the forms of a lever, each with the use of the rows.
func (f formLever) bodies() (forms []sqlForm, bodies []string) {
	add := func(list []sqlForm, body string) {
		if body == "" {
			return
		}
		for _, form := range list {
			forms, bodies = append(forms, form), append(bodies, body)
		}
	}
	add(readForms, f.rows)
	if f.lists {
		add(listForms, f.rows)
	}
	add(cursorForms, f.cursor)
	add(execForms, f.exec)
	add(fakeReads, f.rows)
	add(fakeCursors, f.cursor)
	add(fakeExecs, f.exec)
	return forms, bodies
}

// TestForms sends the statement of each lever in every form of database/sql and sqlx:
// each place is rewritten, and the rewritten code has no type error.
func TestForms(t *testing.T) {
	tier.Slow(t)
	root := t.TempDir()
	stubs, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, f := range formLevers {
		forms, bodies := f.bodies()
		source := strings.ReplaceAll(formsHead, "@", "`")
		for i, form := range forms {
			source += f.source(form, bodies[i], i)
		}
		dir := filepath.Join(root, "src", f.lever.name())
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, f.lever.name())
	}
	path := root + string(filepath.ListSeparator) + stubs // packages of both
	pkgs := loadGoldens(t, path, nil, patterns)
	if t.Failed() {
		t.FailNow()
	}
	overlay, places := map[string][]byte{}, 0
	for _, f := range formLevers {
		t.Run(f.lever.Code, func(t *testing.T) {
			p := pkgs[f.lever.name()]
			fixed, hinted, fixes := formFixes(t, f.lever, p)
			forms, _ := f.bodies()
			for i, form := range forms {
				name := fmt.Sprintf("(*store[H, U, C]).F%d", i)
				if is := slices.Contains(fixed, name); is == (f.hints[form.name] != "" || isFake(form)) {
					t.Errorf("%s: a fix: %v", form.name, is)
				}
				if isFake(form) && slices.Contains(hinted, name) {
					t.Errorf("%s: a hint", form.name)
				}
			}
			places += len(fixed)
			after, err := goapp.Apply(filesOf(t, p), fixes)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(overlay, after)
		})
	}
	loadGoldens(t, path, overlay, patterns)
	t.Logf("%d forms of %d levers", places, len(formLevers))
}

// formFixes are the functions with a fix of a lever, those with a hint, and the first fix
// of each place.
func formFixes(t *testing.T, l *Lever, p *packages.Package) (fixed, hinted []string, fixes []goapp.Fix) {
	t.Helper()
	graph, err := checker.Analyze([]*analysis.Analyzer{l.Analyzer(testFacts)}, []*packages.Package{p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			t.Fatal(act.Err)
		}
		for _, at := range act.Result.([]place) {
			if h := hitOf(p, l.Code, at); len(h.Variants) > 0 {
				fixed, fixes = append(fixed, h.Func), append(fixes, h.Variants[0])
			} else {
				hinted = append(hinted, h.Func)
				t.Logf("%s: a hint: %s; %s", h.Func, h.What, h.How)
			}
		}
	}
	return fixed, hinted, fixes
}
