package facts

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// analyzeTree runs a SELECT by MySQL's EXPLAIN ANALYZE, which prints the measured
// numbers as a tree of text, and adds these numbers to the steps of EXPLAIN.
func (s *Server) analyzeTree(ctx context.Context, sql string) (catalog.QueryPlan, error) {
	p, err := s.Explain(ctx, sql)
	if err != nil {
		return p, err
	}
	reading, err := Reading(sql)
	if err != nil {
		return p, err
	}
	var tree string
	if err := s.conn.QueryRowContext(ctx, "EXPLAIN ANALYZE FORMAT=TREE "+reading).Scan(&tree); err != nil {
		return p, fmt.Errorf("running %.80s: %w", reading, err)
	}
	meet(&p, ParseTree(tree))
	return p, nil
}

// A Met is the measured access to one table in an executed query plan.
type Met struct {
	Table string  // alias as in the statement
	Key   string  // index, "" for none
	Rows  float64 // per loop
	Loops float64 // 0 where it was never executed
}

// treeLine is a node of MySQL's tree that reads a table, as
//
//	-> Covering index lookup on p using newest (user_id=3)  (cost=1.9 rows=15) (actual time=0.03..0.04 rows=15 loops=1)
//
// A node ends with the numbers or with "(never executed)".
var treeLine = regexp.MustCompile("^\\s*-> (?:[A-Z][A-Za-z-]*(?: [a-z-]+)*) on (`[^`]+`|[^\\s`]+)(?: using (\\S+))?.*\\((?:actual time=\\S+ rows=(\\S+) loops=(\\S+)|never executed)\\)\\s*$")

// ParseTree parses the table accesses in the output of EXPLAIN ANALYZE
// FORMAT=TREE, in the order of the text. It skips nodes that read no table.
func ParseTree(text string) []Met {
	var out []Met
	for line := range strings.Lines(text) {
		m := treeLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		met := Met{Table: strings.Trim(m[1], "`"), Key: m[2]}
		met.Rows, _ = strconv.ParseFloat(m[3], 64)
		met.Loops, _ = strconv.ParseFloat(m[4], 64)
		out = append(out, met)
	}
	return out
}

// meet sets the steps of a query plan to the measured numbers of the accesses to their
// tables. Each access is used once. Constant tables are read during planning and
// are not in the tree, so their steps keep the estimates.
func meet(p *catalog.QueryPlan, mets []Met) {
	p.Ran = true
	mets = slices.Clone(mets)
	for i := range p.Steps {
		s := &p.Steps[i]
		at := slices.IndexFunc(mets, func(m Met) bool { return m.Table == s.Table && (m.Key == s.Key || s.Access == "index_merge") })
		if at < 0 {
			continue
		}
		s.Foreseen, s.Rows, s.Loops = s.Rows, mets[at].Rows, mets[at].Loops
		mets = slices.Delete(mets, at, at+1)
	}
}
