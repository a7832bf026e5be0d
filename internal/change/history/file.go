package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes of a history. A change holds the files that it edits whole, with any
// secret in them, so only the owner has access, whatever the mode of the
// original.
const (
	ownFolder = 0o700
	ownFile   = 0o600 // also the mode of os.CreateTemp
)

// private takes the rights of others from the history folder, its folders of
// runs and changes, and its journal, which an earlier version made readable.
// The folders above everything else: files inside are out of reach then.
func private(dir string) error {
	for _, path := range []string{dir, filepath.Join(dir, runsDir), filepath.Join(dir, changesDir), filepath.Join(dir, journalName)} {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(path, info.Mode().Perm()&ownFolder)
		}
		if err != nil {
			return fmt.Errorf("making the history private: %w", err)
		}
	}
	return nil
}

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
	data, err := marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writeFile(path, data)
}

// writeJSON is writeJSON with names of roots for their paths.
func (h *History) writeJSON(path string, v any) error {
	data, err := marshal(v)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writeFile(path, h.roots().encode(data, jsonForm, true))
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// readJSON reads a JSON file. A "version" field above newest is an error.
func readJSON(path string, newest int, v any) error {
	data, _, err := readDocument(path, newest)
	if err != nil {
		return err
	}
	return parseInto(path, data, v)
}

// readJSON is readJSON with the paths of roots for their names. Files of a version
// below encoded have paths.
func (h *History) readJSON(path string, encoded, newest int, v any) error {
	data, version, err := readDocument(path, newest)
	if err != nil {
		return err
	}
	if version >= encoded {
		data = h.roots().decode(data, jsonForm)
	}
	return parseInto(path, data, v)
}

// readDocument reads a JSON file and its version.
func readDocument(path string, newest int) (data []byte, version int, err error) {
	data, err = os.ReadFile(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading %s: %w", path, err)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := parseInto(path, data, &head); err != nil {
		return nil, 0, err
	}
	if head.Version > newest {
		return nil, 0, &newerError{path, head.Version, newest}
	}
	return data, head.Version, nil
}

func parseInto(path string, data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
