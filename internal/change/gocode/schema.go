package gocode

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/rewrite/gosource"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// schemaLimit bounds each question to a database.
const schemaLimit = 5 * time.Second

// liveSchema reads the tables of all databases of the site, and of its SQLite files.
func liveSchema(ctx context.Context, s *change.Site) (rewrite.Facts, error) {
	var known []iikanji.Fact
	for _, name := range slices.Sorted(maps.Keys(s.Services)) {
		if svc := s.Services[name]; len(svc.Files) > 0 {
			known = append(known, fileTables(ctx, s, name, svc)...)
		}
		if s.Services[name].DB() == nil {
			continue
		}
		more, err := tables(ctx, s, name)
		if err != nil {
			return rewrite.Facts{}, fmt.Errorf("reading the schema of %s: %w", name, err)
		}
		known = append(known, more...)
	}
	return gosource.SchemaOf(known), nil
}

// fileTables are the facts about the tables in the SQLite files of a service. Files that
// cannot be read have none: what is unknown allows no fix.
func fileTables(ctx context.Context, s *change.Site, name string, svc change.Service) (known []iikanji.Fact) {
	ctx, cancel := context.WithTimeout(ctx, schemaLimit)
	defer cancel()
	h, err := s.On(svc.Host)
	if err != nil {
		return nil
	}
	files, err := facts.ReadSQLite(ctx, h, svc.Files)
	if err != nil {
		return nil
	}
	for _, t := range files.Tables {
		known = append(known, facts.TableFacts(name, t)...)
	}
	return known
}

// tables are the facts about the tables of a database service: of the target's
// schema, or of the connection's own.
func tables(ctx context.Context, s *change.Site, name string) (known []iikanji.Fact, err error) {
	db := s.Services[name].DB()
	srv, err := facts.Connect(ctx, db, schemaLimit)
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	svc, _ := s.Target.Service(name)
	schema := svc.Schema
	if schema == "" {
		if err := db.QueryRowContext(ctx, "SELECT COALESCE(DATABASE(), '')").Scan(&schema); err != nil {
			return nil, err
		}
	}
	if schema == "" {
		return nil, nil
	}
	sized, err := srv.Tables(ctx, schema)
	for _, t := range sized {
		known = append(known, facts.TableFacts(name, t)...)
	}
	return known, err
}
