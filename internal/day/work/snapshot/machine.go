package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// machine takes what belongs to no service. None of it is worth ending a snapshot for.
func (t *taker) machine() {
	t.identity()
	t.out.Sysctl = t.keyed(t.sysctl())
	t.packages()
	t.units()
	t.repos()
}

// identity takes what the machine is: a run on another one is a run of another state.
func (t *taker) identity() {
	is := hoststat.Machine(t.Host, "")
	t.out.Machine = state.Machine{Kernel: is.Kernel, Cores: is.Cores, Memory: is.Memory}
	id, err := fleet.IdentityOf(t.Host)
	if err != nil {
		t.cannot("/etc/machine-id", err)
		return
	}
	t.out.Machine.Identity = id.ID
}

// sysctlFolders are where the kernel's values are that a site's speed may depend on.
var sysctlFolders = []string{"/proc/sys/net/core", "/proc/sys/net/ipv4", "/proc/sys/net/ipv6", "/proc/sys/net/unix", "/proc/sys/net/netfilter", "/proc/sys/vm", "/proc/sys/fs", "/proc/sys/fs/inotify", "/proc/sys/kernel"}

// moving matches kernel values that move by themselves, cannot be read, or are secrets.
var moving = regexp.MustCompile(`^(?:fs\.(?:dentry-state|inode-nr|inode-state|file-nr|aio-nr|dquot\w*)|kernel\.(?:ns_last_pid|tainted|random\w*|cad_pid|hotplug|modprobe|core_pattern|keys|usermodehelper\w*|spl|perf_cpu_time_max_percent|perf_event_max_sample_rate)|` +
	`vm\.(?:stat_refresh|compact_memory|drop_caches|nr_pdflush_threads)|net\.ipv4\.(?:tcp_fastopen_key|tcp_available_\w+|route\w*)|net\.ipv6\.\w*secret|net\.netfilter\.nf_conntrack_count|net\.core\.(?:bpf_jit_limit|netdev_rss_key)|kernel\.sched_domain\S*)$`)

func (t *taker) sysctl() map[string]string {
	all := map[string]string{}
	for _, dir := range sysctlFolders {
		entries, err := t.Host.ReadDir(dir)
		if err != nil {
			continue // the kernel has no such part
		}
		for _, e := range entries {
			name := strings.ReplaceAll(strings.TrimPrefix(filepath.Join(dir, e.Name()), "/proc/sys/"), "/", ".")
			if e.IsDir() || moving.MatchString(name) {
				continue
			}
			info, err := e.Info()
			if err != nil || info.Mode().Perm()&0o444 == 0 || info.Mode()&fs.ModeType != 0 {
				continue
			}
			if text, err := t.Host.Read(filepath.Join(dir, e.Name())); err == nil {
				all[name] = strings.Join(strings.Fields(string(text)), " ")
			}
		}
	}
	return all
}

// dpkgStatus is where Debian's package manager keeps what is installed.
const dpkgStatus = "/var/lib/dpkg/status"

// packages takes the versions of installed packages. The file has megabytes: it is read
// if it changed.
func (t *taker) packages() {
	info, err := t.Host.Stat(dpkgStatus)
	if err != nil {
		t.cannot(dpkgStatus, err)
		return
	}
	is := indexed{Size: info.Size(), Mod: info.ModTime().UnixNano(), Read: t.Now().UnixNano()}
	if old, known := t.old.Files[dpkgStatus]; known && old.Size == is.Size && old.Mod == is.Mod && old.Read-old.Mod > int64(racy) && t.old.Packages != "" {
		if text, err := t.store.Get(t.old.Packages); err == nil && json.Unmarshal(text, &t.out.Packages) == nil {
			t.next.Packages, t.next.Files[dpkgStatus] = t.old.Packages, old
			return
		}
	}
	text, err := t.Host.Read(dpkgStatus)
	if err != nil {
		t.cannot(dpkgStatus, err)
		return
	}
	t.out.Packages = parseDpkg(string(text))
	kept, err := json.Marshal(t.out.Packages)
	if err == nil {
		t.next.Packages, err = t.store.Put(kept)
	}
	t.cannot("packages", err)
	t.next.Files[dpkgStatus] = is
}

