package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/tools/go/analysis"
)

// A rewrite collects the edits of one fix.
type rewrite struct {
	x      *index
	edits  []analysis.TextEdit
	failed bool // a needed package or name cannot be used: the fix must not be offered
	// added are the names of the packages that the edits import, by file and path.
	added map[*ast.File]map[string]string
}

func (x *index) rewrite() *rewrite { return &rewrite{x: x} }

// replace puts text in the place of a node.
func (r *rewrite) replace(n ast.Node, text string) { r.put(n.Pos(), n.End(), text) }

// insert puts text before a position.
func (r *rewrite) insert(at token.Pos, text string) { r.put(at, at, text) }

func (r *rewrite) put(from, to token.Pos, text string) {
	e := analysis.TextEdit{Pos: from, End: to, NewText: []byte(text)}
	same := func(o analysis.TextEdit) bool {
		return o.Pos == e.Pos && o.End == e.End && string(o.NewText) == text
	}
	if !slices.ContainsFunc(r.edits, same) {
		r.edits = append(r.edits, e)
	}
}

// removeLines deletes the lines that a statement occupies alone, with the
// comment directly above it.
func (r *rewrite) removeLines(n ast.Node) {
	from, to := r.x.lines(n)
	r.put(from, to, "")
}

// lines returns the positions from the start of the first line of a node to the
// end of its last line, with the comment lines directly above it.
func (x *index) lines(n ast.Node) (from, to token.Pos) {
	f := x.pass.Fset.File(n.Pos())
	first, last := f.Line(n.Pos()), f.Line(n.End())
	if file := x.fileOf(n.Pos()); file != nil {
		for _, c := range file.Comments {
			if f.Line(c.End()) == first-1 && c.Pos() == x.firstOnLine(f, c.Pos()) {
				first = f.Line(c.Pos())
			}
		}
	}
	to = token.Pos(f.Base() + f.Size())
	if last < f.LineCount() {
		to = f.LineStart(last + 1)
	}
	return f.LineStart(first), to
}

// firstOnLine is the first position of a line that is not white space.
func (x *index) firstOnLine(f *token.File, pos token.Pos) token.Pos {
	start := f.LineStart(f.Line(pos))
	line := x.between(start, pos)
	return start + token.Pos(len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace)))
}

// fix returns the collected edits in source order. ok is false when the fix
// cannot be made.
func (r *rewrite) fix(title string) (analysis.SuggestedFix, bool) {
	slices.SortStableFunc(r.edits, func(a, b analysis.TextEdit) int { return cmp.Or(cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.End, b.End)) })
	return analysis.SuggestedFix{Message: title, TextEdits: r.edits}, !r.failed && len(r.edits) > 0
}

// pkg returns the name by which a file refers to a package at a position, and
// imports the package where it is missing.
func (r *rewrite) pkg(at token.Pos, importPath string) string {
	file := r.x.fileOf(at)
	if file == nil {
		r.failed = true
		return ""
	}
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		name := r.x.importName(spec)
		if name != "_" && name != "." {
			r.failed = r.failed || r.x.shadowed(at, name)
			return name
		}
	}
	name := path.Base(importPath)
	if strings.HasPrefix(name, "v") && len(name) == 2 {
		name = path.Base(path.Dir(importPath))
	}
	if r.x.shadowed(at, name) || r.x.declared(file, name) {
		r.failed = true
		return name
	}
	r.addImport(file, importPath)
	return name
}

