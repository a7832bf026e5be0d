package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

// threeMachines boots three machines with sshd, nginx and MariaDB on a link, and an agent with
// a key for the account isucon, which may become root.
func threeMachines(t *testing.T, units ...string) []*lab.Machine {
	t.Helper()
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	link, err := lab.NewLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	})
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	withAgent(t, key)
	machines := make([]*lab.Machine, 3)
	errs := make([]error, len(machines))
	var all sync.WaitGroup
	for i, name := range []string{"web", "app2", "db"} {
		m, err := lab.New(t.TempDir(), name, units...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		m.Join(link, 11+i)
		if err := m.SSHD(t.Context(), lab.Account{Name: "isucon", UID: 61000, Keys: key.Public, Sudo: true}); err != nil {
			tier.Needs(t, "Debian's openssh-server and sudo", err.Error())
		}
		machines[i] = m
		all.Go(func() {
			if slices.Contains(units, "mariadb") {
				errs[i] = m.Database()
			}
			errs[i] = errors.Join(errs[i], m.Boot(t.Context()))
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return machines
}

// withAgent runs an agent with a key, and lets SSH_AUTH_SOCK name it.
func withAgent(t *testing.T, key lab.Key) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "agent")
	agent := exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		tier.Needs(t, "ssh-agent", err.Error())
	}
	t.Cleanup(func() {
		_ = agent.Process.Kill() // an error: it has ended
		_ = agent.Wait()         // by the signal
	})
	t.Setenv("SSH_AUTH_SOCK", socket)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		out, err := exec.CommandContext(t.Context(), "ssh-add", "-q", key.Path).CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// address is how a machine is given to init.
func address(m *lab.Machine) string { return "ssh://isucon@" + m.Address().String() }

// A shape is one way in which images of contests start their app.
type shape struct {
	name, unit string
	install    string // script that makes the app and its unit
	pass       string // directive of nginx
	engine     string
	race       string // a second enabled unit for its port
}

const shapeApp = `import http.server, os
class A(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), A).serve_forever()
`

// unitText is a unit of an app.
func unitText(start, environment string) string {
	return fmt.Sprintf("[Unit]\nAfter=mariadb.service\n[Service]\nUser=isucon\nWorkingDirectory=/home/isucon/webapp\n%s\nExecStart=%s\nRestart=always\n[Install]\nWantedBy=multi-user.target\n", environment, start)
}

const inlineEnvironment = "Environment=PORT=%d MYSQL_HOST=127.0.0.1 MYSQL_PORT=3306 MYSQL_USER=isucon MYSQL_PASS=isucon MYSQL_DBNAME=isucon"

const fileEnvironment = "EnvironmentFile=/home/isucon/env.sh"

func shapes() []shape {
	envFile := "printf 'PORT=%d\\nDB_HOST=127.0.0.1\\nDB_USER=isucon\\nDB_PASS=isucon\\nDB_NAME=isucon\\n' >/home/isucon/env.sh\n"
	file := func(path, text string) string {
		return fmt.Sprintf("mkdir -p $(dirname %[1]s); cat >%[1]s <<'EOT'\n%[2]s\nEOT\n", path, text)
	}
	unit := func(name, text string) string {
		return file("/etc/systemd/system/"+name, text) + "systemctl daemon-reload; systemctl enable -q --now " + name + "\n"
	}
	python := file("/home/isucon/webapp/python/app.py", shapeApp)
	node := file("/home/isucon/webapp/nodejs/app.js", `require("http").createServer((q, r) => r.end("ok")).listen(+process.env.PORT, "127.0.0.1")`) +
		file("/home/isucon/webapp/nodejs/package.json", `{"name":"isuumo"}`)
	goUnit := unitText("/home/isucon/webapp/go/app", fmt.Sprintf(inlineEnvironment, 3000))
	return []shape{
		{"a unit with its environment", "isu-go.service", file("/home/isucon/webapp/go/go.mod", "module app\ngo 1.26") + file("/home/isucon/webapp/go/main.go", "package main\nfunc main() {}") + unit("isu-go.service", goUnit), "proxy_pass http://127.0.0.1:3000;", "go", ""},
		{"a file of the environment", "isuumo.nodejs.service", fmt.Sprintf(envFile, 1323) + node + unit("isuumo.nodejs.service", unitText("/usr/bin/node /home/isucon/webapp/nodejs/app.js", fileEnvironment)),
			"proxy_pass http://localhost:1323;", "node", ""},
		{"a name with many words", "xsuportal-web-python.service", fmt.Sprintf(envFile, 9292) + python + unit("xsuportal-web-python.service", unitText("/usr/bin/python3 /home/isucon/webapp/python/app.py", fileEnvironment)),
			"proxy_pass http://127.0.0.1:9292;", "python", ""},
		{"FPM", "php8.2-fpm.service", file("/home/isucon/webapp/php/index.php", `<?php try { $db = new PDO("mysql:host=127.0.0.1;dbname=isucon", "isucon", "isucon"); } catch (Throwable $e) {} echo "ok";`) +
			"mkdir -p /run/php; rm -f /etc/systemd/system/php8.2-fpm.service; systemctl daemon-reload; systemctl enable -q --now php8.2-fpm\n",
			"root /home/isucon/webapp/php; include fastcgi_params; fastcgi_param SCRIPT_FILENAME /home/isucon/webapp/php/index.php; fastcgi_pass unix:/run/php/php8.2-fpm.sock;", "php", ""},
		{"two languages", "isucholar.go.service", file("/home/isucon/webapp/go/go.mod", "module app\ngo 1.26") + file("/home/isucon/webapp/go/main.go", "package main\nfunc main() {}") + python +
			unit("isucholar.go.service", strings.Replace(goUnit, "PORT=3000", "PORT=7000", 1)) +
			file("/etc/systemd/system/isucholar.python.service", strings.Replace(unitText("/usr/bin/python3 /home/isucon/webapp/python/app.py", fmt.Sprintf(inlineEnvironment, 7000)), "Restart=always", "Restart=no", 1)) +
			"systemctl daemon-reload; systemctl enable -q isucholar.python\n", "proxy_pass http://127.0.0.1:7000;", "go", "isucholar.python.service"},
	}
}

// prepare makes what all shapes have in common.
func prepare(t *testing.T, m *lab.Machine, app string) {
	t.Helper()
	program, err := os.ReadFile(app)
	if err := errors.Join(err, m.Write("/home/isucon/webapp/go/app", string(program), 0o755)); err != nil {
		t.Fatal(err)
	}
	inside(t, m, 0, `mkdir -p /etc/nginx/sites-enabled; chmod 755 /home/isucon; rm -f /etc/nginx/sites-enabled/default
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/envcheck.service
systemctl daemon-reload; systemctl enable -q --now envcheck
printf 'user www-data;\nevents {}\nhttp { access_log /var/log/nginx/access.log; include /etc/nginx/sites-enabled/*; }\n' >/etc/nginx/nginx.conf
mariadb -e "create database isucon; create table isucon.t (id int primary key); create user isucon@localhost identified by 'isucon'; grant all on isucon.* to isucon@localhost"`)
}

// TestInitMachines: of three identical hosts in five shapes, init names the services, the
// spares and their twins, what is kept and what would race for a port, and doctor has
// nothing against the file.
func TestInitMachines(t *testing.T) {
	machines := threeMachines(t, "nginx", "mariadb")
	app := goApp(t)
	for _, m := range machines {
		prepare(t, m, app)
	}
	for i, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			if s.engine == "php" {
				missing := ""
				if _, err := os.Stat("/lib/systemd/system/php8.2-fpm.service"); err != nil {
					missing = err.Error()
				}
				tier.Needs(t, "PHP's FPM", missing)
			}
			for _, m := range machines {
				inside(t, m, 0, s.install+"printf 'server { listen 80; location / { "+s.pass+" } }' >/etc/nginx/sites-enabled/isucon.conf; systemctl restart nginx; "+untilUp)
			}
			initShape(t, machines, s)
			if i == 0 {
				initText(t, machines)
			}
			for _, m := range machines {
				inside(t, m, 0, "systemctl disable -q --now "+s.unit+" "+s.race+"; rm -f /etc/systemd/system/isu*.service /etc/systemd/system/xsu*.service; systemctl daemon-reload")
			}
		})
	}
}

