package ddl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// RestoreFiles plans a change that gives a table in the SQLite files of a service, which the app
// has in use, the indexes of a former state: it drops some by name, and makes others by their
// former statements. The change and its undo are tried on an empty table. The change edits
// neither the originals nor the SQL files that initialize loads. A remedy cannot ask for it, as
// for Restore.
func RestoreFiles(ctx context.Context, s *change.Site, service, table string, add map[string]string, drop []string) (*iikanji.Change, error) {
	svc := s.Services[service]
	svc.Originals, svc.Loads = "", nil
	own := &change.Site{Target: s.Target, Hosts: s.Hosts, Roots: s.Roots, Services: map[string]change.Service{service: svc}}
	p := &filePlan{site: own, service: service, table: table}
	act := &formerIndexes{tableArgs: tableArgs{Table: plainName(table)}, add: add, drop: drop}
	if err := p.read(ctx, act); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: Kind{}.Name(), Target: service, Risk: iikanji.RiskLock,
		Says: "restore the indexes of " + table + " in " + counted(len(p.live), "SQLite file")}
	p.onLive(c, change.FileOrder{Before: p.before(), After: change.FingerprintOf([]byte(p.definition))})
	return c, nil
}

// formerIndexes are the differences of a table's indexes from those of a former state.
type formerIndexes struct {
	tableArgs
	add  map[string]string // statements by the names of the indexes
	drop []string
}

var _ indexAct = (*formerIndexes)(nil)

func (*formerIndexes) alter(definition) (alter, error) {
	return alter{}, errors.New("a server's table is restored by its definition")
}

func (a *formerIndexes) onFile(t fileTable) (fileAlter, error) {
	var out fileAlter
	for _, name := range a.drop {
		one, err := t.dropped(name)
		if errors.Is(err, change.ErrNothing) {
			continue
		}
		if err != nil {
			return out, err
		}
		out.do, out.undo = append(out.do, one.do...), slices.Concat(one.undo, out.undo)
	}
	for _, name := range slices.Sorted(maps.Keys(a.add)) {
		text := a.add[name]
		if t.created[strings.ToLower(name)] == text {
			continue
		}
		if unrecorded(text) {
			return out, fmt.Errorf("the statement of index %s cannot be recorded:\n%s", name, text)
		}
		out.do, out.undo = append(out.do, text), slices.Concat([]string{sqlitefile.DropIndex(name)}, out.undo)
	}
	if len(out.do) == 0 {
		return out, change.ErrNothing
	}
	return out, nil
}

// unrecorded reports whether the text of an order could not be read with a statement in it.
func unrecorded(text string) bool {
	return strings.Contains(text, ";\n") || strings.Contains(text, "-- table ")
}
