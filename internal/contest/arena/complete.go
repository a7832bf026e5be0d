package arena

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// with returns the arena with the services and the ladder of a variant. The arena's
// ladder is not the variant's: its rungs are patches of the arena's own app. Nor are the
// commands, which stand beside the services: one arena has each, so that its name alone
// calls it.
func (a *Arena) with(v Variant) *Arena {
	out := *a
	out.Name, out.Services, out.Variants = a.variantName(v), replaced(a.Services, v.Services), nil
	out.Ladder, out.HostsLadder, out.Commands = v.Ladder, nil, nil
	if v.Summary != "" {
		out.Summary = v.Summary
	}
	return &out
}

// TLSName is the name of an arena over TLS. ok is false if it has none.
func TLSName(name string) (tls string, ok bool) {
	tls = name + "-tls"
	_, ok = Find(tls)
	return tls, ok
}

// overTLS returns the arena with an entry that speaks HTTPS. It has no ladder: the
// arena's is the same.
func (a *Arena) overTLS() *Arena {
	out := *a
	out.Name, out.Services, out.Variants = a.Name+"-tls", slices.Clone(a.Services), nil
	out.Ladder, out.HostsLadder, out.Commands = nil, nil, nil
	for i := range out.Services {
		s := &out.Services[i]
		s.TLS = s.Name == a.Entry || a.Entry == "" && s.Role == iikanji.RoleWeb
	}
	return &out
}

func (a *Arena) variantName(v Variant) string { return a.Name + "-" + v.Name }

// Targets returns the names of the arena and of its variants, its own first.
func (a *Arena) Targets() []string {
	names := []string{a.Name}
	for _, v := range a.Variants {
		names = append(names, a.variantName(v))
	}
	if a.TLS {
		names = append(names, a.Name+"-tls")
	}
	return names
}

// replaced returns the services with some replaced by those of their names. A
// service of a new name is added behind the last one of its role, so that both
// start and stop together.
func replaced(services, by []Service) []Service {
	out := slices.Clone(services)
	for _, s := range by {
		if i := slices.IndexFunc(out, func(o Service) bool { return o.Name == s.Name }); i >= 0 {
			out[i] = s
			continue
		}
		at := len(out)
		for i, o := range out {
			if o.Role == s.Role {
				at = i + 1
			}
		}
		out = slices.Insert(out, at, s)
	}
	return out
}

// Complete returns the arena with the defaults of the engines in the empty
// fields of its services, or an error for a service that cannot be started or
// would share a file with another one.
func (a *Arena) Complete() (*Arena, error) {
	full := *a
	full.Services = slices.Clone(a.Services)
	for i := range full.Services {
		full.Services[i].complete()
	}
	if full.Entry == "" {
		full.Entry = onlyWeb(full.Services)
	}
	if err := full.check(); err != nil {
		return nil, fmt.Errorf("arena %s: %w", a.Name, err)
	}
	return &full, nil
}

// onlyWeb returns the name of the service of role web, "" unless there is one.
func onlyWeb(services []Service) string {
	name := ""
	for _, s := range services {
		if s.Role == iikanji.RoleWeb {
			if name != "" {
				return ""
			}
			name = s.Name
		}
	}
	return name
}

