package practice

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A place is where the files of a machine are written.
type place interface {
	Path(name string) string // on this machine
	Write(name, text string, perm os.FileMode) error
	Enable(unit string) error
}

// A folder is the place of an archive.
type folder string

// Path implements place.
func (f folder) Path(name string) string { return filepath.Join(string(f), name) }

// Write implements place.
func (f folder) Write(name, text string, perm os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(f.Path(name)), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.WriteFile(f.Path(name), []byte(text), perm); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return os.Chmod(f.Path(name), perm)
}

// Enable implements place. The script of the archive enables the units.
func (f folder) Enable(string) error { return nil }

// SetupPath is the script of an archive that makes the database and starts the site.
const SetupPath = "/opt/iikanji-arena/setup.sh"

// addressMark stands for the machine's address until the script of the archive is run.
const addressMark = "ADDRESS-OF-THIS-MACHINE"

// Archive writes what makes a Debian machine with nginx and MariaDB one of the arena, as on the day
// of a contest: a tar of files below /, packed by gzip, with a script. dir is a scratch folder.
func Archive(ctx context.Context, a *arena.Arena, dir string, to io.Writer) error {
	full, err := a.Complete()
	if err == nil {
		err = Check(full)
	}
	if err != nil {
		return err
	}
	s, err := lay(ctx, full, Options{Dir: dir})
	if err != nil {
		return err
	}
	root := folder(filepath.Join(dir, "root"))
	if err := os.MkdirAll(root.Path(home), 0o755); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	if err := os.Rename(filepath.Join(s.dir, "webapp"), root.Path(webapp)); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	if err := errors.Join(s.config(root, addressMark), root.Write(SetupPath, s.setup(), 0o755)); err != nil {
		return err
	}
	z := gzip.NewWriter(to)
	w := tar.NewWriter(z)
	if err := errors.Join(pack(w, string(root)), w.Close(), z.Close()); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return nil
}

// setup is the script of an archive.
func (s *site) setup() string {
	var b strings.Builder
	fmt.Fprintf(&b, `#!/bin/sh
# Makes this machine one of the arena %s. Run it once, as root, with the address at which the
# benchmarker reaches the machine.
set -eu
address=${1:?"want the address of this machine"}
case $address in *[!0-9a-fA-F.:]*) echo "$address is no address" >&2; exit 2;; esac
id %[2]s >/dev/null 2>&1 || useradd --create-home --shell /bin/bash %[2]s
chown -R %[2]s:%[2]s %[3]s
sed -i "s/%[4]s/$address/g" %[3]s/env*.sh
systemctl daemon-reload
systemctl restart mariadb
until mariadb -e 'SELECT 1' >/dev/null 2>&1; do sleep 1; done
`, s.arena.Name, account, home, addressMark)
	p := s.places(addressMark)
	for _, svc := range s.arena.Services {
		if db := svc.Database; svc.Engine == iikanji.EngineMariaDB {
			fmt.Fprintf(&b, "mariadb <<'SQL'\n%sSQL\n", databaseSQL(db.Name, db.User, db.Password))
		}
	}
	for _, svc := range s.arena.Services {
		if svc.Load == "" {
			continue
		}
		load := path.Join(webapp, svc.Load)
		words := []string{"env", "-C", host.Quote(path.Dir(load))}
		for _, kv := range svc.Env(p) {
			words = append(words, host.Quote(kv))
		}
		fmt.Fprintf(&b, "%s %s\n", strings.Join(words, " "), host.Quote(load))
	}
	fmt.Fprintf(&b, "chown -R %[1]s:%[1]s %[2]s\n", account, webapp)
	for _, svc := range s.arena.Services {
		if s.programs[svc.Name] != "" {
			fmt.Fprintf(&b, "systemctl enable %[1]s\nsystemctl restart %[1]s\n", s.unit(svc))
		}
	}
	b.WriteString("systemctl enable mariadb nginx\nsystemctl restart nginx\n")
	b.WriteString("n=0\nuntil curl -s -o /dev/null http://127.0.0.1/; do n=$((n+1)); [ $n -lt 60 ] || { echo 'the site does not answer' >&2; exit 1; }; sleep 1; done\necho 'the site answers at http://'\"$address\"\n")
	return b.String()
}

// databaseSQL makes the database of an arena and the account of its apps.
func databaseSQL(name, user, password string) string {
	return fmt.Sprintf("CREATE DATABASE `%s`;\nCREATE USER '%s'@'localhost' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO '%[2]s'@'localhost';\n", name, user, password)
}

// modeOf is the mode of a file in an archive, whatever the umask of those who make it: tar gives it
// to /etc too. Everybody may read the files of a contest's machine, also its passwords.
func modeOf(m fs.FileMode) int64 {
	switch {
	case m&fs.ModeSymlink != 0:
		return 0o777
	case m.IsDir() || m&0o100 != 0:
		return 0o755
	}
	return 0o644
}

// pack writes a folder as a tar whose files belong to root.
func pack(w *tar.Writer, dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		link := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if link, err = os.Readlink(name); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		h.Name, h.Uid, h.Gid, h.Uname, h.Gname = filepath.ToSlash(rel), 0, 0, "root", "root"
		if d.IsDir() {
			h.Name += "/"
		}
		h.Mode = modeOf(info.Mode())
		if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}
