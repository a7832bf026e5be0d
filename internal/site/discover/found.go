package discover

import (
	"cmp"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Options are what the user knows.
type Options struct {
	URL   string // of the site; "" for the only web server
	Bench string // command of the benchmarker
	Dir   string // folder of the file to write
	Self  int    // id of this process, which is no part of the site
	// Policy is what changes may weaken; "" for that of a production site.
	Policy target.PolicyProfile
	// Several: the site may be on other machines, too. What is not here is a Need.
	Several bool
}

// granted is what the policy gets for a folder or file that a service needs. On the day of a
// contest a file of the system is its whole folder: finalize mends units that are no services
// of the site, and moves make new ones.
func (o Options) granted(folder string) string {
	if whole := host.SystemFolder(folder); whole != "" && o.Policy == target.Contest {
		return whole
	}
	return folder
}

// A Sureness is how reliable a finding is.
type Sureness string

// The degrees of sureness.
const (
	Sure   Sureness = "sure"
	Likely Sureness = "likely"
	Guess  Sureness = "guess"
)

// A Finding is one thing that was found.
type Finding struct {
	Service string   `json:"service,omitempty"` // "" for the site
	What    string   `json:"what"`
	How     string   `json:"how"` // by which evidence
	Sure    Sureness `json:"sure"`
}

// A Found is what was found of a site.
type Found struct {
	File     *target.File      `json:"-"`
	Notes    map[string]string `json:"-"` // comments of the file, see target.Print
	Findings []Finding         `json:"findings"`
	// Limits are what iikanji does not do for parts of the site.
	Limits []target.Limit `json:"limits"`
	// Todo is what a person has to fill in or to decide.
	Todo []string `json:"todo"`
}

// Text is the file to write.
func (f *Found) Text() string { return target.Print(f.File, f.Notes) }

// A search is one run of the discovery.
type search struct {
	Options
	host host.Host
	m    *process.Machine
	out  *Found
	// others are URLs of the only web server beside s.URL, where none was given.
	others []string
	// away are addresses that this machine's services use and that are not of it.
	away []Need
	// byPID are the services by their root process, in the order in which they
	// were found.
	byPID map[int]*service
	order []*service
}

// A service is a service with what is needed while the search goes on.
type service struct {
	target.Service
	proc *process.Process
	env  []string // of the process; may hold secrets
	dsns []dsn
	// asks are what its source leaves open; reached: the database was asked.
	asks    []string
	reached bool
	// main is the main package's path of a Go program.
	main string
}

func (s *search) note(svc *service, what string, sure Sureness, how string, args ...any) {
	name := ""
	if svc != nil {
		name = svc.Name
	}
	s.out.Findings = append(s.out.Findings, Finding{name, what, fmt.Sprintf(how, args...), sure})
}

func (s *search) todo(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.out.Todo, text) {
		s.out.Todo = append(s.out.Todo, text)
	}
}

// add makes a service of a process, with a name of its own.
func (s *search) add(p *process.Process, role iikanji.Role, engine iikanji.Engine, name string) *service {
	svc := &service{Service: target.Service{Role: role, Engine: engine, Program: p.Program, Unit: p.Unit}, proc: p}
	if p.Unit != "" {
		name = strings.TrimSuffix(p.Unit, ".service")
		for _, file := range append(host.UnitFiles(p.Unit), host.KernelFile) { // not the folders of the system
			s.mayWrite(file)
		}
	}
	svc.Name = s.unique(plainName(name))
	svc.PIDFile = s.pidFile(p)
	svc.env, _ = process.Env(s.host, p.PID) // of another user's process it cannot be read
	if p.Parent != 0 && p.Unit == "" {
		svc.restart(s.m)
	}
	s.byPID[p.PID] = svc
	s.order = append(s.order, svc)
	return svc
}

// supervisors are programs that start what they have started again when it ends.
var supervisors = []string{"supervisord", "runsv", "s6-supervise", "circusd", "monit", "god", "daemontools", "supervise", "perpd"}

