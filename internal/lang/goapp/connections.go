package goapp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// mysqlDriver is the package of the driver of MySQL and MariaDB.
const mysqlDriver = "github.com/go-sql-driver/mysql"

// A codeFile is a file of the app with what its imports are called.
type codeFile struct {
	path    string
	tree    *ast.File
	imports map[string]string
	pkg     *codePackage
}

// A codePackage is what the files of a folder declare.
type codePackage struct {
	dir    string
	funcs  map[string]*function // methods as "Type.Method"
	values map[string]declared  // constants and variables
	types  map[string]*structure
	now    map[string]settings.Value // of variables, while functions run
}

// A function is a declared one or a literal.
type function struct {
	file *codeFile
	typ  *ast.FuncType
	body *ast.BlockStmt
	recv string // the name of the receiver
	ran  bool
	vars map[string]settings.Value // of the function around a literal
}

type declared struct {
	file *codeFile
	expr ast.Expr
	typ  ast.Expr
}

// A structure is a struct type that is declared, or written where it is used.
type structure struct {
	file *codeFile
	typ  *ast.StructType
	name string // the folder and the name
}

// Limits of an evaluation.
const (
	maxSteps = 20_000  // of a function that nothing known calls
	maxAll   = 300_000 // of the app
	maxCalls = 12      // nested
)

// An evaluation runs the functions of an app on what is known, without I/O. Of the
// standard library it knows what reads variables, joins and formats texts. All other
// results are unknown.
type evaluation struct {
	fset     *token.FileSet
	env      settings.Environment
	packages map[string]*codePackage
	types    map[*settings.Table]string // of structs, by name
	configs  []madeConfig
	found    []settings.Connection
	viper    viperSettings
	steps    int
	begun    int // the steps with which this function began
	left     int // for it and all others
	calls    int
}

// A madeConfig is a mysql.Config that the app makes: its fields may be set later.
type madeConfig struct {
	table *settings.Table
	path  string
	line  int
}

// Connections finds the connections to databases of MySQL's family that a Go app opens,
// and evaluates how it spells them. The source needs no types: it may not build here.
func Connections(files []settings.File, layers []settings.Layer) []settings.Connection {
	e := &evaluation{fset: token.NewFileSet(), env: layers, packages: map[string]*codePackage{}, types: map[*settings.Table]string{}, left: maxAll}
	var order []*function
	for _, f := range files {
		if path.Ext(f.Path) != ".go" || settings.IsTest(f.Path) || len(f.Text) > settings.MaxFile {
			continue
		}
		tree, err := parser.ParseFile(e.fset, f.Path, f.Text, parser.SkipObjectResolution)
		if tree == nil || tree.Name == nil || err != nil && len(tree.Decls) == 0 {
			continue
		}
		order = append(order, e.declare(&codeFile{path: f.Path, tree: tree, imports: map[string]string{}})...)
	}
	slices.SortStableFunc(order, func(a, b *function) int { return isMain(b) - isMain(a) })
	for _, fn := range order {
		if !fn.ran {
			e.begin()
			e.run(fn, settings.Value{}, nil)
		}
	}
	for _, dir := range sortedKeys(e.packages) {
		for _, name := range sortedKeys(e.packages[dir].values) {
			e.begin()
			e.packages[dir].value(e, name)
		}
	}
	for _, c := range e.configs {
		if f := configFields(c.table); f != nil {
			e.found = append(e.found, f.Connection(c.path, c.line))
		}
	}
	return settings.Best(e.found)
}

// begin gives the next function steps of its own, as long as the app has some left.
func (e *evaluation) begin() {
	e.left -= max(0, e.steps-e.begun)
	e.begun = max(0, maxSteps-e.left)
	e.steps, e.calls = e.begun, 0
}

func isMain(f *function) int {
	if f.recv == "" && f.file.tree.Name.Name == "main" && f.file.pkg.funcs["main"] == f {
		return 1
	}
	return 0
}

