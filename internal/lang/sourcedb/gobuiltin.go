package sourcedb

import (
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const driver = "github.com/go-sql-driver/mysql"

// isConfig reports whether a type is the driver's configuration.
func isConfig(typ string) bool { return typ == driver+".Config" }

// goBuiltin evaluates functions of Go's standard library, of the driver, and of
// libraries that read settings.
func (r *runner) goBuiltin(callee *node, x value, args []argument, s *scope, line int) (value, bool) {
	first := arg(args, 0)
	p := callee.path()
	switch p {
	case "cmp.Or":
		out := value{kind: texts}
		for _, a := range args {
			if out = a.value; out.kind != texts || out.text != "" {
				break
			}
		}
		return out, true
	case "fmt.Sprint":
		var parts []value
		for _, a := range args {
			parts = append(parts, a.value)
		}
		return joined(parts...), true
	case "net.JoinHostPort":
		host := first
		if host.kind == texts && strings.Contains(host.text, ":") {
			host.text = "[" + host.text + "]"
		}
		return joined(host, value{kind: texts, text: ":"}, arg(args, 1)), true
	case "strconv.Atoi", "strconv.ParseInt", "strconv.ParseUint":
		return value{kind: lists, list: []value{first, {kind: null}}}, true
	case "strconv.FormatInt", "strings.TrimSpace", "strings.ToLower":
		return first, true
	case "strings.Join":
		if second := arg(args, 1); first.kind == lists && second.kind == texts {
			return joinedBy(first.list, second), true
		}
	case "len":
		if first.kind == texts {
			return value{kind: texts, text: strconv.Itoa(len(first.text))}, true
		}
	case "new":
		if len(args) == 1 && args[0].node.last() != "" {
			return r.makeTable(&node{op: opTable, text: typeName(args[0].node), line: line}, s), true
		}
	case driver + ".NewConfig":
		return r.makeTable(&node{op: opTable, text: driver + ".Config", line: line}, s), true
	case driver + ".ParseDSN":
		return value{kind: lists, list: []value{r.parsed(first, s, line), {kind: null}}}, true
	case driver + ".NewConnector":
		return value{kind: lists, list: []value{{}, {kind: null}}}, true
	}
	if callee.op == opField && callee.text == "FormatDSN" {
		if x.kind == tables {
			return value{kind: unknown, dsnOf: x.table}, true
		}
	}
	if strings.Contains(p, "/viper.") || r.settings.used && callee.op == opField && strings.HasPrefix(callee.text, "Get") {
		return r.viper(callee.text, args, s, line)
	}
	if r.fills(p, args, s) {
		return value{kind: null}, true
	}
	return value{}, false
}

// typeName is a type in the spelling of tables: the import path and the name.
func typeName(n *node) string {
	if n.op == opField {
		return n.kids[0].text + "." + n.text
	}
	return n.text
}

// parsed is the configuration that a DSN has the form of.
func (r *runner) parsed(v value, s *scope, line int) value {
	out := r.makeTable(&node{op: opTable, text: driver + ".Config", line: line}, s)
	f := r.split(v)
	if f == nil {
		why := value{kind: unknown, why: append([]string{"a DSN"}, v.why...)}
		f = fields{"user": why, "password": why, "host": why, "port": why, "schema": why}
	}
	for field, key := range map[string]string{"User": "user", "Passwd": "password", "DBName": "schema"} {
		out.table.set(field, f.part(key))
	}
	if f.part("socket").kind != null {
		out.table.set("Net", value{kind: texts, text: "unix"})
		out.table.set("Addr", f.part("socket"))
	} else {
		out.table.set("Addr", joined(f.part("host"), value{kind: texts, text: ":"}, f.part("port")))
	}
	return out
}

// fills sets the fields of structs that a library reads from the environment, as in
// envconfig.Process("", &config) and env.Parse(&config).
func (r *runner) fills(p string, args []argument, s *scope) bool {
	pkg, fn := p, ""
	if i := strings.LastIndexByte(p, '.'); i >= 0 {
		pkg, fn = p[:i], p[i+1:]
	}
	if !strings.Contains(pkg, "/") || !strings.Contains(pkg, "env") {
		return false
	}
	prefix, filled := "", false
	if strings.Contains(pkg, "kelseyhightower/envconfig") && arg(args, 0).kind == texts {
		prefix = arg(args, 0).text
	}
	if !slices.Contains([]string{"Process", "MustProcess", "Parse", "MustParse", "ParseWithOptions", "ReadEnv", "ReadConfig", "UnmarshalFromEnviron"}, fn) {
		return false
	}
	for _, a := range args {
		if a.value.kind == tables && a.value.table.typ != "" {
			if prefix != "" {
				prefix = strings.ToUpper(prefix) + "_"
			}
			r.tagged(a.value.table, a.value.table.typ, prefix, true, s, 0)
			filled = true
		}
	}
	return filled
}

// tagged makes the fields of a struct that are structs themselves; with fill it sets
// the others by their tags.
func (r *runner) tagged(t *table, typ, prefix string, fill bool, s *scope, depth int) {
	def := r.structs[typ]
	if r.steps += 100; def == nil || depth > 4 || r.steps > r.until {
		return
	}
	for _, f := range def.kids {
		tag := reflect.StructTag(f.kids[0].text)
		if r.structs[f.kids[0].kids[0].text] != nil {
			inner := t.fields[f.text]
			if inner.kind != tables {
				inner = value{kind: tables, table: newTable(f.kids[0].kids[0].text, t.origin)}
				t.set(f.text, inner)
			}
			if tag.Get("envconfig") != "" && prefix != "" {
				r.tagged(inner.table, inner.table.typ, prefix+tag.Get("envconfig")+"_", fill, s, depth+1)
			} else {
				r.tagged(inner.table, inner.table.typ, prefix+tag.Get("envPrefix")+tag.Get("env-prefix"), fill, s, depth+1)
			}
			continue
		}
		if v, ok := r.byTag(tag, f, prefix, s); ok && fill {
			t.set(f.text, v)
		}
	}
}

// byTag is the value of a field by its tags.
func (r *runner) byTag(tag reflect.StructTag, f *node, prefix string, s *scope) (value, bool) {
	spec := tag.Get("envconfig")
	if spec == "" {
		spec = tag.Get("env")
	}
	key, options, _ := strings.Cut(spec, ",")
	if key == "" && prefix != "" {
		key = strings.ToUpper(f.text)
	}
	if key == "" || key == "-" {
		return value{}, false
	}
	v := r.env(prefix+key, s, f.line)
	if v.kind == null && tag.Get("envconfig") != "" {
		if plain := r.env(key, s, f.line); plain.kind == texts {
			v = plain
		}
	}
	if v.kind != null {
		return v, true
	}
	at := Origin{Path: s.unit.path, Line: f.line}
	for _, name := range []string{"default", "envDefault", "env-default"} {
		if d, ok := tag.Lookup(name); ok {
			return literal(d, at), true
		}
	}
	for o := range strings.SplitSeq(options, ",") {
		if d, ok := strings.CutPrefix(strings.TrimSpace(o), "default="); ok {
			return literal(d, at), true
		}
	}
	return emptyIfUnset(v), true
}

// settings are those of viper: one for the whole source.
type settings struct {
	used, automatic bool
	prefix          string
	defaults, names map[string]value
}

// viper evaluates a call of viper's package or of a value that it made.
func (r *runner) viper(method string, args []argument, s *scope, line int) (value, bool) {
	v := &r.settings
	if !v.used {
		*v = settings{used: true, defaults: map[string]value{}, names: map[string]value{}}
	}
	key := arg(args, 0)
	if key.kind != texts && method != "AutomaticEnv" {
		return value{}, false
	}
	id := strings.ToLower(key.text)
	switch method {
	case "SetDefault", "Set":
		v.defaults[id] = arg(args, 1)
	case "SetEnvPrefix":
		v.prefix = strings.ToUpper(key.text) + "_"
	case "AutomaticEnv":
		v.automatic = true
	case "BindEnv":
		name := arg(args, 1)
		if name.kind != texts {
			name = value{kind: texts, text: v.prefix + plainKey(id)}
		}
		v.names[id] = name
	case "GetString", "GetInt", "Get", "GetUint16", "GetUint":
		name, bound := v.names[id]
		if !bound && v.automatic {
			name, bound = value{kind: texts, text: v.prefix + plainKey(id)}, true
		}
		if bound {
			if e := r.env(name.text, s, line); e.kind == texts && e.text != "" {
				return e, true
			}
		}
		if d, ok := v.defaults[id]; ok {
			return d, true
		}
		return unknownBecause("the setting at %s:%d", s.unit.path, line), true
	default:
		return value{}, false
	}
	return value{kind: null}, true
}

// plainKey is the variable of a key of viper.
func plainKey(key string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// hostPort splits an address into host and port. Without a port, port is "".
func hostPort(address string) (host, port string) {
	if h, p, err := net.SplitHostPort(address); err == nil {
		return h, p
	}
	return strings.Trim(address, "[]"), ""
}
