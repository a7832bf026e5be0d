package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Programs is a folder with programs that were built from known sources. A search builds
// the same few sources again and again: each undo of an edit, and each run of a pair,
// brings an earlier source back. The name of a kept program has its digest, which shows
// whether it is whole.
type Programs struct {
	Dir  string
	Most int // programs of one name that are kept; 0 for all
}

// Path is where the program of a source is kept. No name has "@" in it.
func (p Programs) Path(name, source, digest string) string {
	return filepath.Join(p.Dir, name+"@"+source+"@"+digest)
}

// Kept are the kept programs of a source, the latest first; "*" stands for all sources.
func (p Programs) Kept(name, source string) []string {
	paths, _ := filepath.Glob(p.Path(name, source, "*")) // the pattern is well formed
	times := map[string]time.Time{}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			times[path] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return times[b].Compare(times[a]) })
	return paths
}

// SourceOf is the source of which a program with a digest is kept, or source itself if that is
// not known: of several sources that gave the same program, source comes first.
func (p Programs) SourceOf(name, digest, source string) string {
	of := source
	for _, path := range p.Kept(name, "*") {
		words := strings.Split(filepath.Base(path), "@")
		switch {
		case len(words) != 3 || words[2] != digest:
		case words[1] == source:
			return source
		case of == source:
			of = words[1]
		}
	}
	return of
}

// Take copies the kept program of a source. ok is false if there is none that is whole.
func (p Programs) Take(name, source, to string) (ok bool) {
	for _, path := range p.Kept(name, source) {
		digest, err := CopyFile(path, to)
		if err == nil && path == p.Path(name, source, digest) {
			return true
		}
		_, _ = os.Remove(to), os.Remove(path) // a part of a program, and one that is damaged
	}
	return false
}

// Keep keeps a copy of a program as that of a source, in place of an earlier one, and
// removes the oldest ones.
func (p Programs) Keep(name, source, program string) error {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", program, err)
	}
	tmp := filepath.Join(p.Dir, ".new")
	digest, err := CopyFile(program, tmp)
	if err != nil {
		return err
	}
	for _, path := range p.Kept(name, source) {
		_ = os.Remove(path)
	}
	if err := os.Rename(tmp, p.Path(name, source, digest)); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", program, err)
	}
	if p.Most > 0 {
		paths := p.Kept(name, "*")
		for _, path := range paths[min(p.Most, len(paths)):] {
			_ = os.Remove(path) // the next build tries it again
		}
	}
	return nil
}

// CopyFile copies a program and returns its digest.
func CopyFile(from, to string) (digest string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", from, err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", from, err)
	}
	h := sha256.New()
	if _, err = io.Copy(io.MultiWriter(h, out), in); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", fmt.Errorf("copying %s: %w", from, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// SourceSum is a digest of the names and contents of a folder's files; see WalkSource.
func SourceSum(dir, program string) (string, error) {
	h := sha256.New()
	err := WalkSource(dir, program, func(name string, _ fs.FileInfo) error {
		own, err := FileSum(filepath.Join(dir, name))
		fmt.Fprintf(h, "/%s\x00%s\n", name, own)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading the source in %s: %w", dir, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// FileSum is the SHA-256 of a file's content.
func FileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// WalkSource calls do for each regular file of a folder of source, by its name relative to
// the folder, in the order of the names. Files and folders whose names begin with a dot (.git,
// editors' swap files) and node_modules are left out, and so is the program that is built from
// the source, which may lie in the folder; "" for none.
func WalkSource(dir, program string, do func(name string, info fs.FileInfo) error) error {
	return WalkWhole(dir, program, do, func(string, fs.DirEntry) {})
}

// WalkWhole is WalkSource with a call of left for each file, folder and link that is left out,
// but for the program.
func WalkWhole(dir, program string, do func(name string, info fs.FileInfo) error, left func(name string, d fs.DirEntry)) error {
	built, _ := os.Stat(program) // nil for none
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			left(name, d)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		if !d.Type().IsRegular() {
			left(name, d)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if os.SameFile(info, built) {
			return nil
		}
		return do(name, info)
	})
}
