package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A sample is sampleParts series of sampleRows rows, each series in a transaction of its
// own. A writer of a file in the journal mode DELETE cannot commit while a statement
// reads: a series takes less than a millisecond, the whole table would take seconds.
const (
	sampleParts = 100
	sampleRows  = 50
)

// Rows estimates the number of rows: from the statistics of ANALYZE, otherwise from
// the largest rowid, which is read in one step and counts deleted rows, too. A table
// without rowids is counted.
func (r *Reader) Rows(ctx context.Context, t catalog.Table) (int64, error) {
	var stat sql.NullString
	err := r.db.QueryRowContext(ctx, "SELECT stat FROM sqlite_stat1 WHERE tbl = ? ORDER BY idx IS NULL DESC LIMIT 1", t.Name).Scan(&stat)
	if first, _, _ := strings.Cut(stat.String, " "); err == nil && first != "" {
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			return n, nil
		}
	}
	query := "SELECT coalesce(max(rowid), 0) - coalesce(min(rowid), 1) + 1 FROM " + sqltext.SQLite.Quote(t.Name)
	if t.Engine == "without rowid" {
		query = "SELECT count(*) FROM " + sqltext.SQLite.Quote(t.Name)
	}
	var n int64
	if err := r.db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("estimating the rows of %s: %w", t.Name, err)
	}
	return max(n, 0), nil
}

// Sizes returns the bytes of tables and indexes of the file by their names, from the
// virtual table dbstat, which reads the file's tree and no rows. It is empty where the
// library lacks that table.
func (r *Reader) Sizes(ctx context.Context) map[string]iikanji.Bytes {
	out := map[string]iikanji.Bytes{}
	_ = each(ctx, r.db, func(row *sql.Rows) error {
		var name string
		var n int64
		if err := row.Scan(&name, &n); err != nil {
			return err
		}
		out[name] = iikanji.Bytes(n)
		return nil
	}, "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE") // without the sizes the advice is less exact
	return out
}

// Sample estimates the distinct values of columns and the shares of the rows that
// satisfy predicates, from rows at random places of the table. rows is the number of
// its rows. A predicate that SQLite rejects is not in the result.
//
// A distinct count d of a sample of n rows is multiplied by (rows/n)^(d/n), which is
// exact for keys and for flags.
func (r *Reader) Sample(ctx context.Context, t catalog.Table, rows int64, columns, predicates []string) (distinct, shares map[string]float64, err error) {
	if t.Engine == "without rowid" || rows == 0 {
		return nil, nil, nil
	}
	var least, most sql.NullInt64
	if err := r.db.QueryRowContext(ctx, "SELECT (SELECT min(rowid) FROM "+sqltext.SQLite.Quote(t.Name)+"), (SELECT max(rowid) FROM "+sqltext.SQLite.Quote(t.Name)+")").Scan(&least, &most); err != nil {
		return nil, nil, fmt.Errorf("sampling %s: %w", t.Name, err)
	}
	s := sampler{table: t.Name, columns: columns, predicates: r.accepted(ctx, t, predicates)}
	for _, from := range s.places(least.Int64, most.Int64) {
		if err := s.take(ctx, r.db, from); err != nil {
			return nil, nil, fmt.Errorf("sampling %s: %w", t.Name, err)
		}
	}
	distinct, shares = s.estimate(float64(rows))
	return distinct, shares, nil
}

// accepted are the predicates that SQLite can prepare.
func (r *Reader) accepted(ctx context.Context, t catalog.Table, predicates []string) []string {
	var out []string
	for _, p := range predicates {
		st, err := r.db.PrepareContext(ctx, "SELECT 1 FROM "+sqltext.SQLite.Quote(t.Name)+" WHERE "+p)
		if err == nil {
			err = st.Close()
		}
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

type sampler struct {
	table               string
	columns, predicates []string

	seen   map[int64]bool
	values []map[any]bool
	hits   []float64
}

// places are the rowids at which a series begins. A small table is read whole.
func (s *sampler) places(least, most int64) []int64 {
	var out []int64
	if most-least < sampleParts*sampleRows {
		for at := least; at <= most; at += sampleRows {
			out = append(out, at)
		}
		return out
	}
	rng := rand.New(rand.NewPCG(1, uint64(most))) // the same rows give the same advice
	for range sampleParts {
		out = append(out, least+rng.Int64N(most-least+1))
	}
	return out
}

// take reads one series.
func (s *sampler) take(ctx context.Context, db *sql.DB, from int64) error {
	exprs := []string{"rowid"}
	for _, c := range s.columns {
		exprs = append(exprs, sqltext.SQLite.Quote(c))
	}
	for _, p := range s.predicates {
		exprs = append(exprs, "("+p+") IS TRUE")
	}
	if s.seen == nil {
		s.seen, s.values, s.hits = map[int64]bool{}, make([]map[any]bool, len(s.columns)), make([]float64, len(s.predicates))
		for i := range s.values {
			s.values[i] = map[any]bool{}
		}
	}
	cells, into := make([]any, len(exprs)), make([]any, len(exprs))
	for i := range cells {
		into[i] = &cells[i]
	}
	return each(ctx, db, func(row *sql.Rows) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		id, _ := cells[0].(int64)
		if s.seen[id] {
			return nil
		}
		s.seen[id] = true
		for i := range s.columns {
			v := cells[1+i]
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			if v != nil {
				s.values[i][v] = true
			}
		}
		for i := range s.predicates {
			if n, _ := cells[1+len(s.columns)+i].(int64); n != 0 {
				s.hits[i]++
			}
		}
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s WHERE rowid >= ? ORDER BY rowid LIMIT %d", strings.Join(exprs, ", "), sqltext.SQLite.Quote(s.table), sampleRows), from)
}

func (s *sampler) estimate(rows float64) (distinct, shares map[string]float64) {
	distinct, shares = map[string]float64{}, map[string]float64{}
	n := float64(len(s.seen))
	if n == 0 {
		return distinct, shares
	}
	for i, c := range s.columns {
		d := float64(len(s.values[i]))
		distinct[c] = d * math.Pow(max(1, rows/n), d/n)
	}
	for i, p := range s.predicates {
		shares[p] = s.hits[i] / n
	}
	return distinct, shares
}
