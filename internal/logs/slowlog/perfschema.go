package slowlog

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A sum holds the sums of one digest. Times are in nanoseconds.
type sum struct {
	row iikanji.Row
}

// sums holds digests by fingerprint. The server keeps one row per schema.
type sums struct {
	foldTables bool
	where      Where
	left       int64 // digests that the filter left out
	byText     map[string]*sum
	order      []*sum
}

// columnAliases maps column names of saved digests: those of the table itself
// (times in picoseconds) and those of slowquery2tsv (seconds).
var columnAliases = map[string]string{
	"count_star": "count", "cnt": "count",
	"sum_timer_wait": "ps:total", "sum": "s:total", "min_timer_wait": "ps:min", "min": "s:min", "max_timer_wait": "ps:max", "max": "s:max",
	"sum_lock_time": "ps:lock", "sumlock": "s:lock", "sum_rows_sent": "sent", "sumrows": "sent", "sum_rows_examined": "examined", "sum_rows_affected": "affected",
	"sum_errors": "errors", "sum_select_scan": "scan", "sum_select_full_join": "join", "sum_sort_rows": "sortrows", "sum_sort_scan": "sort", "sum_sort_range": "sort",
	"sum_created_tmp_tables": "tmp", "sum_created_tmp_disk_tables": "disk", "schema_name": "db", "db": "db", "digest": "hash", "digest_text": "text", "query": "sample",
	"query_sample_text": "sample", "query_sample_timer_wait": "ps:sample_took", "quantile_95": "ps:p95", "quantile_99": "ps:p99",
}

// looksLikeDigests reports whether the first line consists of column names of digests.
func looksLikeDigests(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	known := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSpace(string(line)), "\t") {
		known[columnAliases[strings.ToLower(name)]] = true
	}
	return known["count"] && (known["ps:total"] || known["s:total"])
}

// maxTSV limits a file of digests, which is read into memory, in bytes.
const maxTSV = 256 << 20

// isDigests reports whether a format is one of saved digests.
func isDigests(format string) bool { return format == formatDigests || format == formatPGStat }

