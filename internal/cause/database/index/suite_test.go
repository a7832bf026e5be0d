package index_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
	"github.com/rogpeppe/go-internal/txtar"
)

var (
	only     = flag.String("case", "", "run the suite's cases whose name contains this")
	foreseen = flag.Int("rivals", 2, "rivals per case taken at random from all indexes of one to three columns; -1 for all")
)

// Limits within which two results are tied: a tenth of the rows read, plus a few
// rows, as many as the best set reads, one for a point read. Cases about the width
// of an index or about look-ups compare pages read instead of rows.
const (
	tieShare  = 1.10
	tieRows   = 5.0
	lostShare = 1.02 // largest ratio of rows read after and before an index is dropped
)

// aheadPages is the number of pages that one execution reads for prefetched rows:
// InnoDB fetches 8 rows at once if a whole key prefix is given and the index is
// read forwards, and none if it is read backwards. Both take the same time.
const aheadPages = 8 * 2

// A measure is a quantity in which two costs are compared, with the difference for
// one execution that is possible with any index.
type measure struct {
	of    func(cost) float64
	slack float64
}

var (
	byRows  = measure{func(c cost) float64 { return c.rows }, 0}
	byPages = measure{func(c cost) float64 { return c.pages }, 0}
	byWork  = measure{cost.work, aheadPages}
)

// measures are the quantities by which sets of indexes are compared: rows and work,
// each separately. A case in which rows do not depend on the indexes is marked, and
// only its pages are counted.
func (c indexCase) measures() []measure {
	if c.expect["measure"] == "pages" {
		return []measure{byPages}
	}
	return []measure{byWork, byRows}
}

// reads counts the executions that read something: not an INSERT of values.
func (c indexCase) reads() float64 {
	n := 0.0
	for _, q := range c.queries {
		if !strings.Contains(q.SQL, " VALUES (") {
			n += q.Count
		}
	}
	return n
}

// tied reports whether a cost is as good as another one.
func (c indexCase) tied(m measure, got, than cost) bool {
	n, best := c.reads(), m.of(than)
	return m.of(got) <= best*tieShare+n*(m.slack+min(tieRows, max(1, best/n)))
}

