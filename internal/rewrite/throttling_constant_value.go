package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"math"
	"strconv"
)

// A variant is another value of a knob.
type variant struct{ name, text string }

// variants lists the values to try, the most promising first.
func (k *knobs) variants(n knob, site ast.Expr) []variant {
	half, double := variant{"half", k.scaled(site, 1, 2)}, variant{"double", k.scaled(site, 2, 1)}
	var all []variant
	switch n.kind {
	case dropShare:
		all = []variant{{"end", "0"}, half} // the checks and the runs decide whether all work can be done
	case doShare:
		all = []variant{half}
		if v := k.x.pass.TypesInfo.Types[site].Value; constant.Compare(constant.ToFloat(v), token.LEQ, constant.MakeFloat64(0.5)) || isInteger(k.x.typeOf(n.value)) {
			all = append(all, double)
		}
	case dropChance:
		all = []variant{half, {"end", "1"}}
	case duration, pollPause:
		all = []variant{half, double}
	case pause:
		all = []variant{half, {"end", "0"}}
	case comeAgain:
		all = []variant{{"8 times", k.scaled(site, 8, 1)}, double, half}
	case capacity:
		all = []variant{{"4 times", k.scaled(site, 4, 1)}, double, half}
	case size, chance:
		all = []variant{double, half}
	}
	out := all[:0]
	for _, v := range all {
		if v.text != "" {
			out = append(out, v)
		}
	}
	return out
}

// scaled is the text of a constant times up/down, or "" if it would fall below the
// least value. Shares are rounded to one digit, whole numbers up.
func (k *knobs) scaled(e ast.Expr, up, down int64) string {
	v := k.x.pass.TypesInfo.Types[e].Value
	t := k.x.typeOf(e)
	if isNamed(t, "time", "Duration") {
		return k.duration(e, v, up, down)
	}
	if v.Kind() == constant.Float && !isInteger(t) {
		f, _ := constant.Float64Val(v)
		return strconv.FormatFloat(oneDigit(f*float64(up)/float64(down)), 'f', -1, 64)
	}
	i, exact := constant.Int64Val(constant.ToInt(v))
	if !exact || i > math.MaxInt32 {
		return ""
	}
	n := (i*up + down - 1) / down
	if n < 1 || n == i {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// oneDigit rounds to one significant digit: half of 0.9 is 0.5.
func oneDigit(f float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 0, 64), 64)
	if err != nil {
		return f
	}
	return rounded
}

// units are the units in which a duration is written, the largest first.
var units = []struct {
	name string
	ns   int64
}{{"Hour", 3600e9}, {"Minute", 60e9}, {"Second", 1e9}, {"Millisecond", 1e6}, {"Microsecond", 1e3}, {"Nanosecond", 1}}

// duration writes a scaled duration. A literal in the expression is scaled, so
// that the unit stays; otherwise the value is written in its largest whole unit.
func (k *knobs) duration(e ast.Expr, v constant.Value, up, down int64) string {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.MUL {
		for _, side := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
			lit, ok := side[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.INT {
				continue
			}
			if n, err := strconv.ParseInt(lit.Value, 10, 64); err == nil && n*up%down == 0 {
				return strconv.FormatInt(n*up/down, 10) + " * " + k.x.text(side[1])
			}
		}
	}
	ns, exact := constant.Int64Val(v)
	if !exact || ns*up/down < 1 {
		return ""
	}
	ns = ns * up / down
	name := k.timeName(e)
	if name == "" {
		return ""
	}
	for _, u := range units {
		if ns%u.ns == 0 {
			if ns == u.ns {
				return name + "." + u.name
			}
			return strconv.FormatInt(ns/u.ns, 10) + " * " + name + "." + u.name
		}
	}
	return ""
}

// timeName is the name of package time at an expression, or "" where the file
// does not import it.
func (k *knobs) timeName(e ast.Expr) string {
	for _, spec := range k.x.fileOf(e.Pos()).Imports {
		if spec.Path.Value == `"time"` && !k.x.shadowed(e.Pos(), k.x.importName(spec)) {
			return k.x.importName(spec)
		}
	}
	return ""
}
