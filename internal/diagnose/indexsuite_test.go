package diagnose_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/diagnose"
	"github.com/iikanji/iikanji/internal/facts"
	"github.com/iikanji/iikanji/internal/facts/factstest"
	"github.com/rogpeppe/go-internal/txtar"
)

var (
	only     = flag.String("case", "", "run the suite's cases whose name contains this")
	foreseen = flag.Int("rivals", 2, "rivals per case taken at random from all indexes of one to three columns; -1 for all")
)

// What counts as tied: rows read within a tenth and a few rows, as many as are
// read at the best, one for a point read. Sets that read pages within that are
// tied where a case is about the width of an index.
const (
	tieShare = 1.10
	tieRows  = 5.0
)

// tied says whether what was read is as good as another price. An INSERT of
// values reads nothing and gives nothing away.
func (c indexCase) tied(got, than float64) bool {
	n := 0.0
	for _, q := range c.queries {
		if !strings.Contains(q.SQL, " VALUES (") {
			n += q.Count
		}
	}
	return got <= than*tieShare+n*min(tieRows, max(1, than/n))
}

// An indexCase is one file of testdata/index.
type indexCase struct {
	name         string
	schema, data string
	queries      []diagnose.Query
	best, rivals [][]string // sets of index specifications
	expect       map[string]string
	writes       map[string]float64
}

func readCase(t *testing.T, file string) indexCase {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := indexCase{name: strings.TrimSuffix(filepath.Base(file), ".txt"), expect: map[string]string{}, writes: map[string]float64{}}
	for _, f := range a.Files {
		body := string(f.Data)
		switch f.Name {
		case "schema.sql":
			c.schema = body
		case "data.sql":
			c.data = body
		case "query.sql":
			c.queries = readQueries(body)
		case "best":
			c.best = readSets(body)
		case "rivals":
			c.rivals = readSets(body)
		case "expect":
			for _, line := range strings.Fields(strings.ReplaceAll(body, "orders ", "orders:")) {
				k, v, _ := strings.Cut(line, "=")
				c.expect[k] = v
			}
		default:
			t.Fatalf("%s: unknown part %s", file, f.Name)
		}
	}
	if table, n, ok := strings.Cut(c.expect["writes"], ":"); ok {
		c.writes[table], _ = strconv.ParseFloat(n, 64)
	}
	return c
}

// readQueries reads statements that end with a semicolon; a line "-- x100"
// before one says how often a run sends it.
func readQueries(body string) []diagnose.Query {
	var out []diagnose.Query
	count := 1.0
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		if n, ok := strings.CutPrefix(line, "-- x"); ok {
			count, _ = strconv.ParseFloat(n, 64)
			continue
		}
		out = append(out, diagnose.Query{SQL: strings.TrimSuffix(line, ";"), Count: count})
		count = 1
	}
	return out
}

func readSets(body string) [][]string {
	var out [][]string
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		set := []string{}
		for _, s := range strings.Split(line, ";") {
			if s = strings.TrimSpace(s); s != "" && s != "none" {
				set = append(set, s)
			}
		}
		out = append(out, set)
	}
	return out
}

var specPattern = regexp.MustCompile(`^(SPATIAL )?(\w+)\((.*)\)$`)

// A bed is one case on a real server.
type bed struct {
	t    *testing.T
	ctx  context.Context
	c    indexCase
	db   *sql.DB
	conn *sql.Conn
	memo map[string]float64
}

func (b *bed) exec(q string) {
	b.t.Helper()
	if _, err := b.conn.ExecContext(b.ctx, q); err != nil {
		b.t.Fatalf("%s: %v", q, err)
	}
}

