package livesite

import (
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A loginHost is this machine with the accounts of the site's databases: a
// connection without an account gets the one that the file names.
type loginHost struct {
	host.Local
	subject *Subject
}

// SQL implements host.Host.
func (h *loginHost) SQL(l host.Login) (*sql.DB, error) {
	if l.User == "" {
		for i := range h.subject.options.File.Services {
			service := &h.subject.options.File.Services[i]
			if service.Database.User == "" || (l.Socket == "" || l.Socket != service.Socket) && (l.Address == "" || l.Address != service.Listen) {
				continue
			}
			own, err := h.subject.login(service)
			if err != nil {
				return nil, err
			}
			l.User, l.Password = own.User, own.Password
		}
	}
	return h.Local.SQL(l)
}

// login is how iikanji reaches a database.
func (s *Subject) login(service *target.Service) (host.Login, error) {
	l := host.Login{Socket: service.Socket, User: service.Database.User, Schema: service.Database.Schema}
	if l.Socket == "" {
		l.Address = target.Reachable(service.Listen)
	}
	if service.Database.Password == "" {
		return l, nil
	}
	var err error
	if l.Password, err = s.secret(service.Database.Password); err != nil {
		return l, fmt.Errorf("finding the password of service %s: %w", service.Name, err)
	}
	return l, nil
}

// secret reads a secret at the place that a reference names.
func (s *Subject) secret(ref target.Ref) (string, error) {
	if name := ref.Env(); name != "" {
		if v, ok := os.LookupEnv(name); ok {
			return v, nil
		}
		return "", fmt.Errorf("the environment of iikanji has no variable %s", name)
	}
	if service, name := ref.Service(); service != "" {
		return s.ofProcess(service, name, ref.InDSN())
	}
	if path, name := ref.File(); path != "" {
		return ofFileLine(path, name)
	}
	if password, ok := discover.SourcePassword(s.host, ref.Source()); ok {
		return password, nil
	}
	return "", fmt.Errorf("%s has no connection to a database with a password, or cannot be read", ref.Source())
}

// ofProcess reads a variable of a service as it was found.
func (s *Subject) ofProcess(service, name string, inDSN bool) (string, error) {
	r := s.services[service]
	if r == nil {
		return "", fmt.Errorf("service %s is not known", service)
	}
	env := r.env()
	if env == nil {
		p := r.process()
		if p == nil {
			return "", fmt.Errorf("service %s does not run", service)
		}
		var err error
		if env, err = process.Env(s.host, p.PID); err != nil {
			return "", err
		}
	}
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return passwordIn(value, inDSN, name)
		}
	}
	return "", fmt.Errorf("service %s has no variable %s", service, name)
}

// passwordIn is a value, or the password in it if it is a DSN.
func passwordIn(value string, inDSN bool, where string) (string, error) {
	password, isDSN := discover.Password(value)
	switch {
	case isDSN:
		return password, nil
	case inDSN:
		return "", fmt.Errorf("%s holds no DSN", where)
	}
	return value, nil
}

// ofFileLine reads a line NAME=value of a file.
func ofFileLine(path, name string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	value, ok := settings.Dotenv(string(b))[name]
	if !ok {
		return "", fmt.Errorf("%s has no line %s=", path, name)
	}
	return passwordIn(value, false, path)
}
