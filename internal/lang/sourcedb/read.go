package sourcedb

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A File is one file of the source.
type File struct{ Path, Text string }

// A Layer is an environment: that of the process, or a file with variables. The first
// layer that has a variable decides.
type Layer struct {
	Name   string // for people
	Values map[string]string
}

// A Part is a part of a connection.
type Part struct {
	Value string
	From  []Origin
	// Missing is what is not known, for people and without secrets; nil if Value holds.
	Missing []string
}

// Variable is the variable from which the whole part comes; false for one that comes
// from several places or from the source.
func (p Part) Variable() (Origin, bool) {
	if len(p.From) == 0 || p.From[0].Layer < 0 || slices.ContainsFunc(p.From, func(o Origin) bool { return o != p.From[0] }) {
		return Origin{}, false
	}
	return p.From[0], true
}

// Literal reports whether the part is in the source as a whole.
func (p Part) Literal() bool {
	return p.Value != "" && !slices.ContainsFunc(p.From, func(o Origin) bool { return o.Layer != -1 })
}

// A Connection is a connection to a database of MySQL's family.
type Connection struct {
	Path string // of the file that opens it
	Line int
	User, Password, Host, Port, Socket,
	Schema Part
}

// Complete reports whether user and address are known.
func (c *Connection) Complete() bool {
	return c.User.Value != "" && (c.Host.Value != "" && c.Port.Value != "" || c.Socket.Value != "")
}

// Where is the place of the connection.
func (c *Connection) Where() string { return fmt.Sprintf("%s:%d", c.Path, c.Line) }

// Missing lists what is not known of user, password and address.
func (c *Connection) Missing() []string {
	var out []string
	for _, p := range []struct {
		name string
		part Part
	}{{"the user", c.User}, {"the password", c.Password}, {"the host", c.Host}, {"the port", c.Port}} {
		if p.name == "the host" && c.Socket.Value != "" {
			continue
		}
		if len(p.part.Missing) > 0 && p.part.Value == "" {
			out = append(out, p.name+" ("+strings.Join(p.part.Missing, ", ")+")")
		}
	}
	return out
}

// Variables are the names of the variables from which the connection comes.
func (c *Connection) Variables() []string {
	var out []string
	for _, p := range []Part{c.User, c.Password, c.Host, c.Port, c.Socket, c.Schema} {
		for _, o := range p.From {
			if o.Layer >= 0 && !slices.Contains(out, o.Name) {
				out = append(out, o.Name)
			}
		}
	}
	return out
}

// A lang is a language.
type lang int

const (
	langNone lang = iota
	langGo
	langJS
	langPython
	langRuby
	langPHP
	langYAML
	langPrisma
	langJSON
)

var langs = map[string]lang{".go": langGo, ".js": langJS, ".ts": langJS, ".mjs": langJS, ".cjs": langJS, ".mts": langJS, ".cts": langJS, ".py": langPython,
	".rb": langRuby, ".ru": langRuby, ".php": langPHP, ".prisma": langPrisma}

// langOf is the language of a file; langNone for one that is not read.
func langOf(file string) lang {
	base := path.Base(file)
	switch {
	case base == "database.yml" || base == "database.yaml":
		return langYAML
	case base == "config.json" && path.Base(path.Dir(file)) == "config":
		return langJSON // sequelize
	}
	return langs[path.Ext(base)]
}

// Reads reports whether a file of this name is read: source that is not a test.
func Reads(file string) bool { return langOf(file) != langNone && !isTest(file) }

// isTest reports whether a file is a test by its name or its folder.
func isTest(file string) bool {
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

// Limits of one source.
const (
	MaxFile  = 1 << 20  // length of one file
	MaxFiles = 2_000    // files
	MaxAll   = 16 << 20 // length of all files
)

// Read finds the connections in the files of an app. Those that are known come first,
// then in the order of the files and lines. The paths tell the languages, and a test by
// its name or folder is left out: they should be relative to the app's source.
func Read(files []File, layers []Layer) []Connection {
	r := &runner{layers: layers, functions: map[string][]*function{}, methods: map[string]*function{}, constructors: map[*unit]*function{}, structs: map[string]*node{}, packages: map[string]map[string]value{}, stems: map[string][]*unit{}, until: maxOwn}
	all := 0
	for _, f := range files {
		if all += len(f.Text); len(r.units) >= MaxFiles || all > MaxAll {
			break
		}
		if len(f.Text) > MaxFile || !Reads(f.Path) {
			continue
		}
		u := &unit{path: f.Path, lang: langOf(f.Path), dir: path.Dir(f.Path), aliases: map[string]string{}}
		switch u.lang {
		case langGo:
			u.body = parseGo(f.Text)
		case langJS, langPHP:
			u.body = parseBraces(f.Text, u.lang)
		case langPython:
			u.body = parsePython(f.Text)
		case langRuby:
			u.body = parseRuby(f.Text)
		default:
			r.configFile(u, f.Text)
			continue
		}
		r.units = append(r.units, u)
		r.stems[path.Base(u.stem())] = append(r.stems[path.Base(u.stem())], u)
	}
	r.run()
	for _, u := range r.units {
		r.settingsOf(u)
	}
	if len(r.found) == 0 {
		r.found = r.weak
	}
	return best(r.found)
}

// best makes connections of what was found: one for each place.
func best(all []*found) []Connection {
	var out []Connection
	for _, f := range all {
		c := f.connection()
		if !c.Complete() && len(c.Missing()) == 0 { // nothing is known of it, and nothing can be asked
			continue
		}
		i := slices.IndexFunc(out, func(o Connection) bool { return o.Path == c.Path && o.Line == c.Line })
		switch {
		case i < 0:
			out = append(out, c)
		case !out[i].Complete() && c.Complete(), out[i].Complete() == c.Complete() && len(c.Missing()) < len(out[i].Missing()):
			out[i] = c
		}
	}
	slices.SortStableFunc(out, func(a, b Connection) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	return out
}

func rank(c Connection) int {
	if c.Complete() {
		return len(c.Missing())
	}
	return 100
}

// connection is what was found as a connection.
func (f *found) connection() Connection {
	if host := f.part("host"); host.kind == texts {
		if h, port := host.address(); port.text != "" {
			f.fields["host"] = h
			if f.part("port").text == "" {
				f.fields["port"] = port
			}
		}
	}
	c := Connection{Path: f.path, Line: f.line, User: partOf(f.part("user")), Password: partOf(f.part("password")), Host: partOf(f.part("host")), Port: partOf(f.part("port")),
		Socket: partOf(f.part("socket")), Schema: partOf(f.part("schema"))}
	c.Schema.Missing = nil
	if strings.HasPrefix(c.Host.Value, "/") { // a socket in place of a host
		c.Socket, c.Host = c.Host, Part{}
	}
	if p := f.part("port"); c.Host.Value != "" && (p.kind == null || p.kind == texts && p.text == "") {
		c.Port.Value = "3306"
	}
	if strings.Trim(c.Port.Value, "0123456789") != "" || len(c.Port.Value) > 5 {
		c.Port = Part{Missing: []string{"its port is no number"}}
	}
	return c
}

func partOf(v value) Part {
	switch v.kind {
	case texts:
		p := Part{Value: v.text, From: v.origins()}
		if v.text == "" {
			p.Missing = v.why
		}
		return p
	case null:
		return Part{Missing: v.why}
	}
	if len(v.why) == 0 {
		return Part{Missing: []string{"it is computed"}}
	}
	return Part{Missing: v.why}
}
