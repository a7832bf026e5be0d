package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"time"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

var throttlingConstant = Lever{Code: "APP214", Title: "a constant throttles work",
	Line:    "a number in the source limits how much is done",
	Promise: Behaviour, Order: 14, Saved: Share{Lo: 0, Hi: 0.5}, Of: OfFunction,
	find: findThrottlingConstants,
}

// findThrottlingConstants finds constants that throttle. Each is a knob with variants that the
// judge tries: double, half, end.
func findThrottlingConstants(r *reporter) error {
	k := &knobs{r: r, x: indexOf(r.pass), seen: map[ast.Expr]bool{}, told: map[ast.Expr]bool{}}
	k.statements(r.pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result))
	k.find()
	return nil
}

// A knob is a constant that guards work.
type knob struct {
	value ast.Expr
	kind  knobKind
	what  string // "the probability"
	how   string
	of    constant.Value // what a share is a part of; nil for 1
	// statements count what a capacity is compared with.
	statements []string
	pool       bool // the most connections to a database
}

// A knobKind decides which variants a constant has.
type knobKind uint8

const (
	dropShare  knobKind = iota // a probability of not doing work: half, none
	doShare                    // a probability of doing work: half, double
	dropChance                 // all but one of n are dropped: half, none
	chance                     // one of n is dropped or done: double, half
	duration                   // an interval: half, double
	pause                      // a sleep outside of a polling loop: half, none
	pollPause                  // a sleep in a loop without end: half, double
	size                       // a size that is at least 1: double, half
	capacity                   // the most that is let in: double, half
	comeAgain                  // when clients are told to come again: later, half
)

type knobs struct {
	r     *reporter
	x     *index
	found []knob
	seen  map[ast.Expr]bool
	told  map[ast.Expr]bool // definitions that were reported

	sql    *sqlcall.Result
	counts counts
}

func (k *knobs) find() {
	for _, f := range k.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				k.comparison(n)
				k.counted(n)
			case *ast.CallExpr:
				k.call(n)
			case *ast.ForStmt:
				k.loop(n)
			case *ast.RangeStmt:
				k.workers(n.X, n.Body)
			case *ast.KeyValueExpr:
				k.field(n)
			case *ast.AssignStmt:
				k.assignment(n)
			}
			return true
		})
	}
	for _, n := range k.found {
		k.report(n)
	}
}

// add notes a constant above 0, unless it is noted already: a constant that is at two
// places is noted once.
func (k *knobs) add(e ast.Expr, kind knobKind, what, how string) bool {
	e = ast.Unparen(e)
	v := k.x.pass.TypesInfo.Types[e].Value
	if v == nil || k.seen[e] || constant.Sign(v) <= 0 {
		return false
	}
	k.seen[e] = true
	k.found = append(k.found, knob{value: e, kind: kind, what: what, how: how})
	return true
}

// comparison finds a random number that is compared with a constant in the
// condition of an if statement.
func (k *knobs) comparison(b *ast.BinaryExpr) {
	number, bound, op := b.X, b.Y, b.Op
	if k.x.random(number) == nil {
		number, bound, op = b.Y, b.X, mirrored(op)
	}
	call := k.x.random(number)
	branch := k.x.conditionOf(b)
	if call == nil || branch == nil {
		return
	}
	leaves := k.x.leaves(branch.Body)
	what := "a share of the work is chosen at random"
	switch {
	case len(call.Args) == 0 && (op == token.LSS || op == token.LEQ): // rand.Float64() < c
		k.add(bound, share(leaves), what, "try another share")
	case len(call.Args) == 1 && (op == token.LSS || op == token.LEQ): // rand.Intn(n) < c
		if n, isConst := k.constant(call.Args[0]); isConst && k.add(bound, share(leaves), what, "try another share") {
			k.found[len(k.found)-1].of = n
		}
	case len(call.Args) == 1 && op == token.NEQ && leaves: // one of n is done
		k.add(call.Args[0], dropChance, what, "try another share")
	case len(call.Args) == 1 && op == token.EQL: // one of n is dropped or done
		k.add(call.Args[0], chance, what, "try another share")
	}
}

