package sshdial

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// keys are the user's keys for all machines of one command.
type keys struct {
	ask func(prompt string) (string, error) // nil: nobody is asked

	mu      sync.Mutex
	opened  map[string]ssh.Signer // by file
	refused map[string]error
}

// signers are the keys for a machine: those of the agent that the configuration names
// first, then the agent's others, then key files. done closes the agent.
func (k *keys) signers(c *config) (signers []ssh.Signer, done func()) {
	done = func() {}
	files := k.files(c)
	var others []ssh.Signer
	if c.agent != "" {
		if conn, err := net.Dial("unix", c.agent); err == nil {
			done = func() { conn.Close() }
			held, _ := agent.NewClient(conn).Signers() // an agent that does not answer has none
			for _, s := range held {
				switch {
				case named(files, s.PublicKey()):
					signers = append(signers, s)
				case !c.identitiesOnly:
					others = append(others, s)
				}
			}
		}
	}
	signers = append(signers, others...)
	for _, f := range files {
		if !slices.ContainsFunc(signers, func(s ssh.Signer) bool { return same(s.PublicKey(), f.PublicKey()) }) {
			signers = append(signers, f)
		}
	}
	return signers, done
}

func named(files []ssh.Signer, key ssh.PublicKey) bool {
	return slices.ContainsFunc(files, func(f ssh.Signer) bool { return same(f.PublicKey(), key) })
}

func same(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }

// files are the key files of a configuration, each with its certificates before it.
func (k *keys) files(c *config) (out []ssh.Signer) {
	for _, path := range c.identities {
		s, err := k.file(path)
		if err != nil {
			continue // most of the usual files are missing
		}
		for _, cert := range append([]string{path + "-cert.pub"}, c.certificates...) {
			if signed, ok := withCertificate(s, cert); ok {
				out = append(out, signed)
			}
		}
		out = append(out, s)
	}
	return out
}

// withCertificate is a key that shows a certificate of it.
func withCertificate(s ssh.Signer, path string) (ssh.Signer, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		return nil, false
	}
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return nil, false
	}
	signed, err := ssh.NewCertSigner(cert, s)
	return signed, err == nil
}

// mostKey bounds a key file, in bytes.
const mostKey = 1 << 20

// file reads a key. One with a passphrase is opened when it is used first.
func (k *keys) file(path string) (ssh.Signer, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > mostKey {
		err = fmt.Errorf("%s is no key", path)
	}
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		if locked.PublicKey == nil { // an old format, whose public key is beside it
			if pub, perr := os.ReadFile(path + ".pub"); perr == nil {
				locked.PublicKey, _, _, _, _ = ssh.ParseAuthorizedKey(pub)
			}
		}
		if locked.PublicKey != nil {
			return &lockedKey{keys: k, path: path, body: b, public: locked.PublicKey}, nil
		}
	}
	return s, err
}

// A lockedKey is a key whose passphrase is asked when it signs.
type lockedKey struct {
	keys   *keys
	path   string
	body   []byte
	public ssh.PublicKey
}

var _ ssh.AlgorithmSigner = (*lockedKey)(nil)

// PublicKey implements ssh.Signer.
func (l *lockedKey) PublicKey() ssh.PublicKey { return l.public }

// Sign implements ssh.Signer.
func (l *lockedKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return l.SignWithAlgorithm(rand, data, "")
}

// SignWithAlgorithm implements ssh.AlgorithmSigner.
func (l *lockedKey) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s, err := l.keys.open(l)
	if err != nil {
		return nil, err
	}
	if of, ok := s.(ssh.AlgorithmSigner); ok && algorithm != "" {
		return of.SignWithAlgorithm(rand, data, algorithm)
	}
	return s.Sign(rand, data)
}

// open asks for the passphrase of a key, once for all machines.
func (k *keys) open(l *lockedKey) (ssh.Signer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.opened[l.path]; s != nil {
		return s, nil
	}
	if err := k.refused[l.path]; err != nil {
		return nil, err
	}
	s, err := k.unlock(l)
	if err != nil {
		err = fmt.Errorf("the key %s: %w", l.path, err)
		k.refused[l.path] = err
		return nil, err
	}
	k.opened[l.path] = s
	return s, nil
}

func (k *keys) unlock(l *lockedKey) (ssh.Signer, error) {
	if k.ask == nil {
		return nil, errors.New("it has a passphrase, and nobody can be asked: add it to an agent (ssh-add)")
	}
	secret, err := k.ask("Passphrase of " + l.path + ": ")
	if err != nil {
		return nil, fmt.Errorf("asking for its passphrase: %w", err)
	}
	s, err := ssh.ParsePrivateKeyWithPassphrase(l.body, []byte(secret))
	if err != nil {
		return nil, errors.New("the passphrase is wrong")
	}
	return s, nil
}
