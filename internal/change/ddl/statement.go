package ddl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

func quote(name string) string { return change.QuoteName(name) }

// An alter is a change of a table's indexes.
type alter struct {
	add  key    // without a name when none is added
	drop string // the name of one; "" when none is dropped
	keep []key  // that the server would drop by itself
	says string
}

// clauses are those of an ALTER TABLE.
func (a alter) clauses() []string {
	var cs []string
	if a.drop != "" {
		cs = append(cs, "DROP INDEX "+quote(a.drop))
	}
	for _, k := range a.keep {
		cs = append(cs, "DROP INDEX "+quote(k.name))
	}
	for _, e := range a.elements() {
		cs = append(cs, "ADD "+e)
	}
	return cs
}

// elements are the indexes that are there with the change and that CREATE
// TABLE does not list without it.
func (a alter) elements() []string {
	var es []string
	for _, k := range a.keep {
		es = append(es, k.element())
	}
	if a.add.name != "" {
		es = append(es, a.add.element())
	}
	return es
}

// fromTo leads from one definition to another that differs in its indexes. The
// server shows an index that is added behind those of its sort, so all behind
// the first difference are dropped and added again in their order.
func fromTo(from, to definition) []string {
	have, want := from.keys(), to.keys()
	same := 0
	for same < len(have) && same < len(want) && have[same] == want[same] {
		same++
	}
	var cs []string
	for _, k := range have[same:] {
		cs = append(cs, "DROP INDEX "+quote(k.name))
	}
	for _, k := range want[same:] {
		cs = append(cs, "ADD "+k.element())
	}
	return cs
}

var partForm = regexp.MustCompile("^`?([^`(),]+?)`?(?: ?\\(([0-9]{1,4})\\))?(?: (?i:(ASC|DESC)))?$")

// columnsOf writes a list of key parts ("a, b DESC, c(10)") as the server
// shows it, and refuses columns that the table does not have.
func columnsOf(d definition, list string) (spec string, names []string, err error) {
	var parts []string
	for _, p := range strings.Split(list, ",") {
		m := partForm.FindStringSubmatch(strings.TrimSpace(p))
		if m == nil || d.column(m[1]) == "" {
			return "", nil, fmt.Errorf("columns %q: the table has no column %q", list, strings.TrimSpace(p))
		}
		part := quote(m[1])
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

// maxName is the longest name of an index.
const maxName = 64

// nameFor is the name of a new index: the one wanted, or one of ours that is free.
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

// kinds of index. FULLTEXT is none: it answers only queries that are written
// for it, and InnoDB keeps tables and a column of its own for it.
var kinds = map[string]string{"btree": "KEY", "spatial": "SPATIAL KEY"}

// alter adds an index, in place of another where one is named.
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
		// What follows the list (a comment) makes no other index.
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

// spatial refuses what a spatial index cannot be made on as the table is: one
// column that is NOT NULL, and with an SRID where the optimizer wants one.
func spatial(d definition, names []string, srid string) error {
	if len(names) != 1 {
		return errors.New("a spatial index has one column")
	}
	column := d.column(names[0])
	switch {
	case !strings.Contains(column, " NOT NULL"):
		return fmt.Errorf("column %s may be NULL, and a spatial index wants one that is NOT NULL: "+
			"make it so in the schema, if no row lacks it; an index's change alters no column", names[0])
	case srid != "" && !strings.Contains(column, "SRID "+srid):
		return fmt.Errorf("column %s declares no SRID, without which the optimizer passes over the index: "+
			"declare SRID %s in the schema; an index's change alters no column", names[0], srid)
	}
	return nil
}

// dropIndex drops an index. A unique one is a rule of the data that no promise
// covers and that could not be put back once a row has broken it: it goes only
// when another unique index keeps the same rule.
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

// altering is an ALTER TABLE of a quoted name.
func altering(name string, clauses []string) string {
	return "ALTER TABLE " + name + " " + strings.Join(clauses, ", ")
}
