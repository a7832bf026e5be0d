package ddl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// A fileAlter is a change of the indexes of a table in SQLite files.
type fileAlter struct {
	add, drop  string // the statement of the new index, and the name of the dropped one; "" for none
	do, undo   []string
	says       string
	definition string // of the table after it
}

// A fileTable is a table as one of the files has it.
type fileTable struct {
	catalog.Table
	taken   []string          // names of all tables and indexes of the file
	created map[string]string // statements of indexes by name, lower case
}

// onFile plans a new index. A key part is a column with its direction: SQLite has no
// prefixes, and no spatial indexes in a table of its own.
func (a *addArgs) onFile(t fileTable) (fileAlter, error) {
	if a.Index != "btree" || a.SRID != "" {
		return fileAlter{}, fmt.Errorf("a %s index is not an index of a SQLite table", a.Index)
	}
	parts, err := filePartsOf(t, a.Columns)
	if err != nil {
		return fileAlter{}, err
	}
	for _, ix := range t.Indexes {
		if ix.Kind == "btree" && slices.EqualFunc(ix.Parts, parts, sameFilePart) {
			return fileAlter{}, change.ErrNothing
		}
	}
	name, err := t.nameFor(a.Name, parts)
	if err != nil {
		return fileAlter{}, err
	}
	columns := sqlitefile.Columns(parts)
	out := fileAlter{add: sqlitefile.CreateIndex(name, t.Name, columns), says: "add index " + columns}
	out.do, out.undo = []string{out.add}, []string{sqlitefile.DropIndex(name)}
	if a.Drop == "" {
		return out, nil
	}
	old, err := t.dropped(a.Drop)
	if errors.Is(err, change.ErrNothing) {
		return out, nil
	}
	if err != nil {
		return fileAlter{}, err
	}
	out.drop, out.says = old.drop, out.says+" in place of "+old.drop
	out.do, out.undo = append(out.do, old.do...), append(out.undo, old.undo...)
	return out, nil
}

func (a *dropArgs) onFile(t fileTable) (fileAlter, error) { return t.dropped(a.Name) }

func sameFilePart(a, b catalog.IndexPart) bool {
	return strings.EqualFold(a.Column, b.Column) && a.Desc == b.Desc
}

// filePartsOf reads a list of key parts ("a, b DESC").
func filePartsOf(t fileTable, list string) ([]catalog.IndexPart, error) {
	var out []catalog.IndexPart
	for _, p := range strings.Split(list, ",") {
		m := partForm.FindStringSubmatch(strings.TrimSpace(p))
		at := -1
		if m != nil && m[2] == "" {
			at = slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, m[1]) })
		}
		if at < 0 {
			return nil, fmt.Errorf("columns %q: the table has no column %q", list, strings.TrimSpace(p))
		}
		out = append(out, catalog.IndexPart{Column: t.Columns[at].Name, Desc: strings.EqualFold(m[3], "DESC")})
	}
	return out, nil
}

// nameFor returns the name of a new index. A name is unique in the file, not only in
// the table.
func (t fileTable) nameFor(wanted string, parts []catalog.IndexPart) (string, error) {
	taken := func(name string) bool {
		return slices.ContainsFunc(t.taken, func(n string) bool { return strings.EqualFold(n, name) })
	}
	if wanted != "" {
		if taken(wanted) || len(wanted) > maxName || strings.HasPrefix(strings.ToLower(wanted), "sqlite_") || strings.ContainsAny(wanted, ";\n\r\x00") {
			return "", fmt.Errorf("name %q cannot be used", wanted)
		}
		return wanted, nil
	}
	base := "iikanji_" + t.Name
	for _, p := range parts {
		base += "_" + p.Column
	}
	base = string([]rune(base)[:min(len([]rune(base)), maxName-4)])
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name, nil
}

// dropped plans the drop of an index. A unique index enforces a rule of the data; one
// without a statement belongs to the table's definition.
func (t fileTable) dropped(name string) (fileAlter, error) {
	at := slices.IndexFunc(t.Indexes, func(ix catalog.Index) bool { return strings.EqualFold(ix.Name, name) })
	if at < 0 {
		return fileAlter{}, change.ErrNothing
	}
	ix := t.Indexes[at]
	text := t.created[strings.ToLower(ix.Name)]
	if ix.Unique || text == "" {
		return fileAlter{}, fmt.Errorf("index %s is unique or a part of the table's definition: dropping it would drop a rule of the data", ix.Name)
	}
	if unrecorded(text) {
		return fileAlter{}, fmt.Errorf("the statement of index %s cannot be recorded:\n%s", ix.Name, text)
	}
	return fileAlter{drop: ix.Name, do: []string{sqlitefile.DropIndex(ix.Name)}, undo: []string{text}, says: "drop index " + ix.Name}, nil
}
