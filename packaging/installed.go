package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// tryInstalled installs the package for this machine in a scratch root and runs its program.
// It returns what the program says of its version.
func tryInstalled(ctx context.Context, dist, scratch string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dist, "iikanji_*_"+runtime.GOARCH+".deb"))
	if err != nil || len(found) != 1 {
		return "", errors.Join(fmt.Errorf("%d packages for %s", len(found), runtime.GOARCH), err)
	}
	root := filepath.Join(scratch, "installed")
	if err := install(ctx, found[0], root); err != nil {
		return "", err
	}
	said, err := output(ctx, scratch, nil, filepath.Join(root, "usr/bin/iikanji"), "version")
	if err != nil {
		return "", err
	}
	if strings.Contains(said, "unknown") || strings.Contains(said, "dirty") {
		return "", fmt.Errorf("the program does not know its commit: %s", said)
	}
	page, err := output(ctx, scratch, []string{"MANWIDTH=100", "LC_ALL=C.UTF-8"}, "man", "-P", "cat", "-l", filepath.Join(root, "usr/share/man/man1/iikanji.1.gz"))
	if err != nil || !strings.Contains(page, "iikanji bench") {
		return "", errors.Join(errors.New("the manual page has no commands"), err)
	}
	return strings.TrimSpace(said), nil
}

// install puts a package into a root of its own. dpkg itself does it where it may (for root);
// otherwise its files are taken out.
func install(ctx context.Context, file, root string) error {
	if os.Geteuid() != 0 {
		_, err := output(ctx, ".", nil, "dpkg-deb", "--extract", file, root)
		return err
	}
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		return err
	}
	if _, err := output(ctx, ".", nil, "dpkg", "--root="+root, "--install", file); err != nil {
		return err
	}
	if bad, err := output(ctx, ".", nil, "dpkg", "--root="+root, "--verify", "iikanji"); err != nil || bad != "" {
		return errors.Join(errors.New("dpkg --verify: "+bad), err)
	}
	return nil
}
