package lab

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// Database makes the folders that Debian's packages of MariaDB, nginx and Redis make when
// they are installed, and an empty database. The machine is down.
func (m *Machine) Database() error {
	for _, d := range []struct {
		path, owner string
		perm        os.FileMode
	}{{"/var/lib/mysql", "mysql", 0o755}, {"/var/log/mysql", "mysql", 0o755}, {"/var/log/nginx", "www-data", 0o755}, {"/var/lib/nginx", "www-data", 0o755},
		{"/var/lib/redis", "redis", 0o750}, {"/var/log/redis", "redis", 0o750}} {
		if err := os.MkdirAll(m.Path(d.path), d.perm); err != nil {
			return fmt.Errorf("making %s of machine %s: %w", d.path, m.Name, err)
		}
		if err := m.own(d.path, d.owner); err != nil {
			return err
		}
	}
	// In a mount namespace of its own: the server's account may not be able to pass the
	// folders above the machine's.
	script := `mkdir -p /var/lib/mysql && mount --make-rprivate / && mount --bind "$1" /var/lib/mysql &&
TMPDIR=/var/lib/mysql exec mariadb-install-db --no-defaults --user=mysql --datadir=/var/lib/mysql --skip-test-db --auth-root-authentication-method=socket`
	out, err := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", m.Path("/var/lib/mysql")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("making the database of machine %s: %w: %s", m.Name, err, out)
	}
	return nil
}

// own gives a folder to an account of this machine; an account that is missing is none.
func (m *Machine) own(path, name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return nil // its server is not installed
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return fmt.Errorf("the account %s: %w", name, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return fmt.Errorf("the account %s: %w", name, err)
	}
	if err := os.Chown(filepath.Clean(m.Path(path)), uid, gid); err != nil {
		return fmt.Errorf("giving %s to %s: %w", path, name, err)
	}
	return nil
}
