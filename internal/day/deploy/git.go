package deploy

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// gitWait limits a question to a remote.
const gitWait = 10 * time.Second

// git runs git in the folder of the source; ok is false if it fails.
func git(ctx context.Context, h host.Host, as func(string) (host.Command, error), dir string, args ...string) (string, bool) {
	c, err := as(dir)
	if err != nil {
		return "", false
	}
	c.Path, c.Args, c.Dir = "/usr/bin/env", append([]string{"git", "-C", dir}, args...), dir
	c.Env = append(c.Env, "GIT_TERMINAL_PROMPT=0", "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=5", "LC_ALL=C")
	res, err := h.Exec(ctx, c)
	return string(res.Output), err == nil && res.Status == 0
}

// command is a command of the owner of a folder.
func (o *Options) command(dir string) (host.Command, error) {
	cred, env, err := o.As(dir)
	return host.Command{As: cred, Env: env}, err
}

// A BehindError is a source without the commits of the remote's main branch.
type BehindError struct {
	Source, Branch, Main string
	Missing              string // how many commits
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("%s is on %s, which lacks %s commits of %s: deploying it would take back what others have deployed", e.Source, e.Branch, e.Missing, e.Main)
}

// Hints tells what to do.
func (e *BehindError) Hints() []string {
	return []string{"git merge " + e.Main + " first, or --anyway"}
}

// A ForbiddenError is a source whose remote is on a host that the contest forbids to connect to.
type ForbiddenError struct{ Remote, Host string }

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("the remote %s of the source is on %s, a host that this contest forbids to connect to", e.Remote, e.Host)
}

// Hints tells what to do.
func (e *ForbiddenError) Hints() []string {
	return []string{"put the source there by hand and run iikanji deploy, or take the host out of forbid below [contest]"}
}

// permitted refuses a remote on a host that is never connected to, by the address that git would
// ask; "" is the remote of the branch.
func (o *Options) permitted(ctx context.Context, remote string) error {
	if o.Forbids == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	args := []string{"ls-remote", "--get-url"} // connects to no host, and applies insteadOf of git's configuration
	if remote != "" {
		args = append(args, remote)
	}
	address, ok := git(ctx, o.Host, o.command, o.App.Source, args...)
	if host := o.Forbids(strings.TrimSpace(address)); ok && host != "" {
		return &ForbiddenError{remote, host}
	}
	return nil
}

// Branch refuses a source whose branch lacks commits of the remote's main branch. A source
// that is not in git, or has no remote, passes; a remote that does not answer is a note.
func Branch(ctx context.Context, o *Options) (note string, err error) {
	dir := o.App.Source
	run := func(args ...string) (string, bool) {
		ctx, cancel := context.WithTimeout(ctx, gitWait)
		defer cancel()
		out, ok := git(ctx, o.Host, o.command, dir, args...)
		return strings.TrimSpace(out), ok
	}
	remote, ok := run("remote")
	if !ok || remote == "" {
		return "", nil
	}
	remote, _, _ = strings.Cut(remote, "\n")
	if err := o.permitted(ctx, remote); err != nil {
		note = err.Error() + ": its main branch is taken as it was known"
	} else if _, ok := run("fetch", "--quiet", remote); !ok {
		note = "the remote does not answer: its main branch is taken as it was known"
	}
	main := ""
	if head, ok := run("symbolic-ref", "--short", "refs/remotes/"+remote+"/HEAD"); ok {
		main = head
	} else {
		for _, name := range []string{"main", "master"} {
			if _, ok := run("rev-parse", "--verify", "--quiet", "refs/remotes/"+remote+"/"+name); ok {
				main = remote + "/" + name
				break
			}
		}
	}
	if main == "" {
		return note, nil
	}
	missing, ok := run("rev-list", "--count", "HEAD.."+main)
	if !ok || missing == "0" {
		return note, nil
	}
	branch, _ := run("rev-parse", "--abbrev-ref", "HEAD")
	return note, &BehindError{dir, branch, main, missing}
}

// Pull brings the source to the newest commit of its upstream branch. It refuses what is not
// a fast-forward.
func Pull(ctx context.Context, o *Options) error {
	if err := o.permitted(ctx, ""); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 6*gitWait)
	defer cancel()
	out, ok := git(ctx, o.Host, o.command, o.App.Source, "pull", "--ff-only", "--quiet")
	if !ok {
		return &StepError{"git pull --ff-only", LastLines(out, shownLines), 1}
	}
	return nil
}

// earlier is the source as of the last commit, where the source is in git: the files that
// differ from it were edited since. nil if it is not known.
func (d *deployment) earlier(ctx context.Context) *tree {
	run := func(args ...string) (string, bool) {
		ctx, cancel := context.WithTimeout(ctx, gitWait)
		defer cancel()
		return git(ctx, d.o.Host, d.o.command, d.o.App.Source, args...)
	}
	list, ok := run("ls-tree", "-r", "-z", "--name-only", "HEAD", ".")
	if !ok || list == "" {
		return nil
	}
	edited, ok := run("diff", "--name-only", "-z", "--relative", "HEAD", "--", ".")
	if !ok {
		return nil
	}
	t := &tree{Version: 1, Files: map[string]entry{}}
	for path, e := range d.now.Files {
		t.Files[path] = e
	}
	for _, path := range strings.Split(strings.TrimSuffix(edited, "\x00"), "\x00") {
		if path == "" {
			continue
		}
		body, ok := run("show", "HEAD:./"+path)
		if !ok {
			delete(t.Files, path) // it is new
			continue
		}
		sum, err := d.store.put([]byte(body))
		if err != nil || len(body) > host.MaxOutput-1 {
			return nil
		}
		e := t.Files[path]
		if e.Mode == 0 {
			e.Mode = 0o644
		}
		t.Files[path] = entry{Sum: sum, Mode: e.Mode}
	}
	return t
}

// difference are the paths in which two trees differ, in order.
func difference(a, b *tree) (out []string) {
	for path, e := range a.Files {
		if b.Files[path] != e {
			out = append(out, filepath.Clean(path))
		}
	}
	for path := range b.Files {
		if _, has := a.Files[path]; !has {
			out = append(out, filepath.Clean(path))
		}
	}
	slices.Sort(out)
	return out
}
