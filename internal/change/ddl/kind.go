package ddl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans changes of indexes. Remedy.Target is the database service;
// Args["act"] chooses:
//
//	add index   schema table columns [index] [name] [drop] [srid] [weakens] [into [file]]
//	drop index  schema table name [weakens] [into [file]]
//
// columns is a list as DDL has it, "a, b DESC, c(10)"; index is btree or
// spatial; drop is an index that the new one replaces in the same statement;
// weakens is "nothing" when every query that shows several rows of the table
// sorts them; else another order may show, which is taken for granted. into is
// "schema file" for an index that initialize would wipe out, and file the one
// to edit where several create the table.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "ddl" }

// plainName is what names of schemas and tables may be made of here: an op's
// place is cut at "/" and ".".
var plainName = regexp.MustCompile(`^[\p{L}\p{N}_$-]{1,64}$`)

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (c *iikanji.Change, err error) {
	schema, name := r.Args["schema"], r.Args["table"]
	if !plainName.MatchString(schema) || !plainName.MatchString(name) {
		return nil, fmt.Errorf("table %q of schema %q: want plain names", name, schema)
	}
	if into := r.Args[argInto]; into != "" && into != schemaArg {
		return nil, fmt.Errorf("into %q: want %q", into, schemaArg)
	}
	weakens, err := promises(r.Args)
	if err != nil {
		return nil, err
	}
	db := s.Services[r.Target].DB
	if db == nil {
		return nil, fmt.Errorf("no database %q", r.Target)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", r.Target, err)
	}
	defer conn.Close()
	before, err := change.TableDefinition(ctx, conn, quote(schema)+"."+quote(name))
	if err != nil {
		return nil, err
	}
	a, nothing := alterFor(before, r.Args)
	if nothing != nil && (r.Args[argInto] == "" || !errors.Is(nothing, change.ErrNothing)) {
		return nil, nothing
	}
	trial, err := openScratch(ctx, db, conn, schema, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trial.close(ctx)) }()
	if nothing != nil {
		return nil, trial.already(ctx, s, r.Args[argFile], before)
	}
	a, t, err := trial.try(ctx, before, a)
	if err != nil {
		return nil, err
	}
	c = &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: a.says + " on " + schema + "." + name, Weakens: weakens, Risk: t.risk()}
	if r.Args[argInto] == "" {
		onTable(c, t, before, trial.table)
		return c, nil
	}
	edit, err := trial.intoFile(ctx, s, r.Args[argFile], before, a, t.after)
	if err != nil {
		return nil, err
	}
	c.Says += ", and in " + filepath.Base(edit.Path)
	change.FromEdits(c, iikanji.VerbUnknown, edit)
	onTable(c, t, before, trial.table)
	return c, nil
}

// onTable has a change alter the table: behind the edit of the schema file,
// and before it is undone.
func onTable(c *iikanji.Change, t tried, before string, on table) {
	place, name := change.TablePlace(c.Target, on.schema, on.name), quote(on.schema)+"."+quote(on.name)
	found, left := change.FingerprintOf([]byte(before)), change.FingerprintOf([]byte(t.after))
	c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Place: place, Body: altering(name, t.do), Expect: found})
	c.Undo = append([]iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: altering(name, t.undo), Expect: left}}, c.Undo...)
	if c.Ground == "" {
		c.Ground = found
	} else {
		c.Ground = change.FingerprintOf([]byte(c.Ground + found))
	}
}

// risk is what altering the table does to those who use it.
func (t tried) risk() iikanji.Risk {
	if t.online {
		return iikanji.RiskNone
	}
	return iikanji.RiskLock
}

func alterFor(before string, args map[string]string) (alter, error) {
	d, ok := parseDefinition(before)
	if !ok {
		return alter{}, fmt.Errorf("the definition is not understood (a view?):\n%s", before)
	}
	switch args["act"] {
	case "add index":
		return addIndex(d, args)
	case "drop index":
		if args["name"] == "" {
			return alter{}, fmt.Errorf("no name of an index to drop")
		}
		return dropIndex(d, args["name"])
	}
	return alter{}, fmt.Errorf("no act %q", args["act"])
}
