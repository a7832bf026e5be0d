package sourcedb

import (
	"slices"
	"strings"
)

// eval evaluates an expression.
func (r *runner) eval(n *node, s *scope) value {
	r.steps++
	if r.depth >= maxDepth || r.steps > r.until {
		return value{kind: unknown}
	}
	r.depth++
	defer func() { r.depth-- }()
	switch n.op {
	case opText:
		return literal(n.text, Origin{Path: s.unit.path, Line: n.line})
	case opBool:
		return boolOf(n.text == "true")
	case opNull:
		return value{kind: null}
	case opName:
		return r.variable(n, s)
	case opField:
		return r.fieldOf(n, s)
	case opIndex:
		return r.index(n, s)
	case opCall:
		return r.evalCall(n, s)
	case opTable:
		return r.makeTable(n, s)
	case opList:
		v := value{kind: lists}
		for _, k := range n.kids {
			v.list = append(v.list, r.eval(k, s))
		}
		return v
	case opJoin:
		return r.join(n, s)
	case opFormat:
		return r.percent(n, s)
	case opFunc:
		return r.declare(n, s)
	case opAssign:
		r.assign(n, s)
		return r.eval(n.kids[0], s)
	case opIf, opBlock:
		return r.valueOf(n, s)
	}
	return r.choice(n, s)
}

func (r *runner) join(n *node, s *scope) value {
	parts := make([]value, len(n.kids))
	for i, k := range n.kids {
		parts[i] = r.eval(k, s)
	}
	return joined(parts...)
}

// valueOf is the value of a condition or block that is used as an expression.
func (r *runner) valueOf(n *node, s *scope) value {
	c := &call{}
	if s.call != nil {
		c.result = s.call.result
	}
	in := &scope{vars: map[string]value{}, up: s, unit: s.unit, call: c}
	if n.op == opBlock {
		r.block(n.body, in)
	} else {
		r.branch(n, in)
	}
	if c.done && s.call != nil {
		s.call.done, s.call.result = true, c.result
	}
	return c.last
}

// choice evaluates the operators that choose one of their operands.
func (r *runner) choice(n *node, s *scope) value {
	switch n.op {
	case opOr:
		a := r.eval(n.kids[0], s)
		if n.text == "??" && a.kind != unknown {
			if a.kind == null {
				return r.eval(n.kids[1], s)
			}
			return a
		}
		return r.either(a, func() value { return r.eval(n.kids[1], s) })
	case opAnd:
		a := r.eval(n.kids[0], s)
		if yes, known := a.truth(); known && !yes {
			return a
		} else if b := r.eval(n.kids[1], s); known {
			return b
		}
		return value{kind: unknown, why: a.why}
	case opNot:
		if yes, known := r.eval(n.kids[0], s).truth(); known {
			return boolOf(!yes)
		}
		return value{kind: unknown}
	case opEqual:
		if same, known := equal(r.eval(n.kids[0], s), r.eval(n.kids[1], s)); known {
			return boolOf(same == (n.text == "=="))
		}
		return value{kind: unknown}
	case opCond:
		yes, known := r.eval(n.kids[0], s).truth()
		if known && yes {
			return r.eval(n.kids[1], s)
		} else if known {
			return r.eval(n.kids[2], s)
		}
		return merged(r.eval(n.kids[1], s), r.eval(n.kids[2], s), s.unit.path, n.line)
	}
	for _, k := range n.kids { // for the connections in it
		r.eval(k, s)
	}
	return value{kind: unknown}
}

// either is the first value if it counts as true, else the second.
func (r *runner) either(a value, b func() value) value {
	yes, known := a.truth()
	switch {
	case known && yes:
		return a
	case known:
		return b()
	}
	b() // for the connections in it
	return a
}

func (r *runner) variable(n *node, s *scope) value {
	if v, at := s.lookup(n.text); at != nil {
		return r.called(v, s)
	}
	if s.unit.aliases[n.text] == "os.environ" {
		return value{kind: environ}
	}
	switch n.text {
	case "ENV", "$_ENV", "$_SERVER", "environ":
		return value{kind: environ}
	case "this", "self", "$this", "static", "cls":
		v, ok := s.unit.top.vars["this"]
		if !ok {
			v = value{kind: tables, table: newTable("", Origin{})}
			v.table.unit = s.unit
			s.unit.top.vars["this"] = v
		}
		return v
	}
	if n.text == "__name__" {
		return value{kind: texts, text: "__main__"}
	}
	return r.elsewhere(n.text, s, n.line)
}

