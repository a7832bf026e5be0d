package rewrite

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A loop in a transaction may lock the row of each element:
//
//	for _, id := range ids {
//		err := tx.Get(&item, "SELECT * FROM items WHERE id = ? FOR UPDATE", id)
//
// One UNION ALL locks them in the order of its SELECTs, which is that of the elements. What it has
// read nobody else can change before the transaction ends. A loop that stops early has locked more
// rows, and an error of the statement is that of the first element: a deadlock has ended the
// transaction, so that the element's own statement must not be sent any more.

// locksRow reports whether a statement locks the row of one key, in a way that a UNION can.
func (r *reader) locksRow(s *statement) bool {
	sel := s.selects()
	return r.handle().Kind == sqlcall.Tx && !r.multi && waitsForLock(s.tokens) && sqltext.Marked(s.tokens) && !opensSQLite(r.pass) &&
		sel.OrderBy == nil && sel.Limit == nil && sel.GroupBy == nil && !aggregates(sel) && r.facts.atMostOne(sel)
}

// waitsForLock reports whether a statement ends with a lock, without a word on how long to wait.
func waitsForLock(tokens []sqltext.Token) bool {
	for _, clause := range [][]string{{"FOR", "UPDATE"}, {"FOR", "SHARE"}, {"LOCK", "IN", "SHARE", "MODE"}} {
		n := len(tokens) - len(clause)
		if n > 0 && slices.EqualFunc(tokens[n:], clause, func(t sqltext.Token, word string) bool { return t.Is(word) }) {
			return true
		}
	}
	return false
}

// serializable reports whether a package begins serializable transactions, in which each SELECT
// locks what it reads.
func serializable(pass *analysis.Pass) bool {
	for _, obj := range pass.TypesInfo.Uses {
		if c, ok := obj.(*types.Const); ok && c.Pkg() != nil && c.Pkg().Path() == "database/sql" && (c.Name() == "LevelSerializable" || c.Name() == "LevelLinearizable") {
			return true
		}
	}
	return false
}
