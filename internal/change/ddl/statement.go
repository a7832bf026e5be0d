package ddl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func quote(name string) string { return change.QuoteName(name) }

// An alter is what to do to a table's indexes and how to take it back, each
// the clauses of one ALTER TABLE.
type alter struct {
	do, undo []string
	says     string
}

var partForm = regexp.MustCompile("^`?([^`(),]+?)`?(?: ?\\(([0-9]{1,4})\\))?(?: (?i:(ASC|DESC)))?$")

// columnsOf writes a list of key parts ("a, b DESC, c(10)") as the server
// shows it, and refuses columns that the table does not have.
func columnsOf(d definition, list string) (spec string, names []string, err error) {
	var parts []string
	for _, p := range strings.Split(list, ",") {
		m := partForm.FindStringSubmatch(strings.TrimSpace(p))
		if m == nil || !d.hasColumn(m[1]) {
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

var kinds = map[string]string{"": "KEY", "btree": "KEY", "spatial": "SPATIAL KEY", "fulltext": "FULLTEXT KEY"}

// addIndex adds an index, in place of another where one is named.
func addIndex(d definition, args map[string]string) (alter, error) {
	kind, ok := kinds[args["index"]]
	if !ok {
		return alter{}, fmt.Errorf("index %q: want btree, spatial or fulltext", args["index"])
	}
	if args["not null"] != "" || args["srid"] != "" {
		return alter{}, errors.New("changing a column is not an index's change: it belongs into the schema file")
	}
	spec, names, err := columnsOf(d, args["columns"])
	if err != nil {
		return alter{}, err
	}
	for _, k := range d.keys() {
		// What follows the list (a comment) makes no other index.
		if k.kind == kind && len(k.rest) >= len(spec) && strings.EqualFold(k.rest[:len(spec)], spec) {
			return alter{}, change.ErrNothing
		}
	}
	name, err := nameFor(d, args["name"], names)
	if err != nil {
		return alter{}, err
	}
	a := alter{do: []string{key{kind, name, spec}.add()}, undo: []string{"DROP KEY " + quote(name)}, says: "add index " + spec}
	if args["drop"] == "" {
		return a, nil
	}
	old, err := dropIndex(d, args["drop"])
	if errors.Is(err, change.ErrNothing) {
		return a, nil
	} else if err != nil {
		return alter{}, err
	}
	return alter{do: append(old.do, a.do...), undo: append(a.undo, old.undo...), says: a.says + " in place of " + args["drop"]}, nil
}

// dropIndex drops an index. Its undo re-adds those behind it too, so that their order is what it was.
func dropIndex(d definition, name string) (alter, error) {
	k, ok := d.key(name)
	if !ok {
		return alter{}, change.ErrNothing
	}
	if k.kind == "UNIQUE KEY" {
		return alter{}, fmt.Errorf("index %s is unique: dropping it would drop a rule of the data", name)
	}
	ks := d.keys()
	behind := ks[slices.Index(ks, k)+1:]
	if len(behind) > 0 && len(d.constraints()) > 0 {
		return alter{}, fmt.Errorf("index %s stands before others of a table with foreign keys: "+
			"dropping it could not be undone to the letter", name)
	}
	a := alter{do: []string{"DROP KEY " + quote(k.name)}, says: "drop index " + k.name}
	for _, b := range behind {
		a.undo = append(a.undo, "DROP KEY "+quote(b.name))
	}
	for _, b := range append([]key{k}, behind...) {
		a.undo = append(a.undo, b.add())
	}
	return a, nil
}

// statement is an ALTER TABLE of a quoted name.
func statement(name string, clauses []string) string {
	return "ALTER TABLE " + name + " " + strings.Join(clauses, ", ")
}

// promises are what the one who asks knows that an index weakens.
func promises(args map[string]string) ([]iikanji.Promise, error) {
	switch args["weakens"] {
	case "":
		return nil, nil
	case iikanji.RowOrder.String():
		return []iikanji.Promise{iikanji.RowOrder}, nil
	}
	return nil, fmt.Errorf("weakens %q: an index weakens %s at most", args["weakens"], iikanji.RowOrder)
}
