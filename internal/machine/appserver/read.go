package appserver

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// Read reads how the app server runs whose root process is pid. config is the path of
// its configuration file if it is known, "" otherwise; folder is that of the source, ""
// if unknown. The error is a NotServerError for a process of another kind.
func Read(h host.Host, pid int, config, folder string) (*Setup, error) {
	p, err := readProcess(h, pid)
	if err != nil {
		return nil, err
	}
	s := &Setup{Server: serverOf(p), PID: pid, Options: p.env[CommandVariable], Dir: p.dir}
	if s.Server == "" {
		return nil, &NotServerError{pid}
	}
	if !p.titled {
		s.Args = p.args
	}
	s.Workers, s.Threads = defaults[s.Server].workers, defaults[s.Server].threads
	s.family(h)
	if s.Server == Node && s.underPM2(h, p) {
		s.Workers, s.Threads = defaults[PM2].workers, defaults[PM2].threads
	}
	if s.Server == Node {
		return s, s.readNode(h, p)
	}
	s.fromVariables(p.env)
	if err := s.fromConfig(h, p, config, folder); err != nil {
		return nil, err
	}
	s.fromCommand(p)
	return s, nil
}

// A process is what /proc has of a process.
type process struct {
	args   []string
	env    map[string]string
	dir    string
	titled bool // the arguments are a title that the program has written over them
}

func readProcess(h host.Host, pid int) (*process, error) {
	p := &process{env: map[string]string{}}
	var err error
	if p.args, err = hostproc.Args(h, pid); err != nil {
		return nil, err
	}
	if len(p.args) == 1 && strings.Contains(p.args[0], " ") {
		p.titled, p.args = true, strings.Fields(p.args[0])
	}
	env, err := hostproc.Env(h, pid)
	if err != nil {
		return nil, err
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		p.env[name] = value
	}
	if p.dir, err = h.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil {
		return nil, fmt.Errorf("reading the folder of process %d: %w", pid, err)
	}
	return p, nil
}

// serverOf recognizes the server by the program, its script or its title.
func serverOf(p *process) Server {
	if len(p.args) == 0 {
		return ""
	}
	base := func(i int) string {
		if i >= len(p.args) {
			return ""
		}
		return filepath.Base(strings.TrimSuffix(p.args[i], ":"))
	}
	if p.titled {
		switch {
		case base(0) == "PM2":
			return PM2
		case base(0) == "gunicorn" || base(0) == "puma" || base(0) == "unicorn":
			return Server(base(0))
		}
		return ""
	}
	for i := range min(4, len(p.args)) { // python3 -m gunicorn, ruby /usr/bin/puma, bundle exec puma
		switch name := base(i); name {
		case "gunicorn", "uvicorn", "puma", "unicorn":
			return Server(name)
		case "node", "nodejs":
			if i == 0 {
				return Node
			}
		}
	}
	return ""
}

// programIndex is the index of the word with the server's name.
func programIndex(args []string, s Server) int {
	return max(0, slices.IndexFunc(args, func(a string) bool { return filepath.Base(a) == string(s) }))
}

// fromVariables reads the variables that decide where nothing else does.
func (s *Setup) fromVariables(env map[string]string) {
	for _, set := range []*Setting{&s.Workers, &s.Threads} {
		name := set.Name
		if set == &s.Threads && s.Server == Puma && env[name] == "" && env["MAX_THREADS"] != "" {
			name = "MAX_THREADS"
		}
		if n, err := strconv.Atoi(env[name]); name != "" && err == nil {
			*set = Setting{n, Variable, name}
		}
	}
}

// fromCommand reads the command line and, for gunicorn, GUNICORN_CMD_ARGS.
func (s *Setup) fromCommand(p *process) {
	sources := []struct {
		args  []string
		place Place
	}{{p.args, Command}}
	if words, ok := Words(p.env[CommandVariable]); ok && s.Server == Gunicorn {
		sources = slices.Insert(sources, 0, struct {
			args  []string
			place Place
		}{words, Variable})
	}
	o := options[s.Server]
	for _, from := range sources {
		for _, one := range []struct {
			into  *Setting
			names []string
		}{{&s.Workers, o.workers}, {&s.Threads, o.threads}} {
			_, _, value, found := option(from.args, one.names)
			n, ok := threadsMost(value)
			if !found || !ok || s.Args == nil && from.place == Command {
				continue
			}
			*one.into = Setting{n, from.place, one.names[0]}
			if from.place == Variable {
				one.into.Name = CommandVariable
			}
		}
	}
}

// CommandVariable is gunicorn's variable with further options.
const CommandVariable = "GUNICORN_CMD_ARGS"

// fromConfig reads the configuration file.
func (s *Setup) fromConfig(h host.Host, p *process, config, folder string) error {
	path, err := s.findConfig(h, p, config, folder)
	if path == "" || err != nil {
		return err
	}
	text, err := h.Read(path)
	if err != nil {
		return fmt.Errorf("reading the configuration of %s: %w", s.Server, err)
	}
	s.Config = path
	s.readConfig(string(text), p.env)
	return nil
}

// readConfig takes the settings of a configuration file.
func (s *Setup) readConfig(text string, env map[string]string) {
	f := forms[s.Server]
	if e, n := find(scripted(s.Server, text), f.workers); n > 1 && s.Server == PM2 {
		s.Workers = Setting{0, File, ""} // of several apps
	} else if n > 0 {
		s.Workers = e.followed(text).setting(env)
	}
	if e, n := find(text, f.threads); n > 0 {
		_, most := e.most()
		s.Threads = most.followed(text).setting(env)
	}
}

// setting is the setting that an expression of a configuration file makes.
func (e entry) setting(env map[string]string) Setting {
	n, name := e.value(env)
	if name != "" {
		return Setting{n, Variable, name}
	}
	return Setting{n, File, ""}
}

// findConfig finds the configuration file: the one that is known, that of the command
// line, or one of the names that the server looks for.
func (s *Setup) findConfig(h host.Host, p *process, config, folder string) (string, error) {
	if config != "" {
		return config, nil
	}
	in := func(path string) string {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.dir, path)
		}
		return filepath.Clean(path)
	}
	words, _ := Words(p.env[CommandVariable])
	for _, args := range [][]string{p.args, words} {
		if _, _, path, ok := option(args, options[s.Server].config); ok && !strings.Contains(path, ":") && path != "-" {
			return in(path), nil
		}
	}
	for _, dir := range slices.Compact([]string{p.dir, folder}) {
		for _, name := range s.usualConfigs(p.env) {
			if dir == "" {
				continue
			}
			_, err := h.Stat(filepath.Join(dir, name))
			if err == nil {
				return filepath.Join(dir, name), nil
			} else if !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("looking for the configuration of %s: %w", s.Server, err)
			}
		}
	}
	return "", nil
}

// usualConfigs are the names of configuration files, relative to the working folder.
// puma.rb is one that must be named on the command line, which puma overwrites.
func (s *Setup) usualConfigs(env map[string]string) []string {
	switch s.Server {
	case Gunicorn:
		return []string{"gunicorn.conf.py"}
	case Puma:
		mode := env["RACK_ENV"]
		if mode == "" || strings.ContainsAny(mode, "/.") {
			mode = "development"
		}
		return []string{"config/puma/" + mode + ".rb", "config/puma.rb", "puma.rb"}
	case PM2:
		return []string{"ecosystem.config.js", "ecosystem.config.cjs", "ecosystem.json", "ecosystem.config.json"}
	}
	return nil
}
