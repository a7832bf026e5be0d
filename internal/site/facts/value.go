package facts

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	valueNear    = 0.5 // share by which a value's size and the mean of its column may differ
	mostColumns  = 4   // columns that are compared with one answer
	longestDigit = 18  // digits of a number in a URL
)

// numberInPath is a number in the path of a URL.
var numberInPath = regexp.MustCompile(`[0-9]+`)

// ValueFacts finds the answers that are values of a blob column, byte for byte, of the
// row whose primary key the URL ends with. Tables are those of the database, with the
// mean lengths of their columns; answers are by route.
func (s *Server) ValueFacts(ctx context.Context, target string, tables []SizedTable, answers map[string]fact.Answer) ([]iikanji.Fact, error) {
	var out []iikanji.Fact
	for route, a := range answers {
		id, ok := lastNumber(a.URL)
		if a.MD5 == "" || !ok {
			continue
		}
		for _, c := range blobsNear(tables, float64(a.Bytes)) {
			same, err := s.holds(ctx, c, id, a.MD5)
			if ctx.Err() != nil {
				return out, context.Cause(ctx)
			}
			if err != nil || !same {
				continue
			}
			v := fact.StoredValue{URL: a.URL, Schema: c.table.Schema, Table: c.table.Name, Column: c.column, ID: id}
			out = append(out, fact.TopicValue.Fact(target, route, v, true))
			break
		}
	}
	sortFacts(out)
	return out, nil
}

// lastNumber is the last number in the path of a URL.
func lastNumber(url string) (int64, bool) {
	path, _, _ := strings.Cut(url, "?")
	all := numberInPath.FindAllString(path, -1)
	if len(all) == 0 || len(all[len(all)-1]) > longestDigit {
		return 0, false
	}
	n, err := strconv.ParseInt(all[len(all)-1], 10, 64)
	return n, err == nil
}

// A blobColumn is a column of blobs in a table whose primary key is one number.
type blobColumn struct {
	table       SizedTable
	column, key string
}

// blobsNear are the blob columns whose mean length is near a size, or unknown.
func blobsNear(tables []SizedTable, size float64) (out []blobColumn) {
	for _, t := range tables {
		key := numberedBy(t.Table)
		if key == "" {
			continue
		}
		for _, c := range t.Columns {
			mean, known := t.Size.Lengths[c.Name]
			if !strings.Contains(strings.ToLower(c.Type), "blob") || known && (float64(mean) < (1-valueNear)*size || float64(mean) > (1+valueNear)*size) {
				continue
			}
			if out = append(out, blobColumn{t, c.Name, key}); len(out) == mostColumns {
				return out
			}
		}
	}
	return out
}

// numberedBy is the column of a primary key that is one integer, "" for another key.
func numberedBy(t catalog.Table) string {
	for _, ix := range t.Indexes {
		if !ix.Primary || len(ix.Parts) != 1 {
			continue
		}
		for _, c := range t.Columns {
			if strings.EqualFold(c.Name, ix.Parts[0].Column) && strings.Contains(strings.ToLower(c.Type), "int") {
				return c.Name
			}
		}
	}
	return ""
}

// holds reports whether the value of a row has a digest.
func (s *Server) holds(ctx context.Context, c blobColumn, id int64, digest string) (bool, error) {
	rows, err := s.rows(ctx, fmt.Sprintf("SELECT MD5(%s) AS digest FROM %s.%s WHERE %s = %d",
		sqltext.MySQL.Quote(c.column), sqltext.MySQL.Quote(c.table.Schema), sqltext.MySQL.Quote(c.table.Name), sqltext.MySQL.Quote(c.key), id))
	return err == nil && len(rows) == 1 && rows[0]["digest"] == digest, err
}
