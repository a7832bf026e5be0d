package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// A hintError is an error that knows what to do about itself.
type hintError struct {
	err   error
	hints []string
}

func (e *hintError) Error() string   { return e.err.Error() }
func (e *hintError) Unwrap() error   { return e.err }
func (e *hintError) Hints() []string { return e.hints }

// spaceHint adds what to do about a full disk.
func spaceHint(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return &hintError{err, []string{"the disk is full: free some space; nothing half-written was left"}}
	}
	return err
}

// writeFile replaces a file as a whole: temporary file beside it, sync,
// rename, sync of the folder. After a power cut either the old or the new
// content is there.
func writeFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return spaceHint(fmt.Errorf("writing %s: %w", path, err))
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = spaceHint(fmt.Errorf("writing %s: %w", path, err))
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil { // CreateTemp makes it 0600
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes new names in a folder survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // some file systems cannot
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

// writeJSON writes v indented, so that it reads and diffs well.
func writeJSON(path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writeFile(path, b.Bytes())
}

// readJSON reads a file that carries a "version" field of at most newest.
func readJSON(path string, newest int, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	if head.Version > newest {
		return &newerError{path, head.Version, newest}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
