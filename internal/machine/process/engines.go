package process

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// An Engine is what one kind of software needs to be set up, started, asked, tested, reloaded
// and ended. A stack uses it for what an arena leaves out; a site for what its file leaves
// out. A program of another engine is started with the command line that the kernel shows.
type Engine struct {
	// Start runs it in the foreground, Check tests its main configuration: a program with its
	// arguments, each a template over an arena's View.
	Start, Check []string
	// Path is a page that it answers when it is ready. Without it, the reply to Send begins
	// with Expect; without both, a connection is enough.
	Path         string
	Send, Expect string
	Stop         []Step         // its graceful end
	Reload       syscall.Signal // at which it reads its configuration and replaces its workers; 0 for none

	// SetUp fills the new data folder {{.Self.Data}}; nil where an empty folder is enough. Room
	// is the disk space that it takes, in bytes.
	SetUp []string
	Room  int64
	// SQL: it is ready when it answers SELECT 1. InitSQL: at each start it executes a file of
	// SQL before it accepts connections, which makes schema and accounts.
	SQL, InitSQL bool
	// Trial are the options of a second, empty server, which shows by its start whether it
	// accepts the configuration {{.Self.Config}}; nil where Check is enough. Adjusted matches
	// the lines of its log about a setting that it has replaced, and the setting's name.
	Trial    []string
	Adjusted *regexp.Regexp
	// StopWait: a server that gets a stop signal before it is ready can hang, so a start that
	// is cancelled waits at most this long for it to be ready.
	StopWait time.Duration
	// StartWait limits a start after a kill, at which it first recovers from its log; 0 for the
	// usual limit.
	StartWait time.Duration
	// WritesPID: it writes the file with its process id itself.
	WritesPID bool
	// TestFile are the arguments with which the program of a running process tests a
	// configuration file; nil if none are known.
	TestFile func(p *Process, path string) []string

	title string // the begin of the title of its root process
	// arguments reads the command line that is in a title, with the program's name first.
	arguments func(h host.Host, p *Process, env []string) ([]string, bool)
	// test has the options with which the program tests its configuration; args is the
	// command line, or the title where that is not in it.
	test func(args []string) []string
	// overwrites: its title is longer than its command line and has overwritten its
	// environment.
	overwrites bool
	// again is a signal at which the root process executes its program again, with the
	// command line, the environment and the sockets that it has kept; 0 for none.
	again syscall.Signal
}

// nginxPlaces keep nginx to the work folder: prefix, configuration, and the error log that it
// uses before it has read its configuration, which is the machine's by default. The
// configuration itself must not set "daemon".
var nginxPlaces = []string{"-p", "{{.Run}}", "-c", "{{.Self.Config}}",
	"-e", `{{.Self.Log "error"}}`, "-g", "daemon off;"}

// mariaDBSetUp calls fsync some thousand times, which takes half a minute on a slow disk. This
// is switched off: the caller syncs the folder once. The installer's --user is not used: it
// would give system folders to that user.
var mariaDBSetUp = []string{"mariadb-install-db", "--no-defaults", "--datadir={{.Self.Data}}", "--tmpdir={{.Tmp}}",
	"--skip-test-db", "--skip-name-resolve", "--auth-root-authentication-method=socket", "--auth-root-socket-user=root",
	"--debug-no-sync"}

// mariaDBTrial sets every option that names a place on the command line, which overrides the
// configurations. So none can make the process open a file or take a port of the real
// database. The server initialises an empty data folder by itself, except for the grant
// tables, which only the installer creates: without them, the trial takes a second instead of
// half a minute, and covers every setting except accounts.
var mariaDBTrial = []string{"--defaults-file={{.Self.Config}}", "--socket={{.Self.Socket}}",
	"--pid-file={{.Self.Data}}/pid", "--skip-networking", "--skip-grant-tables", "--skip-log-bin", "--skip-slave-start",
	"--init-file=", "--disable-log-error", "--skip-log-basename", "--debug-no-sync", "--innodb-buffer-pool-load-at-startup=0", "--event-scheduler=OFF",
	"--slow-query-log-file={{.Self.Data}}/slow.log", "--general-log-file={{.Self.Data}}/general.log",
	"--datadir={{.Self.Data}}", "--tmpdir={{.Self.Data}}", "--innodb-data-home-dir={{.Self.Data}}",
	"--innodb-log-group-home-dir={{.Self.Data}}", "--innodb-undo-directory={{.Self.Data}}",
	"--innodb-tmpdir={{.Self.Data}}", "--aria-log-dir-path={{.Self.Data}}"}

// databaseWait limits the start of a database that first recovers from its log.
const databaseWait = 3 * time.Minute

