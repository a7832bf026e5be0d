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

// A hintError is an error with hints on what to do about it.
type hintError struct {
	err   error
	hints []string
}

func (e *hintError) Error() string   { return e.err.Error() }
func (e *hintError) Unwrap() error   { return e.err }
func (e *hintError) Hints() []string { return e.hints }

// spaceHint adds a hint to the error of a full disk.
func spaceHint(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return &hintError{err, []string{"the disk is full: free some space; no partial file was left"}}
	}
	return err
}

// writeFile replaces a file atomically: temporary file in the same folder, sync,
// rename, sync of the folder. After a power cut the file has either the old or
// the new content.
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
	if err = f.Chmod(0o644); err != nil { // CreateTemp creates files with mode 0600
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

// syncDir syncs a folder, so that new names in it survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // some file systems do not support it
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

// writeJSON writes v as indented JSON, which people can read and diff.
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

// readJSON reads a JSON file. A "version" field above newest is an error.
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
