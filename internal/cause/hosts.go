package cause

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// ThisMachine is the Target of the Host profile of the host without a name.
const ThisMachine = "local"

// hostName is the Target of the Host profile of a host.
func hostName(host string) string {
	if host == "" {
		return ThisMachine
	}
	return host
}

// byHost are the views of the hosts: the view itself if there is one host, or
// none was observed.
func (v *View) byHost() []*View {
	var names []string
	for _, p := range v.Input.Profiles {
		if p.Source == iikanji.Host && !slices.Contains(names, p.Target) {
			names = append(names, p.Target)
		}
	}
	if len(names) < 2 {
		return []*View{v}
	}
	var out []*View
	for _, name := range names {
		w := *v
		w.on, w.Input = name, v.Input.onHost(name)
		out = append(out, &w)
	}
	return out
}

// onHost is a settled input without what belongs to other hosts.
func (in Input) onHost(name string) Input {
	elsewhere := func(service string) (known, away bool) {
		s, known := in.Target.Service(service)
		return known, known && hostName(s.Host) != name
	}
	in.Profiles = slices.DeleteFunc(slices.Clone(in.Profiles), func(p iikanji.Profile) bool {
		if p.Source == iikanji.Host {
			return p.Target != name
		}
		_, away := elsewhere(p.Target)
		return away
	})
	in.Facts = slices.DeleteFunc(slices.Clone(in.Facts), func(f iikanji.Fact) bool {
		known, away := elsewhere(f.Target)
		return away || !known && hostName(f.Host) != name
	})
	return in
}

// hostProfiles are the Host profiles whose sensors saw the run.
func (v *View) hostProfiles() []iikanji.Profile {
	var out []iikanji.Profile
	for _, p := range v.Input.Profiles {
		if p.Source == iikanji.Host && !v.Blind(iikanji.Host) {
			out = append(out, p)
		}
	}
	return out
}

// rowOf is a row of a Host profile by its key, nil if there is none.
func rowOf(p iikanji.Profile, key string) *iikanji.HostRow {
	for i := range p.Rows {
		if p.Rows[i].Key == key {
			return p.Rows[i].Host
		}
	}
	return nil
}

// Host is the row of a service in the profile of its host; nil when unknown. The
// rows "host" and "other" exist once per host: with several hosts they are known
// in the view of one host only.
func (v *View) Host(name string) *iikanji.HostRow {
	profiles := v.hostProfiles()
	if len(profiles) > 1 && (name == "host" || name == "other") {
		return nil
	}
	for _, p := range profiles {
		if row := rowOf(p, name); row != nil {
			return row
		}
	}
	return nil
}

// Machine is the state of the view's host; nil when unknown.
func (v *View) Machine() *iikanji.MachineRow {
	if h := v.Host("host"); h != nil {
		return h.Machine
	}
	return nil
}

// MachineOf is the state of the host that a service runs on; nil when unknown.
func (v *View) MachineOf(service string) *iikanji.MachineRow {
	profiles := v.hostProfiles()
	for _, p := range profiles {
		if h := rowOf(p, "host"); h != nil && (len(profiles) == 1 || rowOf(p, service) != nil) {
			return h.Machine
		}
	}
	return nil
}

// Services are the names of the services in the Host profiles.
func (v *View) Services() []string {
	var out []string
	for _, p := range v.hostProfiles() {
		for _, r := range p.Rows {
			if r.Key != "host" && r.Key != "other" && r.Key != "generator" {
				out = append(out, r.Key)
			}
		}
	}
	return out
}

// On is the host of a view of one of several hosts, ThisMachine for the one that sends the
// load; "" in other views.
func (v *View) On() string { return v.on }

// Elsewhere are the services of the target, also in the view of a host that they do not run
// on.
func (v *View) Elsewhere() []iikanji.Service { return v.Input.Target.Services }

// place names the host in a finding about one of several hosts, and in its
// remedies: "host" alone is this machine.
func (f *Result) place() {
	if f.From.on == "" {
		return
	}
	if f.Where += " on " + f.From.on; f.Where == "host on "+f.From.on {
		f.Where = "host " + f.From.on
	}
	for i := range f.Remedies {
		if f.Remedies[i].Target == "host" && f.From.on != ThisMachine {
			f.Remedies[i].Target = "host:" + f.From.on
		}
	}
}
