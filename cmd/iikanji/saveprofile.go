package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// saveRedacted writes a profile for merge and diff. A saved profile is meant to be
// given to others: without literals, its examples have none of the statements'
// literals, and nothing that looks like a secret.
func saveRedacted(name string, p *iikanji.Profile, literals bool) error {
	if !literals {
		q, err := copyOf(p)
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		redact.Profile(q, true)
		p = q
	}
	return writeWhole(name, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
}

// copyOf returns a deep copy of a profile, so that what is shown stays.
func copyOf(p *iikanji.Profile) (*iikanji.Profile, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	q := new(iikanji.Profile)
	return q, json.Unmarshal(b, q)
}

// writeWhole writes a file completely or not at all. A symbolic link is kept
// and its target replaced. A device or a pipe is written to and never replaced.
func writeWhole(name string, write func(w io.Writer) error) error {
	real := name
	if to, err := filepath.EvalSymlinks(name); err == nil {
		real = to
	}
	replace := replaceFile
	switch info, err := os.Stat(real); {
	case err == nil && info.IsDir():
		return fmt.Errorf("writing %s: it is a directory", name)
	case err == nil && !info.Mode().IsRegular():
		replace = writeInto
	}
	if err := replace(real, write); err != nil {
		var path *fs.PathError // its path may be a temporary file
		if errors.As(err, &path) {
			err = path.Err
		}
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a new file and renames it over the old one.
func replaceFile(name string, write func(w io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".iikanji-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, which is fine
	if err := errorsFirst(write(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeInto writes to an existing device or pipe.
func writeInto(name string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errorsFirst(write(f), f.Close())
}

func errorsFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