// initShape runs init and doctor on the machines.
func initShape(t *testing.T, machines []*lab.Machine, s shape) {
	dir := t.TempDir()
	var errs lockedBuffer
	begin := time.Now()
	status, text := command(t.Context(), &errs, "init", address(machines[0]), address(machines[1]), address(machines[2]), "--accept-new", "--into", dir, "--bench", "true", "--json")
	if status != 0 {
		t.Fatalf("status %d\n%s", status, errs.String())
	}
	t.Logf("init took %.1f s", time.Since(begin).Seconds())
	var got struct {
		Machines []discover.MachineFound `json:"machines"`
		Keep     []string                `json:"keep"`
		Races    []discover.Race         `json:"races"`
		Reaches  []discover.PortReach    `json:"reaches"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	units := []string{"mariadb.service", "nginx.service", s.unit}
	slices.Sort(units)
	for i, m := range got.Machines {
		for _, list := range [][]string{m.Services, m.Spares, m.Twins} {
			slices.Sort(list)
		}
		want := discover.MachineFound{Name: machines[i].Name, Address: machines[i].Address().String(), Cores: m.Cores, Memory: m.Memory, Spares: units, Twins: units}
		if i == 0 {
			want.Services, want.Spares, want.Twins, want.Front = units, nil, nil, true
		}
		if !reflect.DeepEqual(m, want) || m.Cores == 0 || m.Memory == 0 {
			t.Errorf("%+v\nwant %+v", m, want)
		}
	}
	if want := []string{"envcheck.service", "ssh.service"}; !slices.Equal(got.Keep, want) {
		t.Errorf("kept: %q, want %q", got.Keep, want)
	}
	if s.race != "" && !slices.ContainsFunc(got.Races, func(r discover.Race) bool { return r.Unit == s.race && r.Port == 7000 }) || s.race == "" && len(got.Races) > 0 {
		t.Errorf("races: %+v", got.Races)
	}
	f, err := target.Load(filepath.Join(dir, target.Name))
	if err != nil {
		t.Fatal(err)
	}
	if f.URL != "http://"+machines[0].Address().String() || len(f.Hosts) != 3 || len(f.Services) != 3 {
		t.Errorf("%s, %d machines, services %+v", f.URL, len(f.Hosts), f.Services)
	}
	for _, svc := range f.Services {
		if svc.Host != machines[0].Name || svc.Method() != target.ByUnit || !slices.Equal(svc.Spare, []string{"app2", "db"}) || svc.Role.String() == "app" && string(svc.Engine) != s.engine {
			t.Errorf("%+v", svc)
		}
	}
	if status, text = command(context.WithoutCancel(t.Context()), &errs, "doctor", dir); status != 0 {
		t.Errorf("doctor: status %d\n%s\n%s", status, text, errs.String())
	}
}

// initText runs init once more, for people.
func initText(t *testing.T, machines []*lab.Machine) {
	var errs lockedBuffer
	status, text := command(t.Context(), &errs, "init", "http://"+machines[0].Address().String(), address(machines[0]), address(machines[1]), address(machines[2]), "--accept-new", "--into", t.TempDir(), "--bench", "true")
	if status != 0 {
		t.Fatalf("status %d\n%s", status, errs.String())
	}
	t.Log(text)
	for _, want := range []string{"answers http://" + machines[0].Address().String(), "spare: nginx.service isu-go.service mariadb.service  (twins)", "round trips 0.", "3306 no (mariadb listens on 127.0.0.1)",
		"kept as they are: envcheck.service, ssh.service", "wrote iikanji.toml: 3 machines, 3 services, 6 spares"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// goApp builds a program in Go that listens at the port of its environment.
func goApp(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const source = `package main

import (
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
`
	if err := errors.Join(os.WriteFile(dir+"/main.go", []byte(source), 0o644), os.WriteFile(dir+"/go.mod", []byte("module app\n\ngo 1.26\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "app", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir + "/app"
}
