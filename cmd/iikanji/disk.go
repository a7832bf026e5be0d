package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
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

// farDiskLines tells the same of another machine, by its own df.
func farDiskLines(ctx context.Context, h host.Host, paths []string) (lines []string) {
	var seen []string
	for _, path := range paths {
		r, err := h.Exec(ctx, host.Command{Path: "df", Args: []string{"-P", "-k", "--", filepath.Dir(path)}, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}})
		if err != nil || r.Status != 0 {
			continue
		}
		mount, free, all := parseDF(string(r.Output))
		if mount == "" || slices.Contains(seen, mount) {
			continue
		}
		if seen = append(seen, mount); all > 0 && float64(free) < lowDisk*float64(all) {
			lines = append(lines, fmt.Sprintf("the disk of %s on %s has %.1f GiB left (%.0f %%): remove logs that nobody needs", path, h.Name(),
				float64(free)/(1<<20), 100*float64(free)/float64(all)))
		}
	}
	return lines
}

// parseDF reads the second line of df -P -k: where the file system is mounted, and the
// KiB that an unprivileged user may still write, of those that such users have together.
func parseDF(text string) (mount string, free, all int64) {
	_, line, _ := strings.Cut(strings.TrimSpace(text), "\n")
	f := strings.Fields(line)
	if len(f) < 6 {
		return "", 0, 0
	}
	used, err := strconv.ParseInt(f[2], 10, 64)
	free, err2 := strconv.ParseInt(f[3], 10, 64)
	if err != nil || err2 != nil || used < 0 || free < 0 || used > math.MaxInt64-free {
		return "", 0, 0
	}
	return strings.Join(f[5:], " "), free, used + free
}

// placed is the file of a site with the placement of its work folder; nil for an arena.
func (t *namedTarget) placed(dir string) *target.File {
	if t.file == nil {
		return nil
	}
	if now, err := livesite.Placed(t.file, dir); err == nil {
		return now
	}
	return t.file // a command that needs the placement says what is wrong with it
}

// warnOfDisks tells the caller and the team of nearly full disks of a site: that of the
// history and those of its logs, on all its machines.
func (r *benchRun) warnOfDisks(ctx context.Context) {
	paths := map[string][]string{"": {r.history}}
	if file := r.target.placed(r.Dir); file != nil {
		for i := range file.Services {
			s := &file.Services[i]
			if s.Host != "" && paths[s.Host] == nil {
				paths[s.Host] = []string{"/"}
			}
			for _, path := range []string{s.Logs.Access, s.Logs.Error, s.Logs.Slow, s.Logs.Output} {
				if path != "" {
					paths[s.Host] = append(paths[s.Host], path)
				}
			}
		}
	}
	lines := diskLines(paths[""]...)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		if name != "" {
			lines = append(lines, farDiskLines(ctx, r.target.hosts.On(name), paths[name])...)
		}
	}
	for _, l := range lines {
		r.progress.Say("%s", report.Clean(l))
	}
	if len(lines) > 0 {
		r.e.tell(ctx, r.target, notice.Notice{Kind: "disk", Title: "a disk is nearly full", Lines: lines})
	}
}
