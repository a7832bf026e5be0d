package cause

import (
	"fmt"
	"regexp"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the parser's plain values
)

// A statement is the result of analysing one SQL text: blocks of tables with
// their predicates, orders and groups.
type statement struct {
	verb   string // select, insert, update, delete, replace, other
	into   *table // the table that is written
	sets   []string
	blocks []*block // the outermost first
	marks  []mark   // predicates that no index can serve
	hints  []hint   // indexes named in the statement
	rows   int      // rows in the VALUES of an INSERT, as far as the text goes; 0 for none
	upsert bool     // an INSERT … ON DUPLICATE KEY UPDATE
	cut    bool     // the text is cut off within its rows
}

// A hint is an index named in a statement: USE, FORCE or IGNORE INDEX. Without
// that index the server rejects the statement.
type hint struct {
	table *table
	name  string
}

// optimizerComments are the comments that a server interprets as hints. Their
// words may be names of indexes.
var optimizerComments = regexp.MustCompile(`(?s)/\*\+.*?\*/`)

// A block is one SELECT, or the reading half of an UPDATE or DELETE.
type block struct {
	refs       []ref
	preds      []pred
	ors        []either
	order      []orderItem
	badOrder   string // the text of an ORDER BY item that is not a column
	group      []colAt
	badGroup   bool
	distinct   bool
	outs       []colAt // output columns, when all outputs are columns
	minmax     []colAt
	aggregates bool // others than MIN and MAX
	countAll   bool // the only output is COUNT(*) or COUNT(col)
	limit      float64
	offset     float64
	limited    bool
	residual   int // number of predicates that no index can serve
	outer      *block
	correlated bool // runs once per row of outer
	used       []map[string]bool
	all        []bool // every column of the ref is read
	known      map[memoKey]*knowledge
}

// A ref is one table of a FROM clause.
type ref struct {
	alias string
	table *table // nil for derived and unknown tables
	after []int  // refs that must be read before, for outer joins
	left  bool   // the inner side of an outer join
	semi  bool   // only its existence matters

	only, never []string // indexes that hints allow or forbid; only is nil for all
}

// A colAt is a column of one of the block's refs.
type colAt struct {
	ref int
	col string // lower case
}

type orderItem struct {
	colAt
	desc bool
}

// A predKind is how an index can serve a predicate.
type predKind uint8

const (
	predOther   predKind = iota
	predEq               // column = constant
	predNull             // column IS NULL: as an equality
	predIn               // column IN (constants)
	predRange            // < > BETWEEN, IS NOT NULL
	predPrefix           // LIKE 'abc%'
	predJoin             // column = column of another ref
	predNot              // <> and NOT IN: all but a few values
	predSpatial          // ST_Contains(constant, column) and its kin
)

// A pred is one conjunct over one column.
type pred struct {
	colAt
	kind predKind
	n    int    // constants of an IN; 2 for a BETWEEN, which has both ends
	with colAt  // the partner of a join
	text string // for measuring, "" if it cannot be measured

	// measured share of the rows that pass, once it has been looked up
	share    float64
	measured bool
	looked   bool
}

// An either is a disjunction whose arms can all be served by indexes of one ref.
type either struct {
	ref  int
	arms [][]pred
}

// A mark is the reason why a predicate cannot use an index.
type mark struct {
	why  markKind
	ref  *table
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

// parse parses one statement and binds its names. db is the default schema. Of
// an INSERT that is cut off within its rows, the complete rows are parsed.
func (s *Schema) parse(p *parser.Parser, sql, db string) (*statement, error) {
	node, err := p.ParseOneStmt(sql, "", "")
	cut := false
	if whole, ok := beginning(sql); err != nil && ok {
		cut = true
		node, err = p.ParseOneStmt(whole, "", "")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a statement: %w", err)
	}
	st := &statement{verb: "other", cut: cut}
	b := &binder{schema: s, db: db, st: st, ctes: map[string]*ast.CommonTableExpression{}}
	switch n := node.(type) {
	case *ast.SelectStmt:
		st.verb = "select"
		b.selects(n, nil)
	case *ast.SetOprStmt:
		st.verb = "select"
		b.union(n, nil)
	case *ast.UpdateStmt:
		st.verb = "update"
		b.update(n)
	case *ast.DeleteStmt:
		st.verb = "delete"
		b.deletes(n)
	case *ast.InsertStmt:
		st.verb = "insert"
		if n.IsReplace {
			st.verb = "replace"
		}
		b.insert(n)
	}
	for _, blk := range st.blocks {
		blk.close()
	}
	return st, nil
}

// newBlock appends a block to the statement.
func (b *binder) newBlock(outer *scope) *block {
	blk := &block{}
	if outer != nil {
		blk.outer = outer.b
	}
	b.st.blocks = append(b.st.blocks, blk)
	return blk
}

func (blk *block) addRef(r ref) int {
	blk.refs = append(blk.refs, r)
	blk.used = append(blk.used, map[string]bool{})
	blk.all = append(blk.all, false)
	return len(blk.refs) - 1
}

// wideJoin is the number of refs from which on a join is analysed as written:
// the pairs of its columns would be too many.
const wideJoin = 12

// close finishes a block: constants propagate over join equalities, and an
// outer join with a filtered inner side becomes an inner one.
func (blk *block) close() {
	if len(blk.refs) > wideJoin {
		return
	}
	for changed := true; changed; {
		changed = false
		for _, p := range blk.preds {
			if p.kind != predJoin {
				continue
			}
			for _, q := range blk.preds {
				if q.colAt != p.with {
					continue
				}
				d := pred{colAt: p.colAt, kind: q.kind, n: q.n, with: q.with}
				if (q.kind == predEq || q.kind == predIn || q.kind == predJoin && q.with.ref != p.ref) && !blk.has(d) {
					blk.preds = append(blk.preds, d)
					changed = true
				}
			}
		}
	}
}

// tables are the tables that a statement reads.
func (st *statement) tables() map[*table]bool {
	out := map[*table]bool{}
	for _, blk := range st.blocks {
		for _, r := range blk.refs {
			if r.table != nil {
				out[r.table] = true
			}
		}
	}
	return out
}

// has reports whether the block has a predicate of the same kind on the same
// column.
func (blk *block) has(d pred) bool {
	for _, q := range blk.preds {
		if q.colAt == d.colAt && q.kind == d.kind && (q.kind != predJoin || q.with == d.with) {
			return true
		}
	}
	return false
}