// price builds a set of indexes, runs the queries and takes the set away
// again. It returns what was read, weighted by how often a run sends each.
func (b *bed) price(set []string) float64 {
	key := strings.ToLower(strings.Join(set, ";"))
	if v, ok := b.memo[key]; ok {
		return v
	}
	tables := map[string]bool{}
	for i, spec := range set {
		m := specPattern.FindStringSubmatch(spec)
		if m == nil {
			b.t.Fatalf("%s: %q is no index", b.c.name, spec)
		}
		b.exec(fmt.Sprintf("CREATE %s INDEX suite_%d ON %s (%s)", m[1], i, m[2], m[3]))
		tables[m[2]] = true
	}
	for table := range tables {
		b.exec("ANALYZE TABLE " + table)
	}
	sum := 0.0
	for _, q := range b.c.queries {
		sum += q.Count * b.run(q.SQL)
	}
	for i, spec := range set {
		b.exec(fmt.Sprintf("DROP INDEX suite_%d ON %s", i, specPattern.FindStringSubmatch(spec)[2]))
	}
	b.memo[key] = sum
	return sum
}

const pagesQuery = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_READ_REQUESTS'"

// run runs one statement, twice where pages are counted, inside a transaction
// that is rolled back.
func (b *bed) run(q string) float64 {
	if b.c.expect["measure"] == "pages" {
		b.once(q)
		before := b.number(pagesQuery)
		b.once(q)
		return b.number(pagesQuery) - before
	}
	b.once(q) // opens the tables and reads their statistics
	b.exec("FLUSH STATUS")
	b.once(q)
	return b.handlers()
}

func (b *bed) once(q string) {
	b.exec("BEGIN")
	rows, err := b.conn.QueryContext(b.ctx, q)
	if err != nil {
		b.t.Fatalf("%s: %s: %v", b.c.name, q, err)
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	rows.Close()
	b.exec("ROLLBACK")
}

func (b *bed) number(q string) float64 {
	var v float64
	if err := b.conn.QueryRowContext(b.ctx, q).Scan(&v); err != nil {
		b.t.Fatal(err)
	}
	return v
}

// handlers sums what the session read: rows by index and by scan, entries that
// the engine tested and threw away, rows sorted, rows put into temporary tables.
func (b *bed) handlers() float64 {
	rows, err := b.conn.QueryContext(b.ctx, "SHOW SESSION STATUS")
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	sum := 0.0
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			b.t.Fatal(err)
		}
		v, _ := strconv.ParseFloat(value, 64)
		switch {
		case strings.HasPrefix(name, "Handler_read_"), name == "Handler_icp_attempts", name == "Sort_rows", name == "Handler_tmp_write":
			sum += v
		case name == "Handler_icp_match":
			sum -= v
		}
	}
	return sum
}

// advise asks the advisor, with facts of the server.
func (b *bed) advise() diagnose.Advice {
	srv, err := facts.Connect(b.ctx, b.db, 5*time.Second)
	if err != nil {
		b.t.Fatal(err)
	}
	defer srv.Close()
	w := diagnose.Workload{Queries: b.c.queries, Writes: map[string]float64{}}
	for table, n := range b.c.writes {
		w.Writes["suite."+table] = n
	}
	tables, err := srv.Tables(b.ctx, "suite")
	if err != nil {
		b.t.Fatal(err)
	}
	s := diagnose.NewSchema(srv.Dialect())
	add := func() {
		for _, t := range tables {
			s.Add(t.Table, t.Size)
		}
	}
	add()
	shares := map[string]map[string]float64{}
	for _, q := range s.Questions(w) {
		i := slices.IndexFunc(tables, func(t facts.SizedTable) bool { return t.Name == q.Table })
		if err := srv.Distinct(b.ctx, &tables[i], q.Columns); err != nil {
			b.t.Fatal(err)
		}
		if shares[q.Table], err = srv.Selectivity(b.ctx, tables[i], q.Predicates); err != nil {
			b.t.Fatal(err)
		}
	}
	add()
	for table, m := range shares {
		for p, v := range m {
			s.Measured("suite", table, p, v)
		}
	}
	return s.Advise(w)
}

