package process

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// FarSearch is the search path of commands on another machine, with the folder of Go's own
// distribution.
const FarSearch = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin"

// FarEnv is the environment of commands of root on another machine: that of this process means
// nothing there.
func FarEnv() []string { return []string{"PATH=" + FarSearch, "HOME=/root", "LANG=C.UTF-8"} }

// OwnerOn is OwnerOf for a folder of another machine.
func OwnerOn(h host.Host, dir string) (*syscall.Credential, []string, error) {
	info, err := h.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	me, err := h.Account()
	if err != nil {
		return nil, nil, err
	}
	owner, known := host.OwnerOf(info)
	if !known || me.UID != 0 || owner.UID == 0 {
		return nil, FarEnv(), nil
	}
	env := []string{"PATH=" + FarSearch, "LANG=C.UTF-8"}
	accounts, err := h.Read("/etc/passwd")
	if err != nil {
		return nil, nil, fmt.Errorf("reading the accounts of %s: %w", h.Name(), err)
	}
	home, name := dir, ""
	for line := range strings.Lines(string(accounts)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) >= 6 && f[2] == strconv.Itoa(owner.UID) {
			home, name = f[5], f[0]
			break
		}
	}
	if env = append(env, "HOME="+home); name != "" {
		env = append(env, "USER="+name, "LOGNAME="+name)
	}
	return &syscall.Credential{Uid: uint32(owner.UID), Gid: uint32(owner.GID)}, env, nil
}
