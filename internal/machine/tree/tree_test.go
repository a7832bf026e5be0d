package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folder makes a folder with files, folders, links, modes and times.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for name, text := range map[string]string{"a": "one", "sub/b": strings.Repeat("two", 400_000), "sub/deep/c": "", "name \xff": "bytes"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 678, time.UTC)
	if err := errors.Join(os.Symlink("../a", filepath.Join(dir, "sub/link")), os.Chmod(filepath.Join(dir, "a"), 0o4755), os.Chtimes(filepath.Join(dir, "a"), old, old),
		os.Chmod(filepath.Join(dir, "sub/deep"), 0o700), os.Chtimes(dir, old, old)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Lchown(filepath.Join(dir, "sub/b"), 1234, 5678); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// described is a folder with everything that a copy keeps.
func described(t *testing.T, dir string) string {
	t.Helper()
	all, err := list(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range all {
		text := ""
		if e.Mode.IsRegular() {
			body, err := os.ReadFile(filepath.Join(dir, e.Path))
			if err != nil {
				t.Fatal(err)
			}
			text = fmt.Sprintf("%d bytes, %.20q", len(body), body)
		}
		fmt.Fprintf(&b, "%q %v %s:%s %v %q %s\n", e.Path, e.Mode, e.User, e.Group, e.Time.UTC(), e.Link, text)
	}
	return b.String()
}

// through copies a folder through this process.
func through(ctx context.Context, from, to string) (Manifest, error) {
	have, err := Local{}.ListTree(ctx, to)
	if err != nil {
		return nil, err
	}
	r, err := Local{}.PackTree(ctx, from, have)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return Local{}.UnpackTree(ctx, to, r)
}

// TestCopy: a copy has everything of the source, directly and through the caller, over what
// was there, and its digest is that of the source.
func TestCopy(t *testing.T) {
	from := folder(t)
	to := filepath.Join(t.TempDir(), "copy")
	m, err := through(t.Context(), from, to)
	if err != nil || described(t, to) != described(t, from) {
		t.Fatalf("%v\n%s\nwant\n%s", err, described(t, to), described(t, from))
	}
	if err := errors.Join(os.WriteFile(filepath.Join(to, "a"), []byte("other"), 0o600), os.RemoveAll(filepath.Join(to, "sub/deep")), os.WriteFile(filepath.Join(to, "sub/deep"), nil, 0o600),
		os.Remove(filepath.Join(to, "sub/link")), os.Symlink("/etc", filepath.Join(to, "sub/link")), os.Mkdir(filepath.Join(to, "more"), 0o700), os.WriteFile(filepath.Join(to, "more/x"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	again, err := Directly(t.Context(), Local{}, from, "127.0.0.1", Local{}, to)
	if err != nil || described(t, to) != described(t, from) || again.Digest() != m.Digest() {
		t.Errorf("%v, digests %v\n%s\nwant\n%s", err, again.Digest() == m.Digest(), described(t, to), described(t, from))
	}
}

// TestCut: a stream that is cut anywhere is an error, and the copy goes on from what is there.
func TestCut(t *testing.T) {
	from := folder(t)
	to := filepath.Join(t.TempDir(), "copy")
	r, err := Local{}.PackTree(t.Context(), from, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/37 {
		if _, err := unpack(t.Context(), to, strings.NewReader(string(whole[:n]))); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", n, len(whole))
		}
	}
	if _, err := unpack(t.Context(), to, strings.NewReader(string(whole[:len(whole)-1]))); err == nil {
		t.Error("a stream without its last byte is accepted")
	}
	counted := &counter{}
	have, err := list(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := pack(t.Context(), from, have, counted); err != nil {
		t.Fatal(err)
	}
	if counted.n > len(whole)/2 {
		t.Errorf("%d of %d bytes are sent again", counted.n, len(whole))
	}
	if _, err := through(t.Context(), from, to); err != nil || described(t, to) != described(t, from) {
		t.Errorf("gone on: %v\n%s", err, described(t, to))
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// TestHostile: no name of a list leaves the folder, and another certificate or token gets
// nothing.
func TestHostile(t *testing.T) {
	dir := Entry{Path: ".", Mode: os.ModeDir | 0o700}
	for name, m := range map[string]Manifest{
		"nothing":         {},
		"no folder":       {{Path: "a"}},
		"above":           {dir, {Path: "../a"}},
		"absolute":        {dir, {Path: "/etc/passwd"}},
		"not clean":       {dir, {Path: "a/../../b"}},
		"through a link":  {dir, {Path: "l", Mode: os.ModeSymlink | 0o777, Link: "/etc"}, {Path: "l/passwd"}},
		"a device":        {dir, {Path: "d", Mode: os.ModeDevice}},
		"less than empty": {dir, {Path: "a", Size: -1}},
	} {
		if err := m.check(); err == nil {
			t.Errorf("%s: %v is accepted", name, m)
		}
	}
	from, to := folder(t), filepath.Join(t.TempDir(), "copy")
	ctx, cancel := context.WithCancel(t.Context())
	o, wait, err := Local{}.OfferTree(ctx, from, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	other := o
	other.Certificate[0]++
	if _, err := (Local{}).TakeTree(t.Context(), to, other); err == nil || !strings.Contains(err.Error(), "another certificate") {
		t.Errorf("another certificate: %v", err)
	}
	other = o
	other.Token[0]++
	if _, err := (Local{}).TakeTree(t.Context(), to, other); err == nil {
		t.Error("another token is accepted")
	}
	cancel()
	if err := wait(); err == nil {
		t.Error("an offer that nobody took ended well")
	}
	if _, _, err := (Local{}).OfferTree(t.Context(), from, "0.0.0.0"); err == nil {
		t.Error("a folder is served to everyone")
	}
}

// FuzzUnpack: no stream makes a file outside of the folder, or a panic.
func FuzzUnpack(f *testing.F) {
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600); err != nil {
		f.Fatal(err)
	}
	r, err := Local{}.PackTree(f.Context(), dir, nil)
	if err != nil {
		f.Fatal(err)
	}
	whole, err := io.ReadAll(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) > 4096 {
			return
		}
		above := t.TempDir()
		_, _ = unpack(t.Context(), filepath.Join(above, "copy"), strings.NewReader(string(stream)))
		entries, err := os.ReadDir(above)
		if err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != "copy" {
			t.Errorf("%v %v", entries, err)
		}
	})
}
