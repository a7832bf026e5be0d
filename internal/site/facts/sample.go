package facts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// sampleRows is the largest number of rows that are counted in one table. Larger
// tables are sampled at random: the start or the end of the primary key would
// contain rows from one period only.
const sampleRows = 200_000

// from returns the FROM item to count in: the table, a random sample of about
// sampleRows rows, or ranges of its primary key.
func from(t SizedTable) string {
	if t.ranges != "" {
		return t.ranges
	}
	name := sqltext.MySQL.Quote(t.Schema) + "." + sqltext.MySQL.Quote(t.Name)
	if t.Size.Rows <= sampleRows {
		return name
	}
	return fmt.Sprintf("%s WHERE RAND() < %.6f", name, float64(sampleRows)/float64(t.Size.Rows))
}

// lengthRows is the number of rows from which on the mean length of a long column is
// that of a sample of about lengthSample rows: long values are stored apart, and reading
// those of a whole table reads all of its data.
const (
	lengthRows   = 1000
	lengthSample = 200
)

// lengths measures the mean lengths of long columns.
func (s *Server) lengths(ctx context.Context, t *SizedTable, columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	var exprs, names []string
	for _, c := range columns {
		exprs = append(exprs, "AVG(LENGTH(t."+sqltext.MySQL.Quote(c)+"))")
		names = append(names, sqltext.MySQL.Quote(c))
	}
	name := sqltext.MySQL.Quote(t.Schema) + "." + sqltext.MySQL.Quote(t.Name)
	source := name + " AS t"
	if t.Size.Rows > lengthRows {
		source = fmt.Sprintf("(SELECT %s FROM %s LIMIT %d) AS t", strings.Join(names, ", "), name, lengthSample)
		if key := primary(t.Table); len(key) > 0 { // rows of one period may have lengths of their own
			list := strings.Join(key, ", ")
			source = fmt.Sprintf("(SELECT %s FROM %s WHERE RAND() < %.8f LIMIT %d) AS s JOIN %s AS t USING (%s)",
				list, name, 1.5*lengthSample/float64(t.Size.Rows), lengthSample, name, list)
		}
	}
	got, err := s.numbers(ctx, "SELECT "+strings.Join(exprs, ", ")+" FROM "+source, len(exprs))
	if err != nil {
		return fmt.Errorf("measuring the lengths of columns of %s: %w", t.Name, err)
	}
	if t.Size.Lengths == nil {
		t.Size.Lengths = map[string]iikanji.Bytes{}
	}
	for i, c := range columns {
		t.Size.Lengths[c] = iikanji.Bytes(got[i])
	}
	return nil
}

// primary are the columns of the primary key, quoted; none if it has a part that is a
// prefix or an expression.
func primary(t catalog.Table) []string {
	for _, ix := range t.Indexes {
		if !ix.Primary {
			continue
		}
		var out []string
		for _, p := range ix.Parts {
			if p.Column == "" || p.Prefix > 0 {
				return nil
			}
			out = append(out, sqltext.MySQL.Quote(p.Column))
		}
		return out
	}
	return nil
}

