package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// maxFiles bounds the files of a host: more are no configuration and source.
const maxFiles = 50_000

// files takes the files of the folders, of the sources, and single ones.
func (t *taker) files() error {
	folders := t.Folders
	if folders == nil {
		folders = Usual
	}
	for _, dir := range folders {
		if err := t.folder(dir, false); err != nil {
			return err
		}
	}
	for _, s := range t.Services {
		if s.Source != "" {
			if err := t.folder(s.Source, true); err != nil {
				return err
			}
		}
		for _, dir := range s.Loads {
			if err := t.folder(dir, true); err != nil {
				return err
			}
		}
	}
	for _, name := range t.extra {
		if t.seen[name] {
			continue
		}
		info, err := t.Host.Lstat(name)
		if err != nil {
			t.cannot(name, err)
			continue
		}
		if err := t.file(name, info); err != nil {
			return err
		}
	}
	return nil
}

// folder takes the files below a folder; of a source, only those with source.
func (t *taker) folder(dir string, source bool) error {
	dir = filepath.Clean(dir)
	return t.Host.Walk(dir, func(name string, d fs.DirEntry, err error) error {
		if ctxErr := t.ctx.Err(); ctxErr != nil {
			return fmt.Errorf("taking the files below %s: %w", dir, ctxErr)
		}
		if err != nil {
			t.cannot(name, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if source && name != dir && sourceSkips[d.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		if t.seen[name] || source && !isSource(name) {
			return nil
		}
		if len(t.out.Files) >= maxFiles {
			t.out.Unread[dir] = fmt.Sprintf("it has more than %d files", maxFiles)
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			t.cannot(name, err)
			return nil
		}
		return t.file(name, info)
	})
}

// file takes one file. Its content is read if its size, times or inode show a change.
func (t *taker) file(name string, info fs.FileInfo) error {
	t.seen[name] = true
	f := state.File{Path: name, Size: info.Size(), Mode: uint32(info.Mode().Perm()), Modified: info.ModTime(), Changed: info.ModTime()}
	var inode uint64
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
		f.Changed = time.Unix(s.Ctim.Sec, s.Ctim.Nsec)
		f.Owner = fmt.Sprintf("%d:%d", s.Uid, s.Gid)
		f.Mode = s.Mode & 0o7777
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := t.Host.Readlink(name)
		if err != nil {
			t.cannot(name, err)
			return nil
		}
		f.Class, f.Target, f.Size, f.Mode = state.Link, target, 0, 0
		t.out.Files = append(t.out.Files, f)
		return nil
	case !info.Mode().IsRegular():
		return nil
	}
	old, known := t.old.Files[name]
	is := indexed{Inode: inode, Size: f.Size, Mod: f.Modified.UnixNano(), Chg: f.Changed.UnixNano(), Read: t.Now().UnixNano()}
	if known && old.Inode == is.Inode && old.Size == is.Size && old.Mod == is.Mod && old.Chg == is.Chg && old.Read-old.Chg > int64(racy) {
		f.Class, f.SHA, is = old.Class, old.SHA, old
	} else if err := t.content(&f); err != nil {
		return err
	} else if f.SHA == "" {
		return nil
	}
	is.Class, is.SHA = f.Class, f.SHA
	t.next.Files[name] = is
	t.out.Files = append(t.out.Files, f)
	return nil
}

// content reads a file and keeps it, if it may be kept. The SHA of one that could not be
// read stays empty.
func (t *taker) content(f *state.File) error {
	if f.Size > maxRead {
		f.Class, f.SHA = state.Large, state.Sum(fmt.Appendf(nil, "%d %d", f.Size, f.Modified.UnixNano()))
		return nil
	}
	t.read++
	text, err := t.Host.Read(f.Path)
	if err != nil {
		t.cannot(f.Path, err)
		return nil
	}
	switch f.Class = classOf(f.Path, text); f.Class {
	case state.Text:
		f.SHA, err = t.store.Put(text)
		return err
	case state.Secret:
		f.SHA = t.store.Keyed(text)
	default:
		f.SHA = state.Sum(text)
	}
	return nil
}

// also takes single files that are outside of the folders, with what links lead to.
func (t *taker) also(names ...string) {
	for _, name := range names {
		if name == "" {
			continue
		}
		t.extra = append(t.extra, filepath.Clean(name))
		if real, err := t.Host.RealPath(name); err == nil && real != name {
			t.extra = append(t.extra, real)
		}
	}
}

// program is a program's file: its digest comes from the index if it did not change.
func (t *taker) program(pid int) (p state.Program, err error) {
	link := fmt.Sprintf("/proc/%d/exe", pid)
	name, err := t.Host.Readlink(link)
	if err != nil {
		return p, err
	}
	path, gone := strings.CutSuffix(name, " (deleted)")
	p = state.Program{Path: path, Replaced: gone}
	info, err := t.Host.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return p, err
	}
	p.Modified, p.Changed = info.ModTime(), info.ModTime()
	is := indexed{Size: info.Size(), Mod: p.Modified.UnixNano()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		p.Changed = time.Unix(s.Ctim.Sec, s.Ctim.Nsec)
		is.Inode, is.Chg = s.Ino, p.Changed.UnixNano()
		if run, err := t.Host.Stat(link); err == nil {
			if r, ok := run.Sys().(*syscall.Stat_t); ok && (r.Ino != s.Ino || r.Dev != s.Dev) {
				p.Replaced = true
			}
		}
	}
	key := "program:" + path
	old, known := t.old.Files[key]
	is.Read = t.Now().UnixNano()
	if known && old.Inode == is.Inode && old.Size == is.Size && old.Mod == is.Mod && old.Chg == is.Chg && old.Read-old.Chg > int64(racy) {
		is = old
	} else {
		text, err := t.Host.Read(path)
		if err != nil {
			return p, err
		}
		t.read++
		is.SHA = state.Sum(text)
	}
	p.SHA = is.SHA
	t.next.Files[key] = is
	return p, nil
}