// namedPkg is pkg under another name where the package's own name means something else. The
// name is free in the whole package.
func (r *rewrite) namedPkg(at token.Pos, importPath, name string) string {
	file := r.x.fileOf(at)
	if file == nil {
		r.failed = true
		return name
	}
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if have := r.x.importName(spec); err == nil && p == importPath && have != "_" && have != "." && !r.x.shadowed(at, have) {
			return have
		}
	}
	if have, ok := r.added[file][importPath]; ok {
		return have
	}
	own := path.Base(importPath)
	if strings.HasPrefix(own, "v") && len(own) == 2 {
		own = path.Base(path.Dir(importPath))
	}
	alias := ""
	if own != name || r.x.shadowed(at, name) || r.x.declared(file, name) {
		if r.x.names[name] {
			name = r.x.fresh(name)
		}
		alias = name
	}
	if r.added == nil {
		r.added = map[*ast.File]map[string]string{}
	}
	if r.added[file] == nil {
		r.added[file] = map[string]string{}
	}
	r.added[file][importPath] = name
	r.addNamedImport(file, alias, importPath)
	return name
}

func (x *index) importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	if p, ok := x.pass.TypesInfo.Implicits[spec].(*types.PkgName); ok {
		return p.Name()
	}
	return "_"
}

// shadowed reports whether a name means something else than a package at a position.
func (x *index) shadowed(at token.Pos, name string) bool {
	scope := x.pass.Pkg.Scope().Innermost(at)
	if scope == nil {
		return false
	}
	_, obj := scope.LookupParent(name, at)
	_, isPkg := obj.(*types.PkgName)
	return obj != nil && !isPkg
}

// declared reports whether a file or the package declares a name at its top.
func (x *index) declared(f *ast.File, name string) bool {
	if x.pass.Pkg.Scope().Lookup(name) != nil {
		return true
	}
	scope := x.pass.TypesInfo.Scopes[f]
	return scope != nil && scope.Lookup(name) != nil
}

// addImport inserts an import where gofmt would sort it: into the group of the
// standard library, or behind the last import.
func (r *rewrite) addImport(f *ast.File, importPath string) { r.addNamedImport(f, "", importPath) }

// addNamedImport inserts an import, under another name if one is given.
func (r *rewrite) addNamedImport(f *ast.File, name, importPath string) {
	var group *ast.GenDecl
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && group == nil {
			group = g
		}
	}
	line := strconv.Quote(importPath)
	if name != "" {
		line = name + " " + line
	}
	switch {
	case group == nil:
		r.insert(f.Name.End(), "\n\nimport "+line)
	case !group.Lparen.IsValid():
		r.insert(group.End(), "\nimport "+line)
	default:
		for _, s := range group.Specs {
			spec := s.(*ast.ImportSpec)
			if p, _ := strconv.Unquote(spec.Path.Value); p > importPath || strings.Contains(p, ".") && !strings.Contains(importPath, ".") {
				from, _ := r.x.lines(spec)
				r.insert(from, "\t"+line+"\n")
				return
			}
		}
		last := group.Specs[len(group.Specs)-1]
		_, to := r.x.lines(last)
		r.insert(to, "\t"+line+"\n")
	}
}

// fresh returns an identifier that the package does not use.
func (x *index) fresh(base string) string {
	name := base
	for i := 2; x.names[name] || types.Universe.Lookup(name) != nil || token.IsKeyword(name); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	x.names[name] = true
	return name
}

// camel joins words into an identifier in lower camel case.
func camel(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		if w == "" {
			continue
		}
		r := []rune(w)
		if b.Len() == 0 {
			r[0] = unicode.ToLower(r[0])
		} else {
			r[0] = unicode.ToUpper(r[0])
		}
		b.WriteString(string(r))
	}
	return b.String()
}

// declStart is where a declaration begins, with its comment.
func declStart(d ast.Decl) token.Pos {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			return d.Doc.Pos()
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return d.Doc.Pos()
		}
	}
	return d.Pos()
}

// topDecl returns the declaration of the file that contains a node.
func (x *index) topDecl(n ast.Node) ast.Decl {
	var top ast.Decl
	for ; n != nil; n = x.parent[n] {
		if d, ok := n.(ast.Decl); ok {
			top = d
		}
	}
	return top
}

// fix1 is a list with one fix.
func fix1(f analysis.SuggestedFix) []analysis.SuggestedFix { return []analysis.SuggestedFix{f} }