// parseDpkg reads the installed packages of dpkg's status file.
func parseDpkg(text string) map[string]string {
	all := map[string]string{}
	var name, version string
	installed := false
	end := func() {
		if name != "" && installed {
			all[name] = version
		}
		name, version, installed = "", "", false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
			end()
		case strings.HasPrefix(line, "Package: "):
			name = line[len("Package: "):]
		case strings.HasPrefix(line, "Version: "):
			version = line[len("Version: "):]
		case strings.HasPrefix(line, "Status: "):
			installed = strings.HasSuffix(line, " installed")
		}
	}
	end()
	return all
}

// commandTime bounds the commands of a snapshot.
const commandTime = 5 * time.Second

// find returns the path of a program of the host.
func (t *taker) find(name string) string {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"} {
		if info, err := t.Host.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// output runs a program that changes nothing.
func (t *taker) output(path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.ctx, commandTime)
	defer cancel()
	r, err := t.Host.Exec(ctx, host.Command{Path: path, Args: args, Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent"}})
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("%s: exit status %d", filepath.Base(path), r.Status)
	}
	return string(r.Output), err
}

// units asks systemd about the units of the services.
func (t *taker) units() {
	var names []string
	for _, s := range t.Services {
		if s.Unit != "" && !slices.Contains(names, s.Unit) {
			names = append(names, s.Unit)
		}
	}
	systemctl := t.find("systemctl")
	if _, err := t.Host.Stat("/run/systemd/system"); err != nil || systemctl == "" || len(names) == 0 {
		return
	}
	text, err := t.output(systemctl, append([]string{"show", "--no-pager", "--property=Id,UnitFileState,ActiveState,NeedDaemonReload", "--"}, names...)...)
	if err != nil {
		t.cannot("units", err)
		return
	}
	t.out.Units = parseShow(text)
}

// parseShow reads the output of systemctl show: the properties of a unit are separated by
// an empty line.
func parseShow(text string) map[string]state.Unit {
	all := map[string]state.Unit{}
	for _, part := range strings.Split(text, "\n\n") {
		var id string
		var u state.Unit
		for line := range strings.Lines(part) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch name {
			case "Id":
				id = value
			case "UnitFileState":
				u.Enabled = value
			case "ActiveState":
				u.Active = value
			case "NeedDaemonReload":
				u.Stale = value == "yes"
			}
		}
		if id != "" {
			all[id] = u
		}
	}
	return all
}

// repos reads where the user's repositories of source are. git may refresh its index only
// if it locks it, which GIT_OPTIONAL_LOCKS forbids.
func (t *taker) repos() {
	git := t.find("git")
	if git == "" {
		return
	}
	var done []string
	for _, s := range t.Services {
		if s.Source == "" || slices.ContainsFunc(done, func(dir string) bool { return s.Source == dir || strings.HasPrefix(s.Source, dir+"/") }) {
			continue
		}
		in := func(args ...string) (string, error) {
			return t.output(git, append([]string{"-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", s.Source}, args...)...)
		}
		top, err := in("rev-parse", "--show-toplevel")
		if err != nil {
			continue // it is in no repository
		}
		r := state.Repo{Dir: strings.TrimSpace(top)}
		done = append(done, r.Dir)
		if head, err := in("rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
			r.Head = strings.TrimSpace(head)
			if branch, err := in("rev-parse", "--abbrev-ref", "HEAD"); err == nil {
				r.Branch = strings.TrimSpace(branch)
			}
			if diff, err := in("diff", "--no-ext-diff", "--no-textconv", "HEAD"); err == nil && diff != "" {
				if r.Dirty, err = t.store.Put([]byte(diff)); err != nil {
					t.cannot(r.Dir, err)
				}
			}
		}
		t.out.Repos = append(t.out.Repos, r)
	}
}