// declare notes what a file declares and returns its functions.
func (e *evaluation) declare(f *codeFile) (out []*function) {
	dir := path.Dir(f.path)
	if e.packages[dir] == nil {
		e.packages[dir] = &codePackage{dir, map[string]*function{}, map[string]declared{}, map[string]*structure{}, map[string]settings.Value{}}
	}
	f.pkg = e.packages[dir]
	for _, spec := range f.tree.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			f.imports[ImportName(spec)] = p
		}
	}
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			fn := &function{file: f, typ: d.Type, body: d.Body}
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				typ := d.Recv.List[0].Type
				if star, ok := typ.(*ast.StarExpr); ok {
					typ = star.X
				}
				if id, ok := typ.(*ast.Ident); ok {
					name = id.Name + "." + name
				}
				fn.recv = "_"
				if len(d.Recv.List[0].Names) == 1 {
					fn.recv = d.Recv.List[0].Names[0].Name
				}
			}
			if d.Body != nil {
				f.pkg.funcs[name] = fn
				out = append(out, fn)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				f.declareSpec(spec)
			}
		}
	}
	return out
}

func (f *codeFile) declareSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if s, ok := spec.Type.(*ast.StructType); ok {
			f.pkg.types[spec.Name.Name] = &structure{f, s, f.pkg.dir + "." + spec.Name.Name}
		}
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			d := declared{file: f, typ: spec.Type}
			if len(spec.Values) == len(spec.Names) || len(spec.Values) == 1 && i == 0 {
				d.expr = spec.Values[i]
			}
			f.pkg.values[name.Name] = d
		}
	}
}

// value is what a constant or a variable of the package holds now.
func (p *codePackage) value(e *evaluation, name string) (settings.Value, bool) {
	if v, ok := p.now[name]; ok {
		return v, true
	}
	d, ok := p.values[name]
	if !ok {
		return settings.Value{}, false
	}
	p.now[name] = settings.Because("%s, which is made of itself", name)
	fr := &frame{e: e, file: d.file, vars: map[string]settings.Value{}, lits: map[string]*function{}}
	switch {
	case d.expr != nil:
		p.now[name] = fr.expr(d.expr)
	default:
		p.now[name] = fr.zero(d.typ, 0)
	}
	return p.now[name], true
}

// local is the package of the app with an import path, nil for another one.
func (e *evaluation) local(importPath string) *codePackage {
	for dir, p := range e.packages {
		if dir != "." && (importPath == dir || strings.HasSuffix(importPath, "/"+dir)) {
			return p
		}
	}
	return nil
}

// opened notes the connection that a call opens: sql.Open("mysql", dsn) and its likes,
// also of other libraries and of wrapped drivers, and the driver of an ORM.
func (fr *frame) opened(pkg, name string, args []settings.Value, pos token.Pos) {
	var dsn settings.Value
	for i, a := range args {
		if base, _, _ := strings.Cut(a.Text, ":"); a.Kind == settings.Text && (base == "mysql" || base == "nrmysql") && i+1 < len(args) {
			dsn = args[i+1]
		}
	}
	if strings.HasSuffix(pkg, "driver/mysql") && len(args) > 0 {
		switch {
		case name == "Open":
			dsn = args[0]
		case name == "New" && args[0].Kind == settings.Structure:
			dsn = args[0].Table.Fields["DSN"]
		}
	}
	if f := settings.OfText(dsn); f != nil && f.OfMySQL() {
		at := fr.e.fset.Position(pos)
		fr.e.found = append(fr.e.found, f.Connection(fr.file.path, at.Line))
	}
}

