package difference

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// assignmentLine matches name = value, name: value and name value.
var assignmentLine = regexp.MustCompile(`^([A-Za-z_][\w.$/-]*)\s*(?:[=:]\s*|\s+)(.*)$`)

// maxNames is how many names of one file are listed.
const maxNames = 12

// assignments are the settings that differ in a text of an unknown language: its lines
// of name and value, each in its section.
func assignments(before, after []byte) []string {
	names := listed(assigned(before), assigned(after))
	if len(names) > maxNames {
		names = append(names[:maxNames:maxNames], "…")
	}
	return names
}

// assigned lists the lines of name and value. Other lines are their own names.
func assigned(text []byte) (all []setting) {
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsRune("#;", rune(line[0])) || strings.HasPrefix(line, "//") {
			continue
		}
		if line[0] == '[' && strings.HasSuffix(line, "]") {
			section = line
			continue
		}
		if m := assignmentLine.FindStringSubmatch(line); m != nil {
			all = append(all, setting{section, m[1], short(m[2])})
		} else {
			all = append(all, setting{section, short(line), ""})
		}
	}
	return all
}

// isEnv reports whether a file has variables of an environment by its name.
func isEnv(name string) bool {
	base := path.Base(name)
	return base == ".env" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env") || base == "env.sh" || base == "env" || name == "/etc/environment" ||
		path.Dir(name) == "/etc/default"
}

// variables reads NAME=value lines. Values are secrets until the contrary is known.
func variables(text []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || line[0] == '#' || name == "" || strings.ContainsAny(name, " \t\"'") {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		all[name] = value
	}
	return all
}

// envReader returns the service whose environment comes from a file.
func (c *comparer) envReader(name string) *state.Service {
	for i := range c.now.Services {
		if s := &c.now.Services[i]; slices.Contains(s.EnvFiles, name) {
			return s
		}
	}
	return nil
}

// envFile compares the variables of a file by their names: values are never shown.
func (c *comparer) envFile(e *Edit, now state.File, before, after []byte) {
	e.Kind = Environment
	old, is := variables(before), variables(after)
	s := c.envReader(now.Path)
	if s == nil {
		s = c.sourceOf(now.Path)
	}
	for _, name := range keysOf(old, is) {
		was, had := old[name]
		value, has := is[name]
		switch {
		case had && has && was == value:
			continue
		case !had:
			e.Names = append(e.Names, name+" (new)")
		case !has:
			e.Names = append(e.Names, "− "+name)
		default:
			e.Names = append(e.Names, name)
		}
		if s == nil {
			continue
		}
		c.explain(s.Name + "/env/" + name)
		if live, running := s.Env[name]; running && slices.Contains(s.EnvFiles, now.Path) && has && live == c.in.Keyed([]byte(value)) {
			continue // the process has this value
		}
		if !s.Started.IsZero() && (now.Class == "" && s.Started.Before(c.in.Base.At) || now.Changed.After(s.Started.Add(slack))) {
			e.Warning, e.Why = NotLoaded, s.Name+" was not restarted since"
		}
	}
	if s != nil {
		e.Service = s.Name
	}
}

// unitFile compares the settings of a unit.
func (c *comparer) unitFile(e *Edit, now state.File, before, after []byte) {
	e.Kind, e.Names = Unit, assignments(before, after)
	unit := path.Base(now.Path)
	if dir := path.Base(path.Dir(now.Path)); strings.HasSuffix(dir, ".d") {
		unit = strings.TrimSuffix(dir, ".d")
	}
	if c.now.Units[unit].Stale {
		e.Warning, e.Why = NotLoaded, "systemctl daemon-reload was not run"
		return
	}
	for i := range c.now.Services {
		s := &c.now.Services[i]
		if s.Unit != unit {
			continue
		}
		e.Service = s.Name
		if !s.Started.IsZero() && now.Changed.After(s.Started.Add(slack)) {
			e.Warning, e.Why = NotLoaded, s.Name+" was not restarted since"
		}
	}
}

// sysctlFile compares the kernel values of a file.
func (c *comparer) sysctlFile(e *Edit, before, after []byte) {
	e.Kind, e.Names = Sysctl, assignments(before, after)
	old, is := sysctls(before), sysctls(after)
	for _, name := range keysOf(old, is) {
		value, has := is[name]
		if was, had := old[name]; had && has && was == value {
			continue
		}
		live, known := c.now.Sysctl[name]
		switch {
		case !known:
		case has && live != value:
			e.Warning, e.Why = NotLoaded, name+" is "+live+" in the kernel: sysctl --system was not run"
		default:
			c.explain("sysctl/" + name)
		}
	}
}

// sysctls reads the settings of a file of sysctl.d.
func sysctls(text []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "-")
		name, value, ok := strings.Cut(line, "=")
		if !ok || line[0] == '#' || line[0] == ';' {
			continue
		}
		all[strings.ReplaceAll(strings.TrimSpace(name), "/", ".")] = strings.Join(strings.Fields(value), " ")
	}
	return all
}
