package appenv

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// pragmaForms are the settings of a connection to SQLite that may be set, with their
// values. WAL is not among the journal modes, because it is a property of the file;
// MEMORY and OFF are not, because a killed process would leave a damaged file.
var pragmaForms = map[string]*regexp.Regexp{
	"synchronous":  regexp.MustCompile(`^(OFF|NORMAL|FULL|EXTRA)$`),
	"journal_mode": regexp.MustCompile(`^(DELETE|TRUNCATE|PERSIST)$`),
}

// A pragma is a setting of a connection to SQLite.
type pragma struct{ name, value string }

// pragmas are the settings that each connection to SQLite must have afterwards.
type pragmas []pragma

// UnmarshalText implements encoding.TextUnmarshaler.
func (all *pragmas) UnmarshalText(b []byte) error {
	for part := range strings.SplitSeq(string(b), "&") {
		name, value, _ := strings.Cut(part, "=")
		form, ok := pragmaForms[name]
		if !ok {
			return fmt.Errorf("sqlite setting %q is not one that may be set; there are %s", name, strings.Join(slices.Sorted(maps.Keys(pragmaForms)), ", "))
		}
		if !form.MatchString(value) {
			return fmt.Errorf("sqlite setting %s = %q: want %s", name, value, form)
		}
		if slices.ContainsFunc(*all, func(p pragma) bool { return p.name == name }) {
			return fmt.Errorf("sqlite setting %s is given twice", name)
		}
		*all = append(*all, pragma{name, value})
	}
	return nil
}

// setSQLite sets pragmas in each DSN with which the source opens a SQLite file.
func (src *source) setSQLite(settings pragmas) error {
	own, err := src.ownParameters()
	if err != nil {
		return err
	}
	found := 0
	for _, f := range src.files {
		for _, c := range f.sqliteOpens() {
			edits, err := f.sqliteDSN(c, settings, own)
			if err != nil {
				return fmt.Errorf("%s: the DSN: %w", f.place(c.whole), err)
			}
			f.edits = append(f.edits, edits...)
			found++
		}
	}
	if found == 0 {
		return errors.New("the source opens no SQLite file in a way that is known here")
	}
	return nil
}

// ownParameters reports whether the imported driver of SQLite has parameters of their
// own for settings.
func (src *source) ownParameters() (own bool, err error) {
	seen := map[bool]bool{}
	for _, f := range src.files {
		for _, spec := range f.tree.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				if form, known := goapp.SQLiteDrivers[path]; known {
					seen[form] = true
				}
			}
		}
	}
	if len(seen) != 1 {
		return false, errors.New("the source imports no driver of SQLite that is known here, or several")
	}
	return seen[true], nil
}

// sqliteOpens are the DSNs with which a file opens SQLite databases.
func (f *file) sqliteOpens() (all []chain) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		path, name := f.of(call.Fun)
		last := len(call.Args) - 1
		if !opensByName(path, name) || last < 1 {
			return true
		}
		c := chain{whole: call.Args[last], direct: true}
		if inner, ok := c.whole.(*ast.CallExpr); ok && len(inner.Args) > 0 {
			if path, name := f.of(inner.Fun); path == "fmt" && name == "Sprintf" {
				c.whole, c.format = inner.Args[0], true
			}
		}
		c.parts = added(c.whole)
		if anyLiteral(c.parts) && f.opensSQLite(call.Args[last-1], c) {
			all = append(all, c)
		}
		return true
	})
	return all
}

// opensSQLite decides by the driver's name, and where the name is not a literal or is
// the app's own, by the text of the DSN.
func (f *file) opensSQLite(driver ast.Expr, c chain) bool {
	name, _ := inner(driver)
	switch goapp.ReachOf(name) {
	case goapp.SQLiteFile:
		return true
	case goapp.Server, goapp.OtherFile:
		return false
	}
	text, _ := inner(c.parts[0])
	return strings.HasPrefix(text, "file:")
}

// sqliteDSN returns the edits that give a DSN the settings.
func (f *file) sqliteDSN(c chain, settings pragmas, own bool) (out splices, err error) {
	var b strings.Builder
	known := true
	for _, p := range c.parts {
		text, ok := inner(p)
		if !ok {
			text = hole
		}
		known = known && ok && !(c.format && strings.Contains(text, "%"))
		b.WriteString(text)
	}
	edits, err := withPragmas(b.String(), known, settings, own)
	for _, e := range edits {
		at, err := f.into(c, e)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, err
}

// withPragmas returns the edits of the text of a DSN. whole means that no part of it is
// an expression.
func withPragmas(text string, whole bool, settings pragmas, own bool) (edits []splice, err error) {
	at := strings.IndexByte(text, '?')
	if at < 0 && !whole {
		return nil, errors.New("whether it has parameters already is not known: a part of it is an expression")
	}
	lead := "?"
	if at >= 0 && !strings.HasSuffix(text, "?") {
		lead = "&"
	} else if at >= 0 {
		lead = ""
	}
	for _, s := range settings {
		want := "_pragma=" + s.name + "(" + s.value + ")"
		if own {
			want = "_" + s.name + "=" + s.value
		}
		if from, to, found := findPragma(text, at, s.name, own); found {
			if strings.Contains(text[from:to], hole) || strings.Contains(text[from:to], "%") {
				return nil, fmt.Errorf("the value of %s is not a literal", s.name)
			}
			if text[from:to] != want {
				edits = append(edits, splice{from, to, want})
			}
			continue
		}
		edits = append(edits, splice{len(text), len(text), lead + want})
		lead = "&"
	}
	return edits, nil
}

// shortNames are other names of the parameters of a setting.
var shortNames = map[string]string{"synchronous": "_sync", "journal_mode": "_journal"}

// findPragma finds the parameter that sets a pragma; the last one takes effect.
func findPragma(text string, question int, name string, own bool) (from, to int, found bool) {
	if question < 0 {
		return 0, 0, false
	}
	at := question + 1
	for part := range strings.SplitSeq(text[at:], "&") {
		key, value, _ := strings.Cut(part, "=")
		is := key == "_"+name || key == shortNames[name]
		if !own {
			is = key == "_pragma" && strings.HasPrefix(strings.ToLower(value), name) && !strings.HasPrefix(strings.ToLower(value), name+"_")
		}
		if is {
			from, to, found = at, at+len(part), true
		}
		at += len(part) + 1
	}
	return from, to, found
}