// restart finds how the service is restarted.
func (svc *service) restart(m *process.Machine) {
	parent := m.Processes[svc.proc.Parent]
	if parent == nil {
		return
	}
	if slices.Contains(supervisors, parent.Name) || strings.HasPrefix(parent.Command(), "PM2 ") || strings.Contains(parent.Command(), "supervisord") {
		svc.Restart = target.ByParent
	}
}

// plainName keeps the characters that a name may have.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.Trim(name, "-._"), "service")
}

func (s *search) unique(name string) string {
	taken := func(n string) bool {
		return slices.ContainsFunc(s.order, func(o *service) bool { return o.Name == n })
	}
	if !taken(name) {
		return name
	}
	for i := 2; ; i++ {
		if n := name + "-" + strconv.Itoa(i); !taken(n) {
			return n
		}
	}
}

// pidFile finds a file that holds the id of a process, in the folders where
// scripts put them.
func (s *search) pidFile(p *process.Process) string {
	dirs := []string{p.Dir, filepath.Join(p.Dir, "run"), filepath.Join(p.Dir, "tmp"), filepath.Dir(p.Program), filepath.Dir(p.Dir), filepath.Join(filepath.Dir(p.Dir), "run"), "/run"}
	dirs = append(dirs, s.namedFolders(p)...)
	seen := map[string]bool{"": true, ".": true}
	for _, dir := range dirs {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		paths, _ := s.host.Glob(filepath.Join(dir, "*.pid")) // the pattern is well formed
		for _, path := range paths {
			b, err := s.host.Read(path)
			if err == nil && len(b) < 32 && strings.TrimSpace(string(b)) == strconv.Itoa(p.PID) {
				return path
			}
		}
	}
	return ""
}

// mostNamed limits the folders that namedFolders takes from one process.
const mostNamed = 60

// namedFolders are the folders, and the folders run beside and below them, of the paths in
// the arguments and the environment of a process. A supervisor often keeps a site's process
// ids beside its configuration and its logs.
func (s *search) namedFolders(p *process.Process) (out []string) {
	words := slices.Clone(p.Args)
	env, _ := process.Env(s.host, p.PID) // of another user's process it cannot be read
	for _, word := range append(words, env...) {
		if _, value, ok := strings.Cut(word, "="); ok {
			word = value
		}
		dir := filepath.Dir(filepath.Clean(word))
		if !filepath.IsAbs(word) || strings.Contains(word, ":") || strings.Count(dir, "/") < 2 || strings.HasPrefix(dir, "/usr/") || strings.HasPrefix(dir, "/proc/") {
			continue
		}
		out = append(out, dir, filepath.Join(dir, "run"), filepath.Join(filepath.Dir(dir), "run"))
		if len(out) >= mostNamed {
			return out
		}
	}
	return out
}

// listens fills in where a service listens, for the address by which it was
// found, or its first one.
func (s *search) listens(svc *service, by string) {
	all := s.m.Of(svc.proc.PID)
	i := slices.IndexFunc(all, func(l process.Listen) bool {
		return l.Name() == by || by != "" && s.m.Owner(by) == svc.proc && reaches(l, by)
	})
	if i < 0 {
		i = slices.IndexFunc(all, func(l process.Listen) bool { return l.Path == "" })
	}
	if i < 0 && len(all) > 0 {
		i = 0
	}
	if i < 0 {
		svc.Arguments = strings.Join(svc.proc.Args[1:], " ")
		return
	}
	if l := all[i]; l.Path != "" {
		svc.Socket = l.Path
	} else {
		svc.Listen = l.Address.String()
	}
}

// reaches reports whether a TCP socket has the port of an address.
func reaches(l process.Listen, address string) bool {
	i := strings.LastIndexByte(address, ':')
	return l.Path == "" && i >= 0 && address[i+1:] == strconv.Itoa(int(l.Address.Port()))
}

// loopbackURL is the URL of a listening socket for a client on this machine.
func loopbackURL(a netip.AddrPort) string {
	if a.Port() == 80 {
		return "http://" + strings.TrimSuffix(target.Reachable(a.String()), ":80")
	}
	return "http://" + target.Reachable(a.String())
}
