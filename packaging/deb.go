package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A deb is a Debian package that is being made. It needs no other package; the servers of the
// arenas and what a site has of its own are only suggested, since apt installs what is
// recommended, and a web server that starts by itself is the last thing a site needs.
type deb struct {
	*builder
	arch    string
	version string
	program []byte
	native  string // the program for this machine, which writes manual page and completions
	modules []*debug.Module
}

const control = `Package: iikanji
Version: %s
Architecture: %s
Maintainer: the iikanji authors <iikanji@users.noreply.github.com>
Installed-Size: %d
Suggests: nginx, mariadb-server, golang-go, git
Section: web
Priority: optional
Homepage: https://github.com/iikanji/iikanji
Description: makes a web stack fast, and proves it
 iikanji loads a site with scenarios that check every answer, measures where
 the time goes, finds the causes, and tries one change at a time. It keeps what
 interleaved runs prove, undoes the rest to the byte, and records the history.
 It has contests to practise on, and needs no account and no network.
`

// write makes the package with dpkg-deb.
func (d *deb) write(ctx context.Context) error {
	root := filepath.Join(d.scratch, "root-"+d.arch)
	files, err := d.files(ctx)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if err := put(root, name, f.text, f.mode); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.text), name) // the form that dpkg --verify reads
		size += (len(f.text) + 1023) / 1024
	}
	if err := put(root, "DEBIAN/md5sums", sums.Bytes(), 0o644); err != nil {
		return err
	}
	if err := put(root, "DEBIAN/control", fmt.Appendf(nil, control, d.version, d.arch, size), 0o644); err != nil {
		return err
	}
	if err := age(root, d.at); err != nil {
		return err
	}
	file := filepath.Join(d.into, fmt.Sprintf("iikanji_%s_%s.deb", d.version, d.arch))
	// One thread: the blocks of several depend on how many CPUs there are. Higher levels take
	// five times as long for a tenth of the size.
	_, err = output(ctx, ".", []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", d.at.Unix())},
		"dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--threads-max=1", "--build", root, file)
	return err
}

// A packaged is a file of a package.
type packaged struct {
	text []byte
	mode fs.FileMode
}

// files are those that the package installs, by their paths.
func (d *deb) files(ctx context.Context) (map[string]packaged, error) {
	out := map[string]packaged{"usr/bin/iikanji": {d.program, 0o755}}
	for path, args := range map[string][]string{
		"usr/share/man/man1/iikanji.1.gz":                  {"help", "--man"},
		"usr/share/bash-completion/completions/iikanji":    {"completion", "bash"},
		"usr/share/zsh/vendor-completions/_iikanji":        {"completion", "zsh"},
		"usr/share/fish/vendor_completions.d/iikanji.fish": {"completion", "fish"},
	} {
		text, err := output(ctx, d.scratch, nil, d.native, args...)
		if err != nil {
			return nil, err
		}
		out[path] = packaged{[]byte(text), 0o644}
	}
	changes, err := os.ReadFile(filepath.Join(d.src, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	out["usr/share/doc/iikanji/changelog.gz"] = packaged{changes, 0o644}
	text, err := d.licences(ctx)
	if err != nil {
		return nil, err
	}
	out["usr/share/doc/iikanji/copyright"] = packaged{text, 0o644}
	for path, f := range out {
		if strings.HasSuffix(path, ".gz") {
			if f.text, err = zipped(f.text); err != nil {
				return nil, err
			}
			out[path] = f
		}
	}
	return out, nil
}

// zipped compresses a text without a name or a time.
func zipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// put writes a file below a folder, with the folders above it.
func put(root, name string, text []byte, mode fs.FileMode) error {
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // whatever the umask of this user is
}

// age gives a folder and all in it the time of the commit, and folders the mode that Debian
// wants.
func age(root string, at time.Time) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		if err == nil {
			err = os.Chtimes(path, at, at)
		}
		return err
	})
}

// pseudo is the version that go gives to a commit after a tag: that of the next release, the
// commit's time and hash.
var pseudo = regexp.MustCompile(`^(\d+\.\d+\.\d+)-(?:0\.)?(\d{14})-([0-9a-f]{12})$`)

// debianVersion is a version of Go in Debian's form. A commit between two tags comes after the
// one and before the other.
func debianVersion(version string) string {
	v := strings.TrimPrefix(version, "v")
	if m := pseudo.FindStringSubmatch(v); m != nil {
		return m[1] + "~" + m[2] + "." + m[3]
	}
	return strings.Replace(v, "-", "~", 1) // v1.0.0-rc.1 comes before v1.0.0
}
