package boot

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// clean is a host on which nothing is lost: units of the distribution, an app with a restart
// policy beside its database.
func clean() fact.Boot {
	return fact.Boot{
		Units: []fact.BootUnit{
			{Name: "nginx.service", Load: "loaded", Active: "active", State: "enabled", File: "/lib/systemd/system/nginx.service", Type: "forking", Ports: []int{80}, Boots: true, PID: 1},
			{Name: "mariadb.service", Load: "loaded", Active: "active", State: "enabled", File: "/lib/systemd/system/mariadb.service", Type: "notify", Ports: []int{3306}, Boots: true, PID: 2},
			{Name: "app.service", Load: "loaded", Active: "active", State: "enabled", File: "/etc/systemd/system/app.service", Local: true, Type: "simple", Exec: "/home/app/app -p 3000",
				Restart: "no", Burst: 5, Interval: 10, Wait: 0.1, After: []string{"mariadb.service"}, Ports: []int{3000}, Boots: true, PID: 3},
			{Name: "apache2.service", Load: "loaded", Active: "inactive", State: "disabled", File: "/lib/systemd/system/apache2.service", Ports: []int{80}},
			{Name: "motd.service", Load: "loaded", Active: "failed", State: "enabled", File: "/lib/systemd/system/motd.service", Boots: true},
		},
		Services: []fact.BootService{
			{Name: "web", Unit: "nginx.service", PIDs: []int{1}, Ports: []int{80}},
			{Name: "database", Unit: "mariadb.service", PIDs: []int{2}, Ports: []int{3306}},
			{Name: "app", Unit: "app.service", PIDs: []int{3}, Ports: []int{3000}, Needs: []string{"database"}, Program: "/home/app/app"},
		},
		Paths:  []fact.BootPath{{Service: "database", Path: "/run/mysqld/mysqld.sock", Folder: "/run/mysqld", Maker: "/usr/lib/tmpfiles.d/mariadb.conf"}},
		Stores: []fact.BootStore{{Service: "cache", Forever: 10, Persistent: true}, {Service: "pages", Forever: 10, Evicts: true}, {Service: "small"}},
		Disks:  []fact.BootDisk{{Path: "/", Free: 3 << 30, Total: 20 << 30}, {Path: "/big", Free: 30 << 30, Total: 2000 << 30}},
	}
}

func codes(t *testing.T, b fact.Boot) (out []string) {
	t.Helper()
	found, err := cause.Find(cause.Input{Facts: []iikanji.Fact{fact.TopicBoot.Fact("", "", b, true)}}, Rules())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if len(f.Remedies) == 0 || f.Remedies[len(f.Remedies)-1].Kind != iikanji.KindPerson {
			t.Errorf("%s has no line for a person: %+v", f.Code, f.Remedies)
		}
		out = append(out, string(f.Code)+" "+f.Where)
	}
	return out
}

// TestClean: nothing is found on a clean host.
func TestClean(t *testing.T) {
	if got := codes(t, clean()); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}

