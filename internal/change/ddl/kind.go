package ddl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

func init() { change.Register(Kind{}) }

// Kind plans changes of indexes. Remedy.Target is the database service,
// Args["act"] the act. acts.go has the acts and their arguments.
type Kind struct{}

var _ change.Laster = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "ddl" }

// systemSchemas belong to the server. A change there can lock every account out.
var systemSchemas = []string{"mysql", "information_schema", "performance_schema", "sys", "ndbinfo", scratchSchema}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (c *iikanji.Change, err error) {
	_, act, err := match(r)
	if err != nil {
		return nil, err
	}
	defer func() {
		var which *change.WhichFileError
		if errors.As(err, &which) {
			which.Service = r.Target
			which.Choose = func(ctx context.Context, executed []string) (iikanji.Remedy, error) {
				return byExecuted(ctx, s, r, executed)
			}
		}
	}()
	if len(s.Services[r.Target].Files) > 0 {
		return planFiles(ctx, s, r, act)
	}
	args := act.common()
	schema, name := string(args.Schema), string(args.Table)
	if slices.Contains(systemSchemas, strings.ToLower(schema)) {
		return nil, fmt.Errorf("schema %s is the server's own, and is not changed", schema)
	}
	db := s.Services[r.Target].DB()
	if db == nil {
		return nil, fmt.Errorf("no database %q", r.Target)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", r.Target, err)
	}
	defer conn.Close()
	before, err := change.TableDefinition(ctx, conn, sqltext.MySQL.Quote(schema)+"."+sqltext.MySQL.Quote(name))
	if err != nil {
		return nil, err
	}
	a, nothing := alterFor(before, act)
	if nothing != nil && (args.Into == "" || !errors.Is(nothing, change.ErrNothing)) {
		return nil, nothing
	}
	trial, err := openScratch(ctx, db, conn, schema, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trial.close(ctx)) }()
	if nothing != nil {
		return nil, trial.already(ctx, s, args.File, before)
	}
	a, t, err := trial.try(ctx, before, a)
	if err != nil {
		return nil, err
	}
	c = &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: a.says + " on " + schema + "." + name, Weakens: promise.Index(r.Proves(iikanji.RowsSorted)), Risk: t.risk()}
	if args.Into == "" {
		onTable(c, s.Services[r.Target].Host, t, before, trial.table)
		return c, nil
	}
	edit, err := trial.intoFile(ctx, s, args.File, before, a, t.after)
	if err != nil {
		return nil, err
	}
	c.Says += ", and in " + filepath.Base(edit.Path)
	change.FromEdits(c, iikanji.VerbUnknown, edit)
	onTable(c, s.Services[r.Target].Host, t, before, trial.table)
	return c, nil
}

// onTable adds the ALTER to a change: after the edit of the schema file in Do,
// before it in Undo.
func onTable(c *iikanji.Change, host string, t tried, before string, on table) {
	place, name := change.TablePlace(c.Target, on.schema, on.name), sqltext.MySQL.Quote(on.schema)+"."+sqltext.MySQL.Quote(on.name)
	found, left := change.FingerprintOf([]byte(before)), change.FingerprintOf([]byte(t.after))
	c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Host: host, Place: place, Body: altering(name, t.do), Expect: found})
	c.Undo = append([]iikanji.Op{{Verb: iikanji.SQL, Host: host, Place: place, Body: altering(name, t.undo), Expect: left}}, c.Undo...)
	if c.Ground == "" {
		c.Ground = found
	} else {
		c.Ground = change.FingerprintOf([]byte(c.Ground + found))
	}
}

// risk returns the effect of the ALTER on clients that use the table.
func (t tried) risk() iikanji.Risk {
	if t.online {
		return iikanji.RiskNone
	}
	return iikanji.RiskLock
}
