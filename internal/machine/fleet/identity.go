package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An Identity tells machines apart, and boots of one machine.
type Identity struct {
	// ID is the SHA-256 of the SSH host key and the machine-id, as hexadecimal digits:
	// images that are cloned share the latter, and a machine without sshd has no former.
	ID string `json:"id"`
	// Boot is the kernel's id of this boot.
	Boot string `json:"boot"`
}

// ReadIdentities reads the IDs of machines by name, which WriteIdentities has written; none
// if there is no file.
func ReadIdentities(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	var out map[string]string
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the identities of machines: %w", err)
	}
	return out, nil
}

// WriteIdentities keeps the IDs of machines in a file, and makes its folder.
func WriteIdentities(path string, ids map[string]string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var b []byte
	if err == nil {
		b, err = json.MarshalIndent(ids, "", "  ")
	}
	if err == nil {
		err = host.Local{}.Write(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the identities of machines: %w", err)
	}
	return nil
}

// hostKeys are the files of an SSH host key, the first that is there counts: which key a
// connection shows depends on both ends.
var hostKeys = []string{"/etc/ssh/ssh_host_ed25519_key.pub", "/etc/ssh/ssh_host_ecdsa_key.pub", "/etc/ssh/ssh_host_rsa_key.pub"}

// IdentityOf reads the identity of a machine.
func IdentityOf(h host.Host) (Identity, error) {
	sum := sha256.New()
	for _, path := range hostKeys {
		if b, err := h.Read(path); err == nil {
			if fields := strings.Fields(string(b)); len(fields) >= 2 { // its comment may be changed
				fmt.Fprintf(sum, "%s %s\n", fields[0], fields[1])
				break
			}
		}
	}
	id, err := h.Read("/etc/machine-id")
	if err != nil {
		return Identity{}, fmt.Errorf("reading the machine's id: %w", err)
	}
	fmt.Fprintf(sum, "%s\n", strings.TrimSpace(string(id)))
	boot, err := h.Read("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("reading the id of the boot: %w", err)
	}
	return Identity{ID: hex.EncodeToString(sum.Sum(nil)), Boot: strings.TrimSpace(string(boot))}, nil
}
