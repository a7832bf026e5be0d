package appenv

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

const plainApp = "package main\n\nfunc main() {}\n"

// TestHostile: settings that a proposer must not change are refused by name, and
// nothing is written.
func TestHostile(t *testing.T) {
	s := sourceSite(t, map[string]string{"main.go": plainApp},
		"DB_HOST=h", "DB_NAME=db", "DB_PASS=p", "SESSION_KEY=k", "BIN_DIR=/usr/bin", "HOOK=/bin/sh", "FEATURE=on", "MODE=fast", "LISTEN_PORT=80", "GODEBUG=1", "PATH=/bin")
	for _, args := range []map[string]string{
		nil,
		{"nonsense": "1"},
		{"env.": "1"},
		{"env.LD_PRELOAD": "/tmp/x.so"}, {"env.LD_POOL": "1"}, {"env.PATH": "/tmp"}, {"env.GODEBUG": "1"}, {"env.GOROOT": "1"}, {"env.GOFLAGS": "1"},
		{"env.HOME": "/tmp"}, {"env.TZ": "UTC"}, {"env.IIKANJI_STACK": "1"}, {"env.HTTP_PROXY": "1"}, {"env.SSL_CERT_FILE": "1"},
		{"env.DB_HOST": "1"}, {"env.DB_NAME": "1"}, {"env.DB_PASS": "1"}, {"env.SESSION_KEY": "1"}, {"env.BIN_DIR": "1"}, {"env.LISTEN_PORT": "1"},
		{"env.HOOK": "1"}, {"env.MODE": "1"}, {"env.FEATURE": "/bin/sh"}, {"env.UNKNOWN": "1"},
		{"env.GOGC": "1\nLD_PRELOAD=/tmp/x.so"}, {"env.GOGC": ""}, {"env.GOGC=1\nX": "1"}, {"env.GOMAXPROCS": "0"}, {"env.GOMEMLIMIT": "1"},
		{"env.DB_POOL_SIZE": "1; rm"}, {"env.db_pool_size": "1"}, {"env.LOG_LEVEL": "../x"},
		{"dsn": ""}, {"dsn": "allowAllFiles=true"}, {"dsn": "multiStatements=true"}, {"dsn": "tls=false"}, {"dsn": "interpolateParams"},
		{"dsn": "interpolateParams=true&interpolateParams=false"}, {"dsn": `interpolateParams=true"); exec(`}, {"dsn": "maxAllowedPacket=-1"}, {"dsn": "socket=/tmp/evil"},
		{"pool": "0"}, {"pool": "-1"}, {"pool": "10001"}, {"pool": "1);panic("}, {"log": "on"},
		{"dsn": "interpolateParams=true"}, {"pool": "3"}, // nothing to edit in the source
	} {
		ch, err := change.Plan(t.Context(), s, remedy(args))
		if err == nil || errors.Is(err, change.ErrNothing) {
			t.Errorf("%q: %v\n%v", args, err, ch)
		}
	}
	if _, err := change.Plan(t.Context(), s, iikanji.Remedy{Kind: "appenv", Target: "nobody", Args: map[string]string{"pool": "3"}}); err == nil {
		t.Error("a service that is not there")
	}
	for _, args := range []map[string]string{{"env.GOGC": "off"}, {"env.GOMEMLIMIT": "512MiB"}, {"env.FEATURE": "off"}, {"env.DB_MAX_OPEN_CONNS": "30"}, {"env.GIN_MODE": "release"}} {
		if _, err := change.Plan(t.Context(), s, remedy(args)); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, err := change.Plan(t.Context(), s, remedy(map[string]string{"env.FEATURE": "on", "log": "off"})); !errors.Is(err, change.ErrNothing) {
		t.Errorf("it has this effect already: %v", err)
	}
}

// TestRefusedSources: sources that cannot be edited safely are refused with a
// place and a reason.
func TestRefusedSources(t *testing.T) {
	for text, want := range map[string]string{
		"package main\n\nfunc main( {}\n": "main.go:3",
		"package main\n\nvar _ = \"me@tcp(h)/db?collation=gbk_chinese_ci\"\n\nfunc main() {}\n":                                             "main.go:3: the DSN: interpolateParams is not safe",
		"package main\n\nimport \"os\"\n\nvar _ = \"me@tcp(\" + os.Args[0] + \")/db\"\n\nfunc main() {}\n":                                  "main.go:5: the DSN: the address is made of expressions",
		"package main\n\nvar format = \"%s@tcp(%s)/%s\"\n\nfunc main() {}\n":                                                                "main.go:3: the DSN: it looks like a format",
		"package main\n\nimport \"fmt\"\n\nvar _ = fmt.Sprintf(\"me@tcp(%[1]s)/%s\", \"h\", \"db\")\n\nfunc main() {}\n":                    "main.go:5: the DSN: the address is made by verbs",
		"package main\n\nimport \"github.com/go-sql-driver/mysql\"\n\nvar x = \"x\"\n\nfunc main() { y := x; _ = mysql.Config{Addr: y} }\n": "the edited source does not compile",
		"package main\n\nimport \"os\"\n\nvar _ = \"me@tcp(h)/db?interpolateParams=\" + os.Args[0] + \"&loc=Local\"\n\nfunc main() {}\n":    "the value of interpolateParams is not a literal",
	} {
		s := sourceSite(t, map[string]string{"main.go": text})
		_, err := change.Plan(t.Context(), s, remedy(map[string]string{"dsn": "interpolateParams=true&socket"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}

// TestVariable: a DSN in a variable is set in the file, without reading the
// source. One with a password is refused, and no error shows the password.
func TestVariable(t *testing.T) {
	s := sourceSite(t, map[string]string{"main.go": "no Go"}, "A=x", "DATABASE_URL=me@tcp(h:3306)/db?parseTime=true", "B=mailto:me@tcp")
	file := s.Services["app"].EnvFile
	if err := os.WriteFile(file, []byte("# mine\nGOGC=100\nA=y"), 0o600); err != nil {
		t.Fatal(err)
	}
	ch, err := change.Plan(t.Context(), s, remedy(map[string]string{"dsn": "interpolateParams=true&socket", "env.GOGC": "300"}))
	if err != nil {
		t.Fatal(err)
	}
	want := "# mine\nGOGC=300\nA=y\nDATABASE_URL=me@unix(/run/db.sock)/db?interpolateParams=true&parseTime=true\n"
	if got := edited(ch)["app.env"]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(ch.Weakens) != 0 {
		t.Errorf("%q weakens %v", ch.Says, ch.Weakens)
	}
	if err := s.Perform(t.Context(), ch.Do[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := change.Plan(t.Context(), s, remedy(map[string]string{"dsn": "interpolateParams=true&socket"})); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planning it again: %v", err)
	}
	svc := s.Services["app"]
	svc.Env, svc.EnvFile = []string{"DSN=me:s3cret@tcp(h)/db?collation=sjis_bin"}, ""
	s.Services["app"] = svc
	_, err = change.Plan(t.Context(), s, remedy(map[string]string{"dsn": "interpolateParams=true"}))
	if err == nil || errors.Is(err, change.ErrNothing) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error: %v", err)
	}
}

// TestSecrets: no change contains a secret of the environment, because it would
// stay in the history for ever.
func TestSecrets(t *testing.T) {
	dsn, gogc := map[string]string{"dsn": "interpolateParams=true"}, map[string]string{"env.GOGC": "300"}
	for _, c := range []struct {
		env, file string
		args      map[string]string
		names     string // the variable that the error names; "" if planning succeeds
	}{
		{"DATABASE_URL=me:s3cret@tcp(h:3306)/db", "", dsn, "DATABASE_URL"},
		{"DATABASE_URL=me:s3cret@tcp(h:3306)/db", "", gogc, ""},
		{"A=x", "DSN=me:s3cret@unix(/run/db.sock)/db\n", dsn, "DSN"},
		{"A=x", "DSN=me:s3cret@unix(/run/db.sock)/db\n", gogc, "DSN"},
		{"A=x", "CACHE=redis://:s3cret@h:6379/0\n", gogc, "CACHE"},
		{"A=x", "SESSION_SECRET=s3cret\n", gogc, "SESSION_SECRET"},
		{"DSN=me:@tcp(h:3306)/db", "CACHE=redis://h:6379/0\n", dsn, ""},
	} {
		s := sourceSite(t, map[string]string{"main.go": plainApp}, c.env)
		if c.file != "" {
			if err := os.WriteFile(s.Services["app"].EnvFile, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ch, err := change.Plan(t.Context(), s, remedy(c.args))
		if c.names == "" {
			b, e := json.Marshal(ch)
			if err != nil || e != nil || strings.Contains(string(b), "s3cret") {
				t.Errorf("%s, %s, %v: %v %v\n%s", c.env, c.file, c.args, err, e, b)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "(in "+c.names+")") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s, %s, %v: %v, want a refusal that names %s", c.env, c.file, c.args, err, c.names)
		}
	}
}

// TestSecretDSN: the parameters of a DSN that comes with a password from the environment are
// added where the source opens its pool, once, and in the served program only.
func TestSecretDSN(t *testing.T) {
	const app = "package main\n\nimport (\n\t\"database/sql\"\n\t\"os\"\n)\n\nfunc main() {\n\tdsn := os.Getenv(\"DSN\")\n\tdb, err := sql.Open(\"mysql\", dsn)\n\tprintln(db, err)\n}\n"
	for env, want := range map[string]string{
		"DSN=me:s3cret@tcp(h:3306)/db":                `sql.Open("mysql", dsn + "?interpolateParams=true")`,
		"DSN=me:s3cret@tcp(h:3306)/db?parseTime=true": `sql.Open("mysql", dsn + "&interpolateParams=true")`,
	} {
		s := sourceSite(t, map[string]string{"main.go": app, "fill/main.go": app}, env)
		r := remedy(map[string]string{"dsn": "interpolateParams=true"})
		c, err := change.Plan(t.Context(), s, r)
		if err != nil {
			t.Fatal(err)
		}
		diff := change.Diff(c)
		if !strings.Contains(diff, want) || strings.Contains(diff, "s3cret") || strings.Contains(diff, "fill/") {
			t.Errorf("%s:\n%s\nwant %s", env, diff, want)
		}
		for _, op := range c.Do {
			if op.Verb == iikanji.Write {
				if err := os.WriteFile(op.Place, []byte(op.Body), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := change.Plan(t.Context(), s, r); !errors.Is(err, change.ErrNothing) {
			t.Errorf("planned again: %v", err)
		}
	}
}

// FuzzDSN: editing a DSN keeps the rest of the text, and a second edit changes
// nothing.
func FuzzDSN(f *testing.F) {
	for _, text := range []string{"u:p@tcp(h:1)/d", "u@tcp(h)/d?", "u@unix(/s)/?a=b&interpolateParams=false&&interpolateParams=x", "@tcp()/?=", "u:?@tcp(h)/d?x=/?"} {
		f.Add(text)
	}
	params := []param{{name: "interpolateParams", value: "true"}, {value: "/run/s", socket: true}}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := parseDSN(text)
		if !ok {
			return
		}
		edits, err := d.set(params)
		if err != nil {
			return
		}
		if splices(edits).overlap() {
			t.Fatalf("%q: %v", text, edits)
		}
		once := splices(edits).apply(text)
		d, ok = parseDSN(once)
		if !ok {
			t.Fatalf("%q became %q", text, once)
		}
		if again, err := d.set(params); err != nil || len(again) > 0 {
			t.Fatalf("%q became %q, then %v %v", text, once, again, err)
		}
	})
}
