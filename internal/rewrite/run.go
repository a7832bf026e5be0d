package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// Run loads the packages of a module folder without the network and runs levers
// with the given facts; nil means all levers. Packages with type errors are
// problems.
func Run(ctx context.Context, dir string, patterns []string, f Facts, levers []*Lever) (*Result, error) {
	pkgs, err := goapp.Load(ctx, dir, patterns...)
	if err != nil {
		return nil, err
	}
	return runOn(dir, pkgs, f, levers)
}

// runOn is Run on packages that are loaded.
func runOn(dir string, pkgs []*packages.Package, f Facts, levers []*Lever) (*Result, error) {
	if levers == nil {
		levers = All()
	}
	analyzers := []*analysis.Analyzer{sqlcall.Analyzer, indexAnalyzer, poolsAnalyzer}
	codes := map[*analysis.Analyzer]string{}
	for _, l := range levers {
		a := l.Analyzer(f)
		analyzers = append(analyzers, a)
		codes[a] = l.Code
	}
	graph, res, err := analyse(dir, pkgs, analyzers...)
	if err != nil || graph == nil {
		return res, err
	}
	for _, act := range graph.Roots {
		switch r := act.Result.(type) {
		case *sqlcall.Result:
			res.Statements = append(res.Statements, statementsOf(act.Package, r)...)
		case []place:
			for _, p := range r {
				res.Hits = append(res.Hits, hitOf(act.Package, codes[act.Analyzer], p))
			}
		}
	}
	g := appCodeOf(graph)
	g.facts = f
	res.Loops = g.loops()
	for _, l := range levers {
		if l.whole != nil {
			res.Hits = l.together(g, res.Hits)
		}
	}
	sortStatements(res.Statements)
	slices.SortFunc(res.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Code, b.Code))
	})
	return res, nil
}

// survey counts lines and functions, keeps the files, and returns the packages
// that can be analysed.
func (r *Result) survey(pkgs []*packages.Package) (sound []*packages.Package) {
	for _, p := range pkgs {
		if len(p.Errors) > 0 || p.IllTyped || p.Types == nil {
			err := errors.New("it has type errors")
			if len(p.Errors) > 0 {
				err = p.Errors[0]
			}
			r.Problems = append(r.Problems, Problem{Package: p.PkgPath, Text: err.Error()})
			continue
		}
		if err := r.keep(p); err != nil {
			r.Problems = append(r.Problems, Problem{Package: p.PkgPath, Text: err.Error()})
			continue
		}
		sound = append(sound, p)
	}
	return sound
}

// keep reads the files of a package and counts.
func (r *Result) keep(p *packages.Package) error {
	for _, file := range p.Syntax {
		name := p.Fset.Position(file.FileStart).Filename
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading a source file: %w", err)
		}
		if size := p.Fset.File(file.FileStart).Size(); size != len(text) {
			return fmt.Errorf("%s changed while it was read", name)
		}
		r.Files[name] = text
		r.Lines += bytes.Count(text, []byte("\n"))
		for _, d := range file.Decls {
			if _, ok := d.(*ast.FuncDecl); ok {
				r.Functions++
			}
		}
	}
	return nil
}

// hitOf turns a place into a hit with byte offsets.
func hitOf(p *packages.Package, code string, at place) Hit {
	pos := p.Fset.PositionFor(at.node.Pos(), false)
	h := Hit{Code: code, File: pos.Filename, Line: pos.Line, Col: pos.Column, Func: funcName(p, at.node.Pos()),
		Statements: at.statements, What: at.what, How: at.how, Proof: at.proof, Promise: at.promise, Drops: at.drops, Capacity: at.capacity, Pool: at.pool, Waits: at.waits}
	if len(at.fixes) == 0 {
		where := p.Fset.PositionFor(at.why.at.Pos(), false)
		h.Reason = &Reason{Text: at.why.why, File: where.Filename, Line: where.Line}
	}
	for _, f := range at.fixes {
		h.Variants = append(h.Variants, goapp.Fix{Title: f.Message, Edits: offsets(p.Fset, f.TextEdits)})
	}
	return h
}

func offsets(fset *token.FileSet, edits []analysis.TextEdit) (out []goapp.Edit) {
	for _, e := range edits {
		start := fset.PositionFor(e.Pos, false)
		end := start.Offset
		if e.End.IsValid() {
			end = fset.PositionFor(e.End, false).Offset
		}
		out = append(out, goapp.Edit{File: start.Filename, Start: start.Offset, End: end, New: string(e.NewText)})
	}
	slices.SortStableFunc(out, func(a, b goapp.Edit) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start)) })
	return out
}

// funcName names the declared function around a position: "getIsuList",
// "(*Handler).Show"; "" outside of functions.
func funcName(p *packages.Package, pos token.Pos) string {
	for _, file := range p.Syntax {
		if pos < file.FileStart || pos > file.FileEnd {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(file, pos, pos)
		for _, n := range path {
			if d, ok := n.(*ast.FuncDecl); ok {
				return goapp.FuncName(d)
			}
		}
	}
	return ""
}
