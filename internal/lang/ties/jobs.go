package ties

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// sqlCalls are methods that send statements, and sqlWrites those that change something.
var (
	sqlWrites = []string{"Exec", "ExecContext", "NamedExec", "NamedExecContext", "MustExec", "MustExecContext", "Begin", "BeginTx", "Beginx", "BeginTxx", "MustBegin", "Transaction"}
	sqlReads  = []string{"Query", "QueryContext", "QueryRow", "QueryRowContext", "Queryx", "QueryxContext", "QueryRowxContext", "SelectContext", "GetContext", "Select", "NamedQuery"}
	schedules = regexp.MustCompile(`robfig/cron|go-co-op/gocron|jasonlvhit/gocron|reugn/go-quartz`)
)

// An effect is what a piece of source does outside of its process.
type effect struct{ writes, sends bool }

// effects are those of a piece of source and of all that it names.
func (s *source) effects(p *packages.Package, n ast.Node, seen map[*types.Func]bool) (e effect) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		from, name := outside(p, call.Fun)
		sel, isSel := call.Fun.(*ast.SelectorExpr)
		switch {
		case from == "net/http" && slices.Contains([]string{"Get", "Post", "PostForm", "Head", "NewRequest", "NewRequestWithContext"}, name), from == "net/smtp":
			e.writes, e.sends = true, true
		case (from == "os" || from == "io/ioutil") && slices.Contains(fileCalls, name):
			e.writes = true
		case isSel && from == "" && slices.Contains(sqlWrites, sel.Sel.Name):
			e.writes, e.sends = true, true
		case isSel && from == "" && slices.Contains(sqlReads, sel.Sel.Name):
			e.sends = true
		}
		return true
	})
	for fn := range s.named(p, n) {
		if f := s.decls[fn]; !seen[fn] {
			seen[fn] = true
			more := s.effects(f.pkg, f.decl.Body, seen)
			e.writes, e.sends = e.writes || more.writes, e.sends || more.sends
		}
	}
	return e
}

// jobs lists loops beside the requests that change something outside of the process.
func (s *source) jobs() (out []Tie) {
	for _, b := range s.starts {
		literals := requestLiterals(b.pkg, b.code)
		ast.Inspect(b.code, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && slices.Contains(literals, lit) {
				return false
			}
			switch n := n.(type) {
			case *ast.GoStmt:
				if s.loops(b.pkg, n.Call, map[*types.Func]bool{}) && s.effects(b.pkg, n.Call, map[*types.Func]bool{}).writes {
					out = append(out, s.tie(Job, n, "go "+called(n.Call), b.name))
				}
			case *ast.CallExpr:
				from, name := outside(b.pkg, n.Fun)
				sel, ok := n.Fun.(*ast.SelectorExpr)
				timer := from == "time" && name == "AfterFunc"
				if schedule := ok && s.schedules() && slices.Contains([]string{"AddFunc", "AddJob", "Do", "NewJob"}, sel.Sel.Name); (schedule || timer) && s.effects(b.pkg, n, map[*types.Func]bool{}).writes {
					out = append(out, s.tie(Job, n, "a timer", b.name))
				}
			}
			return true
		})
	}
	return out
}

func (s *source) schedules() bool {
	for importPath := range s.imports {
		if schedules.MatchString(importPath) {
			return true
		}
	}
	return false
}

func called(call *ast.CallExpr) string {
	if _, ok := call.Fun.(*ast.FuncLit); ok {
		return "func"
	}
	return types.ExprString(call.Fun)
}

// loops reports whether a piece of source, or what it names, has a loop that does not end by
// itself: one without a condition, or over the ticks of a timer. A loop that takes its work
// from a channel does what the requests of its own process ask for.
func (s *source) loops(p *packages.Package, n ast.Node, seen map[*types.Func]bool) (is bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			is = is || n.Cond == nil && n.Init == nil && !s.fed(p, n.Body)
		case *ast.RangeStmt:
			is = is || ticks(p, n.X)
		}
		return !is
	})
	if is {
		return true
	}
	for fn := range s.named(p, n) {
		if f := s.decls[fn]; !seen[fn] {
			seen[fn] = true
			if s.loops(f.pkg, f.decl.Body, seen) {
				return true
			}
		}
	}
	return false
}

// fed reports whether a loop only waits for channels of the app, and not for time.
func (s *source) fed(p *packages.Package, loop ast.Node) bool {
	takes, waits := false, false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				if ticks(p, n.X) {
					waits = true
				} else {
					takes = true
				}
			}
		case *ast.CallExpr:
			if from, name := outside(p, n.Fun); from == "time" && (name == "Sleep" || name == "After" || name == "Tick") {
				waits = true
			}
		}
		return true
	})
	return takes && !waits
}

// ticks reports whether an expression is the channel of a timer.
func ticks(p *packages.Package, e ast.Expr) bool {
	if from, name := outside(p, e); from == "time" && (name == "Tick" || name == "After") {
		return true
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "C" && !strings.HasPrefix(types.ExprString(sel.X), "c.")
}

// locks lists mutexes of the process that a request holds around statements or calls of
// other servers. One that guards a value of the process is covered by that value.
func (s *source) locks(b body) (out []Tie) {
	guards := s.guards(b)
	ast.Inspect(b.code, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Lock" || len(call.Args) > 0 {
			return true
		}
		obj := s.holderOf(b, sel.X)
		if obj == nil {
			return true
		}
		from, name := outside(s.pkgOf(obj, b.pkg), s.typing[obj])
		if from != "sync" || name != "Mutex" && name != "RWMutex" || guards {
			return true
		}
		if s.effects(b.pkg, b.code, map[*types.Func]bool{}).sends {
			file, line := s.at(call)
			out = append(out, Tie{Kind: Lock, File: file, Line: line, Name: obj.Name(), Func: b.name})
		}
		return true
	})
	return out
}

// guards reports whether a body uses a value of the process besides mutexes and values of
// other modules.
func (s *source) guards(b body) (is bool) {
	ast.Inspect(b.code, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || is {
			return !is
		}
		switch n.(type) {
		case *ast.Ident, *ast.SelectorExpr:
		default:
			return true
		}
		obj := s.holderOf(b, e)
		if v, ok := obj.(*types.Var); ok && v != nil {
			p := s.pkgOf(obj, b.pkg)
			from, _ := outside(p, s.typing[obj])
			is = s.contains(p, obj) || from == "" && stateful(v.Type())
		}
		return !is
	})
	return is
}

// stateful reports whether a type of the app may hold what requests change. A text or an
// error is a setting.
func stateful(t types.Type) bool {
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Map, *types.Slice, *types.Chan, *types.Array:
		return true
	case *types.Basic:
		return u.Info()&types.IsNumeric != 0 || u.Info()&types.IsBoolean != 0
	case *types.Pointer:
		_, ok := u.Elem().Underlying().(*types.Struct)
		return ok && namedOf(t) != nil
	}
	return false
}
