package ddl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// storeFolder holds the originals that changes in force have replaced, in a folder for
// each change beside the folder of the originals.
const storeFolder = ".iikanji-originals"

// spareSpace is how much of the file system stays free besides the copies of the
// originals: the app writes to it, too.
const spareSpace = 256 << 20

// A filePlan is what planning in SQLite files has read.
type filePlan struct {
	site    *change.Site
	service string
	table   string
	live    []string
	folder  string   // of the originals
	copied  []string // the originals that have the table
	found   fileTable
	create  []string // statements that create the table as found
	fileAlter
}

// planFiles plans a change of indexes in all SQLite files of a service: the live files,
// the originals that initialize copies, and the schema file from which the app makes
// new files.
func planFiles(ctx context.Context, s *change.Site, r iikanji.Remedy, act indexAct) (*iikanji.Change, error) {
	p := &filePlan{site: s, service: r.Target, table: string(act.common().Table)}
	if err := p.read(ctx, act); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: Kind{}.Name(), Target: r.Target, Says: p.says + " on " + p.table + " in " + counted(len(p.live), "SQLite file"),
		Weakens: promise.Index(r.Proves(iikanji.RowsSorted)), Risk: iikanji.RiskLock}
	edit, err := p.schemaFile(ctx, act.common())
	if err != nil {
		return nil, err
	}
	if edit != nil {
		change.FromEdits(c, iikanji.VerbUnknown, *edit)
	}
	order := change.FileOrder{Before: p.before(), After: change.FingerprintOf([]byte(p.definition))}
	if len(p.copied) > 0 {
		if err := p.onOriginals(ctx, c, order); err != nil {
			return nil, err
		}
		c.Says += ", in " + counted(len(p.copied), "original")
	}
	if edit != nil {
		c.Says += ", and in " + filepath.Base(edit.Path)
	}
	p.onLive(c, order)
	return c, nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (p *filePlan) before() iikanji.Fingerprint {
	return change.FingerprintOf([]byte(sqlitefile.Definition(p.found.Table)))
}

// read reads the table in all files, and plans what lacks in them. Files that have the
// effect already stay as they are.
func (p *filePlan) read(ctx context.Context, act indexAct) (err error) {
	if p.live, err = p.site.LiveFiles(ctx, p.service); err != nil {
		return err
	}
	folder, originals, err := p.site.OriginalFiles(ctx, p.service)
	if err != nil {
		return err
	}
	p.folder = folder
	without, with := map[string]string{}, map[string]bool{} // definitions; without by a path
	have := 0
	for i, path := range slices.Concat(p.live, originals) {
		t, err := readFileTable(ctx, path, p.table)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		have++
		if i >= len(p.live) {
			p.copied = append(p.copied, path)
		}
		a, err := act.onFile(*t)
		switch {
		case errors.Is(err, change.ErrNothing):
			with[sqlitefile.Definition(t.Table)] = true
			continue
		case err != nil:
			return err
		}
		without[sqlitefile.Definition(t.Table)] = path
		p.found, p.fileAlter = *t, a
	}
	switch {
	case have == 0:
		return fmt.Errorf("no SQLite file of %s has a table %s", p.service, p.table)
	case len(without) == 0:
		return change.ErrNothing
	case len(without) > 1:
		return fmt.Errorf("the files define table %s in different ways:\n%s", p.table, strings.Join(slices.Sorted(keys(without)), "\nand\n"))
	}
	for _, path := range without {
		if p.create, err = sqlitefile.Created(ctx, path, p.table); err != nil {
			return err
		}
	}
	if err := p.try(ctx); err != nil {
		return err
	}
	for d := range with {
		if d != p.definition {
			return fmt.Errorf("some files have the effect already, in another way:\n%s", d)
		}
	}
	return nil
}

