package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/ddl"
	"github.com/iikanji/iikanji/internal/day/work/difference"
)

// table plans the indexes of a table.
func (p *plan) table(ctx context.Context, e difference.Edit) error {
	_, was := p.then.Server(e.Service) // on another host, if it has moved since
	if was != nil && was.InFiles() {
		p.inFiles = append(p.inFiles, e)
		return nil
	}
	schema, table, ok := strings.Cut(e.Place, ".")
	if !ok {
		p.stay(e, "it is no table of a schema", true)
		return nil
	}
	if was == nil || was.Tables[e.Place] == "" || slices.Contains(e.Names, "table dropped") {
		p.stay(e, "a table that was made or dropped is a person's to restore", true)
		return nil
	}
	c, err := ddl.Restore(ctx, p.d.Site, e.Service, schema, table, was.Tables[e.Place])
	var defined *ddl.DefinedError
	switch {
	case errors.As(err, &defined):
		p.stay(e, "its columns or options differ, not only its indexes: "+strings.Join(e.Names, "; "), true)
	case errors.Is(err, change.ErrNothing):
	case err != nil:
		return fmt.Errorf("planning the indexes of %s: %w", e.Place, err)
	default:
		p.tables = append(p.tables, c)
	}
	return nil
}

// A fileTable is a table in the SQLite files of a service, with the indexes that differ.
type fileTable struct {
	first difference.Edit
	add   map[string]string // former statements by the names of the indexes
	drop  []string
}

// indexOn matches the table of a statement that makes an index.
var indexOn = regexp.MustCompile("(?is)\\bON\\s+[\"`\\[]?([^\"`\\]\\s(]+)")

// fileTables plans the indexes in SQLite files, one change for each table.
func (p *plan) fileTables(ctx context.Context) error {
	tables := map[[2]string]*fileTable{} // by service and table
	for _, e := range p.inFiles {
		_, then := p.then.Server(e.Service)
		_, now := p.now.Server(e.Service)
		kind, name, _ := strings.Cut(e.Place, " ")
		if now == nil || kind != "index" {
			p.stay(e, "what was made or dropped in SQLite files but indexes is a person's to restore", true)
			continue
		}
		was, is := then.Tables[e.Place], now.Tables[e.Place]
		on := indexOn.FindStringSubmatch(cmp.Or(was, is))
		if on == nil {
			p.stay(e, "the table of its statement is not known", true)
			continue
		}
		key := [2]string{e.Service, on[1]}
		t := tables[key]
		if t == nil {
			t = &fileTable{first: e, add: map[string]string{}}
			tables[key] = t
		}
		if is != "" {
			t.drop = append(t.drop, name)
		}
		if was != "" {
			t.add[name] = was
		}
	}
	byKey := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(tables), byKey) {
		t := tables[key]
		c, err := ddl.RestoreFiles(ctx, p.d.Site, key[0], key[1], t.add, t.drop)
		switch {
		case errors.Is(err, change.ErrNothing):
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			p.stay(t.first, err.Error(), true)
		default:
			p.tables = append(p.tables, c)
		}
	}
	return nil
}
