package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Counting that takes too long is repeated in a sample of rangeCount ranges of the
// primary key, with about rangeRows rows each: they are read without reading the rest of
// the table.
const (
	rangeCount = 40
	rangeRows  = 250
)

// Errors of a statement that exceeded its time: MariaDB's max_statement_time and MySQL's
// max_execution_time.
const (
	errStatementTime = 1969
	errExecutionTime = 3024
)

// tooLong reports whether a statement exceeded its time.
func tooLong(err error) bool {
	var told *mysql.MySQLError
	return errors.As(err, &told) && (told.Number == errStatementTime || told.Number == errExecutionTime)
}

// Ranged reports whether the table was counted in ranges of its primary key only,
// because counting in a random sample took too long.
func (t *SizedTable) Ranged() bool { return t.ranges != "" }

// inRanges has the next counts read ranges of the primary key. It is false if the key is
// no single integer column, or if the table is counted so already.
func (s *Server) inRanges(ctx context.Context, t *SizedTable) bool {
	key := ""
	for _, ix := range t.Indexes {
		if ix.Primary && len(ix.Parts) == 1 && ix.Parts[0].Prefix == 0 {
			key = ix.Parts[0].Column
		}
	}
	c, ok := column(t.Table, key)
	if !ok || t.Ranged() || t.Size.Rows <= rangeCount*rangeRows || !slices.ContainsFunc([]string{"int", "bigint", "mediumint", "smallint"}, func(name string) bool {
		return strings.HasPrefix(strings.ToLower(c.Type), name)
	}) {
		return false
	}
	name, id := sqltext.MySQL.Quote(t.Schema)+"."+sqltext.MySQL.Quote(t.Name), sqltext.MySQL.Quote(key)
	ends, err := s.numbers(ctx, fmt.Sprintf("SELECT MIN(%s), MAX(%s) FROM %s", id, id, name), 2)
	if err != nil || ends[1] <= ends[0] {
		return false
	}
	span := ends[1] - ends[0] + 1
	width := max(1, span*rangeRows/float64(t.Size.Rows))
	var parts []string
	for i := range rangeCount {
		from := ends[0] + (span-width)*float64(i)/float64(rangeCount-1)
		parts = append(parts, fmt.Sprintf("%s BETWEEN %.0f AND %.0f", id, from, from+width-1))
	}
	t.ranges = name + " FORCE INDEX (PRIMARY) WHERE " + strings.Join(parts, " OR ")
	return true
}
