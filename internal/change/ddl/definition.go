package ddl

import (
	"regexp"
	"slices"
	"strings"
)

// A definition is SHOW CREATE TABLE cut into lines: the elements between the
// brackets without their commas, and what stands around them. The server
// writes one element per line and escapes newlines in comments.
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

// A key is one index but the primary one.
type key struct {
	kind string // "KEY", "UNIQUE KEY", …
	name string
	rest string // "(`a`,`b` DESC) COMMENT …"
}

// add is the key as an ALTER adds it.
func (k key) add() string { return "ADD " + k.kind + " " + quote(k.name) + " " + k.rest }

// keys lists the indexes in their order.
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

// hasColumn says whether the table has a column; names have no case in SQL.
func (d definition) hasColumn(name string) bool {
	return slices.ContainsFunc(d.elements, func(e string) bool {
		m := columnForm.FindStringSubmatch(e)
		return m != nil && strings.EqualFold(strings.ReplaceAll(m[1], "``", "`"), name)
	})
}

// constraints are the foreign keys, which CREATE TABLE … LIKE leaves out.
func (d definition) constraints() []string {
	var cs []string
	for _, e := range d.elements {
		if strings.HasPrefix(e, "  CONSTRAINT ") && strings.Contains(e, " FOREIGN KEY ") {
			cs = append(cs, e)
		}
	}
	return cs
}

// withConstraints puts foreign keys back where the server shows them: behind
// the keys and before checks.
func (d definition) withConstraints(cs []string) definition {
	at := slices.IndexFunc(d.elements, func(e string) bool { return strings.HasPrefix(e, "  CONSTRAINT ") })
	if at < 0 {
		at = len(d.elements)
	}
	d.elements = slices.Insert(slices.Clone(d.elements), at, cs...)
	return d
}
