package index

import (
	"fmt"
	"regexp"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the parser's plain values
)

// A Statement is the result of analysing one SQL text: blocks of tables with
// their predicates, orders and groups.
type Statement struct {
	Verb   string // select, insert, update, delete, replace, other
	Into   *Table // the table that is written
	Sets   []string
	Blocks []*Block // the outermost first
	marks  []mark   // predicates that no index can serve
	hints  []hint   // indexes named in the statement
	Rows   int      // rows in the VALUES of an INSERT, as far as the text goes; 0 for none
	Upsert bool     // an INSERT … ON DUPLICATE KEY UPDATE
	Cut    bool     // the text is cut off within its rows
}

// A hint is an index named in a statement: USE, FORCE or IGNORE INDEX. Without
// that index the server rejects the statement.
type hint struct {
	table *Table
	name  string
}

// optimizerComments are the comments that a server interprets as hints. Their
// words may be names of indexes.
var optimizerComments = regexp.MustCompile(`(?s)/\*\+.*?\*/`)

// A Block is one SELECT, or the reading half of an UPDATE or DELETE.
type Block struct {
	Refs       []Ref
	Predicates []Predicate
	ors        []either
	Order      []OrderItem
	BadOrder   string // the text of an ORDER BY item that is not a column
	Group      []ColumnAt
	BadGroup   bool
	Distinct   bool
	Outputs    []ColumnAt // output columns, when all outputs are columns
	MinMax     []ColumnAt
	Aggregates bool // others than MIN and MAX
	CountAll   bool // the only output is COUNT(*) or COUNT(col)
	Limit      float64
	Offset     float64
	Limited    bool
	residual   int // number of predicates that no index can serve
	outer      *Block
	correlated bool // runs once per row of outer
	Used       []map[string]bool
	All        []bool // every column of the ref is read
	known      map[memoKey]*knowledge
}

// A Ref is one table of a FROM clause.
type Ref struct {
	Alias string
	Table *Table // nil for derived and unknown tables
	after []int  // refs that must be read before, for outer joins
	left  bool   // the inner side of an outer join
	Semi  bool   // only its existence matters

	only, never []string // indexes that hints allow or forbid; only is nil for all
}

// A ColumnAt is a column of one of the block's refs.
type ColumnAt struct {
	Ref int
	Col string // lower case
}

// An OrderItem is a column of an ORDER BY.
type OrderItem struct {
	ColumnAt
	desc bool
}

// A PredKind is how an index can serve a predicate.
type PredKind uint8

const (
	PredOther   PredKind = iota
	PredEq               // column = constant
	PredNull             // column IS NULL: as an equality
	PredIn               // column IN (constants)
	PredRange            // < > BETWEEN, IS NOT NULL
	PredPrefix           // LIKE 'abc%'
	PredJoin             // column = column of another ref
	PredNot              // <> and NOT IN: all but a few values
	PredSpatial          // ST_Contains(constant, column) and its kin
)

// A Predicate is one conjunct over one column.
type Predicate struct {
	ColumnAt
	Kind PredKind
	N    int      // constants of an IN; 2 for a BETWEEN, which has both ends
	With ColumnAt // the partner of a join
	Text string   // for measuring, "" if it cannot be measured

	// measured share of the rows that pass, once it has been looked up
	share    float64
	measured bool
	looked   bool
}

// An either is a disjunction whose arms can all be served by indexes of one ref.
type either struct {
	ref  int
	arms [][]Predicate
}

// A mark is the reason why a predicate cannot use an index.
type mark struct {
	why  markKind
	ref  *Table
	col  string
	text string
}

type markKind uint8

const (
	markExpression markKind = iota // the column stands inside an expression
	markTypes                      // text compared with a number
	markWildcard                   // LIKE '%…'
	markSpatial                    // geometry built of columns
	markOrder                      // ORDER BY an expression
	markRandom                     // ORDER BY RAND()
)

// Parse parses one statement and binds its names. db is the default schema. Of
// an INSERT that is cut off within its rows, the complete rows are parsed.
func (s *Schema) Parse(p *parser.Parser, sql, db string) (*Statement, error) {
	node, err := p.ParseOneStmt(sql, "", "")
	cut := false
	if whole, ok := beginning(sql); err != nil && ok {
		cut = true
		node, err = p.ParseOneStmt(whole, "", "")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a statement: %w", err)
	}
	st := &Statement{Verb: "other", Cut: cut}
	b := &binder{schema: s, db: db, st: st, ctes: map[string]*ast.CommonTableExpression{}}
	switch n := node.(type) {
	case *ast.SelectStmt:
		st.Verb = "select"
		b.selects(n, nil)
	case *ast.SetOprStmt:
		st.Verb = "select"
		b.union(n, nil)
	case *ast.UpdateStmt:
		st.Verb = "update"
		b.update(n)
	case *ast.DeleteStmt:
		st.Verb = "delete"
		b.deletes(n)
	case *ast.InsertStmt:
		st.Verb = "insert"
		if n.IsReplace {
			st.Verb = "replace"
		}
		b.insert(n)
	}
	for _, blk := range st.Blocks {
		blk.close()
	}
	return st, nil
}

// newBlock appends a block to the statement.
func (b *binder) newBlock(outer *scope) *Block {
	blk := &Block{}
	if outer != nil {
		blk.outer = outer.b
	}
	b.st.Blocks = append(b.st.Blocks, blk)
	return blk
}

func (blk *Block) addRef(r Ref) int {
	blk.Refs = append(blk.Refs, r)
	blk.Used = append(blk.Used, map[string]bool{})
	blk.All = append(blk.All, false)
	return len(blk.Refs) - 1
}

// WideJoin is the number of refs from which on a join is analysed as written:
// the pairs of its columns would be too many.
const WideJoin = 12

// close finishes a block: constants propagate over join equalities, and an
// outer join with a filtered inner side becomes an inner one.
func (blk *Block) close() {
	if len(blk.Refs) > WideJoin {
		return
	}
	for changed := true; changed; {
		changed = false
		for _, p := range blk.Predicates {
			if p.Kind != PredJoin {
				continue
			}
			for _, q := range blk.Predicates {
				if q.ColumnAt != p.With {
					continue
				}
				d := Predicate{ColumnAt: p.ColumnAt, Kind: q.Kind, N: q.N, With: q.With}
				if (q.Kind == PredEq || q.Kind == PredIn || q.Kind == PredJoin && q.With.Ref != p.Ref) && !blk.has(d) {
					blk.Predicates = append(blk.Predicates, d)
					changed = true
				}
			}
		}
	}
}

// Tables are the tables that a statement reads.
func (st *Statement) Tables() map[*Table]bool {
	out := map[*Table]bool{}
	for _, blk := range st.Blocks {
		for _, r := range blk.Refs {
			if r.Table != nil {
				out[r.Table] = true
			}
		}
	}
	return out
}

// has reports whether the block has a predicate of the same kind on the same
// column.
func (blk *Block) has(d Predicate) bool {
	for _, q := range blk.Predicates {
		if q.ColumnAt == d.ColumnAt && q.Kind == d.Kind && (q.Kind != PredJoin || q.With == d.With) {
			return true
		}
	}
	return false
}
