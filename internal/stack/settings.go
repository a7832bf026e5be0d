package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The drop-in files are beside the configs and no part of what is laid: they
// are not there until somebody writes them, and whoever wrote them keeps them.
const (
	envFile   = "app.env"
	limitsDir = "limits"
)

// EnvFile is a file of K=V lines, with # for comments, that is read at every
// start of the app: after the arena's environment, so that it wins over that,
// and before [Options].Env. It need not be there. A value is what follows the
// "=", without blanks around it and without any quoting.
func (s *Stack) EnvFile() string { return s.dir.path(confDir, envFile) }

// AppEnv is the app's environment as "K=V", without what EnvFile adds. It
// holds the database's password.
func (s *Stack) AppEnv() []string { return lastWins(append(s.arenaEnv(), s.options.Env...)) }

// arenaEnv is what the app gets whatever a person says.
func (s *Stack) arenaEnv() []string {
	env := s.dir.baseEnv(s.programs)
	if s.arena.App.Env != nil {
		env = append(env, s.arena.App.Env(s.places)...)
	}
	return env
}

// appEnv is the whole environment of the app and of the arena's load command.
func (s *Stack) appEnv() ([]string, error) {
	lines, err := s.dir.settings(confDir, envFile)
	if err != nil {
		return nil, fmt.Errorf("reading the app's environment: %w", err)
	}
	env := s.arenaEnv()
	for _, l := range lines {
		if !variableName(l.name) {
			return nil, fmt.Errorf("reading the app's environment: %s: %q is no variable's name", l.at, l.name)
		}
		env = append(env, l.name+"="+l.value)
	}
	return append(env, s.options.Env...), nil // of two values the last counts, see lastWins
}

// CheckEnv says what is wrong with variables for the app, as in [Options].Env.
// It does not repeat them: what is mistyped may be a secret.
func CheckEnv(env []string) error {
	for _, kv := range env {
		if strings.IndexByte(kv, '=') < 1 || strings.IndexByte(kv, 0) >= 0 {
			return errors.New("a variable is not K=V, as in GOGC=200")
		}
	}
	return nil
}

// variableName says whether a name is one that a shell could set.
func variableName(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// A setting is one line of a drop-in file; at is its place, "file:line".
type setting struct{ name, value, at string }

// settings reads a drop-in file of "name = value" lines. No file is no lines.
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
			// Not the line itself: what is mistyped may be a secret.
			return nil, fmt.Errorf("%s: want name=value", at)
		}
		all = append(all, setting{name, value, at})
	}
	return all, nil
}
