package ddl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// schemaFile edits the SQL file from which the app makes new SQLite files; nil without
// such a file. If the remedy's change must outlive initialize, the file or
// originals are required.
func (p *filePlan) schemaFile(ctx context.Context, args *tableArgs) (*change.Edit, error) {
	fits, others, err := p.creators(ctx, args.File)
	if err != nil {
		return nil, err
	}
	switch {
	case len(fits) > 1:
		return nil, &change.WhichFileError{Service: p.service, Table: p.table, Files: pathsOf(fits)}
	case len(fits) == 1:
		return p.edited(ctx, fits[0])
	case args.File != "":
		return nil, fmt.Errorf("%s does not create table %s as the files have it: %w", args.File, p.table, others)
	case args.Into != "" && len(p.copied) == 0:
		return nil, fmt.Errorf("no SQL file and no original is known by which table %s would keep its index: %w", p.table, others)
	}
	return nil, nil
}

// creators are the SQL files that create the table as the SQLite files have it. others
// is why further files with the table do not.
func (p *filePlan) creators(ctx context.Context, wanted string) (fits []schemaFile, others error, err error) {
	if len(p.site.Services[p.service].Loads) == 0 {
		return nil, errors.New("the target names no folder with SQL files of this service"), nil
	}
	own := &change.Site{Target: p.site.Target, Hosts: p.site.Hosts, Services: map[string]change.Service{p.service: p.site.Services[p.service]}}
	found, err := searchFiles(ctx, own, p.inFiles())
	if err != nil {
		return nil, nil, err
	}
	want := sqlitefile.Definition(p.found.Table)
	for _, f := range found.found {
		if wanted != "" && f.location() != wanted {
			continue
		}
		made, err := p.makes(ctx, f.defs)
		switch {
		case err != nil:
			others = errors.Join(others, fmt.Errorf("%s: %w", f.path, err))
		case made != want:
			others = errors.Join(others, fmt.Errorf("%s makes\n%s", f.path, made))
		default:
			fits = append(fits, f)
		}
	}
	return fits, others, nil
}

// inFiles is the table as statements of SQL files name it.
func (p *filePlan) inFiles() table {
	return table{dialect: sqltext.SQLite, schema: "main", name: p.table, fold: true}
}

// makes is the table that the statements of a file make in memory. No other statement
// of the file is executed.
func (p *filePlan) makes(ctx context.Context, defs []sqlschema.Statement) (string, error) {
	var run []string
	for _, d := range defs {
		if d.Verb == sqlschema.DropIndex {
			return "", fmt.Errorf("%s is not tried", plain.Cut(d.Text(), maxShown))
		}
		run = append(run, d.Text())
	}
	_, t, err := sqlitefile.Trial(ctx, p.table, run, nil)
	if err != nil {
		return "", err
	}
	return sqlitefile.Definition(t), nil
}

// edited edits a schema file: a dropped index loses its statement, and a new one has
// its statement after the last one of the table. The edit is tried in memory.
func (p *filePlan) edited(ctx context.Context, f schemaFile) (*change.Edit, error) {
	if err := f.editable(p.site); err != nil {
		return nil, err
	}
	var all []splice
	if p.drop != "" {
		gone, ok := elsewhere(f.sql, f.defs[1:], p.drop)
		if !ok {
			return nil, fmt.Errorf("no statement of %s makes index %s", f.path, p.drop)
		}
		all = append(all, gone...)
	}
	if p.fileAlter.add != "" {
		all = append(all, after(f.sql, f.defs[len(f.defs)-1], p.fileAlter.add))
	}
	text := spliced(f.sql, slices.Clone(all))
	again := p.inFiles().definitions(sqltext.SQLite.Statements(text))
	made, err := p.makes(ctx, again)
	if err == nil && made != p.definition {
		err = fmt.Errorf("it would make\n%sinstead of\n%s", made, p.definition)
	}
	if err != nil {
		return nil, fmt.Errorf("editing %s: %w", filepath.Base(f.path), err)
	}
	return &change.Edit{Path: f.path, Old: []byte(f.sql), New: []byte(text), Host: f.on}, nil
}

// after puts a statement on a line of its own after another one.
func after(sql string, d sqlschema.Statement, stmt string) splice {
	newline := lineEnd(sql[:d.End])
	if d.Delimiter == "" { // the file ends without a delimiter
		return splice{d.End, d.End, ";" + newline + stmt + ";"}
	}
	at := d.Next
	if i := strings.IndexByte(sql[at:], '\n'); i >= 0 && strings.TrimSpace(sql[at:at+i]) == "" {
		at += len(strings.TrimRight(sql[at:at+i], " \t\r"))
	}
	return splice{at, at, newline + stmt + d.Delimiter}
}
