package settings

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxTOML bounds the length of a file of TOML.
const maxTOML = 256 << 10

// notSettings are files of TOML that tools own: their tables of databases are not the app's.
var notSettings = []string{"Cargo.toml", "Cargo.lock", "pyproject.toml", "Pipfile", "poetry.lock", "uv.lock", "netlify.toml", "fly.toml", "rust-toolchain.toml", "clippy.toml",
	"rustfmt.toml", "book.toml", "hugo.toml", "iikanji.toml"}

// isTOML reports whether a file holds settings in TOML: every *.toml that no tool owns.
func isTOML(file string) bool {
	base := path.Base(file)
	return path.Ext(base) == ".toml" && base[0] != '.' && !slices.Contains(notSettings, base)
}

// settingsTOML reads the tables that name a connection: by an engine or a URL in them, or by
// a name of their own that is an engine.
//
//	[database]                          [mysql]              [default.databases.shop]
//	driver = "mysql"                    addr = "db:3306"     url = "mysql://u:p@db/shop"
//	host = "db"                         user = "u"
//
// Where there are tables for the modes of an app, those of the mode in which it runs count,
// or else the only one.
func (r *reading) settingsTOML(path, text string) {
	if len(text) > maxTOML {
		return
	}
	own := r.mode("APP_ENV", "ROCKET_PROFILE")
	type found struct {
		fields Fields
		line   int
	}
	var mine, others []found
	for _, t := range parseTOML(text) {
		f := Of(t.fields)
		if name := strings.ToLower(t.name[len(t.name)-1]); f["engine"].Kind == Unknown && (name == "mysql" || name == "mariadb") {
			f["engine"] = Literal("mysql")
		}
		switch {
		case !f.NamesEngine() || len(f) < 2:
		case slices.ContainsFunc(t.name, func(part string) bool { return part != own && slices.Contains(modes, part) }):
			others = append(others, found{f, t.fields.Line})
		default:
			mine = append(mine, found{f, t.fields.Line})
		}
	}
	if len(mine) == 0 && len(others) == 1 {
		mine = others
	}
	for _, c := range mine {
		r.add(c.fields, path, c.line)
	}
}

// modes are usual names of tables for the modes of an app.
var modes = []string{"development", "debug", "test", "testing", "staging", "production", "release"}

// A tomlTable is a table with its name in parts. The table without a name has one empty part.
type tomlTable struct {
	name   []string
	fields *Table
}

// parseTOML reads the tables of a file: texts, numbers and truth values of one line, also in
// dotted keys and inline tables. Lists are skipped, and so is every line that it does not
// know.
func parseTOML(source string) []*tomlTable {
	root := &tomlTable{[]string{""}, NewTable(1)}
	tables := []*tomlTable{root}
	at := root
	lines := strings.Split(source, "\n")
	for i := 0; i < len(lines); i++ {
		p := &tomlLine{text: strings.TrimSpace(lines[i])}
		if p.text == "" || p.text[0] == '#' {
			continue
		}
		if p.text[0] == '[' {
			p.text = strings.TrimLeft(p.text, "[ \t")
			if name := p.key(); name != nil && p.take("]") && len(tables) < maxFields {
				at = &tomlTable{name, NewTable(i + 1)}
				tables = append(tables, at)
			}
			continue
		}
		key := p.key()
		if key == nil || !p.take("=") {
			continue
		}
		if end := openEnd(p.text); end != "" { // a text or a list of several lines
			for i++; i < len(lines) && !strings.Contains(lines[i], end); i++ {
			}
			continue
		}
		into := at
		if len(key) > 1 || strings.HasPrefix(p.text, "{") {
			within := key
			if !strings.HasPrefix(p.text, "{") {
				within = key[:len(key)-1]
			}
			if into = child(&tables, at, within, i+1); into == nil {
				continue
			}
		}
		if strings.HasPrefix(p.text, "{") {
			p.inline(into.fields)
		} else if v, ok := p.value(); ok {
			into.fields.Set(key[len(key)-1], v)
		}
	}
	return tables
}

// child is the table below another one, which is made unless it is there; nil if there are
// too many.
func child(tables *[]*tomlTable, of *tomlTable, name []string, line int) *tomlTable {
	full := slices.Concat(of.name, name)
	for _, t := range (*tables)[max(0, len(*tables)-2):] { // keys of one table follow each other
		if slices.Equal(t.name, full) {
			return t
		}
	}
	if len(*tables) >= maxFields || len(full) > maxYAMLDeep {
		return nil
	}
	t := &tomlTable{full, NewTable(line)}
	*tables = append(*tables, t)
	return t
}

// openEnd is what ends a value that goes on in the next lines; "" for one of this line.
func openEnd(value string) string {
	for _, quote := range []string{`"""`, "'''"} {
		if rest, ok := strings.CutPrefix(value, quote); ok && !strings.Contains(rest, quote) {
			return quote
		}
	}
	if strings.HasPrefix(value, "[") && strings.Count(value, "[") > strings.Count(value, "]") {
		return "]"
	}
	return ""
}

// A tomlLine is what is left of a line.
type tomlLine struct{ text string }

// take removes a text from the beginning, with the blanks around it.
func (p *tomlLine) take(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.text, " \t"), text)
	if ok {
		p.text = strings.TrimLeft(rest, " \t")
	}
	return ok
}

// key reads a key with its dots; nil without one.
func (p *tomlLine) key() (parts []string) {
	for len(parts) < maxYAMLDeep {
		p.text = strings.TrimLeft(p.text, " \t")
		part, ok := p.quoted()
		if !ok {
			n := len(p.text) - len(strings.TrimLeft(p.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"))
			if n == 0 {
				return nil
			}
			part, p.text = p.text[:n], p.text[n:]
		}
		parts = append(parts, part)
		if !p.take(".") {
			return parts
		}
	}
	return nil
}

// quoted reads a text in quotes, of one or of three.
func (p *tomlLine) quoted() (text string, ok bool) {
	for _, quote := range []string{`"""`, "'''", "'"} {
		if rest, begins := strings.CutPrefix(p.text, quote); begins {
			text, after, ends := strings.Cut(rest, quote)
			if ends {
				p.text = after
			}
			return text, ends
		}
	}
	quoted, err := strconv.QuotedPrefix(p.text)
	if err != nil || quoted[0] != '"' {
		return "", false
	}
	p.text = p.text[len(quoted):]
	text, err = strconv.Unquote(quoted)
	return text, err == nil
}

// value reads a text, a number or a truth value.
func (p *tomlLine) value() (Value, bool) {
	if text, ok := p.quoted(); ok {
		return Literal(text), len(text) <= maxText
	}
	n := strings.IndexAny(p.text, " \t,}#")
	if n < 0 {
		n = len(p.text)
	}
	word := p.text[:n]
	p.text = p.text[n:]
	return Literal(word), word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.:") == ""
}

// inline reads the fields of { a = 1, b = "c" } of one line.
func (p *tomlLine) inline(into *Table) {
	for p.take("{"); !p.take("}"); p.take(",") {
		key := p.key()
		if len(key) != 1 || !p.take("=") {
			return
		}
		v, ok := p.value()
		if !ok {
			return
		}
		into.Set(key[0], v)
	}
}
