package target

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A Host is a machine of the site. One without address and via is this machine.
type Host struct {
	Name       string         `toml:"name" help:"name of the machine, for the key host of services" example:"db" need:"yes"`
	Address    string         `toml:"address" help:"how it is reached: ssh://[USER@]NAME[:PORT], where NAME may be an alias of your ssh configuration; neither address nor via: it is this machine" example:"ssh://isucon@db"`
	Via        []string       `toml:"via" help:"in place of address: a command whose input and output reach a shell on it, when sh is put behind it" example:"[\"docker\", \"exec\", \"-i\", \"db\"]"`
	Private    string         `toml:"private" help:"its IP address for the other machines of the site; default: that of its route to them" example:"10.0.0.13"`
	KnownHosts string         `toml:"known_hosts" help:"file with its host key, besides those of your ssh configuration; default: known_hosts beside this file"`
	Sudo       YesNo          `toml:"sudo" help:"whether an account that is not root may become root by sudo without a password; default: yes" words:"yes,no"`
	Peer       string         `toml:"peer" help:"iikanji for a machine of another architecture: path of a file on this machine; none: nothing is sent, and the machine is read only by its own commands" example:"dist/iikanji-arm64"`
	Roles      []iikanji.Role `toml:"roles" help:"what may be placed on it; default: everything" words:"web,app,database,cache,queue"`
	Change     YesNo          `toml:"change" help:"whether iikanji may change it; default: yes" words:"yes,no"`
	Reboot     Reboot         `toml:"reboot" help:"whether rehearse and finalize may reboot it: ask, with their flag --reboot; yes, also at the end of an unattended search; default: no" words:"no,ask,yes"`
	LostWait   Duration       `toml:"lost_wait" help:"how long a lost connection is tried again before an operation is given up; default: 60s" example:"60s"`
}

// YesNo is yes or no; the zero value is the default of the key.
type YesNo string

// The values of a YesNo.
const (
	Yes YesNo = "yes"
	No  YesNo = "no"
)

// Reboot is whether a machine may be rebooted; "" is RebootNo.
type Reboot string

// The values of a Reboot.
const (
	RebootNo  Reboot = "no"
	RebootAsk Reboot = "ask"
	RebootYes Reboot = "yes"
)

// PeerNone is the value of Host.Peer of a machine to which nothing is sent.
const PeerNone = "none"

// Here reports whether the machine is this one.
func (h *Host) Here() bool { return h.Address == "" && len(h.Via) == 0 }

// MayChange reports whether anything may be written on the machine.
func (h *Host) MayChange() bool { return h.Change != No && h.Peer != PeerNone }

// Waits is how long a lost connection is tried again, with the default filled in.
func (h *Host) Waits() time.Duration {
	if h.LostWait > 0 {
		return time.Duration(h.LostWait)
	}
	return time.Minute
}

// An SSHAddress is the address of a machine that is reached by SSH.
type SSHAddress struct {
	User string // "" for that of the user's configuration
	Name string // a name, an alias or an IP address; never one that ssh takes for an option
	Port int    // 0 for that of the user's configuration
}

