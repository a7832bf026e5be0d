package target

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// Name is the name of the file.
const Name = "iikanji.toml"

// Version is the version of the format; readers refuse a larger one.
const Version = 1

// A File is the content of an iikanji.toml. Of each key, the tag toml is its
// name, help its description, words its possible values and example one value.
type File struct {
	Version  int       `toml:"version" help:"version of this format" example:"1"`
	Site     string    `toml:"name" help:"name of the site; default: the name of the folder of this file"`
	URL      string    `toml:"url" help:"address at which clients reach the site; needed where there are services" example:"http://127.0.0.1:8080"`
	Services []Service `toml:"service" help:"one running part of the site; one table per part; none where only a command with parameters is tuned"`
	Hosts    []Host    `toml:"host" help:"a machine of the site; one table per machine; none: all services run on this one"`
	Bench    Bench     `toml:"bench" help:"the site's benchmarker"`
	Policy   Policy    `toml:"policy" help:"what iikanji may change"`
	Team     Team      `toml:"team" help:"the people who work on the site"`
	Contest  Rules     `toml:"contest" help:"clock and rules of a contest"`

	// Path is the absolute path of the file, "" for one that was not read.
	Path string `toml:"-"`
}

// A Service is one running part of the site.
type Service struct {
	Name   string         `toml:"name" help:"name of the service, unique in this file" example:"web" need:"yes"`
	Role   iikanji.Role   `toml:"role" help:"what the service does for the site" words:"web,app,database,cache,queue" need:"yes"`
	Engine iikanji.Engine `toml:"engine" help:"software of the service, such as nginx, go, node, ruby, python, mariadb, mysql, sqlite, redis or memcached; others are observed by their processes and logs only" example:"nginx"`
	Host   string         `toml:"host" help:"name of its machine; default: this machine"`

	Instances []string `toml:"instances" help:"names of further machines that run it too, by the same unit"`
	Spare     []string `toml:"spare" help:"names of machines that have it installed, by the same unit, and do not use it"`

	Unit      string `toml:"unit" help:"systemd unit of the service" example:"app.service"`
	Listen    string `toml:"listen" help:"address at which the service listens; its process is found by it" example:"127.0.0.1:8080"`
	Socket    string `toml:"socket" help:"path of the unix socket at which the service listens; its process is found by it"`
	PIDFile   string `toml:"pid_file" help:"file with the id of the process; the process is found by it, and a restart writes the new id into it if the service does not"`
	Program   string `toml:"program" help:"path of the program; the process is found by it where nothing above is set"`
	Arguments string `toml:"arguments" help:"arguments of the program, joined by spaces, to tell processes of one program apart"`

	Config  string `toml:"config" help:"main configuration file" example:"/etc/nginx/nginx.conf"`
	DropIn  string `toml:"drop_in" help:"configuration file of a database for settings that iikanji makes; the server must read it last; it may not exist yet, and may be the same as config" example:"/etc/mysql/mariadb.conf.d/zz-iikanji.cnf"`
	Public  string `toml:"public" help:"folder of the files that the app serves unchanged"`
	Logs    Logs   `toml:"logs" help:"files that the service writes"`
	Restart How    `toml:"restart" help:"how the service is restarted: by its systemd unit, by the commands below, by ending its process and starting it again as it was found, or by ending its process only, which its own supervisor then starts again; default: command if commands are given, unit if a unit is, process otherwise" words:"unit,command,process,parent"`
	Health  string `toml:"health" help:"what answers when the service is ready: a URL (any answer below 500), tcp:HOST:PORT, unix:PATH, sql (SELECT 1), or none; default: sql for databases, otherwise a connection to listen or socket" example:"http://127.0.0.1:8080/healthz"`

	Commands Commands `toml:"commands" help:"commands for the service, each run by sh -c in the folder of this file"`
	Database Database `toml:"database" help:"how iikanji reaches the database"`
	App      App      `toml:"app" help:"source of the app"`
}

