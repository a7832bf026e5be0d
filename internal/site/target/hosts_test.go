package target

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

const three = `version = 1
url = "http://127.0.0.1"

[[host]]
name = "web"

[[host]]
name = "app2"
address = "ssh://isucon@app2:2222"
roles = ["app", "web"]
change = "no"

[[host]]
name = "db"
via = ["docker", "exec", "-i", "db"]
private = "10.0.0.13"
peer = "dist/iikanji-arm64"
lost_wait = "5s"

[[service]]
name = "nginx"
role = "web"
engine = "nginx"
host = "web"
unit = "nginx.service"
spare = ["app2", "db"]

[[service]]
name = "app"
role = "app"
unit = "app.service"
instances = ["app2"]

[[service]]
name = "mariadb"
role = "database"
engine = "mariadb"
host = "db"
unit = "mariadb.service"

[bench]
host = "app2"

[policy]
folders = ["/etc/nginx", "conf", "db:/etc/mysql", "web:/srv"]
keep = ["envcheck.service"]
`

// TestHostsOfFile: this machine has no name in the services, and each machine its folders.
func TestHostsOfFile(t *testing.T) {
	f, err := Parse("/site/iikanji.toml", []byte(three))
	if err != nil {
		t.Fatal(err)
	}
	db, _ := f.Host("db")
	app2, _ := f.Host("app2")
	switch {
	case f.Services[0].Host != "" || f.Services[1].Host != "" || f.Services[2].Host != "db" || f.Bench.Host != "app2":
		t.Errorf("services: %+v", f.Services)
	case !slices.Equal(f.FoldersOn(""), []string{"/etc/nginx", "/site/conf", "/srv"}) || !slices.Equal(f.FoldersOn("db"), []string{"/etc/mysql"}) || f.FoldersOn("app2") != nil:
		t.Errorf("folders: %q %q", f.FoldersOn(""), f.FoldersOn("db"))
	case db.Peer != "/site/dist/iikanji-arm64" || db.Waits() != 5*time.Second || !db.MayChange() || db.Here():
		t.Errorf("db: %+v", db)
	case app2.MayChange() || app2.Waits() != time.Minute || !slices.Equal(app2.Roles, []iikanji.Role{iikanji.RoleApp, iikanji.RoleWeb}):
		t.Errorf("app2: %+v", app2)
	case f.HostRef("web") != "" || f.HostRef("db") != "db":
		t.Errorf("%q %q", f.HostRef("web"), f.HostRef("db"))
	}
	if hosts := f.Target().Hosts; len(hosts) != 2 || hosts[0] != (iikanji.HostRef{Name: "app2", Address: "ssh://isucon@app2:2222"}) {
		t.Errorf("%+v", hosts)
	}
}

// TestHostMistakes expects each mistake about machines.
func TestHostMistakes(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"no such machine":        {`host = "db"`, `host = "bd"`, `there is no machine "bd" in this file`},
		"spare of nobody":        {`spare = ["app2", "db"]`, `spare = ["app3"]`, `there is no machine "app3"`},
		"spare at home":          {`spare = ["app2", "db"]`, `spare = ["web"]`, `service "nginx" runs on "web" already`},
		"instance at home":       {`instances = ["app2"]`, `instances = ["web"]`, `service "app" runs on "web" already`},
		"folder of nobody":       {`"db:/etc/mysql"`, `"bd:/etc/mysql"`, `there is no machine "bd"`},
		"benchmarker on nobody":  {`host = "app2"`, `host = "app4"`, `there is no machine "app4"`},
		"two of one name":        {`name = "app2"`, `name = "web"`, `two machines are called "web"`},
		"two without an address": {`via = ["docker", "exec", "-i", "db"]`, ``, `"web" and "db" have no address`},
		"address and via":        {`private =`, "address = \"ssh://db\"\nprivate =", `machine "db" has both address and via`},
		"an option as a name":    {`ssh://isucon@app2:2222`, `ssh://-oProxyCommand=x`, `no machine can have`},
		"an option as a user":    {`ssh://isucon@app2:2222`, `ssh://-oProxyCommand=x@app2`, `no machine can have`},
		"a password":             {`ssh://isucon@app2:2222`, `ssh://isucon:hunter2@app2`, `the address of app2 has a password`},
		"another scheme":         {`ssh://isucon@app2:2222`, `http://app2`, `no address of the form ssh://[USER@]NAME[:PORT]`},
		"no IP address":          {`"10.0.0.13"`, `"db"`, `private is "db"; want an IP address`},
		"a process far away":     {"host = \"db\"", "host = \"db\"\nrestart = \"process\"", `restarted by a unit or by commands only`},
	} {
		text := strings.Replace(three, c.from, c.to, 1)
		if text == three {
			t.Fatalf("%s: nothing was replaced", name)
		}
		_, err := Parse("/site/iikanji.toml", []byte(text))
		var mistakes *Error
		if !errors.As(err, &mistakes) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseSSH reads addresses.
func TestParseSSH(t *testing.T) {
	for text, want := range map[string]SSHAddress{
		"ssh://db":                   {Name: "db"},
		"ssh://isucon@10.0.0.1":      {User: "isucon", Name: "10.0.0.1"},
		"ssh://root@db.lan:2222":     {User: "root", Name: "db.lan", Port: 2222},
		"ssh://[fe80::1]:22":         {Name: "fe80::1", Port: 22},
		"ssh://isucon@[2001:db8::1]": {User: "isucon", Name: "2001:db8::1"},
	} {
		got, err := ParseSSH(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "db", "ssh://", "ssh:///db", "ssh://db/path", "ssh://db?x", "ssh://db:0", "ssh://db:70000", "ssh://d b", "ssh://db$(x)"} {
		if a, err := ParseSSH(text); err == nil {
			t.Errorf("%q is %+v", text, a)
		}
	}
}
