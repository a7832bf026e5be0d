package discover

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestPM2Commands runs the commands with a pm2 that prints what it gets.
func TestPM2Commands(t *testing.T) {
	dir := t.TempDir()
	program := dir + "/it's pm2"
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s|' \"$PWD\" \"$PM2_HOME\" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	is := appserver.PM2Service{Name: "a shop; exit 3", Folder: dir, Home: "/h $x", UID: os.Geteuid(), Program: program}
	run := func(command, want string) {
		t.Helper()
		out, err := exec.Command("sh", "-c", command).Output()
		if err != nil || string(out) != want {
			t.Errorf("%s: %q, %v; want %q", command, out, err, want)
		}
	}
	c := pm2Commands([]appserver.PM2Service{is})
	if c.Start+c.Stop != "" {
		t.Errorf("without a file: %+v", c)
	}
	run(c.Restart, dir+"|/h $x|restart|a shop; exit 3|")
	is.File = "/etc/shop.config.js"
	if c = pm2Commands([]appserver.PM2Service{is}); c.Restart != "" {
		t.Errorf("with a file: %+v", c)
	}
	run(c.Stop, dir+"|/h $x|delete|a shop; exit 3|")
	run(c.Start, dir+"|/h $x|start|/etc/shop.config.js|--only|a shop; exit 3|")
	svc := target.Service{Commands: c}
	if svc.Method() != target.ByCommand {
		t.Errorf("restarted by %s", svc.Method())
	}
	second := is
	second.Name, second.Folder = "web", "/"
	c = pm2Commands([]appserver.PM2Service{is, second})
	run(c.Stop, dir+"|/h $x|delete|a shop; exit 3|/|/h $x|delete|web|")
	run(c.Start, dir+"|/h $x|start|/etc/shop.config.js|--only|a shop; exit 3|/|/h $x|start|/etc/shop.config.js|--only|web|")
	second.File = ""
	if c = pm2Commands([]appserver.PM2Service{is, second}); c.Start+c.Stop != "" {
		t.Errorf("with a file for one of two apps: %+v", c)
	}
	run(c.Restart, dir+"|/h $x|restart|a shop; exit 3|/|/h $x|restart|web|")
	if other := asUser(os.Geteuid()+1, "a 'b'"); strings.HasPrefix(other, "runuser ") && !strings.HasSuffix(other, ` -- sh -c 'a '\''b'\'''`) {
		t.Errorf("as another user: %s", other)
	}
}

// TestNameOfTitle: a server that has written a title over its command line has its name.
func TestNameOfTitle(t *testing.T) {
	for title, want := range map[string]string{"unicorn master -c unicorn.rb": "unicorn", "puma 5.6.5 (tcp://0.0.0.0:80) [shop]": "puma", "gunicorn: master [app:app]": "gunicorn",
		"PM2 v7.0.4: God Daemon (/home/shop/.pm2)": "PM2", "ruby": "ruby3.1"} {
		p := &process.Process{Program: "/usr/bin/ruby3.1", Args: []string{title}}
		p.PID = os.Getpid() + 1<<22 // no such process
		if _, name, _ := kindOf(p); name != want {
			t.Errorf("%q: %q, want %q", title, name, want)
		}
	}
}
