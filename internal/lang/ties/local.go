package ties

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// localAddress is an address of this host with a port; listening ones are told by their call.
var localAddress = regexp.MustCompile(`^(?:(?:https?|redis|grpc|amqp|nats|memcached?)://)?(?:localhost|127\.0\.0\.1|\[::1\]):\d{2,5}(?:/|$)`)

// listens are functions whose address is the app's own.
var listens = regexp.MustCompile(`(?i)listen|^(start|run|serve)|bind`)

var envName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)

// locals lists addresses of other servers on this host that no variable replaces: a text
// beside the name of a variable is its default.
func (s *source) locals() (out []Tie) {
	for _, b := range slices.Concat(s.bodies, s.starts) {
		reads := readsEnv(b)
		var around []ast.Node
		ast.Inspect(b.code, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			around = append(around, n)
			text := ""
			switch n := n.(type) {
			case *ast.BasicLit:
				text = s.text(b.pkg, n)
			case *ast.Ident: // a constant
				if !defaults.MatchString(n.Name) {
					text = s.text(b.pkg, n)
				}
			}
			if localAddress.MatchString(text) && !s.replaced(b, around, reads) {
				out = append(out, s.tie(Local, n, text, b.name))
			}
			return true
		})
	}
	return append(out, s.localVariables()...)
}

// defaults are names of values that something else may replace.
var defaults = regexp.MustCompile(`(?i)default|fallback|listen|bind`)

// localVariables lists package variables with such an address.
func (s *source) localVariables() (out []Tie) {
	for p, v := range s.packageVariables() {
		for i, value := range v.Values {
			lit, ok := value.(*ast.BasicLit)
			if ok && localAddress.MatchString(s.text(p, lit)) && !defaults.MatchString(v.Names[min(i, len(v.Names)-1)].Name) {
				out = append(out, s.tie(Local, lit, s.text(p, lit), ""))
			}
		}
	}
	return out
}

// replaced reports whether a text is an address to listen at, or one that a variable of the
// environment replaces.
func (s *source) replaced(b body, around []ast.Node, reads bool) bool {
	for _, n := range slices.Backward(around) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		name := ""
		switch f := call.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if from, _ := outside(b.pkg, call.Fun); from == "flag" || from == "github.com/spf13/pflag" || listens.MatchString(name) || slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return envName.MatchString(s.text(b.pkg, a)) }) {
			return true
		}
		break
	}
	if !reads {
		return false
	}
	for _, n := range around { // if addr == "" { addr = "127.0.0.1:11211" }
		if st, ok := n.(*ast.IfStmt); ok && comparesEmpty(st.Cond) {
			return true
		}
	}
	return slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.ReturnStmt); return ok })
}

// readsEnv reports whether a body reads the environment.
func readsEnv(b body) (is bool) {
	ast.Inspect(b.code, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			from, name := outside(b.pkg, call.Fun)
			is = is || from == "os" && (name == "Getenv" || name == "LookupEnv") || strings.Contains(strings.ToLower(name), "getenv")
		}
		return !is
	})
	return is
}

func comparesEmpty(e ast.Expr) (is bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Value == `""` {
			is = true
		}
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op.String() == "!" {
			is = true
		}
		return true
	})
	return is
}