var sshName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.%:-]*[A-Za-z0-9_])?$`)

// ParseSSH reads an address of the form ssh://[USER@]NAME[:PORT].
func ParseSSH(text string) (SSHAddress, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "ssh" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return SSHAddress{}, fmt.Errorf("%q is no address of the form ssh://[USER@]NAME[:PORT]", text)
	}
	if _, secret := u.User.Password(); secret {
		return SSHAddress{}, fmt.Errorf("the address of %s has a password; use a key", u.Hostname())
	}
	a := SSHAddress{User: u.User.Username(), Name: u.Hostname()}
	if !sshName.MatchString(a.Name) || a.User != "" && !sshName.MatchString(a.User) {
		return SSHAddress{}, fmt.Errorf("%q has a user or a name that no machine can have", text)
	}
	if port := u.Port(); port != "" {
		if !isPort(port) {
			return SSHAddress{}, fmt.Errorf("%q has no possible port", text)
		}
		a.Port, _ = strconv.Atoi(port) // isPort
	}
	return a, nil
}

// Host returns the machine of a name.
func (f *File) Host(name string) (*Host, bool) {
	i := slices.IndexFunc(f.Hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return nil, false
	}
	return &f.Hosts[i], true
}

// HostRef is the name of a machine in the words of iikanji: "" for this machine.
func (f *File) HostRef(name string) string {
	if h, ok := f.Host(name); ok && h.Here() {
		return ""
	}
	return name
}

// hostRefs are the names of machines in the words of iikanji.
func (f *File) hostRefs(names []string) (out []string) {
	for _, name := range names {
		out = append(out, f.HostRef(name))
	}
	return out
}

// FoldersOn are the folders of a machine in which files may be written; "" is this machine.
func (f *File) FoldersOn(name string) []string {
	var out []string
	for _, folder := range f.Policy.Folders {
		if on, path, far := onHost(folder); far && f.HostRef(on) == name {
			out = append(out, path)
		} else if !far && name == "" {
			out = append(out, folder)
		}
	}
	return out
}

// ProgramsOn are the programs of apps of a machine that are made from a source which may be
// edited: a change of the source builds them.
func (f *File) ProgramsOn(name string) (out []string) {
	for i := range f.Services {
		s := &f.Services[i]
		if s.Host != name || s.Role != iikanji.RoleApp || s.App.Source == "" || s.Program == "" {
			continue
		}
		inside := func(folder string) bool {
			rel, err := filepath.Rel(folder, s.App.Source)
			return err == nil && filepath.IsLocal(rel)
		}
		if slices.ContainsFunc(f.FoldersOn(name), inside) {
			out = append(out, s.Program)
		}
	}
	return out
}

// LogFoldersOn are the folders of a machine in which its services write logs: an observation
// writes logs of its own beside them, and removes them.
func (f *File) LogFoldersOn(name string) []string {
	var out []string
	add := func(path string) {
		if dir := filepath.Dir(path); path != "" && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for i := range f.Services {
		s := &f.Services[i]
		if s.Host != name {
			continue
		}
		add(s.Logs.Access)
		if s.Engine != EnginePostgreSQL { // its log is for a person to read
			add(s.Logs.Slow)
		}
		if s.Role == iikanji.RoleWeb {
			add(s.Logs.Error)
		}
	}
	return out
}

// onHost divides a folder of the form NAME:/FOLDER.
func onHost(folder string) (name, path string, ok bool) {
	name, path, ok = strings.Cut(folder, ":")
	if !ok || !filepath.IsAbs(path) || !serviceName.MatchString(name) {
		return "", folder, false
	}
	return name, path, true
}

// fillHosts makes the paths of the machines absolute, and names this machine "" in the
// services.
func (f *File) fillHosts(absolute func(paths ...*string)) {
	for i := range f.Hosts {
		h := &f.Hosts[i]
		absolute(&h.KnownHosts)
		if h.Peer != PeerNone {
			absolute(&h.Peer)
		}
	}
	for i := range f.Services {
		f.Services[i].Host = f.HostRef(f.Services[i].Host)
	}
	f.Bench.Host = f.HostRef(f.Bench.Host)
}

// hosts checks the machines.
func (c *checker) hosts(f *File) {
	seen, here := map[string]bool{}, ""
	for i := range f.Hosts {
		h, path := &f.Hosts[i], "host."+strconv.Itoa(i+1)
		switch {
		case !serviceName.MatchString(h.Name):
			c.at(path+".name", "letters, digits, and . _ - inside", "name of a machine is %q", h.Name)
		case seen[h.Name]:
			c.at(path+".name", "", "two machines are called %q", h.Name)
		case h.Here() && here != "":
			c.at(path, `write address = "ssh://NAME"`, "%q and %q have no address: only one can be this machine", here, h.Name)
		case h.Address != "" && len(h.Via) > 0:
			c.at(path+".via", "leave one of them out", "machine %q has both address and via", h.Name)
		}
		seen[h.Name] = true
		if h.Here() {
			here = h.Name
		}
		if h.Address != "" {
			if _, err := ParseSSH(h.Address); err != nil {
				c.at(path+".address", `write address = "ssh://NAME"`, "address: %v", err)
			}
		}
		if _, err := netip.ParseAddr(h.Private); h.Private != "" && err != nil {
			c.at(path+".private", `write private = "10.0.0.13"`, "private is %q; want an IP address", h.Private)
		}
	}
	c.known(f, "bench.host", f.Bench.Host)
	for _, folder := range f.Policy.Folders {
		if on, _, far := onHost(folder); far {
			c.known(f, "policy.folders", on)
		}
	}
}

// placed checks where a service runs.
func (c *checker) placed(f *File, s *Service, path string) {
	c.known(f, path+".host", s.Host)
	for key, names := range map[string][]string{".instances": s.Instances, ".spare": s.Spare} {
		for _, name := range names {
			if c.known(f, path+key, name); f.HostRef(name) == s.Host {
				c.at(path+key, "", "service %q runs on %q already", s.Name, name)
			}
		}
	}
	if s.Host != "" && s.Restart != "" && s.Restart != ByUnit && s.Restart != ByCommand {
		c.at(path+".restart", `write restart = "unit" or restart = "command"`, "service %q is on another machine, where services are restarted by a unit or by commands only", s.Name)
	}
}

// known checks that a machine is in the file; "" is this machine.
func (c *checker) known(f *File, path, name string) {
	if _, ok := f.Host(name); !ok && name != "" {
		c.at(path, fmt.Sprintf("write a [[host]] with name = %q and its address", name), "there is no machine %q in this file", name)
	}
}