func specs(a diagnose.Advice) []string {
	var out []string
	for _, p := range a.Add {
		var parts []string
		for _, k := range p.Index.Parts {
			k.Column = "`" + k.Column + "`"
			parts = append(parts, k.String())
		}
		kind := ""
		if p.Index.Kind == "spatial" {
			kind = "SPATIAL "
		}
		out = append(out, kind+p.Table.Name+"("+strings.Join(parts, ", ")+")")
	}
	return out
}

// An outcome is what a case came to.
type outcome struct {
	name, verdict   string
	advised         []string
	none, got, best float64
	bestSet         []string
	alsoWrongIn     string
}

// judge compares the advised set with none, the known best and the rivals.
func (b *bed) judge(a diagnose.Advice) outcome {
	o := outcome{name: b.c.name, advised: specs(a)}
	o.none, o.got = b.price(nil), b.price(o.advised)
	o.best, o.bestSet = o.none, nil
	wantNone := len(b.c.best) == 1 && len(b.c.best[0]) == 0
	fewest := 99
	for _, set := range slices.Concat(b.c.best, b.c.rivals, b.unforeseen()) {
		if v := b.price(set); v < o.best {
			o.best, o.bestSet = v, set
		}
	}
	for _, set := range b.c.best {
		fewest = min(fewest, len(set))
	}
	switch {
	case wantNone && len(o.advised) > 0:
		o.verdict = "harmful"
	case wantNone:
		o.verdict = "best"
	case !b.c.tied(o.got, o.none):
		o.verdict = "harmful"
	case !b.c.tied(o.got, o.best):
		o.verdict = "worse"
	case len(o.advised) > fewest:
		o.verdict = "fat"
	default:
		o.verdict = "best"
	}
	if o.verdict == "best" {
		if why := b.extras(a); why != "" {
			o.verdict, o.alsoWrongIn = "worse", why
		}
	}
	if left := b.without(a); !b.c.tied(left, min(o.none, o.got)) {
		o.verdict, o.alsoWrongIn = "harmful", fmt.Sprintf("what it drops makes %.0f of %.0f", left, o.got)
	}
	return o
}

// without prices the advice as a whole: what it adds is built, and all that it
// drops or replaces is gone. The indexes do not come back.
func (b *bed) without(a diagnose.Advice) float64 {
	gone := map[string]bool{}
	for _, d := range a.Drop {
		gone[d.Table.Name+" DROP INDEX `"+d.Index.Name+"`"] = true
	}
	for _, p := range a.Add {
		if p.Replaces != nil {
			gone[p.Table.Name+" DROP INDEX `"+p.Replaces.Name+"`"] = true
		}
	}
	for drop := range gone {
		b.exec("ALTER TABLE " + drop)
	}
	if len(gone) > 0 {
		clear(b.memo)
	}
	return b.price(specs(a))
}

// unforeseen are rivals that the case's author did not think of: of all
// indexes of one to three columns that the queries name, in all directions
// that differ, some at random, always the same for one case.
func (b *bed) unforeseen() [][]string {
	var all [][]string
	for table, columns := range b.named() {
		var grow func(parts []string, left []string)
		grow = func(parts, left []string) {
			if len(parts) > 0 {
				all = append(all, []string{table + "(" + strings.Join(parts, ", ") + ")"})
			}
			if len(parts) == 3 {
				return
			}
			for i, c := range left {
				rest := slices.Delete(slices.Clone(left), i, i+1)
				grow(append(slices.Clone(parts), c), rest)
				if len(parts) > 0 {
					grow(append(slices.Clone(parts), c+" DESC"), rest)
				}
			}
		}
		grow(nil, columns)
	}
	if *foreseen < 0 {
		return all
	}
	slices.SortFunc(all, func(x, y []string) int { return strings.Compare(x[0], y[0]) })
	h := fnv.New64a()
	h.Write([]byte(b.c.name))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(*foreseen, len(all))]
}