// configFields are the parts of the connection of a mysql.Config, nil for one that only
// sets something else, as in a test of the driver.
func configFields(t *settings.Table) settings.Fields {
	f := settings.Fields{"user": t.Fields["User"], "password": t.Fields["Passwd"], "schema": t.Fields["DBName"]}
	addr, set := t.Fields["Addr"]
	switch {
	case t.Fields["Net"].Text == "unix":
		f["socket"] = addr
	case !set || addr.Empty() && len(addr.Why) == 0:
		f["host"] = settings.Literal("127.0.0.1") // the driver's default
	case addr.Kind == settings.Text:
		f["host"], f["port"] = addr.HostPort()
	default:
		f["host"] = addr
	}
	if _, user := t.Fields["User"]; !user && !set {
		return nil
	}
	return f
}

// parsed is the mysql.Config of a DSN.
func (fr *frame) parsed(dsn settings.Value, pos token.Pos) settings.Value {
	v := fr.config(pos)
	f := settings.Split(dsn)
	if f == nil {
		why := settings.Value{Why: append([]string{"a DSN"}, dsn.Why...)}
		f = settings.Fields{"user": why, "password": why, "host": why, "schema": why}
	}
	v.Table.Set("User", f["user"])
	v.Table.Set("Passwd", f["password"])
	v.Table.Set("DBName", f["schema"])
	if socket, ok := f["socket"]; ok {
		v.Table.Set("Net", settings.Literal("unix"))
		v.Table.Set("Addr", socket)
	} else {
		v.Table.Set("Addr", settings.Join(f["host"], settings.Literal(":"), f["port"]))
	}
	return v
}

// config is a new mysql.Config.
func (fr *frame) config(pos token.Pos) settings.Value {
	line := fr.e.fset.Position(pos).Line
	t := settings.NewTable(line)
	if len(fr.e.configs) < 500 {
		fr.e.configs = append(fr.e.configs, madeConfig{t, fr.file.path, line})
	}
	return settings.Value{Kind: settings.Structure, Table: t}
}

// zero is the zero value of a type: of a struct a table with those of its structs.
func (fr *frame) zero(typ ast.Expr, depth int) settings.Value {
	if star, ok := typ.(*ast.StarExpr); ok && depth == 0 {
		typ = star.X
	}
	if p, name := fr.selector(typ); p == mysqlDriver && name == "Config" {
		return fr.config(typ.Pos())
	}
	s := fr.structure(typ)
	if fr.e.steps += 10; s == nil || depth > 4 || fr.e.steps > maxSteps {
		return settings.Value{Kind: settings.Null}
	}
	t := settings.NewTable(fr.e.fset.Position(typ.Pos()).Line)
	fr.e.types[t] = s.name
	inner := &frame{e: fr.e, file: s.file}
	for _, f := range s.typ.Fields.List {
		if inner.structure(f.Type) != nil {
			for _, name := range fieldNames(f) {
				t.Set(name, inner.zero(f.Type, depth+1))
			}
		}
	}
	return settings.Value{Kind: settings.Structure, Table: t}
}

func fieldNames(f *ast.Field) (out []string) {
	for _, n := range f.Names {
		out = append(out, n.Name)
	}
	if len(out) == 0 { // embedded
		switch t := f.Type.(type) {
		case *ast.Ident:
			out = append(out, t.Name)
		case *ast.SelectorExpr:
			out = append(out, t.Sel.Name)
		}
	}
	return out
}

// structure is the struct of a type, nil for another one.
func (fr *frame) structure(typ ast.Expr) *structure {
	switch t := typ.(type) {
	case *ast.StructType:
		return &structure{fr.file, t, ""}
	case *ast.Ident:
		return fr.file.pkg.types[t.Name]
	case *ast.StarExpr:
		return fr.structure(t.X)
	case *ast.SelectorExpr:
		if p, name := fr.selector(t); p != "" {
			if local := fr.e.local(p); local != nil {
				return local.types[name]
			}
		}
	}
	return nil
}

