package gocode

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// fileDefinitions reads the definitions of the tables in the site's SQLite files. It
// refuses files that are not all defined alike, since there is one plan for all, and
// files that another program could write.
func fileDefinitions(ctx context.Context, s *change.Site, app string) (string, error) {
	name, err := fileService(s, app)
	if err != nil {
		return "", err
	}
	files, err := s.LiveFiles(ctx, name)
	if err != nil {
		return "", fmt.Errorf("finding the files of %s: %w", name, err)
	}
	_, originals, err := s.OriginalFiles(ctx, name)
	if err != nil {
		return "", fmt.Errorf("finding the original files of %s: %w", name, err)
	}
	if len(files) == 0 {
		return "", &UnsafeError{"no SQLite file to read the tables from is below " + strings.Join(s.Services[name].Files, ", ")}
	}
	out, first := "", ""
	for _, path := range append(slices.Clone(files), originals...) {
		text, err := sqlitefile.StatementsOf(ctx, path)
		if err != nil {
			return "", fmt.Errorf("reading the tables of %s: %w", path, err)
		}
		switch {
		case text == "": // without tables, or removed at this moment
		case out == "":
			out, first = text, path
		case text != out:
			return "", &UnsafeError{fmt.Sprintf("the files %s and %s define their tables in different ways", first, path)}
		}
	}
	if out == "" {
		return "", &UnsafeError{"the files of " + name + " have no tables"}
	}
	h, err := s.On(s.Services[name].Host)
	if err != nil {
		return "", err
	}
	return out, onlyWriter(ctx, h, s.Services[app], s.Services[name].Files, files)
}

// fileService is the only service of SQLite files, which must be on the app's host.
func fileService(s *change.Site, app string) (string, error) {
	found := ""
	for _, svc := range s.Target.Services {
		if len(s.Services[svc.Name].Files) == 0 {
			continue
		}
		if found != "" {
			return "", &UnsafeError{"there are several services of SQLite files"}
		}
		found = svc.Name
	}
	if found == "" {
		return "", &UnsafeError{"the target has no service with the engine sqlite to read the tables from"}
	}
	if s.Services[found].Host != s.Services[app].Host {
		return "", &UnsafeError{"the SQLite files are on another host than the app"}
	}
	if s.Services[app].Mirror != nil {
		return "", &UnsafeError{"the SQLite files are on the host " + s.Services[app].Host + ", and they are read on this machine only"}
	}
	return found, nil
}

// onlyWriter refuses files that have several names, that another process has open for
// writing, or beside which the app has databases open whose tables the plan does not
// know. Processes whose descriptors this account may not read are not seen.
func onlyWriter(ctx context.Context, h host.Host, app change.Service, folders, files []string) error {
	known := map[string]bool{} // by the paths without links, as the kernel names them
	for _, path := range files {
		info, err := h.Stat(path)
		if err != nil {
			continue // removed at this moment
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
			return &UnsafeError{path + " has several names (hard links)"}
		}
		if real, err := h.RealPath(path); err == nil {
			known[real] = true
		}
	}
	own, _ := app.Processes()
	ids, err := hostproc.IDs(h)
	if err != nil {
		return err
	}
	for _, pid := range ids {
		open, err := hostproc.OpenFiles(h, pid)
		if err != nil {
			continue // it has ended, or it is of another account
		}
		mine := descends(h, pid, own)
		for _, f := range open {
			is := known[databaseOf(f.Path)]
			switch {
			case !f.Write:
			case is && !mine:
				return &UnsafeError{fmt.Sprintf("%s has %s open for writing, and only the app may write", programOf(h, pid), f.Path)}
			case !is && mine && isDatabase(ctx, h, f.Path):
				return &UnsafeError{fmt.Sprintf("the app has %s open, which is not below %s", f.Path, strings.Join(folders, ", "))}
			}
		}
	}
	return nil
}

// databaseOf is the database of a file that SQLite makes beside it.
func databaseOf(path string) string {
	for _, end := range []string{"-journal", "-wal", "-shm"} {
		if base, ok := strings.CutSuffix(path, end); ok {
			return base
		}
	}
	return path
}

// descends reports whether a process is one of others, or was started by one of them,
// directly or through further ones.
func descends(h host.Host, pid int, of []int) bool {
	const deepest = 64
	for range deepest {
		if slices.Contains(of, pid) {
			return true
		}
		st, err := hostproc.ReadStat(h, pid)
		if err != nil || st.Parent <= 1 {
			return false
		}
		pid = st.Parent
	}
	return false
}

// isDatabase reports whether a file begins as a database of SQLite.
func isDatabase(ctx context.Context, h host.Host, path string) bool {
	if info, err := h.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	found, err := sqlitefile.Find(ctx, h, path)
	return err == nil && len(found) > 0
}

// programOf names a process.
func programOf(h host.Host, pid int) string {
	if args, err := hostproc.Args(h, pid); err == nil && len(args) > 0 {
		return fmt.Sprintf("%s (process %d)", filepath.Base(args[0]), pid)
	}
	return fmt.Sprintf("process %d", pid)
}