// called is the result of a method of Ruby that is called without parentheses.
func (r *runner) called(v value, s *scope) value {
	if v.kind == funcs && s.unit.lang == langRuby {
		return r.call(v.fn, nil)
	}
	return v
}

// elsewhere is a variable of another file, if exactly one has it.
func (r *runner) elsewhere(name string, s *scope, line int) value {
	why := unknownBecause("%s at %s:%d is not known", name, s.unit.path, line)
	if s.unit.lang != langRuby && s.unit.lang != langPHP || name == "" || name[0] < 'A' || name[0] > 'Z' {
		return why
	}
	r.steps += len(r.units) / 10
	for _, u := range r.units {
		if u == s.unit || u.lang != s.unit.lang || u.top == nil {
			continue
		}
		r.load(u)
		if v, ok := u.top.vars[name]; ok {
			return v
		}
	}
	return why
}

func (r *runner) fieldOf(n *node, s *scope) value {
	switch p := n.path(); {
	case p == "process.env", p == "os.environ", p == "Bun.env", p == "import.meta.env":
		return value{kind: environ}
	case s.isPackage(n.kids[0]):
		return r.goField(n, s)
	}
	x := r.eval(n.kids[0], s)
	if v, ok := r.plainMethod(x, n.text); ok && s.unit.lang == langRuby {
		return v
	}
	if v, ok := r.method(x, n.text, s); ok && x.kind != tables {
		return r.called(v, s)
	}
	if s.unit.lang == langRuby && x.kind == unknown && n.text != "" && n.text[:1] >= "A" && n.text[:1] <= "Z" { // Module::CONSTANT
		return r.variable(name(n.text, n.line), s)
	}
	return r.field(x, n.text, s, n.line)
}

// isPackage reports whether an expression is a Go package of another module or folder,
// and no variable of its name.
func (s *scope) isPackage(n *node) bool {
	if s.unit.lang != langGo || n.op != opName || !strings.Contains(n.text, "/") {
		return false
	}
	_, at := s.lookup(n.text)
	return at == nil
}

