package change

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// filesPlace matches the places of FilesPlace and OriginalsPlace.
var filesPlace = regexp.MustCompile(`^([^/]+)/(files|originals):([^/]+)$`)

// OnFiles reports whether an op is on SQLite files.
func OnFiles(op iikanji.Op) bool {
	return op.Verb == iikanji.SQL && filesPlace.MatchString(op.Place)
}

// A fileState is the state of a place of SQLite files.
//
// The content is the distinct definitions of the table in the live files, or the list
// of the originals with their SHA-256. New files appear, and initialize replaces files,
// between two readings: what counts is that every file is in the expected state.
//
// Files in both of the states of an order are in the state that the order expects:
// it was interrupted and goes on. So are originals with copies that were not put in
// place, and live files if none of them has the table.
type fileState struct {
	now     iikanji.Fingerprint
	content string
}

// filesNow reads the state of an op's place. op.Expect and the order's other state
// decide how files in both states count.
func (s *Site) filesNow(ctx context.Context, op iikanji.Op) (fileState, error) {
	m := filesPlace.FindStringSubmatch(op.Place)
	order, err := ParseFileOrder(op.Body)
	if err != nil {
		return fileState{}, err
	}
	if m[2] == "originals" {
		return s.originalsNow(ctx, op, order)
	}
	definitions, err := s.definitions(ctx, m[1], m[3])
	if err != nil {
		return fileState{}, err
	}
	out := fileState{now: op.Expect, content: strings.Join(definitions, "")}
	switch {
	case len(definitions) == 0:
	case len(definitions) == 1:
		out.now = FingerprintOf([]byte(definitions[0]))
	case slices.ContainsFunc(definitions, func(d string) bool {
		f := FingerprintOf([]byte(d))
		return f != order.Before && f != order.After
	}):
		out.now = FingerprintOf([]byte(out.content))
	}
	return out, nil
}

// definitions are the distinct definitions of a table in the live files of a service,
// sorted.
func (s *Site) definitions(ctx context.Context, service, table string) ([]string, error) {
	files, err := s.LiveFiles(ctx, service)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var lock sync.Mutex
	err = eachFile(ctx, files, func(ctx context.Context, path string) error {
		d, err := sqlitefile.TableIn(ctx, path, table)
		if err != nil {
			return fmt.Errorf("reading table %s of %s: %w", table, path, err)
		}
		lock.Lock()
		defer lock.Unlock()
		if d != "" {
			seen[d] = true
		}
		return nil
	})
	var out []string
	for d := range seen {
		out = append(out, d)
	}
	slices.Sort(out)
	return out, err
}

// LiveFiles lists the SQLite files that the app of a service has in use.
func (s *Site) LiveFiles(ctx context.Context, service string) ([]string, error) {
	svc, ok := s.Services[service]
	if !ok || len(svc.Files) == 0 {
		return nil, fmt.Errorf("no service %q with SQLite files", service)
	}
	return s.find(ctx, svc.Host, svc.Files...)
}

// OriginalFiles lists the SQLite files that the site's initialize copies, with their
// folder without links.
func (s *Site) OriginalFiles(ctx context.Context, service string) (folder string, paths []string, err error) {
	svc := s.Services[service]
	if svc.Originals == "" {
		return "", nil, nil
	}
	if folder, err = s.RealPlace(svc.Host, svc.Originals); err != nil {
		return "", nil, err
	}
	paths, err = s.find(ctx, svc.Host, folder)
	return folder, paths, err
}

func (s *Site) find(ctx context.Context, on string, folders ...string) ([]string, error) {
	h, err := s.On(on)
	if err != nil {
		return nil, err
	}
	files, err := sqlitefile.Find(ctx, h, folders...)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths, err
}

// workers is how many files are read or altered at the same time.
const workers = 2

// eachFile calls do for each file, and returns the first error.
func eachFile(ctx context.Context, paths []string, do func(ctx context.Context, path string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan string)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for p := range next {
				if ctx.Err() == nil {
					if err := do(ctx, p); err != nil {
						cancel(err)
					}
				}
			}
		})
	}
	for _, p := range paths {
		next <- p
	}
	close(next)
	running.Wait()
	return context.Cause(ctx)
}

func (s *Site) originalsNow(ctx context.Context, op iikanji.Op, order FileOrder) (fileState, error) {
	o, err := s.rooted(op, order)
	if err != nil {
		return fileState{}, err
	}
	states, text, err := o.States(ctx)
	if err != nil {
		return fileState{}, err
	}
	out := fileState{now: op.Expect, content: text}
	is := func(all sqlitefile.State) bool {
		return !slices.ContainsFunc(states, func(s sqlitefile.State) bool { return s != all })
	}
	found, left := OriginalsState(order, false), OriginalsState(order, true)
	switch {
	case slices.ContainsFunc(states, func(s sqlitefile.State) bool {
		return s == sqlitefile.Foreign || s == sqlitefile.Missing
	}):
		out.now = FingerprintOf([]byte(text))
	case is(sqlitefile.Original) && !o.Unfinished():
		out.now = found
	case is(sqlitefile.Altered):
		out.now = left
	}
	return out, nil
}

// OriginalsState is the fingerprint of originals, or of their altered copies: of the
// content of the originals and of what becomes of their table. The bytes of the copies
// are not known before they are made.
func OriginalsState(o FileOrder, altered bool) iikanji.Fingerprint {
	o.Statements = nil
	text := o.String()
	if altered {
		text = "altered\n" + text
	}
	return FingerprintOf([]byte(text))
}

// rooted finds the folder of the target that the originals are below.
func (s *Site) rooted(op iikanji.Op, order FileOrder) (sqlitefile.Originals, error) {
	o := order.Originals
	h, err := s.On(op.Host)
	if err != nil {
		return o, err
	}
	if h.Name() != "" {
		return o, sqlitefile.ErrElsewhere
	}
	if len(o.Files) == 0 {
		return o, fmt.Errorf("the order on %s names no originals", op.Place)
	}
	if o.Root, err = s.rootOf(h, op.Host, o.Folder+"/x"); err != nil {
		return o, err
	}
	if store, err := s.rootOf(h, op.Host, o.Store); err != nil || store != o.Root {
		return o, fmt.Errorf("%s and %s are not below one folder of the target", o.Folder, o.Store)
	}
	return o, nil
}

// performFiles performs an op on SQLite files. It can be performed again: files that
// have its effect stay.
func (s *Site) performFiles(ctx context.Context, op iikanji.Op) error {
	m := filesPlace.FindStringSubmatch(op.Place)
	order, err := ParseFileOrder(op.Body)
	if err != nil {
		return err
	}
	a := sqlitefile.Alteration{Table: m[3], Statements: order.Statements,
		Before: func(d string) bool { return FingerprintOf([]byte(d)) == order.Before },
		After:  func(d string) bool { return FingerprintOf([]byte(d)) == order.After }}
	alter := func(ctx context.Context, path string) error { return sqlitefile.Alter(ctx, path, a) }
	if m[2] == "files" {
		files, err := s.LiveFiles(ctx, m[1])
		if err != nil {
			return err
		}
		return eachFile(ctx, files, alter)
	}
	o, err := s.rooted(op, order)
	if err != nil {
		return err
	}
	if len(order.Statements) == 0 {
		return o.Restore(ctx)
	}
	return o.Replace(ctx, alter)
}
