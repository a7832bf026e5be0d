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

// SlowPT writes statements in the layout of pt-query-digest's report: overall,
// profile, then each query with its attributes, distribution, tables and worst
// statement. limit is the number of queries, 0 for all.
func SlowPT(w io.Writer, p *iikanji.Profile, limit int) error {
	o := &out{w: w}
	ptOverall(o, p)
	ptProfile(o, p, limit)
	for i := range head(p.Rows, limit) {
		if p.Rows[i].Query != nil {
			ptQuery(o, p, i)
		}
	}
	return o.err
}

// ptSeconds formats a time as pt-query-digest does: 12s, 345ms, 67us.
func ptSeconds(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return ptNumber(float64(d)/1e3) + "us"
	case d < time.Second:
		return ptNumber(float64(d)/1e6) + "ms"
	}
	return ptNumber(d.Seconds()) + "s"
}

func ptNumber(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)[:4]
}

// ptCount formats a count as pt-query-digest does: 123, 1.21k, 3.44M.
func ptCount(n float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if n < 1000 {
			break
		}
		n, unit = n/1000, u
	}
	if unit == "" && n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatFloat(n, 'f', 2, 64) + unit
}

func ptSpan(p *iikanji.Profile) float64 { return p.Last.Sub(p.First).Seconds() }

func ptRate(n, span float64) string {
	if span <= 0 {
		return "0"
	}
	return ptCount(n / span)
}

// ptConcurrency is the mean number of statements that ran at once.
func ptConcurrency(total time.Duration, span float64, untimed bool) string {
	if untimed {
		return "-"
	}
	return ptRate(total.Seconds(), span)
}

func ptOverall(o *out, p *iikanji.Profile) {
	var count int64
	var total time.Duration
	for _, r := range p.Rows {
		count, total = count+r.Count, total+r.Total
	}
	timed := slices.ContainsFunc(p.Rows, func(r iikanji.Row) bool { return !r.Untimed })
	o.line("# Files: %s", strings.Join(p.Intake.Files, ", "))
	o.line("# Read: %s entries of %s, %s, %d bad, %d left out", Count(p.Intake.Lines), p.Intake.Format, p.Intake.Bytes, p.Intake.Bad, p.Intake.Left)
	for _, n := range p.Notes {
		o.line("# Note: %s", n)
	}
	o.line("# Overall: %s total, %d unique, %s QPS, %sx concurrency", ptCount(float64(count)), len(p.Rows), ptRate(float64(count), ptSpan(p)),
		ptConcurrency(total, ptSpan(p), !timed))
	if !p.First.IsZero() {
		o.line("# Time range: %s to %s", p.First.UTC().Format("2006-01-02T15:04:05"), p.Last.UTC().Format("2006-01-02T15:04:05"))
	}
	o.line("# Attribute          total     min     max     avg")
	o.line("# ============     ======= ======= ======= =======")
	if timed {
		o.line("# %-16s %7s %7s %7s %7s", "Exec time", ptSeconds(total), ptSeconds(extreme(p, func(r *iikanji.Row) time.Duration { return r.Min }, false)),
			ptSeconds(extreme(p, func(r *iikanji.Row) time.Duration { return r.Max }, true)), ptSeconds(per(total, count)))
	} else {
		o.line("# %-16s %7s %7s %7s %7s", "Exec time", "-", "-", "-", "-")
	}
	for _, name := range ptAttributes {
		if sum, lo, hi, ok := ptTotal(p, name.spread); ok {
			o.line("# %-16s %7s %7s %7s %7s", name.title, ptValue(name.spread, sum), ptValue(name.spread, lo), ptValue(name.spread, hi), ptValue(name.spread, sum/max(count, 1)))
		}
	}
	o.blank()
}

var ptAttributes = []struct{ title, spread string }{
	{"Lock time", "lock"}, {"Rows sent", "rows_sent"}, {"Rows examine", "rows_examined"}, {"Rows affecte", "rows_affected"}, {"Bytes sent", "bytes_sent"},
}

func ptValue(spread string, v int64) string {
	if spread == "lock" {
		return ptSeconds(time.Duration(v))
	}
	return ptCount(float64(v))
}

