package target

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/iikanji/iikanji"
)

// maxSize is the maximum size of the file, in bytes.
const maxSize = 1 << 20

// Find returns the path of the file that a name on the command line means: the
// file itself, or the one in the folder of that name. ok is false if there is none.
func Find(name string) (path string, ok bool) {
	info, err := os.Stat(name)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		name = filepath.Join(name, Name)
		if info, err = os.Stat(name); err != nil {
			return "", false
		}
	} else if filepath.Ext(name) != ".toml" {
		return "", false
	}
	path, err = filepath.Abs(name)
	return path, err == nil && info.Mode().IsRegular()
}

// Load reads a file. Mistakes in it are an *Error.
func Load(path string) (*File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxSize {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxSize)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the target: %w", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrPermission) {
			hint = " (run iikanji as the user that may read it)"
		}
		return nil, fmt.Errorf("reading the target: %w%s", err, hint)
	}
	return Parse(path, b)
}

// Parse reads the text of a file. Relative paths in it are relative to its folder.
func Parse(path string, text []byte) (*File, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as some editors write it
	f := &File{}
	// The syntax first: a checker needs a text that is TOML.
	var any map[string]any
	if err := toml.Unmarshal(text, &any); err != nil {
		return nil, &Error{path, []Problem{syntax(err)}}
	}
	c := &checker{}
	c.check(text)
	if len(c.problems) == 0 {
		if err := toml.Unmarshal(text, f); err != nil {
			return nil, &Error{path, []Problem{syntax(err)}}
		}
		f.Path = path
		f.fill()
		c.rules(f)
	}
	if len(c.problems) > 0 {
		slices.SortStableFunc(c.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, &Error{path, c.problems}
	}
	return f, nil
}

// syntax is the problem of a text that is no TOML.
func syntax(err error) Problem {
	var at *toml.DecodeError
	if !errors.As(err, &at) {
		return Problem{Text: clean(err.Error())}
	}
	line, _ := at.Position()
	return Problem{Line: line, Text: clean(at.Error()), Hint: "see https://toml.io for the syntax; texts stand in quotes"}
}

// fill makes paths absolute and fills in defaults that depend on the file's place.
func (f *File) fill() {
	dir := filepath.Dir(f.Path)
	f.Site = cmp.Or(f.Site, filepath.Base(dir))
	absolute := func(paths ...*string) {
		for _, p := range paths {
			if *p != "" && !filepath.IsAbs(*p) {
				*p = filepath.Join(dir, *p)
			}
		}
	}
	for i := range f.Services {
		s := &f.Services[i]
		absolute(&s.Socket, &s.PIDFile, &s.Program, &s.Config, &s.DropIn, &s.Public,
			&s.Logs.Access, &s.Logs.Error, &s.Logs.Slow, &s.Logs.Output, &s.App.Source)
		for j := range s.Database.Loads {
			absolute(&s.Database.Loads[j])
		}
		for j := range s.Database.Files {
			absolute(&s.Database.Files[j])
		}
		absolute(&s.Database.Originals)
	}
	for i := range f.Policy.Folders {
		if _, _, far := onHost(f.Policy.Folders[i]); !far {
			absolute(&f.Policy.Folders[i])
		}
	}
	f.fillHosts(absolute)
	f.Bench.Dir = cmp.Or(f.Bench.Dir, dir)
	absolute(&f.Bench.Dir)
}

// Target is the site in iikanji's own words, without processes.
func (f *File) Target() iikanji.Target {
	t := iikanji.Target{Name: f.Site, Bench: iikanji.BenchRef{URL: f.URL, ParameterFile: f.ParameterPath(), Resets: f.Bench.Reset.How == ResetCommand || f.Bench.Reset.How == ResetSnapshot}, Policy: iikanji.Policy{Allow: f.Policy.Allows(), MaxAge: time.Duration(f.Policy.MaxAge), Fixed: f.Policy.Fixed, ScoreOnly: f.Policy.Cost == "undo", AgentsChange: f.Policy.Agents == "change", Robots: f.Policy.Robots, MoreHosts: f.Policy.Profile == Contest}}
	for i := range f.Hosts {
		h, name := &f.Hosts[i], f.HostRef(f.Hosts[i].Name)
		if len(h.Roles) > 0 {
			if t.Roles == nil {
				t.Roles = map[string][]iikanji.Role{}
			}
			t.Roles[name] = h.Roles
		}
		if h.Here() {
			t.Private = h.Private
		} else {
			t.Hosts = append(t.Hosts, iikanji.HostRef{Name: h.Name, Address: h.Address, Private: h.Private})
		}
	}
	for i := range f.Services {
		s := f.Services[i].service()
		s.Instances, s.Spare = f.hostRefs(s.Instances), f.hostRefs(s.Spare)
		t.Services = append(t.Services, s)
	}
	return t
}

func (s *Service) service() iikanji.Service {
	out := iikanji.Service{Name: s.Name, Role: s.Role, Engine: s.Engine, Host: s.Host, Address: s.Listen, Socket: s.Socket,
		Schema: s.Database.Schema, Unit: s.Unit, Files: s.Database.Files, Instances: s.Instances, Spare: s.Spare}
	if s.Config != "" {
		out.Configs = []string{s.Config}
	}
	for _, l := range []iikanji.Log{{Kind: "access", Path: s.Logs.Access}, {Kind: "error", Path: s.Logs.Error},
		{Kind: "slow", Path: s.Logs.Slow}, {Kind: "output", Path: s.Logs.Output}} {
		if l.Path != "" {
			out.Logs = append(out.Logs, l)
		}
	}
	return out
}
