package goapp

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// call evaluates a call.
func (fr *frame) call(c *ast.CallExpr) []settings.Value {
	one := func(v settings.Value) []settings.Value { return []settings.Value{v} }
	var args []settings.Value
	if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "new" && len(c.Args) == 1 {
		return one(fr.zero(c.Args[0], 1))
	}
	for i, a := range c.Args {
		if len(c.Args) == 1 {
			args = fr.many(a)
			break
		}
		if v := fr.expr(a); c.Ellipsis.IsValid() && i == len(c.Args)-1 && v.Kind == settings.Structure {
			for _, key := range v.Table.Keys {
				args = append(args, v.Table.Fields[key])
			}
		} else {
			args = append(args, v)
		}
	}
	p, name := fr.selector(c.Fun)
	fr.opened(p, name, args, c.Pos())
	if out, ok := fr.library(p, name, args, c); ok {
		return out
	}
	switch fun := c.Fun.(type) {
	case *ast.Ident:
		if lit := fr.lits[fun.Name]; lit != nil {
			return fr.e.run(lit, settings.Value{}, args)
		}
		if fn := fr.file.pkg.funcs[fun.Name]; fn != nil {
			return fr.e.run(fn, settings.Value{}, args)
		}
		if slices.Contains([]string{"string", "int", "uint16", "int64", "any"}, fun.Name) && len(args) == 1 {
			return one(args[0])
		}
		if fun.Name == "len" && len(args) == 1 && (args[0].Kind == settings.Text || args[0].Kind == settings.Null) {
			return one(settings.Literal(strconv.Itoa(len(args[0].Text))))
		}
	case *ast.SelectorExpr:
		if local := fr.e.local(p); p != "" && local != nil && local.funcs[name] != nil {
			return fr.e.run(local.funcs[name], settings.Value{}, args)
		}
		if p == "" {
			return fr.method(fun, args, c)
		}
	case *ast.FuncLit:
		return fr.e.run(&function{file: fr.file, typ: fun.Type, body: fun.Body, vars: fr.vars}, settings.Value{}, args)
	}
	return fr.unknown(c)
}

func (fr *frame) unknown(c *ast.CallExpr) []settings.Value {
	name := "a function"
	switch fun := c.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		if id, ok := fun.X.(*ast.Ident); ok {
			name = id.Name + "." + name
		}
	}
	return []settings.Value{settings.Because("the result of %s at %s", name, fr.where(c.Pos()))}
}

// method evaluates the call of a method.
func (fr *frame) method(fun *ast.SelectorExpr, args []settings.Value, c *ast.CallExpr) []settings.Value {
	recv := fr.expr(fun.X)
	if fun.Sel.Name == "FormatDSN" && recv.Kind == settings.Structure {
		return []settings.Value{recv} // its configuration is a connection
	}
	if fr.e.viper.used {
		if v, ok := fr.viperCall(fun.Sel.Name, args, c.Pos()); ok {
			return []settings.Value{v}
		}
	}
	if recv.Kind == settings.Structure {
		typ := fr.e.types[recv.Table]
		if i := strings.LastIndexByte(typ, '.'); i > 0 && fr.e.packages[typ[:i]] != nil {
			if fn := fr.e.packages[typ[:i]].funcs[typ[i+1:]+"."+fun.Sel.Name]; fn != nil {
				return fr.e.run(fn, recv, args)
			}
		}
	}
	return fr.unknown(c)
}

// library evaluates functions of the standard library, of the driver, and of libraries
// that read settings.
func (fr *frame) library(p, name string, args []settings.Value, c *ast.CallExpr) (out []settings.Value, ok bool) {
	one := func(v settings.Value) ([]settings.Value, bool) { return []settings.Value{v}, true }
	arg := func(i int) settings.Value {
		if i < len(args) {
			return args[i]
		}
		return settings.Value{}
	}
	switch p + "." + name {
	case "os.Getenv":
		if arg(0).Kind == settings.Text {
			return one(fr.e.env.Get(args[0].Text))
		}
	case "os.LookupEnv":
		if arg(0).Kind == settings.Text {
			v := fr.e.env.Get(args[0].Text)
			return []settings.Value{v, boolean(v.Kind == settings.Text)}, true
		}
	case "cmp.Or":
		v := null
		for _, a := range args {
			v = v.Or(a, true)
		}
		return one(v)
	case "fmt.Sprintf":
		if len(args) > 0 && args[0].Kind == settings.Text {
			return one(settings.Format(args[0], args[1:]))
		}
	case "fmt.Sprint":
		return one(settings.Join(args...))
	case "net.JoinHostPort":
		return one(settings.Join(arg(0), settings.Literal(":"), arg(1)))
	case "strconv.Atoi", "strconv.ParseInt", "strconv.ParseUint":
		return []settings.Value{arg(0), null}, true
	case "strconv.Itoa", "strconv.FormatInt", "strings.TrimSpace", "strings.ToLower":
		return one(arg(0))
	case "strings.Join":
		if arg(0).Kind == settings.Structure {
			var parts []settings.Value
			for i, key := range args[0].Table.Keys {
				if i > 0 {
					parts = append(parts, arg(1))
				}
				parts = append(parts, args[0].Table.Fields[key])
			}
			return one(settings.Join(parts...))
		}
	case mysqlDriver + ".NewConfig":
		return one(fr.config(c.Pos()))
	case mysqlDriver + ".ParseDSN":
		return []settings.Value{fr.parsed(arg(0), c.Pos()), null}, true
	}
	if strings.Contains(p, "/viper") {
		v, ok := fr.viperCall(name, args, c.Pos())
		return []settings.Value{v}, ok
	}
	return fr.readsEnvironment(p, name, args)
}

// readsEnvironment fills the structs that a library reads from the environment.
func (fr *frame) readsEnvironment(p, name string, args []settings.Value) ([]settings.Value, bool) {
	if !strings.Contains(p, "/") || !strings.Contains(p, "env") || fr.e.local(p) != nil ||
		!slices.Contains([]string{"Process", "MustProcess", "Parse", "MustParse", "ParseWithOptions", "ReadEnv", "ReadConfig", "UnmarshalFromEnviron"}, name) {
		return nil, false
	}
	prefix, filled := "", false
	if strings.Contains(p, "kelseyhightower/envconfig") && len(args) > 0 && args[0].Text != "" {
		prefix = strings.ToUpper(args[0].Text) + "_"
	}
	for _, a := range args {
		typ := ""
		if a.Kind == settings.Structure {
			typ = fr.e.types[a.Table]
		}
		if i := strings.LastIndexByte(typ, '.'); i > 0 {
			fr.filled(a, fr.e.packages[typ[:i]].types[typ[i+1:]], prefix, 0)
			filled = true
		}
	}
	return []settings.Value{null}, filled
}
