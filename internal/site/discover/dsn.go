package discover

import (
	"cmp"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A dsn is an address of a database with an account, and where it was found.
type dsn struct {
	address        string // HOST:PORT or the path of a socket
	user, password string
	schema         string
	ref            target.Ref // of the password; "" without one
	where          string     // for people, without secrets
}

// parseDSN reads the forms of a DSN: that of go-sql-driver and mysql:// URLs.
func parseDSN(text string) (dsn, bool) {
	f := settings.Split(settings.Literal(text))
	if !f.NamesEngine() || f["user"].Text == "" && !strings.Contains(text, "://") {
		return dsn{}, false
	}
	d := dsn{user: f["user"].Text, password: f["password"].Text, schema: f["schema"].Text, address: f["socket"].Text}
	if d.address == "" {
		d.address = net.JoinHostPort(f["host"].Text, cmp.Or(f["port"].Text, "3306"))
	}
	return d, true
}

// dsnsOf lists the DSNs of an app: in its environment, its arguments, the
// environment files near it and its source, in this order.
func (s *search) dsnsOf(svc *service) []dsn {
	var out []dsn
	env := map[string]string{}
	for _, kv := range svc.env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
		if d, ok := parseDSN(value); ok {
			d.where = "environment variable " + name
			if d.password != "" {
				d.ref = target.Ref("dsn:" + svc.Name + ":" + name)
			}
			out = append(out, d)
		}
	}
	if d, ok := composed(env, func(name string) target.Ref { return target.Ref("process:" + svc.Name + ":" + name) }); ok {
		out = append(out, d)
	}
	for _, word := range svc.proc.Args[1:] {
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			word = value
		}
		if d, ok := parseDSN(word); ok {
			d.where = "argument"
			out = append(out, d) // arguments cannot be referred to: the password stays unknown
		}
	}
	for _, file := range s.envFiles(svc) {
		out = append(out, s.dsnsInFile(file)...)
	}
	return out
}

// composed makes a DSN of variables such as DB_HOST, DB_USER and DB_PASSWORD.
func composed(env map[string]string, ref func(name string) target.Ref) (dsn, bool) {
	d := dsn{where: "environment"}
	host, port, socket := "", "3306", ""
	about := regexp.MustCompile(`(?i)(MYSQL|MARIADB|DB|DATABASE)`)
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := env[name]
		last := strings.ToUpper(name[strings.LastIndexByte(name, '_')+1:])
		if !about.MatchString(name) || value == "" || strings.Contains(value, "://") {
			continue
		}
		switch last {
		case "HOST", "HOSTNAME", "SERVER":
			host = value
		case "ADDRESS", "ADDR":
			host = value
			if h, p, err := net.SplitHostPort(value); err == nil {
				host, port = h, p
			}
		case "PORT":
			port = value
		case "SOCKET", "SOCK":
			socket = value
		case "USER", "USERNAME":
			d.user = value
			d.where = "environment variables such as " + name
		case "PASS", "PASSWORD", "PASSWD", "PWD":
			d.password, d.ref = value, ref(name)
		case "NAME", "DATABASE", "DBNAME", "SCHEMA", "DB":
			d.schema = value
		}
	}
	if d.address = socket; socket == "" && host != "" {
		d.address = net.JoinHostPort(host, port)
	}
	return d, d.address != "" && d.user != ""
}

// envFiles are files with K=V lines near an app: of its systemd unit, in its
// folder and in those above it.
func (s *search) envFiles(svc *service) []string {
	out := s.unitFiles(svc)
	for _, dir := range near(svc) {
		for _, pattern := range []string{".env", "env.sh", "*.env", "env"} {
			paths, _ := s.host.Glob(filepath.Join(dir, pattern)) // the patterns are well formed
			for _, path := range paths {
				if !slices.Contains(out, path) {
					out = append(out, path)
				}
			}
		}
	}
	return out
}

// near are the folder of an app's process and those above it.
func near(svc *service) []string {
	var out []string
	for dir, n := svc.proc.Dir, 0; dir != "" && dir != "/" && n < 3; dir, n = filepath.Dir(dir), n+1 {
		out = append(out, dir)
	}
	return out
}

// maxEnvFile is the maximum size of an environment file, in bytes.
const maxEnvFile = 64 << 10

func (s *search) dsnsInFile(path string) []dsn {
	b, ok := s.small(path)
	if !ok {
		return nil
	}
	var out []dsn
	env := settings.Dotenv(b)
	for name, value := range env {
		if d, ok := parseDSN(value); ok {
			d.where = "file " + path + ", variable " + name
			if d.password != "" {
				d.ref = target.Ref("file:" + path + ":" + name)
			}
			out = append(out, d)
		}
	}
	if d, ok := composed(env, func(name string) target.Ref { return target.Ref("file:" + path + ":" + name) }); ok {
		d.where = "file " + path
		out = append(out, d)
	}
	return out
}

// literal matches a DSN of go-sql-driver or a mysql:// URL within a source file.
var literal = regexp.MustCompile(`[\w.-]+(?::[^"'\x60\s@]*)?@(?:tcp|unix)\([^"'\x60\s()]+\)/\w*|mysql2?://[^"'\x60\s]+`)

// DSNInSource returns the first DSN of a source file, without parameters.
func DSNInSource(text string) (user, password, address, schema string, ok bool) {
	for _, m := range literal.FindAllString(text, -1) {
		if d, ok := parseDSN(m); ok {
			return d.user, d.password, d.address, d.schema, true
		}
	}
	return "", "", "", "", false
}

// Password returns the password in a DSN; false for another text.
func Password(text string) (string, bool) {
	d, ok := parseDSN(text)
	return d.password, ok
}
