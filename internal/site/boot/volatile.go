package boot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// emptied are the folders that a boot empties; /var/run is a link to /run.
var emptied = []string{"/run", "/tmp", "/dev/shm"}

// below is the emptied folder that a path is below, and the path with /var/run resolved.
func below(path string) (folder, real string) {
	if rest, ok := strings.CutPrefix(path, "/var/run/"); ok {
		path = "/run/" + rest
	}
	for _, dir := range emptied {
		if strings.HasPrefix(path, dir+"/") {
			return dir, path
		}
	}
	return "", path
}

// paths finds the sockets and files of process ids of services in folders below those that a
// boot empties, and what makes these folders again.
func (a *Asker) paths(ctx context.Context, m *process.Machine, units []shown, b *fact.Boot) {
	makers := a.tmpfiles(ctx)
	add := func(service, path string) {
		root, real := below(path)
		if folder := filepath.Dir(real); root != "" && folder != root {
			p := fact.BootPath{Service: service, Path: path, Folder: folder, Owner: a.owner(folder), Maker: maker(folder, units, makers)}
			if !slices.Contains(b.Paths, p) {
				b.Paths = append(b.Paths, p)
			}
		}
	}
	for _, s := range a.here() {
		if s.Socket != "" {
			add(s.Name, s.Socket)
		}
		for _, pid := range s.PIDs {
			for _, l := range m.Of(pid) {
				if l.Path != "" {
					add(s.Name, l.Path)
				}
			}
		}
		for i := range b.Services {
			if b.Services[i].Name != s.Name {
				continue
			}
			for _, u := range units {
				if u.Name == b.Services[i].Unit && u.pidFile != "" {
					add(s.Name, u.pidFile)
				}
			}
		}
	}
}

// owner is who may write to a folder, as in "33:33 0755".
func (a *Asker) owner(folder string) string {
	info, err := a.Host.Stat(folder)
	if err != nil {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d %04o", st.Uid, st.Gid, info.Mode().Perm())
	}
	return ""
}

// makesFolder is a line of tmpfiles.d(5) that makes a folder.
var makesFolder = regexp.MustCompile(`^[dDevqQC][-+!=~^$]*\s+("?)(/\S+?)/?"?(?:\s|$)`)

// tmpfiles are the folders that tmpfiles.d makes at boot, each with its file.
func (a *Asker) tmpfiles(ctx context.Context) map[string]string {
	makers := map[string]string{}
	for _, dir := range []string{"/usr/lib/tmpfiles.d", "/run/tmpfiles.d", "/etc/tmpfiles.d"} {
		files, err := a.Host.Glob(filepath.Join(dir, "*.conf"))
		if err != nil || dir == "/run/tmpfiles.d" { // that one a boot empties, too
			continue
		}
		for _, file := range files {
			b, err := a.Host.Read(file)
			if err != nil || ctx.Err() != nil {
				continue
			}
			for line := range strings.Lines(string(b)) {
				if m := makesFolder.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
					_, real := below(m[2])
					makers[real] = file
				}
			}
		}
	}
	return makers
}

// maker is what makes a folder at boot: a unit's RuntimeDirectory, a unit's command before
// its start, or a line of tmpfiles.d; "" for nothing.
func maker(folder string, units []shown, tmpfiles map[string]string) string {
	for dir := folder; dir != "/" && !slices.Contains(emptied, dir); dir = filepath.Dir(dir) {
		if file := tmpfiles[dir]; file != "" && dir == folder {
			return file
		}
		for _, u := range units {
			if !u.Boots && u.Active != "active" {
				continue
			}
			if slices.Contains(u.Makes, dir) && (dir == folder || slices.Contains(u.Makes, folder)) {
				return "RuntimeDirectory= of " + u.Name
			}
			for _, command := range append(slices.Clone(u.Pre), u.Exec) {
				if (strings.Contains(command, "mkdir") || strings.Contains(command, "install")) && strings.Contains(command, folder) {
					return "a command of " + u.Name
				}
			}
		}
	}
	if strings.HasPrefix(folder, "/run/systemd") || strings.HasPrefix(folder, "/run/user/") || strings.HasPrefix(folder, "/run/dbus") {
		return "systemd"
	}
	return ""
}

// A mount is one file system of /proc/self/mountinfo.
type mount struct{ point, kind string }

