package gocode

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/rewrite/cacheplan"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// queryCache is the lever that adds a query cache. Its change is planned from all of
// the source and from the definitions of the tables.
const queryCache = "APP207"

// cacheFolder is the folder of the source with the package of the cache.
const cacheFolder = "sqlcache"

// An UnsafeError is why a query cache could give an old answer at this site.
type UnsafeError struct{ Reason string }

func (e *UnsafeError) Error() string {
	return "a query cache could give an old answer here: " + e.Reason
}

// Hints returns what to do about the error.
func (e *UnsafeError) Hints() []string {
	return []string{"iikanji help sqlcache has the conditions"}
}

// cache adds a query cache to the copy in dir: its package, and the edits that switch
// it on.
func (t *task) cache(ctx context.Context, s *change.Site, h host.Host, dir string) error {
	if err := onlyProcess(ctx, s, t.service); err != nil {
		return err
	}
	module, err := change.GoModule(h, dir)
	if err != nil {
		return err
	}
	added := goapp.Addition{Folder: cacheFolder}
	use, err := rewrite.Cache(ctx, dir, added.ImportPath(module), s.Services[t.service].Package)
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	if len(use.Blockers) > 0 {
		return &UnsafeError{use.Blockers[0]}
	}
	if err := onlyServed(ctx, use, dir, s.Services[t.service].Package); err != nil {
		return err
	}
	if use.Opens == 0 && len(use.Foreign) > 0 {
		return &NoFixError{Reasons: use.Foreign}
	}
	if use.Opens == 0 {
		return fmt.Errorf("adding a query cache: %w", errNoPlace)
	}
	plan, err := t.cachePlan(ctx, s, use)
	if err != nil {
		return err
	}
	kept := 0
	for _, st := range plan.Statements {
		if st.Keep {
			kept++
		}
	}
	if kept == 0 {
		return change.ErrNothing
	}
	ahead := t.chooseBatches(s, &plan)
	files, err := goapp.Apply(use.Files, use.Fixes)
	if err != nil {
		return &DefectError{Levers: t.args.Levers, Func: t.args.Func, Err: err}
	}
	if err := t.copy.Write(h, dir, files); err != nil {
		return err
	}
	t.tested = true // that nothing else writes is seen and not proven
	t.what = append(t.what, fmt.Sprintf("keep the answers of %d statements in a query cache, as long as only this app writes", kept))
	if ahead > 0 {
		t.what = append(t.what, fmt.Sprintf("read the rows of %d of them ahead where a loop sends them", ahead))
	}
	added.Files, err = cacheplan.FilesFor(plan, use.Driver)
	if err == nil {
		err = t.copy.Add(h, dir, added)
	}
	if err != nil {
		return fmt.Errorf("adding a query cache: %w", err)
	}
	return nil
}

// onlyServed leaves out the edits of packages that the served program does not import, as
// those of a program that fills the database.
func onlyServed(ctx context.Context, use *rewrite.CacheSource, dir, program string) error {
	pkgs, err := goapp.Imports(ctx, dir, "./"+program)
	if err != nil {
		return fmt.Errorf("reading the packages of the program: %w", err)
	}
	served := map[string]bool{}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, name := range p.GoFiles {
			served[name] = true
		}
	})
	if len(served) == 0 {
		return fmt.Errorf("reading the packages of the program: %q has no Go files", program)
	}
	for i := range use.Fixes {
		use.Fixes[i].Edits = slices.DeleteFunc(use.Fixes[i].Edits, func(e goapp.Edit) bool { return !served[e.File] })
	}
	use.Fixes = slices.DeleteFunc(use.Fixes, func(f goapp.Fix) bool { return len(f.Edits) == 0 })
	return nil
}

// chooseBatches leaves out the batches that may change the order of rows which no ORDER BY
// tells apart, unless the policy allows it. It returns how many statements have one.
func (t *task) chooseBatches(s *change.Site, plan *sqlcache.Plan) int {
	if !slices.Contains(s.Target.Policy.Allow, iikanji.RowOrder) {
		plan.Batches = slices.DeleteFunc(plan.Batches, func(b sqlcache.Batch) bool { return b.Ties })
	}
	children := map[string]bool{}
	for _, b := range plan.Batches {
		children[b.Child] = true
		if b.Ties && !slices.Contains(t.declared, iikanji.RowOrder) {
			t.declared = append(t.declared, iikanji.RowOrder)
		}
	}
	return len(children)
}

