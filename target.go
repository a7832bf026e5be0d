package iikanji

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Target is the site to tune: its hosts, its services, how to load it, and
// which promises may be weakened.
type Target struct {
	Name     string    `json:"name"`
	Hosts    []HostRef `json:"hosts"`
	Services []Service `json:"services"`
	// OnDemand are services that do not run, and that a change can start.
	OnDemand []Service `json:"on_demand,omitempty"`
	Bench    BenchRef  `json:"bench"`
	Policy   Policy    `json:"policy"`
	// UnitFolders hold systemd's unit files, in order of precedence; empty
	// means systemd's own search path.
	UnitFolders []string `json:"unit_folders,omitempty"`
	// Private is the IP address of this machine for the other hosts; empty: unknown.
	Private string `json:"private,omitempty"`
	// Roles are what may be placed on a host, by HostRef.Name; a host that is not in it takes
	// everything.
	Roles map[string][]Role `json:"roles,omitempty"`
}

// PrivateOf is the IP address of a host for the other ones, "" if it is unknown.
func (t Target) PrivateOf(host string) string {
	if host == "" {
		return t.Private
	}
	for _, h := range t.Hosts {
		if h.Name == host {
			return h.Private
		}
	}
	return ""
}

// Stays is why a service does not run on another host without a person, as far as the target
// shows it; "" if nothing does.
func (t Target) Stays(s Service, to string) string {
	switch {
	case s.Role == RoleWeb:
		return s.Name + " takes the clients' requests: they know its address, so that it stays where it is"
	case s.Engine == "postgresql":
		return s.Name + " is PostgreSQL, which is not moved yet"
	case s.Engine.Caches():
		return s.Name + " moves when a person asks for it (act move), who knows what its keys are"
	case !s.Engine.MySQLFamily():
		return s.Name + " is neither MariaDB nor MySQL: only these are moved"
	}
	return t.Refuses(s, to)
}

// Refuses is why a service that can move cannot run on another host; "" if nothing does.
func (t Target) Refuses(s Service, to string) string {
	switch {
	case s.Unit == "":
		return s.Name + " has no systemd unit, by which it could be stopped and started on each host"
	case len(s.Instances) > 0:
		return s.Name + " runs on several hosts already"
	}
	if roles := t.Roles[to]; len(roles) > 0 && !slices.Contains(roles, s.Role) {
		return fmt.Sprintf("the roles of %s do not have %s", to, s.Role)
	}
	for _, name := range []string{s.Host, to} {
		if known := slices.ContainsFunc(t.Hosts, func(h HostRef) bool { return h.Name == name }); (known || name == "") && t.PrivateOf(name) == "" {
			return fmt.Sprintf("the address of %s for the other hosts is not known: fill in private of its [[host]]", cmp.Or(name, "this machine"))
		}
	}
	return ""
}

// A HostRef names a machine. The empty Address is this machine.
type HostRef struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
	Private string `json:"private,omitempty"` // its IP address for the other hosts; empty: unknown
}

// A Role is what a service does for the site.
type Role uint8

const (
	RoleUnknown  Role = iota
	RoleWeb           // takes the clients' requests: a reverse proxy or an HTTP cache
	RoleApp           // computes the answers
	RoleDatabase      // keeps the data
	RoleCache         // keeps copies of data in memory
	RoleQueue         // keeps work for later
)

var roleWords = []string{"unknown", "web", "app", "database", "cache", "queue"}

func (r Role) String() string               { return wordOf(roleWords, r) }
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts the words that String prints.
func (r *Role) UnmarshalText(b []byte) error { return parseWord(roleWords, b, r, "role") }

// An Engine is the software that a service runs. The set is open: an engine
// without a constant here is observed by its processes and its logs only.
type Engine string

const (
	EngineNginx     Engine = "nginx"
	EngineVarnish   Engine = "varnish"
	EngineGo        Engine = "go"
	EngineNode      Engine = "node"
	EngineRuby      Engine = "ruby"
	EnginePython    Engine = "python"
	EngineMariaDB   Engine = "mariadb"
	EngineMySQL     Engine = "mysql"
	EngineSQLite    Engine = "sqlite"
	EngineRedis     Engine = "redis"
	EngineMemcached Engine = "memcached"
)

// MySQLFamily reports whether the engine has the protocol, the statements and
// the slow log of MySQL.
func (e Engine) MySQLFamily() bool { return e == EngineMariaDB || e == EngineMySQL }

// Caches reports whether the engine keeps keys in memory that its clients could do without, or
// that it writes to files by itself.
func (e Engine) Caches() bool { return e == EngineRedis || e == EngineMemcached }

// A Service is one running part of a target. A target has any number of
// services of one role and of one engine; the name is unique in the target.
type Service struct {
	Name    string   `json:"name"`
	Role    Role     `json:"role"`
	Engine  Engine   `json:"engine"`
	Host    string   `json:"host,omitempty"`    // HostRef.Name; empty: this machine
	Address string   `json:"address,omitempty"` // host:port that it listens on
	Socket  string   `json:"socket,omitempty"`  // path of the unix socket that it listens on
	Schema  string   `json:"schema,omitempty"`  // of a database: the schema that the site uses
	Configs []string `json:"configs,omitempty"`
	Files   []string `json:"files,omitempty"` // of SQLite: the folders with the files that the app has in use
	Logs    []Log    `json:"logs,omitempty"`
	PIDs    []int    `json:"pids,omitempty"` // of the root processes on Host, for reading only
	Unit    string   `json:"unit,omitempty"` // systemd unit, as in "app.service"; empty: the unit of its processes
	// Instances are further hosts that run it, Spare those that have it installed and do not
	// use it, by HostRef.Name.
	Instances []string `json:"instances,omitempty"`
	Spare     []string `json:"spare,omitempty"`
}