// engines by the name of the software. Adding one to the supervisor is a line here.
var engines = map[iikanji.Engine]Engine{
	// QUIT lets nginx finish the requests that it has begun. What its master passes on to its
	// workers is set by the directive env.
	iikanji.EngineNginx: {
		Start: append([]string{"nginx"}, nginxPlaces...),
		Check: append([]string{"nginx", "-t", "-q"}, nginxPlaces...), Path: "/",
		Stop: []Step{{syscall.SIGQUIT, 2 * time.Second}, {syscall.SIGTERM, time.Second}}, Reload: syscall.SIGHUP,
		TestFile: nginxTestFile, WritesPID: true,
		title: "nginx: master process ", arguments: nginxArguments, overwrites: true,
		test: func(args []string) []string { return append([]string{"-t", "-q"}, args[1:]...) },
	},
	// A shutdown of MariaDB flushes the buffer pool's pages. Its own files take 130 MB; its
	// temporary tablespace needs more.
	iikanji.EngineMariaDB: {Start: []string{"mariadbd", "--defaults-file={{.Self.Config}}"},
		Stop: []Step{{syscall.SIGTERM, 20 * time.Second}}, StopWait: 5 * time.Second, StartWait: databaseWait,
		SetUp: mariaDBSetUp, Room: 260 << 20, SQL: true, InitSQL: true, WritesPID: true,
		Trial: mariaDBTrial, Adjusted: regexp.MustCompile(`\[Warning\] .*option '([a-z0-9_-]+)'.* adjusted to `),
		TestFile: func(_ *Process, path string) []string {
			return []string{"--defaults-file=" + path, "--verbose", "--help"}
		}},
	iikanji.EngineMySQL: {SQL: true, StartWait: databaseWait, WritesPID: true,
		TestFile: func(_ *Process, path string) []string {
			return []string{"--defaults-file=" + path, "--validate-config"}
		}},
	// Redis answers PING with an error until it has loaded its data, which it writes when it ends.
	iikanji.EngineRedis: {Start: []string{"redis-server", "{{.Self.Config}}"},
		Send: "PING\r\n", Expect: "+PONG", Stop: []Step{{syscall.SIGTERM, 10 * time.Second}}},
	iikanji.EngineMemcached: {Send: "version\r\n", Expect: "VERSION "},
	// Varnish runs in the foreground, keeps to its folder and has no administration port.
	iikanji.EngineVarnish: {
		Start: []string{"varnishd", "-F", "-j", "none", "-T", "none", "-n", "{{.Self.Data}}",
			"-a", "{{.Self.Address}}", "-f", "{{.Self.Config}}"},
		Check: []string{"varnishd", "-C", "-f", "{{.Self.Config}}"}, Path: "/", Stop: []Step{{syscall.SIGTERM, 5 * time.Second}}},
	iikanji.EngineGo: {Start: []string{"{{.Self.Binary}}"}},
	"php":            {Reload: syscall.SIGUSR2, title: "php-fpm: master process (", test: fpmTest, again: syscall.SIGUSR2},
	"unicorn":        {title: "unicorn", arguments: unicornArguments},
}

// EngineOf is the engine of a name; the zero Engine for one that needs nothing of this.
func EngineOf(name iikanji.Engine) Engine { return engines[name] }

// engineOf finds the engine of a process that shows a title.
func engineOf(p *Process) (Engine, bool) {
	for _, e := range engines {
		if e.title != "" && strings.HasPrefix(p.Command(), e.title) {
			return e, true
		}
	}
	return Engine{}, false
}

// fpmTest tests the file that the title of a php-fpm names. -R also accepts a file with a
// pool of root, which the running one may have been told to accept.
func fpmTest(args []string) []string {
	_, rest, _ := strings.Cut(strings.Join(args, " "), "(")
	return []string{"-t", "-R", "-y", strings.TrimSuffix(rest, ")")}
}

// NginxOptions are the options of a running nginx that say which configuration it reads.
func NginxOptions(p *Process) []string {
	words := strings.Fields(p.Command())
	var out []string
	for i, w := range words {
		for _, option := range []string{"-c", "-p"} {
			switch value, attached := strings.CutPrefix(w, option); {
			case w == option && i+1 < len(words):
				out = append(out, option, words[i+1])
			case attached && value != "" && !strings.HasPrefix(value, "-"):
				out = append(out, option, value)
			}
		}
	}
	return out
}

// nginxTestFile replaces the configuration file in the options.
func nginxTestFile(p *Process, path string) []string {
	options := append([]string{"-t", "-q"}, NginxOptions(p)...)
	if i := slices.Index(options, "-c"); i >= 0 {
		options[i+1] = path
		return options
	}
	return append(options, "-c", path)
}

// nginxArguments returns the command line of an nginx master, which is in its title.
func nginxArguments(_ host.Host, p *Process, _ []string) ([]string, bool) {
	_, rest, _ := strings.Cut(p.Command(), "master process ")
	args := withValues(strings.Fields(rest))
	return args, len(args) > 0
}

// withValues joins the words of values: the title of "nginx -g 'daemon off;'" has no
// quotes. The value of an option extends to the next option.
func withValues(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		out = append(out, word)
		if i == 0 || len(word) < 2 || word[0] != '-' || !strings.Contains("pcegs", word[1:2]) {
			continue
		}
		value := word[2:]
		if value == "" {
			out = append(out, "")
		}
		for ; i+1 < len(words) && !optionOfNginx(words[i+1]); i++ {
			if value = out[len(out)-1]; value != "" {
				value += " "
			}
			out[len(out)-1] = value + words[i+1]
		}
	}
	return out
}

func optionOfNginx(word string) bool {
	return len(word) > 1 && word[0] == '-' && strings.Contains("?hvVtTqspceg", word[1:2])
}

// unicornArguments returns the command line of a unicorn master, whose title has the name of
// its script and all arguments: "unicorn master -c unicorn.rb". Ruby has overwritten the
// interpreter and the path of the script, which is searched as its shell did.
func unicornArguments(h host.Host, p *Process, env []string) ([]string, bool) {
	words := strings.Fields(p.Command())
	if len(words) < 2 || !strings.HasPrefix(words[0], "unicorn") || words[1] != "master" ||
		!strings.HasPrefix(filepath.Base(p.Program), "ruby") {
		return nil, false
	}
	for _, kv := range env {
		paths, ok := strings.CutPrefix(kv, "PATH=")
		for _, dir := range filepath.SplitList(paths) {
			script := filepath.Join(dir, words[0])
			if info, err := h.Stat(script); ok && filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() {
				return append([]string{p.Program, script}, words[2:]...), true
			}
		}
	}
	return nil, false
}
