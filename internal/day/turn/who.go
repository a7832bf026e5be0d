package turn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// WhoVariable is the environment variable that names the person.
const WhoVariable = "IIKANJI_WHO"

// An Asker finds out who runs a command.
type Asker struct {
	Host   host.Host
	Getenv func(string) string
	PID    int    // of this process; its ancestors are asked, since sudo drops variables
	Dir    string // folder whose git configuration counts
	Home   string // with .ssh/authorized_keys
	User   string // name of the account
}

// Who is the person who runs the command: IIKANJI_WHO, else the comment of the key that
// logged in, else git's user.name, else the account. The key comes before git, because
// people who share an account share its git configuration, too.
func (a *Asker) Who(ctx context.Context) string {
	env := a.variables(WhoVariable, "SSH_USER_AUTH", "SSH_CONNECTION")
	for _, find := range []func() string{
		func() string { return env[WhoVariable] },
		func() string { return a.keyComment(ctx, env["SSH_USER_AUTH"], env["SSH_CONNECTION"]) },
		func() string { return a.gitName(ctx) },
		func() string { return a.User },
	} {
		if who := Name(find()); who != "" {
			return who
		}
	}
	return "someone"
}

// maxName is the longest name, in runes.
const maxName = 40

// Name makes a text a name of one line.
func Name(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > maxName {
		text = strings.TrimSpace(string(runes[:maxName]))
	}
	return text
}

// maxAncestors bounds the way up to the login.
const maxAncestors = 32

// variables are the environment variables of this process, or of the nearest ancestor
// that has them and may be read.
func (a *Asker) variables(names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[name] = a.Getenv(name)
	}
	pid := a.PID
	for range maxAncestors {
		if pid = a.parent(pid); pid <= 1 {
			return out
		}
		text, err := a.Host.Read(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return out
		}
		for pair := range strings.SplitSeq(string(text), "\x00") {
			if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
				if old, wanted := out[name]; wanted && old == "" {
					out[name] = value
				}
			}
		}
	}
	return out
}

// parent is the parent of a process, 0 if it is not known.
func (a *Asker) parent(pid int) int {
	text, err := a.Host.Read(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ") // the name may have any bytes
	if f := strings.Fields(rest); len(f) > 1 {
		n, _ := strconv.Atoi(f[1])
		return n
	}
	return 0
}

// askTime limits one question to another program.
const askTime = 2 * time.Second

func (a *Asker) gitName(ctx context.Context) string {
	return strings.TrimSpace(a.output(ctx, "/usr/bin/env", "git", "-C", a.Dir, "config", "user.name"))
}

// output is what a command prints, "" if it fails.
func (a *Asker) output(ctx context.Context, path string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	res, err := a.Host.Exec(ctx, host.Command{Path: path, Args: args, Env: []string{"PATH=" + a.Getenv("PATH"), "HOME=" + a.Home, "LC_ALL=C"}, Dir: "/"})
	if err != nil || res.Status != 0 {
		return ""
	}
	return string(res.Output)
}

// keyComment is the comment of the key with which the person logged in: that which sshd
// tells (ExposeAuthInfo), or that of the log line of this connection.
func (a *Asker) keyComment(ctx context.Context, authFile, connection string) string {
	if authFile == "" && connection == "" {
		return ""
	}
	text, err := a.Host.Read(filepath.Join(a.Home, ".ssh", "authorized_keys"))
	if err != nil {
		return ""
	}
	keys := authorizedKeys(string(text))
	if authFile != "" {
		if exposed, err := a.Host.Read(authFile); err == nil {
			for line := range strings.Lines(string(exposed)) {
				if f := strings.Fields(line); len(f) >= 3 && f[0] == "publickey" {
					if name := keys.name(func(k key) bool { return k.blob == f[2] }); name != "" {
						return name
					}
				}
			}
		}
	}
	print := loggedKey(a.logins(ctx), connection)
	return keys.name(func(k key) bool { return print != "" && k.print == print })
}

// loginTail is how much of a log of logins is read, in bytes.
const loginTail = 1 << 20

// logins is the end of the log of logins.
func (a *Asker) logins(ctx context.Context) string {
	for _, path := range []string{"/var/log/auth.log", "/var/log/secure"} {
		f, err := a.Host.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			continue
		}
		from := max(0, info.Size()-loginTail)
		text := make([]byte, info.Size()-from)
		n, _ := f.ReadAt(text, from) // a shorter text has what counts, or not
		return string(text[:n])
	}
	return a.output(ctx, "/usr/bin/env", "journalctl", "-q", "-t", "sshd", "-t", "sshd-session", "-o", "cat", "--no-pager", "-n", "2000")
}

// loggedKey is the fingerprint in the line about the login of a connection, which has the
// form of SSH_CONNECTION: client address, client port, and the server's.
func loggedKey(log, connection string) string {
	f := strings.Fields(connection)
	if len(f) < 2 {
		return ""
	}
	found := ""
	for line := range strings.Lines(log) {
		if strings.Contains(line, "Accepted publickey for ") && strings.Contains(line, " from "+f[0]+" port "+f[1]+" ") {
			if _, print, ok := strings.Cut(line, "SHA256:"); ok {
				found, _, _ = strings.Cut(strings.TrimSpace(print), " ") // the latest counts: ports are used again
			}
		}
	}
	return found
}

// A key is a line of authorized_keys.
type key struct {
	blob, print, comment string
}

type keys []key

// authorizedKeys reads the lines that are keys with a comment. Options may precede a key.
func authorizedKeys(text string) (all keys) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		for i := 0; i+1 < len(f); i++ {
			blob, err := base64.StdEncoding.DecodeString(f[i+1])
			if err != nil || !isKeyType(f[i]) || !bytes.Contains(blob[:min(len(blob), 64)], []byte(f[i])) {
				continue
			}
			sum := sha256.Sum256(blob)
			all = append(all, key{f[i+1], base64.RawStdEncoding.EncodeToString(sum[:]), strings.Join(f[i+2:], " ")})
			break
		}
	}
	return all
}

func isKeyType(word string) bool {
	return strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") || strings.HasPrefix(word, "sk-")
}

// name is the comment of a key, without its host unless another key has the same name.
func (all keys) name(is func(key) bool) string {
	for _, k := range all {
		if !is(k) {
			continue
		}
		short, _, _ := strings.Cut(k.comment, "@")
		for _, o := range all {
			if other, _, _ := strings.Cut(o.comment, "@"); other == short && o.blob != k.blob {
				return k.comment
			}
		}
		return short
	}
	return ""
}
