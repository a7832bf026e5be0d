package sqlitefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Originals are files that a site's initialize copies, as its pristine databases. They
// are not open in any program. A change replaces each by an altered copy and keeps
// the original file itself, by a second name in a folder of its own: DROP INDEX would
// not restore the bytes. The original is back, to the byte, when its name leads to it
// again.
//
// A replacement is one rename: each name leads to the original or to the altered copy
// at any time.
type Originals struct {
	Root   string // a folder above both, without links
	Folder string // of the files, below Root
	Store  string // where the originals are kept, below Root; it exists while they are replaced
	Files  []Sum
}

// A Sum is a file with the SHA-256 of its content.
type Sum struct {
	Name string // relative to the folder
	SHA  string // hexadecimal
}

// A State is the state of one of the originals.
type State uint8

const (
	Foreign  State = iota // neither
	Original              // the content of Sum
	Altered               // the altered copy
	Missing
)

// Names of what the store has for each file: the original, its altered copy until it is
// in place, and the SHA-256 of the copy.
const (
	keptName = ".original"
	newName  = ".new"
	sumName  = ".sum"
)

// Summed returns the files with the SHA-256 of each.
func Summed(ctx context.Context, folder string, paths []string) ([]Sum, error) {
	var out []Sum
	for _, p := range paths {
		rel, err := filepath.Rel(folder, p)
		if err == nil && (!filepath.IsLocal(rel) || strings.ContainsAny(rel, "\r\n")) {
			err = errors.New("its name cannot be recorded")
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		sum, err := sumOf(ctx, func() (*os.File, error) { return os.Open(p) })
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		out = append(out, Sum{rel, sum})
	}
	return out, nil
}

func sumOf(ctx context.Context, open func() (*os.File, error)) (string, error) {
	f, err := open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &cancelled{ctx, f}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// cancelled reads until ctx is done.
type cancelled struct {
	ctx context.Context
	io.Reader
}

func (c *cancelled) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}

// A tree is the opened Root with the paths in it. It follows no link that leads out of
// Root, whenever the link was made.
type tree struct {
	*os.Root
	folder, store string
}

func (o Originals) open() (*tree, error) {
	t := &tree{}
	var err error
	for _, p := range []struct {
		to   *string
		path string
	}{{&t.folder, o.Folder}, {&t.store, o.Store}} {
		if *p.to, err = filepath.Rel(o.Root, p.path); err == nil && !filepath.IsLocal(*p.to) {
			err = fmt.Errorf("%s is not below %s", p.path, o.Root)
		}
		if err != nil {
			return nil, err
		}
	}
	t.Root, err = os.OpenRoot(o.Root)
	return t, err
}

func (t *tree) place(f Sum) string             { return filepath.Join(t.folder, f.Name) }
func (t *tree) kept(f Sum, what string) string { return filepath.Join(t.store, f.Name+what) }

func (t *tree) sum(ctx context.Context, path string) (string, error) {
	return sumOf(ctx, func() (*os.File, error) { return t.Open(path) })
}

// state reads the state of a file and the SHA-256 of its content.
func (t *tree) state(ctx context.Context, f Sum) (State, string, error) {
	info, err := t.Lstat(t.place(f))
	if errors.Is(err, fs.ErrNotExist) {
		return Missing, "", nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return Foreign, info.Mode().String(), nil
	}
	if err != nil {
		return Foreign, "", err
	}
	sum, err := t.sum(ctx, t.place(f))
	if err != nil || sum == f.SHA {
		return Original, sum, err
	}
	altered, err := t.ReadFile(t.kept(f, sumName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Foreign, sum, err
	}
	if string(altered) == sum {
		return Altered, sum, nil
	}
	return Foreign, sum, nil
}

// States reads the state of each file, and a text that lists them with the SHA-256 of
// their contents.
func (o Originals) States(ctx context.Context) ([]State, string, error) {
	t, err := o.open()
	if err != nil {
		return nil, "", err
	}
	defer t.Close()
	var text strings.Builder
	out := make([]State, len(o.Files))
	for i, f := range o.Files {
		var sum string
		if out[i], sum, err = t.state(ctx, f); err != nil {
			return nil, "", fmt.Errorf("reading %s: %w", f.Name, err)
		}
		fmt.Fprintf(&text, "%s %s\n", f.Name, sum)
	}
	return out, text.String(), nil
}

// Unfinished reports whether the store exists: a replacement was begun, or a restoration
// was not ended.
func (o Originals) Unfinished() bool {
	_, err := os.Lstat(o.Store)
	return err == nil
}

// Replace alters a copy of each file that is still the original, and puts the copy in
// its place. alter gets the path of the copy.
func (o Originals) Replace(ctx context.Context, alter func(ctx context.Context, path string) error) error {
	t, err := o.open()
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.MkdirAll(t.store, 0o700); err != nil {
		return err
	}
	for _, f := range o.Files {
		state, _, err := t.state(ctx, f)
		switch {
		case err != nil:
		case state == Original:
			err = t.replace(ctx, f, filepath.Join(o.Store, f.Name+newName), alter)
		case state != Altered:
			err = ErrForeign
		}
		if err != nil {
			return fmt.Errorf("replacing %s: %w", f.Name, err)
		}
	}
	return nil
}

func (t *tree) replace(ctx context.Context, f Sum, path string, alter func(context.Context, string) error) error {
	for _, what := range []string{newName, newName + "-journal", newName + "-wal", newName + "-shm", sumName, keptName} { // of a process that was killed
		if err := t.Remove(t.kept(f, what)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := t.MkdirAll(filepath.Dir(t.kept(f, newName)), 0o700); err != nil {
		return err
	}
	if err := t.copy(ctx, t.place(f), t.kept(f, newName)); err != nil {
		return err
	}
	if err := alter(ctx, path); err != nil {
		return err
	}
	sum, err := t.sum(ctx, t.kept(f, newName))
	if err != nil {
		return err
	}
	if err := t.WriteFile(t.kept(f, sumName), []byte(sum), 0o600); err != nil {
		return err
	}
	if err := t.Link(t.place(f), t.kept(f, keptName)); err != nil {
		return fmt.Errorf("keeping the original: %w", err)
	}
	for _, p := range []string{t.kept(f, newName), t.kept(f, sumName), filepath.Dir(t.kept(f, keptName))} {
		if err := t.sync(p); err != nil {
			return err
		}
	}
	if err := t.Rename(t.kept(f, newName), t.place(f)); err != nil {
		return err
	}
	return t.sync(filepath.Dir(t.place(f)))
}

// copy copies a file with its permissions and its owner.
func (t *tree) copy(ctx context.Context, from, to string) (err error) {
	in, err := t.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := t.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil { // the kernel copies, or shares the blocks
		return err
	}
	if own, ok := info.Sys().(*syscall.Stat_t); ok && (int(own.Uid) != os.Geteuid() || int(own.Gid) != os.Getegid()) {
		if err := out.Chown(int(own.Uid), int(own.Gid)); err != nil {
			return err
		}
	}
	return out.Chmod(info.Mode().Perm())
}

// sync makes a file or a folder durable.
func (t *tree) sync(path string) error {
	f, err := t.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Restore puts every original back and removes the store.
func (o Originals) Restore(ctx context.Context) error {
	t, err := o.open()
	if err != nil {
		return err
	}
	defer t.Close()
	for _, f := range o.Files {
		if err := t.restore(ctx, f); err != nil {
			return fmt.Errorf("restoring %s: %w", f.Name, err)
		}
	}
	if err := t.RemoveAll(t.store); err != nil {
		return err
	}
	// The folder above belongs to all changes: the last one removes it.
	if err := t.Remove(filepath.Dir(t.store)); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (t *tree) restore(ctx context.Context, f Sum) error {
	state, _, err := t.state(ctx, f)
	if err != nil || state == Original {
		return err
	}
	if state != Altered {
		return ErrForeign
	}
	if sum, err := t.sum(ctx, t.kept(f, keptName)); err != nil {
		return err
	} else if sum != f.SHA {
		return errors.New("the original that was kept was edited")
	}
	if err := t.Rename(t.kept(f, keptName), t.place(f)); err != nil {
		return err
	}
	return t.sync(filepath.Dir(t.place(f)))
}
