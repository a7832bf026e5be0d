package rewrite

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A CacheSource is what the source of an app needs for a query cache, and what it
// shows of its use.
type CacheSource struct {
	Fixes      []goapp.Fix       // that switch the cache on; none if it is on already
	Files      map[string][]byte // the files of all packages, as read
	Statements []Statement       // that the app sends
	Loops      []Loop            // over the rows of one statement that send another one
	Opens      int               // places where a pool is opened by the driver's name
	// Driver is the driver's name without that of the cache: that of MySQL if the app
	// opens pools to MySQL, otherwise one of SQLite; "" if no pool is opened.
	Driver string
	// Blockers are the reasons why a cache would not see every write.
	Blockers []string
	// Foreign are the reasons why pools of other engines get no cache.
	Foreign []string
}

// OfFiles reports whether the database is files of SQLite.
func (s *CacheSource) OfFiles() bool { return slices.Contains(fileDrivers, s.Driver) }

// Cache reads the packages of a module folder for a query cache in the package with
// an import path: those of the program in a folder of it, all if there is no program.
// Packages with type errors are blockers.
func Cache(ctx context.Context, dir, importPath, program string) (*CacheSource, error) {
	pkgs, err := goapp.Load(ctx, dir, "./...")
	if err != nil {
		return nil, err
	}
	if main := programIn(dir, program, pkgs); main != nil {
		pkgs = servedBy(main, pkgs)
	}
	return cacheOf(dir, pkgs, importPath)
}

// cacheOf is Cache on packages that are loaded.
func cacheOf(dir string, pkgs []*packages.Package, importPath string) (*CacheSource, error) {
	uses := &analysis.Analyzer{Name: "cacheuse", Doc: "find what a query cache must know of a package",
		Run:        func(pass *analysis.Pass) (any, error) { return cacheUseOf(indexOf(pass), importPath), nil },
		ResultType: reflect.TypeFor[*cacheUse](), Requires: []*analysis.Analyzer{indexAnalyzer}}
	graph, res, err := analyse(dir, pkgs, uses, indexAnalyzer, sqlcall.Analyzer)
	if err != nil {
		return nil, err
	}
	out := &CacheSource{Files: res.Files}
	for _, p := range res.Problems {
		out.Blockers = append(out.Blockers, p.Package+": "+p.Text)
	}
	if graph == nil {
		return out, nil
	}
	var found []*cacheUse
	for _, act := range graph.Roots {
		switch r := act.Result.(type) {
		case *sqlcall.Result:
			out.Statements = append(out.Statements, statementsOf(act.Package, r)...)
		case *cacheUse:
			if act.Package.PkgPath != importPath { // of the cache itself, which is on already
				found = append(found, r)
			}
		}
	}
	out.Loops = appCodeOf(graph).loops()
	resolve(found)
	out.choose(found)
	for _, u := range found {
		if err := out.add(u); err != nil {
			return nil, fmt.Errorf("reading %s: %w", u.x.pass.Pkg.Path(), err)
		}
	}
	for _, u := range found {
		out.Statements = withMapped(out.Statements, u.x)
	}
	sortStatements(out.Statements)
	return out, nil
}

// choose finds the driver that gets the cache. One package of a cache has one driver.
func (s *CacheSource) choose(found []*cacheUse) {
	for _, base := range append([]string{mysqlDriver}, fileDrivers...) {
		if !slices.ContainsFunc(found, func(u *cacheUse) bool { return len(u.of(base)) > 0 }) {
			continue
		}
		if s.Driver == "" {
			s.Driver = base
		} else if s.OfFiles() {
			s.Blockers = append(s.Blockers, fmt.Sprintf("files are opened by two drivers, %s and %s", s.Driver, base))
		}
	}
}

// errName means that an identifier of the fix means something else at its place.
var errName = errors.New("a name that the fix needs is in use")

func (s *CacheSource) add(u *cacheUse) error {
	s.Opens += len(u.of(s.Driver))
	for _, at := range u.foreign {
		s.Foreign = append(s.Foreign, u.reason(at.call, "%s", at.why))
	}
	s.Blockers = append(s.Blockers, u.blockers...)
	if s.OfFiles() {
		s.Blockers = append(s.Blockers, u.fileBlockers...)
	}
	edits, ok := u.rewrite(s.Driver)
	if !ok {
		return errName
	}
	if len(edits) > 0 {
		s.Fixes = append(s.Fixes, goapp.Fix{Title: "keep answers in a query cache", Edits: edits})
	}
	return nil
}

// analyse runs analyzers on the packages of a module folder that have no errors. It returns
// a nil graph if all packages have errors, or without analyzers.
func analyse(dir string, pkgs []*packages.Package, analyzers ...*analysis.Analyzer) (*checker.Graph, *Result, error) {
	res := &Result{Files: map[string][]byte{}, Packages: pkgs}
	sound := res.survey(pkgs)
	if len(sound) == 0 || len(analyzers) == 0 {
		return nil, res, nil
	}
	var program []*types.Package
	for _, p := range sound {
		program = append(program, p.Types)
	}
	defer sqlcall.Together(program)()
	graph, err := checker.Analyze(analyzers, sound, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("analysing %s: %w", dir, err)
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			res.Problems = append(res.Problems, Problem{Package: act.Package.PkgPath, Text: act.Err.Error()})
		}
	}
	return graph, res, nil
}

// statementsOf lists the statements of a package whose text is known.
func statementsOf(p *packages.Package, r *sqlcall.Result) (out []Statement) {
	for _, c := range r.Calls {
		at := p.Fset.PositionFor(c.Expr.Pos(), false)
		for _, text := range c.Texts {
			out = append(out, Statement{Text: text, File: at.Filename, Line: at.Line, Func: funcName(p, c.Expr.Pos()), Whole: true, Named: c.Named})
		}
		if c.Text == nil || c.Texts != nil {
			continue
		}
		out = append(out, Statement{Text: c.Text.SQL, File: at.Filename, Line: at.Line, Func: funcName(p, c.Expr.Pos()), Whole: c.Text.Holes == 0, Named: c.Named})
	}
	return out
}
