package sourcedb

import (
	"net/url"
	"slices"
	"strings"
)

// builtin evaluates a call of a function that iikanji knows; x is what a method is of.
func (r *runner) builtin(callee *node, x value, args []argument, s *scope, line int) (value, bool) {
	if v, ok := r.readsVariable(callee, args, s, line); ok {
		return v, true
	}
	if s.unit.lang == langGo {
		if v, ok := r.goBuiltin(callee, x, args, s, line); ok {
			return v, true
		}
	}
	if v, ok := r.plainFunction(callee, args, s); ok {
		return v, true
	}
	if callee.op == opField {
		if v, ok := r.plainMethod(x, callee.text); ok {
			return v, true
		}
		return r.methodWith(x, callee.text, args, s, line)
	}
	return value{}, false
}

// arg is a positional argument.
func arg(args []argument, i int) value {
	for _, a := range args {
		if a.name == "" {
			if i == 0 {
				return a.value
			}
			i--
		}
	}
	return value{}
}

// named is an argument by one of its names; null without one.
func named(args []argument, names ...string) value {
	for _, a := range args {
		if slices.Contains(names, a.name) {
			return a.value
		}
	}
	return value{kind: null}
}

// helpers are functions of libraries that return a variable of the environment or a
// default, by their last names in lower case.
var helpers = []string{"env", "getenv", "get_env", "config", "envor", "env_or", "getenvor", "getenvdefault", "getenvordefault", "getenvwithdefault", "envordefault", "env_or_default", "envdefault", "mustgetenv", "mustenv"}

// readsVariable evaluates a call that reads a variable of the environment.
func (r *runner) readsVariable(callee *node, args []argument, s *scope, line int) (value, bool) {
	key := arg(args, 0)
	if key.kind != texts || !isVariable(key.text) {
		return value{}, false
	}
	switch p := s.unit.aliased(callee.path()); p {
	case "os.Getenv", "syscall.Getenv":
		return emptyIfUnset(r.env(key.text, s, line)), true
	case "os.LookupEnv":
		v := r.env(key.text, s, line)
		return value{kind: lists, list: []value{emptyIfUnset(v), boolOf(v.kind == texts)}}, true
	case "os.getenv", "getenv", "Deno.env.get":
		return r.withDefault(r.env(key.text, s, line), args, s), true
	}
	// A function of the source itself is evaluated in place of a guess by its name.
	_, at := s.lookup(callee.last())
	known := callee.op == opName && at != nil || len(r.functions[callee.last()]) > 0
	isHelper := slices.Contains(helpers, strings.ToLower(callee.last())) ||
		callee.op == opField && slices.Contains(helpers, strings.ToLower(callee.kids[0].last())) && slices.Contains([]string{"str", "string", "String", "int", "Int", "get", "Get", "default"}, callee.text)
	if known || !isHelper {
		return value{}, false
	}
	return r.withDefault(r.env(key.text, s, line), args, s), true
}

