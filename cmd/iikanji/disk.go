package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/show/report"
)

// lowDisk is the share of a file system that is left when people are told: logs of a load
// fill the rest within hours.
const lowDisk = 0.10

// diskLines tells which file systems of some paths are nearly full, one line each.
func diskLines(paths ...string) (lines []string) {
	var seen []syscall.Fsid
	for _, path := range paths {
		var st syscall.Statfs_t
		if syscall.Statfs(existing(path), &st) != nil || st.Blocks == 0 || slices.Contains(seen, st.Fsid) {
			continue
		}
		seen = append(seen, st.Fsid)
		// What an unprivileged user may still write, of what such users have together.
		free, all := st.Bavail, st.Blocks-st.Bfree+st.Bavail
		if all > 0 && float64(free) < lowDisk*float64(all) {
			lines = append(lines, fmt.Sprintf("the disk of %s has %.1f GiB left (%.0f %%): remove logs that nobody needs", path,
				float64(free)*float64(st.Bsize)/(1<<30), 100*float64(free)/float64(all)))
		}
	}
	return lines
}

// existing is the path, or the nearest folder above it that exists.
func existing(path string) string {
	for path != "/" && path != "." {
		if _, err := os.Stat(path); err == nil {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

// warnOfDisks tells the caller and the team of nearly full disks of a site: that of the
// history and those of its logs.
func (r *benchRun) warnOfDisks(ctx context.Context) {
	paths := []string{r.history}
	if r.target.file != nil {
		for i := range r.target.file.Services {
			logs := &r.target.file.Services[i].Logs
			for _, path := range []string{logs.Access, logs.Error, logs.Slow, logs.Output} {
				if path != "" {
					paths = append(paths, path)
				}
			}
		}
	}
	lines := diskLines(paths...)
	for _, l := range lines {
		r.progress.Say("%s", report.Clean(l))
	}
	if len(lines) > 0 {
		r.e.tell(ctx, r.target, notice.Notice{Kind: "disk", Title: "a disk is nearly full", Lines: lines})
	}
}
