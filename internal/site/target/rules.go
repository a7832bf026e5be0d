package target

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// at adds a problem at the line of a key, or of the nearest table around it.
func (c *checker) at(path, hint, format string, args ...any) {
	line := 0
	for p := path; line == 0 && p != ""; {
		line = c.lines[p]
		i := strings.LastIndexByte(p, '.')
		p = p[:max(i, 0)]
	}
	c.problems = append(c.problems, Problem{line, clean(fmt.Sprintf(format, args...)), hint})
}

var serviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// rules checks what the type of a key cannot express.
func (c *checker) rules(f *File) {
	if f.Version > Version {
		c.at("version", "use the newer iikanji that wrote it", "version is %d; this iikanji reads up to %d", f.Version, Version)
		return
	}
	if u, err := url.Parse(f.URL); f.ProgramOnly() && f.URL == "" {
		// a command with parameters needs no site
	} else if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		c.at("url", `write url = "http://127.0.0.1:8080" above all tables`, "url is %q; want http://HOST[:PORT] or https://HOST[:PORT]", f.URL)
	}
	if len(f.Services) == 0 && !f.ProgramOnly() {
		c.at("service", "iikanji init writes them; a program without services has [[bench.parameter]]", "there is no [[service]]")
	}
	c.hosts(f)
	seen := map[string]bool{}
	for i := range f.Services {
		c.service(f, &f.Services[i], "service."+strconv.Itoa(i+1), seen)
	}
	c.bench(&f.Bench)
	c.contest(f)
}

func (c *checker) service(f *File, s *Service, path string, seen map[string]bool) {
	switch {
	case !serviceName.MatchString(s.Name):
		c.at(path+".name", "letters, digits, and . _ - inside", "name of a service is %q", s.Name)
	case seen[s.Name]:
		c.at(path+".name", "", "two services are called %q", s.Name)
	}
	seen[s.Name] = true
	if s.Role == iikanji.RoleUnknown {
		c.at(path+".role", `write role = "app"`, "service %q has no role", s.Name)
	}
	c.files(s, path)
	if !s.InFiles() && s.Unit == "" && s.Listen == "" && s.Socket == "" && s.PIDFile == "" && s.Program == "" {
		c.at(path, "give one of unit, listen, socket, pid_file or program", "nothing tells which process is the service %q", s.Name)
	}
	if s.Listen != "" {
		if _, port, err := net.SplitHostPort(s.Listen); err != nil || !isPort(port) {
			c.at(path+".listen", `write listen = "127.0.0.1:8080"`, "listen is %q; want HOST:PORT", s.Listen)
		}
	}
	c.placed(f, s, path)
	c.restart(s, path)
	if _, err := ParseHealth(s.Health); err != nil {
		c.at(path+".health", "", "health: %v", err)
	}
	if service, _ := s.Database.Password.Service(); service != "" {
		if _, ok := f.Service(service); !ok {
			c.at(path+".database.password", "", "password refers to the service %q, which is not in this file", service)
		}
	}
}

// files checks the keys of a service that is SQLite files.
func (c *checker) files(s *Service, path string) {
	switch {
	case s.InFiles() && s.Role != iikanji.RoleDatabase:
		c.at(path+".role", `write role = "database"`, "service %q is of engine sqlite and no database", s.Name)
	case s.InFiles() && len(s.Database.Files) == 0:
		c.at(path+".database", `write files = ["/srv/shop/data"] below [service.database]`, "service %q is of engine sqlite and names no folder with its files", s.Name)
	case !s.InFiles() && (len(s.Database.Files) > 0 || s.Database.Originals != ""):
		c.at(path+".database.files", `write engine = "sqlite", or leave files and originals out`, "service %q names files and is not of engine sqlite", s.Name)
	}
}

// restart checks the ways to restart against what they need.
func (c *checker) restart(s *Service, path string) {
	commands := s.Commands.Restart != "" || s.Commands.Start != "" && s.Commands.Stop != ""
	switch {
	case s.Restart == ByUnit && s.Unit == "":
		c.at(path+".restart", `write unit = "NAME.service"`, "restart is by the unit, and unit is not given")
	case s.Method() == ByCommand && !commands:
		c.at(path+".restart", "give commands.restart, or both commands.start and commands.stop", "service %q is restarted by commands that are not given", s.Name)
	}
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

func (c *checker) bench(b *Bench) {
	for key, text := range map[string]string{"load_begins": b.LoadBegins, "load_ends": b.LoadEnds} {
		if _, err := regexp.Compile(text); err != nil {
			c.at("bench."+key, "", "%s: %v", key, err)
		}
	}
	switch {
	case b.Reset.How == ResetCommand && b.Reset.Command == "":
		c.at("bench.reset.how", `write command = "./reset.sh" below [bench.reset]`, "reset is by a command that is not given")
	case b.Reset.How != ResetCommand && b.Reset.Command != "":
		c.at("bench.reset.command", `write how = "command"`, "reset has a command that is never run")
	}
	if b.MaxRuns < 0 {
		c.at("bench.max_runs", "0 means no limit", "max_runs is %d", b.MaxRuns)
	}
	if b.RunsLeft < 0 {
		c.at("bench.runs_left", "0 means no limit", "runs_left is %d", b.RunsLeft)
	}
	c.parameters(b.Parameters)
	for i, m := range b.Messages {
		path := "bench.message." + strconv.Itoa(i+1) + ".match"
		if _, err := regexp.Compile(m.Match); err != nil {
			c.at(path, "", "match: %v", err)
		} else if m.Match == "" {
			c.at(path, `write match = "the words of the line"`, "match of a [[bench.message]] is not given")
		}
	}
	if b.LoadEnds != "" && b.LoadBegins == "" {
		c.at("bench.load_ends", "give load_begins too", "load_ends is given without load_begins")
	}
}
