package difference

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// live compares what runs, as far as no file explains it.
func (c *comparer) live() {
	for i := range c.now.Services {
		s := &c.now.Services[i]
		base, ok := c.base.Service(s.Name)
		if !ok {
			continue
		}
		c.variables(base, s)
		c.environment(base, s)
		c.program(base, s)
	}
	c.machine()
	c.sysctls()
	c.packages()
	for _, unit := range keysOf(c.base.Units, c.now.Units) {
		was, is := c.base.Units[unit].Enabled, c.now.Units[unit].Enabled
		seen := slices.ContainsFunc(c.edits, func(e Edit) bool { return e.Kind == Unit && path.Base(e.Place) == unit })
		if was != "" && is != "" && was != is && !seen {
			c.add(Edit{Kind: Unit, Place: unit, Names: []string{was + " → " + is}}, unit, "")
		}
	}
}

// machine compares what the host is. A state of before has no machine.
func (c *comparer) machine() {
	was, is := c.base.Machine, c.now.Machine
	if was == is || was == (state.Machine{}) {
		return
	}
	var names []string
	if was.Identity != is.Identity {
		names = append(names, "another machine: its host key or machine-id is another one")
	}
	if was.Kernel != is.Kernel {
		names = append(names, "kernel "+was.Kernel+" → "+is.Kernel)
	}
	if was.Cores != is.Cores {
		names = append(names, fmt.Sprintf("cores %d → %d", was.Cores, is.Cores))
	}
	if was.Memory != is.Memory {
		names = append(names, fmt.Sprintf("memory %s → %s", was.Memory, is.Memory))
	}
	c.add(Edit{Kind: Exchanged, Place: "machine", Names: names}, "machine", "")
}

// variables compares the variables of a running server.
func (c *comparer) variables(base, s *state.Service) {
	if base.Variables == nil || s.Variables == nil {
		return
	}
	files := c.optionsOf(s)
	for _, name := range keysOf(base.Variables, s.Variables) {
		was, had := base.Variables[name]
		is, has := s.Variables[name]
		if !had || !has || was.Value == is.Value {
			continue // a variable that came with a plugin or another version
		}
		inFile, set := files[name]
		kept := set && normal(inFile) == normal(is.Value)
		if c.explained[s.Name+"/@@"+name] && (kept || !setByHand(is)) {
			continue
		}
		e := Edit{Kind: Variable, Service: s.Name, Place: name, Names: []string{short(was.Value) + " → " + short(is.Value)}}
		if setByHand(is) && !kept {
			e.Warning, e.Why = AtRunTime, "a restart loses it"
		}
		c.add(e, s.Name+"/@@"+name, iikanji.Fingerprint(state.Sum([]byte(is.Value+"\n"))))
	}
}

// setByHand reports whether a variable was set by a statement. A server that does not say
// so has had no other way to change it while it runs.
func setByHand(v state.Variable) bool {
	return v.Origin == "sql" || v.Origin == "dynamic" || v.Origin == ""
}

// environment compares the digests of the environment of a process.
func (c *comparer) environment(base, s *state.Service) {
	if base.Env == nil || s.Env == nil {
		return
	}
	var names []string
	for _, name := range keysOf(base.Env, s.Env) {
		was, had := base.Env[name]
		is, has := s.Env[name]
		switch {
		case was == is || c.explained[s.Name+"/env/"+name]:
		case !had:
			names = append(names, name+" (new)")
		case !has:
			names = append(names, "− "+name)
		default:
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		c.add(Edit{Kind: Environment, Service: s.Name, Place: s.Name, Names: names}, s.Name, "")
	}
}

// program compares the program of a service. That of a source that differs is its build.
func (c *comparer) program(base, s *state.Service) {
	was, is := base.Program, s.Program
	if was.SHA == "" || is.SHA == "" || c.built[s.Name] || c.explained["program "+is.Path] {
		return
	}
	c.explain("program " + is.Path) // several services may run it
	e := Edit{Kind: Program, Service: s.Name, Place: is.Path, Old: iikanji.Fingerprint(was.SHA), New: iikanji.Fingerprint(is.SHA)}
	switch {
	case was.Path != is.Path:
		e.Names = []string{was.Path + " → " + is.Path}
	case was.SHA != is.SHA:
		e.Names = []string{"another program"}
	default:
		return
	}
	if is.Replaced {
		e.Warning, e.Why = NotLoaded, "the one that runs is not the one on the disk"
	}
	c.add(e, is.Path, iikanji.Fingerprint(is.SHA))
}

// sysctls compares the kernel's values.
func (c *comparer) sysctls() {
	var files map[string]string
	for _, name := range keysOf(c.base.Sysctl, c.now.Sysctl) {
		was, had := c.base.Sysctl[name]
		is, has := c.now.Sysctl[name]
		if !had || !has || was == is || c.explained["sysctl/"+name] {
			continue
		}
		if files == nil {
			files = c.sysctlsInFiles()
		}
		e := Edit{Kind: Sysctl, Place: name, Names: []string{was + " → " + is}}
		if files[name] != is {
			e.Warning, e.Why = AtRunTime, "a reboot loses it"
		}
		location := "/proc/sys/" + strings.ReplaceAll(name, ".", "/")
		c.add(e, location, iikanji.Fingerprint(state.Sum([]byte(is+"\n"))))
	}
}

func (c *comparer) sysctlsInFiles() map[string]string {
	all := map[string]string{}
	for _, f := range c.now.Files {
		if f.Path == "/etc/sysctl.conf" || path.Base(path.Dir(f.Path)) == "sysctl.d" {
			for name, value := range sysctls(c.text(f)) {
				all[name] = value
			}
		}
	}
	return all
}

// maxPackages is how many packages are listed one by one.
const maxPackages = 20

// packages compares the installed packages.
func (c *comparer) packages() {
	if c.base.Packages == nil || c.now.Packages == nil {
		return
	}
	var all []Edit
	for _, name := range keysOf(c.base.Packages, c.now.Packages) {
		was, had := c.base.Packages[name]
		is, has := c.now.Packages[name]
		e := Edit{Kind: Package, Place: name}
		switch {
		case had && has && was == is:
			continue
		case !had:
			e.Names = []string{is + " installed"}
		case !has:
			e.Names = []string{was + " removed"}
		default:
			e.Names = []string{was + " → " + is}
		}
		all = append(all, e)
	}
	if more := len(all) - maxPackages; more > 0 {
		all = append(all[:maxPackages:maxPackages], Edit{Kind: Package, Place: "others", Names: []string{fmt.Sprintf("%d more packages", more)}})
	}
	for _, e := range all {
		c.add(e, e.Place, "")
	}
}
