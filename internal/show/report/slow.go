package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// slowColumns are the columns of statement rows, in the order of the full
// formats (TSV, CSV). Text tables show a few of them.
var slowColumns = []struct {
	name string
	left bool
	cell func(r *iikanji.Row, q *iikanji.SQLRow) string // exact, for programs
}{
	{"digest", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return q.Digest }},
	{"count", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatInt(r.Count, 10) }},
	{"total", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.Total) }},
	{"share", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatFloat(r.Share, 'f', 4, 64) }},
	{"mean", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.Mean) }},
	{"stddev", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.Stddev) }},
	{"min", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.Min) }},
	{"p50", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.P50) }},
	{"p90", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.P90) }},
	{"p95", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.P95) }},
	{"p99", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.P99) }},
	{"max", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(r.Max) }},
	{"v/m", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatFloat(q.VM, 'f', 6, 64) }},
	{"lock", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return knownSeconds(q.Lock, q.NoLock()) }},
	{"rows_sent", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return knownRows(q.Sent, q.NoSent) }},
	{"mean_sent", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return knownRatio(q.Sent, r.Count, q.NoSent) }},
	{"rows_examined", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return knownRows(q.Examined, q.NoExamined) }},
	{"mean_examined", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return knownRatio(q.Examined, r.Count, q.NoExamined) }},
	{"examined_per_sent", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return knownRatio(q.Examined, q.Sent, q.NoExamined) }},
	{"rows_affected", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatInt(q.Affected, 10) }},
	{"bytes_sent", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatInt(int64(q.BytesSent), 10) }},
	{"full_scan", false, func(r *iikanji.Row, q *iikanji.SQLRow) string {
		return knownRows(q.FullScan, q.NoExamined && q.FullScan == 0)
	}},
	{"full_join", false, func(r *iikanji.Row, q *iikanji.SQLRow) string {
		return knownRows(q.FullJoin, q.NoExamined && q.FullJoin == 0)
	}},
	{"filesort", false, func(r *iikanji.Row, q *iikanji.SQLRow) string {
		return knownRows(q.Filesort, q.NoExamined && q.Filesort == 0)
	}},
	{"tmp_table", false, func(r *iikanji.Row, q *iikanji.SQLRow) string {
		return knownRows(q.TmpTable, q.NoExamined && q.TmpTable == 0)
	}},
	{"tmp_disk", false, func(r *iikanji.Row, q *iikanji.SQLRow) string {
		return knownRows(q.TmpDisk, q.NoExamined && q.TmpDisk == 0)
	}},
	{"errors", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatInt(r.Errors, 10) }},
	{"prepares", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strconv.FormatInt(q.Prepares, 10) }},
	{"prepares_per_execution", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return ratio(q.Prepares, r.Count) }},
	{"prepare_time", false, func(r *iikanji.Row, q *iikanji.SQLRow) string { return seconds(q.PrepareTime) }},
	{"db", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return q.DB }},
	{"tables", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return strings.Join(q.Tables, ",") }},
	{"statement", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return r.Key }},
	{"typical", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return q.Typical.Text }},
	{"worst", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return r.Example.Text }},
	{"worst_at", true, func(r *iikanji.Row, q *iikanji.SQLRow) string { return place(r.Example) }},
}

func place(s iikanji.Sighting) string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }

// knownSeconds is a time in seconds, empty if the source does not have it.
func knownSeconds(d time.Duration, unknown bool) string {
	if unknown {
		return ""
	}
	return seconds(d)
}

