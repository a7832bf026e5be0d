package livesite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/process"
)

// argsFile is the file with the command line that changes set for a service; "" where
// iikanji does not start the service itself.
func (s *Subject) argsFile(r *running) string {
	if s.envFile(r) == "" {
		return ""
	}
	return filepath.Join(s.envFolder(), r.Name+".args")
}

// originals are the values that changes have replaced in how a service is started, by the
// name of the variable; that of the command line, as JSON, has the name "". They are kept
// in a file, because a later process of iikanji finds the service with the changes.
type originals map[string]replaced

// A replaced is a value that changes have replaced.
type replaced struct {
	Was *string `json:"was"` // nil for a variable that was not set
	// Set are the values that changes have set. A service with another one was
	// restarted by another program since: what is found counts then.
	Set []string `json:"set"`
}

func (s *Subject) originalFile(r *running) string {
	return filepath.Join(s.envFolder(), r.Name+".original")
}

// specOf is how the process is started now: as it was found at first, with the
// variables and the command line that changes have set.
func (s *Subject) specOf(r *running) (process.Spec, error) {
	spec := r.origin.Spec
	if err := r.mayEnd(); err != nil {
		return spec, err
	}
	if s.envFile(r) == "" {
		return spec, nil
	}
	was, err := s.readOriginals(r)
	if err != nil {
		return spec, err
	}
	if spec, err = was.in(spec); err != nil {
		return spec, fmt.Errorf("reading how service %s was started: %w", r.Name, err)
	}
	r.origin.Spec = spec // the file may be gone at the next start
	variables, err := s.setVariables(r)
	if err != nil {
		return spec, err
	}
	args, err := s.setArguments(r)
	if err != nil {
		return spec, err
	}
	if len(variables) == 0 && args == nil {
		return spec, nil
	}
	if err := s.keepOriginals(r, was, spec, variables, args); err != nil {
		return spec, err
	}
	spec = spec.WithEnv(variables)
	if args != nil {
		spec.Args = args
	}
	return spec, nil
}

// setVariables are the variables that changes have set, as "K=V".
func (s *Subject) setVariables(r *running) ([]string, error) {
	b, err := os.ReadFile(s.envFile(r))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the variables of service %s: %w", r.Name, err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && strings.Contains(line, "=") {
			out = append(out, line)
		}
	}
	return out, nil
}

// setArguments is the command line that changes have set; nil without one.
func (s *Subject) setArguments(r *running) (args []string, err error) {
	b, err := os.ReadFile(s.argsFile(r))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &args)
	}
	if err == nil && len(args) == 0 {
		err = errors.New("it has no words")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the command line of service %s: %w", r.Name, err)
	}
	return args, nil
}

// readOriginals reads what changes have replaced; nothing if there is no file.
func (s *Subject) readOriginals(r *running) (was originals, err error) {
	b, err := os.ReadFile(s.originalFile(r))
	if errors.Is(err, os.ErrNotExist) {
		return originals{}, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil {
		return nil, fmt.Errorf("reading how service %s was started: %w", r.Name, err)
	}
	return was, nil
}

// in is a specification with the original values in place of those that changes have set.
func (o originals) in(spec process.Spec) (process.Spec, error) {
	if args, ok := o[""]; ok && args.Was != nil && slices.Contains(args.Set, asJSON(spec.Args)) {
		spec.Args = nil
		if err := json.Unmarshal([]byte(*args.Was), &spec.Args); err != nil {
			return spec, err
		}
	}
	var env []string
	for _, kv := range spec.Env {
		name, value, _ := strings.Cut(kv, "=")
		is, ok := o[name]
		switch {
		case !ok || name == "" || !slices.Contains(is.Set, value):
			env = append(env, kv)
		case is.Was != nil:
			env = append(env, name+"="+*is.Was)
		}
	}
	spec.Env = env
	return spec, nil
}

// keepOriginals keeps what the variables and a command line replace in a specification
// without changes.
func (s *Subject) keepOriginals(r *running, was originals, spec process.Spec, variables, args []string) error {
	keep := originals{}
	add := func(name, set string, now *string) {
		values := slices.Clone(was[name].Set)
		if !slices.Contains(values, set) {
			values = append(values, set)
		}
		keep[name] = replaced{now, values}
	}
	for _, kv := range variables {
		name, value, _ := strings.Cut(kv, "=")
		var now *string
		for _, old := range spec.Env {
			if n, v, _ := strings.Cut(old, "="); n == name {
				now = &v
			}
		}
		add(name, value, now)
	}
	if args != nil {
		now := asJSON(spec.Args)
		add("", asJSON(args), &now)
	}
	for name, is := range was { // of a change that was undone while the service was not started again
		if _, again := keep[name]; !again {
			keep[name] = is
		}
	}
	if err := s.hosts[""].Write(s.originalFile(r), []byte(asJSON(keep)+"\n"), 0o600); err != nil {
		return fmt.Errorf("keeping how service %s was started: %w", r.Name, err)
	}
	return nil
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: writing how a service is started: " + err.Error())
	}
	return string(b)
}

// forgetOriginals removes what was kept of a service that runs without changes again.
func (s *Subject) forgetOriginals(r *running) error {
	if s.envFile(r) == "" {
		return nil
	}
	variables, err := s.setVariables(r)
	if err != nil || len(variables) > 0 {
		return err
	}
	args, err := s.setArguments(r)
	if err != nil || args != nil {
		return err
	}
	if err := os.Remove(s.originalFile(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forgetting how service %s was started: %w", r.Name, err)
	}
	return nil
}
