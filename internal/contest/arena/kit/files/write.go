package files

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteBytes writes a file as [Write] does.
func WriteBytes(path string, body []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(body); return err })
}

// Write makes a file and its folder. The file is complete or absent: it is a
// temporary file in the same folder until everything is written.
func Write(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // no effect after the rename
	w := bufio.NewWriter(f)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
