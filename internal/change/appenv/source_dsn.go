package appenv

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// setDSN sets parameters in each DSN and each mysql.Config of the source.
func (src *source) setDSN(params []param) error {
	found := 0
	for _, f := range src.files {
		n, err := f.setConfigs(params)
		if err == nil {
			var m int
			m, err = f.setLiterals(params)
			n += m
		}
		if err != nil {
			return err
		}
		found += n
	}
	if found == 0 {
		return errors.New("no DSN was found, neither in the environment nor in the source")
	}
	return nil
}

// A chain is a string expression: a literal, or a concatenation of literals and
// other expressions.
type chain struct {
	whole ast.Expr
	parts []ast.Expr
	// format: it is an argument of Sprintf; direct: it is an argument of a
	// function that opens a database.
	format, direct bool
}

// setLiterals sets parameters in each DSN that is a literal.
func (f *file) setLiterals(params []param) (found int, err error) {
	for _, c := range f.chains() {
		d, ok := f.dsnOf(c)
		if !ok {
			continue
		}
		found++
		edits, err := d.set(params)
		if err != nil {
			return found, fmt.Errorf("%s: the DSN: %w", f.place(c.whole), err)
		}
		for _, e := range edits {
			at, err := f.into(c, e)
			if err != nil {
				return found, fmt.Errorf("%s: the DSN: %w", f.place(c.whole), err)
			}
			f.edits = append(f.edits, at)
		}
	}
	return found, nil
}

// place returns "file:line" of a node, for errors.
func (f *file) place(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.tok.Line(n.Pos()))
}

// opensByName reports whether a function opens a *sql.DB, or sqlx's, by a driver's name and
// a DSN as its last arguments.
func opensByName(path, name string) bool {
	o, ok := goapp.OpenerOf(path, name)
	return ok && (o.By == goapp.Plain || o.By == goapp.Wrapper)
}

// chains returns the string expressions of a file.
func (f *file) chains() []chain {
	var all []chain
	format, direct := map[ast.Expr]bool{}, map[ast.Expr]bool{}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			path, name := f.of(n.Fun)
			if path == "fmt" && name == "Sprintf" && len(n.Args) > 0 {
				format[n.Args[0]] = true
			}
			if last := len(n.Args) - 1; opensByName(path, name) && last > 0 && f.code(n.Args[last-1]) == `"mysql"` {
				direct[n.Args[last]] = true
				if sprintf, ok := n.Args[last].(*ast.CallExpr); ok && len(sprintf.Args) > 0 {
					direct[sprintf.Args[0]] = true
				}
			}
		case *ast.BinaryExpr:
			parts := added(n)
			if n.Op != token.ADD || !anyLiteral(parts) {
				return true
			}
			all = append(all, chain{n, parts, format[n], direct[n]})
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				all = append(all, chain{n, []ast.Expr{n}, format[n], direct[n]})
			}
		}
		return true
	})
	return all
}

// added returns the operands of a chain of "+".
func added(e ast.Expr) []ast.Expr {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return append(added(b.X), added(b.Y)...)
	}
	return []ast.Expr{e}
}

func anyLiteral(parts []ast.Expr) bool {
	for _, p := range parts {
		if _, ok := inner(p); ok {
			return true
		}
	}
	return false
}

// inner returns the text between the quotes of a string literal. The characters
// of a DSN need no escape, so the bytes can be read and edited directly.
func inner(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING || len(lit.Value) < 2 {
		return "", false
	}
	return lit.Value[1 : len(lit.Value)-1], true
}

// dsnOf parses a chain as a DSN, with holes for the parts that are not literals.
func (f *file) dsnOf(c chain) (dsn, bool) {
	var b strings.Builder
	for _, p := range c.parts {
		text, ok := inner(p)
		if !ok {
			text = hole
		}
		b.WriteString(text)
	}
	form := dsnForm
	if c.direct {
		form = shortForm
	}
	d, ok := matchDSN(form, b.String())
	d.format = c.format
	return d, ok
}

// into converts a splice of a chain's DSN to one of the file.
func (f *file) into(c chain, e splice) (splice, error) {
	at := 0
	for _, p := range c.parts {
		text, ok := inner(p)
		if !ok {
			at += len(hole)
			continue
		}
		if e.from >= at && e.to <= at+len(text) {
			shift := f.offset(p.Pos()) + 1 - at
			return splice{e.from + shift, e.to + shift, e.text}, nil
		}
		at += len(text)
	}
	if e.from == at && e.to == at { // after an expression at the end
		end := f.offset(c.whole.End())
		return splice{end, end, ` + "` + e.text + `"`}, nil
	}
	return splice{}, errors.New("it is made of too many pieces to be edited")
}
