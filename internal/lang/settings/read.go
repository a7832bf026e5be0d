package settings

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// languages are the languages of scripts by the ends of their names.
var languages = map[string]language{".js": javaScript, ".ts": javaScript, ".mjs": javaScript, ".cjs": javaScript, ".mts": javaScript, ".cts": javaScript,
	".py": python, ".rb": ruby, ".ru": ruby, ".php": php}

// Reads reports whether a file of this name is read: settings, or a script that is no
// test.
func Reads(file string) bool {
	return (files[kindOf(file)] != nil || languages[path.Ext(file)] != none) && !IsTest(file)
}

// files read the connections of files that are no scripts.
var files = map[string]func(*reading, string, string){"yaml": (*reading).databaseYAML, "prisma": (*reading).prisma, "json": (*reading).sequelizeJSON, "toml": (*reading).settingsTOML}

func kindOf(file string) string {
	base := path.Base(file)
	switch {
	case base == "database.yml" || base == "database.yaml":
		return "yaml"
	case path.Ext(base) == ".prisma":
		return "prisma"
	case base == "config.json" && path.Base(path.Dir(file)) == "config":
		return "json"
	case isTOML(file):
		return "toml"
	}
	return ""
}

// IsTest reports whether a file is a test by its name or its folder.
func IsTest(file string) bool {
	base := strings.ToLower(path.Base(file))
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "-test", ".d"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	if strings.HasPrefix(stem, "test_") || stem == "conftest" || strings.HasSuffix(base, "test.php") || strings.HasSuffix(base, ".min.js") {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(d string) bool {
		return slices.Contains([]string{"test", "tests", "spec", "__tests__", "testdata"}, d)
	})
}

// Read finds the connections in the files of an app. The paths tell the languages, and a
// test by its name or folder is left out: they should be relative to the app's source.
func Read(list []File, layers []Layer) []Connection {
	r := &reading{env: layers}
	all := 0
	for i, f := range list {
		if all += len(f.Text); i >= MaxFiles || all > MaxAll {
			break
		}
		if len(f.Text) > MaxFile || !Reads(f.Path) {
			continue
		}
		if read := files[kindOf(f.Path)]; read != nil {
			read(r, f.Path, f.Text)
			continue
		}
		r.scripts = append(r.scripts, r.script(f.Path, f.Text, languages[path.Ext(f.Path)]))
	}
	for _, s := range r.scripts {
		r.steps = 0
		s.calls()
		r.steps = 0
		map[language]func(*script){javaScript: (*script).exported, python: (*script).pythonSettings, ruby: func(*script) {}, php: (*script).phpSettings}[s.lang](s)
	}
	return Best(r.found)
}

func (r *reading) add(f Fields, path string, line int) {
	if len(r.found) < maxFound {
		r.found = append(r.found, f.Connection(path, line))
	}
}

// script scans a script and finds its names.
func (r *reading) script(path, text string, lang language) *script {
	s := &script{path: path, lang: lang, toks: scan(text, lang, 1, false), names: map[string][]int{}, items: map[string][]int{}, aliases: map[string]string{}, busy: map[string]bool{}, all: r}
	depth := 0
	for i, n := 0, len(s.toks); i < n; i++ {
		t := s.toks[i]
		switch {
		case t.kind == 'w':
			s.imports(i)
		case t.kind != 'o':
		case t.text == "(" || t.text == "[":
			depth++
		case t.text == ")" || t.text == "]":
			depth = max(depth-1, 0)
		case (t.text == "=" || t.text == "||=" || t.text == "??=") && (depth == 0 || lang == php || lang == ruby || lang == javaScript):
			s.assigned(i, depth)
		}
	}
	return s
}

// assigned notes what is assigned at the token "=".
func (s *script) assigned(i, depth int) {
	if i == 0 {
		return
	}
	left := s.toks[i-1]
	switch {
	case left.text == "}" && s.lang == javaScript:
		s.destructured(i)
		return
	case left.text == "]" && i > 2 && s.toks[i-2].kind == 's' && len(s.toks[i-2].parts) == 1: // settings["KEY"] = …
		if key := s.toks[i-2].parts[0].text; slices.Contains(urlNames, key) {
			s.names[key] = append(s.names[key], i+1)
		} else if i > 3 && s.toks[i-4].kind == 'w' {
			s.items[s.toks[i-4].text] = append(s.items[s.toks[i-4].text], i+1)
		}
		return
	case left.kind != 'w' || depth > 0 && left.text[0] != '$' && s.lang == php:
		return
	}
	name, at := s.chain(i - 1)
	if at > 1 && s.toks[at-1].text == ":" && s.toks[at-2].kind == 'w' && (s.lang == python || s.lang == javaScript) { // name: type = …
		name = s.toks[at-2].text
	}
	for _, own := range []string{"self.", "this.", "$this.", "static.", "exports."} {
		name = strings.TrimPrefix(name, own)
	}
	s.names[name] = append(s.names[name], i+1)
	if right := s.toks[i+1:]; len(right) > 4 && right[0].text == "require" && right[2].kind == 's' && len(right[2].parts) == 1 && right[4].text != "." && right[4].text != "(" {
		s.aliases[name] = right[2].parts[0].text
	}
}

