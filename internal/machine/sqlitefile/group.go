package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// A Group is files with the same tables.
type Group struct {
	// Name is the name of the folder for the group with the most files, and has the
	// name of its first file, too, for the others.
	Name   string
	Files  []File // sorted by path
	Tables []catalog.Table
}

// Largest is the largest file of the group.
func (g Group) Largest() File {
	return slices.MaxFunc(g.Files, func(a, b File) int { return cmp.Compare(a.Size, b.Size) })
}

// Size is the size of all files of the group.
func (g Group) Size() iikanji.Bytes {
	n := iikanji.Bytes(0)
	for _, f := range g.Files {
		n += f.Size
	}
	return n
}

// Groups puts files with equal tables together, the group with the most files first.
// Files without tables are in no group. failed are the files that could not be read,
// each with its reason: the app may have removed one, or hold its lock.
func Groups(ctx context.Context, files []File) (groups []Group, failed []error) {
	at := map[string]int{}
	for _, f := range files {
		all, err := tablesOf(ctx, f.Path)
		switch {
		case gone(err) || err == nil && len(all) == 0:
			continue
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", f.Path, err))
			continue
		}
		key := f.Folder + "\n" + Definitions(all)
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			groups = append(groups, Group{Tables: all})
		}
		groups[i].Files = append(groups[i].Files, f)
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(len(b.Files), len(a.Files)) })
	taken := map[string]bool{}
	for i := range groups {
		groups[i].name(taken)
	}
	return groups, failed
}

func tablesOf(ctx context.Context, path string) (_ []catalog.Table, err error) {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	r, err := Read(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Tables(ctx)
}

// unfit are the characters that the name of a schema cannot have.
var unfit = regexp.MustCompile(`[^\p{L}\p{N}_$-]+`)

// longestName is the longest name of a group, in bytes.
const longestName = 60

func (g *Group) name(taken map[string]bool) {
	first := g.Files[0]
	name := filepath.Base(first.Folder)
	if taken[name] {
		rel, err := filepath.Rel(first.Folder, first.Path)
		if err != nil {
			rel = filepath.Base(first.Path)
		}
		name += "-" + strings.TrimSuffix(rel, filepath.Ext(rel))
	}
	name = unfit.ReplaceAllString(name, "_")
	for len(name) > longestName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	for base, n := name, 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	g.Name = name
	for i := range g.Tables {
		g.Tables[i].Schema = name
	}
}

// Definitions is the definitions of tables as text, each line one property. Tables
// that are defined alike have the same text, however their statements were spelled.
func Definitions(all []catalog.Table) string {
	var b strings.Builder
	for _, t := range all {
		b.WriteString(Definition(t))
	}
	return b.String()
}

// Definition is the definition of one table as text.
func Definition(t catalog.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "table %s (%s)\n", t.Name, t.Engine)
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "  column %s %s nullable=%v generated=%v\n", c.Name, c.Type, c.Nullable, c.Generated)
	}
	sorted := slices.SortedFunc(slices.Values(t.Indexes), func(x, y catalog.Index) int { return strings.Compare(x.Name, y.Name) })
	for _, ix := range sorted {
		var parts []string
		for _, p := range ix.Parts {
			parts = append(parts, p.String())
		}
		fmt.Fprintf(&b, "  index %s (%s) %s unique=%v primary=%v\n", ix.Name, strings.Join(parts, ", "), ix.Kind, ix.Unique, ix.Primary)
	}
	for _, l := range t.Links {
		fmt.Fprintf(&b, "  foreign key (%s) references %s (%s)\n", strings.Join(l.Columns, ", "), l.Table, strings.Join(l.Reference, ", "))
	}
	return b.String()
}
