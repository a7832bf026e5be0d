package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// SQLite is the SQLite files of a service.
type SQLite struct {
	Dialect catalog.Dialect
	Groups  []sqlitefile.Group
	Tables  []SizedTable // of all groups, as the largest file of each has them
	// Unread are the files that could not be read, with the reasons.
	Unread []error
}

// ReadSQLite reads the files in folders: their groups, and the tables of each group's
// largest file with estimated sizes. It takes SQLite's shared locks for the time of one
// short statement only.
func ReadSQLite(ctx context.Context, h host.Host, folders []string) (*SQLite, error) {
	files, err := sqlitefile.Find(ctx, h, folders...)
	if err != nil {
		return nil, err
	}
	s := &SQLite{}
	s.Groups, s.Unread = sqlitefile.Groups(ctx, files)
	if len(s.Groups) == 0 {
		return nil, fmt.Errorf("no SQLite file with tables is below %s", strings.Join(folders, ", "))
	}
	for _, g := range s.Groups {
		if err := s.size(ctx, g); err != nil {
			return nil, err
		}
	}
	return s, ctx.Err()
}

// with calls use with a reader of the largest file of a group, for a limited time.
func with(ctx context.Context, g sqlitefile.Group, use func(context.Context, *sqlitefile.Reader) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, sqlitefile.Within)
	defer cancel()
	r, err := sqlitefile.Read(ctx, g.Largest().Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return use(ctx, r)
}

func (s *SQLite) size(ctx context.Context, g sqlitefile.Group) error {
	return with(ctx, g, func(ctx context.Context, r *sqlitefile.Reader) error {
		var err error
		if s.Dialect, err = r.Version(ctx); err != nil {
			return err
		}
		sizes := r.Sizes(ctx)
		for _, t := range g.Tables {
			rows, err := r.Rows(ctx, t)
			if err != nil {
				return err
			}
			z := SizedTable{Table: t, Size: catalog.TableSize{Rows: rows, Data: sizes[t.Name], Distinct: map[string]float64{}}}
			for _, ix := range t.Indexes {
				z.Size.Index += sizes[ix.Name]
			}
			s.Tables = append(s.Tables, z)
		}
		return nil
	})
}

// Facts are the facts of the files: dialect, groups, tables and sizes.
func (s *SQLite) Facts(target string) []iikanji.Fact {
	out := []iikanji.Fact{fact.TopicDialect.Fact(target, "version", s.Dialect, false)}
	for _, g := range s.Groups {
		large := g.Largest()
		v := catalog.FileGroup{Files: len(g.Files), Size: g.Size(), PageSize: large.PageSize, Largest: large.Path, LargeAs: large.Size}
		for _, f := range g.Files {
			if f.WAL {
				v.WAL++
			}
		}
		out = append(out, fact.TopicFileGroup.Fact(target, g.Name, v, true))
	}
	for _, t := range s.Tables {
		out = append(out, TableFacts(target, t)...)
	}
	return out
}

// Count estimates distinct values and shares of predicates from a sample of the largest
// file's rows.
func (s *SQLite) Count(ctx context.Context, schema, table string, columns, predicates []string) (*SizedTable, map[string]float64, error) {
	at := slices.IndexFunc(s.Tables, func(t SizedTable) bool {
		return strings.EqualFold(t.Schema, schema) && strings.EqualFold(t.Name, table)
	})
	g := slices.IndexFunc(s.Groups, func(g sqlitefile.Group) bool { return strings.EqualFold(g.Name, schema) })
	if at < 0 || g < 0 {
		return nil, nil, nil
	}
	t := &s.Tables[at]
	var shares map[string]float64
	err := with(ctx, s.Groups[g], func(ctx context.Context, r *sqlitefile.Reader) (err error) {
		var distinct map[string]float64
		distinct, shares, err = r.Sample(ctx, t.Table, t.Size.Rows, columns, predicates)
		for c, n := range distinct {
			t.Size.Distinct[c] = n
		}
		return err
	})
	return t, shares, err
}

// Explain reads the query plan of a statement in the largest file of the group that it
// was sent to: of a named one, or of the first one whose tables it can use.
func (s *SQLite) Explain(ctx context.Context, group, sql string) (catalog.QueryPlan, error) {
	err := fmt.Errorf("planning %.60s: no group of files %q", sql, group)
	for _, g := range s.Groups {
		if group != "" && !strings.EqualFold(group, g.Name) {
			continue
		}
		var p catalog.QueryPlan
		if err = with(ctx, g, func(ctx context.Context, r *sqlitefile.Reader) (err error) {
			p, err = r.Explain(ctx, sql)
			return err
		}); err == nil {
			return p, nil
		}
	}
	return catalog.QueryPlan{}, err
}

// GroupOf is the name of the group of a file; "" if no group has it. The file is given by
// the name that a statement log has for it: its path, its file name, or its file name
// without the extension.
func (s *SQLite) GroupOf(name string) string {
	for _, g := range s.Groups {
		if strings.EqualFold(g.Name, name) {
			return g.Name
		}
		for _, f := range g.Files {
			base := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
			stem, _, _ := strings.Cut(base, ".")
			if name == f.Path || name == base || name == stem {
				return g.Name
			}
		}
	}
	return ""
}