// Logs are the files that a service writes.
type Logs struct {
	Access string `toml:"access" help:"access log of a web server"`
	Error  string `toml:"error" help:"error log"`
	Slow   string `toml:"slow" help:"slow log of a database; it may not exist yet; of SQLite, the trace of its statements that the app writes, as JSON lines"`
	Output string `toml:"output" help:"file of the standard output"`
}

// Commands are shell commands for a service.
type Commands struct {
	Test    string `toml:"test" help:"checks the configuration; the path of the main file is in IIKANJI_CONFIG; default: known for nginx, MariaDB and MySQL"`
	Reload  string `toml:"reload" help:"makes the service read its configuration; default: known for nginx"`
	Start   string `toml:"start" help:"starts the service and returns"`
	Stop    string `toml:"stop" help:"ends the service"`
	Restart string `toml:"restart" help:"ends and starts the service; in place of stop and start"`
}

// A Database is how iikanji reaches a database server.
type Database struct {
	Schema    string   `toml:"schema" help:"schema that the site uses" example:"shop"`
	User      string   `toml:"user" help:"account for iikanji, with the rights to alter tables and to set global variables; default: the account that runs iikanji, by the socket and without a password"`
	Password  Ref      `toml:"password" help:"where the password is, never the password itself: env:NAME (environment of iikanji), process:SERVICE:NAME (environment of a running service), dsn:SERVICE:NAME (the password in a DSN in that variable), file:PATH:NAME (a line NAME=value of a file), source:PATH (the first connection with a password in a source file)" example:"process:app:DB_PASSWORD"`
	Loads     []string `toml:"schema_folders" help:"folders with the SQL files that the site's initialize loads; of SQLite, those that new files are made from"`
	Files     []string `toml:"files" help:"of engine sqlite: folders with the files that the app has in use; such a service has no process" example:"[\"/srv/shop/tenants\"]"`
	Originals string   `toml:"originals" help:"of engine sqlite: folder with the files that the site's initialize copies over those in use"`
}

// An App is the source of an app.
type App struct {
	Source  string `toml:"source" help:"folder of the source; of a Go app, that of its go.mod"`
	Package string `toml:"package" help:"Go package of the program, relative to source; default: ." example:"./cmd/app"`
	Build   string `toml:"build" help:"command that makes the program from the source, run by sh -c in source as the owner of source; default for Go: go build of package into program"`
}

