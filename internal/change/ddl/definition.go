package ddl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A definition is the output of SHOW CREATE TABLE, cut into lines: the elements
// between the brackets without their commas, and the text around them. The
// server writes one element per line and escapes newlines in comments.
type definition struct {
	head     string // "CREATE TABLE `t` ("
	elements []string
	tail     string // ") ENGINE=…" to the end
}

func parseDefinition(text string) (definition, bool) {
	lines := strings.Split(text, "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, ")") })
	if end < 1 {
		return definition{}, false
	}
	d := definition{head: lines[0], tail: strings.Join(lines[end:], "\n")}
	for _, l := range lines[1:end] {
		d.elements = append(d.elements, strings.TrimSuffix(l, ","))
	}
	return d, true
}

func (d definition) String() string {
	return d.head + "\n" + strings.Join(d.elements, ",\n") + "\n" + d.tail
}

// A key is one index other than the primary key.
type key struct {
	kind string // "KEY", "UNIQUE KEY", …
	name string
	rest string // "(`a`,`b` DESC) COMMENT …"
}

// element returns the key in the form that CREATE TABLE and ALTER TABLE … ADD
// take.
func (k key) element() string { return k.kind + " " + sqltext.MySQL.Quote(k.name) + " " + k.rest }

// keyOf reads an element as an index. The server quotes every name.
func keyOf(element string) (key, bool) {
	tokens, _ := sqltext.MySQL.Tokens(element)
	k, ok := sqlschema.KeyOf(tokens)
	at := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.Quoted })
	if !ok || at < 0 || k.Name == "" || k.Sort == sqlschema.Primary || k.Sort == sqlschema.Foreign {
		return key{}, false
	}
	return key{strings.TrimSpace(element[:tokens[at].Start]), k.Name, strings.TrimSpace(element[tokens[at].End:])}, true
}

// columnOf returns the column that an element describes; "" for a key or a rule.
func columnOf(element string) string {
	l := sqltext.Lexer{Dialect: sqltext.MySQL, SQL: strings.TrimSpace(element)}
	if l.SQL == "" {
		return ""
	}
	if t := l.Next(); t.Kind == sqltext.Quoted {
		return t.Name()
	}
	return ""
}

// keys returns the indexes in their order.
func (d definition) keys() []key {
	var ks []key
	for _, e := range d.elements {
		if k, ok := keyOf(e); ok {
			ks = append(ks, k)
		}
	}
	return ks
}

func (d definition) key(name string) (key, bool) {
	ks := d.keys()
	i := slices.IndexFunc(ks, func(k key) bool { return strings.EqualFold(k.name, name) })
	if i < 0 {
		return key{}, false
	}
	return ks[i], true
}

// columns returns the names of the columns in their order.
func (d definition) columns() []string {
	var names []string
	for _, e := range d.elements {
		if name := columnOf(e); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// column returns the element that describes a column; "" when the table has no
// such column. SQL ignores the case of column names.
func (d definition) column(name string) string {
	for _, e := range d.elements {
		if column := columnOf(e); column != "" && strings.EqualFold(column, name) {
			return e
		}
	}
	return ""
}

// whole is the length of an index part that covers the whole column, not a
// prefix.
const whole = 1 << 30

// partsOf returns the columns of an element that is a key, with the prefix length of each.
func partsOf(element string) map[string]int {
	tokens, _ := sqltext.MySQL.Tokens(element)
	k, _ := sqlschema.KeyOf(tokens)
	ps := map[string]int{}
	for _, p := range k.Parts {
		ps[strings.ToLower(p.Column)] = cmp.Or(p.Prefix, whole)
	}
	return ps
}

// keptUnique reports whether another unique index enforces the rule of a unique
// index: it has no columns besides those of this one, and no longer prefixes.
func (d definition) keptUnique(k key) bool {
	rule := partsOf(k.element())
	keeps := func(other string) bool {
		parts := partsOf(other)
		for column, n := range parts {
			if n > rule[column] {
				return false
			}
		}
		return len(parts) > 0
	}
	for _, e := range d.elements {
		if strings.HasPrefix(e, "  PRIMARY KEY ") && keeps(e) {
			return true
		}
	}
	return slices.ContainsFunc(d.keys(), func(other key) bool {
		return other.kind == "UNIQUE KEY" && other.name != k.name && keeps(other.element())
	})
}

// constraints returns the clauses that add the foreign keys.
func (d definition) constraints() []string {
	var cs []string
	for _, e := range d.elements {
		if strings.HasPrefix(e, "  CONSTRAINT ") && strings.Contains(e, " FOREIGN KEY ") {
			cs = append(cs, "ADD"+e[1:])
		}
	}
	return cs
}
