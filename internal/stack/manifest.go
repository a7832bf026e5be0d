package stack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/host"
)

// A manifest knows what was laid into the folder, so that what a person edited
// can be told from what only got old. Paths are relative to the folder.
type manifest struct {
	dir     string
	entries map[string]laid
	touched map[string]bool // by this instance
	kept    []string        // edited files that were left alone
	stale   []string        // those of them of which the arena has another version now
}

// laid is one file as it was laid.
type laid struct {
	Sum  string    `json:"sum"` // SHA-256, hexadecimal
	Size int64     `json:"size"`
	Time time.Time `json:"time"` // of modification: same size and time need no reading
	From string    `json:"from"` // files, generated, conf
}

func (f folder) readManifest() (*manifest, error) {
	m := &manifest{dir: f.root, entries: map[string]laid{}, touched: map[string]bool{}}
	b, err := host.Local{}.Read(f.path(manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &m.entries)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.path(manifestFile), err)
	}
	for _, top := range []string{webappDir, confDir} {
		if _, err := os.Stat(f.path(top)); errors.Is(err, fs.ErrNotExist) {
			m.forget(top + "/") // removed as a whole: laid anew
		}
	}
	return m, nil
}

func (f folder) writeManifest(m *manifest) error {
	b, err := json.MarshalIndent(m.entries, "", "  ")
	if err != nil {
		return err
	}
	return f.write(append(b, '\n'), 0o644, manifestFile)
}

// forget drops the entries below a prefix.
func (m *manifest) forget(prefix string) {
	for rel := range m.entries {
		if strings.HasPrefix(rel, prefix) {
			delete(m.entries, rel)
		}
	}
}

// A verdict says what to do with one file.
type verdict int

const (
	keep verdict = iota // it is as it should be, or a person's
	lay                 // it is missing, or unedited and old
)

// judge compares a file on disk with what was laid there and with what is
// wanted there now. Removing a laid file is an edit as well (a source file that
// was split must not come back), but a removed config is rendered again.
func (m *manifest) judge(rel, want, from string) (verdict, error) {
	m.touched[rel] = true
	entry, known := m.entries[rel]
	now, err := m.onDisk(rel, entry)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (!known || from == fromConf):
		return lay, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return keep, err
	case err == nil && now.Sum == want:
		now.From = from
		m.entries[rel] = now
		return keep, nil
	case err == nil && known && now.Sum == entry.Sum:
		return lay, nil
	}
	m.kept = append(m.kept, rel)
	if entry.Sum != want {
		m.stale = append(m.stale, rel)
	}
	return keep, nil
}

// edited says whether a laid file is no longer as it was laid.
func (m *manifest) edited(rel string) bool {
	entry, known := m.entries[rel]
	now, err := m.onDisk(rel, entry)
	if err != nil {
		return known
	}
	return !known || now.Sum != entry.Sum
}

// onDisk describes a file as it is.
func (m *manifest) onDisk(rel string, entry laid) (laid, error) {
	path := filepath.Join(m.dir, rel)
	info, err := os.Stat(path)
	if err != nil {
		return laid{}, err
	}
	now := laid{Size: info.Size(), Time: info.ModTime().UTC(), From: entry.From}
	if info.IsDir() {
		now.Sum = "folder" // in the way of a file: a person's
		return now, nil
	}
	if entry.Sum != "" && now.Size == entry.Size && now.Time.Equal(entry.Time) {
		now.Sum = entry.Sum
		return now, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return laid{}, err
	}
	defer file.Close()
	now.Sum, err = sumOf(file)
	return now, err
}

// record notes that a file is now as it was laid by us.
func (m *manifest) record(rel, sum, from string) error {
	info, err := os.Stat(filepath.Join(m.dir, rel))
	if err != nil {
		return err
	}
	m.entries[rel] = laid{Sum: sum, Size: info.Size(), Time: info.ModTime().UTC(), From: from}
	return nil
}

// retire removes what came from somewhere and comes no more, where it is
// unedited; an edited file is its editor's from now on.
func (m *manifest) retire(from string) error {
	for rel, entry := range m.entries {
		if entry.From != from || m.touched[rel] {
			continue
		}
		if !m.edited(rel) {
			if err := removeFile(filepath.Join(m.dir, rel)); err != nil {
				return fmt.Errorf("removing what the arena no longer has: %w", err)
			}
		}
		delete(m.entries, rel)
	}
	return nil
}

func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func sumOfBytes(b []byte) string {
	s, _ := sumOf(bytes.NewReader(b)) // a bytes.Reader has no errors
	return s
}
