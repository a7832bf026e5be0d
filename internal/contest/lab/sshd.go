package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// An Account may log in to a machine by SSH.
type Account struct {
	Name string
	// UID is its user and group id; 0 for root.
	UID int
	// Keys are the public keys that it accepts, a line each.
	Keys string
	// Sudo: it becomes root without a password.
	Sudo bool
}

// home is the folder of the account.
func (a Account) home() string {
	if a.UID == 0 {
		return "/root"
	}
	return "/home/" + a.Name
}

const sshdUnit = `[Unit]
Description=OpenBSD Secure Shell server
After=network.target

[Service]
ExecStartPre=/usr/local/sbin/sshd -t
ExecStart=/usr/local/sbin/sshd -D
ExecReload=/bin/kill -HUP $MAINPID
KillMode=process
Restart=on-failure
RestartPreventExitStatus=255
Type=notify
RuntimeDirectory=sshd
RuntimeDirectoryMode=0755

[Install]
WantedBy=multi-user.target
`

// sshdConfig is what differs from Debian's. PAM would ask for the login manager, which a
// machine has not.
const sshdConfig = `HostKey /etc/ssh/ssh_host_ed25519_key
HostKey /etc/ssh/ssh_host_rsa_key
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
PrintMotd no
MaxSessions 50
`

// SSHD makes Debian's sshd a unit of a machine that is down, and its accounts.
func (m *Machine) SSHD(ctx context.Context, accounts ...Account) error {
	tree, err := Package(ctx, "openssh-server")
	if err != nil {
		return err
	}
	if err := os.Remove(m.Path("/etc/systemd/system/ssh.service")); err != nil && !errors.Is(err, os.ErrNotExist) { // a mask
		return fmt.Errorf("making sshd of machine %s: %w", m.Name, err)
	}
	err = errors.Join(m.copyFile(filepath.Join(tree, "usr/sbin/sshd"), "/usr/local/sbin/sshd"),
		m.Write("/etc/systemd/system/ssh.service", sshdUnit, 0o644), m.Write("/etc/ssh/sshd_config", sshdConfig, 0o644),
		m.Enable("ssh.service"),
		m.appendTo("/etc/passwd", 0o644, "sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin"), m.appendTo("/etc/shadow", 0o640, "sshd:*:19000:0:99999:7:::"))
	for _, kind := range []string{"ed25519", "rsa"} {
		err = errors.Join(err, m.hostKey(ctx, kind))
	}
	for _, a := range accounts {
		err = errors.Join(err, m.account(ctx, a))
	}
	if err != nil {
		return fmt.Errorf("making sshd of machine %s: %w", m.Name, err)
	}
	return nil
}

// Enable has a unit of /etc/systemd/system started at each boot of a machine that is down.
func (m *Machine) Enable(unit string) error {
	link := m.Path("/etc/systemd/system/multi-user.target.wants/" + unit)
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink("/etc/systemd/system/"+unit, link)
}

func (m *Machine) hostKey(ctx context.Context, kind string) error {
	path := m.Path("/etc/ssh/ssh_host_" + kind + "_key")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", kind, "-N", "", "-C", m.Name, "-f", path).CombinedOutput(); err != nil {
		return fmt.Errorf("making a host key: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// HostKey is the public host key that the machine shows first, as in a file of known hosts
// without the name.
func (m *Machine) HostKey() (string, error) {
	b, err := os.ReadFile(m.Path("/etc/ssh/ssh_host_ed25519_key.pub"))
	if err != nil {
		return "", fmt.Errorf("reading the host key of machine %s: %w", m.Name, err)
	}
	return string(bytes.TrimSpace(b)), nil
}

// account makes an account with its keys.
func (m *Machine) account(ctx context.Context, a Account) error {
	var err error
	if a.UID != 0 {
		err = errors.Join(m.appendTo("/etc/passwd", 0o644, fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash", a.Name, a.UID, a.UID, a.home())),
			m.appendTo("/etc/group", 0o644, fmt.Sprintf("%s:x:%d:", a.Name, a.UID)), m.appendTo("/etc/shadow", 0o640, a.Name+":*:19000:0:99999:7:::"))
	}
	if a.Sudo {
		err = errors.Join(err, m.sudo(ctx, a.Name))
	}
	err = errors.Join(err, m.Write(a.home()+"/.ssh/authorized_keys", a.Keys, 0o600), os.Chmod(m.Path(a.home()+"/.ssh"), 0o700))
	for _, path := range []string{"", "/.ssh", "/.ssh/authorized_keys"} {
		err = errors.Join(err, os.Chown(m.Path(a.home()+path), a.UID, a.UID))
	}
	return err
}

// sudo gives an account the right to become root, with Debian's sudo.
func (m *Machine) sudo(ctx context.Context, account string) error {
	if err := m.Write("/etc/sudoers.d/"+account, account+" ALL=(ALL) NOPASSWD: ALL\n", 0o440); err != nil {
		return err
	}
	if _, err := exec.LookPath("sudo"); err == nil {
		return nil
	}
	tree, err := Package(ctx, "sudo")
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(tree, "usr/libexec/sudo/*"))
	for _, f := range files {
		err = errors.Join(err, m.copyFile(f, "/usr/libexec/sudo/"+filepath.Base(f)))
	}
	for _, f := range []string{"/etc/sudoers", "/etc/sudo.conf", "/etc/pam.d/sudo"} {
		err = errors.Join(err, m.copyFile(tree+f, f))
	}
	return errors.Join(err, m.copyFile(filepath.Join(tree, "usr/bin/sudo"), "/usr/local/bin/sudo"))
}

// A Key is a pair of keys of a person.
type Key struct {
	Path   string // of the private one
	Public string
}

// NewKey makes a key without a passphrase at a path.
func NewKey(ctx context.Context, path string) (Key, error) {
	if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "iikanji-lab", "-f", path).CombinedOutput(); err != nil {
		return Key{}, fmt.Errorf("making a key: %w: %s", err, bytes.TrimSpace(out))
	}
	pub, err := os.ReadFile(path + ".pub")
	if err != nil {
		return Key{}, fmt.Errorf("making a key: %w", err)
	}
	return Key{path, string(pub)}, nil
}
