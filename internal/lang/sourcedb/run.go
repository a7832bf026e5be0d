package sourcedb

import (
	"path"
	"strings"
)

// A unit is one file.
type unit struct {
	path    string
	lang    lang
	dir     string
	body    []*node
	top     *scope
	state   int // 0 not begun, 1 running, 2 done
	exports value
	aliases map[string]string // names of imported things that are no part of the source
}

// stem is the path of a file as other files import it.
func (u *unit) stem() string {
	own := strings.TrimPrefix(strings.TrimSuffix(u.path, path.Ext(u.path)), "/")
	return strings.TrimSuffix(strings.TrimSuffix(own, "/index"), "/__init__")
}

// aliased is a dotted name with the imported name for its first word.
func (u *unit) aliased(p string) string {
	first, rest, dotted := strings.Cut(p, ".")
	if full := u.aliases[first]; full != "" {
		first = full
	}
	if dotted {
		return first + "." + rest
	}
	return first
}

// A scope holds variables.
type scope struct {
	vars map[string]value
	up   *scope
	unit *unit
	// call is the call of a function that the scope belongs to, nil at the top.
	call *call
}

// A call is one execution of a function.
type call struct {
	done   bool
	result value
	// maybe are results of branches that may or may not be taken.
	maybe []value
	last  value // of the last expression: Ruby's result
}

// A function is a function with the variables around it.
type function struct {
	node   *node
	scope  *scope
	called bool
}

// A runner evaluates the source of one app.
type runner struct {
	units  []*unit
	layers []Layer
	steps  int
	until  int // the number of steps after which what runs now is left
	depth  int
	// unsure is the line of the outermost condition that is not known, 0 outside.
	unsure int
	// functions are the first two functions of each name, methods those of Go by type
	// and name; order has all of them.
	functions map[string][]*function
	methods   map[string]*function
	// constructors are those of files with one class.
	constructors map[*unit]*function
	order        []*function
	structs      map[string]*node
	packages     map[string]map[string]value // variables of Go's packages, by folder
	stems        map[string][]*unit          // by the last name of the stem
	settings     settings
	found        []*found
	configs      []*table
	weak         []*found
}

func (s *scope) lookup(name string) (value, *scope) {
	for at := s; at != nil; at = at.up {
		if v, ok := at.vars[name]; ok {
			return v, at
		}
	}
	return value{}, nil
}

func (s *scope) inner() *scope {
	return &scope{vars: map[string]value{}, up: s, unit: s.unit, call: s.call}
}

// run evaluates all files: first what is at their top, then every function with
// parameters that are not known.
func (r *runner) run() {
	for _, u := range r.units {
		u.top = &scope{vars: map[string]value{}, unit: u}
		if u.lang == langGo { // the files of a folder share their variables
			if r.packages[u.dir] == nil {
				r.packages[u.dir] = u.top.vars
			}
			u.top.vars = r.packages[u.dir]
		}
		r.hoist(u.body, u.top)
	}
	for _, u := range r.units {
		r.budget()
		r.load(u)
	}
	for _, u := range r.units {
		if u.lang == langGo { // once more: the order of package variables is free
			u.state = 0
			r.budget()
			r.load(u)
		}
	}
	for pass := range 3 { // Go starts with init and main; they set what others read
		for i := 0; i < len(r.order); i++ {
			f := r.order[i]
			name := f.node.text
			first := f.scope.unit.lang == langGo && (name == "init" || name == "main")
			if f.called || pass == 0 && (!first || name != "init") || pass == 1 && !first {
				continue
			}
			r.budget()
			r.call(f, nil)
		}
	}
	for _, t := range r.configs {
		r.connectConfig(t)
	}
}

// budget gives steps to the next file or function: none can use up those of all.
func (r *runner) budget() { r.until = min(r.steps+maxOwn, maxSteps) }

// hoist declares the functions and types of a list, which may be used before their
// place.
func (r *runner) hoist(body []*node, s *scope) {
	r.steps += len(body) / 4
	for _, n := range body {
		switch n.op {
		case opFunc:
			r.declare(n, s)
		case opStruct:
			if r.structs[n.text] == nil {
				r.structs[n.text] = n
			}
		}
	}
}

// maxFunctions bounds the functions of one source.
const maxFunctions = 20_000

// declare makes a function known by its name.
func (r *runner) declare(n *node, s *scope) value {
	if v := s.vars[n.text]; v.kind == funcs && v.fn.node == n {
		return v
	}
	if f := r.methods[methodOf(n)]; f != nil && f.node == n {
		return value{kind: funcs, fn: f}
	}
	f := &function{node: n, scope: s}
	v := value{kind: funcs, fn: f}
	if len(r.order) < maxFunctions {
		r.order = append(r.order, f)
		r.known(n.text, f)
		if constructs(n.text) {
			if _, ok := r.constructors[s.unit]; ok {
				f = nil
			}
			r.constructors[s.unit] = f
			f = v.fn
		}
		if key := methodOf(n); key != "" && r.methods[key] == nil {
			r.methods[key] = f
		}
	}
	if _, ok := s.vars[n.text]; !ok && n.text != "" && len(n.kids) == 0 && len(s.vars) < maxVariables { // no method
		s.vars[n.text] = v
	}
	return v
}

