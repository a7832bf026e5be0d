package rewrite

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A helper that takes a transaction and nothing else can take the pool, too, if its parameter
// becomes an interface of the methods that it asks of the transaction:
//
//	func fare(ctx context.Context, tx *sqlx.Tx, id string) (int, error)
//	func fare(ctx context.Context, tx interface {
//		GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error
//	}, id string) (int, error)

// widens reports whether parameters can become interfaces.
func (o *readOnlyTx) widens(params []*types.Var) bool {
	for _, p := range params {
		if _, ok := o.faceOf(p, deepestHelper); !ok {
			return false
		}
	}
	return true
}

// fieldOf is the declaration of a parameter that has one of its own; nil for another one.
func (o *readOnlyTx) fieldOf(param *types.Var) *ast.Field {
	f, ok := o.x.parent[o.x.defs[param]].(*ast.Field)
	if !ok || len(f.Names) != 1 {
		return nil
	}
	return f
}

// faceOf is the interface of the methods that a function asks of its parameter, itself or by
// functions to which it gives it.
func (o *readOnlyTx) faceOf(param *types.Var, depth int) (string, bool) {
	f := o.fieldOf(param)
	if f == nil {
		return "", false
	}
	d, ok := o.x.function(f).(*ast.FuncDecl)
	if !ok || d.Recv != nil {
		return "", false
	}
	fn, _ := o.x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if len(o.x.uses[fn]) != len(o.x.calls[fn]) || fn.Exported() && o.x.pass.Pkg.Name() != "main" {
		return "", false // used as a value, or by other packages
	}
	asked := map[string]*types.Signature{}
	if !o.asked(param, asked, depth) || len(asked) == 0 {
		return "", false
	}
	var b strings.Builder
	b.WriteString("interface {\n")
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		text, ok := typeName(o.x.pass, o.x.fileOf(f.Pos()), asked[name])
		if !ok {
			return "", false
		}
		b.WriteString(name + strings.TrimPrefix(text, "func") + "\n")
	}
	b.WriteString("}")
	return b.String(), true
}

// asked notes the methods that are called of a parameter.
func (o *readOnlyTx) asked(param *types.Var, to map[string]*types.Signature, depth int) bool {
	if depth == 0 {
		return false
	}
	for _, id := range o.x.uses[param] {
		if c := o.statement(id); c != nil {
			sig, ok := methodOf(c)
			if !ok {
				return false
			}
			to[c.Name] = sig
			continue
		}
		call, ok := o.x.parent[id].(*ast.CallExpr)
		if !ok {
			return false
		}
		at := slices.Index(call.Args, ast.Expr(id))
		fn := o.x.callee(call)
		if at < 0 || fn == nil || at >= fn.Signature().Params().Len() {
			return false
		}
		next := fn.Signature().Params().At(at)
		if face, isFace := next.Type().Underlying().(*types.Interface); isFace {
			for m := range face.Methods() {
				to[m.Name()] = m.Signature()
			}
			continue
		}
		if o.fieldOf(next) == nil || !o.asked(next, to, depth-1) {
			return false
		}
	}
	return true
}

// methodOf is the signature of the method by which a call sends a statement.
func methodOf(c *sqlcall.Call) (*types.Signature, bool) {
	sig := c.Callee.Signature()
	return sig, sig.Recv() != nil // sqlx.Get(tx, …) asks an interface of sqlx
}

// hasAsked reports whether a pool has the methods that a helper asks of its parameter.
func (o *readOnlyTx) hasAsked(pool ast.Expr, param *types.Var) bool {
	asked := map[string]*types.Signature{}
	if !o.asked(param, asked, deepestHelper) {
		return false
	}
	for name, sig := range asked {
		obj, _, _ := types.LookupFieldOrMethod(o.x.typeOf(pool), true, o.x.pass.Pkg, name)
		fn, ok := obj.(*types.Func)
		if !ok || !types.Identical(fn.Signature(), sig) {
			return false
		}
	}
	return true
}
