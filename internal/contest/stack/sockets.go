package stack

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// socketLimit is the maximum length of a unix socket's path (108 bytes with a NUL).
const socketLimit = 107

// socketFolder returns the folder of the services' sockets: run. If the path of
// one of them would be too long there, it returns a short folder outside, also as
// outside, which is otherwise empty.
func (f folder) socketFolder(services []arena.Service) (dir, outside string) {
	longest := len(scratchSocket)
	for _, svc := range services {
		longest = max(longest, len(svc.Socket))
	}
	if dir = f.path(runDir); len(dir)+1+longest <= socketLimit {
		return dir, ""
	}
	h := fnv.New64a()
	h.Write([]byte(f.root))
	base := "/tmp"
	if x := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(x) && len(x) < 60 && !f.as.drop && !strings.ContainsAny(x, unfit) {
		base = x
	}
	outside = filepath.Join(base, fmt.Sprintf("iikanji-%d-%x", f.as.uid, h.Sum64()))
	return outside, outside
}

// claimOutside creates the short folder. Every user may create folders in /tmp:
// an existing one must belong to the account and be writable for it alone.
func (f folder) claimOutside(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		return errors.Join(os.Chmod(dir, 0o755), f.as.own(dir))
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a folder for sockets: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("making a folder for sockets: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != f.as.uid || info.Mode().Perm() != 0o755 {
		return fmt.Errorf("making a folder for sockets: %s is there and is not ours", dir)
	}
	return nil
}
