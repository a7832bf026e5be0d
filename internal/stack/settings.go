package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Drop-in files are next to the configs, but they are not laid out. They do not
// exist until another package or a user writes them, and this package does not
// change them.
const (
	envFile   = "app.env"
	limitsDir = "limits"
)

// EnvFile is a file of K=V lines, with # for comments, that is read at every
// start of the app. Its variables override the arena's environment, and
// [Options].Env overrides them. The file is optional. A value is the text after
// the "=", without surrounding blanks. There is no quoting.
func (s *Stack) EnvFile() string { return s.dir.path(confDir, envFile) }

// AppEnv is the app's environment as "K=V", without the variables of EnvFile. It
// contains the database's password.
func (s *Stack) AppEnv() []string { return lastWins(append(s.arenaEnv(), s.options.Env...)) }

// arenaEnv is the app's environment without user settings.
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
			return nil, fmt.Errorf("reading the app's environment: %s: %q is not the name of a variable", l.at, l.name)
		}
		env = append(env, l.name+"="+l.value)
	}
	return append(env, s.options.Env...), nil // the last of two values counts, see lastWins
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
