package turn_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// blob is the base64 form of a public key.
func blob(n byte) (text, print string) {
	raw := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), make([]byte, 32)...)
	raw[len(raw)-1] = n
	sum := sha256.Sum256(raw)
	return base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(sum[:])
}

func TestWho(t *testing.T) {
	aoi, aoiPrint := blob(1)
	bo, _ := blob(2)
	bo2, bo2Print := blob(3)
	files := map[string]string{
		"/home/isucon/.ssh/authorized_keys": "# team\nssh-ed25519 " + aoi + " aoi@macbook\nfrom=\"10.0.0.0/8\",no-pty ssh-ed25519 " + bo + " bo@desk\nssh-ed25519 " + bo2 + " bo@home\n",
		"/run/auth":                         "publickey ssh-ed25519 " + aoi + "\n",
		"/var/log/auth.log": "sshd[1]: Accepted publickey for isucon from 10.0.0.5 port 4000 ssh2: ED25519 SHA256:older\n" +
			"sshd[2]: Accepted publickey for isucon from 10.0.0.5 port 4000 ssh2: ED25519 SHA256:" + bo2Print + "\n" +
			"sshd[3]: Accepted publickey for isucon from 10.0.0.5 port 40001 ssh2: ED25519 SHA256:" + aoiPrint + "\n",
		"/proc/90/stat":    "90 (a) b) S 80 90",
		"/proc/80/stat":    "80 (sudo) S 70 80",
		"/proc/70/stat":    "70 (bash) S 1 70",
		"/proc/80/environ": "PATH=/bin\x00",
		"/proc/70/environ": "IIKANJI_WHO=chika\x00SSH_CONNECTION=10.0.0.5 4000 10.0.0.1 22\x00",
	}
	git := "team bot\n"
	for name, c := range map[string]struct {
		env  map[string]string
		drop []string
		git  string
		want string
	}{
		"variable":              {map[string]string{"IIKANJI_WHO": " dai \n\x1b[31m"}, nil, git, "dai [31m"},
		"variable above sudo":   {nil, nil, git, "chika"},
		"key that sshd exposes": {map[string]string{"SSH_USER_AUTH": "/run/auth"}, []string{"/proc/80/stat"}, git, "aoi"},
		"key of the log":        {map[string]string{"SSH_CONNECTION": "10.0.0.5 4000 10.0.0.1 22"}, []string{"/proc/80/stat"}, git, "bo@home"},
		"port is a prefix":      {map[string]string{"SSH_CONNECTION": "10.0.0.5 40001 10.0.0.1 22"}, []string{"/proc/80/stat"}, git, "aoi"},
		"no such login":         {map[string]string{"SSH_CONNECTION": "10.0.0.5 41 10.0.0.1 22"}, []string{"/proc/80/stat"}, git, "team bot"},
		"git":                   {nil, []string{"/proc/90/stat"}, git, "team bot"},
		"account":               {nil, []string{"/proc/90/stat"}, "", "isucon"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range files {
				at := filepath.Join(root, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range c.drop {
				if err := os.Remove(filepath.Join(root, path)); err != nil {
					t.Fatal(err)
				}
			}
			h := &host.Fake{Root: root, Run: func(_ context.Context, cmd host.Command) (host.Result, error) {
				if !strings.Contains(strings.Join(cmd.Args, " "), "git -C /srv config user.name") || c.git == "" {
					return host.Result{Status: 1}, nil
				}
				return host.Result{Output: []byte(c.git)}, nil
			}}
			a := &turn.Asker{Host: h, Getenv: func(name string) string { return c.env[name] }, PID: 90, Dir: "/srv", Home: "/home/isucon", User: "isucon"}
			if got := a.Who(t.Context()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := turn.Name(strings.Repeat("あ", 60)); len([]rune(got)) != 40 {
		t.Errorf("a long name: %q", got)
	}
	if got := fmt.Sprintf("%q", turn.Name("a\u202eb\x00c")); got != `"a b c"` {
		t.Errorf("hostile name: %s", got)
	}
}
