package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed boot.sh
var bootScript []byte

// needs are the programs that a machine is made with.
var needs = []string{"unshare", "nsenter", "ip", "/lib/systemd/systemd", "systemctl"}

// Missing says why no machine can be started here; "" if one can.
func Missing() string {
	if os.Getuid() != 0 {
		return "it needs root"
	}
	for _, name := range needs {
		if _, err := exec.LookPath(name); err != nil {
			return "there is no " + name
		}
	}
	dir, err := os.MkdirTemp("", "iikanji-lab-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("unshare", "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--net", "--fork", "--kill-child", "sh", "-ec", probe, "sh", dir).CombinedOutput(); err != nil {
		return fmt.Sprintf("this machine does not allow it: %v: %s", err, bytes.TrimSpace(out))
	}
	return ""
}

// probe makes one of each kind of mount that a machine needs, in namespaces of its own. A
// container may allow root none of them.
const probe = `mount --make-rprivate /
cd "$1"
mkdir upper work cgroup
mount -t cgroup2 cgroup2 cgroup
mount -t overlay overlay -o "lowerdir=/etc,upperdir=upper,workdir=work" /etc
mount -t proc proc /proc
mount -t tmpfs tmpfs /run`

// A Machine is one systemd in namespaces.
type Machine struct {
	Name string
	// Limits are kept at each boot.
	Limits Limits

	dir     string // its files
	pid     int    // of its PID 1; 0 while it is down
	down    chan struct{}
	link    *Link
	address netip.Addr
}

// Join connects a machine that is down to a link, at its n-th address.
func (m *Machine) Join(l *Link, n int) { m.link, m.address = l, l.Address(n) }

// Address is that of the machine on its link; the zero Addr without one.
func (m *Machine) Address() netip.Addr { return m.address }

// private are the folders of a machine that outlive its reboots.
var private = []string{"etc", "usr/local", "usr/libexec", "home", "root", "srv", "var/lib", "var/log"}

// New makes the files of a machine below a folder, and does not boot it. units are those of
// Debian that it may run; every other unit of this machine that is not systemd's own is
// masked.
func New(dir, name string, units ...string) (*Machine, error) {
	m := &Machine{Name: name, dir: dir}
	for _, d := range private {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "upper", d), 0o755), os.MkdirAll(filepath.Join(dir, "work", d), 0o755)); err != nil {
			return nil, fmt.Errorf("making machine %s: %w", name, err)
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "cgroup"), 0o755), os.WriteFile(filepath.Join(dir, "boot.sh"), bootScript, 0o644))
	if err == nil {
		err = m.system(units)
	}
	if err != nil {
		return nil, fmt.Errorf("making machine %s: %w", name, err)
	}
	return m, nil
}

// Path is where a file of the machine lies on this machine while it is down or up; the path
// must be below one of its private folders. It is the machine's own file only: what it
// inherits from this machine is not there.
func (m *Machine) Path(path string) string { return filepath.Join(m.dir, "upper", path) }

// Write puts a file into a machine that is down.
func (m *Machine) Write(path, text string, perm os.FileMode) error {
	full := m.Path(path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return fmt.Errorf("writing %s of machine %s: %w", path, m.Name, err)
	}
	if err := os.WriteFile(full, []byte(text), perm); err != nil {
		return fmt.Errorf("writing %s of machine %s: %w", path, m.Name, err)
	}
	return os.Chmod(full, perm)
}

// Install copies a program of this machine into the machine's /usr/local/bin.
func (m *Machine) Install(program, name string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("installing %s: %w", name, err)
	}
	return m.Write("/usr/local/bin/"+name, string(data), 0o755)
}

// systemUnits are where distributions put units.
const systemUnits = "/lib/systemd/system"

// ownUnits are the units of systemd that a machine in namespaces cannot run or does not
// need: they are about hardware, logins and the network.
var ownUnits = []string{"systemd-binfmt", "systemd-firstboot", "systemd-hwdb-update", "systemd-logind", "systemd-machine-id-commit", "systemd-modules-load",
	"systemd-networkd", "systemd-pstore", "systemd-random-seed", "systemd-remount-fs", "systemd-resolved", "systemd-sysctl", "systemd-timesyncd",
	"systemd-udev-settle", "systemd-udev-trigger", "systemd-udevd", "systemd-update-utmp", "systemd-update-utmp-runlevel"}

