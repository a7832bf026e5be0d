package change

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// A plan is read or compiled by the service's own programs before anything is
// changed: in files and folders of these names, beside the real ones. Each is
// locked (flock(2)) for as long as its plan lives, and a lock ends with its
// process: a scratch file without a lock was left behind by a plan that was
// killed.
//
// Scratch files are on this machine, not on a host.Host: a lock that ends with
// this process has no counterpart over a connection, and the programs that read
// the files (Service.Check, Service.Build) are started here. Service.Here
// refuses other hosts.
const (
	scratchFile   = ".iikanji-test-"
	scratchFolder = ".iikanji-build-"
)

// What the names become.
var (
	fileName   = regexp.MustCompile(`^` + regexp.QuoteMeta(scratchFile) + `[0-9]+(\.[a-z]+)?$`)
	folderName = regexp.MustCompile(`^` + regexp.QuoteMeta(scratchFolder) + `[0-9]+$`)
)

// InScratchFile writes body to a new file in dir whose name ends in ext, as
// ".conf", has use look at it, and removes it. Errors of use come back as they
// are.
func InScratchFile(dir, ext string, body []byte, use func(path string) error) error {
	return inScratch(dir, func() (string, error) {
		f, err := os.CreateTemp(dir, scratchFile+"*"+ext)
		if err != nil {
			return "", err
		}
		_, err = f.Write(body)
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		return f.Name(), err
	}, use)
}

// inScratchFolder has use fill a new folder in dir, and removes it.
func inScratchFolder(dir string, use func(path string) error) error {
	return inScratch(dir, func() (string, error) { return os.MkdirTemp(dir, scratchFolder) }, use)
}

// inScratch sweeps dir, makes something in it, locks that, has it used and
// removes it. Who sweeps dir at the same time may take what is made before it
// is locked: then it is made again.
func inScratch(dir string, create func() (string, error), use func(path string) error) (err error) {
	if err := sweep(dir); err != nil {
		return err
	}
	for {
		path, err := create()
		if err != nil {
			return fmt.Errorf("making a scratch copy: %w", err)
		}
		lock, err := hold(path)
		if err != nil {
			return errors.Join(err, os.RemoveAll(path))
		}
		if lock == nil {
			continue
		}
		err = use(path)
		if e := errors.Join(os.RemoveAll(path), lock.Close()); e != nil {
			err = errors.Join(err, fmt.Errorf("removing the scratch copy %s: %w", path, e))
		}
		return err
	}
}

// hold locks a scratch file or folder. It returns nil when somebody else has
// locked it, or has removed it.
func hold(path string) (lock *os.File, err error) {
	// A link is not followed, and a pipe that somebody put there not waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking the scratch copy %s: %w", path, err)
	}
	defer func() {
		if lock == nil {
			_ = f.Close() // it was only read
		}
	}()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking the scratch copy %s: %w", path, err)
	}
	locked, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("locking the scratch copy %s: %w", path, err)
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(locked, there) {
		return nil, nil //nolint:nilerr // who had the lock has removed it
	}
	return f, nil
}

// Sweep removes the scratch copies of plans that were killed. Those of plans
// that are under way stay, whoever makes them.
func (s *Site) Sweep() error {
	var dirs []string
	for _, svc := range s.Services {
		for _, path := range []string{svc.Config, svc.DropIn, svc.Source} {
			if path != "" {
				dirs = append(dirs, filepath.Dir(path))
			}
		}
	}
	return sweep(dirs...)
}

// sweep removes scratch copies that nobody has locked.
func sweep(dirs ...string) error {
	var errs []error
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			errs = append(errs, fmt.Errorf("looking for what a killed plan left: %w", err))
			continue
		}
		for _, e := range entries {
			if !isScratch(e) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			lock, err := hold(path)
			if lock != nil {
				err = errors.Join(os.RemoveAll(path), lock.Close())
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("removing what a killed plan left: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// isScratch says whether a plan of the account that we run with has made an
// entry: by its name, what it is, and whose.
func isScratch(e fs.DirEntry) bool {
	if !(e.Type().IsRegular() && fileName.MatchString(e.Name()) || e.IsDir() && folderName.MatchString(e.Name())) {
		return false
	}
	info, err := e.Info()
	if err != nil {
		return false // it is gone
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