// An indexCase is one file of testdata/index.
type indexCase struct {
	name         string
	schema, data string
	queries      []index.Query
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

// readQueries parses statements that end with a semicolon. A line "-- x100" before
// a statement is the number of times that a run sends it.
func readQueries(body string) []index.Query {
	var out []index.Query
	count := 1.0
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		if n, ok := strings.CutPrefix(line, "-- x"); ok {
			count, _ = strconv.ParseFloat(n, 64)
			continue
		}
		out = append(out, index.Query{SQL: strings.TrimSuffix(line, ";"), Count: count})
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

// A bed is one case, loaded into a real server.
type bed struct {
	t    *testing.T
	ctx  context.Context
	c    indexCase
	db   *sql.DB
	conn *sql.Conn
	memo map[string]cost
}

// A cost is the rows and pages that the queries of a case read, each weighted by how
// often a run sends it.
type cost struct{ rows, pages float64 }

// work counts each page read as one row, because finding the page and searching in
// it takes about as long. Unlike rows alone, it distinguishes look-ups from entries
// of a covering index.
func (c cost) work() float64 { return c.rows + c.pages }

func (c cost) plus(n float64, d cost) cost { return cost{c.rows + n*d.rows, c.pages + n*d.pages} }

func (b *bed) exec(q string) {
	b.t.Helper()
	if _, err := b.conn.ExecContext(b.ctx, q); err != nil {
		b.t.Fatalf("%s: %v", q, err)
	}
}

// costs is the cost with a set of indexes, measured once.
func (b *bed) costs(set []string) cost {
	key := strings.ToLower(strings.NewReplacer("`", "", " ", "").Replace(strings.Join(set, ";")))
	if v, ok := b.memo[key]; ok {
		return v
	}
	c := b.build(set)
	b.memo[key] = c
	return c
}

// again measures a set once more. The smaller cost is correct, because background
// work of the server can only increase it.
func (b *bed) again(set []string, was cost) cost {
	c := b.build(set)
	return cost{min(c.rows, was.rows), min(c.pages, was.pages)}
}

// build builds a set of indexes, runs the queries and drops the set.
func (b *bed) build(set []string) cost {
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
	sum := cost{}
	for _, q := range b.c.queries {
		sum = sum.plus(q.Count, b.run(q.SQL))
	}
	for i, spec := range set {
		b.exec(fmt.Sprintf("DROP INDEX suite_%d ON %s", i, specPattern.FindStringSubmatch(spec)[2]))
	}
	return sum
}

const pagesQuery = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_READ_REQUESTS'"

// run runs one statement inside a transaction that is rolled back: once to open
// the tables and read their statistics, and then to measure.
func (b *bed) run(q string) cost {
	b.once(q)
	c := cost{pages: math.Inf(1)}
	for range 2 { // the server's background threads read pages, too
		before := b.number(pagesQuery)
		b.exec("FLUSH STATUS")
		b.once(q)
		c.rows = b.handlers()
		c.pages = min(c.pages, b.number(pagesQuery)-before)
	}
	return c
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

// handlers sums the session's reads: rows by index and by scan, entries that the
// engine tested and rejected, rows sorted, rows written to temporary tables.
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

// advise runs the advisor with facts of the server.
func (b *bed) advise() index.Advice {
	srv, err := facts.Connect(b.ctx, b.db, 5*time.Second)
	if err != nil {
		b.t.Fatal(err)
	}
	defer srv.Close()
	w := index.Workload{Queries: b.c.queries, Writes: map[string]float64{}}
	for table, n := range b.c.writes {
		w.Writes["suite."+table] = n
	}
	tables, err := srv.Tables(b.ctx, "suite")
	if err != nil {
		b.t.Fatal(err)
	}
	s := index.NewSchema(srv.Dialect())
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
		if shares[q.Table], err = srv.Selectivity(b.ctx, &tables[i], q.Predicates); err != nil {
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

func specs(a index.Advice) []string {
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

// An outcome is the result of a case.
type outcome struct {
	name, verdict   string
	advised         []string
	none, got, best float64
	bestSet         []string
	alsoWrongIn     string
}

// judge compares the advised set with none, the known best and the rivals.
func (b *bed) judge(a index.Advice) outcome {
	o := outcome{name: b.c.name, advised: specs(a)}
	wantNone := len(b.c.best) == 1 && len(b.c.best[0]) == 0
	none, got := b.costs(nil), b.costs(o.advised)
	fewest := 99
	for _, set := range b.c.best {
		fewest = min(fewest, len(set))
	}
	rivals := slices.Concat(b.c.best, b.c.rivals, b.unforeseen())
	for _, m := range b.c.measures() {
		best := none
		o.bestSet = nil
		for _, set := range rivals {
			if c := b.costs(set); m.of(c) < m.of(best) {
				best, o.bestSet = c, set
			}
		}
		for range 2 {
			if !b.c.tied(m, got, best) {
				got = b.again(o.advised, got)
			}
		}
		o.none, o.got, o.best = m.of(none), m.of(got), m.of(best)
		switch {
		case wantNone && len(o.advised) > 0:
			o.verdict = "harmful"
		case wantNone:
			o.verdict = "best"
		case !b.c.tied(m, got, none):
			o.verdict = "harmful"
		case !b.c.tied(m, got, best):
			o.verdict = "worse"
		case len(o.advised) > fewest:
			o.verdict = "fat"
		default:
			o.verdict = "best"
		}
		if o.verdict != "best" {
			break
		}
	}
	if o.verdict == "best" {
		if short := b.idle(o.advised); short != "" {
			o.verdict, o.alsoWrongIn = "fat", short+" would do"
		}
	}
	if o.verdict == "best" {
		if why := b.extras(a); why != "" {
			o.verdict, o.alsoWrongIn = "worse", why
		}
	}
	left := b.without(a)
	for range 2 {
		if b.c.harmed(left, none) || b.c.harmed(left, got) {
			left = b.again(o.advised, left)
		}
	}
	if b.c.harmed(left, none) || b.c.harmed(left, got) {
		o.verdict, o.alsoWrongIn = "harmful", fmt.Sprintf("what it drops makes %.0f rows and %.0f pages of %.0f and %.0f", left.rows, left.pages, got.rows, got.pages)
	}
	return o
}

// harmed reports whether the queries read more than before indexes were dropped: more
// rows, beyond one for each execution, or much more work.
func (c indexCase) harmed(after, before cost) bool {
	return after.rows > before.rows*lostShare+c.reads() || !c.tied(byWork, after, before)
}

// idle is an index of a set without its last part, if the queries read neither more
// rows nor more pages without this part; "" if every part is useful.
func (b *bed) idle(set []string) string {
	all := b.costs(set)
	for i, spec := range set {
		at := strings.LastIndex(spec, ", ")
		if at < 0 {
			continue
		}
		short := slices.Clone(set)
		short[i] = spec[:at] + ")"
		c := b.costs(short)
		tied := func() bool { return b.c.tied(byRows, c, all) && b.c.tied(byPages, c, all) }
		if !tied() { // background work of the server may be in one of the two
			c, all = b.again(short, c), b.again(set, all)
		}
		if tied() {
			return short[i]
		}
	}
	return ""
}

// without measures the whole advice: the new indexes are built, and all dropped or
// replaced indexes are removed. They are not restored.
func (b *bed) without(a index.Advice) cost {
	gone, tables := map[string]bool{}, map[string]bool{}
	for _, d := range a.Drop {
		tables[d.Table.Name] = true
		gone[d.Table.Name+" DROP INDEX `"+d.Index.Name+"`"] = true
	}
	for _, p := range a.Add {
		if p.Replaces != nil {
			tables[p.Table.Name] = true
			gone[p.Table.Name+" DROP INDEX `"+p.Replaces.Name+"`"] = true
		}
	}
	for drop := range gone {
		b.exec("ALTER TABLE " + drop)
	}
	for table := range tables { // statistics in the background could change a plan between two measurements
		b.exec("ANALYZE TABLE " + table)
	}
	if len(gone) > 0 {
		clear(b.memo)
	}
	return b.costs(specs(a))
}

// unforeseen are generated rivals, beyond those in the case's file: a random sample
// of all indexes of one to three columns that the queries name, in all different
// directions. The sample is always the same for one case.
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

// named lists, by table, the columns that the case's queries name and that an index
// can contain as a whole.
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
func (b *bed) extras(a index.Advice) string {
	var drops, marks []string
	for _, d := range a.Drop {
		drops = append(drops, d.Index.Name)
	}
	for _, m := range a.Marks {
		marks = append(marks, m.Obstacle)
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

// TestIndexAdvice builds the advised indexes on a real MariaDB and compares the rows
// read with those of no index, of the known best index and of its rivals.
func TestIndexAdvice(t *testing.T) {
	tier.Slow(t)
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
		var o outcome
		inBed(ctx, t, srv, c, func(b *bed) { o = b.judge(b.advise()) })
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

// inBed loads a case into the server and passes it to a function.
func inBed(ctx context.Context, t *testing.T, srv *factstest.Server, c indexCase, then func(*bed)) {
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
	b := &bed{t: t, ctx: ctx, c: c, db: db, conn: conn, memo: map[string]cost{}}
	b.exec(c.schema)
	b.exec(c.data)
	for _, m := range regexp.MustCompile(`CREATE TABLE (\w+)`).FindAllStringSubmatch(c.schema, -1) {
		b.exec("ANALYZE TABLE " + m[1])
	}
	then(b)
}

// TestSuiteSees checks that the suite detects each kind of wrong advice that it
// distinguishes.
func TestSuiteSees(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	srv, err := factstest.Start(ctx, "", "--innodb-stats-auto-recalc=0", "--optimizer-switch=default")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	orders := catalog.Table{Name: "orders"}
	add := func(columns ...string) index.Advice {
		p := index.Proposal{Table: orders, Index: catalog.Index{Kind: "btree"}}
		for _, c := range columns {
			p.Index.Parts = append(p.Index.Parts, catalog.IndexPart{Column: c})
		}
		return index.Advice{Add: []index.Proposal{p}}
	}
	drop := func(names ...string) (a index.Advice) {
		for _, n := range names {
			a.Drop = append(a.Drop, index.Dropped{Table: orders, Index: catalog.Index{Name: n}})
		}
		return a
	}
	replace := add("total")
	replace.Add[0].Replaces = &catalog.Index{Name: "a"}
	for _, c := range []struct {
		file, why string
		advice    index.Advice
		want      string
	}{
		{"redundant-written", "both of two that do the same go", drop("a", "b"), "harmful"},
		{"redundant-written", "the other one of the two goes", drop("b"), "worse"},
		{"redundant-written", "the one that is redundant goes", drop("a"), "best"},
		{"redundant-prefix", "the longer one goes, which a query needs", drop("b"), "harmful"},
		{"unused", "the index that is used is replaced by one that is not", replace, "harmful"},
		{"eq-one", "the index that is right", add("user_id"), "best"},
		{"eq-one", "a column that does nothing", add("user_id", "status"), "fat"},
		{"eq-one", "an index that is not used", add("note"), "worse"},
		{"low-common", "an index where none should be", add("status"), "harmful"},
	} {
		inBed(ctx, t, srv, readCase(t, "testdata/index/"+c.file+".txt"), func(b *bed) {
			if o := b.judge(c.advice); o.verdict != c.want {
				t.Errorf("%s, %s: %q (%s), want %q", c.file, c.why, o.verdict, o.alsoWrongIn, c.want)
			}
		})
	}
}
