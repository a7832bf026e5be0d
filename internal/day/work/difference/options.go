package difference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// optionReader returns the database server that reads a file.
func (c *comparer) optionReader(name string) *state.Service {
	for i := range c.now.Services {
		if s := &c.now.Services[i]; s.Engine.MySQLFamily() && (slices.Contains(s.Reads, name) || s.Config == name) {
			return s
		}
	}
	return nil
}

// database returns the one database server of the host; nil if there is none or several.
func (c *comparer) database() *state.Service {
	var found *state.Service
	for i := range c.now.Services {
		if s := &c.now.Services[i]; s.Engine.MySQLFamily() {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

// serverSections are the sections of an option file that a server reads.
var serverSections = []string{"[mysqld]", "[mariadbd]", "[mariadb]", "[server]", "[galera]"}

func isServerSection(section string) bool {
	return slices.Contains(serverSections, section) || strings.HasPrefix(section, "[mariadb-") || strings.HasPrefix(section, "[mysqld-") || strings.HasPrefix(section, "[mariadbd-")
}

// options reads an option file: all settings, and those of the server by the names of its
// variables.
func options(text []byte) (all []setting, server map[string]string) {
	section := ""
	server = map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section = line
			continue
		}
		name, value, has := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		value = strings.TrimSpace(value)
		if before, _, comment := strings.Cut(value, " #"); comment {
			value = strings.TrimSpace(before)
		}
		value = strings.Trim(value, `"'`)
		if !strings.HasPrefix(name, "!") {
			name = strings.ReplaceAll(name, "-", "_")
		}
		place := section
		if isServerSection(section) {
			place = ""
			variable, is := strings.TrimPrefix(name, "loose_"), value
			if off, ok := strings.CutPrefix(variable, "skip_"); ok && !has && off != "name_resolve" && off != "networking" {
				variable, is = off, "OFF"
			} else if off, ok := strings.CutPrefix(variable, "disable_"); ok && !has {
				variable, is = off, "OFF"
			} else if !has {
				is = "ON"
			}
			server[variable] = is
		}
		all = append(all, setting{place, name, value})
	}
	return all, server
}

// normal is a value of a variable in one spelling: sizes in bytes, ON and OFF.
func normal(value string) string {
	value = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"'`))
	switch value {
	case "on", "true", "yes":
		return "1"
	case "off", "false", "no":
		return "0"
	}
	if n := len(value); n > 1 {
		if shift, ok := map[byte]int{'k': 10, 'm': 20, 'g': 30, 't': 40}[value[n-1]]; ok {
			if number, err := strconv.ParseInt(value[:n-1], 10, 64); err == nil && number >= 0 && number < 1<<(62-shift) {
				return strconv.FormatInt(number<<shift, 10)
			}
		}
		value = strings.TrimSuffix(value, "/")
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil && number < 1e15 && number > -1e15 {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return value
}

// optionFile compares the settings of an option file with each other and with the
// running server.
func (c *comparer) optionFile(e *Edit, now state.File, before, after []byte) {
	e.Kind = Option
	oldAll, old := options(before)
	nowAll, is := options(after)
	e.Names = listed(oldAll, nowAll)
	s := c.optionReader(now.Path)
	if s == nil && now.Class != "" {
		if s = c.database(); s != nil && len(s.Reads) > 0 && len(e.Names) > 0 {
			e.Service, e.Warning, e.Why = s.Name, NotLoaded, s.Name+" does not read this file"
		}
		return
	}
	if s == nil {
		if s = c.database(); s == nil {
			return
		}
	}
	e.Service = s.Name
	effective := c.optionsOf(s)
	for _, name := range keysOf(old, is) {
		was, had := old[name]
		value, has := is[name]
		if had && has && normal(was) == normal(value) {
			continue
		}
		c.explain(s.Name + "/@@" + name)
		live, known := s.Variables[name]
		last, set := effective[name]
		if set && (!has || normal(last) != normal(value)) {
			value, has = last, true // another file is read later
		}
		if !known || has && normal(live.Value) == normal(value) {
			continue
		}
		older := !s.Started.IsZero() && now.Changed.After(s.Started.Add(slack))
		if now.Class == "" {
			older = !s.Started.IsZero() && s.Started.Before(c.in.Base.At)
		}
		if older && c.keeps(s, name) {
			e.Warning, e.Why = NotLoaded, name+" is "+live.Value+" in the server, which was not restarted since"
		}
	}
}

// keeps reports whether the server's value is the one that it had in the first state: a
// new value that is not the file's was set by hand, or rounded by the server.
func (c *comparer) keeps(s *state.Service, name string) bool {
	base, ok := c.base.Service(s.Name)
	if !ok {
		return true
	}
	was, had := base.Variables[name]
	return !had || was.Value == s.Variables[name].Value
}

// optionsOf are the settings of all files that a server reads, the later ones counting.
func (c *comparer) optionsOf(s *state.Service) map[string]string {
	all := map[string]string{}
	for _, name := range s.Reads {
		f, ok := c.now.File(name)
		if !ok {
			continue
		}
		_, server := options(c.text(f))
		for name, value := range server {
			all[name] = value
		}
	}
	return all
}
