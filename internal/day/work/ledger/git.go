package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/show/plain"
)

// ErrNoGit: git is not installed. The files of the ledger are written all the same.
var ErrNoGit = errors.New("git is not installed: the ledger has files and no commits")

// PushTime bounds a push.
const PushTime = 10 * time.Second

// environ is the environment of git for the ledger: variables that lead it to another
// repository, and questions, are turned off. The user's own configuration counts for
// pushes only, which need its credentials.
func environ(own bool) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && name != "GIT_SSH" && name != "GIT_SSH_COMMAND" && name != "GIT_ASKPASS" {
			continue
		}
		env = append(env, kv)
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if own {
		if os.Getenv("GIT_SSH_COMMAND") == "" {
			env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=8")
		}
		return env
	}
	return append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

// git runs git in the ledger.
func (l *Ledger) git(ctx context.Context, own bool, stdin []byte, args ...string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNoGit
	}
	set := []string{"--git-dir=" + filepath.Join(l.dir, ".git"), "--work-tree=" + l.dir, "-c", "core.hooksPath=" + os.DevNull, "-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "core.autocrlf=false", "-c", "core.excludesFile=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull, "-c", "core.quotePath=false"}
	cmd := exec.CommandContext(ctx, program, append(set, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.dir, environ(own), bytes.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, plain.Text(strings.TrimSpace(errs.String())))
	}
	return strings.TrimSpace(out.String()), nil
}

// commit commits the files of the ledger. An author is who made the edits.
func (l *Ledger) commit(ctx context.Context, who, message string) (id string, err error) {
	if _, err := os.Stat(filepath.Join(l.dir, ".git")); errors.Is(err, os.ErrNotExist) {
		if _, err := l.git(ctx, false, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
			return "", err
		}
	}
	// A git that was killed leaves a lock; the history's lock keeps a second writer away.
	_ = os.Remove(filepath.Join(l.dir, ".git", "index.lock"))
	if _, err := l.git(ctx, false, nil, "add", "--all", "--force", "--", "."); err != nil {
		return "", err
	}
	author := authorName(who)
	if _, err := l.git(ctx, false, []byte(message), "-c", "user.name=iikanji", "-c", "user.email=iikanji@localhost", "commit", "--quiet", "--allow-empty", "--no-verify", "--author="+author+" <"+mailName(author)+"@localhost>", "--file=-"); err != nil {
		return "", err
	}
	if id, err = l.git(ctx, false, nil, "rev-parse", "--short=7", "HEAD"); err != nil {
		return "", err
	}
	return id, l.pack(ctx)
}

// authorName is a person's name as git takes it.
func authorName(who string) string {
	if who == "" {
		who = "iikanji"
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>\n\r", r) {
			return -1
		}
		return r
	}, who)
}

func mailName(who string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, who))
}

// loose is how many single objects the repository may have: each takes a block of the disk.
const loose = 600

// pack puts single objects into one file.
func (l *Ledger) pack(ctx context.Context) error {
	text, err := l.git(ctx, false, nil, "count-objects")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.Fields(text + " 0")[0])
	if err != nil || n < loose {
		return nil
	}
	_, err = l.git(ctx, false, nil, "repack", "-d", "-q")
	return err
}

// Push sends the commits to a remote, within PushTime. An error is one line and fails
// nothing: the next run pushes again.
func (l *Ledger) Push(ctx context.Context, remote string) error {
	ctx, cancel := context.WithTimeout(ctx, PushTime)
	defer cancel()
	_, err := l.git(ctx, true, nil, "push", "--quiet", "--porcelain", remote, "HEAD:refs/heads/main")
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("not pushed: no answer within %s", PushTime)
	case strings.Contains(err.Error(), "rejected"), strings.Contains(err.Error(), "non-fast-forward"):
		return errors.New("not pushed: the remote has commits that the ledger has not; use a branch or a repository of its own")
	}
	text := err.Error()
	for line := range strings.Lines(text) {
		if said, ok := strings.CutPrefix(strings.TrimSpace(line), "fatal: "); ok {
			text = said
			break
		}
	}
	return fmt.Errorf("not pushed: %s", strings.Join(strings.Fields(text), " "))
}

// CommitSource commits what git tracks in the user's own repository, which the site's file
// asks for with commit = "app". Nothing is added that git does not track yet.
func CommitSource(ctx context.Context, dir, message, who string) (id string, err error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNoGit
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, append([]string{"-C", dir, "-c", "safe.directory=*"}, args...)...)
		cmd.Env, cmd.WaitDelay = environ(true), time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("committing the source in %s: %w: %s", dir, err, plain.Text(strings.TrimSpace(string(out))))
		}
		return strings.TrimSpace(string(out)), nil
	}
	dirty, err := run("status", "--porcelain", "--untracked-files=no")
	if err != nil || dirty == "" {
		return "", err
	}
	commit := []string{"commit", "--quiet", "--all", "--message", message}
	if email, err := run("config", "--get", "user.email"); err != nil || email == "" { // an account without an identity, as root's
		name := authorName(who)
		commit = append([]string{"-c", "user.name=" + name, "-c", "user.email=" + mailName(name) + "@localhost"}, commit...)
	}
	if _, err := run(commit...); err != nil {
		return "", err
	}
	return run("rev-parse", "--short=7", "HEAD")
}
