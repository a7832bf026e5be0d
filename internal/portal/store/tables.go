package store

import (
	"fmt"
	"slices"
	"strings"
)

// A kind is the type of a column: three are in use, none has NULL.
type kind string

const (
	text    kind = "text"
	integer kind = "integer"
	real    kind = "real"
)

type column struct {
	name string
	kind kind
}

// A table is one of the schema, with its columns in their order.
type table struct {
	name    string
	columns []column
	key     []string
}

// tables are those of a version of the schema, read from its steps: a list of its own would be
// forgotten when a step is added.
func tables(version int) ([]table, error) {
	var out []table
	for _, step := range migrations[:version] {
		for statement := range strings.SplitSeq(step, ";\n") {
			words := strings.Fields(statement)
			if len(words) < 3 {
				continue
			}
			switch words[0] + " " + words[1] {
			case "CREATE TABLE":
				t, err := readTable(statement)
				if err != nil {
					return nil, err
				}
				out = append(out, t)
			case "DROP TABLE":
				out = slices.DeleteFunc(out, func(t table) bool { return t.name == words[2] })
			case "ALTER TABLE":
				c, err := readColumn(strings.Join(words[5:], " "))
				at := slices.IndexFunc(out, func(t table) bool { return t.name == words[2] })
				if err != nil || at < 0 || words[3]+" "+words[4] != "ADD COLUMN" {
					return nil, fmt.Errorf("BUG: the schema has %q", statement)
				}
				out[at].columns = append(out[at].columns, c)
			}
		}
	}
	return out, nil
}

// readTable reads CREATE TABLE name (columns, PRIMARY KEY (…)).
func readTable(statement string) (t table, err error) {
	head, body, ok := strings.Cut(statement, "(")
	last := strings.LastIndexByte(body, ')')
	if !ok || last < 0 {
		return t, fmt.Errorf("BUG: the schema has %q", statement)
	}
	t.name = strings.Fields(head)[2]
	for _, part := range parts(body[:last]) {
		if key, ok := strings.CutPrefix(part, "PRIMARY KEY ("); ok {
			for name := range strings.SplitSeq(strings.TrimSuffix(key, ")"), ",") {
				t.key = append(t.key, strings.TrimSpace(name))
			}
			continue
		}
		c, err := readColumn(part)
		if err != nil {
			return t, err
		}
		if t.columns = append(t.columns, c); strings.Contains(part, "PRIMARY KEY") {
			t.key = []string{c.name}
		}
	}
	if len(t.key) == 0 {
		err = fmt.Errorf("BUG: the table %s of the schema has no key", t.name)
	}
	return t, err
}

// parts splits at the commas that are in no bracket.
func parts(body string) (out []string) {
	depth, from := 0, 0
	for i, r := range body {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, strings.TrimSpace(body[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(body[from:]))
}

// readColumn reads a name and its type.
func readColumn(part string) (c column, err error) {
	words := strings.Fields(part)
	if len(words) < 2 {
		return c, fmt.Errorf("BUG: the schema has a column %q", part)
	}
	c.name = words[0]
	switch {
	case strings.HasPrefix(words[1], "VARCHAR("), words[1] == "{text}":
		c.kind = text
	case words[1] == "BIGINT":
		c.kind = integer
	case words[1] == "DOUBLE":
		c.kind = real
	default:
		err = fmt.Errorf("BUG: the schema has a column %q", part)
	}
	return c, err
}

// names are the names of the columns.
func (t *table) names() string {
	out := make([]string, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.name
	}
	return strings.Join(out, ", ")
}

// sorted is the order of a table's rows that is the same on each engine: that of the bytes of the
// key. PostgreSQL orders texts by a locale otherwise.
func (t *table) sorted(d dialect) string {
	out := slices.Clone(t.key)
	for i, name := range out {
		at := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
		if d == postgres && t.columns[at].kind == text {
			out[i] += ` COLLATE "C"`
		}
	}
	return strings.Join(out, ", ")
}
