package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaybeEnter becomes a program of a sandbox if the process was started for it, and then does not
// return. It has to be called at the begin of main.
func MaybeEnter() {
	if len(os.Args) < 1 || os.Args[0] != Name {
		return
	}
	err := enter() // returns only where it cannot
	status := 0
	if err != nil {
		status = 1
		_, _ = io.WriteString(os.NewFile(failureFD, "failure"), err.Error()) // nothing else hears of it
	}
	os.Exit(status)
}

// enter takes the rights away and executes the program.
func enter() error {
	// Rights are a thread's: the thread that gives them away executes the program.
	runtime.LockOSThread()
	var o order
	if err := json.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	for _, dir := range o.Groups {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			return fmt.Errorf("entering a control group: %w", err)
		}
	}
	if err := furnish(&o); err != nil {
		return err
	}
	if err := limit(&o); err != nil {
		return err
	}
	// What is open beside the standard files and the report ends with the execution.
	if err := unix.CloseRange(4, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing files: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("refusing new privileges: %w", err)
	}
	if err := landlock(o.Rules.Read, []string{scratch}); err != nil {
		return err
	}
	if err := become(o.User); err != nil {
		return err
	}
	// The change of the user has cleared the parent-death signal.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("asking for the parent's death: %w", err)
	}
	if os.Getppid() != o.Parent {
		return errors.New("the guard has ended")
	}
	if err := refuse(); err != nil {
		return err
	}
	if o.Path == "" {
		return nil
	}
	if err := syscall.Exec(o.Path, append([]string{cmp.Or(o.Name, o.Path)}, o.Args...), o.Env); err != nil {
		return fmt.Errorf("%s: %w (the sandbox's user must be able to read it: put it below /opt or /srv)", o.Path, err)
	}
	return nil
}

// scratch is the private folder: it is also /var/tmp and /dev/shm.
const scratch = "/tmp"

// furnish makes the mounts of the program: a /tmp of its own, and a /proc in which it sees its
// own processes alone.
func furnish(o *order) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	hidden, err := keepHidden(o.Rules.Read)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("size=%d,nr_inodes=65536,mode=0700,uid=%d,gid=%d", o.Rules.Disk, o.User, o.User)
	if len(hidden) > 0 {
		options = strings.Replace(options, "0700", "0711", 1)
	}
	if err := unix.Mount("tmpfs", scratch, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mounting a private %s: %w", scratch, err)
	}
	for _, dir := range []string{"/var/tmp", "/dev/shm"} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if err := unix.Mount(scratch, dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting a private %s: %w", dir, err)
		}
	}
	if err := showHidden(hidden); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "hidepid=2"); err != nil {
		return fmt.Errorf("mounting a private /proc: %w", err)
	}
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return fmt.Errorf("naming the sandbox: %w", err)
	}
	return os.Chdir(scratch)
}

// keepHidden opens what the private folder would hide.
func keepHidden(read []string) (map[string]*os.File, error) {
	hidden := map[string]*os.File{}
	for _, path := range read {
		for _, dir := range []string{scratch, "/var/tmp", "/dev/shm"} {
			if !strings.HasPrefix(filepath.Clean(path), dir+"/") {
				continue
			}
			fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return nil, fmt.Errorf("opening %s: %w", path, err)
			}
			hidden[filepath.Clean(path)] = os.NewFile(uintptr(fd), path)
		}
	}
	return hidden, nil
}

// showHidden mounts again what the private folder hides, read only.
func showHidden(hidden map[string]*os.File) error {
	for path, f := range hidden {
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("opening %s: %w", path, err)
		}
		dir := path
		if !info.IsDir() {
			dir = filepath.Dir(path)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("showing %s: %w", path, err)
		}
		if !info.IsDir() {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return fmt.Errorf("showing %s: %w", path, err)
			}
		}
		source := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
		if err := unix.Mount(source, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("showing %s: %w", path, err)
		}
		if err := unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
			return fmt.Errorf("showing %s: %w", path, err)
		}
		f.Close()
	}
	return nil
}

// limit sets the limits of each process.
func limit(o *order) error {
	r := &o.Rules
	seconds := uint64(r.CPU.Seconds())
	limits := map[int]syscall.Rlimit{
		unix.RLIMIT_NOFILE: {Cur: r.Files, Max: r.Files}, unix.RLIMIT_NPROC: {Cur: r.Processes, Max: r.Processes}, unix.RLIMIT_FSIZE: {Cur: uint64(r.Disk), Max: uint64(r.Disk)},
		unix.RLIMIT_CPU: {Cur: seconds, Max: seconds + 1}, unix.RLIMIT_CORE: {}, unix.RLIMIT_MEMLOCK: {Cur: 64 << 10, Max: 64 << 10}, unix.RLIMIT_MSGQUEUE: {Cur: 1 << 20, Max: 1 << 20},
	}
	if o.Memory {
		limits[unix.RLIMIT_AS] = syscall.Rlimit{Cur: uint64(r.Memory), Max: uint64(r.Memory)}
	}
	for resource, value := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
		value.Max = min(value.Max, now.Max) // root of a container may not raise a limit
		value.Cur = min(value.Cur, value.Max)
		// The package syscall knows of the limit of files, which it restores at an execution.
		if err := syscall.Setrlimit(resource, &value); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	return nil
}

// become makes this thread another user without groups and capabilities.
func become(user uint32) error {
	id := uintptr(user)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("leaving the groups: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, id, id, id); errno != 0 {
		return fmt.Errorf("becoming group %d: %w", user, errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); errno != 0 {
		return fmt.Errorf("becoming user %d: %w", user, errno)
	}
	return nil
}
