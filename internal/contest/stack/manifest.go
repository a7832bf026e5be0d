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

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A manifest records the files laid out in the folder. It distinguishes a file
// that a user edited from one that is only outdated. Paths are relative to the folder.
type manifest struct {
	dir     string
	entries map[string]laid
	touched map[string]bool // handled by this instance
	kept    []string        // edited files, left unchanged
	stale   []string        // the files of kept for which the arena has a newer version
}

// laid describes one file as it was laid out.
type laid struct {
	Sum  string    `json:"sum"` // SHA-256, hexadecimal
	Size int64     `json:"size"`
	Time time.Time `json:"time"` // modification time; a file with the same size and time is not read
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
			m.forget(top + "/") // the whole folder was removed: lay it out again
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

// A verdict is what to do with one file.
type verdict int

const (
	keep verdict = iota // it is up to date, or a user edited it
	lay                 // it is missing, or outdated and not edited
)

// judge compares a file on disk with what was laid out there and with what is
// wanted there now. Removing a file counts as an edit too (a source file that the
// user split must not come back), but a removed config is rendered again.
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

// edited reports whether a file differs from what was laid out.
func (m *manifest) edited(rel string) bool {
	entry, known := m.entries[rel]
	now, err := m.onDisk(rel, entry)
	if err != nil {
		return known
	}
	return !known || now.Sum != entry.Sum
}

// onDisk describes a file as it is on disk.
func (m *manifest) onDisk(rel string, entry laid) (laid, error) {
	path := filepath.Join(m.dir, rel)
	info, err := os.Stat(path)
	if err != nil {
		return laid{}, err
	}
	now := laid{Size: info.Size(), Time: info.ModTime().UTC(), From: entry.From}
	if info.IsDir() {
		now.Sum = "folder" // a user's folder where the file would be
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

// record notes that the file on disk is the one that was laid out.
func (m *manifest) record(rel, sum, from string) error {
	info, err := os.Stat(filepath.Join(m.dir, rel))
	if err != nil {
		return err
	}
	m.entries[rel] = laid{Sum: sum, Size: info.Size(), Time: info.ModTime().UTC(), From: from}
	return nil
}

// retire removes files whose origin no longer provides them, if they are not
// edited. An edited file stays and leaves the manifest.
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
	s, _ := sumOf(bytes.NewReader(b)) // a bytes.Reader returns no errors
	return s
}