// goField is a name of another package of the source, by its import path.
func (r *runner) goField(n *node, s *scope) value {
	pkg := n.kids[0].text
	r.steps += len(r.packages) / 5
	var found []value
	for dir, vars := range r.packages {
		if dir != "" && (pkg == dir || strings.HasSuffix(pkg, "/"+lastFolder(dir))) && dir != s.unit.dir {
			if v, ok := vars[n.text]; ok {
				found = append(found, v)
			}
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return unknownBecause("%s at %s:%d is not known", n.text, s.unit.path, n.line)
}

func lastFolder(dir string) string { return dir[strings.LastIndexByte(dir, '/')+1:] }

// field is an entry of a value.
func (r *runner) field(x value, key string, s *scope, line int) value {
	switch x.kind {
	case environ:
		return r.env(key, s, line)
	case modules:
		r.load(x.unit)
		if v, ok := x.unit.top.vars[key]; ok {
			return v
		}
		if x.unit.exports.kind == tables {
			return r.field(x.unit.exports, key, s, line)
		}
	case tables:
		if v, ok := x.table.fields[key]; ok {
			return v
		}
		if x.table.typ == "" && len(x.table.keys) > 0 {
			return value{kind: null}
		}
		if x.table.typ != "" && s.unit.lang == langGo {
			return value{kind: texts, why: []string{"the field " + key + ", which the source does not set"}} // Go's zero value
		}
	case lists:
		if key == "first" && len(x.list) > 0 {
			return x.list[0]
		}
	}
	if len(x.why) > 0 {
		return value{kind: unknown, why: x.why}
	}
	return unknownBecause("%s at %s:%d is not known", key, s.unit.path, line)
}

func (r *runner) index(n *node, s *scope) value {
	x, k := r.eval(n.kids[0], s), r.eval(n.kids[1], s)
	if k.kind != texts {
		return value{kind: unknown, why: k.why}
	}
	if x.kind == lists {
		if len(k.text) == 1 && k.text[0] >= '0' && int(k.text[0]-'0') < len(x.list) {
			return x.list[k.text[0]-'0']
		}
		return value{kind: unknown}
	}
	v := r.field(x, k.text, s, n.line)
	if v.kind == unknown && r.isValue(k.text) { // the reason would name it
		v = unknownBecause("an entry at %s:%d", s.unit.path, n.line)
	}
	return v
}

// env looks a variable up: the first environment that has it.
func (r *runner) env(name string, s *scope, line int) value {
	for i, l := range r.layers {
		if v, ok := l.Values[name]; ok {
			return value{kind: texts, text: v, from: []span{{Origin{Layer: i, Name: name}, len(v)}}}
		}
	}
	if r.isValue(name) {
		name = "whose name is in another variable"
	}
	return value{kind: null, why: []string{"the variable " + name + ", which is not set where iikanji can read it"}}
}

// isValue reports whether a text is the value of a variable, which may be a secret.
func (r *runner) isValue(text string) bool {
	r.steps += 20
	for _, l := range r.layers {
		for _, v := range l.Values {
			if v == text {
				return true
			}
		}
	}
	return false
}

func (r *runner) makeTable(n *node, s *scope) value {
	t := newTable(n.text, Origin{Layer: -1, Path: s.unit.path, Line: n.line})
	v := value{kind: tables, table: t}
	if n.text != "" {
		r.tagged(t, n.text, "", false, s, 0)
	}
	if isConfig(n.text) {
		r.configs = append(r.configs, t)
	}
	for _, k := range n.kids {
		switch k.op {
		case opSpread:
			if from := r.eval(k.kids[0], s); from.kind == tables {
				for _, key := range from.table.keys {
					t.set(key, from.table.fields[key])
				}
			}
		case opPair:
			key := k.text
			if len(k.kids) > 1 {
				kv := r.eval(k.kids[1], s)
				if key = kv.text; kv.kind != texts {
					r.eval(k.kids[0], s)
					continue
				}
			}
			t.set(key, r.eval(k.kids[0], s))
		default:
			r.eval(k, s)
		}
	}
	return v
}

// An argument is an argument of a call: its name is "" for a positional one.
type argument struct {
	name  string
	value value
	node  *node
}

func (r *runner) arguments(list []*node, s *scope) []argument {
	var out []argument
	for _, n := range list {
		switch {
		case len(out) >= maxItems:
			return out
		case n.op == opPair && len(n.kids) == 1:
			out = append(out, argument{n.text, r.eval(n.kids[0], s), n.kids[0]})
		case n.op == opSpread:
			v := r.eval(n.kids[0], s)
			if v.kind == tables {
				for _, key := range v.table.keys {
					out = append(out, argument{key, v.table.fields[key], n})
				}
			} else {
				for _, e := range v.list {
					out = append(out, argument{"", e, n})
				}
			}
		default:
			out = append(out, argument{"", r.eval(n, s), n})
		}
	}
	return out
}

// evalCall evaluates a call: of a known function, of a function of the source, or of
// one that is not known.
func (r *runner) evalCall(n *node, s *scope) value {
	callee := n.kids[0]
	var x value // the receiver is evaluated once, or chains of calls would take long
	if callee.op == opField && !s.isPackage(callee.kids[0]) {
		x = r.eval(callee.kids[0], s)
	}
	args := r.arguments(n.kids[1:], s)
	if v, ok := r.builtin(callee, x, args, s, n.line); ok {
		return v
	}
	var f *function
	var self *table
	switch callee.op {
	case opName:
		v, at := s.lookup(callee.text)
		if at == nil {
			v = r.elsewhere(callee.text, s, n.line)
		}
		f = v.fn
		if v.kind == tables { // an instance of a class
			if made := r.constructors[v.table.unit]; made != nil {
				r.callWith(made, args, nil)
			}
			return v
		} else if at == nil && f == nil {
			f = r.byName(callee.text, s)
		}
	case opField:
		f, self = r.methodOf(callee, x, s)
	default:
		f = r.eval(callee, s).fn
	}
	if f != nil {
		r.connect(callee, args, s, n.line) // a function of the source may have such a name
		for _, a := range args {
			r.runFunction(a.value)
		}
		return r.callWith(f, args, self)
	}
	for _, a := range args {
		r.runFunction(a.value)
	}
	if v, ok := r.connect(callee, args, s, n.line); ok {
		return v
	}
	return unknownBecause("the result of %s at %s:%d", calleeName(callee), s.unit.path, n.line)
}

// calleeName is the name of what is called, for people and for the lists of names.
func calleeName(n *node) string {
	p := n.path()
	if n.op == opCall && n.kids[0].path() == "require" && len(n.kids) > 1 { // require("knex")({…})
		p = n.kids[1].text
	}
	if p == "" {
		p = n.last()
	}
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		p = p[i+1:]
	}
	if p == "" {
		p = "a function"
	}
	return p
}

// byName is a function of another file in languages whose functions need no import.
func (r *runner) byName(name string, s *scope) *function {
	if named := r.functions[name]; len(named) > 0 && (s.unit.lang == langRuby || s.unit.lang == langPHP) {
		return named[0]
	}
	return nil
}

// runFunction runs a function that was given to an unknown one.
func (r *runner) runFunction(v value) {
	if v.kind == funcs && !v.fn.called {
		r.call(v.fn, nil)
	}
}

// methodOf is the function that a field of something is: of a module, of a type, or the
// only one of that name.
func (r *runner) methodOf(callee *node, x value, s *scope) (*function, *table) {
	if s.isPackage(callee.kids[0]) {
		return r.goField(callee, s).fn, nil
	}
	if v, ok := r.method(x, callee.text, s); ok {
		return v.fn, x.table
	}
	if v := r.field(x, callee.text, s, callee.line); v.kind == funcs {
		return v.fn, x.table
	}
	return nil, x.table
}

// method is a method of the type of a value, or the only function of that name if the
// type is not known.
func (r *runner) method(x value, name string, s *scope) (value, bool) {
	all := r.functions[name]
	if x.kind == tables && x.table.typ != "" {
		if f := r.methods[x.table.typ+"."+name]; f != nil {
			return value{kind: funcs, fn: f}, true
		}
	}
	if s.unit.lang != langGo && len(all) == 1 && all[0].scope.unit.lang == s.unit.lang && (x.kind == unknown || x.kind == tables) {
		return value{kind: funcs, fn: all[0]}, true
	}
	return value{}, false
}

// callWith calls a function of the source with arguments.
func (r *runner) callWith(f *function, args []argument, self *table) value {
	given := map[string]value{}
	params := f.node.params
	if f.scope.unit.lang == langPython && len(params) > 0 && (params[0].name == "self" || params[0].name == "cls") {
		params = params[1:]
	}
	if len(f.node.kids) > 1 { // Go's receiver
		params = params[1:]
	}
	var names *table
	i := 0
	for _, a := range args {
		switch {
		case a.name != "":
			given[a.name] = a.value
			if names == nil {
				names = newTable("", Origin{})
			}
			names.set(a.name, a.value)
		case i < len(params):
			given[params[i].name] = a.value
			i++
		}
	}
	if names != nil && i < len(params) && (params[i].rest || !slices.ContainsFunc(params, func(p param) bool { _, ok := names.fields[p.name]; return ok })) {
		given[params[i].name] = value{kind: tables, table: names}
	}
	if len(f.node.kids) > 1 && self != nil { // Go's receiver
		given[f.node.kids[1].text] = value{kind: tables, table: self}
	}
	return r.call(f, given)
}

// call runs a function. Parameters that are not given have their defaults.
func (r *runner) call(f *function, given map[string]value) value {
	if r.depth >= maxDepth-3*callDepth || r.steps > r.until {
		return value{kind: unknown}
	}
	f.called = true
	c := &call{}
	s := &scope{vars: map[string]value{}, up: f.scope, unit: f.scope.unit, call: c}
	r.depth += callDepth
	defer func() { r.depth -= callDepth }()
	wasUnsure := r.unsure
	r.unsure = 0
	defer func() { r.unsure = wasUnsure }()
	for _, p := range f.node.params {
		v, ok := given[p.name]
		if !ok && p.value != nil {
			v, ok = r.eval(p.value, s), true
		}
		if !ok && (p.name == "self" || p.name == "cls") && s.unit.lang == langPython {
			v, ok = r.variable(name("this", f.node.line), s), true
		}
		if !ok {
			v = unknownBecause("the parameter %s at %s:%d", p.name, s.unit.path, f.node.line)
		}
		if p.name != "" {
			s.vars[p.name] = v
		}
	}
	r.hoist(f.node.body, s)
	r.block(f.node.body, s)
	return c.value(s.unit.lang == langRuby)
}

// value is the result of a call.
func (c *call) value(lastCounts bool) value {
	out := c.result
	switch {
	case !c.done && lastCounts:
		out = c.last
	case !c.done:
		out = value{kind: null}
		if len(c.maybe) > 0 {
			return c.maybe[0]
		}
	}
	for _, m := range c.maybe {
		if out.kind == texts && m.kind == unknown && len(m.why) > 0 {
			return m
		}
		if same, known := equal(out, m); known && !same && m.kind == texts {
			return value{kind: unknown, why: []string{"a function returns one of several texts"}}
		}
	}
	return out
}
