package livesite

import (
	"database/sql"
	"errors"
	"os"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Hosts are the machines of a site by their names in its file. This machine, whose name is
// "", need not be among them.
type Hosts map[string]host.Host

// On is the machine of a name. One that this command has no connection to is a host.Down.
func (h Hosts) On(name string) host.Host {
	switch on := h[name]; {
	case on != nil:
		return on
	case name == "":
		return host.Local{}
	}
	return host.Down{Host: name, Err: errNotOpened}
}

var errNotOpened = errors.New("this command has no connection to it")

// Machines reads what runs on the machines of a file's services. A machine that could not
// be read has an error in their place.
func (h Hosts) Machines(f *target.File) (map[string]*process.Machine, map[string]error) {
	found, unread := map[string]*process.Machine{}, map[string]error{}
	for i := range f.Services {
		name := f.Services[i].Host
		if found[name] != nil || unread[name] != nil {
			continue
		}
		m, err := process.ReadMachine(h.On(name))
		if err != nil {
			unread[name] = err
			continue
		}
		found[name] = m
	}
	return found, unread
}

// A siteHost is a machine of a site with the accounts of the site's databases: a
// connection without an account gets the one that the file names.
type siteHost struct {
	host.Host
	name    string // in the file
	subject *Subject
}

// Name is the machine's name in the file.
func (h *siteHost) Name() string { return h.name }

// Unwrap is the machine itself.
func (h *siteHost) Unwrap() host.Host { return h.Host }

// SQL implements host.Host.
func (h *siteHost) SQL(l host.Login) (*sql.DB, error) {
	if l.User == "" {
		for i := range h.subject.File().Services {
			service := &h.subject.File().Services[i]
			if service.Host != h.name || service.Database.User == "" || (l.Socket == "" || l.Socket != service.Socket) && (l.Address == "" || l.Address != service.Listen) {
				continue
			}
			own, err := h.subject.login(service)
			if err != nil {
				return nil, err
			}
			l.User, l.Password = own.User, own.Password
		}
	}
	return h.Host.SQL(l)
}

// connect wraps the machines of the site.
func (s *Subject) connect() {
	s.hosts = map[string]host.Host{"": &siteHost{s.options.Hosts.On(""), "", s}}
	for i := range s.File().Services {
		name := s.File().Services[i].Host
		s.hosts[name] = &siteHost{s.options.Hosts.On(name), name, s}
	}
	for name, on := range s.options.Hosts { // further machines: instances, spares, idle ones
		s.hosts[name] = &siteHost{on, name, s}
	}
}

// far reports whether the service is on another machine.
func (r *running) far() bool { return host.WorkerOf(r.host) != nil }

// environment is that of commands of the file on the service's machine: of another one, that
// of this process means nothing.
func (r *running) environment(env ...string) []string {
	if !r.far() {
		return append(os.Environ(), env...)
	}
	return append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}, env...)
}

// folder is where commands of the file run on the service's machine.
func (s *Subject) folder(r *running) string {
	if r.far() {
		return "/"
	}
	return s.dir()
}
