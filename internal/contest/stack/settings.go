package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// Drop-in files are next to the configs, but they are not laid out. They do not
// exist until another package or a user writes them, and this package does not
// change them.
const (
	limitsDir  = "limits"
	enabledDir = "enabled"
)

func envFile(service string) string { return service + ".env" }

// EnvFile is a file of K=V lines, with # for comments, that is read at every
// start of a service. Its variables override the arena's environment, and
// [Options].Env overrides them in an app. The file is optional. A value is the
// text after the "=", without surrounding blanks. There is no quoting.
func (s *Stack) EnvFile(service string) string { return s.dir.path(confDir, envFile(service)) }

// EnableFile is the file that starts a service on demand: while it exists, the
// service runs. [Stack.Refresh] obeys after it was written or removed, and so
// does the next Up. Its line "mebibytes = N" limits the data of a cache that declares no
// limit.
func (s *Stack) EnableFile(service string) string {
	return s.dir.path(confDir, enabledDir, service)
}

// memoryLine is the name of the line in the enable file of a cache that limits its data,
// in MiB. Package httpcache writes it.
const memoryLine = "mebibytes"

// mebibytes is the limit of the data of a cache on demand.
func (f folder) mebibytes(service string) (int64, error) {
	lines, err := f.settings(confDir, enabledDir, service)
	n := int64(arena.DefaultMiB)
	for _, l := range lines {
		if l.name != memoryLine {
			continue
		}
		if n, err = strconv.ParseInt(l.value, 10, 32); err != nil || n < 1 {
			return 0, fmt.Errorf("reading the memory of the %s: %s: %q is not a number of MiB", service, l.at, l.value)
		}
	}
	return n, err
}

// enabled reports whether a service should run.
func (f folder) enabled(svc *arena.Service) bool {
	if !svc.OnDemand {
		return true
	}
	_, err := os.Lstat(f.path(confDir, enabledDir, svc.Name))
	return err == nil
}

// Env is a service's environment as "K=V", without the variables of EnvFile. It
// may contain the database's password.
func (s *Stack) Env(service string) []string {
	svc := s.arena.Service(service)
	if svc == nil {
		return nil
	}
	return process.LastWins(append(s.arenaEnv(svc), s.userEnv(svc)...))
}

// arenaEnv is a service's environment without user settings.
func (s *Stack) arenaEnv(svc *arena.Service) []string {
	env := s.dir.baseEnv(s.programs)
	if svc.Env != nil {
		env = append(env, svc.Env(s.places)...)
	}
	return env
}

// userEnv is what the user adds to the environment of every app.
func (s *Stack) userEnv(svc *arena.Service) []string {
	if svc.Role != iikanji.RoleApp {
		return nil
	}
	return s.options.Env
}

// env is the whole environment of a service and of its load command.
func (s *Stack) env(svc *arena.Service) ([]string, error) {
	lines, err := s.dir.settings(confDir, envFile(svc.Name))
	if err != nil {
		return nil, fmt.Errorf("reading the environment of the %s: %w", svc.Name, err)
	}
	env := s.arenaEnv(svc)
	for _, l := range lines {
		if !variableName(l.name) {
			return nil, fmt.Errorf("reading the environment of the %s: %s: %q is not the name of a variable", svc.Name, l.at, l.name)
		}
		env = append(env, l.name+"="+l.value)
	}
	return append(env, s.userEnv(svc)...), nil // the last of two values counts, see lastWins
}

// CheckEnv checks variables for the app, as in [Options].Env. Its error does not
// quote them: a mistyped variable may contain a secret.
func CheckEnv(env []string) error {
	for _, kv := range env {
		if strings.IndexByte(kv, '=') < 1 || strings.IndexByte(kv, 0) >= 0 {
			return errors.New("a variable is not K=V, as in GOGC=200")
		}
	}
	return nil
}

// variableName reports whether a shell could set a variable with this name.
func variableName(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// A setting is one line of a drop-in file; at is its position, "file:line".
type setting struct{ name, value, at string }

// settings reads a drop-in file of "name = value" lines. A missing file counts as empty.
func (f folder) settings(elem ...string) ([]setting, error) {
	b, err := f.read(elem...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []setting
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		at := fmt.Sprintf("%s:%d", f.path(elem...), n)
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || strings.IndexByte(line, 0) >= 0 {
			// The error does not quote the line: it may contain a secret.
			return nil, fmt.Errorf("%s: want name=value", at)
		}
		all = append(all, setting{name, value, at})
	}
	return all, nil
}