// chain is the name that ends at a token, with dots in place of all operators of fields,
// and the token where it begins.
func (s *script) chain(i int) (string, int) {
	name := s.toks[i].text
	for i > 1 && slices.Contains([]string{".", "->", "::", "?."}, s.toks[i-1].text) && s.toks[i-2].kind == 'w' && (s.lang != php || s.toks[i-1].text != ".") {
		name = s.toks[i-2].text + "." + name
		i -= 2
	}
	if of, ok := s.aliases[name]; ok {
		return of, i
	}
	if head, rest, ok := strings.Cut(name, "."); ok && s.aliases[head] != "" {
		return s.aliases[head] + "." + rest, i
	}
	return name, i
}

// An opener is a function that opens a connection.
type opener struct {
	own   bool     // always to a database of MySQL's family
	in    []string // one of them is in its whole name; none: any
	order []string // the names of its arguments by position
}

var byHost = []string{"host", "user", "password", "database", "port", "socket"}

// openers are those of each language by the last part of their names.
var openers = map[language]map[string]opener{javaScript: nodeOpeners, python: pythonOpeners, ruby: rubyOpeners, php: phpOpeners}

// calls collects what the calls of openers connect to.
func (s *script) calls() {
	for i := 0; i < len(s.toks); i++ {
		t := s.toks[i]
		if s.lang == javaScript && t.kind == 's' && len(t.parts) == 1 && i+1 < len(s.toks) && s.toks[i+1].text == ")" { // require("knex")({…})
			t = token{kind: 'w', text: t.parts[0].text, line: t.line}
			i++
		}
		o, ok := openers[s.lang][t.text]
		if t.kind != 'w' || !ok {
			continue
		}
		name, _ := s.chain(i)
		if len(o.in) > 0 && !slices.ContainsFunc(o.in, func(part string) bool { return strings.Contains(strings.ToLower(name), part) }) {
			continue
		}
		p := s.at(i+1, 0)
		if s.lang == javaScript && p.is("<") {
			p.upTo("(", "")
		}
		var args *Table
		switch {
		case p.is("("):
			args = p.arguments(")")
		case s.lang == ruby && (p.tok().kind == 'w' || p.tok().kind == 's'):
			args = s.command(p)
		default:
			continue
		}
		if f := o.fields(args); f != nil {
			s.all.add(f, s.path, t.line)
		}
	}
}

// fields are the parts of the connection that a call opens, nil for another engine.
func (o opener) fields(args *Table) Fields {
	all := NewTable(args.Line)
	for _, key := range args.Keys {
		v := args.Fields[key]
		n, err := strconv.Atoi(key)
		switch {
		case err != nil:
			all.Set(key, v)
		case v.Kind == Structure:
			all.take(v.Table)
		case n == 0 && (strings.Contains(v.Text, "://") || len(o.order) == 0 || v.Kind != Text && len(args.Keys) == 1 && !o.own):
			all.Set("url", v)
		case n < len(o.order):
			all.Set(o.order[n], v)
		}
	}
	f := Of(all)
	if u := f["url"]; u.Kind == Unknown && strings.HasPrefix(u.Text, "mysql") {
		f["engine"], f["host"] = Literal("mysql"), Value{Why: u.Why}
	}
	_, user := f["user"]
	_, schema := f["schema"]
	_, address := f["url"]
	if !f.OfMySQL() || !(o.own && (user || schema || address) || f.NamesEngine()) { // else it is no connection to a database
		return nil
	}
	if f["host"].Kind == Unknown && f["socket"].Kind == Unknown && len(f["host"].Why) == 0 && f["user"].Kind != Unknown {
		f["host"] = Literal("localhost") // what the libraries take
	}
	if host := f["host"]; strings.HasPrefix(host.Text, "p:") { // PHP's mark of a persistent connection
		f["host"] = host.slice(2, len(host.Text))
	}
	return f
}

// urlNames are the names of settings that hold the URL of the database.
var urlNames = []string{"SQLALCHEMY_DATABASE_URI", "DATABASE_URL"}

// asConfig collects what a file of settings gives to a framework: a table with an engine
// and an account, or one for each mode.
func (r *reading) asConfig(v Value, path string) {
	if v.Kind != Structure {
		return
	}
	t := v.Table
	if c := t.Fields["connections"]; c.Kind == Structure { // Laravel
		one, ok := c.Table.Fields[t.get("default").Text]
		if !ok {
			one = c.Table.Fields["mysql"]
		}
		r.asConfig(one, path)
		return
	}
	if f := Of(t); f.NamesEngine() && len(f) > 1 {
		r.add(f, path, max(t.Line, 1))
		return
	}
	if one := t.get(r.mode("NODE_ENV", "APP_ENV")); one.Kind == Structure {
		if f := Of(one.Table); f.NamesEngine() {
			r.add(f, path, max(one.Table.Line, 1))
		}
	}
}

// mode is the framework's mode by the first of the variables that is set.
func (r *reading) mode(names ...string) string {
	for _, name := range names {
		if v := r.env.Get(name); v.Text != "" {
			return v.Text
		}
	}
	return "development"
}
