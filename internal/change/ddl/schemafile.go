package ddl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Limits of the search for the schema file.
const (
	maxFile  = 4 << 20 // a larger file is taken for data and is not edited
	fileHead = 1 << 20 // of a larger file, only this much is read
	maxFiles = 1000
)

// A schemaFile is a file that creates the table.
type schemaFile struct {
	on   string // HostRef.Name
	path string
	sql  string
	all  []sqltext.Statement
	defs []sqlschema.Statement // those of the table, CREATE TABLE first
}

// A search holds what was found in the folders that initialize loads.
type search struct {
	table
	dirs  []folder
	found []schemaFile
	more  []sqlschema.Statement // statements on the table, in files that do not create it
	large []string              // files too large to be read whole, with or without the table
	// creates are the files of large whose beginning creates the table.
	creates []string
}

// A folder is a folder of one host.
type folder struct{ on, dir string }

// location returns a path with its host, as Op.Location does.
func location(on, path string) string { return iikanji.Op{Host: on, Place: path}.Location() }

// A table is a table of one schema.
type table struct {
	dialect      sqltext.Dialect
	schema, name string
	fold         bool // the server ignores the case of table names
}

// searchFiles finds the files that create a table, in all folders that the
// site's initialize loads.
func searchFiles(ctx context.Context, s *change.Site, t table) (*search, error) {
	found := &search{table: t}
	for _, name := range slices.Sorted(maps.Keys(s.Services)) {
		for _, dir := range s.Services[name].Loads {
			if f := (folder{s.Services[name].LoadsOn, filepath.Clean(dir)}); !slices.Contains(found.dirs, f) {
				found.dirs = append(found.dirs, f)
			}
		}
	}
	if len(found.dirs) == 0 {
		return nil, errors.New("it is not known where the SQL files lie that initialize loads")
	}
	files, err := sqlFiles(ctx, s, found.dirs)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		h, err := s.On(f.on)
		if err != nil {
			return nil, err
		}
		sql, large, err := readHead(h, f.path)
		if err != nil {
			return nil, err
		}
		f.sql = sql
		found.add(f, large)
	}
	return found, nil
}

// add parses one file and records it.
func (found *search) add(f schemaFile, large bool) {
	f.all = found.dialect.Statements(f.sql)
	f.defs = found.definitions(f.all)
	creates := len(f.defs) > 0 && f.defs[0].Verb == sqlschema.CreateTable
	switch {
	case large:
		found.large = append(found.large, f.location())
		if creates {
			found.creates = append(found.creates, f.location())
		}
	case creates:
		found.found = append(found.found, f)
	default:
		found.more = append(found.more, f.defs...)
	}
}

// sqlFiles lists the SQL files in folders and their subfolders, except hidden
// ones.
func sqlFiles(ctx context.Context, s *change.Site, dirs []folder) ([]schemaFile, error) {
	var files []schemaFile
	for _, in := range dirs {
		dir := in.dir
		h, err := s.On(in.on)
		if err != nil {
			return nil, err
		}
		known := func(path string) bool {
			return slices.ContainsFunc(files, func(f schemaFile) bool { return f.on == in.on && f.path == path })
		}
		err = h.Walk(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			switch {
			case err != nil:
				return err
			case path != dir && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return filepath.SkipDir
				}
			case d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".sql") || known(path):
			case len(files) == maxFiles:
				return fmt.Errorf("more than %d SQL files", maxFiles)
			default:
				files = append(files, schemaFile{on: in.on, path: path})
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for the schema file below %s: %w", location(in.on, dir), err)
		}
	}
	return files, nil
}

// readHead reads a file, or the beginning of a large one. Anything but a regular
// file (a pipe, a broken link) counts as empty.
func readHead(h host.Host, path string) (sql string, large bool, err error) {
	info, err := h.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false, nil
	}
	f, err := h.Open(path)
	if err != nil {
		return "", false, fmt.Errorf("looking for the schema file: %w", err)
	}
	defer f.Close()
	n := int64(maxFile)
	if info.Size() > maxFile {
		n, large = fileHead, true
	}
	b, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return "", false, fmt.Errorf("looking for the schema file: %w", err)
	}
	return string(b), large, nil
}

