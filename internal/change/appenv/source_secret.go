package appenv

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"strconv"
	"strings"
)

// addToDSN adds a text to the DSN with which the source opens its pool, where the DSN comes
// from the environment and has a password: the secret stays where it is. main is the folder
// of the program; other programs of the module are left alone.
func (src *source) addToDSN(all []addition, main string) error {
	first := all[0]
	for _, a := range all[1:] {
		if a.text != first.text {
			return fmt.Errorf("%s and %s hold DSNs with passwords, and need different texts; add the parameters where they are set", first.variable, a.variable)
		}
	}
	places := 0
	for _, f := range src.files {
		if f.tree.Name.Name == "main" && filepath.Dir(f.path) != filepath.Clean(main) {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			path, name := f.of(call.Fun)
			last := len(call.Args) - 1
			if !opensByName(path, name) || last < 1 || f.code(call.Args[last-1]) != `"mysql"` {
				return true
			}
			parts := added(call.Args[last])
			if text, ok := inner(parts[len(parts)-1]); ok {
				if len(parts) > 1 && strings.HasSuffix(text, first.text[1:]) {
					places++ // it is there
				}
				return true // a literal of its own: see setLiterals
			}
			places++
			end := f.offset(call.Args[last].End())
			f.edits = append(f.edits, splice{end, end, " + " + strconv.Quote(first.text)})
			return true
		})
	}
	if places == 0 {
		return first.byHand("no place of the source opens a pool by a DSN that it does not spell out")
	}
	return nil
}

// byHand is the error of an addition that cannot be planned, with the exact edit.
func (a addition) byHand(why string) error {
	return fmt.Errorf("the file of variables would hold a secret (in %s), and %s: add %q to its end where %s is set, by hand", a.variable, why, a.text, a.variable)
}
