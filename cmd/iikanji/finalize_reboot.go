package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
)

// rebootNote is the file with what a reboot must keep, in the work folder.
const rebootNote = "finalize-reboot.json"

// Reboot implements finalize.Site.
func (f *finalSite) Reboot(ctx context.Context) (says string, down bool, err error) {
	var here host.Local
	path := filepath.Join(f.dir, rebootNote)
	note, err := finalize.ReadRebooting(here, path, f.e.Now())
	if err != nil {
		return "", false, err
	}
	if note == nil {
		return f.goDown(ctx, path)
	}
	var before field.Contents
	if err := json.Unmarshal(note.Before, &before); err != nil {
		return "", false, fmt.Errorf("reading what the reboot must keep: %w", err)
	}
	if err := f.units.Returned(ctx); err != nil {
		return "", false, err
	}
	took := f.e.Now().Sub(note.At).Round(time.Second)
	if err := f.asBefore(ctx, before); err != nil {
		return "", false, err
	}
	return fmt.Sprintf("back; %s as before; %s after the command that rebooted", report.Number(before.Tables(), "table"), report.Duration(took)), false, here.Remove(path)
}

// goDown notes what the site has, and reboots.
func (f *finalSite) goDown(ctx context.Context, path string) (says string, down bool, err error) {
	var before field.Contents
	if f.units != nil {
		err = f.field(ctx, func(ctx context.Context, _ *benchRun, _ *livesite.Subject, fd *field.Field) (err error) {
			before, err = fd.ContentsAtRest(ctx)
			return err
		})
		if err != nil {
			return "", false, err
		}
	}
	if err := f.units.Reboot(ctx, path, before); err != nil {
		return "", false, err
	}
	return "the machine goes down now", true, nil
}
