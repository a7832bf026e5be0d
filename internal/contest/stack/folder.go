package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// The entries of a work folder. A folder with any other entry is not a work folder.
const (
	lockFile      = "lock"
	stateFile     = "state.json"
	manifestFile  = "manifest.json"
	processesFile = "processes.json"
	webappDir     = "webapp"
	dataDir       = "data"
	confDir       = "conf"
	binDir        = "bin"
	logDir        = "log"
	runDir        = "run"
	tmpDir        = "tmp"
	oldDir        = "old"
	historyDir    = "history" // written by the benchmark, not by this package
)

var known = []string{lockFile, stateFile, manifestFile, processesFile, webappDir, dataDir, confDir,
	binDir, logDir, runDir, tmpDir, oldDir, historyDir, "lost+found"}

// unfinished ends the names of folders and programs that are still being made.
const unfinished = ".new"

// dataDirs returns the data folders of an arena's services.
func dataDirs(a *arena.Arena) (dirs []string) {
	for _, svc := range a.Services {
		if svc.Data != "" {
			dirs = append(dirs, svc.Data)
		}
	}
	return dirs
}

// A folder is a work folder: absolute, without symbolic links.
type folder struct {
	root string
	as   account
}

func (f folder) path(elem ...string) string {
	return filepath.Join(append([]string{f.root}, elem...)...)
}

// unfit lists the characters that a path in nginx's and MariaDB's configs may
// only have in quotes. The arenas' templates do not quote paths.
const unfit = " \t\r\n\"'\\;{}$#"

// openFolder creates the work folder if it is missing. It refuses a folder that
// belongs to another user or has entries of another kind; own are the arena's.
func openFolder(dir string, as account, own []string) (folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return folder{}, fmt.Errorf("opening the work folder: %w", err)
	}
	if err := makeAll(abs); err != nil {
		return folder{}, fmt.Errorf("making the work folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return folder{}, fmt.Errorf("opening the work folder: %w", err)
	}
	if i := strings.IndexAny(real, unfit); i >= 0 {
		return folder{}, fmt.Errorf("the work folder's path %q has a %q, which the servers' configs cannot carry", real, real[i])
	}
	f := folder{root: real, as: as}
	if err := checkEntries(real, own); err != nil {
		return folder{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return folder{}, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return folder{}, &ForeignDirError{Dir: real, Owner: ownerName(st.Uid)}
	}
	return f, nil
}

// CheckFolder refuses a folder with entries that no stack of the arena has, and changes
// nothing. A folder that does not exist is fine.
func CheckFolder(dir string, a *arena.Arena) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening the work folder: %w", err)
	}
	full, err := a.Complete() // a service that names no data folder has one by default
	if err != nil {
		return err
	}
	return checkEntries(real, dataDirs(full))
}

// checkEntries refuses a folder with entries of another kind; own are the arena's.
func checkEntries(dir string, own []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("opening the work folder: %w", err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), unfinished)
		if !slices.Contains(known, e.Name()) && !slices.Contains(own, name) && !strings.HasPrefix(e.Name(), ".") {
			return &ForeignDirError{Dir: dir, Entry: e.Name()}
		}
	}
	return nil
}

// makeAll is os.MkdirAll with a fixed mode for the folders it creates: with the
// mode of a strict umask the services could not enter them.
func makeAll(dir string) error {
	err := os.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		return os.Chmod(dir, 0o755)
	case errors.Is(err, fs.ErrNotExist):
		if err := makeAll(filepath.Dir(dir)); err != nil {
			return err
		}
		return makeAll(dir)
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

// prepare creates the subfolders, each with the owner and mode it needs. The
// services own what they write; everything else belongs to the calling user.
func (f folder) prepare(ctx context.Context, services []arena.Service) error {
	if err := os.Chmod(f.root, 0o755); err != nil {
		return err
	}
	if err := openState(f.root); err != nil {
		return err
	}
	if err := f.as.reach(ctx, f.root); err != nil {
		return err
	}
	type made struct {
		name  string
		owned bool // by the services
	}
	dirs := []made{{confDir, false}, {confDir + "/" + limitsDir, false}, {confDir + "/" + enabledDir, false},
		{binDir, false}, {logDir, true}, {runDir, true}, {tmpDir, true}}
	for _, svc := range services {
		if svc.DropIns != "" {
			dirs = append(dirs, made{confDir + "/" + svc.DropIns, false})
		}
	}
	for _, d := range dirs {
		if err := os.MkdirAll(f.path(d.name), 0o755); err != nil {
			return fmt.Errorf("preparing the work folder: %w", err)
		}
		if err := os.Chmod(f.path(d.name), 0o755); err != nil {
			return fmt.Errorf("preparing the work folder: %w", err)
		}
		if d.owned {
			if err := f.as.own(f.path(d.name)); err != nil {
				return fmt.Errorf("preparing the work folder: %w", err)
			}
		}
	}
	return nil
}

// clearScratch removes files that belong to one instance only: sockets, pid
// files, temporary files, and files of interrupted writes.
func (f folder) clearScratch(services []arena.Service) error {
	err := errors.Join(os.RemoveAll(f.path(runDir)), os.RemoveAll(f.path(tmpDir)), os.RemoveAll(f.path(newDir)), f.clearPassing(services))
	for _, svc := range services {
		if svc.Data != "" {
			err = errors.Join(err, os.RemoveAll(f.path(svc.Data+unfinished)))
		}
	}
	for _, pattern := range []string{f.path(".*.json.*"), f.path(confDir, scratchPrefix+"*"), f.path(confDir, "*", scratchPrefix+"*"),
		f.path(binDir, builtForCheck), f.path(binDir, "*"+unfinished)} {
		half, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, path := range half {
			err = errors.Join(err, removeFile(path))
		}
	}
	return err
}

// free returns the bytes available on the folder's disk, or a negative number
// if the file system does not report them.
func (f folder) free() int64 {
	var st unix.Statfs_t
	if unix.Statfs(f.root, &st) != nil || st.Blocks == 0 {
		return -1
	}
	return int64(st.Bavail) * st.Bsize
}

// room checks beforehand that need bytes are available.
func (f folder) room(need int64) error {
	if free := f.free(); free >= 0 && free < need {
		return &DiskFullError{Path: f.root, Free: free, Need: need}
	}
	return nil
}

// fullSigns matches how Go, MariaDB and the C library report it; 28 is ENOSPC.
var fullSigns = regexp.MustCompile(`(?i)no space left on device|err(or|no|code):? 28\b|disk( is)? full|disk quota exceeded|file too large|file size limit exceeded`)

// full turns an error caused by a full disk into a *DiskFullError. Servers
// report a full disk only in their output, which is text.
func (f folder) full(err error, text string) error {
	var already *DiskFullError
	if err == nil || errors.As(err, &already) {
		return err
	}
	caused := errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) ||
		fullSigns.MatchString(text) || fullSigns.MatchString(err.Error())
	if !caused {
		return err
	}
	return &DiskFullError{Path: f.root, Free: max(f.free(), 0), Err: err}
}

// write replaces a file of the folder atomically.
func (f folder) write(body []byte, perm os.FileMode, elem ...string) error {
	return host.Local{}.Write(f.path(elem...), body, perm)
}

// removeFile removes a file that may be missing.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