// system writes the folder of units: a boot target, masks, and links of what is enabled.
func (m *Machine) system(units []string) error {
	root := m.Path("/etc/systemd/system")
	if err := os.MkdirAll(filepath.Join(root, "multi-user.target.wants"), 0o755); err != nil {
		return err
	}
	// The overlay's folder replaces this machine's: units of the developer are not inherited.
	if err := syscall.Setxattr(root, "trusted.overlay.opaque", []byte("y"), 0); err != nil {
		return fmt.Errorf("hiding this machine's units: %w", err)
	}
	entries, err := os.ReadDir(systemUnits)
	if err != nil {
		return err
	}
	links := map[string]string{"default.target": systemUnits + "/multi-user.target"}
	for _, e := range entries {
		stem, ext := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), filepath.Ext(e.Name())
		ours := slices.Contains(units, stem) || stem == "dbus" || strings.HasPrefix(stem, "systemd-") && !slices.Contains(ownUnits, strings.TrimSuffix(strings.TrimSuffix(stem, "-control"), "-kernel"))
		if slices.Contains([]string{".service", ".timer", ".socket", ".path"}, ext) && !ours && !strings.HasSuffix(stem, "@") {
			links[e.Name()] = os.DevNull
		}
	}
	for _, u := range units {
		if _, err := os.Stat(filepath.Join(systemUnits, u+".service")); err == nil {
			links["multi-user.target.wants/"+u+".service"] = filepath.Join(systemUnits, u+".service")
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			return err
		}
	}
	if err := m.noSysctl(); err != nil {
		return err
	}
	id := fmt.Sprintf("%032x\n", time.Now().UnixNano())
	return errors.Join(m.Write("/etc/fstab", "tmpfs /var/tmp tmpfs mode=1777 0 0\n", 0o644), m.Write("/etc/hostname", m.Name+"\n", 0o644), m.Write("/etc/hosts", "127.0.0.1 localhost\n127.0.1.1 "+m.Name+"\n", 0o644), m.Write("/etc/machine-id", id, 0o444))
}