// onlyProcess refuses a site with another app, or with several processes of this one:
// a cache sees the writes of its own process only.
func onlyProcess(ctx context.Context, s *change.Site, service string) error {
	for _, o := range s.Target.WithRole(iikanji.RoleApp) {
		if o.Name != service && !importsNone(ctx, s, o.Name, mayWrite) {
			return &UnsafeError{"the app " + o.Name + " may write to the database, too"}
		}
	}
	if s.Target.Bench.Resets {
		return &UnsafeError{"the data is put back before each run past the app"}
	}
	if pids, _ := s.Services[service].Processes(); len(pids) > 1 {
		return &UnsafeError{fmt.Sprintf("the app has %d processes", len(pids))}
	}
	return nil
}

// onlyApp refuses a site of SQLite files with another app that may change files.
func onlyApp(ctx context.Context, s *change.Site, service string) error {
	for _, o := range s.Target.WithRole(iikanji.RoleApp) {
		if o.Name != service && !importsNone(ctx, s, o.Name, mayChangeFiles) {
			return &UnsafeError{"the app " + o.Name + " may change files, too"}
		}
	}
	return nil
}

// importsNone reports whether no file in the source of a Go app imports a package of a
// kind, as those by which a program reaches a database or starts another one.
func importsNone(ctx context.Context, s *change.Site, service string, kind func(*ast.ImportSpec) bool) bool {
	source, err := s.SourceHere(ctx, service)
	if err != nil {
		return false
	}
	files, found := 0, false
	err = filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, body, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files++
		found = found || slices.ContainsFunc(f.Imports, kind)
		return nil
	})
	return err == nil && files > 0 && !found
}

// harmlessModules are modules outside of the standard library that reach no database.
var harmlessModules = []string{"github.com/golang-jwt/jwt", "github.com/labstack/echo", "github.com/labstack/gommon", "github.com/gin-gonic/gin", "github.com/go-chi/chi",
	"github.com/gorilla/", "github.com/lestrrat-go/jwx", "golang.org/x/crypto", "golang.org/x/sync", "golang.org/x/text"}

// mayWrite reports whether an imported package may reach a database. A package of the
// standard library has no dot in the first element of its path.
func mayWrite(spec *ast.ImportSpec) bool {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return true
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return slices.Contains([]string{"database/sql", "database/sql/driver", "os/exec", "plugin", "syscall", "C"}, path)
	}
	return !slices.ContainsFunc(harmlessModules, func(m string) bool { return strings.HasPrefix(path, m) })
}

// mayChangeFiles reports whether an imported package may change files of the host.
func mayChangeFiles(spec *ast.ImportSpec) bool {
	return mayWrite(spec) || slices.Contains([]string{`"os"`, `"io/ioutil"`}, spec.Path.Value)
}

// cachePlan makes the plan for the app's statements.
func (t *task) cachePlan(ctx context.Context, s *change.Site, use *rewrite.CacheSource) (plan sqlcache.Plan, err error) {
	var texts []string
	for _, st := range use.Statements {
		if !st.Whole {
			continue // it empties the cache if it writes
		}
		if st.Named {
			st.Text = sqltext.Positional(st.Text)
		}
		texts = append(texts, st.Text)
	}
	texts = append(texts, t.seen...) // of mappers: one that the app does not send costs nothing
	if use.OfFiles() {
		if err := onlyApp(ctx, s, t.service); err != nil {
			return plan, err
		}
		for _, text := range texts {
			if definesTrigger.MatchString(text) {
				return plan, &UnsafeError{"the app defines a trigger: files that it makes later may have others than those of now"}
			}
		}
		definitions, err := fileDefinitions(ctx, s, t.service)
		if err != nil {
			return plan, err
		}
		plan, _, err = cacheplan.BuildSQLite(ctx, definitions, texts)
		cacheplan.Link(&plan, loopsOf(use))
		return plan, err
	}
	schema, err := cacheSchema(ctx, s)
	if err != nil {
		return plan, err
	}
	plan, _ = cacheplan.Build(schema, texts)
	cacheplan.Link(&plan, loopsOf(use))
	return plan, nil
}

// loopsOf are the loops that the source shows.
func loopsOf(use *rewrite.CacheSource) (out []cacheplan.Loop) {
	for _, l := range use.Loops {
		out = append(out, cacheplan.Loop(l))
	}
	return out
}

// definesTrigger finds a statement that makes a trigger.
var definesTrigger = regexp.MustCompile(`(?i)\bCREATE\s+(?:TEMP\s+|TEMPORARY\s+)?TRIGGER\b`)