// mounts are the file systems that a process sees, in the order of mounting.
func (a *Asker) mounts(pid string) ([]mount, error) {
	b, err := a.Host.Read("/proc/" + pid + "/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(b)), nil
}

// parseMounts reads /proc/PID/mountinfo (proc(5)).
func parseMounts(text string) (out []mount) {
	for line := range strings.Lines(text) {
		head, tail, ok := strings.Cut(strings.TrimSpace(line), " - ")
		before, after := strings.Fields(head), strings.Fields(tail)
		if ok && len(before) >= 5 && len(after) >= 1 {
			out = append(out, mount{strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(before[4]), after[0]})
		}
	}
	return out
}

// under is the file system that a path is on.
func under(path string, mounts []mount) (at mount) {
	for _, m := range mounts { // a later one hides an earlier one
		if (path == m.point || m.point == "/" || strings.HasPrefix(path, m.point+"/")) && len(m.point) >= len(at.point) {
			at = m
		}
	}
	return at
}

// inMemory reports whether a file system is empty after a boot.
func inMemory(m mount) bool { return m.kind == "tmpfs" || m.kind == "ramfs" }

// own are the file systems in memory that systemd and distributions mount at each boot.
var own = []string{"/run", "/dev", "/sys", "/tmp", "/proc"}

// memory finds file systems in memory that no file mounts, and files that services write
// and that a boot loses.
func (a *Asker) memory(m *process.Machine, b *fact.Boot) error {
	mounts, err := a.mounts("self")
	if err != nil {
		return fmt.Errorf("reading the mounts: %w", err)
	}
	kept, err := a.fstab()
	if err != nil {
		return err
	}
	isKept := func(point string) bool {
		return slices.Contains(kept, point) || slices.ContainsFunc(b.Units, func(u fact.BootUnit) bool {
			return strings.HasSuffix(u.Name, ".mount") && u.File != "" && !strings.HasPrefix(u.File, "/run/") && u.Boots && unitOfMount(point) == u.Name
		})
	}
	for _, s := range a.here() {
		for _, path := range a.data(m, s) {
			folder, real := below(path)
			at := under(real, mounts)
			if folder == "" && !inMemory(at) {
				continue
			}
			entry := fact.BootMemory{Service: s.Name, Path: path, Mount: at.point, Kept: isKept(at.point) || folder != ""}
			if !slices.Contains(b.Memory, entry) {
				b.Memory = append(b.Memory, entry)
			}
		}
	}
	for _, mo := range mounts {
		system := slices.ContainsFunc(own, func(dir string) bool { return mo.point == dir || strings.HasPrefix(mo.point, dir+"/") })
		used := slices.ContainsFunc(b.Memory, func(e fact.BootMemory) bool { return e.Mount == mo.point })
		if inMemory(mo) && !system && !used && !isKept(mo.point) {
			b.Memory = append(b.Memory, fact.BootMemory{Path: mo.point, Mount: mo.point})
		}
	}
	return nil
}

// unitOfMount is the name of the unit of a mount point (systemd-escape(1)).
func unitOfMount(point string) string {
	var b strings.Builder
	for i, c := range strings.Trim(point, "/") {
		switch {
		case c == '/':
			b.WriteByte('-')
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c == '.' && i > 0:
			b.WriteRune(c)
		default:
			for _, x := range []byte(string(c)) {
				fmt.Fprintf(&b, `\x%02x`, x)
			}
		}
	}
	return b.String() + ".mount"
}

// fstab are the mount points of /etc/fstab.
func (a *Asker) fstab() (points []string, err error) {
	b, err := a.Host.Read("/etc/fstab")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the table of mounts: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 3 && !strings.HasPrefix(f[0], "#") {
			points = append(points, filepath.Clean(f[1]))
		}
	}
	return points, nil
}

// data are the files that hold a service's data: those that it has open for writing, but
// sockets, files of process ids, logs, locks and temporary files that were removed.
func (a *Asker) data(m *process.Machine, s iikanji.Service) (paths []string) {
	for _, root := range s.PIDs {
		for _, p := range m.Family(root) {
			files, err := hostproc.OpenFiles(a.Host, p.PID)
			if err != nil {
				continue // it has ended
			}
			for _, f := range files {
				if f.Write && isData(f.Path) && !slices.Contains(paths, f.Path) {
					paths = append(paths, f.Path)
				}
			}
		}
	}
	return paths
}

// notData are endings and folders of files that nothing misses after a boot.
var notData = regexp.MustCompile(`(\.(pid|lock|log|sock|tmp|err|out|pb\.gz)$)|^/(dev/(null|zero|u?random|pts|tty|ptmx)|proc|sys)|^/run/systemd/|log/|/memfd:|\(deleted\)$`)

func isData(path string) bool { return strings.HasPrefix(path, "/") && !notData.MatchString(path) }

// leastDisks are the folders whose file systems are always looked at.
var leastDisks = []string{"/", "/var"}

// disks reads the free space of the file systems that services write to.
func (a *Asker) disks(ctx context.Context, b *fact.Boot) error {
	mounts, err := a.mounts("self")
	if err != nil {
		return fmt.Errorf("reading the mounts: %w", err)
	}
	var points []string
	for _, path := range append(slices.Clone(leastDisks), a.logFolders()...) {
		if at := under(path, mounts); at.point != "" && !inMemory(at) && !slices.Contains(points, at.point) {
			points = append(points, at.point)
		}
	}
	for _, point := range points {
		free, err := a.Host.FreeSpace(point)
		if err != nil || ctx.Err() != nil {
			continue
		}
		b.Disks = append(b.Disks, fact.BootDisk{Path: point, Free: free, Total: a.total(ctx, point)})
	}
	return nil
}

// logFolders are the folders of the services' logs.
func (a *Asker) logFolders() (dirs []string) {
	for _, s := range a.here() {
		for _, l := range s.Logs {
			dirs = append(dirs, filepath.Dir(l.Path))
		}
	}
	return dirs
}

// total is the size of a file system in bytes, 0 if unknown.
func (a *Asker) total(ctx context.Context, path string) int64 {
	out, err := a.run(ctx, "stat", "--file-system", "--format=%b %S", path)
	var blocks, size int64
	if err == nil {
		_, err = fmt.Sscan(out, &blocks, &size)
	}
	if err != nil {
		return 0
	}
	return blocks * size
}