// Service returns the service of a name, nil if there is none.
func (a *Arena) Service(name string) *Service {
	for i := range a.Services {
		if a.Services[i].Name == name {
			return &a.Services[i]
		}
	}
	return nil
}

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
	folderForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,30}$`)
)

// reserved are the entries of a work folder that no service may have as its
// data folder.
var reserved = []string{"lock", "webapp", "data", "conf", "bin", "log", "run", "tmp", "old", "history"}

// check refuses services that cannot be started or that would share a file.
func (a *Arena) check() error {
	if entry := a.Service(a.Entry); entry == nil || !entry.IsProcess() || entry.NoPort {
		return errors.New("name the service with a port that clients send their requests to, Entry")
	}
	users := map[string]string{} // service by file
	for i := range a.Services {
		s := &a.Services[i]
		if !nameForm.MatchString(s.Name) {
			return fmt.Errorf("%q is not a name for a service: want lower-case letters, digits and -", s.Name)
		}
		if a.Service(s.Name) != s {
			return fmt.Errorf("two services are called %s", s.Name)
		}
		if s.Backend != "" {
			if b := a.Service(s.Backend); b == nil || !b.IsProcess() || b.NoPort {
				return fmt.Errorf("service %s: its backend %q is not a service with a port", s.Name, s.Backend)
			}
		}
		if s.Data != "" && (!folderForm.MatchString(s.Data) || slices.Contains(reserved, s.Data)) {
			return fmt.Errorf("service %s: %q cannot be its data folder", s.Name, s.Data)
		}
		for _, file := range s.files() {
			if !plain(file) {
				return fmt.Errorf("service %s: %q is not a path inside its folder", s.Name, file)
			}
			if other, taken := users[file]; taken {
				return fmt.Errorf("services %s and %s share %s", other, s.Name, file)
			}
			users[file] = s.Name
		}
	}
	return nil
}

// plain reports whether a path stays in its folder and has no characters that
// configurations would have to quote.
func plain(file string) bool {
	return path.Clean("/"+file) == "/"+file && !strings.ContainsAny(file, " \t\r\n\"'\\;{}$#")
}

// files are the names that only one service may use, each with its folder.
func (s *Service) files() []string {
	out := map[string]bool{}
	add := func(folder, file string) {
		if file != "" {
			out[folder+"/"+file] = true
		}
	}
	for _, c := range s.Configs {
		add("conf", c.File)
	}
	for _, l := range s.Logs {
		add("log", l.File)
	}
	if s.IsProcess() {
		add("log", s.Output)
	}
	if process.EngineOf(s.Engine).InitSQL {
		add("conf", s.InitSQL())
	}
	add("conf", s.DropIns)
	add("work", s.Data)
	add("run", s.Socket)
	return slices.Sorted(maps.Keys(out))
}

// complete fills the empty fields with the defaults of the engine.
func (s *Service) complete() {
	e := process.EngineOf(s.Engine)
	if fill, ok := defaults[s.Engine]; ok {
		fill(s)
	}
	if s.Start == nil {
		s.Start = slices.Clone(e.Start)
	}
	if s.Check == nil {
		s.Check = slices.Clone(e.Check)
	}
	if s.Stop == nil {
		s.Stop = slices.Clone(e.Stop)
	}
	if s.Ready.Path == "" && s.Ready.Send == "" && s.Ready.Expect == "" {
		s.Ready.Path, s.Ready.Send, s.Ready.Expect = e.Path, e.Send, e.Expect
	}
	s.Configs = slices.Clone(s.Configs)
	for i := range s.Configs {
		or(&s.Configs[i].File, s.Name+".conf")
	}
	or(&s.Dir, s.Source)
	or(&s.Output, s.Name+".log")
	if s.Logs == nil && s.IsProcess() {
		s.Logs = []Log{{"output", s.Output}}
	}
	if s.Ready.Path == "" && s.Ready.Send == "" && s.Ready.Expect == "" && s.Role == iikanji.RoleApp && !s.NoPort {
		s.Ready.Path = "/"
	}
	if s.Ready.Wait == 0 {
		s.Ready.Wait = waits[s.Role]
	}
	if s.Stop == nil {
		s.Stop = []Stop{{Signal: syscall.SIGTERM, Wait: 3 * time.Second}}
	}
	if !s.IsProcess() {
		s.NoPort = true
	}
}

// or sets an empty text.
func or(text *string, to string) {
	if *text == "" {
		*text = to
	}
}

// waits limit the time until a service of a role is up. A database that was
// killed first recovers from its redo log; an app may wait for its database.
var waits = map[iikanji.Role]time.Duration{
	iikanji.RoleUnknown: 30 * time.Second, iikanji.RoleApp: 30 * time.Second, iikanji.RoleCache: 30 * time.Second,
	iikanji.RoleQueue: 30 * time.Second, iikanji.RoleDatabase: 90 * time.Second, iikanji.RoleWeb: 10 * time.Second,
}

// defaults by engine. A service of another engine needs at least Start.
var defaults = map[iikanji.Engine]func(*Service){
	iikanji.EngineMariaDB:   mariaDB,
	iikanji.EngineNginx:     nginx,
	iikanji.EngineGo:        goProgram,
	iikanji.EngineMemcached: memcached,
	iikanji.EngineRedis:     redis,
	iikanji.EngineVarnish:   varnish,
}

// goProgram builds package main of the source folder.
func goProgram(s *Service) {
	if s.Build == nil && s.Source != "" {
		s.Build = []string{"go", "build", "-mod=readonly", "-buildvcs=false", "-o", "{{.Out}}", "."}
	}
}

// nginx has drop-ins and two logs.
func nginx(s *Service) {
	or(&s.DropIns, s.Name+".d")
	if s.Logs == nil {
		s.Logs = []Log{{"access", s.Name + "-access.log"}, {"error", s.Name + "-error.log"}}
	}
}

// mariaDB has a data folder, a socket and a configuration of its own.
func mariaDB(s *Service) {
	or(&s.Data, s.Name)
	or(&s.Socket, s.Name+".sock")
	or(&s.DropIns, s.Name+".d")
	or(&s.Output, s.Name+".log")
	if s.Configs == nil {
		s.Configs = []Config{{}}
	}
	s.Configs = slices.Clone(s.Configs)
	or(&s.Configs[0].File, s.Name+".cnf")
	if s.Configs[0].Template == "" {
		or(&s.Configs[0].Text, mariaDBConf(s.Database.Conf))
	}
	if s.Logs == nil {
		s.Logs = []Log{{"error", s.Output}, {"slow", s.Name + "-slow.log"}}
	}
}

// InitSQL is the file in conf with the SQL that a MariaDB executes at each
// start, before it accepts connections. Package stack writes it.
func (s *Service) InitSQL() string { return s.Name + "-init.sql" }

// mariaDBConf is the template of MariaDB's main configuration: first the places,
// then the contest's settings.
func mariaDBConf(settings string) string {
	return `[mariadbd]
datadir = {{.Self.Data}}
socket = {{.Self.Socket}}
bind-address = 127.0.0.1
port = {{.Self.Port}}
pid-file = {{.Run}}/{{.Self.Name}}.pid
tmpdir = {{.Tmp}}
init-file = {{.Conf}}/{{.Self.Name}}-init.sql
slow-query-log-file = {{.Self.Log "slow"}}

# The contest's.
` + strings.NewReplacer("{{", `{{"{{"}}`).Replace(strings.TrimRight(settings, "\n")) + `

!includedir {{.Self.DropIns}}
`
}
