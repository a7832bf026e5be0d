package sshdial

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A HostKeyError is a machine whose host key is not the one that is known.
type HostKeyError struct {
	Host        string
	Type        string // of the key that it shows, as in ssh-ed25519
	Fingerprint string // SHA256:… of that key
	// Changed: another key of it is known, at these places; otherwise none is.
	Changed bool
	Known   []string
}

func (e *HostKeyError) Error() string {
	if e.Changed {
		return fmt.Sprintf("the host key of %s has CHANGED: it shows %s %s, and another one is known in %s", e.Host, e.Type, e.Fingerprint, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("the host key of %s is not known: it shows %s %s", e.Host, e.Type, e.Fingerprint)
}

// Hints say what to do.
func (e *HostKeyError) Hints() []string {
	if e.Changed {
		return []string{"find out why; if the machine was made anew, remove the line of the old key"}
	}
	return []string{"compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints there, then run again with --accept-new"}
}

// hostKeys decides on the host keys of machines.
type hostKeys struct {
	acceptNew bool
	mu        sync.Mutex
}

// check makes the callback for one machine, and the kinds of keys in the order in which
// they are asked for: those that are known first, since a machine has several.
func (k *hostKeys) check(c *config) (ssh.HostKeyCallback, []string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	files := c.knownHosts
	if c.own != "" {
		files = append(slices.Clone(files), c.own)
	}
	file, err := readKnown(files)
	if err != nil {
		return nil, nil, err
	}
	address := c.keyAddress()
	callback := func(_ string, _ net.Addr, key ssh.PublicKey) error {
		// The callback takes an address that was connected to only if it has no name.
		err := file.check(address, noAddr{}, key)
		var of *knownhosts.KeyError
		if err == nil || !errors.As(err, &of) {
			return err
		}
		refused := &HostKeyError{Host: c.name, Type: key.Type(), Fingerprint: ssh.FingerprintSHA256(key), Changed: len(of.Want) > 0}
		for _, w := range of.Want {
			refused.Known = append(refused.Known, file.places[w.Line-1])
		}
		if _, isCert := key.(*ssh.Certificate); refused.Changed || !k.acceptNew || c.own == "" || isCert {
			return refused
		}
		return k.accept(c.own, address, key)
	}
	return callback, file.algorithms(address, c.hostKeyKinds), nil
}

// noAddr is an address of nothing.
type noAddr struct{}

func (noAddr) Network() string { return "tcp" }
func (noAddr) String() string  { return "0.0.0.0:0" }

// accept appends a key to a file of host keys.
func (k *hostKeys) accept(own, address string, key ssh.PublicKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, err := os.ReadFile(own)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("accepting a host key: %w", err)
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	b = append(b, knownhosts.Line([]string{knownhosts.Normalize(address)}, key)+"\n"...)
	if err := (host.Local{}).Write(own, b, 0o644); err != nil {
		return fmt.Errorf("accepting a host key: %w", err)
	}
	return nil
}

// mostKnown bounds a file of known hosts, in bytes.
const mostKnown = 16 << 20

// A knownFile is the lines of several files of known hosts.
type knownFile struct {
	check  ssh.HostKeyCallback
	lines  [][]byte
	places []string // of the lines, as FILE:LINE
}

// readKnown reads files of known hosts. Lines that cannot be read are left out, as ssh
// does.
func readKnown(files []string) (*knownFile, error) {
	dir, err := os.MkdirTemp("", "iikanji-known-")
	if err != nil {
		return nil, fmt.Errorf("reading the known hosts: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "known_hosts")
	load := func(lines [][]byte) (ssh.HostKeyCallback, error) {
		if err := os.WriteFile(path, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
			return nil, err
		}
		return knownhosts.New(path)
	}
	var all, sound knownFile
	all.lines, all.places = linesOf(files)
	if all.check, err = load(all.lines); err == nil {
		return &all, nil
	}
	for i, line := range all.lines {
		if _, err := load([][]byte{line}); err == nil {
			sound.lines, sound.places = append(sound.lines, line), append(sound.places, all.places[i])
		}
	}
	if sound.check, err = load(sound.lines); err != nil {
		return nil, fmt.Errorf("reading the known hosts: %w", err)
	}
	return &sound, nil
}

// linesOf are the lines of files that exist, with their places.
func linesOf(files []string) (lines [][]byte, places []string) {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostKnown {
			continue // missing, usually
		}
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for i, line := range bytes.Split(b, []byte("\n")) {
			lines, places = append(lines, bytes.TrimSuffix(line, []byte("\r"))), append(places, fmt.Sprintf("%s:%d", file, i+1))
		}
	}
	return lines, places
}

// algorithms are the kinds of host keys to ask for, in order: those that are known of an
// address first. A certificate is asked for only where its authority is known.
func (f *knownFile) algorithms(address string, usual []string) []string {
	supported := ssh.SupportedAlgorithms().HostKeys
	if len(usual) == 0 {
		usual = supported
	}
	var first []string
	probe, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	var of *knownhosts.KeyError
	if err == nil && errors.As(f.check(address, noAddr{}, probe), &of) {
		for _, w := range of.Want {
			switch kind := w.Key.Type(); {
			case bytes.HasPrefix(bytes.TrimSpace(f.lines[w.Line-1]), []byte("@cert-authority")):
				first = append(certificates(usual), first...)
			case kind == ssh.KeyAlgoRSA:
				first = append(first, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			default:
				first = append(first, kind)
			}
		}
	}
	var out []string
	for _, kind := range append(first, usual...) {
		if slices.Contains(supported, kind) && !slices.Contains(out, kind) && (slices.Contains(first, kind) || !isCertificate(kind)) {
			out = append(out, kind)
		}
	}
	return out
}

func isCertificate(kind string) bool { return strings.Contains(kind, "-cert-v") }

func certificates(kinds []string) (out []string) {
	for _, kind := range kinds {
		if isCertificate(kind) {
			out = append(out, kind)
		}
	}
	return out
}