// A Bench is the site's benchmarker.
type Bench struct {
	How        BenchHow          `toml:"how" help:"command: iikanji runs the command below; portal: a person presses a button elsewhere, iikanji sees the load in the access log and is given the score; default: command" words:"command,portal"`
	Command    string            `toml:"command" help:"command that loads the site once and prints its score, run by sh -c; IIKANJI_URL and IIKANJI_SECONDS are in its environment, and a command that uses IIKANJI_SECONDS can make short runs" example:"./bench --target http://127.0.0.1:8080"`
	Host       string            `toml:"host" help:"name of the machine that it runs on; default: this machine"`
	Dir        string            `toml:"dir" help:"folder in which it runs; default: that of this file"`
	Length     Duration          `toml:"length" help:"length of the load of one run; default: 60s" example:"60s"`
	Timeout    Duration          `toml:"timeout" help:"time after which a run is ended as failed; default: three times length, and two minutes more"`
	Tool       Tool              `toml:"tool" help:"known load tool whose output has the score; auto recognizes it; none leaves it to the keys below" words:"auto,none,k6,wrk,hey,oha,vegeta,ab,gotest"`
	Score      Pattern           `toml:"score" help:"where the score is in the output: json:PATH, or regex:EXPRESSION with one group; the last match counts" example:"json:result.score"`
	Pass       Pattern           `toml:"pass" help:"json:PATH of a value that is true, 1, pass, passed, ok or success in a run that counts, or regex:EXPRESSION that matches the output of such a run; default: the exit status alone decides"`
	Faults     Pattern           `toml:"faults" help:"messages of failed checks: json:PATH of a list, or regex:EXPRESSION with one group"`
	Exit       []int             `toml:"exit" help:"exit statuses of a run that counts; default: [0]"`
	LoadBegins string            `toml:"load_begins" help:"expression that matches the line of output with which the load begins; default: in the access log, the first request that is not the site's initialize, or 0.3 s after initialize"`
	LoadEnds   string            `toml:"load_ends" help:"the same for its end; default: the end of the command"`
	Initialize string            `toml:"initialize" help:"command that makes the site's data anew, as the benchmarker does before its load, for checks without load"`
	MaxRuns    int               `toml:"max_runs" help:"number of runs that may be made in all; 0 for no limit"`
	RunsLeft   int               `toml:"runs_left" help:"of a portal: number of runs that it still allows, counted from the moment when iikanji first reads this number; 0 for no limit"`
	LeastGap   Duration          `toml:"least_gap" help:"of a portal: least time between the end of a run and the next press" example:"60s"`
	Reset      Reset             `toml:"reset" help:"what happens before each run"`
	Within     Duration          `toml:"initialize_within" help:"how long initialize may take by the rules; default: the limit that the benchmarker prints" example:"30s"`
	Env        map[string]string `toml:"env" help:"further environment of the command"`
	Parameters []Parameter       `toml:"parameter" help:"setting that the command reads from its environment, which iikanji may change; one table per setting"`
	Messages   []Message         `toml:"message" help:"what lines of the benchmarker's output mean, before the table of usual words; one table per sort of line"`
}

// A Message is what lines of the benchmarker's output mean.
type Message struct {
	Match string          `toml:"match" help:"expression that matches the lines, without their time; its groups named route, value and limit are the request, the number and its limit of the line" example:"crowd level stays at (?P<value>[0-9]+)" need:"yes"`
	Means iikanji.Meaning `toml:"means" help:"what they mean: no-growth (the load did not grow when it could have), growth, timeout, stale (an answer older than allowed), wrong (an answer with the wrong content), error (status or connection), margin (how many errors there are, and how many fail the run), initialize, failed, or nothing; default: nothing" words:"no-growth,growth,timeout,stale,wrong,error,margin,initialize,failed,nothing"`
	Route string          `toml:"route" help:"request that they are about; default: the one that the line names" example:"GET /api/trend"`
}

// A Reset prepares the site's data before each run.
type Reset struct {
	How     ResetHow `toml:"how" help:"none: the benchmarker does it; command: by the command below; snapshot: iikanji copies the data once and puts the copy back" words:"none,command,snapshot"`
	Command string   `toml:"command" help:"command that makes the data anew, run by sh -c"`
	Method  Method   `toml:"method" help:"of a snapshot: copy (of the stopped server's data folder), dump (of the rows), or auto, which measures both once and takes the faster" words:"auto,copy,dump"`
}

