package appserver

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/lang/ties"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// An App is what is known of an app on its host.
type App struct {
	Source  string // the folder of its source; "" if unknown
	Program string // the folder of a Go program in it
	PID     int    // of its root process; 0 if it does not run
}

// Ties lists what ties an app to its host: places of its source, and what the host shows of
// its process and its jobs. known is false if no source of a language that is read was found.
func Ties(h host.Host, a App) (all []ties.Tie, known bool, err error) {
	if a.Source != "" {
		files, err := sources(h, a.Source)
		if err != nil {
			return nil, false, err
		}
		all, known = ties.Find(files, a.Program)
		states, err := States(h, a.Source)
		if err != nil {
			return nil, false, err
		}
		for _, s := range states {
			if s.Kind != Connection {
				all = append(all, ties.Tie{Kind: map[StateKind]ties.Kind{Sessions: ties.Sessions, Values: ties.Memory}[s.Kind], File: filepath.ToSlash(s.File), Line: s.Line, Name: s.Name})
			}
		}
		jobs, err := cronTies(h, a.Source)
		if err != nil {
			return nil, false, err
		}
		all = append(all, jobs...)
	}
	if a.PID > 0 {
		all = append(all, openTies(h, a.PID, all)...)
	}
	return ties.Sort(all), known, nil
}

// sources reads the files of an app's source that may tie it to a host.
func sources(h host.Host, folder string) (files []settings.File, err error) {
	real, err := h.RealPath(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the source in %s: %w", folder, err)
	}
	all := 0
	err = h.Walk(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == real {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(real, path)
		if err != nil || !d.Type().IsRegular() || !ties.Reads(filepath.ToSlash(rel)) {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > settings.MaxFile {
			return err
		}
		text, err := h.ReadBeneath(real, path)
		if err != nil {
			return err
		}
		if all += len(text); all > settings.MaxAll || len(files) >= settings.MaxFiles {
			return fs.SkipAll
		}
		files = append(files, settings.File{Path: filepath.ToSlash(rel), Text: string(text)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source in %s: %w", folder, err)
	}
	return files, nil
}

// databaseEnds are names of files with a database.
var databaseEnds = []string{".db", ".sqlite", ".sqlite3", ".db-wal", ".db-shm", ".sqlite-wal", ".sqlite3-wal"}

// openTies lists the files that a process has open to change them. One that it only appends
// to is a log. What the source shows already is left out.
func openTies(h host.Host, pid int, known []ties.Tie) (out []ties.Tie) {
	folder := fmt.Sprintf("/proc/%d", pid)
	entries, err := h.ReadDir(folder + "/fd")
	if err != nil {
		return nil // it has ended, or is of another account
	}
	for _, e := range entries {
		path, err := h.Readlink(folder + "/fd/" + e.Name())
		if err != nil || !filepath.IsAbs(path) || ignored(path) {
			continue
		}
		kind := ties.Files
		if slices.ContainsFunc(databaseEnds, func(end string) bool { return strings.HasSuffix(path, end) }) {
			kind = ties.SQLite
		}
		text, err := h.Read(folder + "/fdinfo/" + e.Name())
		if err != nil || !changes(string(text), kind) || slices.ContainsFunc(known, func(t ties.Tie) bool { return t.Kind == kind }) {
			continue
		}
		out = append(out, ties.Tie{Kind: kind, File: path, Name: "open for writing"})
	}
	return out
}

func ignored(path string) bool {
	return strings.HasSuffix(path, " (deleted)") || strings.HasSuffix(path, ".log") ||
		slices.ContainsFunc([]string{"/dev/", "/proc/", "/sys/", "/var/log/", "/memfd:", "/run/"}, func(p string) bool { return strings.HasPrefix(path, p) })
}

// changes reports whether the flags of a descriptor, as in /proc/PID/fdinfo, let it change
// its file other than by appending to it.
func changes(info string, kind ties.Kind) bool {
	const access, appends = 3, 0o2000 // O_ACCMODE and O_APPEND of Linux
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(line, ":")
		if name != "flags" {
			continue
		}
		flags, err := strconv.ParseUint(strings.TrimSpace(value), 8, 64)
		return err == nil && flags&access != 0 && (flags&appends == 0 || kind == ties.SQLite)
	}
	return false
}

// cronFiles are where jobs of a host are.
var cronFiles = []string{"/etc/crontab", "/etc/cron.d/*", "/var/spool/cron/crontabs/*"}

// cronTies lists the jobs of the host that run something of the app's folder.
func cronTies(h host.Host, folder string) (out []ties.Tie, err error) {
	for _, pattern := range cronFiles {
		paths, err := h.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("looking for jobs in %s: %w", pattern, err)
		}
		for _, path := range paths {
			text, err := h.Read(path)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("reading %s: %w", path, err)
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				n++
				if !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.Contains(line, folder) {
					out = append(out, ties.Tie{Kind: ties.Cron, File: path, Line: n, Name: filepath.Base(folder)})
				}
			}
		}
	}
	return out, nil
}