// A Process is a process id with the host that it is valid on.
type Process struct {
	Host string `json:"host,omitempty"` // HostRef.Name; empty: this machine
	PID  int    `json:"pid"`
}

// Processes are the root processes of the service.
func (s Service) Processes() []Process {
	out := make([]Process, 0, len(s.PIDs))
	for _, pid := range s.PIDs {
		out = append(out, Process{Host: s.Host, PID: pid})
	}
	return out
}

// LogPath is the path of the service's first log of a kind, "" for none.
func (s Service) LogPath(kind string) string {
	for _, l := range s.Logs {
		if l.Kind == kind {
			return l.Path
		}
	}
	return ""
}

// Service returns the service of a name.
func (t Target) Service(name string) (Service, bool) {
	i := slices.IndexFunc(t.Services, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, false
	}
	return t.Services[i], true
}

// WithRole returns the services of a role, in the target's order.
func (t Target) WithRole(role Role) []Service {
	return t.where(func(s Service) bool { return s.Role == role })
}

// WithEngine returns the services of any of the engines, in the target's order.
func (t Target) WithEngine(engines ...Engine) []Service {
	return t.where(func(s Service) bool { return slices.Contains(engines, s.Engine) })
}

func (t Target) where(keep func(Service) bool) []Service {
	var out []Service
	for _, s := range t.Services {
		if keep(s) {
			out = append(out, s)
		}
	}
	return out
}

// A Log is a file that a service writes.
type Log struct {
	Kind string `json:"kind"` // access, error, slow, output
	Path string `json:"path"` // on the service's host
}

// A BenchRef is the way to load a target: a scenario of an arena, or a command.
type BenchRef struct {
	Scenario string   `json:"scenario,omitempty"`
	URL      string   `json:"url,omitempty"`
	Command  []string `json:"command,omitempty"`
	// Resets: the data is put back before each run past the app.
	Resets bool `json:"resets,omitempty"`
	// Parameters are read by the loaded program from its environment, from ParameterFile.
	Parameters    []Parameter `json:"parameters,omitempty"`
	ParameterFile string      `json:"parameter_file,omitempty"`
}

// A Policy lists the promises that changes may weaken.
type Policy struct {
	Allow []Promise `json:"allow,omitempty"`
	// MaxAge is how old an answer may be where freshness may be weakened; 0 for no limit.
	MaxAge time.Duration `json:"max_age_ns,omitempty"`
	// Fixed are paths of files whose content never changes, so that MaxAge is no limit for
	// them; one that ends in / is a folder.
	Fixed []string `json:"fixed,omitempty"`
	// ScoreOnly undoes, before the last comparison of a search, what was kept for the work that
	// it saves without a proven gain.
	ScoreOnly bool `json:"score_only,omitempty"`
	// Robots are regular expressions of the User-Agents that the rules permit to refuse.
	Robots []string `json:"robots,omitempty"`
	// MoreHosts: the site may come to need more hosts than it does now, as in a contest.
	// Elsewhere such a change weakens Availability.
	MoreHosts bool `json:"more_hosts,omitempty"`
	// AgentsChange permits clients of the Model Context Protocol to apply, judge
	// and revert changes. Without it they may only read and observe.
	AgentsChange bool `json:"agents_change,omitempty"`
}

// Fixes reports whether the policy says of the files that a path names that they never change.
// A path is as remedies have it: a URL, or a folder that ends in /.
func (p Policy) Fixes(at string) bool {
	at = strings.TrimPrefix(at, "= ")
	if at == "" || at == "/" || path.Clean(at) != strings.TrimSuffix(at, "/") {
		return false
	}
	return slices.ContainsFunc(p.Fixed, func(f string) bool {
		return at == f || len(f) > 1 && strings.HasSuffix(f, "/") && strings.HasPrefix(at, f)
	})
}

// leastRenewed is how old an answer may become at least that a cache renews in the background:
// few requests may come.
const leastRenewed = 5 * time.Second

// RenewedAge is how old an answer may become that a cache keeps for a time and then renews in the
// background, while it sends the old one: two and a half times that, and 5 s at least.
func RenewedAge(kept time.Duration) time.Duration { return max(leastRenewed, 5*kept/2) }

// A Parameter is one setting of a program that is loaded or that loads.
type Parameter struct {
	Name  string `json:"name"`  // of its variable in the environment
	Value string `json:"value"` // at present
	// Declared is the value that it had before iikanji changed it.
	Declared string `json:"declared"`
	// Values are all that it may have, in an order that means nothing; none for an integer.
	Values []string `json:"values,omitempty"`
	// Least and Most are the bounds of an integer.
	Least int64 `json:"least,omitempty"`
	Most  int64 `json:"most,omitempty"`
}

// plainValue is a value that is one line without what a shell may take for more.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9._+:/,=@%-]{0,200}$`)

// Allows reports why a value is none of the parameter's; nil if it is one.
func (p *Parameter) Allows(value string) error {
	if !plainValue.MatchString(value) {
		return fmt.Errorf("%.40q has other characters than letters, digits and . _ + : / , = @ %% -", value)
	}
	if len(p.Values) > 0 {
		if !slices.Contains(p.Values, value) {
			return fmt.Errorf("%s is none of %s", value, strings.Join(p.Values, ", "))
		}
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is no integer", value)
	}
	if n < p.Least || n > p.Most {
		return fmt.Errorf("%d is not between %d and %d", n, p.Least, p.Most)
	}
	return nil
}
