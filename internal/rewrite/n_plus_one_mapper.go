package rewrite

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// A mapper makes statements when they are sent, so that their texts are not in the source.
// Its queries in loops are found at their lines; a rewrite would need the text.
type mapper struct {
	name  string
	paths []string
	reads []string // methods that send a query
	how   string
}

var mappers = []mapper{
	{"gorm", []string{"gorm.io/gorm", "github.com/jinzhu/gorm"}, []string{"First", "Take", "Last", "Find", "Scan", "Pluck", "Count", "Row", "Rows", "FirstOrInit"},
		"read the rows of all elements before the loop, by Preload or by one query with IN"},
	{"xorm", []string{"xorm.io/xorm", "github.com/go-xorm/xorm"}, []string{"Get", "Find", "Count", "Exist", "FindAndCount", "Sum", "SumInt", "Rows", "Iterate", "Query", "QueryString", "QueryInterface"},
		"read the rows of all elements before the loop, by Join or by one query with In"},
	{"bun", []string{"github.com/uptrace/bun"}, []string{"Scan", "Count", "Exists", "ScanAndCount", "Rows"},
		"read the rows of all elements before the loop, by Relation or by one query with IN"},
	{"beego's orm", []string{"github.com/beego/beego/v2/client/orm", "github.com/beego/beego/client/orm", "github.com/astaxie/beego/orm"},
		[]string{"Read", "ReadForUpdate", "One", "All", "Count", "Exist", "Values", "LoadRelated", "QueryRow", "QueryRows"},
		"read the rows of all elements before the loop, by RelatedSel or by one query with IN"},
}

const entMapper = "ent"

// entReads are the methods of the queries and clients that ent generates.
var entReads = []string{"All", "AllX", "Only", "OnlyX", "OnlyID", "First", "FirstX", "FirstID", "Count", "CountX", "Exist", "ExistX", "IDs", "Get", "GetX", "Scan"}

const entHow = "read the rows of all elements before the loop, by With… or by one query with In"

// mapperIn is the mapper by which a call sends a query, and what to do in a loop; "" for
// other calls.
func mapperIn(info *types.Info, call *ast.CallExpr) (name, how string) {
	fn, _ := typeutil.Callee(info, call).(*types.Func)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() == nil {
		return "", ""
	}
	for _, m := range mappers {
		if slices.Contains(m.paths, fn.Pkg().Path()) {
			if slices.Contains(m.reads, fn.Name()) {
				return m.name, m.how
			}
			return "", ""
		}
	}
	recv := namedOf(fn.Signature().Recv().Type())
	if recv == nil || !slices.Contains(entReads, fn.Name()) || !strings.HasSuffix(recv.Obj().Name(), "Query") && !strings.HasSuffix(recv.Obj().Name(), "Client") {
		return "", ""
	}
	if slices.ContainsFunc(fn.Pkg().Imports(), func(p *types.Package) bool { return p.Path() == fn.Pkg().Path()+"/predicate" }) {
		return entMapper, entHow
	}
	return "", ""
}

// A mapperSender is a function that sends a query of a mapper.
type mapperSender struct {
	mapper, how string
	texts       []string // that it may send
	unlike      string   // what keeps the query cache from reading its rows ahead
}

// mapped reports the queries of mappers that a loop sends for each of its elements: by
// itself, or by a function of the package.
func (l *perElement) mapped() {
	senders := map[*types.Func]mapperSender{}
	x := indexOf(l.pass)
	for c := range rootOf(l.pass).Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		name, how := mapperIn(l.pass.TypesInfo, call)
		if name == "" || skipped(l.pass, call.Pos()) {
			continue
		}
		if loop := loopAround(c, call); loop != nil {
			if l.selects(call, loop) {
				texts := mapperTexts(x, call)
				p := place{node: lastOf(call), statements: texts, what: "each element of the loop sends a query of " + name, how: how, why: refusal{lastOf(call), byMapper(name, texts, unlikeAhead(call))}}
				if edits, ok := l.readMapped(call, loop); ok {
					p.fixes, p.how, p.why = suggested("Read the rows before the loop", edits), "read the rows of all elements by one query before the loop", refusal{}
					p.promise = orderOf(l, call)
				} else if name == "gorm" && l.refused.why != "" {
					p.why = refusal{l.refused.at, l.refused.why + "; " + byMapper(name, texts, unlikeAhead(call))}
				}
				l.report(p)
			}
			continue
		}
		for up := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
			if d, ok := up.Node().(*ast.FuncDecl); ok {
				if fn, ok := l.pass.TypesInfo.Defs[d.Name].(*types.Func); ok && fn.Signature().Params().Len() > 0 {
					senders[fn] = mapperSender{name, how, append(senders[fn].texts, mapperTexts(x, call)...), unlikeAhead(call)}
				}
			}
			break
		}
	}
	for c := range rootOf(l.pass).Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		fn := calleeOf(l.pass, call)
		by, sends := senders[fn]
		if !sends || skipped(l.pass, call.Pos()) {
			continue
		}
		loop := loopAround(c, call)
		if loop == nil || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return l.varies(a, loop) }) {
			continue
		}
		l.report(place{node: call, what: "each element of the loop calls " + fn.Name() + ", which sends a query of " + by.mapper, how: by.how, statements: by.texts,
			why: refusal{call, byMapper(by.mapper, by.texts, by.unlike)}})
	}
}

// byMapper is why a query of a mapper has no fix, and what covers it.
func byMapper(name string, texts []string, unlike string) string {
	switch {
	case unlike != "":
		return name + " makes the text when it is sent, and it has " + unlike + ", so that the query cache of APP207 does not read its rows ahead"
	case len(texts) > 0:
		return name + " makes the text when it is sent; the query cache of APP207 knows it, and reads the rows of such a loop ahead"
	}
	return name + " makes the text when it is sent; " + aheadByRun
}

// aheadByRun is what covers a loop whose statement is not known from the source.
const aheadByRun = "the query cache of APP207 has it from an observed run, and reads the rows of such a loop ahead"

// joining are the methods of mappers by which a query becomes one that is never read ahead.
var joining = []string{"Joins", "InnerJoins", "Join", "LeftJoin", "InnerJoin", "Group", "GroupBy", "Having", "Distinct", "ForUpdate", "ForShare", "Clauses", "Union", "UnionAll", "RelatedSel", "Offset"}

// unlikeAhead is the method of a chain of calls by which its query is never read ahead, "" if it has
// none.
func unlikeAhead(call *ast.CallExpr) string {
	for {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if slices.Contains(joining, sel.Sel.Name) {
			return sel.Sel.Name
		}
		if call, ok = ast.Unparen(sel.X).(*ast.CallExpr); !ok {
			return ""
		}
	}
}

// lastOf is what names the method of a call in a chain, so that a place is where a person
// looks for it: the chain may begin lines before.
func lastOf(call *ast.CallExpr) ast.Node {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		return sel.Sel
	}
	return call
}

// selects reports whether the rows that a chain of calls asks for depend on the element of
// a loop: something besides the variable that takes the rows does.
func (l *perElement) selects(call *ast.CallExpr, loop ast.Stmt) bool {
	for last := true; ; last = false {
		for i, a := range call.Args {
			dest := ast.Unparen(a)
			if u, ok := dest.(*ast.UnaryExpr); ok {
				dest = ast.Unparen(u.X)
			}
			if _, plain := dest.(*ast.Ident); plain && last && i == 0 {
				continue
			}
			if l.varies(a, loop) {
				return true
			}
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if call, ok = ast.Unparen(sel.X).(*ast.CallExpr); !ok {
			return false
		}
	}
}