func share(leaves bool) knobKind {
	if leaves {
		return dropShare
	}
	return doShare
}

func mirrored(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.GTR:
		return token.LSS
	case token.LEQ:
		return token.GEQ
	case token.GEQ:
		return token.LEQ
	}
	return op
}

// random returns the call when an expression is a random number of math/rand: a
// share without an argument, or a number below its argument.
func (x *index) random(e ast.Expr) *ast.CallExpr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn := x.callee(call)
	for _, path := range []string{"math/rand", "math/rand/v2"} {
		for _, recv := range []string{"", "Rand."} {
			if isFunc(fn, path, recv+"Float64", recv+"Float32", recv+"Intn", recv+"IntN", recv+"Int31n", recv+"Int32N", recv+"Int63n", recv+"Int64N", recv+"N") {
				return call
			}
		}
	}
	return nil
}

// conditionOf returns the if statement whose condition is e, or an operand of e's
// conjunction.
func (x *index) conditionOf(e ast.Expr) *ast.IfStmt {
	for {
		switch p := x.parent[e].(type) {
		case *ast.ParenExpr:
			e = p
		case *ast.BinaryExpr:
			if p.Op != token.LAND {
				return nil
			}
			e = p
		case *ast.IfStmt:
			if p.Cond == e {
				return p
			}
			return nil
		default:
			return nil
		}
	}
}

// leaves reports whether a block ends by leaving the function or the round of a loop.
func (x *index) leaves(b *ast.BlockStmt) bool {
	if b == nil || len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	}
	return false
}

func (k *knobs) constant(e ast.Expr) (constant.Value, bool) {
	v := k.x.pass.TypesInfo.Types[e].Value
	return v, v != nil
}

// call finds functions whose argument is a throttle.
func (k *knobs) call(c *ast.CallExpr) {
	fn := k.x.callee(c)
	if id, ok := ast.Unparen(c.Fun).(*ast.Ident); ok && len(c.Args) == 2 && k.x.pass.TypesInfo.Uses[id] == types.Universe.Lookup("make") {
		if v, ok := k.constant(c.Args[1]); ok && isChan(k.x.typeOf(c.Args[0])) && !isSignals(k.x.typeOf(c.Args[0])) && constant.Compare(v, token.GEQ, constant.MakeInt64(2)) {
			k.add(c.Args[1], size, "a channel has a fixed capacity", "try another capacity")
		}
		return
	}
	if fn == nil || len(c.Args) == 0 {
		return
	}
	for _, t := range throttles {
		if isFunc(fn, t.path, t.names...) && len(c.Args) > t.arg {
			kind := t.kind
			if kind == pause && k.polls(c) {
				kind = pollPause
			} else if kind == pause && k.x.startsUp(c) {
				return
			}
			k.add(c.Args[t.arg], kind, t.what, t.how)
			return
		}
	}
	if poolMethod.MatchString(fn.Name()) && fn.Signature().Recv() != nil && len(c.Args) == 1 && isInteger(k.x.typeOf(c.Args[0])) {
		if k.add(c.Args[0], size, "a pool has a fixed size", "try another size") {
			k.found[len(k.found)-1].pool = fn.Name() == "SetMaxOpenConns"
		}
	}
}

// throttles are the functions of known packages whose argument is a throttle.
var throttles = []struct {
	path  string
	names []string
	arg   int
	kind  knobKind
	what  string
	how   string
}{
	{"time", []string{"Sleep"}, 0, pause, "the code sleeps for a fixed time", "try another time"},
	{"time", []string{"NewTicker", "Tick"}, 0, duration, "work is done at a fixed interval", "try another interval"},
	{"golang.org/x/sync/semaphore", []string{"NewWeighted"}, 0, size, "a semaphore admits a fixed number", "try another number"},
	{"golang.org/x/sync/errgroup", []string{"Group.SetLimit"}, 0, size, "a group runs a fixed number of goroutines", "try another number"},
	{"golang.org/x/time/rate", []string{"NewLimiter"}, 0, size, "a limiter admits a fixed rate", "try another rate"},
	{"golang.org/x/time/rate", []string{"Every"}, 0, duration, "a limiter admits one event per interval", "try another interval"},
}

