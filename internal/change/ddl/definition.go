package ddl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
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

var (
	keyForm    = regexp.MustCompile("^  ((?:UNIQUE |FULLTEXT |SPATIAL )?KEY) `((?:[^`]|``)+)` (.*)$")
	columnForm = regexp.MustCompile("^  `((?:[^`]|``)+)` ")
)

// A key is one index other than the primary key.
type key struct {
	kind string // "KEY", "UNIQUE KEY", …
	name string
	rest string // "(`a`,`b` DESC) COMMENT …"
}

// element returns the key in the form that CREATE TABLE and ALTER TABLE … ADD
// take.
func (k key) element() string { return k.kind + " " + quote(k.name) + " " + k.rest }

// keys returns the indexes in their order.
func (d definition) keys() []key {
	var ks []key
	for _, e := range d.elements {
		if m := keyForm.FindStringSubmatch(e); m != nil {
			ks = append(ks, key{m[1], strings.ReplaceAll(m[2], "``", "`"), m[3]})
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
		if m := columnForm.FindStringSubmatch(e); m != nil {
			names = append(names, strings.ReplaceAll(m[1], "``", "`"))
		}
	}
	return names
}

// column returns the element that describes a column; "" when the table has no
// such column. SQL ignores the case of column names.
func (d definition) column(name string) string {
	for _, e := range d.elements {
		m := columnForm.FindStringSubmatch(e)
		if m != nil && strings.EqualFold(strings.ReplaceAll(m[1], "``", "`"), name) {
			return e
		}
	}
	return ""
}

var primaryForm = regexp.MustCompile("^  PRIMARY KEY (.*)$")

// whole is the length of an index part that covers the whole column, not a
// prefix.
const whole = 1 << 30

// parts returns the columns of an index with the prefix length of each.
func (k key) parts() map[string]int {
	ps := map[string]int{}
	for _, s := range statements(k.rest) {
		for _, it := range inBrackets(s.tokens) {
			c := &cursor{tokens: it.tokens}
			column, _ := c.name()
			n := whole
			if c.take("(") {
				n, _ = strconv.Atoi(c.peek().spelling)
			}
			ps[strings.ToLower(column)] = n
		}
	}
	return ps
}

// keptUnique reports whether another unique index enforces the rule of a unique
// index: it has no columns besides those of this one, and no longer prefixes.
func (d definition) keptUnique(k key) bool {
	rule := k.parts()
	keeps := func(other key) bool {
		parts := other.parts()
		for column, n := range parts {
			if n > rule[column] {
				return false
			}
		}
		return len(parts) > 0
	}
	for _, e := range d.elements {
		if m := primaryForm.FindStringSubmatch(e); m != nil && keeps(key{rest: m[1]}) {
			return true
		}
	}
	return slices.ContainsFunc(d.keys(), func(other key) bool {
		return other.kind == "UNIQUE KEY" && other.name != k.name && keeps(other)
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
