package lab

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
)

// Package unpacks a package of Debian into the user's cache, once, and returns its folder.
// It is never installed: no server of it starts on this machine.
func Package(ctx context.Context, name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("unpacking the package %s: %w", name, err)
	}
	dir := filepath.Join(cache, "iikanji", "lab", name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := unpack(ctx, name, dir); err != nil {
		return "", fmt.Errorf("unpacking the package %s: %w", name, err)
	}
	return dir, nil
}

func unpack(ctx context.Context, name, dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), name+"-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	get := exec.CommandContext(ctx, "apt-get", "-q", "download", name)
	get.Dir = work
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get download: %w: %s", err, bytes.TrimSpace(out))
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(debs) != 1 {
		return errors.Join(err, fmt.Errorf("apt-get left %d packages", len(debs)))
	}
	tree := filepath.Join(work, "tree")
	if out, err := exec.CommandContext(ctx, "dpkg", "-x", debs[0], tree).CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg -x: %w: %s", err, bytes.TrimSpace(out))
	}
	if err := os.Rename(tree, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, serr := os.Stat(dir); serr != nil { // another process was faster
			return err
		}
	}
	return nil
}

// copyFile copies a file of a package into the machine, with its permissions.
func (m *Machine) copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("copying into machine %s: %w", m.Name, err)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copying into machine %s: %w", m.Name, err)
	}
	return m.Write(to, string(b), info.Mode())
}

// appendTo appends lines to a file of the machine, which begins as that of this machine.
func (m *Machine) appendTo(path string, perm os.FileMode, lines ...string) error {
	b, err := os.ReadFile(m.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = os.ReadFile(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("appending to %s of machine %s: %w", path, m.Name, err)
	}
	return m.Write(path, string(b)+strings.Join(lines, "\n")+"\n", perm)
}