// poolMethod and poolField match methods and fields by which pools of
// connections and workers are sized, in database/sql, net/http and clients of caches.
var (
	poolMethod = regexp.MustCompile(`^Set(Max(Open|Idle)Conns|PoolSize|MaxConns|MaxWorkers|Concurrency)$`)
	poolField  = regexp.MustCompile(`^(PoolSize|MinIdleConns|Max(Open|Idle|Active)?Conns(PerHost)?|Max(Active|Idle)|MaxWorkers|Workers|Concurrency|BatchSize|QueueSize)$`)
)

func isChan(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// isSignals reports a channel of the program's signals, whose capacity throttles nothing.
func isSignals(t types.Type) bool {
	c, ok := t.Underlying().(*types.Chan)
	return ok && isNamed(c.Elem(), "os", "Signal")
}

func isInteger(t types.Type) bool {
	b, ok := types.Default(t).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// polls reports whether a call is in a loop without a condition: without the
// sleep the loop would spin.
func (k *knobs) polls(c *ast.CallExpr) bool {
	for n := k.x.parent[c]; n != nil; n = k.x.parent[n] {
		switch n := n.(type) {
		case *ast.ForStmt:
			return n.Post == nil
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
	}
	return false
}

// loop finds "for i := 0; i < c; i++ { go … }" and "for i := 0; i < n; i += c".
func (k *knobs) loop(f *ast.ForStmt) {
	if cond, ok := f.Cond.(*ast.BinaryExpr); ok && cond.Op == token.LSS {
		k.workers(cond.Y, f.Body)
	}
	if post, ok := f.Post.(*ast.AssignStmt); ok && post.Tok == token.ADD_ASSIGN && len(post.Rhs) == 1 && isInteger(k.x.typeOf(post.Rhs[0])) {
		v, isConst := k.constant(post.Rhs[0])
		if isConst && k.x.slicesBy(f, post.Rhs[0]) && constant.Compare(v, token.GEQ, constant.MakeInt64(2)) {
			k.add(post.Rhs[0], size, "work is done in batches of a fixed size", "try another size")
		}
	}
}

// slicesBy reports whether the step of a loop is named and used again in the body,
// so that one constant decides both. A literal would have to agree at two places.
func (x *index) slicesBy(f *ast.ForStmt, step ast.Expr) bool {
	obj, ok := x.named(step).(*types.Const)
	if !ok {
		return false
	}
	for _, id := range x.uses[obj] {
		if within(id, f.Body) {
			return true
		}
	}
	return false
}

// workers notes the number of rounds of a loop that only starts goroutines.
func (k *knobs) workers(bound ast.Expr, body *ast.BlockStmt) {
	if _, ok := k.constant(bound); !ok || !isInteger(k.x.typeOf(bound)) {
		return
	}
	starts := false
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.ExprStmt: // wg.Add(1), wg.Go(f)
			call, ok := s.X.(*ast.CallExpr)
			fn := k.x.callee(call)
			if !ok || !isFunc(fn, "sync", "WaitGroup.Add", "WaitGroup.Go") {
				return
			}
			starts = starts || fn.Name() == "Go"
		default:
			return
		}
	}
	if starts {
		k.add(bound, size, "a fixed number of goroutines works", "try another number")
	}
}

func (k *knobs) field(kv *ast.KeyValueExpr) {
	k.answered(kv)
	id, ok := kv.Key.(*ast.Ident)
	if !ok || !poolField.MatchString(id.Name) {
		return
	}
	if v, ok := k.x.pass.TypesInfo.Uses[id].(*types.Var); ok && v.IsField() && isInteger(v.Type()) {
		k.add(kv.Value, size, "a pool has a fixed size", "try another size")
	}
}

func (k *knobs) assignment(a *ast.AssignStmt) {
	if len(a.Lhs) != len(a.Rhs) || a.Tok != token.ASSIGN {
		return
	}
	for i, l := range a.Lhs {
		k.answeredBy(l, a.Rhs[i])
		if sel, ok := l.(*ast.SelectorExpr); ok && poolField.MatchString(sel.Sel.Name) && isInteger(k.x.typeOf(l)) {
			k.add(a.Rhs[i], size, "a pool has a fixed size", "try another size")
		}
	}
}

// report reports a knob with its variants.
func (k *knobs) report(n knob) {
	site := k.definition(n.value)
	if k.told[site] {
		return
	}
	k.told[site] = true
	var fixes []string
	var out place
	others := k.alike(n)
	for _, v := range k.variants(n, site) {
		rw := k.x.rewrite()
		rw.replace(site, v.text)
		for _, o := range others {
			rw.replace(o, v.text)
		}
		fix, ok := rw.fix(v.name)
		if !ok || v.text == k.x.text(site) {
			continue
		}
		fixes = append(fixes, v.text)
		out.fixes = append(out.fixes, fix)
	}
	if len(out.fixes) == 0 {
		return
	}
	out.node, out.promise, out.proof, out.drops = n.value, Behaviour, Tested, k.drops(n)
	out.capacity, out.statements, out.pool, out.waits = n.kind == capacity, n.statements, n.pool, k.waits(n)
	value := k.x.text(site)
	if out.capacity { // a name says nothing of its size
		value = k.x.pass.TypesInfo.Types[n.value].Value.ExactString()
	}
	out.what = fmt.Sprintf("%s (%s)", n.what, value)
	out.how = fmt.Sprintf("%s (%s)", n.how, joined(fixes))
	k.r.report(out)
}

// waits is the time of a sleep or an interval; 0 for other knobs.
func (k *knobs) waits(n knob) time.Duration {
	ns, exact := constant.Int64Val(constant.ToInt(k.x.pass.TypesInfo.Types[n.value].Value))
	if !exact || !isNamed(k.x.typeOf(n.value), "time", "Duration") {
		return 0
	}
	return time.Duration(ns)
}

// drops is the share of the work that a knob leaves out at random; 0 for other knobs.
func (k *knobs) drops(n knob) float64 {
	number := func(v constant.Value) float64 {
		x, _ := constant.Float64Val(constant.ToFloat(v))
		return x
	}
	v, of := number(k.x.pass.TypesInfo.Types[n.value].Value), 1.0
	if n.of != nil {
		of = number(n.of)
	}
	switch {
	case n.kind == dropShare && v < of:
		return v / of
	case n.kind == dropChance && v > 1:
		return 1 - 1/v
	}
	return 0
}

func joined(words []string) string {
	s := ""
	for i, w := range words {
		if i > 0 {
			s += " or "
		}
		s += w
	}
	return s
}

// definition returns the expression to edit: the value of the named constant when
// every use of the constant is this knob, else the use itself.
func (k *knobs) definition(e ast.Expr) ast.Expr {
	obj, ok := k.x.named(e).(*types.Const)
	if !ok || obj.Pkg() != k.x.pass.Pkg || obj.Exported() && k.x.pass.Pkg.Name() != "main" {
		return e
	}
	for _, id := range k.x.uses[obj] {
		if !k.seen[id] && !k.inSameLoop(id, e) {
			return e
		}
	}
	if spec, ok := k.x.parent[k.x.defs[obj]].(*ast.ValueSpec); ok {
		for i, name := range spec.Names {
			if k.x.pass.TypesInfo.Defs[name] == obj && i < len(spec.Values) && !usesIota(k.x, spec.Values[i]) {
				return spec.Values[i]
			}
		}
	}
	return e
}

// inSameLoop reports whether another use of a batch size is in the loop that it steps.
func (k *knobs) inSameLoop(id *ast.Ident, knob ast.Expr) bool {
	loop := enclosing[*ast.ForStmt](k.x, knob)
	return loop != nil && loop.Post != nil && within(knob, loop.Post) && within(id, loop)
}

func usesIota(x *index, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && x.pass.TypesInfo.Uses[id] == types.Universe.Lookup("iota")
		return !found
	})
	return found
}