// Distinct counts the rows, the distinct values of columns and the mean length of
// long columns, and stores them in t.Size. The server's previous estimates are
// stored in t.Size.Held. It scans the table once, or a sample of a large table. A
// distinct count from a sample is multiplied by (rows/sample)^(distinct/sample),
// which is exact for keys and for flags.
func (s *Server) Distinct(ctx context.Context, t *SizedTable, columns []string) error {
	exprs := []string{"COUNT(*)"}
	var long, short []string
	for _, name := range columns {
		c, ok := column(t.Table, name)
		if !ok {
			return fmt.Errorf("counting in %s: it has no column %s", t.Name, name)
		}
		if c.Long() || c.Spatial() {
			long = append(long, name)
		} else {
			short = append(short, name)
			exprs = append(exprs, "COUNT(DISTINCT "+sqltext.MySQL.Quote(name)+")")
		}
	}
	measured := s.lengths(ctx, t, long)
	count := func() ([]float64, error) {
		return s.numbers(ctx, "SELECT "+strings.Join(exprs, ", ")+" FROM "+from(*t), len(exprs))
	}
	got, err := count()
	if tooLong(err) && s.inRanges(ctx, t) {
		got, err = count()
	}
	if err != nil {
		return fmt.Errorf("counting in %s: %w", t.Name, err)
	}
	seen := got[0]
	scale := 1.0
	if t.Size.Rows <= sampleRows && !t.Ranged() {
		t.Size.Rows = int64(seen) // the server's number is an estimate; this one is exact
	} else if seen > 0 {
		scale = float64(t.Size.Rows) / seen
	}
	for i, name := range short {
		if v := got[i+1]; seen > 0 {
			t.hold(name)
			t.Size.Distinct[name] = v * math.Pow(scale, v/seen)
		}
	}
	return measured
}

// hold keeps the number of distinct values in the server's statistics for the
// first column of an index. A second count does not change it.
func (t *SizedTable) hold(column string) {
	n, known := t.Size.Distinct[column]
	_, held := t.Size.Held[column]
	if !known || held || !slices.ContainsFunc(t.Indexes, func(ix catalog.Index) bool { return ix.Parts[0].Column == column }) {
		return
	}
	if t.Size.Held == nil {
		t.Size.Held = map[string]float64{}
	}
	t.Size.Held[column] = n
}

// Selectivity measures the share of the rows that satisfy each predicate.
// Predicates are text that diagnose generates from parsed statements: a column, an
// operator and literals. A predicate that the server rejects is not in the result.
func (s *Server) Selectivity(ctx context.Context, t *SizedTable, predicates []string) (map[string]float64, error) {
	out := make(map[string]float64, len(predicates))
	if len(predicates) == 0 {
		return out, nil
	}
	got, err := s.shares(ctx, *t, predicates)
	if tooLong(err) && s.inRanges(ctx, t) {
		got, err = s.shares(ctx, *t, predicates)
	}
	if err == nil {
		for i, p := range predicates {
			out[p] = got[i]
		}
		return out, nil
	}
	if tooLong(err) {
		return out, err
	}
	if len(predicates) == 1 || ctx.Err() != nil {
		return out, ctx.Err()
	}
	half := len(predicates) / 2 // the server rejects one of them: find it by bisection
	for _, part := range [][]string{predicates[:half], predicates[half:]} {
		m, err := s.Selectivity(ctx, t, part)
		if err != nil {
			return out, err
		}
		for k, v := range m {
			out[k] = v
		}
	}
	return out, nil
}

func (s *Server) shares(ctx context.Context, t SizedTable, predicates []string) ([]float64, error) {
	exprs := []string{"COUNT(*)"}
	for _, p := range predicates {
		exprs = append(exprs, "SUM(("+p+") IS TRUE)")
	}
	got, err := s.numbers(ctx, "SELECT "+strings.Join(exprs, ", ")+" FROM "+from(t), len(exprs))
	if err != nil {
		return nil, fmt.Errorf("measuring predicates on %s: %w", t.Name, err)
	}
	for i := range predicates {
		if got[0] > 0 {
			got[i+1] /= got[0]
		}
	}
	return got[1:], nil
}

// numbers reads one row of n numbers; NULL is 0.
func (s *Server) numbers(ctx context.Context, query string, n int) ([]float64, error) {
	cells := make([]*string, n)
	into := make([]any, n)
	for i := range cells {
		into[i] = &cells[i]
	}
	if err := s.conn.QueryRowContext(ctx, query).Scan(into...); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i, c := range cells {
		if c == nil {
			continue
		}
		v, err := strconv.ParseFloat(*c, 64)
		if err != nil {
			return nil, fmt.Errorf("reading a number: %w", err)
		}
		out[i] = v
	}
	return out, nil
}

func column(t catalog.Table, name string) (catalog.Column, bool) {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return catalog.Column{}, false
}
