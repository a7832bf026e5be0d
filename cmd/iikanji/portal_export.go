package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/iikanji/iikanji/internal/portal/export"
)

type portalExportCmd struct {
	Contest string `arg:"" help:"Contest."`
	To      string `help:"Folder for the files; it has to be empty or new." type:"path" required:"" placeholder:"FOLDER"`
	View    string `help:"Whose view: public is what everyone may see, staff has people, notes, logs and the audit log." default:"public" enum:"public,staff"`
	JSON    bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalExportCmd) Help() string {
	return `Writes a contest as plain files: its file, teams, results, boards, history, questions,
announcements, write-ups. No form has a secret. The portal may run at the same time.

Examples:
  iikanji portal export cup --to cup-public
  iikanji portal export cup --view staff --to cup-staff

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalExportCmd) Run(ctx context.Context, e *env) (err error) {
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	files, err := export.Write(ctx, core, c.Contest, export.Form(c.View))
	if err != nil {
		return err
	}
	if err := export.Save(c.To, files); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"folder": c.To, "files": len(files)})
	}
	out := &output{w: e.Stdout}
	out.line("wrote %d files into %s", len(files), c.To)
	return out.err
}

type portalImportCmd struct {
	From string `arg:"" help:"Folder of an export." type:"path"`
	JSON bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalImportCmd) Help() string {
	return `Rebuilds a contest of an export in a portal that does not have it, and compares each
board with the exported one.

Examples:
  iikanji portal import cup-staff

Exit status: 0 done, 1 failed to run, 2 usage, 3 a board differs.`
}

// Run runs the command.
func (c *portalImportCmd) Run(ctx context.Context, e *env) (err error) {
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	id, differ, err := export.Import(ctx, core, os.DirFS(c.From))
	if err != nil {
		return err
	}
	if len(differ) > 0 {
		fmt.Fprintf(e.Stderr, "the boards of %v differ from the exported ones\n", differ)
		return &exitError{Status: exitChecks}
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"contest": id})
	}
	out := &output{w: e.Stdout}
	out.line("imported the contest %s; all boards are equal", id)
	return out.err
}