func keys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// try makes and undoes the change on an empty table in memory.
func (p *filePlan) try(ctx context.Context) error {
	was, is, err := sqlitefile.Trial(ctx, p.table, p.create, p.do)
	if err != nil {
		return fmt.Errorf("trying it on an empty table: %w", err)
	}
	found := sqlitefile.Definition(p.found.Table)
	if sqlitefile.Definition(was) != found {
		return fmt.Errorf("the statements of table %s make another table than it is:\n%s\nand\n%s", p.table, sqlitefile.Definition(was), found)
	}
	p.definition = sqlitefile.Definition(is)
	_, back, err := sqlitefile.Trial(ctx, p.table, slices.Concat(p.create, p.do), p.undo)
	if err != nil {
		return fmt.Errorf("trying the undo on an empty table: %w", err)
	}
	if sqlitefile.Definition(back) != found {
		return fmt.Errorf("the undo would not lead back to the definition of %s, but to\n%s", p.table, sqlitefile.Definition(back))
	}
	return nil
}

// readFileTable reads a table in a file; nil if the file has no such table.
func readFileTable(ctx context.Context, path, table string) (_ *fileTable, err error) {
	ctx, cancel := context.WithTimeout(ctx, sqlitefile.Within)
	defer cancel()
	r, err := sqlitefile.ReadRecovered(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	all, err := r.Tables(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	at := slices.IndexFunc(all, func(t catalog.Table) bool { return strings.EqualFold(t.Name, table) })
	if at < 0 {
		return nil, nil
	}
	t := &fileTable{Table: all[at]}
	for _, other := range all {
		t.taken = append(t.taken, other.Name)
		for _, ix := range other.Indexes {
			t.taken = append(t.taken, ix.Name)
		}
	}
	t.created, err = r.IndexStatements(ctx, t.Name)
	return t, err
}

// onOriginals adds the replacement of the originals to a change.
func (p *filePlan) onOriginals(ctx context.Context, c *iikanji.Change, order change.FileOrder) error {
	svc := p.site.Services[p.service]
	h, err := p.site.On(svc.Host)
	if err != nil {
		return err
	}
	need := int64(spareSpace)
	for _, path := range p.copied {
		if err := p.site.MayWrite(svc.Host, path); err != nil {
			return err
		}
		if info, err := h.Stat(path + "-wal"); err == nil && info.Size() > 0 {
			return fmt.Errorf("%s has rows in its write-ahead log, which a copy of the file would lack", path)
		}
		info, err := h.Stat(path)
		if err != nil {
			return err
		}
		need += 2 * info.Size() // the copy with its index
	}
	if free, err := h.FreeSpace(p.folder); err != nil {
		return err
	} else if free < need {
		return fmt.Errorf("the copies of the originals below %s need %s, and %s are free", p.folder, iikanji.Bytes(need), iikanji.Bytes(free))
	}
	order.Originals.Folder = p.folder
	if order.Originals.Files, err = sqlitefile.Summed(ctx, p.folder, p.copied); err != nil {
		return err
	}
	beside := filepath.Dir(p.folder)
	if p.site.MayWrite(svc.Host, filepath.Join(beside, storeFolder)) != nil { // the folder is the target's own
		beside = p.folder
	}
	key := sha256.Sum256([]byte(strings.Join(p.do, ";") + order.String()))
	order.Originals.Store = filepath.Join(beside, storeFolder, hex.EncodeToString(key[:8]))
	do, undo := order, order
	do.Statements = p.do
	found, left := change.OriginalsState(order, false), change.OriginalsState(order, true)
	p.add(c, svc.Host, change.OriginalsPlace(p.service, p.table), do, undo, found, left)
	return nil
}

// onLive adds the alteration of the live files to a change.
func (p *filePlan) onLive(c *iikanji.Change, order change.FileOrder) {
	do, undo := order, order
	do.Statements, undo.Statements = p.do, p.undo
	undo.Before, undo.After = order.After, order.Before
	p.add(c, p.site.Services[p.service].Host, change.FilesPlace(p.service, p.table), do, undo, order.Before, order.After)
}

// add adds an op: after the others in Do, before them in Undo.
func (p *filePlan) add(c *iikanji.Change, host, place string, do, undo change.FileOrder, found, left iikanji.Fingerprint) {
	c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Host: host, Place: place, Body: do.String(), Expect: found})
	c.Undo = slices.Insert(c.Undo, 0, iikanji.Op{Verb: iikanji.SQL, Host: host, Place: place, Body: undo.String(), Expect: left})
	c.Ground = change.FingerprintOf([]byte(c.Ground + found))
}
