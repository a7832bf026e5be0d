package change

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A plan is read or compiled by the service's own programs before anything is
// changed: in files and folders of these names, beside the real ones, on the
// service's host. Each is locked (host.Host.Hold) for as long as its plan lives,
// and a lock ends with its process: a scratch file without a lock was left behind
// by a plan that was killed.
const (
	scratchFile   = ".iikanji-test-"
	scratchFolder = ".iikanji-build-"
)

// The forms of the finished names.
var (
	fileName   = regexp.MustCompile(`^` + regexp.QuoteMeta(scratchFile) + `[0-9]+(\.[a-z]+)?$`)
	folderName = regexp.MustCompile(`^` + regexp.QuoteMeta(scratchFolder) + `[0-9]+$`)
)

// InScratchFile writes body to a new file in dir, a folder of the service's host,
// whose name ends in ext, as ".conf", calls use with its path, and removes it.
// Errors of use are returned unwrapped.
func (s *Site) InScratchFile(svc Service, dir, ext string, body []byte, use func(path string) error) error {
	h, err := s.On(svc.Host)
	if err != nil {
		return fmt.Errorf("making a scratch copy: %w", err)
	}
	return inScratch(h, dir, scratchFile, ext, func(path string) error { return h.Create(path, body, 0o600) }, use)
}

// inScratchFolder calls use with a new folder in dir, and removes it. The compiler
// may run with another account.
func inScratchFolder(h host.Host, dir string, use func(path string) error) error {
	return inScratch(h, dir, scratchFolder, "", func(path string) error { return h.Mkdir(path, 0o755) }, use)
}

// inScratch sweeps dir, creates a scratch file or folder in it under a new name,
// locks it, calls use, and removes it. Another process that sweeps dir may remove
// it before it is locked: then it is created again.
//
// The name is the same each time, unless another plan has it: the go command finds
// what it compiled before by the path of the folder and the content of the files, so
// that the next plan compiles only the packages that differ.
func inScratch(h host.Host, dir, prefix, ext string, create func(path string) error, use func(path string) error) (err error) {
	if err := sweep(h, dir); err != nil {
		return err
	}
	for n := uint32(1); ; n = rand.Uint32() {
		path := filepath.Join(dir, prefix+strconv.FormatUint(uint64(n), 10)+ext)
		if err := create(path); err != nil {
			if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) && isFolder(h, dir) { // swept while it was made
				continue
			}
			return fmt.Errorf("making a scratch copy: %w", err)
		}
		lock, err := h.Hold(path)
		if err != nil {
			return errors.Join(err, h.RemoveAll(path))
		}
		if lock == nil {
			continue
		}
		err = use(path)
		if e := errors.Join(h.RemoveAll(path), lock.Close()); e != nil {
			err = errors.Join(err, fmt.Errorf("removing the scratch copy %s: %w", path, e))
		}
		return err
	}
}

func isFolder(h host.Host, path string) bool {
	info, err := h.Stat(path)
	return err == nil && info.IsDir()
}

// Sweep removes the scratch copies of plans that were killed. Those of running
// plans stay, in whatever process.
func (s *Site) Sweep() error {
	dirs := map[string][]string{} // by host
	for _, svc := range s.Services {
		for _, path := range []string{svc.Config, svc.DropIn, svc.Source} {
			if path != "" {
				dirs[svc.Host] = append(dirs[svc.Host], filepath.Dir(path))
			}
		}
	}
	var errs []error
	for name, of := range dirs {
		h, err := s.On(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("looking for what a killed plan left: %w", err))
			continue
		}
		errs = append(errs, sweep(h, of...))
	}
	return errors.Join(errs...)
}

// sweep removes scratch copies without a lock from folders of a host.
func sweep(h host.Host, dirs ...string) error {
	me, err := h.Account()
	if err != nil {
		return fmt.Errorf("looking for what a killed plan left: %w", err)
	}
	var errs []error
	for _, dir := range dirs {
		entries, err := h.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			errs = append(errs, fmt.Errorf("looking for what a killed plan left: %w", err))
			continue
		}
		for _, e := range entries {
			if !isScratch(e, me) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			lock, err := h.Hold(path)
			if lock != nil {
				err = errors.Join(h.RemoveAll(path), lock.Close())
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("removing what a killed plan left: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// isScratch reports whether an entry is a scratch copy of the account that acts on
// the host: by its name, type and owner.
func isScratch(e fs.DirEntry, me host.Owner) bool {
	if !(e.Type().IsRegular() && fileName.MatchString(e.Name()) || e.IsDir() && folderName.MatchString(e.Name())) {
		return false
	}
	info, err := e.Info()
	if err != nil {
		return false // it is gone
	}
	owner, ok := host.OwnerOf(info)
	return ok && owner.UID == me.UID
}
