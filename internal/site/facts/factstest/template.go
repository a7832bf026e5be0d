package factstest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

const installDB = "mariadb-install-db"

// DataFolder makes a new data folder at path, for the account of this process and
// a root without a password. mariadb-install-db runs once for each version of the
// server; later folders are copies of its result, which stays in the user's cache.
func DataFolder(ctx context.Context, path string) error {
	template, err := templateFolder(ctx)
	if err != nil {
		return fmt.Errorf("making a data folder for mariadb: %w", err)
	}
	if out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", template, path).CombinedOutput(); err != nil {
		return fmt.Errorf("copying a data folder for mariadb: %w\n%s", err, out)
	}
	return nil
}

// templateFolder returns the data folder that the others are copies of. Several
// processes may make it at the same time: the first one that is complete stays.
func templateFolder(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), fmt.Sprintf("iikanji-cache-%d", os.Getuid()))
	}
	cache = filepath.Join(cache, "iikanji-tests")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	version, err := versionKey()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "mariadb-"+version)
	if info, err := os.Lstat(folder); err == nil {
		return folder, ownFolder(info)
	}
	fresh, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := install(ctx, fresh); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(fresh, "data"), folder); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return "", err
	}
	return folder, nil
}

// ownFolder refuses a folder of another user.
func ownFolder(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder of this user", info.Name())
	}
	return nil
}

// versionKey changes with the programs that make and read a data folder.
func versionKey() (string, error) {
	h := sha256.New()
	for _, name := range []string{installDB, mariadbd()} {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// install makes the data folder "data" in dir.
func install(ctx context.Context, dir string) error {
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, installDB, "--no-defaults", "--datadir="+filepath.Join(dir, "data"), "--innodb-log-file-size=8M",
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--user="+userName())
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", installDB, err, out)
	}
	return nil
}