// definitions returns the statements of a file that define the table, from its
// last CREATE TABLE on if it has one.
func (t table) definitions(all []sqltext.Statement) []sqlschema.Statement {
	same := func(a, b string) bool { return a == b || t.fold && strings.EqualFold(a, b) }
	var defs []sqlschema.Statement
	current := ""
	for _, s := range all {
		if c := (&sqltext.Cursor{Tokens: s.Tokens}); len(s.Tokens) == 2 && c.Take("use") {
			current, _ = c.Name()
		}
		d, ok := sqlschema.Of(s)
		if !ok || !same(d.Table, t.name) {
			continue
		}
		if in := or(d.Schema, current); in != "" && !same(in, t.schema) {
			continue
		}
		if d.Verb == sqlschema.CreateTable {
			defs = nil
		}
		defs = append(defs, d)
	}
	return defs
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// location returns the file's path with its host.
func (f schemaFile) location() string { return location(f.on, f.path) }

// editable refuses a file that cannot be shown as text, or that the target does
// not allow to be written.
func (f schemaFile) editable(s *change.Site) error {
	if !utf8.ValidString(f.sql) {
		return fmt.Errorf("%s holds bytes that are not UTF-8: it cannot be edited and shown as text", f.path)
	}
	return s.MayWrite(f.on, f.path)
}

// schemaFileOf finds the one file that gives the table's present definition. If
// several do, wanted must name one.
func (s *scratch) schemaFileOf(ctx context.Context, site *change.Site, wanted, before string) (*search, schemaFile, error) {
	found, err := searchFiles(ctx, site, s.table)
	if err != nil {
		return nil, schemaFile{}, err
	}
	var fits []schemaFile
	var why error
	for _, f := range found.found {
		if wanted != "" && f.location() != wanted {
			continue
		}
		if text, err := s.load(ctx, f.all, f.defs, found.more); err != nil {
			why = errors.Join(why, fmt.Errorf("%s: %w", f.path, err))
		} else if text != before {
			why = errors.Join(why, fmt.Errorf("%s makes\n%sand the table is\n%s", f.path, text, before))
		} else {
			fits = append(fits, f)
		}
	}
	switch {
	case len(fits) == 1:
		return found, fits[0], nil
	case len(fits) > 1:
		err = &change.WhichFileError{Table: found.name, Files: pathsOf(fits)}
	case why != nil:
		err = fmt.Errorf("no file makes table %s as it is: %w", found.name, why)
	default:
		err = found.nothing(wanted)
	}
	return nil, schemaFile{}, err
}

// already returns the error for a table that already has the change: ErrNothing
// if the schema file has it too.
func (s *scratch) already(ctx context.Context, site *change.Site, wanted, before string) error {
	if _, _, err := s.schemaFileOf(ctx, site, wanted, before); err != nil {
		return fmt.Errorf("the table has the index already, its file does not: revert the change of the table first: %w", err)
	}
	return change.ErrNothing
}

// nothing returns the error for a table that no file creates. It lists the files
// that were not read whole.
func (found *search) nothing(wanted string) error {
	switch {
	case wanted != "":
		return fmt.Errorf("%s does not create table %s, or is not among the files that initialize loads", wanted, found.name)
	case len(found.creates) > 0:
		return fmt.Errorf("table %s is created in %s, which is larger than %s: a file of data is not edited",
			found.name, strings.Join(found.creates, ", "), iikanji.Bytes(maxFile))
	}
	var dirs []string
	for _, in := range found.dirs {
		dirs = append(dirs, location(in.on, in.dir))
	}
	err := fmt.Errorf("no SQL file below %s creates table %s", strings.Join(dirs, ", "), found.name)
	if len(found.large) > 0 {
		err = fmt.Errorf("%w (only the first %s were read of %s)", err, iikanji.Bytes(fileHead), strings.Join(found.large, ", "))
	}
	return err
}

func pathsOf(files []schemaFile) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.location())
	}
	return all
}

func paths(files []schemaFile) string { return strings.Join(pathsOf(files), ", ") }

// intoFile edits the schema file so that initialize creates the table in the
// state after the change.
func (s *scratch) intoFile(ctx context.Context, site *change.Site, wanted, before string, a alter, after string) (change.Edit, error) {
	found, f, err := s.schemaFileOf(ctx, site, wanted, before)
	if err != nil {
		return change.Edit{}, err
	}
	if err := f.editable(site); err != nil {
		return change.Edit{}, err
	}
	var why error
	for _, sql := range edits(f.sql, f.defs, a) {
		all := found.dialect.Statements(sql)
		text, err := s.load(ctx, all, found.definitions(all), found.more)
		if err == nil && text == after {
			return change.Edit{Path: f.path, Old: []byte(f.sql), New: []byte(sql), Host: f.on}, nil
		}
		if err == nil {
			err = fmt.Errorf("it would make\n%sinstead of\n%s", text, after)
		}
		why = errors.Join(why, err)
	}
	return change.Edit{}, fmt.Errorf("no edit of %s makes the table as the change leaves it: %w", f.path, why)
}
