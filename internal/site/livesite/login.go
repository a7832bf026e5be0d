package livesite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

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
	if l.Password, err = s.secret(s.hosts[service.Host], service.Database.Password); err != nil {
		return l, fmt.Errorf("finding the password of service %s: %w", service.Name, err)
	}
	return l, nil
}

// secret reads a secret at the place that a reference names. Its files are on a machine.
func (s *Subject) secret(on host.Host, ref target.Ref) (string, error) {
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
		on, err := s.withFile(on, path)
		if err != nil {
			return "", err
		}
		return ofFileLine(on, path, name)
	}
	on, err := s.withFile(on, ref.Source())
	if err != nil {
		return "", err
	}
	if password, ok := discover.SourcePassword(on, ref.Source()); ok {
		return password, nil
	}
	return "", fmt.Errorf("%s has no connection to a database with a password, or cannot be read", ref.Source())
}

// withFile is the machine with a file that has the password of a database: that of the
// database, or that of an app, whose settings and source name the account.
func (s *Subject) withFile(on host.Host, path string) (host.Host, error) {
	_, err := on.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return on, err
	}
	for i := range s.File().Services {
		service := &s.File().Services[i]
		if there := s.hosts[service.Host]; service.Role == iikanji.RoleApp {
			if _, err := there.Stat(path); err == nil {
				return there, nil
			}
		}
	}
	return on, err
}

// ofProcess reads a variable of a service as it was found.
func (s *Subject) ofProcess(service, name string, inDSN bool) (string, error) {
	r := s.running()[service]
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
		if env, err = process.Env(r.host, p.PID); err != nil {
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
func ofFileLine(on host.Host, path, name string) (string, error) {
	b, err := on.Read(path)
	if err != nil {
		return "", err
	}
	value, ok := settings.Dotenv(string(b))[name]
	if !ok {
		return "", fmt.Errorf("%s has no line %s=", path, name)
	}
	return passwordIn(value, false, path)
}
