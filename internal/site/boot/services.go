package boot

import (
	"context"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// services reads how the site's services run: in which unit, on which ports, connected to
// what, and whether what runs is what a boot would start.
func (a *Asker) services(ctx context.Context, m *process.Machine) []fact.BootService {
	var out []fact.BootService
	established, _ := hoststat.Established(a.Host) // none where the kernel does not say
	for _, s := range a.here() {
		if len(s.PIDs) == 0 {
			continue
		}
		b := fact.BootService{Name: s.Name, PIDs: s.PIDs}
		p := m.Processes[s.PIDs[0]]
		if p == nil { // it was restarted since the target was described
			if b.PIDs, b.Unit = nil, unitOf(s); b.Unit != "" {
				out = append(out, b)
			}
			continue
		}
		b.Unit = p.Unit
		if b.Container = a.container(s.PIDs[0]); b.Container != "" {
			b.Policy = a.policy(ctx, b.Container)
		}
		for _, l := range m.Of(s.PIDs[0]) {
			if port := int(l.Address.Port()); l.Address.IsValid() && !slices.Contains(b.Ports, port) {
				b.Ports = append(b.Ports, port)
			}
		}
		b.Needs = a.needs(m, s, established)
		a.program(m, s, &b)
		out = append(out, b)
	}
	return out
}

// needs are the databases, caches and queues that a service has connections to, by TCP or
// by a unix socket.
func (a *Asker) needs(m *process.Machine, s iikanji.Service, established []hoststat.Socket) (needs []string) {
	own := map[uint64]bool{}
	for _, p := range m.Family(s.PIDs[0]) {
		for _, inode := range hoststat.SocketsOf(a.Host, p.PID) {
			own[inode] = true
		}
	}
	for _, o := range a.Target.Services {
		backing := o.Role == iikanji.RoleDatabase || o.Role == iikanji.RoleCache || o.Role == iikanji.RoleQueue
		if !backing || o.Name == s.Name {
			continue
		}
		_, port, _ := strings.Cut(o.Address[max(strings.LastIndexByte(o.Address, ':'), 0):], ":")
		tcp := slices.ContainsFunc(established, func(c hoststat.Socket) bool {
			return own[c.Inode] && port != "" && strconv.Itoa(int(c.Remote.Port())) == port
		})
		if tcp || o.Socket != "" && a.mentions(m, s, o.Socket) {
			needs = append(needs, o.Name)
		}
	}
	return needs
}

// mentions reports whether the environment or the command line of a service names the path
// of a socket: the kernel does not tell who is at the other end of a unix socket.
func (a *Asker) mentions(m *process.Machine, s iikanji.Service, path string) bool {
	for _, name := range []string{"environ", "cmdline"} {
		if b, err := a.Host.Read(filepath.Join("/proc", strconv.Itoa(s.PIDs[0]), name)); err == nil && strings.Contains(string(b), path) {
			return true
		}
	}
	return false
}

// containerID is the id of a container in the path of a control group.
var containerID = regexp.MustCompile(`(?:docker|libpod|containerd|crio)[-/]([0-9a-f]{64})`)

// container is the id of the container that a process runs in; "" for none.
func (a *Asker) container(pid int) string {
	b, err := a.Host.Read(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return ""
	}
	if m := containerID.FindStringSubmatch(string(b)); m != nil {
		return m[1]
	}
	return ""
}

// policy is the restart policy of a container, "" if it cannot be read.
func (a *Asker) policy(ctx context.Context, id string) string {
	out, err := a.run(ctx, "docker", "inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}", id)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// program compares the running program with its file and with its source.
func (a *Asker) program(m *process.Machine, s iikanji.Service, b *fact.BootService) {
	p := m.Processes[s.PIDs[0]]
	if p == nil || s.Role != iikanji.RoleApp {
		return
	}
	if info, err := a.Host.Stat(filepath.Join("/proc", strconv.Itoa(p.PID))); err == nil {
		b.StartAt = info.ModTime().Unix()
	}
	b.Program = p.Program
	file, err := a.Host.Stat(b.Program)
	if err != nil {
		return
	}
	compiled := s.Engine == iikanji.EngineGo
	if p.Deleted {
		b.Other = b.Program
	}
	source := a.Sources[s.Name]
	if source == "" {
		return
	}
	newest, at := a.newest(source)
	switch {
	case compiled && at.After(file.ModTime().Add(clockStep)):
		b.Newer = newest
	case !compiled && b.StartAt > 0 && at.After(time.Unix(b.StartAt, 0).Add(clockStep)):
		b.Other = newest
	}
}

// clockStep is the least difference of two times that counts: a build writes its program in
// the second of the last edit.
const clockStep = 2 * time.Second

// sourceEndings are the files of a source that decide what a program does.
var sourceEndings = []string{".go", ".rb", ".py", ".php", ".js", ".ts", ".mjs", ".pl", ".pm", ".rs", ".erb", ".ru"}

// mostFiles limits the files of a source that are looked at.
const mostFiles = 20000

// newest is the newest file of a folder of source, with its time.
func (a *Asker) newest(root string) (path string, at time.Time) {
	seen := 0
	_ = a.Host.Walk(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a folder that cannot be read has no newer file for us
		}
		if seen++; seen > mostFiles {
			return fs.SkipAll
		}
		if d.IsDir() {
			if name := d.Name(); p != root && (name == "node_modules" || name == "vendor" || name == "target" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(sourceEndings, filepath.Ext(p)) || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(at) {
			path, at = p, info.ModTime()
		}
		return nil
	})
	return path, at
}

// unitOf is the unit that the description of a service names; "" if it names none.
func unitOf(s iikanji.Service) string {
	if s.Unit == "" || strings.Contains(s.Unit, ".") {
		return s.Unit
	}
	return s.Unit + ".service"
}
