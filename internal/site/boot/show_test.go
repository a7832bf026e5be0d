package boot

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/fact"
)

// showText is what systemctl show of systemd 252 prints, shortened.
const showText = `Type=notify
Restart=on-abort
PIDFile=
RestartUSec=5s
MainPID=188
ExecStartPre={ path=/usr/bin/install ; argv[]=/usr/bin/install -m 755 -o mysql -d /run/mysqld ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStartPre={ path=/bin/sh ; argv[]=/bin/sh -c systemctl unset-environment _WSREP_START_POSITION ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStart={ path=/usr/sbin/mariadbd ; argv[]=/usr/sbin/mariadbd $MYSQLD_OPTS ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
EnvironmentFiles=/etc/default/mysql (ignore_errors=yes)
Environment=PORT=3306 DB_PORT=99
Id=mariadb.service
WantedBy=multi-user.target site.target
After=network.target system.slice
LoadState=loaded
ActiveState=active
FragmentPath=/lib/systemd/system/mariadb.service
DropInPaths=/etc/systemd/system/mariadb.service.d/a.conf
UnitFileState=enabled
NeedDaemonReload=yes
StartLimitIntervalUSec=1min 500ms
StartLimitBurst=5
Result=success
RuntimeDirectory=a b

Id=web.socket
Listen=0.0.0.0:80 (Stream)
Listen=[::]:8080 (Stream)
Listen=/run/web.sock (Stream)
LoadState=loaded
TriggeredBy=
FragmentPath=/etc/systemd/system/web.socket

Id=site.target
WantedBy=
UnitFileState=disabled
`

func TestParseShow(t *testing.T) {
	units := ParseShow(showText)
	if len(units) != 3 {
		t.Fatalf("%d units: %+v", len(units), units)
	}
	u := units[0]
	if u.Name != "mariadb.service" || u.Exec != "/usr/sbin/mariadbd $MYSQLD_OPTS" || len(u.Pre) != 2 || !strings.Contains(u.Pre[0], "-d /run/mysqld") ||
		u.Wait != 5 || u.Interval != 60.5 || u.Burst != 5 || !u.Reload || u.Local || u.PID != 188 || !slices.Equal(u.Makes, []string{"/run/a", "/run/b"}) ||
		!slices.Equal(u.By, []string{"multi-user.target", "site.target"}) || !slices.Equal(u.files, []string{"/etc/default/mysql"}) {
		t.Errorf("%+v", u)
	}
	if s := units[1]; !slices.Equal(s.Ports, []int{80, 8080}) || !s.Local {
		t.Errorf("%+v", s)
	}
	byName := map[string]*shown{}
	for i := range units {
		byName[units[i].Name] = &units[i]
	}
	if !boots("mariadb.service", byName, map[string]bool{}) || boots("site.target", byName, map[string]bool{}) || boots("web.socket", byName, map[string]bool{}) {
		t.Error("what the boot starts is wrong")
	}
	byName["a"] = &shown{BootUnit: fact.BootUnit{By: []string{"b"}}}
	byName["b"] = &shown{BootUnit: fact.BootUnit{By: []string{"a"}}}
	if boots("a", byName, map[string]bool{}) {
		t.Error("two units that start each other are started by the boot")
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]float64{"100ms": 0.1, "1min 30s": 90, "infinity": -1, "0": 0, "5h": 18000, "x": 0, "": 0} {
		if got := seconds(text); got != want {
			t.Errorf("%q: %g, want %g", text, got, want)
		}
	}
}

func TestPorts(t *testing.T) {
	for _, c := range []struct {
		exec, env string
		want      []int
	}{
		{"/home/app/app -p 3000", "", []int{3000}},
		{"/usr/bin/gunicorn app:app -b 127.0.0.1:8000 --workers 4", "", []int{8000}},
		{"/usr/bin/puma -b tcp://0.0.0.0:9292", "", []int{9292}},
		{"/usr/bin/node server.js --port=8081", "", []int{8081}},
		{"/home/app/app", "PORT=3000 MYSQL_PORT=3306 REDIS_ADDR=127.0.0.1:6379", []int{3000}},
		{"/home/app/app", "export LISTEN_ADDR=\":8080\"\nDB_HOST=127.0.0.1\n", []int{8080}},
		{"/usr/bin/sleep 1000", "LIMIT=1000", nil},
	} {
		if got := portsIn(c.exec, c.env); !slices.Equal(got, c.want) {
			t.Errorf("%s, %q: %v, want %v", c.exec, c.env, got, c.want)
		}
	}
}

func TestStoreAnswers(t *testing.T) {
	const answers = "*2\r\n$4\r\nsave\r\n$%s\r\n*2\r\n$10\r\nappendonly\r\n$2\r\n%a\r\n*2\r\n$16\r\nmaxmemory-policy\r\n$10\r\n%p\r\n$51\r\n# Keyspace\r\ndb0:keys=12,expires=5,avg_ttl=3\r\ndb3:keys=1,expires=0,avg_ttl=0\r\n\r\n+OK\r\n"
	answer := func(save, aof, policy string) fact.BootStore {
		var s fact.BootStore
		text := strings.NewReplacer("%s", save, "%a", aof, "%p", policy).Replace(answers)
		if err := readStore(strings.NewReader(text), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := answer("0\r\n", "no", "noeviction"); s.Persistent || s.Evicts || s.Forever != 8 {
		t.Errorf("without persistence: %+v", s)
	}
	if s := answer("8\r\n3600 1", "no", "allkeys-lru"); !s.Persistent || !s.Evicts {
		t.Errorf("with snapshots: %+v", s)
	}
	if s := answer("0\r\n", "yes", "noeviction"); !s.Persistent {
		t.Errorf("with a log: %+v", s)
	}
	if err := readStore(strings.NewReader("-NOAUTH Authentication required.\r\n"), new(fact.BootStore)); err == nil {
		t.Error("a refusal is no answer")
	}
}

func TestMountUnits(t *testing.T) {
	for point, want := range map[string]string{"/srv/ram": "srv-ram.mount", "/srv/my-data": `srv-my\x2ddata.mount`} {
		if got := unitOfMount(point); got != want {
			t.Errorf("%s: %s, want %s", point, got, want)
		}
	}
	mounts := parseMounts("29 1 253:0 / / rw - ext4 /dev/vda rw\n31 29 0:26 / /srv/a\\040b rw shared:1 - tmpfs tmpfs rw\nbad line\n")
	if len(mounts) != 2 || under("/srv/a b/c", mounts).kind != "tmpfs" || under("/srv/a", mounts).kind != "ext4" {
		t.Errorf("%+v", mounts)
	}
}

// FuzzShow: no output makes the reader fail, and each unit that it returns has a name.
func FuzzShow(f *testing.F) {
	f.Add(showText)
	f.Add("Id=\n\n\nId=a\nListen=:::::\nExecStart={ argv[]=\nRestartUSec=9999999999999999999h")
	f.Fuzz(func(t *testing.T, text string) {
		units := map[string]*shown{}
		for _, u := range ParseShow(text) {
			if u.Name == "" {
				t.Error("a unit without a name")
			}
			units[u.Name] = &u
		}
		for name := range units {
			boots(name, units, map[string]bool{})
		}
	})
}