// filled sets the fields of a struct that a library reads from the environment, by their
// tags, as in envconfig.Process("", &config) and env.Parse(&config).
func (fr *frame) filled(v settings.Value, s *structure, prefix string, depth int) {
	if fr.e.steps += 10; s == nil || v.Kind != settings.Structure || depth > 4 || fr.e.steps > maxSteps {
		return
	}
	inner := &frame{e: fr.e, file: s.file}
	for _, f := range s.typ.Fields.List {
		var tag reflect.StructTag
		if f.Tag != nil {
			text, _ := strconv.Unquote(f.Tag.Value) // it was parsed
			tag = reflect.StructTag(text)
		}
		for _, name := range fieldNames(f) {
			if of := inner.structure(f.Type); of != nil {
				more := prefix + tag.Get("envPrefix") + tag.Get("env-prefix")
				if own := tag.Get("envconfig"); own != "" && prefix != "" {
					more = prefix + own + "_"
				}
				inner.filled(v.Table.Fields[name], of, more, depth+1)
			} else if is, ok := fr.tagged(tag, name, prefix); ok {
				v.Table.Set(name, is)
			}
		}
	}
}

// tagged is the value of a field by its tags.
func (fr *frame) tagged(tag reflect.StructTag, field, prefix string) (settings.Value, bool) {
	spec := tag.Get("envconfig")
	if spec == "" {
		spec = tag.Get("env")
	}
	key, options, _ := strings.Cut(spec, ",")
	if key == "" && prefix != "" {
		key = strings.ToUpper(field)
	}
	if key == "" || key == "-" {
		return settings.Value{}, false
	}
	v := fr.e.env.Get(prefix + key)
	if plain := fr.e.env.Get(key); v.Kind == settings.Null && tag.Get("envconfig") != "" && plain.Kind != settings.Null {
		v = plain
	}
	for _, name := range []string{"default", "envDefault", "env-default"} {
		if d, ok := tag.Lookup(name); ok {
			v = v.Or(settings.Literal(d), false)
		}
	}
	for o := range strings.SplitSeq(options, ",") {
		if d, ok := strings.CutPrefix(strings.TrimSpace(o), "default="); ok {
			v = v.Or(settings.Literal(d), false)
		}
	}
	return v, true
}

// viperSettings are those of viper, one for the whole source.
type viperSettings struct {
	used, automatic bool
	prefix          string
	defaults        map[string]settings.Value
	names           map[string]string
}

// viperCall evaluates a call of viper's package, or of a value that it made.
func (fr *frame) viperCall(method string, args []settings.Value, pos token.Pos) (settings.Value, bool) {
	v := &fr.e.viper
	if !v.used {
		*v = viperSettings{used: true, defaults: map[string]settings.Value{}, names: map[string]string{}}
	}
	if method == "AutomaticEnv" {
		v.automatic = true
		return settings.Value{Kind: settings.Null}, true
	}
	if len(args) == 0 || args[0].Kind != settings.Text {
		return settings.Value{}, false
	}
	id := strings.ToLower(args[0].Text)
	variable := v.prefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(id))
	switch {
	case (method == "SetDefault" || method == "Set") && len(args) > 1:
		v.defaults[id] = args[1]
	case method == "SetEnvPrefix":
		v.prefix = strings.ToUpper(id) + "_"
	case method == "BindEnv":
		if v.names[id] = variable; len(args) > 1 && args[1].Kind == settings.Text {
			v.names[id] = args[1].Text
		}
	case strings.HasPrefix(method, "Get"):
		name, bound := v.names[id]
		if !bound && v.automatic {
			name = variable
		}
		if is := fr.e.env.Get(name); is.Text != "" {
			return is, true
		}
		if d, ok := v.defaults[id]; ok {
			return d, true
		}
		return settings.Because("the setting at %s", fr.where(pos)), true
	default:
		return settings.Value{}, false
	}
	return settings.Value{Kind: settings.Null}, true
}

func (fr *frame) where(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", fr.file.path, fr.e.fset.Position(pos).Line)
}