// named lists, by table, the columns that the case's queries name and that an
// index can hold whole.
func (b *bed) named() map[string][]string {
	text := ""
	for _, q := range b.c.queries {
		text += " " + q.SQL
	}
	out := map[string][]string{}
	rows, err := b.conn.QueryContext(b.ctx, `SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS
		WHERE TABLE_SCHEMA = 'suite' AND DATA_TYPE NOT IN ('text', 'mediumblob', 'point') ORDER BY TABLE_NAME, ORDINAL_POSITION`)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			b.t.Fatal(err)
		}
		if regexp.MustCompile(`\b`+column+`\b`).MatchString(text) && regexp.MustCompile(`\b`+table+`\b`).MatchString(text) {
			out[table] = append(out[table], "`"+column+"`")
		}
	}
	return out
}

// extras checks what a case expects beyond the index itself.
func (b *bed) extras(a diagnose.Advice) string {
	var drops, marks []string
	for _, d := range a.Drop {
		drops = append(drops, d.Index.Name)
	}
	for _, m := range a.Marks {
		marks = append(marks, m.Why)
	}
	if got := strings.Join(drops, ","); got != b.c.expect["drop"] {
		return fmt.Sprintf("drops %q, want %q", got, b.c.expect["drop"])
	}
	if want := b.c.expect["mark"]; want != "" && !slices.Contains(marks, want) {
		return fmt.Sprintf("marks %q, want %q", marks, want)
	}
	if want := b.c.expect["replace"]; want != "" && (len(a.Add) != 1 || a.Add[0].Replaces == nil || a.Add[0].Replaces.Name != want || a.Add[0].Wrong != (b.c.expect["wrong"] == "" && hasKey(b.c.expect, "wrong"))) {
		return "replaces another index than " + want
	}
	if want := b.c.expect["parts"]; want != "" && (len(a.Add) != 1 || strconv.Itoa(len(a.Add[0].Index.Parts)) != want) {
		return "wider than " + want
	}
	if len(a.Unread) > 0 {
		return a.Unread[0].Err.Error()
	}
	return ""
}

func hasKey(m map[string]string, k string) bool { _, ok := m[k]; return ok }

// TestIndexAdvice builds what the advisor says on a real MariaDB and compares
// rows read with none, the known best index and its rivals.
func TestIndexAdvice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
	defer cancel()
	files, err := filepath.Glob("testdata/index/*.txt")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d cases, %v; want at least 60", len(files), err)
	}
	srv, err := factstest.Start(ctx, "", "--innodb-stats-auto-recalc=0", "--optimizer-switch=default")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	count := map[string]int{}
	var table strings.Builder
	for _, f := range files {
		c := readCase(t, f)
		if !strings.Contains(c.name, *only) {
			continue
		}
		o := runCase(ctx, t, srv, c)
		count[o.verdict]++
		fmt.Fprintf(&table, "%-7s %-22s %9.0f %9.0f %9.0f  %s", o.verdict, o.name, o.none, o.got, o.best, strings.Join(o.advised, "; "))
		if o.verdict != "best" {
			fmt.Fprintf(&table, "  [%s] best: %s", o.alsoWrongIn, strings.Join(o.bestSet, "; "))
		}
		table.WriteString("\n")
	}
	t.Logf("\nverdict case                        none   advised      best  advice\n%s%v", table.String(), count)
	if *only == "" {
		if good := float64(count["best"]) / float64(len(files)); good < 0.95 || count["harmful"] > 0 {
			t.Errorf("%.1f %% best or tied, want at least 95; %d harmful, want none", good*100, count["harmful"])
		}
	}
}

func runCase(ctx context.Context, t *testing.T, srv *factstest.Server, c indexCase) outcome {
	t.Helper()
	db, err := srv.Open(ctx, "suite")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b := &bed{t: t, ctx: ctx, c: c, db: db, conn: conn, memo: map[string]float64{}}
	b.exec(c.schema)
	b.exec(c.data)
	for _, m := range regexp.MustCompile(`CREATE TABLE (\w+)`).FindAllStringSubmatch(c.schema, -1) {
		b.exec("ANALYZE TABLE " + m[1])
	}
	return b.judge(b.advise())
}