// noSysctl hides the files of the kernel's variables: most variables are this machine's, and
// a boot of the machine sets none.
func (m *Machine) noSysctl() error {
	files, err := filepath.Glob("/usr/lib/sysctl.d/*.conf")
	if err != nil {
		return fmt.Errorf("listing the kernel's variables: %w", err)
	}
	dir := m.Path("/etc/sysctl.d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := syscall.Setxattr(dir, "trusted.overlay.opaque", []byte("y"), 0); err != nil {
		return fmt.Errorf("hiding the kernel's variables: %w", err)
	}
	for _, file := range files {
		if err := os.Symlink(os.DevNull, filepath.Join(dir, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}

// bootWait limits the time until a machine is up.
const bootWait = 60 * time.Second

// Boot starts the machine and waits until its boot is over. Units may have failed.
func (m *Machine) Boot(ctx context.Context) error {
	if m.pid != 0 {
		return fmt.Errorf("machine %s is up already", m.Name)
	}
	var out bytes.Buffer
	cmd := exec.Command("unshare", "--mount", "sh", filepath.Join(m.dir, "boot.sh"), m.dir, m.group(), m.Name)
	var err error
	if cmd.Env, err = m.environ(); err != nil {
		return fmt.Errorf("booting machine %s: %w", m.Name, err)
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() { // the signal comes when the thread ends that has started the process
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // a machine ends by a signal
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("booting machine %s: %w", m.Name, err)
	}
	m.down = ended
	err = m.await(ctx, func() error {
		select {
		case <-ended:
			return fmt.Errorf("its first process has ended: %s", out.String())
		default:
		}
		return m.isUp(ctx, cmd.Process.Pid)
	})
	if err != nil {
		return errors.Join(fmt.Errorf("booting machine %s: %w", m.Name, err), m.Close())
	}
	return nil
}

// environ makes what boot.sh needs to know, and a new id of the boot.
func (m *Machine) environ() ([]string, error) {
	id := rand.Text() + rand.Text()
	boot := fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:32]
	boot = boot[:8] + "-" + boot[8:12] + "-" + boot[12:16] + "-" + boot[16:20] + "-" + boot[20:]
	if err := os.WriteFile(filepath.Join(m.dir, "boot_id"), []byte(boot+"\n"), 0o444); err != nil {
		return nil, err
	}
	groups, limits, err := m.limitGroups()
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "LAB_GROUPS="+strings.Join(groups, " "), "LAB_LIMITS="+limits, "LAB_CORES="+m.Limits.Cores)
	if m.link != nil {
		b := m.address.As4()
		env = append(env, "LAB_ADDRESS="+m.address.String()+"/24", fmt.Sprintf("LAB_MAC=02:69:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3]))
	}
	return env, nil
}

// isUp finds PID 1 and asks it whether the boot is over.
func (m *Machine) isUp(ctx context.Context, outer int) error {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", outer, outer))
	if err != nil {
		return fmt.Errorf("finding PID 1: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		return errors.New("it has no PID 1 yet")
	}
	if m.pid != pid && m.link != nil {
		if err := m.link.plug(ctx, pid); err != nil {
			return err
		}
	}
	if m.pid = pid; !systemdRuns(pid) {
		return errors.New("systemd has not begun")
	}
	r, err := m.Run(ctx, "systemctl", "is-system-running")
	if state := strings.TrimSpace(r.Output); err != nil || state != "running" && state != "degraded" {
		return errors.Join(err, fmt.Errorf("systemd is %s", state))
	}
	return nil
}

func systemdRuns(pid int) bool {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.TrimSpace(string(comm)) == "systemd"
}

// await asks until the answer is nil, or the time is over.
func (m *Machine) await(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, bootWait)
	defer cancel()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A Result is the end of a command in a machine.
type Result struct {
	Status int
	Output string // of both streams
}

// Command is a command that runs in the machine.
func (m *Machine) Command(ctx context.Context, args ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(m.pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--wdns=/", "--"}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}
	return cmd
}

// Run runs a command in the machine. A status other than 0 is no error.
func (m *Machine) Run(ctx context.Context, args ...string) (Result, error) {
	if m.pid == 0 {
		return Result{}, fmt.Errorf("machine %s is down", m.Name)
	}
	out, err := m.Command(ctx, args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return Result{exit.ExitCode(), string(out)}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("running %s in machine %s: %w", args[0], m.Name, err)
	}
	return Result{0, string(out)}, nil
}

// Reboot reboots the machine as its own command does, and waits until it is up again.
func (m *Machine) Reboot(ctx context.Context) error {
	if _, err := m.Run(ctx, "systemctl", "reboot"); err != nil {
		return err
	}
	return m.Again(ctx)
}

// Again waits for a machine that reboots, until it is down, and boots it.
func (m *Machine) Again(ctx context.Context) error {
	select {
	case <-m.down:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(bootWait):
		return fmt.Errorf("machine %s does not go down", m.Name)
	}
	m.pid = 0
	return m.Boot(ctx)
}

// Close ends the machine as a power cut does. Its files stay.
func (m *Machine) Close() error {
	if m.pid == 0 || m.down == nil {
		return nil
	}
	err := syscall.Kill(m.pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	<-m.down
	m.pid = 0
	return errors.Join(err, m.removeGroup(), m.removeLimits())
}

// group is the name of the machine's control group.
func (m *Machine) group() string { return fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), m.Name) }

// removeGroup removes the control groups that the machine has left. A group is busy until
// the kernel has taken its last process off the CPU.
func (m *Machine) removeGroup() error {
	const script = `mount -t cgroup2 cgroup2 "$1" && cd "$1"
n=0
while [ -d "$2" ] && ! find "$2" -depth -type d -exec rmdir {} + 2>"$1.why"; do
	n=$((n + 1))
	[ $n -lt 100 ] || { cat "$1.why" >&2; find "$2" -name cgroup.procs -exec cat {} + | head -20 | while read -r p; do tr '\0' ' ' <"/proc/$p/cmdline" >&2; done; exit 1; }
	sleep 0.1
done
for g in "$3"*; do # of processes that were killed
	pid=${g#"$3"}
	[ -d "/proc/${pid%%-*}" ] || find "$g" -depth -type d -exec rmdir {} + 2>/dev/null
done
:`
	out, err := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", filepath.Join(m.dir, "cgroup"), m.group(), groupPrefix).CombinedOutput()
	if err != nil {
		return fmt.Errorf("removing the control groups of machine %s: %w: %s", m.Name, err, out)
	}
	return nil
}
