package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A commit is what a release is made of.
type commit struct {
	hash string
	at   time.Time // when it was committed: the time of every file of the release
}

// checkedOut is the commit that is checked out in the current folder.
func checkedOut(ctx context.Context) (c commit, err error) {
	head, err := output(ctx, ".", nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return c, err
	}
	hash, seconds, _ := strings.Cut(strings.TrimSpace(head), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, fmt.Errorf("reading the time of commit %s: %w", hash, err)
	}
	return commit{hash, time.Unix(unix, 0).UTC()}, nil
}

// clone makes a clone of the repository of the current folder, with its tags, at a commit.
func clone(ctx context.Context, c commit, into string) error {
	if _, err := output(ctx, ".", nil, "git", "clone", "--quiet", "--no-checkout", ".", into); err != nil {
		return err
	}
	_, err := output(ctx, into, nil, "git", "checkout", "--quiet", "--detach", c.hash)
	return err
}

// output runs a program and returns its standard output. Its errors have what it said. env is
// added to the environment.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, &out, &said, append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.Bytes())
	}
	return out.String(), nil
}