func extreme(p *iikanji.Profile, get func(*iikanji.Row) time.Duration, largest bool) (v time.Duration) {
	for i := range p.Rows {
		if x := get(&p.Rows[i]); i == 0 || largest == (x > v) {
			v = x
		}
	}
	return v
}

// ptTotal merges the spreads of one attribute over all rows.
func ptTotal(p *iikanji.Profile, name string) (sum, lo, hi int64, ok bool) {
	for i := range p.Rows {
		if s := spreadOf(&p.Rows[i], name); s != nil {
			sum, hi = sum+s.Sum, max(hi, s.Max)
			if !ok || s.Min < lo {
				lo = s.Min
			}
			ok = true
		}
	}
	return sum, lo, hi, ok && sum > 0
}

func spreadOf(r *iikanji.Row, name string) *iikanji.Spread {
	if r.Query != nil {
		for i := range r.Query.Spreads {
			if s := &r.Query.Spreads[i]; s.Name == name {
				return s
			}
		}
	}
	return nil
}

func ptProfile(o *out, p *iikanji.Profile, limit int) {
	o.line("# Profile")
	o.line("# Rank Query ID           Response time   Calls   R/Call V/M   Item")
	o.line("# ==== ================== =============== ======= ====== ===== ===============")
	var rest iikanji.Row
	for i := range p.Rows {
		r := &p.Rows[i]
		if limit > 0 && i >= limit {
			rest.Count, rest.Total, rest.Share = rest.Count+r.Count, rest.Total+r.Total, rest.Share+r.Share
			continue
		}
		if q := r.Query; q != nil && r.Untimed {
			o.line("# %4d 0x%-16s %8s %6s %7d %6s %5s %s", i+1, strings.ToUpper(q.Digest), "-", "-", r.Count, "-", "-", ptItem(r))
		} else if q != nil {
			o.line("# %4d 0x%-16s %8.4f %5.1f%% %7d %6.4f %5.2f %s", i+1, strings.ToUpper(q.Digest), r.Total.Seconds(), 100*r.Share, r.Count, r.Mean.Seconds(), q.VM, ptItem(r))
		}
	}
	if rest.Count > 0 {
		o.line("# MISC 0xMISC             %8.4f %5.1f%% %7d %6.4f %5s <%d ITEMS>", rest.Total.Seconds(), 100*rest.Share, rest.Count, per(rest.Total, rest.Count).Seconds(), "0.0", len(p.Rows)-limit)
	}
	o.blank()
}

// ptItem returns the verb and the tables, pt-query-digest's short form of a statement.
func ptItem(r *iikanji.Row) string {
	if name, ok := strings.CutPrefix(r.Key, "administrator command: "); ok {
		return "ADMIN " + strings.ToUpper(name)
	}
	verb, _, _ := strings.Cut(r.Key, " ")
	return strings.TrimSpace(strings.ToUpper(verb) + " " + strings.Join(r.Query.Tables, " "))
}

func ptQuery(o *out, p *iikanji.Profile, i int) {
	r := &p.Rows[i]
	q := r.Query
	span := ptSpan(p)
	o.line("# Query %d: %s QPS, %sx concurrency, ID 0x%s at line %d", i+1, ptRate(float64(r.Count), span), ptConcurrency(r.Total, span, r.Untimed), strings.ToUpper(q.Digest), r.Example.Line)
	if !r.Untimed {
		o.line("# Scores: V/M = %.2f", q.VM)
	}
	o.line("# Attribute    pct   total     min     max     avg     95%%  stddev  median")
	o.line("# ============ === ======= ======= ======= ======= ======= ======= =======")
	var count int64
	for _, x := range p.Rows {
		count += x.Count
	}
	o.line("# Count        %3.0f %7d", 100*float64(r.Count)/float64(max(count, 1)), r.Count)
	ptTimes(o, r)
	for _, name := range ptAttributes {
		s := spreadOf(r, name.spread)
		all, _, _, ok := ptTotal(p, name.spread)
		if s == nil || !ok {
			continue
		}
		v := func(n int64) string { return ptValue(name.spread, n) }
		o.line("# %-12s %3.0f %7s %7s %7s %7s %7s %7s %7s", name.title, 100*float64(s.Sum)/float64(all), v(s.Sum), v(s.Min), v(s.Max), v(s.Mean), v(s.P95), v(s.Stddev), v(s.P50))
	}
	ptBooleans(o, r)
	ptStrings(o, q)
	ptBars(o, r)
	ptTables(o, q)
	o.text(r.Example.Text)
}