// known notes a function by its name. Two suffice to see that a name is not unique.
func (r *runner) known(name string, f *function) {
	if all := r.functions[name]; name != "" && len(all) < 2 {
		r.functions[name] = append(all, f)
	}
}

func constructs(name string) bool {
	return name == "constructor" || name == "__construct" || name == "__init__" || name == "initialize"
}

// methodOf is the type and the name of a method of Go, "" for another function.
func methodOf(n *node) string {
	if len(n.kids) == 0 {
		return ""
	}
	return n.kids[0].text + "." + n.text
}

// load runs the top of a file once.
func (r *runner) load(u *unit) {
	if u.state != 0 {
		return
	}
	u.state = 1
	was := r.unsure
	r.unsure = 0
	r.block(u.body, u.top)
	r.unsure = was
	u.state = 2
}

// block runs statements until one returns.
func (r *runner) block(body []*node, s *scope) {
	for _, n := range body {
		if s.call != nil && s.call.done {
			return
		}
		r.statement(n, s)
	}
}

func (r *runner) statement(n *node, s *scope) {
	if r.steps++; r.steps > r.until {
		return
	}
	switch n.op {
	case opAssign:
		r.assign(n, s)
	case opIf:
		r.branch(n, s)
	case opBlock:
		in := s
		if s.unit.lang == langGo || s.unit.lang == langJS {
			in = s.inner()
		}
		r.hoist(n.body, in)
		r.block(n.body, in)
	case opReturn:
		r.ret(n, s)
	case opImport:
		r.importNames(n, s)
	case opStruct:
	case opExport:
		s.unit.exports = r.eval(n.kids[0], s)
		r.asConfig(s.unit.exports, s.unit, n.line)
	case opFunc:
		r.declare(n, s)
	default:
		v := r.eval(n, s)
		if s.call != nil {
			s.call.last = v
		}
	}
}

// ret ends a call. Below a condition that is not known it only may end it.
func (r *runner) ret(n *node, s *scope) {
	v := value{kind: null}
	switch {
	case len(n.kids) == 1:
		v = r.eval(n.kids[0], s)
	case len(n.kids) > 1:
		v = value{kind: lists}
		for _, k := range n.kids {
			v.list = append(v.list, r.eval(k, s))
		}
	}
	if s.unit != nil && s.call == nil || s.call.done {
		if s.call == nil && s.unit.lang == langPHP {
			s.unit.exports = v
			r.asConfig(v, s.unit, n.line)
		}
		return
	}
	if r.unsure > 0 {
		s.call.maybe = append(s.call.maybe, v)
		return
	}
	s.call.done, s.call.result = true, v
}

// branch runs the part of a condition that is taken, and both if that is not known.
func (r *runner) branch(n *node, s *scope) {
	in := s
	if s.unit.lang == langGo {
		in = s.inner()
	}
	yes, known := r.eval(n.kids[0], in).truth()
	inner := func(body []*node) {
		at := in
		if s.unit.lang == langGo || s.unit.lang == langJS {
			at = in.inner()
		}
		r.hoist(body, at)
		r.block(body, at)
	}
	if known {
		if yes {
			inner(n.body)
		} else {
			inner(n.other)
		}
		return
	}
	was := r.unsure
	if was == 0 {
		r.unsure = max(n.line, 1)
	}
	// What is declared within the branches is their own, so it may be set there.
	inner(n.body)
	inner(n.other)
	r.unsure = was
}

// assign sets a variable, a field or several of them.
func (r *runner) assign(n *node, s *scope) {
	target, from := n.kids[0], n.kids[1]
	if n.text == "||=" {
		if old := r.eval(target, s); old.kind != unknown {
			if yes, known := old.truth(); known && yes {
				if s.call != nil {
					s.call.last = old
				}
				return
			}
		}
	}
	v := r.eval(from, s)
	if from.op == opFunc && from.text == "" && target.op == opName && v.fn != nil {
		r.known(target.text, v.fn)
	}
	r.weakly(v, s, n.line)
	r.put(target, v, n.text == ":=", s)
	if s.call != nil {
		s.call.last = v
	}
}

