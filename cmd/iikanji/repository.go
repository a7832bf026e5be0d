package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A repository is the git repository of a folder. What is committed is staged in an
// index of its own: what the user has staged elsewhere stays as it is.
type repository struct {
	history *history.History
	dir     string // of the history
	prefix  string // of the folder in the repository; "" for the whole repository
	index   string
}

// openRepository opens the repository of a folder with an index of what is committed
// there. The caller removes the folder of the index.
func openRepository(ctx context.Context, h *history.History) (*repository, error) {
	dir := h.Dir()
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "iikanji-index-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for git's index: %w", err)
	}
	r := &repository{history: h, dir: dir, prefix: prefix, index: filepath.Join(temp, "index")}
	if _, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return r, nil // without a commit the index is empty
	}
	_, err = r.git(ctx, nil, "read-tree", "HEAD")
	return r, err
}

// stage stages the folder, each changed file without paths of this machine and, unless
// literals may be committed, without its secrets. It returns how many files had secrets.
func (r *repository) stage(ctx context.Context, literals bool) (redacted int, err error) {
	if _, err := r.git(ctx, nil, "add", "--", "."); err != nil {
		return 0, err
	}
	if _, err := r.git(ctx, nil, "rm", "--cached", "--quiet", "--ignore-unmatch", "--", history.RootsName); err != nil { // a .gitignore may not name it
		return 0, err
	}
	names, err := r.git(ctx, nil, "diff", "--cached", "--name-only", "-z", "--relative", "--no-renames", "--diff-filter=AM", "--", ".")
	if err != nil {
		return 0, err
	}
	for name := range strings.SplitSeq(strings.Trim(names, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		secret, err := r.stageFile(ctx, name, literals)
		if err != nil {
			return 0, err
		}
		if secret {
			redacted++
		}
	}
	return redacted, nil
}

// stageFile stages one file in the form in which it is committed, and reports whether
// it had secrets.
func (r *repository) stageFile(ctx context.Context, name string, literals bool) (secret bool, err error) {
	path := filepath.Join(r.dir, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("reading what to commit: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("reading what to commit: %w", err)
	}
	without, err := r.history.Portable(name, text)
	if err != nil {
		return false, fmt.Errorf("replacing the paths in %s: %w", name, err)
	}
	if !literals {
		kept := redact.File(name, without)
		without, secret = kept, !bytes.Equal(kept, without)
	}
	if bytes.Equal(text, without) {
		return false, nil
	}
	id, err := r.git(ctx, without, "hash-object", "-w", "--stdin")
	if err != nil {
		return false, err
	}
	_, err = r.git(ctx, nil, "update-index", "--cacheinfo", "100644,"+id+","+r.prefix+filepath.ToSlash(name))
	return secret, err
}

// commit commits the index and returns the id of the commit. The user's own index then
// has the folder as it is committed.
func (r *repository) commit(ctx context.Context, message string) (id string, err error) {
	if _, err := r.git(ctx, nil, "commit", "--quiet", "--message", message); err != nil {
		return "", err
	}
	if _, err := git(ctx, r.dir, "reset", "--quiet", "--", "."); err != nil {
		return "", err
	}
	return git(ctx, r.dir, "rev-parse", "--short", "HEAD")
}

// git runs git with the repository's index and returns what it prints.
func (r *repository) git(ctx context.Context, stdin []byte, args ...string) (string, error) {
	return runGit(ctx, r.dir, stdin, append(os.Environ(), "GIT_INDEX_FILE="+r.index), args...)
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return runGit(ctx, dir, nil, nil, args...)
}

func runGit(ctx context.Context, dir string, stdin []byte, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(stdin), &out, &errs, env
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, report.Clean(strings.TrimSpace(errs.String())))
	}
	return strings.TrimSpace(out.String()), nil
}
