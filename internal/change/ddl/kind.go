package ddl

import (
	"context"
	"fmt"
	"regexp"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans changes of indexes. Remedy.Target is the database service;
// Args["act"] chooses:
//
//	add index   schema table columns [index] [name] [drop] [weakens]
//	drop index  schema table name [weakens]
//
// columns is a list as DDL has it, "a, b DESC, c(10)"; drop is an index that
// the new one replaces in the same statement; weakens is "row-order" when a
// query without ORDER BY shows another order by it.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "ddl" }

// plainName is what names of schemas and tables may be made of here: an op's
// place is cut at "/" and ".".
var plainName = regexp.MustCompile(`^[\p{L}\p{N}_$-]{1,64}$`)

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	schema, table := r.Args["schema"], r.Args["table"]
	if !plainName.MatchString(schema) || !plainName.MatchString(table) {
		return nil, fmt.Errorf("table %q of schema %q: want plain names", table, schema)
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
	name := quote(schema) + "." + quote(table)
	before, err := change.TableDefinition(ctx, conn, name)
	if err != nil {
		return nil, err
	}
	a, err := alterFor(before, r.Args)
	if err != nil {
		return nil, err
	}
	weakens, err := promises(r.Args)
	if err != nil {
		return nil, err
	}
	after, err := trial(ctx, conn, schema, table, before, a)
	if err != nil {
		return nil, err
	}
	place, ground := change.TablePlace(r.Target, schema, table), change.FingerprintOf([]byte(before))
	return &iikanji.Change{
		Kind: k.Name(), Target: r.Target, Says: a.says + " on " + schema + "." + table, Ground: ground, Weakens: weakens, Risk: iikanji.RiskLock,
		Do:   []iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: statement(name, a.do), Expect: ground}},
		Undo: []iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: statement(name, a.undo), Expect: change.FingerprintOf([]byte(after))}},
	}, nil
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
