package hosttest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

var reading = []check{
	{"read", func(t *testing.T, g ground) {
		file(t, g.at("f"), "text\x00\xff")
		if b, err := g.h.Read(g.at("f")); err != nil || string(b) != "text\x00\xff" {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"read an empty file", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		if b, err := g.h.Read(g.at("f")); err != nil || len(b) != 0 {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"read 20 MB", func(t *testing.T, g ground) {
		text := strings.Repeat("0123456789", 2<<20)
		file(t, g.at("f"), text)
		if b, err := g.h.Read(g.at("f")); err != nil || string(b) != text {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	}},
	{"read through a link", func(t *testing.T, g ground) {
		file(t, g.at("f"), "x")
		must(t, os.Symlink("f", g.at("l")))
		if b, err := g.h.Read(g.at("l")); err != nil || string(b) != "x" {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"read what is missing", func(t *testing.T, g ground) { _, err := g.h.Read(g.at("none")); is(t, err, fs.ErrNotExist) }},
	{"the error names the path", func(t *testing.T, g ground) {
		_, err := g.h.Read(g.at("none"))
		var path *fs.PathError
		if !errors.As(err, &path) || path.Path != g.at("none") || !strings.Contains(err.Error(), g.at("none")) {
			t.Errorf("%v", err)
		}
	}},
	{"read a folder", func(t *testing.T, g ground) { _, err := g.h.Read(g.dir); is(t, err, syscall.EISDIR) }},
	{"read a name with odd bytes", func(t *testing.T, g ground) {
		name := g.at("a b\n\"'$(x);é日\\")
		file(t, name, "x")
		if b, err := g.h.Read(name); err != nil || string(b) != "x" {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"read a kernel file", func(t *testing.T, g ground) {
		if b, err := g.h.Read("/proc/sys/kernel/ostype"); err != nil || string(b) != "Linux\n" {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"open, read from any offset", func(t *testing.T, g ground) {
		file(t, g.at("f"), "0123456789")
		f, err := g.h.Open(g.at("f"))
		must(t, err)
		defer f.Close()
		b := make([]byte, 4)
		if n, err := f.ReadAt(b, 3); n != 4 || err != nil || string(b) != "3456" {
			t.Errorf("%d %q %v", n, b, err)
		}
		if n, err := f.ReadAt(b, 8); n != 2 || !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %d %v", n, err)
		}
		if n, err := f.ReadAt(b, 100); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("behind the end: %d %v", n, err)
		}
	}},
	{"open, read in order", func(t *testing.T, g ground) {
		text := strings.Repeat("line of a log\n", 300_000)
		file(t, g.at("f"), text)
		f, err := g.h.Open(g.at("f"))
		must(t, err)
		defer f.Close()
		if b, err := io.ReadAll(f); err != nil || string(b) != text {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	}},
	{"an open file grows", func(t *testing.T, g ground) {
		file(t, g.at("f"), "one")
		f, err := g.h.Open(g.at("f"))
		must(t, err)
		defer f.Close()
		if b, err := io.ReadAll(f); err != nil || string(b) != "one" {
			t.Errorf("%q %v", b, err)
		}
		w, err := os.OpenFile(g.at("f"), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = w.WriteString("two")
		must(t, errors.Join(err, w.Close()))
		if b, err := io.ReadAll(f); err != nil || string(b) != "two" {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"an open file is renamed", func(t *testing.T, g ground) {
		file(t, g.at("f"), "one")
		f, err := g.h.Open(g.at("f"))
		must(t, err)
		defer f.Close()
		must(t, os.Rename(g.at("f"), g.at("f.1")))
		file(t, g.at("f"), "another")
		info, err := f.Stat()
		must(t, err)
		if b, err := io.ReadAll(f); err != nil || string(b) != "one" || info.Size() != 3 {
			t.Errorf("%q %v, size %d", b, err, info.Size())
		}
	}},
	{"open what is missing", func(t *testing.T, g ground) {
		if f, err := g.h.Open(g.at("none")); f != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v %v", f, err)
		}
	}},
	{"a closed file", func(t *testing.T, g ground) {
		file(t, g.at("f"), "x")
		f, err := g.h.Open(g.at("f"))
		must(t, err)
		must(t, f.Close())
		_, err = f.ReadAt(make([]byte, 1), 0)
		is(t, err, fs.ErrClosed)
	}},
	{"stat", func(t *testing.T, g ground) {
		file(t, g.at("f"), "12345")
		must(t, os.Chmod(g.at("f"), 0o4751))
		got, err := g.h.Stat(g.at("f"))
		must(t, err)
		want, err := os.Stat(g.at("f"))
		must(t, err)
		a, b := got.Sys().(*syscall.Stat_t), want.Sys().(*syscall.Stat_t)
		if got.Name() != "f" || got.Size() != 5 || got.Mode() != want.Mode() || !got.ModTime().Equal(want.ModTime()) || got.IsDir() ||
			a.Ino != b.Ino || a.Dev != b.Dev || a.Uid != b.Uid || a.Nlink != b.Nlink || a.Ctim != b.Ctim {
			t.Errorf("%+v, want %+v", got, want)
		}
	}},
	{"stat and lstat of a link", func(t *testing.T, g ground) {
		file(t, g.at("f"), "12345")
		must(t, os.Symlink("f", g.at("l")))
		one, err := g.h.Stat(g.at("l"))
		must(t, err)
		other, err := g.h.Lstat(g.at("l"))
		must(t, err)
		if !one.Mode().IsRegular() || other.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%v %v", one.Mode(), other.Mode())
		}
	}},
	{"stat of what is missing", func(t *testing.T, g ground) {
		_, err := g.h.Stat(g.at("none"))
		is(t, err, fs.ErrNotExist)
		_, err = g.h.Lstat(g.at("none"))
		is(t, err, fs.ErrNotExist)
	}},
	{"stat of a dangling link", func(t *testing.T, g ground) {
		must(t, os.Symlink("none", g.at("l")))
		_, err := g.h.Stat(g.at("l"))
		is(t, err, fs.ErrNotExist)
	}},
	{"a file in the place of a folder", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		_, err := g.h.Stat(g.at("f/x"))
		is(t, err, syscall.ENOTDIR)
	}},
	{"links", func(t *testing.T, g ground) {
		must(t, errors.Join(os.Mkdir(g.at("d"), 0o755), os.Symlink("d", g.at("l"))))
		file(t, g.at("d/f"), "")
		if to, err := g.h.Readlink(g.at("l")); err != nil || to != "d" {
			t.Errorf("%q %v", to, err)
		}
		if to, err := g.h.RealPath(g.at("l/f")); err != nil || to != g.at("d/f") {
			t.Errorf("%q %v", to, err)
		}
		_, err := g.h.RealPath(g.at("l/none"))
		is(t, err, fs.ErrNotExist)
		_, err = g.h.Readlink(g.at("d/f"))
		is(t, err, syscall.EINVAL)
	}},
}

var folders = []check{
	{"list a folder", func(t *testing.T, g ground) {
		for _, name := range []string{"b", "a", "c"} {
			file(t, g.at(name), "12")
		}
		must(t, errors.Join(os.Mkdir(g.at("d"), 0o700), os.Symlink("a", g.at("l"))))
		entries, err := g.h.ReadDir(g.dir)
		must(t, err)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name()+e.Type().String())
		}
		if want := []string{"a----------", "b----------", "c----------", "dd---------", "lL---------"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if info, err := entries[0].Info(); err != nil || info.Size() != 2 {
			t.Errorf("%v %v", info, err)
		}
	}},
	{"list an empty folder", func(t *testing.T, g ground) {
		if entries, err := g.h.ReadDir(g.dir); err != nil || len(entries) != 0 {
			t.Errorf("%v %v", entries, err)
		}
	}},
	{"list what is no folder", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		_, err := g.h.ReadDir(g.at("f"))
		is(t, err, syscall.ENOTDIR)
		_, err = g.h.ReadDir(g.at("none"))
		is(t, err, fs.ErrNotExist)
	}},
	{"list 3,000 files", func(t *testing.T, g ground) {
		for i := range 3000 {
			file(t, g.at("f"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+"."+string(rune('0'+i%10))+strings.Repeat("y", i/50)), "")
		}
		want, err := os.ReadDir(g.dir)
		must(t, err)
		if got, err := g.h.ReadDir(g.dir); err != nil || len(got) != len(want) {
			t.Errorf("%d of %d, %v", len(got), len(want), err)
		}
	}},
	{"glob", func(t *testing.T, g ground) {
		for _, name := range []string{"b.conf", "a.conf", "c.txt"} {
			file(t, g.at(name), "")
		}
		if got, err := g.h.Glob(g.at("*.conf")); err != nil || !slices.Equal(got, []string{g.at("a.conf"), g.at("b.conf")}) {
			t.Errorf("%q %v", got, err)
		}
		if got, err := g.h.Glob(g.at("*.none")); err != nil || len(got) != 0 {
			t.Errorf("%q %v", got, err)
		}
		if _, err := g.h.Glob("["); err == nil {
			t.Error("a bad pattern has no error")
		}
	}},
	{"walk", func(t *testing.T, g ground) {
		must(t, errors.Join(os.MkdirAll(g.at("a/b"), 0o755), os.Mkdir(g.at("skipped"), 0o755), os.Symlink("a", g.at("l"))))
		file(t, g.at("a/b/f"), "")
		file(t, g.at("skipped/f"), "")
		var got, want []string
		visit := func(to *[]string) fs.WalkDirFunc {
			return func(path string, d fs.DirEntry, err error) error {
				*to = append(*to, strings.TrimPrefix(path, g.dir))
				if d.Name() == "skipped" {
					return fs.SkipDir
				}
				return err
			}
		}
		must(t, g.h.Walk(g.dir, visit(&got)))
		must(t, filepath.WalkDir(g.dir, visit(&want)))
		if !slices.Equal(got, want) || len(got) != 6 {
			t.Errorf("%q, want %q", got, want)
		}
	}},
	{"walk what is missing", func(t *testing.T, g ground) {
		err := g.h.Walk(g.at("none"), func(_ string, _ fs.DirEntry, err error) error { return err })
		is(t, err, fs.ErrNotExist)
	}},
	{"walk a link", func(t *testing.T, g ground) {
		must(t, errors.Join(os.Mkdir(g.at("d"), 0o755), os.Symlink("d", g.at("l"))))
		file(t, g.at("d/f"), "")
		n := 0
		must(t, g.h.Walk(g.at("l"), func(_ string, _ fs.DirEntry, err error) error { n++; return err }))
		if n != 1 {
			t.Errorf("%d visits: the link was followed", n)
		}
	}},
	{"free space", func(t *testing.T, g ground) {
		if n, err := g.h.FreeSpace(g.dir); err != nil || n <= 0 {
			t.Errorf("%d %v", n, err)
		}
		_, err := g.h.FreeSpace(g.at("none"))
		is(t, err, fs.ErrNotExist)
	}},
}

var writing = []check{
	{"write a new file", func(t *testing.T, g ground) {
		must(t, g.h.Write(g.at("f"), []byte("one"), 0o604))
		holds(t, g.at("f"), "one")
		if m := mode(t, g.at("f")); m != 0o604 {
			t.Errorf("mode %v", m)
		}
		only(t, g.dir, "f")
	}},
	{"write keeps the mode", func(t *testing.T, g ground) {
		file(t, g.at("f"), "one")
		must(t, os.Chmod(g.at("f"), 0o611))
		must(t, g.h.Write(g.at("f"), []byte("two"), 0o600))
		holds(t, g.at("f"), "two")
		if m := mode(t, g.at("f")); m != 0o611 {
			t.Errorf("mode %v", m)
		}
	}},
	{"write nothing", func(t *testing.T, g ground) {
		file(t, g.at("f"), "one")
		must(t, g.h.Write(g.at("f"), nil, 0o600))
		holds(t, g.at("f"), "")
	}},
	{"write 20 MB", func(t *testing.T, g ground) {
		text := bytes.Repeat([]byte("0123456789"), 2<<20)
		must(t, g.h.Write(g.at("f"), text, 0o600))
		holds(t, g.at("f"), string(text))
	}},
	{"write through a link", func(t *testing.T, g ground) {
		file(t, g.at("f"), "one")
		must(t, os.Symlink("f", g.at("l")))
		must(t, g.h.Write(g.at("l"), []byte("two"), 0o600))
		holds(t, g.at("f"), "two")
		if mode(t, g.at("l")).Type() != fs.ModeSymlink {
			t.Error("the link is gone")
		}
	}},
	{"readers see one content or the other", func(t *testing.T, g ground) {
		one, two := strings.Repeat("1", 100_000), strings.Repeat("2", 100_000)
		file(t, g.at("f"), one)
		done := make(chan error, 1)
		go func() {
			for range 20 {
				if err := errors.Join(g.h.Write(g.at("f"), []byte(two), 0o600), g.h.Write(g.at("f"), []byte(one), 0o600)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for {
			if b, err := os.ReadFile(g.at("f")); err != nil || string(b) != one && string(b) != two {
				t.Fatalf("%d bytes, %v", len(b), err)
			}
			select {
			case err := <-done:
				must(t, err)
				return
			default:
			}
		}
	}},
	{"write where no folder is", func(t *testing.T, g ground) {
		is(t, g.h.Write(g.at("none/f"), []byte("x"), 0o600), fs.ErrNotExist)
	}},
	{"write over a folder", func(t *testing.T, g ground) {
		must(t, os.Mkdir(g.at("d"), 0o755))
		if g.h.Write(g.at("d"), []byte("x"), 0o600) == nil || !mode(t, g.at("d")).IsDir() {
			t.Error("the folder was replaced")
		}
		only(t, g.dir, "d")
	}},
	{"replaceable", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		file(t, g.at("two"), "")
		must(t, errors.Join(os.Link(g.at("two"), g.at("names")), os.Symlink("none", g.at("dangling"))))
		for name, want := range map[string]bool{"f": true, "new": true, "two": false, "dangling": false} {
			if err := g.h.Replaceable(g.at(name)); (err == nil) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
}

var making = []check{
	{"create", func(t *testing.T, g ground) {
		must(t, g.h.Create(g.at("f"), []byte("one"), 0o646))
		holds(t, g.at("f"), "one")
		if m := mode(t, g.at("f")); m != 0o646 {
			t.Errorf("mode %v", m)
		}
	}},
	{"create what is there", func(t *testing.T, g ground) {
		file(t, g.at("f"), "one")
		is(t, g.h.Create(g.at("f"), []byte("two"), 0o600), fs.ErrExist)
		holds(t, g.at("f"), "one")
	}},
	{"create where a dangling link is", func(t *testing.T, g ground) {
		must(t, os.Symlink("none", g.at("l")))
		is(t, g.h.Create(g.at("l"), nil, 0o600), fs.ErrExist)
		only(t, g.dir, "l")
	}},
	{"create where no folder is", func(t *testing.T, g ground) { is(t, g.h.Create(g.at("none/f"), nil, 0o600), fs.ErrNotExist) }},
	{"symlink", func(t *testing.T, g ground) {
		must(t, g.h.Symlink("no where", g.at("l")))
		if to, err := os.Readlink(g.at("l")); err != nil || to != "no where" {
			t.Errorf("%q %v", to, err)
		}
		is(t, g.h.Symlink("x", g.at("l")), fs.ErrExist)
	}},
	{"mkdir", func(t *testing.T, g ground) {
		must(t, g.h.Mkdir(g.at("d"), 0o777))
		if m := mode(t, g.at("d")); m.Perm() != 0o777 || !m.IsDir() {
			t.Errorf("mode %v", m)
		}
		is(t, g.h.Mkdir(g.at("d"), 0o777), fs.ErrExist)
		is(t, g.h.Mkdir(g.at("none/d"), 0o777), fs.ErrNotExist)
	}},
}

var removing = []check{
	{"remove", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		must(t, g.h.Remove(g.at("f")))
		only(t, g.dir)
	}},
	{"remove what is missing", func(t *testing.T, g ground) { must(t, g.h.Remove(g.at("none"))) }},
	{"remove a link", func(t *testing.T, g ground) {
		file(t, g.at("f"), "x")
		must(t, os.Symlink("f", g.at("l")))
		must(t, g.h.Remove(g.at("l")))
		holds(t, g.at("f"), "x")
		only(t, g.dir, "f")
	}},
	{"remove a folder", func(t *testing.T, g ground) {
		must(t, os.Mkdir(g.at("d"), 0o755))
		if g.h.Remove(g.at("d")) == nil {
			t.Error("no error")
		}
		only(t, g.dir, "d")
	}},
	{"rmdir", func(t *testing.T, g ground) {
		must(t, os.Mkdir(g.at("d"), 0o755))
		must(t, g.h.Rmdir(g.at("d")))
		only(t, g.dir)
		is(t, g.h.Rmdir(g.at("d")), fs.ErrNotExist)
	}},
	{"rmdir of a full folder", func(t *testing.T, g ground) {
		must(t, os.Mkdir(g.at("d"), 0o755))
		file(t, g.at("d/f"), "")
		is(t, g.h.Rmdir(g.at("d")), syscall.ENOTEMPTY)
		file(t, g.at("f"), "")
		is(t, g.h.Rmdir(g.at("f")), syscall.ENOTDIR)
	}},
	{"remove all", func(t *testing.T, g ground) {
		must(t, errors.Join(os.MkdirAll(g.at("d/e"), 0o755), os.Mkdir(g.at("kept"), 0o755), os.Symlink("../kept", g.at("d/l"))))
		file(t, g.at("d/e/f"), "")
		file(t, g.at("kept/f"), "x")
		must(t, g.h.RemoveAll(g.at("d")))
		must(t, g.h.RemoveAll(g.at("d")))
		holds(t, g.at("kept/f"), "x")
		only(t, g.dir, "kept")
	}},
}

var beneathLinks = []check{
	{"beneath: write and read", func(t *testing.T, g ground) {
		must(t, g.h.WriteBeneath(g.dir, g.at("f"), []byte("one"), host.New{Perm: 0o631}))
		if b, err := g.h.ReadBeneath(g.dir, g.at("f")); err != nil || string(b) != "one" || mode(t, g.at("f")) != 0o631 {
			t.Errorf("%q %v %v", b, err, mode(t, g.at("f")))
		}
	}},
	{"beneath: a new folder", func(t *testing.T, g ground) {
		is(t, g.h.WriteBeneath(g.dir, g.at("d/f"), []byte("x"), host.New{Perm: 0o644}), fs.ErrNotExist)
		must(t, g.h.WriteBeneath(g.dir, g.at("d/f"), []byte("x"), host.New{Perm: 0o644, Folder: true}))
		holds(t, g.at("d/f"), "x")
	}},
	{"beneath: a link in the way", func(t *testing.T, g ground) {
		must(t, errors.Join(os.Mkdir(g.at("d"), 0o755), os.Mkdir(g.at("out"), 0o755), os.Symlink("../out", g.at("d/l"))))
		file(t, g.at("out/f"), "kept")
		_, err := g.h.ReadBeneath(g.at("d"), g.at("d/l/f"))
		is(t, err, host.ErrLink)
		is(t, g.h.WriteBeneath(g.at("d"), g.at("d/l/f"), []byte("x"), host.New{Perm: 0o600}), host.ErrLink)
		is(t, g.h.RemoveBeneath(g.at("d"), g.at("d/l/f")), host.ErrLink)
		holds(t, g.at("out/f"), "kept")
	}},
	{"beneath: the file is a link", func(t *testing.T, g ground) {
		file(t, g.at("kept"), "kept")
		must(t, errors.Join(os.Mkdir(g.at("d"), 0o755), os.Symlink("../kept", g.at("d/f"))))
		is(t, g.h.WriteBeneath(g.at("d"), g.at("d/f"), []byte("x"), host.New{Perm: 0o600}), host.ErrLink)
		holds(t, g.at("kept"), "kept")
	}},
	{"beneath: not below", func(t *testing.T, g ground) {
		must(t, os.Mkdir(g.at("d"), 0o755))
		file(t, g.at("f"), "kept")
		for _, path := range []string{g.at("f"), g.at("d/../f"), "f", g.at("d")} {
			_, err := g.h.ReadBeneath(g.at("d"), path)
			is(t, err, host.ErrOutside)
		}
	}},
	{"beneath: remove", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		must(t, g.h.RemoveBeneath(g.dir, g.at("f")))
		only(t, g.dir)
		must(t, g.h.RemoveBeneath(g.dir, g.at("f")))
	}},
	{"beneath: rmdir", func(t *testing.T, g ground) {
		must(t, errors.Join(os.Mkdir(g.at("d"), 0o755), os.Mkdir(g.at("full"), 0o755)))
		file(t, g.at("full/f"), "")
		must(t, errors.Join(g.h.RmdirBeneath(g.dir, g.at("d")), g.h.RmdirBeneath(g.dir, g.at("full")), g.h.RmdirBeneath(g.dir, g.at("none"))))
		only(t, g.dir, "full")
	}},
}
