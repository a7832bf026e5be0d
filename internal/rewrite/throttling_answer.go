package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strings"
)

// An answer may tell clients when to come again, as {"retry_after_ms": 30} does: where clients
// poll, this number decides how many requests there are.

// pollName matches the name of such a value in an answer.
var pollName = regexp.MustCompile(`(?i)^(retry_?after|(next_?)?poll(ing)?(_?(interval|after|delay))?|refresh(_?(interval|after))?)(_?(ms|millis|milliseconds|s|sec|seconds))?$`)

const (
	comesAgain = "an answer tells clients when to come again"
	otherTime  = "try another time"
)

// answered notes a constant of an answer: of a map, or of a struct's field by its name in JSON.
func (k *knobs) answered(kv *ast.KeyValueExpr) {
	lit, ok := k.x.parent[kv].(*ast.CompositeLit)
	if !ok || !k.x.inRequest(kv) {
		return
	}
	name := ""
	if v := k.x.pass.TypesInfo.Types[kv.Key].Value; v != nil && v.Kind() == constant.String {
		name = constant.StringVal(v)
	} else if id, isIdent := kv.Key.(*ast.Ident); isIdent {
		name = jsonName(k.x.typeOf(lit), id.Name)
	}
	k.whenPolled(name, kv.Value)
}

// answeredBy does so for an assignment: answer.RetryAfter = 30, answer["retry_after"] = 30.
func (k *knobs) answeredBy(to, value ast.Expr) {
	if !k.x.inRequest(to) {
		return
	}
	switch to := to.(type) {
	case *ast.SelectorExpr:
		k.whenPolled(jsonName(k.x.typeOf(to.X), to.Sel.Name), value)
	case *ast.IndexExpr:
		if v := k.x.pass.TypesInfo.Types[to.Index].Value; v != nil && v.Kind() == constant.String {
			k.whenPolled(constant.StringVal(v), value)
		}
	}
}

func (k *knobs) whenPolled(name string, value ast.Expr) {
	t := k.x.typeOf(value)
	if basic, ok := types.Default(t).Underlying().(*types.Basic); !ok || basic.Info()&types.IsInteger == 0 || !pollName.MatchString(name) {
		return
	}
	k.add(value, comeAgain, comesAgain, otherTime)
}

// jsonName is the name of a struct's field in JSON, "" if it is none of a struct.
func jsonName(t types.Type, field string) string {
	if t == nil {
		return ""
	}
	s := structOf(t)
	if s == nil {
		return ""
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != field {
			continue
		}
		if name, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ","); name != "" {
			return name
		}
		return field
	}
	return ""
}

// alike are the other values of one function that tell clients the same time: they change
// together. They are reported by the first one.
func (k *knobs) alike(n knob) (out []ast.Expr) {
	if n.kind != comeAgain {
		return nil
	}
	value := k.x.pass.TypesInfo.Types[n.value].Value
	for _, o := range k.found {
		site := k.definition(o.value)
		if o.kind == comeAgain && o.value != n.value && !k.told[site] && k.x.topDecl(o.value) == k.x.topDecl(n.value) &&
			constant.Compare(value, token.EQL, k.x.pass.TypesInfo.Types[o.value].Value) {
			k.told[site] = true
			out = append(out, site)
		}
	}
	return out
}
