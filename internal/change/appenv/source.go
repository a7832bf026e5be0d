package appenv

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A source is the Go files of an application, parsed.
type source struct{ files []*file }

// A file is one Go file with its pending edits.
type file struct {
	path    string
	text    []byte
	tree    *ast.File
	tok     *token.File
	imports map[string]string // import paths by their names in this file
	edits   splices
}

// A splice replaces the bytes from..to by a text.
type splice struct {
	from, to int
	text     string
}

type splices []splice

// apply applies the splices to a text. Splices at the same place keep their
// order.
func (s splices) apply(text string) string {
	var b strings.Builder
	at := 0
	for _, e := range s.sorted() {
		b.WriteString(text[at:e.from] + e.text)
		at = e.to
	}
	return b.String() + text[at:]
}

func (s splices) sorted() splices {
	sorted := slices.Clone(s)
	slices.SortStableFunc(sorted, func(a, b splice) int { return a.from - b.from })
	return sorted
}

// overlap reports whether two splices touch the same bytes.
func (s splices) overlap() bool {
	at := 0
	for _, e := range s.sorted() {
		if e.from < at {
			return true
		}
		at = e.to
	}
	return false
}

// Limits of the source that is read: an application's own code, not a module
// cache.
const (
	maxFiles = 2000
	maxBytes = 4 << 20 // of one file
)

// readSource reads the Go files below a folder, except tests and folders that
// the go command also ignores. It does not follow links.
func readSource(s *change.Site, on, root string) (*source, error) {
	h, err := s.On(on)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	src := &source{}
	fset := token.NewFileSet()
	err = h.Walk(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name[0] == '.' || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxBytes || len(src.files) == maxFiles {
			return errors.Join(err, fmt.Errorf("%s: too large a source", path))
		}
		f, err := parseFile(h, fset, path)
		if err == nil {
			src.files = append(src.files, f)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	if len(src.files) == 0 {
		return nil, fmt.Errorf("reading the source: no Go files in %s", root)
	}
	return src, nil
}

func parseFile(h host.Host, fset *token.FileSet, path string) (*file, error) {
	text, err := h.Read(path)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, text: text, tree: tree, tok: fset.File(tree.FileStart), imports: map[string]string{}}
	for _, spec := range tree.Imports {
		if of, err := strconv.Unquote(spec.Path.Value); err == nil {
			f.imports[goapp.ImportName(spec)] = of
		}
	}
	return f, nil
}

// edits returns the edits of the changed files.
func (src *source) edits() ([]change.Edit, error) {
	var edits []change.Edit
	for _, f := range src.files {
		if f.edits.overlap() {
			return nil, fmt.Errorf("%s: two edits of one place", f.path)
		}
		if edited := f.edits.apply(string(f.text)); edited != string(f.text) {
			edits = append(edits, change.Edit{Path: f.path, Old: f.text, New: []byte(edited)})
		}
	}
	return edits, nil
}

func (f *file) offset(p token.Pos) int { return f.tok.Offset(p) }

// code returns the source text of a node.
func (f *file) code(n ast.Node) string { return string(f.text[f.offset(n.Pos()):f.offset(n.End())]) }

// replace replaces the text of a node, unless it is equal.
func (f *file) replace(n ast.Node, text string) {
	if f.code(n) != text {
		f.edits = append(f.edits, splice{f.offset(n.Pos()), f.offset(n.End()), text})
	}
}

// after adds a statement after another one, on a line of its own if that one
// ends its line.
func (f *file) after(stmt ast.Node, text string) {
	end := f.offset(stmt.End())
	rest, _, _ := strings.Cut(string(f.text[end:]), "\n")
	if t := strings.TrimSpace(rest); t != "" && !strings.HasPrefix(t, "//") {
		f.edits = append(f.edits, splice{end, end, "; " + text})
		return
	}
	end += len(strings.TrimSuffix(rest, "\r"))
	f.edits = append(f.edits, splice{end, end, "\n" + f.indent(stmt) + text})
}

// indent returns the white space that begins the line of a node.
func (f *file) indent(n ast.Node) string {
	begin := f.offset(n.Pos())
	line := strings.LastIndexByte(string(f.text[:begin]), '\n') + 1
	lead := string(f.text[line:begin])
	return lead[:len(lead)-len(strings.TrimLeft(lead, " \t"))]
}

// remove removes a statement, with its line if it is alone on it, and with the
// linter directives above it.
func (f *file) remove(stmt ast.Node) {
	from, to := f.offset(stmt.Pos()), f.offset(stmt.End())
	begin := strings.LastIndexByte(string(f.text[:from]), '\n') + 1
	rest, _, more := strings.Cut(string(f.text[to:]), "\n")
	if strings.TrimSpace(string(f.text[begin:from])) != "" || strings.TrimSpace(rest) != "" || !more {
		f.edits = append(f.edits, splice{from, to, ""})
		return
	}
	from, to = begin, to+len(rest)+1
	from = f.above(from, func(line string) bool {
		return strings.HasPrefix(line, "//lint:") || strings.HasPrefix(line, "//nolint")
	})
	if next, _, _ := strings.Cut(string(f.text[to:]), "\n"); strings.TrimSpace(next) == ")" { // gofmt leaves no empty line before it
		from = f.above(from, func(line string) bool { return line == "" })
	}
	f.edits = append(f.edits, splice{from, to, ""})
}

// above moves the offset of a line's begin up over the lines directly above for which of, given
// a line without its outer spaces, is true.
func (f *file) above(from int, of func(line string) bool) int {
	for from > 0 {
		above := strings.LastIndexByte(string(f.text[:from-1]), '\n') + 1
		if !of(strings.TrimSpace(string(f.text[above:from]))) {
			break
		}
		from = above
	}
	return from
}

// of returns the package path and the name of a selector of an imported package.
func (f *file) of(e ast.Expr) (path, name string) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return f.imports[x.Name], sel.Sel.Name
}

// lists visits every list of statements.
func (f *file) lists(visit func(list []ast.Stmt)) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			visit(n.List)
		case *ast.CaseClause:
			visit(n.Body)
		case *ast.CommClause:
			visit(n.Body)
		}
		return true
	})
}

// checked returns the index of the statement after list[i] that handles its
// error, or i without one.
func checked(list []ast.Stmt, i int) int {
	if i+1 < len(list) {
		if _, ok := list[i+1].(*ast.IfStmt); ok {
			return i + 1
		}
	}
	return i
}
