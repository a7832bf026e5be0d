package sshdial

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

func newKey(t *testing.T) ssh.PublicKey {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestKnown: broken lines hide no other, and a key is asked for by the kind that is known.
func TestKnown(t *testing.T) {
	a, b := newKey(t), newKey(t)
	path := t.TempDir() + "/known"
	text := "# mine\n\nnonsense\n|1|x|y ssh-ed25519 AAAA\n@revoked x\n" + knownhosts.Line([]string{"10.0.0.1"}, a) + "\n" +
		knownhosts.Line([]string{knownhosts.HashHostname("db")}, a) + "\n[10.0.0.1]:2222 " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(b)))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := &hostKeys{}
	for _, c := range []struct {
		hostname, port, alias string
		key                   ssh.PublicKey
		known, changed        bool
	}{
		{"10.0.0.1", "22", "", a, true, false}, {"10.0.0.1", "22", "", b, false, true}, {"10.0.0.1", "2222", "", b, true, false},
		{"db", "22", "", a, true, false}, {"10.0.0.9", "2200", "db", a, true, false}, {"10.0.0.9", "22", "", a, false, false},
	} {
		check, kinds, err := keys.check(&config{name: "x", hostname: c.hostname, port: c.port, hostKeyAlias: c.alias, knownHosts: []string{path, "/no/such/file"}})
		if err != nil {
			t.Fatal(err)
		}
		err = check("", nil, c.key)
		var refused *HostKeyError
		if errors.As(err, &refused); c.known != (err == nil) || !c.known && refused.Changed != c.changed {
			t.Errorf("%+v: %v", c, err)
		}
		if (c.known || c.changed) && kinds[0] != ssh.KeyAlgoED25519 {
			t.Errorf("%+v: asks for %s first", c, kinds[0])
		}
	}
}

// FuzzKnown: whatever a file of known hosts has, it is read, and a line with a key that is
// sound counts.
func FuzzKnown(f *testing.F) {
	f.Add("10.0.0.1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIm7tPtoDWe3G8I2CDs4bMHKGAXAYzLGkLQ4D9kEAVVj")
	f.Add("@cert-authority *.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIm7tPtoDWe3G8I2CDs4bMHKGAXAYzLGkLQ4D9kEAVVj me\n|1|a|b x y")
	f.Fuzz(func(t *testing.T, text string) {
		key := newKey(t)
		path := t.TempDir() + "/known"
		if err := os.WriteFile(path, []byte(text+"\n"+knownhosts.Line([]string{"sound.example"}, key)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := readKnown([]string{path})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if strings.Contains(text, "@revoked") || len(text) > 1000 {
			return
		}
		if err := file.check("sound.example:22", noAddr{}, key); err != nil {
			t.Errorf("%q hides a sound line: %v", text, err)
		}
		if len(file.places) != len(file.lines) {
			t.Error("lines without places")
		}
	})
}
