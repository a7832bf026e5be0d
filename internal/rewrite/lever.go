// Package rewrite has the code levers: analyzers of Go source that find slow uses of
// a database and other slow code, and that rewrite a place where types and data
// flow prove that the rewritten code answers the same.
package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A Promise is a property of a site that a fix weakens. The zero value is none.
type Promise string

const (
	// NoPromise: the rewritten code answers the same, at the same isolation.
	NoPromise Promise = ""
	// Freshness: a value is read once and used for longer.
	Freshness Promise = "freshness"
	// Durability: what was committed may be lost in a power cut.
	Durability Promise = "durability"
	// Isolation: statements see another state of the database, or lock fewer rows.
	Isolation Promise = "isolation"
	// RowOrder: the order of a query without ORDER BY.
	RowOrder Promise = "row-order"
	// TestedOnly: recorded answers were compared; types and flow prove less.
	TestedOnly Promise = "tested-only"
	// Behaviour: a decision of the application changes.
	Behaviour Promise = "behaviour"
)

// A Proof is the reason why a fix keeps the answers.
type Proof string

const (
	// Hint: there is no fix; a person decides.
	Hint Proof = "hint"
	// Tested: a fix that needs differential answers.
	Tested Proof = "tested"
	// Proven: types and data flow prove the fix.
	Proven Proof = "proven"
)

// A Lever declares one rewrite: what it finds, what its fixes weaken and what they
// save. It is the only place where these are written.
type Lever struct {
	Code    string  // "APP201"
	Title   string  // "only the first row is used"
	Line    string  // the cause in one line, for lists
	Promise Promise // what its fixes weaken, at most; a Hit has its own
	// Order is the position of its fixes in a change of one function: what removes
	// rows and statements comes before what narrows them.
	Order int
	// Saved is the share of the seconds of a place that its fix saves, wide on
	// purpose: the runs decide.
	Saved Share
	Of    Seconds // whose seconds Saved is a share of
	// OneRow: a fix has its statements read one row of the n that they read, so that it
	// saves up to (n−1)/n of their seconds.
	OneRow bool
	// Whole: its change is planned from all of the source, not by fixes of single places.
	Whole bool
	// Ahead: its statements are sent once for each element of a loop, so that the query
	// cache can read their rows ahead, in whatever form the loop is written.
	Ahead bool
	// Again: a fix may make another one of the same function possible, so that it is looked for again.
	Again bool
	// Holds: its places hold connections and locks while they use no CPU, so that a change
	// relieves no other limit.
	Holds bool

	find func(*reporter) error
	// whole finds the places that need several packages at once, nil if there are none such.
	// With anew they take the place of all that find has found in one package.
	whole func(*appCode) []partPlace
	anew  bool
}

// A Share is a range of shares, from 0 to 1.
type Share struct{ Lo, Hi float64 }

// Seconds are what the time of a place is measured by.
type Seconds uint8

const (
	OfFunction   Seconds = iota // the place's function in the app
	OfStatements                // the place's statements
)

// Facts are what the analysis may assume of the database. The zero value means
// that nothing is known.
type Facts struct {
	Tables map[string]Table // by name in lower case
}

// A Table is what is known of one table.
type Table struct {
	Unique  [][]string        // columns of each unique key, in lower case
	Columns map[string]Column // by name in lower case
	Rows    int64
}

// A Column is what is known of one column.
type Column struct {
	Type      string  // in lower case: "bigint(20)", "char(36)", "longblob"
	MeanBytes float64 // 0 if unknown
	NotNull   bool
}

// A place is one place that a lever reports, before positions become offsets.
type place struct {
	node       ast.Node
	statements []string
	what, how  string
	proof      Proof
	promise    Promise
	fixes      []analysis.SuggestedFix
	drops      float64       // see Hit
	capacity   bool          // see Hit
	pool       bool          // see Hit
	waits      time.Duration // see Hit
	why        refusal       // of a place without a fix
}

// A reporter collects the places of one lever in one package.
type reporter struct {
	pass   *analysis.Pass
	code   string
	facts  Facts
	places []place
	// refused is the last condition that did not hold of the place under examination.
	refused refusal
}

// report adds a place: as a diagnostic for drivers of analyzers, and as a result
// for Run.
func (r *reporter) report(p place) {
	if slices.ContainsFunc(p.fixes, func(f analysis.SuggestedFix) bool { return hidden(r.pass, f) }) {
		p.fixes, p.why = nil, refusal{p.node, nameTaken}
	}
	switch {
	case len(p.fixes) == 0:
		p.proof = Hint
		if p.why.why == "" {
			p.why = r.refused
		}
		if p.why.at == nil {
			p.why.at = p.node
		}
	case p.proof == "":
		p.proof = Proven
	}
	r.refused = refusal{}
	r.places = append(r.places, p)
	category := r.code
	if p.proof == Hint {
		category += ":hint"
	}
	r.pass.Report(analysis.Diagnostic{Pos: p.node.Pos(), End: p.node.End(), Category: category,
		Message: r.message(p), SuggestedFixes: p.fixes})
}

// message is the line of a diagnostic.
func (r *reporter) message(p place) string {
	text := fmt.Sprintf("%s: %s; %s", r.code, p.what, p.how)
	if len(p.fixes) > 0 {
		return text
	}
	return fmt.Sprintf("%s (no automatic fix: %s, line %d)", text, p.why.why, r.pass.Fset.Position(p.why.at.Pos()).Line)
}

// Analyzer returns the analyzer of a lever that assumes the given facts. Its name is
// a flag of go vet.
func (l *Lever) Analyzer(f Facts) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name:       l.name(),
		Doc:        l.Title + "\n\nSee iikanji help " + l.Code + ".",
		URL:        "https://github.com/iikanji/iikanji/blob/main/docs/findings/" + l.Code + ".md",
		Requires:   []*analysis.Analyzer{indexAnalyzer, inspect.Analyzer, sqlcall.Analyzer},
		ResultType: reflect.TypeFor[[]place](),
	}
	a.Run = func(pass *analysis.Pass) (result any, err error) {
		r := &reporter{pass: pass, code: l.Code, facts: f}
		defer func() {
			// A defect of a lever must not end a search over other packages.
			if v := recover(); v != nil {
				result, err = []place(nil), fmt.Errorf("%s in %s: BUG: %v", l.Code, pass.Pkg.Path(), v)
			}
		}()
		if generated(pass.Files) {
			return []place(nil), nil
		}
		err = l.find(r)
		return r.places, err
	}
	return a
}

// name is the name of the analyzer: "app201".
func (l *Lever) name() string { return strings.ToLower(l.Code) }

// generated reports whether every file of a package is generated: its source is
// not what a person would edit.
func generated(files []*ast.File) bool {
	for _, f := range files {
		if !ast.IsGenerated(f) {
			return false
		}
	}
	return true
}

// edit is a text edit of a fix.
func edit(pos, end token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: pos, End: end, NewText: []byte(text)}
}
