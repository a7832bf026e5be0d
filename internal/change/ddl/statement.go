package ddl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// An alter is a change of a table's indexes and columns.
type alter struct {
	column string // the element of a new column; "" if none is added
	add    key    // without a name if no index is added
	drop   string // the index's name; "" if none is dropped
	keep   []key  // indexes that the server would drop by itself
	says   string
}

// clauses returns the clauses of the ALTER TABLE.
func (a alter) clauses() []string {
	var cs []string
	if a.drop != "" {
		cs = append(cs, "DROP INDEX "+sqltext.MySQL.Quote(a.drop))
	}
	for _, k := range a.keep {
		cs = append(cs, "DROP INDEX "+sqltext.MySQL.Quote(k.name))
	}
	for _, e := range a.elements() {
		if e == a.column {
			e = "COLUMN " + e
		}
		cs = append(cs, "ADD "+e)
	}
	return cs
}

// elements returns the column and the indexes that exist after the change and that
// CREATE TABLE does not list before it.
func (a alter) elements() []string {
	var es []string
	if a.column != "" {
		es = append(es, a.column)
	}
	for _, k := range a.keep {
		es = append(es, k.element())
	}
	if a.add.name != "" {
		es = append(es, a.add.element())
	}
	return es
}

// fromTo returns the clauses that lead from one definition to another with
// different indexes, or without columns that the first has. The server shows an
// added index after the others of its sort. All indexes after the first difference
// are therefore dropped and added again in their order.
func fromTo(from, to definition) []string {
	have, want := from.keys(), to.keys()
	same := 0
	for same < len(have) && same < len(want) && have[same] == want[same] {
		same++
	}
	var cs []string
	for _, k := range have[same:] {
		cs = append(cs, "DROP INDEX "+sqltext.MySQL.Quote(k.name))
	}
	for _, c := range from.columns() {
		if to.column(c) == "" {
			cs = append(cs, "DROP COLUMN "+sqltext.MySQL.Quote(c))
		}
	}
	for _, k := range want[same:] {
		cs = append(cs, "ADD "+k.element())
	}
	return cs
}

var partForm = regexp.MustCompile("^`?([^`(),]+?)`?(?: ?\\(([0-9]{1,4})\\))?(?: (?i:(ASC|DESC)))?$")

// columnsOf converts a list of key parts ("a, b DESC, c(10)") to the server's
// form, and refuses columns that the table does not have.
func columnsOf(d definition, list string) (spec string, names []string, err error) {
	var parts []string
	for _, p := range strings.Split(list, ",") {
		m := partForm.FindStringSubmatch(strings.TrimSpace(p))
		if m == nil || d.column(m[1]) == "" {
			return "", nil, fmt.Errorf("columns %q: the table has no column %q", list, strings.TrimSpace(p))
		}
		part := sqltext.MySQL.Quote(m[1])
		if m[2] != "" {
			part += "(" + m[2] + ")"
		}
		if strings.EqualFold(m[3], "DESC") {
			part += " DESC"
		}
		parts, names = append(parts, part), append(names, m[1])
	}
	return "(" + strings.Join(parts, ",") + ")", names, nil
}

// maxName is the longest index name.
const maxName = 64

// nameFor returns the name of a new index: the requested one, or a free
// generated one.
func nameFor(d definition, wanted string, columns []string) (string, error) {
	if wanted != "" {
		if _, taken := d.key(wanted); taken || len(wanted) > maxName || strings.EqualFold(wanted, "PRIMARY") {
			return "", fmt.Errorf("name %q cannot be used", wanted)
		}
		return wanted, nil
	}
	base := []rune("iikanji_" + strings.Join(columns, "_"))
	base = base[:min(len(base), maxName-4)]
	for n := 1; ; n++ {
		name := string(base)
		if n > 1 {
			name += fmt.Sprintf("_%d", n)
		}
		if _, taken := d.key(name); !taken {
			return name, nil
		}
	}
}

// kinds are the supported kinds of index. FULLTEXT is not supported: only
// queries written for it use it, and InnoDB adds tables and a column for it.
var kinds = map[string]string{"btree": "KEY", "spatial": "SPATIAL KEY"}

// alter adds an index, and replaces another one if drop names it.
func (a *addArgs) alter(d definition) (alter, error) {
	kind := kinds[a.Index]
	spec, names, err := columnsOf(d, a.Columns)
	if err != nil {
		return alter{}, err
	}
	if kind == "SPATIAL KEY" {
		if err := spatial(d, names, a.SRID); err != nil {
			return alter{}, err
		}
	}
	for _, k := range d.keys() {
		// Text after the list (a comment) does not make the index a different
		// one.
		if k.kind == kind && len(k.rest) >= len(spec) && strings.EqualFold(k.rest[:len(spec)], spec) {
			return alter{}, change.ErrNothing
		}
	}
	name, err := nameFor(d, a.Name, names)
	if err != nil {
		return alter{}, err
	}
	out := alter{add: key{kind, name, spec}, says: "add index " + spec}
	if a.Drop == "" {
		return out, nil
	}
	old, err := dropIndex(d, a.Drop)
	if errors.Is(err, change.ErrNothing) {
		return out, nil
	} else if err != nil {
		return alter{}, err
	}
	out.drop, out.says = old.drop, out.says+" in place of "+old.drop
	return out, nil
}

// spatial refuses a spatial index that the table cannot have: it takes one
// column that is NOT NULL, and an SRID if the optimizer requires one.
func spatial(d definition, names []string, srid string) error {
	if len(names) != 1 {
		return errors.New("a spatial index has one column")
	}
	column := d.column(names[0])
	switch {
	case !strings.Contains(column, " NOT NULL"):
		return fmt.Errorf("column %s may be NULL, and a spatial index needs a column that is NOT NULL: "+
			"make it so in the schema, if no row lacks it; an index's change alters no column", names[0])
	case srid != "" && !strings.Contains(column, "SRID "+srid):
		return fmt.Errorf("column %s declares no SRID, without which the optimizer passes over the index: "+
			"declare SRID %s in the schema; an index's change alters no column", names[0], srid)
	}
	return nil
}

// dropIndex drops an index. A unique index enforces a rule of the data that no
// promise covers, and that could not be restored after a row has broken it: it
// is dropped only if another unique index enforces the same rule.
func dropIndex(d definition, name string) (alter, error) {
	k, ok := d.key(name)
	if !ok {
		return alter{}, change.ErrNothing
	}
	if k.kind == "UNIQUE KEY" && !d.keptUnique(k) {
		return alter{}, fmt.Errorf("index %s is unique: dropping it would drop a rule of the data, "+
			"and could not be undone once a row has broken it", name)
	}
	return alter{drop: k.name, says: "drop index " + k.name}, nil
}

// altering returns an ALTER TABLE of a quoted name.
func altering(name string, clauses []string) string {
	return "ALTER TABLE " + name + " " + strings.Join(clauses, ", ")
}