// TestPlanted: each planted cause is found, by its rule and no other. TestMachine plants most of
// them on a machine.
func TestPlanted(t *testing.T) {
	app := func(edit func(u *fact.BootUnit)) func(*fact.Boot) {
		return func(b *fact.Boot) { edit(&b.Units[2]) }
	}
	for name, c := range map[string]struct {
		plant func(b *fact.Boot)
		want  string // "" for nothing
	}{
		"started by hand":      {app(func(u *fact.BootUnit) { u.Boots, u.State = false, "disabled" }), "BOOT101 app"},
		"static, of the site":  {app(func(u *fact.BootUnit) { u.Boots, u.State = false, "static" }), "BOOT101 app"},
		"failed, of this host": {func(b *fact.Boot) { b.Units[4].Local = true }, "BOOT102 motd.service"},
		"two on 80":            {func(b *fact.Boot) { b.Units[3].Boots = true }, "BOOT103 web"},
		"a socket unit of its own": {func(b *fact.Boot) {
			b.Units = append(b.Units, fact.BootUnit{Name: "nginx.socket", Boots: true, Ports: []int{80}})
		}, ""},
		"no order":                 {app(func(u *fact.BootUnit) { u.After = nil }), "BOOT104 app"},
		"order after a simple one": {func(b *fact.Boot) { b.Units[1].Type = "simple" }, "BOOT104 app"},
		"restarts, and gives up":   {app(func(u *fact.BootUnit) { u.After, u.Restart = nil, "always" }), "BOOT104 app"},
		"restarts for ever":        {app(func(u *fact.BootUnit) { u.After, u.Restart, u.Interval = nil, "always", 0 }), ""},
		"every 3 s, no limit hit":  {app(func(u *fact.BootUnit) { u.After, u.Restart, u.Wait = nil, "always", 3 }), ""},
		"waits itself":             {app(func(u *fact.BootUnit) { u.After, u.Pre = nil, []string{"/usr/bin/wait-for-it db:3306"} }), ""},
		"on another host":          {func(b *fact.Boot) { b.Services = b.Services[:3]; b.Services[2].Needs = []string{"far"} }, "UNIT103 app"},
		"a folder in /run":         {func(b *fact.Boot) { b.Paths[0].Maker = "" }, "BOOT105 database"},
		"a mount by hand":          {func(b *fact.Boot) { b.Memory = []fact.BootMemory{{Path: "/mnt", Mount: "/mnt"}} }, "BOOT106 /mnt"},
		"data in /dev/shm": {func(b *fact.Boot) {
			b.Memory = []fact.BootMemory{{Service: "app", Path: "/dev/shm/a", Mount: "/dev/shm", Kept: true}}
		}, "BOOT106 app"},
		"many files in memory": {func(b *fact.Boot) {
			for _, name := range []string{"a/1", "a/2", "b"} {
				b.Memory = append(b.Memory, fact.BootMemory{Service: "app", Path: "/tmp/data/" + name, Mount: "/tmp", Kept: true})
			}
		}, "BOOT106 app"},
		"SET GLOBAL": {func(b *fact.Boot) { b.Variables = []fact.BootValue{{Service: "database", Name: "x", Now: "1"}} }, "BOOT107 database"},
		"sysctl -w": {func(b *fact.Boot) {
			b.Kernel = []fact.BootValue{{Name: "net.core.somaxconn", Now: "8192", Then: "4096"}}
		}, "BOOT108 host"},
		"in a terminal":       {func(b *fact.Boot) { b.Services[2].Unit = "" }, "BOOT109 app"},
		"a container without": {func(b *fact.Boot) { b.Services[2].Unit, b.Services[2].Container = "", "0123456789abcdef" }, "BOOT109 app"},
		"a container with": {func(b *fact.Boot) {
			b.Services[2].Unit, b.Services[2].Container, b.Services[2].Policy = "", "0123456789abcdef", "always"
		}, ""},
		"Redis with data":   {func(b *fact.Boot) { b.Stores[0].Persistent = false }, "BOOT110 cache"},
		"Redis as a queue":  {func(b *fact.Boot) { b.Stores[2].Queue = true }, "BOOT110 small"},
		"not built":         {func(b *fact.Boot) { b.Services[2].Newer = "/home/app/main.go" }, "BOOT111 app"},
		"not restarted":     {func(b *fact.Boot) { b.Services[2].Other = "/home/app/app" }, "BOOT111 app"},
		"not loaded":        {app(func(u *fact.BootUnit) { u.Reload = true }), "BOOT112 app"},
		"a wrong key":       {app(func(u *fact.BootUnit) { u.Wrong = []string{"app.service:3: Unknown key"} }), "BOOT113 app"},
		"refused":           {app(func(u *fact.BootUnit) { u.Load = "bad-setting" }), "BOOT113 app"},
		"a full disk":       {func(b *fact.Boot) { b.Disks[0].Free = 300 << 20 }, "BOOT114 /"},
		"a full small disk": {func(b *fact.Boot) { b.Disks[0] = fact.BootDisk{Path: "/", Free: 100 << 20, Total: 1 << 30} }, "BOOT114 /"},
	} {
		b := clean()
		c.plant(&b)
		got := codes(t, b)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || got[0] != c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
