package stack

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// view is what the templates of a service see.
func (s *Stack) view(svc *arena.Service) arena.View {
	return arena.View{Places: s.places, Self: s.places.Service(svc.Name)}
}

// command renders the words of a command and finds its program.
func (s *Stack) command(svc *arena.Service, words []string, v arena.View) (path string, args []string, err error) {
	for i, word := range words {
		text, err := render(svc.Name+"'s command", word, v)
		if err != nil {
			return "", nil, err
		}
		if i == 0 {
			path = string(text)
		} else {
			args = append(args, string(text))
		}
	}
	if filepath.IsAbs(path) {
		return path, args, nil
	}
	found, ok := find(searchPath(s.options), path)
	if !ok {
		return "", nil, missing(path)
	}
	return found, args, nil
}

// render fills a template. A method of a view that panics, as for a service that
// the arena does not have, is an error here.
func render(name, text string, v arena.View) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading a template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("rendering a template: %w", err)
	}
	return b.Bytes(), nil
}

const configHead = "# Written by iikanji up. Edit it as you like: once edited it is kept as it is.\n# Delete it to have it written again.\n"

// config renders one configuration file of a service.
func (s *Stack) config(svc *arena.Service, c arena.Config) ([]byte, error) {
	text := c.Text
	if c.Template != "" {
		b, err := fs.ReadFile(s.arena.Files, c.Template)
		if err != nil {
			return nil, fmt.Errorf("reading the template of the %s config: %w", svc.Name, err)
		}
		text = string(b)
	}
	b, err := render(c.File, text, s.view(svc))
	if err != nil {
		return nil, fmt.Errorf("writing the %s config: %w", svc.Name, err)
	}
	return append([]byte(configHead), b...), nil
}

// baseEnv is the environment that every service gets. It is small and the same
// for all, so that a run does not depend on the caller's shell.
func (f folder) baseEnv(p programs) []string {
	env := []string{"PATH=" + p.path, "HOME=" + f.path(tmpDir), "TMPDIR=" + f.path(tmpDir), "LANG=C.UTF-8", "USER=" + f.as.name}
	if tz := os.Getenv("TZ"); tz != "" {
		env = append(env, "TZ="+tz)
	}
	return env
}

// some lists the first few names.
func some(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