// ptTimes writes the execution times of a statement.
func ptTimes(o *out, r *iikanji.Row) {
	if r.Untimed {
		o.line("# Exec time      - %7s %7s %7s %7s %7s %7s %7s", "-", "-", "-", "-", "-", "-", "-")
		return
	}
	o.line("# Exec time    %3.0f %7s %7s %7s %7s %7s %7s %7s", 100*r.Share, ptSeconds(r.Total), ptSeconds(r.Min), ptSeconds(r.Max), ptSeconds(r.Mean), ptSeconds(r.P95), ptSeconds(r.Stddev), ptSeconds(r.P50))
}

func ptBooleans(o *out, r *iikanji.Row) {
	q := r.Query
	o.line("# Boolean:")
	for _, b := range []struct {
		name string
		n    int64
	}{{"Filesort", q.Filesort}, {"Full join", q.FullJoin}, {"Full scan", q.FullScan}, {"Tmp table", q.TmpTable}, {"Tmp table on", q.TmpDisk}} {
		if b.n > 0 {
			yes := 100 * float64(b.n) / float64(r.Count)
			o.line("# %-12s %3.0f%% yes, %3.0f%% no", b.name, yes, 100-yes)
		}
	}
}

func ptStrings(o *out, q *iikanji.SQLRow) {
	o.line("# String:")
	for _, s := range []struct {
		name string
		list []iikanji.Named
	}{{"Databases", q.DBs}, {"Hosts", q.Hosts}, {"Users", q.Users}} {
		if len(s.list) == 1 {
			o.line("# %-12s %s", s.name, s.list[0].Name)
		} else if len(s.list) > 1 {
			o.line("# %-12s %s (%d), %s (%d)... %d more", s.name, s.list[0].Name, s.list[0].Count, s.list[1].Name, s.list[1].Count, len(s.list)-2)
		}
	}
}

// ptBars draws the distribution of execution times by powers of ten.
func ptBars(o *out, r *iikanji.Row) {
	o.line("# Query_time distribution")
	var most int64
	for _, n := range r.Query.Decades {
		most = max(most, n)
	}
	if most == 0 {
		return
	}
	for i, name := range []string{"  1us", " 10us", "100us", "  1ms", " 10ms", "100ms", "   1s", " 10s+"} {
		n := r.Query.Decades[i]
		bar := int((n*64 + most - 1) / most)
		o.line("%s", strings.TrimRight("# "+name+"  "+strings.Repeat("#", bar), " "))
	}
}

func ptTables(o *out, q *iikanji.SQLRow) {
	if len(q.Tables) == 0 {
		return
	}
	o.line("# Tables")
	for _, t := range q.Tables {
		db := ""
		if q.DB != "" && !strings.Contains(t, ".") {
			db = fmt.Sprintf(" FROM `%s`", q.DB)
		}
		o.line("#    SHOW TABLE STATUS%s LIKE '%s'\\G", db, t)
		o.line("#    SHOW CREATE TABLE %s\\G", strings.TrimPrefix(db, " FROM ")+dot(db)+"`"+t+"`")
	}
	if q.Fingerprint != "" && strings.HasPrefix(q.Fingerprint, "select") {
		o.line("# EXPLAIN /*!50100 PARTITIONS*/")
	}
}

func dot(db string) string {
	if db == "" {
		return ""
	}
	return "."
}

// text writes a statement with its line breaks; each line is made safe for a terminal.
func (o *out) text(sql string) {
	for line := range strings.SplitSeq(sql, "\n") {
		o.line("%s", line)
	}
	if o.err == nil {
		_, o.err = io.WriteString(o.w, "\\G\n\n")
	}
}
