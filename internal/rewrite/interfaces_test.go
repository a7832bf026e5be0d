package rewrite

import (
	"strings"
	"testing"
)

// storePackage asks through an interface of its own, and uses the first row only.
const storePackage = `package store

import (
	"context"
	"database/sql"
)

type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type Store struct{ q asker }

func New(q asker) *Store { return &Store{q} }

func (s *Store) Name(ctx context.Context, level int) (name string, err error) {
	rows, err := s.q.QueryContext(ctx, "SELECT name FROM user WHERE level = ? ORDER BY id", level)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&name)
	}
	return name, err
}
`

// TestInterfaceOfProgram: what implements an interface of a package may be in a package
// that imports it. A type that counts the calls keeps the levers off.
func TestInterfaceOfProgram(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\t\"database/sql\"\n\n\t\"example.org/app/store\"\n)\n\n"
	type interfaceCase struct {
		main string
		fire bool
	}
	cases := map[string]interfaceCase{
		"a pool":                    {head + "func open(db *sql.DB) *store.Store { return store.New(db) }\n\nfunc main() { open(nil).Name(context.Background(), 1) }\n", true},
		"a type that embeds a pool": {head + "type handle struct {\n\t*sql.DB\n\tname string\n}\n\nfunc open(h handle) *store.Store { return store.New(h) }\n\nfunc main() { open(handle{}).Name(context.Background(), 1) }\n", true},
		"a type that counts": {head + "type counting struct {\n\t*sql.DB\n\tn int\n}\n\nfunc (c *counting) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {\n\tc.n++\n\treturn c.DB.QueryContext(ctx, query, args...)\n}\n\n" +
			"func open(c *counting) *store.Store { return store.New(c) }\n\nfunc main() { open(&counting{}).Name(context.Background(), 1) }\n", false},
		"a generic type that counts": {head + "type counting[T any] struct {\n\tdb *sql.DB\n\tn T\n}\n\nfunc (c *counting[T]) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {\n\treturn c.db.QueryContext(ctx, query, args...)\n}\n\n" +
			"func open(c *counting[int]) *store.Store { return store.New(c) }\n\nfunc main() { open(nil).Name(context.Background(), 1) }\n", false},
		"a type with another method of that name": {head + "type queue struct{}\n\nfunc (queue) QueryContext(n int) int { return n }\n\nfunc main() { store.New(nil).Name(context.Background(), queue{}.QueryContext(1)) }\n\nvar _ sql.DB\n", true},
	}
	apps := loadEach(t, cases, func(_ string, c interfaceCase) map[string]string {
		return map[string]string{"main.go": c.main, "store/store.go": storePackage}
	})
	for name, c := range cases {
		res, err := runOn(apps[name].dir, apps[name].pkgs, Facts{}, []*Lever{&firstRowOnly})
		if err != nil || len(res.Problems) > 0 {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		if fired := len(res.Hits) == 1 && len(res.Hits[0].Variants) == 1 && strings.HasSuffix(res.Hits[0].File, "store.go"); fired != c.fire || !c.fire && len(res.Hits) > 0 {
			t.Errorf("%s: %+v", name, res.Hits)
		}
	}
}