// isVariable reports whether a text has the usual form of a variable's name.
func isVariable(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// withDefault is a variable's value or the default in a call: its second argument, one
// of name default, or what the block of the call returns.
func (r *runner) withDefault(v value, args []argument, s *scope) value {
	if v.kind != null {
		return v
	}
	for i, a := range args {
		if i > 0 && a.name == "" || a.name == "default" {
			if a.value.kind == funcs {
				return r.call(a.value.fn, nil)
			}
			return a.value
		}
	}
	return v
}

// emptyIfUnset is what os.Getenv returns.
func emptyIfUnset(v value) value {
	if v.kind == null {
		return value{kind: texts, why: v.why}
	}
	return v
}

// plainFunction evaluates functions that are named alike in several languages.
func (r *runner) plainFunction(callee *node, args []argument, s *scope) (value, bool) {
	first := arg(args, 0)
	switch p := callee.path(); p {
	case "str", "int", "String", "Number", "parseInt", "Integer", "intval", "strval", "string", "float", "Array", "Object.freeze", "trim", "urldecode", "int64", "uint16", "strconv.Itoa":
		if first.kind == texts || first.kind == boolean || first.kind == tables || first.kind == null && len(first.why) > 0 {
			return first, true
		}
		return value{kind: unknown, why: first.why}, len(args) > 0
	case "dict", "array", "Hash":
		t := newTable("", Origin{})
		for _, a := range args {
			if a.name != "" {
				t.set(a.name, a.value)
			}
		}
		return value{kind: tables, table: t}, true
	case "urllib.parse.quote_plus", "quote_plus", "urllib.parse.quote", "encodeURIComponent", "urlencode", "rawurlencode", "CGI.escape", "URI.encode_www_form_component", "net/url.QueryEscape", "net/url.PathEscape", "parse.quote_plus":
		if first.kind == texts {
			first.text = strings.ReplaceAll(url.QueryEscape(first.text), "+", "%20")
		}
		return first, true
	case "sprintf", "format", "fmt.Sprintf", "util.format", "Kernel.format":
		var rest []value
		for i := 1; i < len(args); i++ {
			rest = append(rest, args[i].value)
		}
		return formatted(first, rest, nil), true
	case "vsprintf":
		return formatted(first, arg(args, 1).list, nil), true
	case "require", "require_once", "include", "import":
		if m := r.module(first.text, s.unit); m != nil && first.kind == texts && s.unit.lang != langPython {
			return r.exported(m), true
		}
		return value{kind: unknown}, true
	case "define", "const":
		if s.unit.lang == langPHP && first.kind == texts && len(args) > 1 {
			s.unit.top.vars[first.text] = arg(args, 1)
			return boolOf(true), true
		}
	case "Object.assign", "array_merge":
		return mergedTables(args), true
	}
	return value{}, false
}

func mergedTables(args []argument) value {
	t := newTable("", Origin{})
	for _, a := range args {
		switch {
		case a.value.kind == tables:
			for _, key := range a.value.table.keys {
				t.set(key, a.value.table.fields[key])
			}
		case a.value.kind == unknown && a.name == "" && len(a.value.why) > 0: // it may replace what is there
			for _, key := range t.keys {
				t.fields[key] = value{kind: unknown, why: a.value.why}
			}
		}
	}
	return value{kind: tables, table: t}
}

// plainMethod evaluates a method without arguments of a text or a table.
func (r *runner) plainMethod(x value, method string) (value, bool) {
	switch method {
	case "to_s", "toString", "strip", "trim", "to_sym", "chomp", "freeze", "dup", "to_h", "symbolize_keys", "with_indifferent_access", "deep_symbolize_keys", "compact", "String", "decode", "strip_heredoc":
		if x.kind == texts && (method == "strip" || method == "trim" || method == "chomp") {
			x.text = strings.TrimSpace(x.text)
		}
		return x, x.kind == texts || x.kind == tables || x.kind == null && len(x.why) > 0
	case "to_i", "Integer":
		return x, x.kind == texts || x.kind == null && len(x.why) > 0
	case "presence":
		if yes, known := x.truth(); known && !yes {
			return value{kind: null, why: x.why}, true
		}
		return x, x.kind == texts
	case "nil?", "blank?", "empty?":
		if yes, known := x.truth(); known {
			return boolOf(!yes), true
		}
	case "present?":
		if yes, known := x.truth(); known {
			return boolOf(yes), true
		}
	}
	return value{}, false
}

// methodWith evaluates a method with arguments of the environment, a table, a list or a
// text.
func (r *runner) methodWith(x value, method string, args []argument, s *scope, line int) (value, bool) {
	switch method {
	case "get", "fetch", "dig", "setdefault", "pop":
		if (x.kind == environ || x.kind == tables) && arg(args, 0).kind == texts {
			v := r.field(x, arg(args, 0).text, s, line)
			if x.kind == tables && v.kind == unknown {
				v = value{kind: null}
			}
			return r.withDefault(v, args, s), true
		}
	case "key?", "has_key?", "include?":
		if x.kind == environ && arg(args, 0).kind == texts {
			return boolOf(r.env(arg(args, 0).text, s, line).kind == texts), true
		}
	case "merge", "update":
		if x.kind == tables {
			t := mergedTables(append([]argument{{value: x}}, args...))
			for _, a := range args {
				if a.name != "" {
					t.table.set(a.name, a.value)
				}
			}
			return t, true
		}
	case "join":
		sep, list := arg(args, 0), x
		if x.kind == texts { // Python: ":".join([host, port])
			sep, list = x, arg(args, 0)
		}
		if list.kind == lists && sep.kind == texts {
			return joinedBy(list.list, sep), true
		}
	case "format":
		if x.kind == texts {
			return braces(x, args), true
		}
	}
	return value{}, false
}

func joinedBy(list []value, sep value) value {
	var parts []value
	for i, v := range list {
		if i > 0 {
			parts = append(parts, value{kind: texts, text: sep.text})
		}
		parts = append(parts, v)
	}
	return joined(parts...)
}

// percent is Python's and Ruby's operator % on a text; on numbers it is not known.
func (r *runner) percent(n *node, s *scope) value {
	form, with := r.eval(n.kids[0], s), r.eval(n.kids[1], s)
	switch with.kind {
	case lists:
		return formatted(form, with.list, nil)
	case tables:
		return formatted(form, nil, with.table)
	}
	return formatted(form, []value{with}, nil)
}

// formatted puts values into a format with verbs such as %s, %d, %2$s and %(name)s.
func formatted(form value, values []value, by *table) value {
	if form.kind != texts {
		return value{kind: unknown, why: form.why}
	}
	var parts []value
	next, at := 0, 0 // the next value, and what is read of the format
	for len(parts) < 200 {
		i := strings.IndexByte(form.text[at:], '%')
		if i < 0 || at+i+1 >= len(form.text) {
			break
		}
		parts = append(parts, form.slice(at, at+i))
		at += i + 1
		rest := form.text[at:]
		if rest[0] == '%' {
			parts = append(parts, form.slice(at, at+1))
			at++
			continue
		}
		v := value{kind: unknown}
		if end := strings.IndexAny(rest, ")}>"); by != nil && strings.ContainsAny(rest[:1], "({<") && end > 0 {
			if e, ok := by.fields[rest[1:end]]; ok {
				v = e
			}
			if at += end + 1; at < len(form.text) && strings.ContainsAny(form.text[at:at+1], "sd") {
				at++
			}
			parts = append(parts, v)
			continue
		}
		j := strings.IndexFunc(rest, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' })
		if j < 0 {
			break
		}
		which := next
		if k := strings.IndexByte(rest[:j], '$'); k == 1 && rest[0] >= '1' && rest[0] <= '9' {
			which = int(rest[0] - '1')
		}
		if next++; which < len(values) {
			v = values[which]
		}
		parts = append(parts, v)
		at += j + 1
	}
	return joined(append(parts, form.slice(at, len(form.text)))...)
}

// braces is Python's method format: {} {0} {name}.
func braces(form value, args []argument) value {
	var parts []value
	next, at := 0, 0
	for len(parts) < 200 {
		rest := form.text[at:]
		i := strings.IndexByte(rest, '{')
		j := strings.IndexByte(rest, '}')
		if i < 0 || j < i {
			break
		}
		parts = append(parts, form.slice(at, at+i))
		key, _, _ := strings.Cut(rest[i+1:j], ":")
		at += j + 1
		var v value
		switch {
		case key == "":
			v = arg(args, next)
			next++
		case len(key) == 1 && key[0] >= '0' && key[0] <= '9':
			v = arg(args, int(key[0]-'0'))
		default:
			v = named(args, key)
		}
		parts = append(parts, v)
	}
	return joined(append(parts, form.slice(at, len(form.text)))...)
}