func (r *runner) put(target *node, v value, declares bool, s *scope) {
	switch target.op {
	case opList:
		for i, t := range target.kids {
			e := value{kind: unknown, why: v.why}
			switch {
			case v.kind == lists && i < len(v.list):
				e = v.list[i]
			case t.op == opName && t.text == "err":
				e = value{kind: null} // an error is not expected
			}
			r.put(t, e, declares, s)
		}
	case opTable: // const { A = 'd', B: b } = value
		for _, p := range target.kids {
			r.putEntry(p, v, declares, s)
		}
	case opName:
		r.setVariable(target, v, declares, s)
	case opField, opIndex:
		r.setField(target, v, s)
	}
}

func (r *runner) putEntry(p *node, v value, declares bool, s *scope) {
	if p.op != opPair || len(p.kids) == 0 {
		return
	}
	e := r.field(v, p.text, s, p.line)
	to := p.kids[0]
	if to.op == opAssign { // with a default
		if e.kind == null {
			e = r.eval(to.kids[1], s)
		}
		to = to.kids[0]
	}
	r.put(to, e, declares, s)
}

func (r *runner) setVariable(target *node, v value, declares bool, s *scope) {
	name := target.text
	if name == "_" || name == "" {
		return
	}
	old, at := s.lookup(name)
	switch {
	case s.unit.lang == langRuby && strings.ContainsAny(name[:1], "@$ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
		at = s.unit.top
	case declares, at == nil, s.unit.lang == langPython && at != s && at.call == nil:
		at = s
	}
	if _, ok := at.vars[name]; ok && r.unsure > 0 && !declares && !v.isTable() {
		v = merged(old, v, s.unit.path, r.unsure)
	}
	if _, ok := at.vars[name]; ok || len(at.vars) < maxVariables {
		at.vars[name] = v
	}
}

// maxVariables bounds the variables of one scope.
const maxVariables = 20_000

func (v value) isTable() bool { return v.kind == tables || v.kind == funcs || v.kind == modules }

func (r *runner) setField(target *node, v value, s *scope) {
	key := target.text
	if target.op == opIndex {
		k := r.eval(target.kids[1], s)
		if k.kind != texts {
			return
		}
		key = k.text
	}
	if p := target.path(); s.unit.lang == langJS && (p == "module.exports" || p == "exports.default") {
		s.unit.exports = v
		r.asConfig(v, s.unit, target.line)
		return
	} else if s.unit.lang == langJS && (strings.HasPrefix(p, "module.exports.") || strings.HasPrefix(p, "exports.")) {
		s.vars[key] = v
		return
	}
	x := r.eval(target.kids[0], s)
	r.configured(key, v, s, target.line)
	if x.kind != tables {
		return
	}
	if old, ok := x.table.fields[key]; r.unsure > 0 && (ok || x.table.typ != "") {
		v = merged(old, v, s.unit.path, r.unsure)
	}
	x.table.set(key, v)
}

// importNames binds the names of an import.
func (r *runner) importNames(n *node, s *scope) {
	m := r.module(n.text, s.unit)
	for _, p := range n.params {
		switch {
		case m == nil && p.original != "*" && p.original != "default" && p.original != "":
			s.unit.aliases[p.name] = n.text + "." + p.original
		case m == nil:
			s.unit.aliases[p.name] = n.text
		case p.original == "*":
			s.vars[p.name] = value{kind: modules, unit: m}
		case p.original == "default":
			s.vars[p.name] = r.exported(m)
		case p.name == "*":
			r.load(m)
			for k, v := range m.top.vars {
				s.vars[k] = v
			}
		default:
			if v := r.field(value{kind: modules, unit: m}, p.original, s, n.line); v.kind != unknown {
				s.vars[p.name] = v
			}
		}
	}
}

// exported is what a module gives to a plain require or a default import.
func (r *runner) exported(m *unit) value {
	r.load(m)
	if m.exports.kind != unknown {
		return m.exports
	}
	return value{kind: modules, unit: m}
}

// module is the file that an import names; nil for one that is not part of the source.
// The name is compared with the paths of the files that were given: it opens nothing.
func (r *runner) module(name string, from *unit) *unit {
	stem := strings.TrimLeft(name, ".")
	if from.lang == langPython {
		stem = strings.ReplaceAll(stem, ".", "/")
	} else if strings.HasPrefix(name, ".") || from.lang != langJS {
		stem = strings.TrimPrefix(path.Clean("/"+path.Join(from.dir, name)), "/")
	}
	switch path.Ext(stem) {
	case ".js", ".ts", ".cjs", ".mjs", ".rb", ".php", ".json":
		stem = strings.TrimSuffix(stem, path.Ext(stem))
	}
	if stem == "" || from.lang == langGo {
		return nil
	}
	var best *unit
	for _, u := range r.stems[path.Base(stem)] {
		own := u.stem()
		if u.lang == from.lang && u != from && (own == stem || strings.HasSuffix(own, "/"+stem)) && (best == nil || len(u.path) < len(best.path)) {
			best = u
		}
	}
	return best
}
