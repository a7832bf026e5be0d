package goapp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// A Fix is one way to rewrite a place.
type Fix struct {
	Title string `json:"title"`
	Edits []Edit `json:"edits"`
}

// An Edit replaces the bytes from Start to End of a file as read.
type Edit struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	New   string `json:"new"`
}

// ErrOverlap means that two fixes edit the same bytes.
var ErrOverlap = errors.New("two fixes edit the same place")

// Apply returns the files that some fixes change, as they are afterwards. A file
// that was gofmt-ed before is gofmt-ed after. Imports of the standard library that
// the new code needs are added, and imports that nothing uses any more are removed.
// Identical edits of two fixes are made once.
func Apply(files map[string][]byte, fixes []Fix) (map[string][]byte, error) {
	edits := map[string][]Edit{}
	for _, f := range fixes {
		for _, e := range f.Edits {
			if !slices.Contains(edits[e.File], e) {
				edits[e.File] = append(edits[e.File], e)
			}
		}
	}
	out := map[string][]byte{}
	for name, list := range edits {
		before, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("editing %s: the file was not read", name)
		}
		after, err := applyEdits(before, list)
		if err == nil {
			after, err = tidy(name, before, after)
		}
		if err != nil {
			return nil, fmt.Errorf("editing %s: %w", name, err)
		}
		out[name] = after
	}
	return out, nil
}

// applyEdits makes the edits of one file.
func applyEdits(text []byte, edits []Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var out bytes.Buffer
	at := 0
	for i, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return nil, fmt.Errorf("%w: byte %d", ErrOverlap, e.Start)
		}
		if i > 0 && e.Start == edits[i-1].Start && e.Start == e.End && edits[i-1].Start == edits[i-1].End && !(wholeLines(text, e) && wholeLines(text, edits[i-1])) {
			return nil, fmt.Errorf("%w: byte %d", ErrOverlap, e.Start)
		}
		out.Write(text[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	out.Write(text[at:])
	return out.Bytes(), nil
}

// wholeLines reports whether an insertion adds lines between two lines: several
// such insertions, as of imports and declarations, do not touch each other.
func wholeLines(text []byte, e Edit) bool {
	return strings.HasSuffix(e.New, "\n") && (e.Start == 0 || text[e.Start-1] == '\n')
}

// tidy corrects the imports of an edited file and formats it if it was formatted.
func tidy(name string, before, after []byte) ([]byte, error) {
	fset := token.NewFileSet()
	old, err := parser.ParseFile(fset, name, before, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	file, err := parser.ParseFile(fset, name, after, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading the edited file: %w", err)
	}
	changed := fixImports(fset, old, file)
	formatted, ferr := format.Source(before)
	wasFormatted := ferr == nil && bytes.Equal(formatted, before)
	if changed {
		var b bytes.Buffer
		if err := format.Node(&b, fset, file); err != nil {
			return nil, fmt.Errorf("printing the edited file: %w", err)
		}
		return b.Bytes(), nil
	}
	if !wasFormatted {
		return after, nil
	}
	after, err = format.Source(after)
	if err != nil {
		return nil, fmt.Errorf("formatting the edited file: %w", err)
	}
	return after, nil
}

// known are the packages of the standard library that fixes refer to.
var known = map[string]string{
	"bytes": "bytes", "cmp": "cmp", "context": "context", "url": "net/url", "errors": "errors", "exec": "os/exec", "fmt": "fmt", "http": "net/http", "io": "io",
	"maps": "maps", "os": "os", "reflect": "reflect", "regexp": "regexp", "slices": "slices", "sort": "sort", "sql": "database/sql", "strings": "strings",
	"sync": "sync", "template": "html/template", "time": "time", "strconv": "strconv", "zip": "archive/zip",
	"hex": "encoding/hex", "sha256": "crypto/sha256", "sha512": "crypto/sha512", "md5": "crypto/md5", "sha1": "crypto/sha1", "filepath": "path/filepath",
}

// fixImports adds the imports that only the edited file needs, and removes those
// that only the file as it was used. It reports whether it changed anything.
func fixImports(fset *token.FileSet, old, file *ast.File) (changed bool) {
	was, is := Qualifiers(old), Qualifiers(file)
	imported := map[string]bool{}
	for _, s := range file.Imports {
		imported[ImportName(s)] = true
	}
	for _, q := range slices.Sorted(maps.Keys(is)) {
		if !was[q] && !imported[q] && known[q] != "" {
			changed = astutil.AddImport(fset, file, known[q]) || changed
		}
	}
	for _, s := range slices.Clone(file.Imports) {
		name := ImportName(s)
		if !was[name] || is[name] || name == "_" || name == "." {
			continue
		}
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		alias := ""
		if s.Name != nil {
			alias = s.Name.Name
		}
		changed = astutil.DeleteNamedImport(fset, file, alias, p) || changed
	}
	return changed
}

// MissingImports are the paths of the packages that a fragment of code refers to by the
// names of known packages, and that a file neither imports nor names already.
func MissingImports(f *ast.File, code []byte) (paths []string) {
	was := Qualifiers(f)
	for name, path := range known {
		imported := slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return strings.Trim(s.Path.Value, "\"`") == path })
		if !was[name] && !imported && qualifies(code, name) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// qualifies reports whether a name stands before a dot in a fragment of code. If the
// fragment is not an expression, any text of that form counts.
func qualifies(code []byte, name string) bool {
	if !bytes.Contains(code, []byte(name+".")) {
		return false
	}
	x, err := parser.ParseExpr(string(code))
	return err != nil || Qualifiers(x)[name]
}

// Qualifiers are the identifiers X of all selectors X.Name in a piece of source.
func Qualifiers(n ast.Node) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				out[id.Name] = true
			}
		}
		return true
	})
	return out
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

// ImportName is the name under which a file refers to an import, as far as the path
// shows it.
func ImportName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return ""
	}
	base := path.Base(p)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(p))
	}
	return strings.TrimPrefix(base, "go-")
}
