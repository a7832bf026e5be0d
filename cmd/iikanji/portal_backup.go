package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/report"
)

// secretFiles are the files of a portal's folder that are not in its database and cannot be made
// again: seeds, authenticators and webhooks depend on secret, subscriptions of browsers on push.key.
var secretFiles = []string{"secret", "push.key", "worker.token", "admin.token"}

type portalBackupCmd struct {
	To   string `arg:"" help:"File to write; - is standard output." type:"path"`
	JSON bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalBackupCmd) Help() string {
	return `Writes everything that a portal has into one file: all tables as one consistent state,
and the secrets of its folder. The portal may run at the same time. The file has no word
of an engine: a backup of SQLite fills a PostgreSQL. It has secrets: keep it private, or
pipe it through a program that encrypts, as age.

Examples:
  iikanji portal backup cup.backup
  iikanji portal backup - | iikanji portal restore - --dir copy

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalBackupCmd) Run(ctx context.Context, e *env) (err error) {
	if err := c.there(); err != nil {
		return err
	}
	s, err := store.Open(ctx, c.database(), store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	h := store.Head{Program: versionText(), At: e.Now().UTC().Truncate(time.Second), Files: map[string]string{}}
	for _, name := range secretFiles {
		text, err := os.ReadFile(filepath.Join(c.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading a secret of the portal: %w", err)
		}
		h.Files[name] = string(text)
	}
	var sums store.Sums
	write := func(w io.Writer) error {
		sums, err = s.Dump(ctx, w, h)
		return err
	}
	pipe := c.To == "-"
	if pipe {
		err = write(e.Stdout)
	} else {
		err = wholeFile(c.To, write)
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.Dir, lastBackup), []byte(h.At.Format(time.RFC3339)+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting the backup: %w", err)
	}
	if pipe {
		return nil
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"file": c.To, "tables": sums})
	}
	out := &output{w: e.Stdout}
	out.line("wrote %s: %s", c.To, contents(sums))
	return out.err
}

// there refuses a folder without a database: a command that reads would make an empty portal.
func (d *portalDir) there() error {
	if err := d.open(); err != nil {
		return err
	}
	path := filepath.Join(d.Dir, "portal.db")
	if d.database() != path {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return hinted(fmt.Errorf("there is no portal in %s", d.Dir), "name its folder with --dir, or its database with --db")
	}
	return nil
}

// contents says what a backup has.
func contents(sums store.Sums) string {
	count := func(table, noun string) string { return report.Number(int(sums[table].Rows), noun) }
	return fmt.Sprintf("%s, %s, %s with %s", count("contests", "contest"), count("teams", "team"), count("jobs", "run"), count("results", "result"))
}

// wholeFile writes a private file that is there whole or not at all.
func wholeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // 0600
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

type portalRestoreCmd struct {
	From string `arg:"" help:"File of a backup; - is standard input." type:"path"`
	JSON bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalRestoreCmd) Help() string {
	return `Makes a portal of a backup, in a new folder and a new database of any of the three
engines. Every table is read back and compared with the backup, the events of each round
are followed from the first one, and the chain of the audit log is computed again. Start
the portal there with "portal up": workers send it the results that they kept.

Examples:
  iikanji portal restore cup.backup --dir restored

Exit status: 0 the portal is what the backup has, 1 failed to run, 2 usage, 3 the audit
log was changed.`
}

// A restored says what a restore brought back.
type restored struct {
	At       time.Time  `json:"at"`
	Program  string     `json:"program"`
	Tables   store.Sums `json:"tables"`
	Rounds   int        `json:"rounds"`
	Audit    int64      `json:"audit_lines"`
	Changed  int64      `json:"audit_changed,omitempty"` // the first line that is not what was written
	contents string
}

// Run runs the command.
func (c *portalRestoreCmd) Run(ctx context.Context, e *env) error {
	if err := c.open(); err != nil {
		return err
	}
	from := e.Stdin
	if c.From != "-" {
		f, err := os.Open(c.From)
		if err != nil {
			return fmt.Errorf("reading the backup: %w", err)
		}
		defer f.Close()
		from = f
	}
	r, err := c.restore(ctx, e, from)
	if err != nil {
		return err
	}
	return printChecked(e, c.JSON, r, r.Changed > 0)
}

func (r *restored) print(e *env) error {
	out := &output{w: e.Stdout}
	out.line("restored the backup of %s: %s", r.At.Format("2006-01-02 15:04:05 UTC"), r.contents)
	out.line("every table reads back as it was written, and the events of %s follow each other", report.Number(r.Rounds, "round"))
	if r.Changed > 0 {
		out.line("the audit log was CHANGED: line %d of %d is not what was written", r.Changed, r.Audit)
	} else {
		out.line("the audit log is whole: %s", report.Number(int(r.Audit), "line"))
	}
	return out.err
}

// restore fills the folder and the database, and checks what it made.
func (d *portalDir) restore(ctx context.Context, e *env, from io.Reader) (r *restored, err error) {
	if _, err := os.Stat(filepath.Join(d.Dir, "secret")); err == nil {
		return nil, hinted(fmt.Errorf("%s is the folder of a portal already", d.Dir), "name a new one with --dir")
	}
	h, sums, err := store.Load(ctx, d.database(), from)
	if err != nil {
		return nil, fmt.Errorf("restoring the backup: %w", err)
	}
	for _, name := range secretFiles {
		if text, ok := h.Files[name]; ok {
			if err := os.WriteFile(filepath.Join(d.Dir, name), []byte(text), 0o600); err != nil {
				return nil, fmt.Errorf("keeping a secret of the portal: %w", err)
			}
		}
	}
	core, end, err := d.core(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	r = &restored{At: h.At, Program: h.Program, Tables: sums, contents: contents(sums)}
	ids, err := core.RoundIDs(ctx)
	if err != nil {
		return nil, err
	}
	r.Rounds = len(ids)
	for _, id := range ids {
		if _, err := core.Follow(ctx, id, &lead.History{}); err != nil {
			return nil, fmt.Errorf("the events of %s: %w", id, err)
		}
	}
	r.Audit, r.Changed, err = core.CheckAudit(ctx)
	return r, err
}
