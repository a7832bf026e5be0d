package ties

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/settings"
)

// A source is the Go source of an app, checked without its dependencies.
type source struct {
	fset   *token.FileSet
	module string
	pkgs   map[string]*packages.Package // by folder, checked
	parsed map[string][]*ast.File       // by folder
	others map[string]*types.Package    // packages of other modules, without content
	routes []goapp.Route
	all    []*packages.Package // those of the program, in the order of their folders

	decls   map[*types.Func]*function
	request map[*types.Func]bool // answer requests, or are called while one is answered
	bodies  []body               // of what runs while a request is answered
	starts  []body               // of what runs otherwise
	typing  map[types.Object]ast.Expr
	living  map[*types.TypeName]bool // types with values that outlive a request
	imports map[string]ast.Node      // paths that the program imports
}

// A function is a declared one.
type function struct {
	pkg  *packages.Package
	decl *ast.FuncDecl
}

// A body is what runs together: a function, or a literal in one that is none of its kind.
type body struct {
	pkg  *packages.Package
	name string // of the declared function
	node ast.Node
	code *ast.BlockStmt
	recv types.Object // the receiver, nil without one
}

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+(\S+)`)

// read parses and checks the Go files of an app. program is the folder of its program,
// relative to the source; "" for the only one, or for all.
func read(files []settings.File, program string) *source {
	s := &source{fset: token.NewFileSet(), pkgs: map[string]*packages.Package{}, parsed: map[string][]*ast.File{}, others: map[string]*types.Package{},
		decls: map[*types.Func]*function{}, request: map[*types.Func]bool{}, typing: map[types.Object]ast.Expr{}, living: map[*types.TypeName]bool{}, imports: map[string]ast.Node{}}
	for _, f := range files {
		switch {
		case path.Base(f.Path) == "go.mod" || path.Base(f.Path) == "go.mod.txt":
			if m := moduleLine.FindStringSubmatch(f.Text); m != nil {
				s.module = m[1]
			}
		case strings.HasSuffix(f.Path, ".go") && !strings.HasSuffix(f.Path, "_test.go"):
			if parsed, err := parser.ParseFile(s.fset, f.Path, f.Text, parser.SkipObjectResolution); err == nil { // others are not built
				dir := path.Dir(f.Path)
				nameImports(parsed)
				s.parsed[dir] = append(s.parsed[dir], parsed)
			}
		}
	}
	for _, dir := range s.programs(path.Clean(program)) {
		s.check(dir)
	}
	for _, dir := range slices.Sorted(maps.Keys(s.pkgs)) {
		if p := s.pkgs[dir]; p != nil {
			s.all = append(s.all, p)
		}
	}
	s.routes, _ = goapp.Routes(s.all, nil)
	return s
}

// programs are the folders of the app's programs: the named one if there is one, otherwise
// all; without a program, all folders.
func (s *source) programs(named string) (dirs []string) {
	is := func(dir string) bool { return len(s.parsed[dir]) > 0 && s.parsed[dir][0].Name.Name == "main" }
	if is(named) {
		return []string{named}
	}
	all := slices.Sorted(maps.Keys(s.parsed))
	for _, dir := range all {
		if is(dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return all
	}
	return dirs
}

// check checks the package of a folder, once; what it imports is checked before.
func (s *source) check(dir string) *types.Package {
	if p, ok := s.pkgs[dir]; ok {
		if p == nil { // a cycle
			return nil
		}
		return p.Types
	}
	s.pkgs[dir] = nil
	files := s.parsed[dir]
	files = slices.DeleteFunc(slices.Clone(files), func(f *ast.File) bool { return f.Name.Name != files[0].Name.Name })
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: importer{s}, Error: func(error) {}, FakeImportC: true}
	checked, _ := conf.Check(path.Join(s.module, dir), s.fset, files, info)
	s.pkgs[dir] = &packages.Package{Name: files[0].Name.Name, Dir: dir, Fset: s.fset, Syntax: files, Types: checked, TypesInfo: info}
	return checked
}

// An importer imports the app's own packages, and empty ones for all others.
type importer struct{ s *source }

// Import implements types.Importer.
func (i importer) Import(importPath string) (*types.Package, error) {
	for dir := range i.s.parsed {
		if importPath == path.Join(i.s.module, dir) || i.s.module == "" && dir != "." && strings.HasSuffix(importPath, "/"+dir) {
			if p := i.s.check(dir); p != nil {
				return p, nil
			}
			return nil, errors.New("the packages import each other")
		}
	}
	p := i.s.others[importPath]
	if p == nil {
		p = types.NewPackage(importPath, names(importPath)[0])
		p.MarkComplete()
		i.s.others[importPath] = p
	}
	return p, nil
}

// nameImports gives each import the name under which the file uses it: that of a package may
// differ from the end of its path.
func nameImports(f *ast.File) {
	used := goapp.Qualifiers(f)
	for _, spec := range f.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil || spec.Name != nil {
			continue
		}
		all := names(importPath)
		name := all[0]
		if i := slices.IndexFunc(all, func(n string) bool { return used[n] }); i >= 0 {
			name = all[i]
		}
		spec.Name = &ast.Ident{NamePos: spec.Path.Pos(), Name: name}
	}
}

var (
	majorVersion = regexp.MustCompile(`^v[0-9]+$`)
	versionEnd   = regexp.MustCompile(`\.v[0-9]+$`)
	notInName    = regexp.MustCompile(`[^A-Za-z0-9_]`)
)

// names are those that the package of a path may have, the likeliest first.
func names(importPath string) (all []string) {
	base := path.Base(importPath)
	if majorVersion.MatchString(base) && strings.Contains(importPath, "/") {
		base = path.Base(path.Dir(importPath))
	}
	base = versionEnd.ReplaceAllString(base, "")
	short := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(base, "go-"), "golang-"), "-go"), ".go")
	for _, n := range append([]string{base, short}, strings.FieldsFunc(base, func(r rune) bool { return r == '-' || r == '.' })...) {
		if n = notInName.ReplaceAllString(n, ""); n != "" && !slices.Contains(all, n) && !token.IsKeyword(n) {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return []string{"_"}
	}
	return all
}

// at is the place of a node.
func (s *source) at(n ast.Node) (file string, line int) {
	p := s.fset.PositionFor(n.Pos(), false) // not as a comment of the source says
	return p.Filename, p.Line
}

// outside is the import path and the name that a selector or a type of another package has,
// as in "sync", "Map"; "" for other expressions.
func outside(p *packages.Package, e ast.Expr) (importPath, name string) {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return outside(p, e.X)
	case *ast.UnaryExpr:
		return outside(p, e.X)
	case *ast.IndexExpr:
		return outside(p, e.X)
	case *ast.IndexListExpr:
		return outside(p, e.X)
	case *ast.CompositeLit:
		return outside(p, e.Type)
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "new" && len(e.Args) == 1 {
			return outside(p, e.Args[0])
		}
		return outside(p, e.Fun)
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			if pkg, ok := p.TypesInfo.Uses[id].(*types.PkgName); ok {
				return pkg.Imported().Path(), e.Sel.Name
			}
		}
	}
	return "", ""
}
