package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/show/report"
)

// arenaCmd lists the arenas and writes their files.
type arenaCmd struct {
	List  arenaListCmd  `cmd:"" default:"withargs" help:"List the arenas."`
	Files arenaFilesCmd `cmd:"" help:"Write an arena's app, SQL, images and keys into a folder, to deploy it elsewhere."`

	Machine arenaMachineCmd `cmd:"" help:"Write an archive that makes a Debian machine one of the arena."`
}

// Help is the long help of the command.
func (arenaCmd) Help() string {
	return `Examples:
  iikanji arena
  iikanji arena files isucondition ./isucondition
  iikanji arena machine isucondition isucondition.tar.gz

Exit status: 0 done, 1 failed to run, 2 usage.`
}

type arenaListCmd struct {
	Format report.Format `help:"table, tsv, csv, markdown or json." enum:"table,tsv,csv,markdown,json" default:"table"`
	JSON   bool          `help:"The same as --format json."`
}

// Help returns the long help of the command.
func (arenaListCmd) Help() string {
	return `Examples:
  iikanji arena
  iikanji arena list --format markdown

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run prints one line per arena.
func (c *arenaListCmd) Run(e *env) error {
	t := report.Table{Columns: []report.Column{{Name: "arena", Left: true}, {Name: "contest", Left: true}, {Name: "what", Left: true, Shrink: true}}}
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		t.Rows = append(t.Rows, []string{a.Name, a.Title, a.Summary})
	}
	if c.JSON {
		c.Format = report.JSON
	}
	return t.Write(e.Stdout, c.Format, e.Cols)
}

type arenaFilesCmd struct {
	Arena string `arg:"" help:"Arena, such as isucondition."`
	Dir   string `arg:"" help:"Folder to write to; it must be new or empty." type:"path"`

	JSON bool `help:"Print one JSON document that lists the written folders."`

	appFlag
}

// Help returns the long help of the command.
func (arenaFilesCmd) Help() string {
	return `Writes DIR/webapp (sources, schema, initial data, public files, keys) and
DIR/data (the benchmarker's copy of the data). iikanji bench ARENA
--url can load a deployment only if it has the data and the keys of webapp.

Example:
  iikanji arena files isucondition ./isucondition

Exit status: 0 written, 1 failed to run (nothing is left), 2 usage.`
}

// Run writes the files. After an error no file is left.
func (c *arenaFilesCmd) Run(ctx context.Context, e *env) (err error) {
	a, err := findArena(c.Arena)
	if err != nil {
		return err
	}
	switch entries, err := os.ReadDir(c.Dir); {
	case err == nil && len(entries) > 0:
		return hinted(fmt.Errorf("%s is not empty", c.Dir), "choose a new folder: this command overwrites no files")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("looking into the folder: %w", err)
	}
	parent := filepath.Dir(c.Dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("creating the folder: %w", err)
	}
	tmp, err := os.MkdirTemp(parent, ".iikanji-files-")
	if err != nil {
		return fmt.Errorf("creating the folder: %w", err)
	}
	defer os.RemoveAll(tmp) // fails after the rename, which is fine
	if err := writeArena(ctx, a, tmp); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("making the folder readable: %w", err)
	}
	if err := os.Remove(c.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing the empty folder: %w", err)
	}
	if err := os.Rename(tmp, c.Dir); err != nil {
		return fmt.Errorf("moving the files into the folder: %w", err)
	}
	webapp, data := filepath.Join(c.Dir, "webapp"), filepath.Join(c.Dir, "data")
	if c.JSON {
		return writeJSON(e.Stdout, struct {
			Arena  string `json:"arena"`
			Webapp string `json:"webapp"`
			Data   string `json:"data"`
		}{a.Name, webapp, data})
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: app, SQL, public files and keys in %s, the benchmarker's data in %s\n", a.Name, webapp, data)
	return err
}

// writeArena writes both folders of an arena below dir.
func writeArena(ctx context.Context, a *arena.Arena, dir string) error {
	webapp, data := filepath.Join(dir, "webapp"), filepath.Join(dir, "data")
	if err := os.CopyFS(webapp, a.Files); err != nil {
		return fmt.Errorf("writing the arena's files: %w", err)
	}
	if err := os.MkdirAll(data, 0o755); err != nil {
		return fmt.Errorf("writing the arena's data: %w", err)
	}
	if a.Generate == nil {
		return nil
	}
	if err := a.Generate(ctx, webapp, data); err != nil {
		return fmt.Errorf("generating the arena's data: %w", err)
	}
	return nil
}
