package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A DefinedError is a table that differs from a former definition in more than its indexes.
type DefinedError struct{ Table, Now, Then string }

func (e *DefinedError) Error() string {
	return "table " + e.Table + " differs in more than its indexes: its columns or options are not restored"
}

// Hints shows both definitions.
func (e *DefinedError) Hints() []string { return []string{"it is\n" + e.Now + "and was\n" + e.Then} }

// Restore plans a change that gives a table the indexes of a former definition, as SHOW
// CREATE TABLE printed it. The result is that definition to the byte, which is tried on an
// empty copy, as is the undo. It is no act of the kind: a remedy names intentions, and this
// names a whole definition.
func Restore(ctx context.Context, s *change.Site, service, schema, name, then string) (c *iikanji.Change, err error) {
	if slices.Contains(systemSchemas, strings.ToLower(schema)) {
		return nil, fmt.Errorf("schema %s is the server's own, and is not changed", schema)
	}
	db := s.Services[service].DB()
	if db == nil {
		return nil, fmt.Errorf("no database %q", service)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", service, err)
	}
	defer conn.Close()
	now, err := change.TableDefinition(ctx, conn, sqltext.MySQL.Quote(schema)+"."+sqltext.MySQL.Quote(name))
	if err != nil {
		return nil, err
	}
	if now == then {
		return nil, change.ErrNothing
	}
	is, ok1 := parseDefinition(now)
	was, ok2 := parseDefinition(then)
	if !ok1 || !ok2 || is.withoutKeys() != was.withoutKeys() {
		return nil, &DefinedError{schema + "." + name, now, then}
	}
	trial, err := openScratch(ctx, db, conn, schema, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trial.close(ctx)) }()
	t := tried{do: fromTo(is, was), online: true}
	if err := trial.copyOf(ctx, now); err != nil {
		return nil, err
	}
	if err := trial.alter(ctx, &t, t.do); err != nil {
		return nil, fmt.Errorf("trying %q on an empty copy: %w", strings.Join(t.do, ", "), err)
	}
	if t.after, err = trial.shown(ctx); err != nil {
		return nil, err
	}
	if t.after != then {
		return nil, &DefinedError{schema + "." + name, t.after, then}
	}
	if err := trial.back(ctx, now, fromTo(was, is), &t); err != nil {
		return nil, err
	}
	c = &iikanji.Change{Kind: Kind{}.Name(), Target: service, Says: "restore the indexes of " + schema + "." + name, Risk: t.risk()}
	onTable(c, s.Services[service].Host, t, now, trial.table)
	return c, nil
}

// withoutKeys is the definition without its indexes.
func (d definition) withoutKeys() string {
	d.elements = slices.DeleteFunc(slices.Clone(d.elements), func(e string) bool { _, ok := keyOf(e); return ok })
	return d.String()
}