// savedDigests reads saved digests: columns with tabs between them, or with commas.
func (c *collector) savedDigests(ctx context.Context, in *lines.Input, format string) error {
	if err := c.opt.checkDigestFilter(); err != nil {
		return fmt.Errorf("reading %s: %w", in.Name, err)
	}
	var text bytes.Buffer
	r := lines.NewReader([]*lines.Input{in}, lines.Options{Workers: 1, MaxRecord: 16 << 20})
	err := r.Run(ctx, func(int) lines.Work {
		return func(b *lines.Block) error {
			if text.Write(b.Data); text.Len() > maxTSV {
				return fmt.Errorf("reading %s: more than %d MiB of digests", in.Name, maxTSV>>20)
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	c.intake.Bytes += iikanji.Bytes(text.Len())
	before := c.sums.left
	defer func() { c.intake.Left += c.sums.left - before }()
	rows := csv.NewReader(&text)
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord = '\t', true, -1
	add := c.sums.add
	if format == formatPGStat {
		if add = c.sums.addPG; !bytes.Contains(firstLine(text.Bytes()), []byte{'\t'}) {
			rows.Comma, rows.LazyQuotes = ',', false
		}
	}
	names, err := rows.Read()
	if err != nil {
		return fmt.Errorf("reading %s: %w", in.Name, err)
	}
	for {
		cells, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		line, _ := rows.FieldPos(0)
		if err == nil && len(cells) != len(names) {
			err = fmt.Errorf("it has %d columns, the first line %d", len(cells), len(names))
		}
		if err == nil {
			err = add(names, cells, in.Name, int64(line))
		}
		if err == nil {
			c.intake.Lines++
			continue
		}
		c.intake.Bad++
		if len(c.intake.BadLines) < 5 {
			c.intake.BadLines = append(c.intake.BadLines, iikanji.BadLine{File: in.Name, Line: int64(line), Text: quote([]byte(strings.Join(cells, "\t"))), Why: err.Error()})
		}
	}
}

// add adds one digest. names are the names of its columns.
func (s *sums) add(names, cells []string, file string, line int64) error {
	r := iikanji.Row{Query: &iikanji.SQLRow{}}
	var text, sample, hash string
	for i, name := range names {
		v := cells[i]
		switch kind := columnAliases[strings.ToLower(name)]; kind {
		case "text":
			text = v
		case "sample":
			sample = v
		case "hash":
			hash = v
		case "db":
			r.Query.DB = strings.TrimPrefix(v, "NULL")
		case "":
		default:
			if err := setSum(&r, kind, v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if r.Count == 0 {
		return fmt.Errorf("its count is 0")
	}
	s.put(&r, Fingerprinter{FoldTables: s.foldTables}, text, sample, hash, file, line)
	return nil
}

// setSum sets one number of a row.
func setSum(r *iikanji.Row, kind, v string) error {
	if v == "" || v == "NULL" {
		return nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number", v)
	}
	unit, name, timed := strings.Cut(kind, ":")
	took := time.Duration(n * 1e9)
	if timed && unit == "ps" {
		took = time.Duration(n / 1e3)
	} else if !timed {
		name = kind
	}
	q := r.Query
	switch name {
	case "count":
		r.Count = int64(n)
	case "total":
		r.Total = took
	case "min":
		r.Min = took
	case "max":
		r.Max = took
	case "p95":
		r.P95 = took
	case "p99":
		r.P99 = took
	case "sample_took":
		r.Example.Took = took
	case "lock":
		q.Lock = took
	case "sent":
		q.Sent = int64(n)
	case "examined":
		q.Examined = int64(n)
	case "affected":
		q.Affected = int64(n)
	case "errors":
		r.Errors = int64(n)
	case "scan":
		q.FullScan = int64(n)
	case "join":
		q.FullJoin = int64(n)
	case "sort":
		q.Filesort += int64(n)
	case "tmp":
		q.TmpTable = int64(n)
	case "disk":
		q.TmpDisk = int64(n)
	}
	return nil
}

// put adds a row under the fingerprint that fp makes of its text, the same as in a slow log. If
// the server kept neither text nor sample, the key is the server's own hash.
func (s *sums) put(r *iikanji.Row, fp Fingerprinter, text, sample, hash, file string, line int64) {
	source := text
	if source == "" || source == "NULL" {
		source = sample
	}
	key := string(bytes.ToValidUTF8(fp.Fingerprint([]byte(source)), []byte("\uFFFD")))
	if key == "" {
		key = "(no text: digest " + hash + ")"
	}
	if digest := Digest([]byte(key)); !s.where.wants(r, source, digest) {
		s.left++
		return
	}
	r.Key, r.Query.Fingerprint, r.Query.Digest = key, key, fmt.Sprintf("%016x", Digest([]byte(key)))
	r.Query.Tables = tablesOf(key, []byte(sample))
	if sample != "" && sample != "NULL" {
		r.Example.Text, r.Example.File, r.Example.Line = plain.CutBytes(strings.ToValidUTF8(sample, "\uFFFD"), maxExample), file, line
	}
	if s.byText == nil {
		s.byText = map[string]*sum{}
	}
	old := s.byText[key]
	if old == nil {
		old = &sum{row: *r}
		s.byText[key] = old
		s.order = append(s.order, old)
		return
	}
	old.add(r)
}

// add adds the same digest of another schema. It clears the quantiles, which
// cannot be added.
func (s *sum) add(r *iikanji.Row) {
	o, q := &s.row, s.row.Query
	o.Count, o.Errors, o.Total = o.Count+r.Count, o.Errors+r.Errors, o.Total+r.Total
	o.Min, o.Max = min(o.Min, r.Min), max(o.Max, r.Max)
	o.P95, o.P99 = 0, 0
	if r.Example.Took > o.Example.Took {
		o.Example = r.Example
	}
	b := r.Query
	q.Lock, q.Sent, q.Examined, q.Affected = q.Lock+b.Lock, q.Sent+b.Sent, q.Examined+b.Examined, q.Affected+b.Affected
	q.FullScan, q.FullJoin, q.Filesort = q.FullScan+b.FullScan, q.FullJoin+b.FullJoin, q.Filesort+b.Filesort
	q.TmpTable, q.TmpDisk = q.TmpTable+b.TmpTable, q.TmpDisk+b.TmpDisk
	o.Stddev, q.VM = 0, 0
}

// rows computes the means and returns the rows.
func (s *sums) rows() []iikanji.Row {
	var out []iikanji.Row
	for _, x := range s.order {
		x.row.Mean = x.row.Total / time.Duration(x.row.Count)
		out = append(out, x.row)
	}
	return out
}

// A Querier runs queries, as *sql.DB and *sql.Conn do.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// digestsOfMySQL selects the digests, with all columns of the server's version.
const digestsOfMySQL = "SELECT * FROM performance_schema.events_statements_summary_by_digest WHERE COUNT_STAR > 0 AND (SCHEMA_NAME IS NULL OR SCHEMA_NAME <> 'performance_schema') AND DIGEST IS NOT NULL"

// ReadDigests reads the digests of performance_schema from a running server. name is the
// target's name in the profile. Of the options, the filter and the folding of tables apply.
func ReadDigests(ctx context.Context, db Querier, name string, opt Options) (*iikanji.Profile, error) {
	if err := opt.checkDigestFilter(); err != nil {
		return nil, err
	}
	c := newCollector(opt)
	c.begin(name, formatDigests)
	if err := c.queryDigests(ctx, db, digestsOfMySQL, name, c.sums.add); err != nil {
		return nil, err
	}
	if c.intake.Lines == 0 {
		return nil, &Error{"performance_schema has no digests", []string{"set performance_schema=ON in my.cnf, restart the server, and enable the statements_digest consumer"}}
	}
	p := c.profile()
	p.Intake.Format, p.Target, p.Intake.Left = formatDigests, name, c.sums.left
	p.Notes = append(p.Notes, "digests are sums: no percentiles except those that the server keeps, no transactions, no repetition")
	return p, nil
}

// queryDigests adds the rows of a query for digests.
func (c *collector) queryDigests(ctx context.Context, db Querier, query, name string, add func(names, cells []string, file string, line int64) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("reading digests: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("reading digests: %w", err)
	}
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		texts := make([]string, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("reading digests: %w", err)
		}
		for i := range cells {
			texts[i] = cells[i].String
		}
		if err := add(names, texts, name, 0); err != nil {
			return fmt.Errorf("reading digests: %w", err)
		}
		c.intake.Lines++
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading digests: %w", err)
	}
	return nil
}