// A Policy is what iikanji may change.
type Policy struct {
	Profile PolicyProfile     `toml:"profile" help:"one word for a list of promises that changes may weaken; the profiles are below" words:"production,staging,contest" example:"production"`
	Allow   []iikanji.Promise `toml:"allow" help:"further promises that changes may weaken: durability (committed data survive a crash), freshness (answers show the newest data), row-order (of queries without ORDER BY), observability (logs), availability (every request gets an answer), isolation (the statements of a transaction see one state of the data), tested-only (a rewrite of source needs a proof from the code itself; without it, equal answers to recorded requests suffice), behaviour (rules that the application decides by, such as a share that it drops)" words:"durability,freshness,row-order,observability,availability,isolation,tested-only,behaviour"`
	MaxAge  Duration          `toml:"max_age" help:"how old an answer may be where freshness may be weakened, as in 1s: a change that keeps answers longer, or for a time that is not known, is refused; default: no limit" example:"1s"`
	Fixed   []string          `toml:"fixed" help:"paths of files whose content never changes under their name, such as scripts that the rules fix; one that ends in / is a folder: clients may keep these longer than max_age" example:"[\"/packs/\"]"`
	Cost    string            `toml:"cost" help:"what becomes of a change that is kept for the work that it saves while its gain is undecided: keep, or undo before the last comparison of a search; default: keep" words:"keep,undo"`
	Folders []string          `toml:"folders" help:"folders in which files may be written, and no others; an entry that ends in .conf is one file, which may not exist yet; NAME:/FOLDER is one on another machine" example:"[\"/etc/nginx\", \"db:/etc/mysql\"]"`
	Keep    []string          `toml:"keep" help:"systemd units that are never edited, stopped or disabled, such as those of the organisers" example:"[\"envcheck.service\"]"`
	Budget  Duration          `toml:"budget" help:"time limit of iikanji tune; default: 15m" example:"20m"`
	Robots  []string          `toml:"robots" help:"regular expressions of the User-Agents that may be refused, besides those that name themselves bot, crawler or spider" example:"[\"^ExampleFeed/\"]"`
	Agents  string            `toml:"agents" help:"what clients of iikanji mcp may do: read (and observe), or change (apply, judge and revert too); default: read" words:"read,change"`
}

// A BenchHow is who starts a run of the benchmarker.
type BenchHow string

// The ways to start a run.
const (
	BenchCommand BenchHow = "command"
	BenchPortal  BenchHow = "portal"
)

// A How is a way to restart a service.
type How string

// The ways to restart a service.
const (
	ByUnit    How = "unit"
	ByCommand How = "command"
	ByProcess How = "process"
	ByParent  How = "parent"
)

// A ResetHow is a way to prepare the data before a run.
type ResetHow string

// The ways to prepare the data.
const (
	ResetNone     ResetHow = "none"
	ResetCommand  ResetHow = "command"
	ResetSnapshot ResetHow = "snapshot"
)

// A Method is a way to make a snapshot.
type Method string

// The ways to make a snapshot.
const (
	MethodAuto Method = "auto"
	MethodCopy Method = "copy"
	MethodDump Method = "dump"
)

// A Tool is a load tool whose output is known.
type Tool string

// Values of the key tool that name no load tool.
const (
	ToolAuto Tool = "auto"
	ToolNone Tool = "none"
)

// A Duration is a time span as in "60s" or "5m".
type Duration time.Duration

// UnmarshalText reads a duration of Go's form.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration, as in 60s or 5m", b)
	}
	*d = Duration(v)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText is the inverse of UnmarshalText.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// InFiles reports whether the service is SQLite files, which have no process of their
// own.
func (s *Service) InFiles() bool { return s.Engine == iikanji.EngineSQLite }

// Method is the way to restart the service, with the default filled in.
func (s *Service) Method() How {
	switch {
	case s.Restart != "":
		return s.Restart
	case s.Commands.Restart != "" || s.Commands.Start != "":
		return ByCommand
	case s.Unit != "":
		return ByUnit
	}
	return ByProcess
}

// RunLength is the length of the load of one run, with the default filled in.
func (b *Bench) RunLength() time.Duration {
	if b.Length > 0 {
		return time.Duration(b.Length)
	}
	return time.Minute
}

// Limit is the time after which a run of the benchmarker is ended.
func (b *Bench) Limit() time.Duration {
	if b.Timeout > 0 {
		return time.Duration(b.Timeout)
	}
	return 3*b.RunLength() + 2*time.Minute
}

// Service returns the service of a name.
func (f *File) Service(name string) (*Service, bool) {
	for i := range f.Services {
		if f.Services[i].Name == name {
			return &f.Services[i], true
		}
	}
	return nil, false
}
