package stack

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// within reports whether a process's working directory is the folder or below it.
func within(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	cwd = strings.TrimSuffix(cwd, " (deleted)")
	return err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/"))
}

// marked reports whether a process was started with a variable, as "K=V".
func marked(pid int, variable string) bool {
	env, err := hostproc.Env(host.Local{}, pid)
	return err == nil && slices.Contains(env, variable)
}
