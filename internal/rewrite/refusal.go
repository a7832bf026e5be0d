package rewrite

import (
	"fmt"
	"go/ast"
	"path/filepath"
)

// A Reason is why a place has no fix: the condition of the fix that does not hold, and
// where.
type Reason struct {
	Text string `json:"text"` // a clause: "the loop goes over its elements once only"
	File string `json:"file"` // absolute
	Line int    `json:"line"`
}

// In is the reason with its line, the file relative to a folder.
func (r *Reason) In(dir string) string {
	file := r.File
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		file = filepath.ToSlash(rel)
	}
	return fmt.Sprintf("%s (%s:%d)", r.Text, file, r.Line)
}

// A refusal is a Reason before its position becomes a line. The zero value is none.
type refusal struct {
	at  ast.Node
	why string
}

// no notes why the place under examination gets no fix. It returns false, so that a
// condition that does not hold is one line.
func (r *reporter) no(at ast.Node, format string, args ...any) bool {
	r.refused = refusal{at, fmt.Sprintf(format, args...)}
	return false
}

// needs notes a condition that does not hold. It returns the condition.
func (r *reporter) needs(holds bool, at ast.Node, format string, args ...any) bool {
	return holds || r.no(at, format, args...)
}

// Texts of conditions that several fixes have.
const (
	textSpread = "the text of the statement is put together in a way that an edit would change elsewhere, too"
	textUnread = "the statement has a form of SQL that the fixes do not read, as some of PostgreSQL are"
	nameTaken  = "a package or a name that the fix needs means something else there"
)