// knownRows is a number of rows or executions, empty if the source does not count them.
func knownRows(n int64, unknown bool) string {
	if unknown {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func knownRatio(a, b int64, unknown bool) string {
	if unknown {
		return ""
	}
	return ratio(a, b)
}

// rowsOrDash is a number of rows for people.
func rowsOrDash(n int64, unknown bool) string {
	if unknown {
		return "-"
	}
	return Count(n)
}

func ratio(a, b int64) string {
	if b == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(a)/float64(b), 'f', 2, 64)
}

// SlowFull returns the table of all columns, in seconds and whole numbers.
func SlowFull(p *iikanji.Profile) *Table {
	t := &Table{}
	for _, c := range slowColumns {
		t.Columns = append(t.Columns, Column{Name: c.name, Left: c.left})
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Query == nil {
			continue
		}
		cells := make([]string, len(slowColumns))
		for j, c := range slowColumns {
			if !unknownColumn(c.name, r) {
				cells[j] = c.cell(r, r.Query)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// ofTimes are the columns of times, ofMySQL those that only MySQL and MariaDB have.
var (
	ofTimes = []string{"total", "share", "mean", "stddev", "min", "p50", "p90", "p95", "p99", "max", "v/m"}
	ofMySQL = []string{"lock", "rows_affected", "bytes_sent", "full_scan", "full_join", "filesort", "tmp_table", "tmp_disk", "prepares", "prepares_per_execution", "prepare_time"}
)

// unknownColumn reports whether the source of a row does not have what a column shows: a
// source that does not count the rows examined is no slow log of MySQL.
func unknownColumn(name string, r *iikanji.Row) bool {
	return r.Untimed && slices.Contains(ofTimes, name) || r.Query.NoExamined && slices.Contains(ofMySQL, name)
}

// slowBrief returns the table for people: where the time went.
func slowBrief(p *iikanji.Profile) *Table {
	t := &Table{Columns: []Column{{Name: "total"}, {Name: "share"}, {Name: "count"}, {Name: "mean"}, {Name: "p99"},
		{Name: "ex/sent"}, {Name: "plan", Left: true}, {Name: "statement", Left: true, Shrink: true}}}
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Query == nil {
			continue
		}
		total, share, mean := Duration(r.Total), Percent(r.Share), Duration(r.Mean)
		if r.Untimed {
			total, share, mean = "-", "-", "-"
		}
		t.Rows = append(t.Rows, []string{total, share, Count(r.Count), mean, known(r.P99),
			brief(knownRatio(r.Query.Examined, r.Query.Sent, r.Query.NoExamined)), queryPlanLetters(r), r.Key})
	}
	return t
}

// known formats a percentile; "-" when the source has none.
func known(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return Duration(d)
}

// brief shortens a ratio: no decimals from 100 on, otherwise one.
func brief(ratio string) string {
	v, err := strconv.ParseFloat(ratio, 64)
	if err != nil {
		return "-"
	}
	if v >= 100 {
		return Count(int64(v + 0.5))
	}
	return strings.TrimSuffix(strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0"), " ")
}

// queryPlanLetters abbreviates what any execution of a digest had: S full scan, J full
// join, F filesort, T temporary table, D temporary table on disk, E errors.
func queryPlanLetters(r *iikanji.Row) string {
	q, out := r.Query, ""
	for _, c := range []struct {
		n      int64
		letter string
	}{{q.FullScan, "S"}, {q.FullJoin, "J"}, {q.Filesort, "F"}, {q.TmpTable, "T"}, {q.TmpDisk, "D"}, {r.Errors, "E"}} {
		if c.n > 0 {
			out += c.letter
		}
	}
	if out == "" {
		return "-"
	}
	return out
}

// SlowText writes the report for people: what was read, digests, transactions,
// statements prepared too often, and repetition, each limited to limit rows (0
// for all).
func SlowText(w io.Writer, p *iikanji.Profile, f Format, cols, limit int) error {
	o := &out{w: w}
	intake(o, p, f)
	cut := *p
	cut.Rows = head(p.Rows, limit)
	o.section(f, "")
	o.table(slowBrief(&cut), f, cols)
	o.more(len(p.Rows) - len(cut.Rows))
	if f == Text || f == "" {
		o.line("plan: S full scan, J join without index, F filesort, T temporary table,")
		o.line("D on disk, E errors; ex/sent: rows examined per row sent")
		slowExamples(o, &cut, cols)
	}
	if n := len(p.Transactions); n > 0 {
		o.section(f, "transactions")
		o.table(transactionTable(head(p.Transactions, limit)), f, cols)
		o.more(n - len(head(p.Transactions, limit)))
	}
	if t := churnTable(p, limit); len(t.Rows) > 0 {
		o.section(f, "prepared again: statements prepared for few executions each")
		o.table(t, f, cols)
	}
	if n := len(p.Repeats); n > 0 {
		o.section(f, "repeated on one thread: N+1 (other values) and fetched again (same values)")
		o.table(repeatTable(head(p.Repeats, limit)), f, cols)
		o.more(n - len(head(p.Repeats, limit)))
	}
	return o.err
}

// examples is the number of digests that are shown with a statement of each.
const examples = 5

// took formats the time of an example of a row.
func took(r *iikanji.Row, s iikanji.Sighting) string {
	if r.Untimed {
		return "-"
	}
	return Duration(s.Took)
}

// slowExamples shows the heaviest digests with their worst statements.
func slowExamples(o *out, p *iikanji.Profile, cols int) {
	for i := range head(p.Rows, examples) {
		r := &p.Rows[i]
		q := r.Query
		if q == nil {
			continue
		}
		o.blank()
		lock, vm := Duration(q.Lock), fmt.Sprintf("%.2f", q.VM)
		if q.NoLock() {
			lock = "-"
		}
		if r.Untimed {
			vm = "-"
		}
		o.line("%d. %s  lock %s  v/m %s  rows sent %s, examined %s", i+1, q.Digest, lock, vm, rowsOrDash(q.Sent, q.NoSent), rowsOrDash(q.Examined, q.NoExamined))
		if len(q.Tables) > 0 {
			o.line("   tables %s", strings.Join(q.Tables, ", "))
		}
		if q.Typical.Text != "" {
			o.line("   typical %s: %s", took(r, q.Typical), shortSQL(q.Typical.Text, cols))
		}
		if r.Example.Text != "" {
			o.line("   worst %s at %s: %s", took(r, r.Example), place(r.Example), shortSQL(r.Example.Text, cols))
		}
	}
}

// shortSQL shortens a statement to about three lines of a terminal.
func shortSQL(s string, cols int) string { return Shorten(Clean(s), 3*max(cols, 40)) }

func head[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

func transactionTable(ts []iikanji.Transaction) *Table {
	t := &Table{Columns: []Column{{Name: "total"}, {Name: "count"}, {Name: "mean"}, {Name: "commit"}, {Name: "c.share"}, {Name: "l.share"}, {Name: "rollb."}, {Name: "transaction", Left: true, Shrink: true}}}
	for _, x := range ts {
		t.Rows = append(t.Rows, []string{Duration(x.Total), Count(x.Count), Duration(per(x.Total, x.Count)), Duration(x.Commit), share(x.Commit, x.Total), share(x.Lock, x.Total), Count(x.Rollbacks), x.Shape})
	}
	return t
}

func churnTable(p *iikanji.Profile, limit int) *Table {
	t := &Table{Columns: []Column{{Name: "lost"}, {Name: "prepares"}, {Name: "executions"}, {Name: "per exec."}, {Name: "statement", Left: true, Shrink: true}}}
	for i := range p.Rows {
		r := &p.Rows[i]
		if q := r.Query; q != nil && q.Prepares > 0 && (limit == 0 || len(t.Rows) < limit) {
			t.Rows = append(t.Rows, []string{Duration(q.PrepareTime), Count(q.Prepares), Count(r.Count), ratio(q.Prepares, r.Count), r.Key})
		}
	}
	return t
}

func repeatTable(rs []iikanji.Repeat) *Table {
	t := &Table{Columns: []Column{{Name: "n+1"}, {Name: "time"}, {Name: "runs"}, {Name: "longest"}, {Name: "again"}, {Name: "time"}, {Name: "statement", Left: true, Shrink: true}}}
	for _, x := range rs {
		t.Rows = append(t.Rows, []string{Count(x.Count), Duration(x.Time), Count(x.Runs), Count(x.Longest), Count(x.Same), Duration(x.SameTime), x.Key})
	}
	return t
}

func per(d time.Duration, n int64) time.Duration {
	if n == 0 {
		return 0
	}
	return d / time.Duration(n)
}

func share(part, all time.Duration) string {
	if all == 0 {
		return "-"
	}
	return Percent(float64(part) / float64(all))
}
