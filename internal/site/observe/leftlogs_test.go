package observe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// leftVariable makes TestLogsLeft the process that is killed: what it observes, the
// socket of the server, and the server's own log.
const leftVariable = "OBSERVE_TEST_LEFT"

// observing turns a log on and waits to be killed.
func observing(t *testing.T, task string) {
	parts := strings.SplitN(task, " ", 3)
	what, socket, own := parts[0], parts[1], parts[2]
	db, err := host.Local{}.SQL(host.Login{Socket: socket})
	if err != nil {
		t.Fatal(err)
	}
	ready := func() error {
		if _, err := db.ExecContext(t.Context(), "SELECT 'a secret of a user'"); err != nil {
			return err
		}
		if err := os.WriteFile(own+".ready", nil, 0o600); err != nil {
			return err
		}
		select {}
	}
	if what == "general" {
		_, err = Executed(t.Context(), host.Local{}, db, own, ready)
		t.Fatal(err)
	}
	s, err := newSlowSwitch(t.Context(), db, host.Local{}, own, observedLog)
	if err == nil {
		err = s.on(t.Context())
	}
	t.Fatal(errors.Join(err, ready()))
}

// TestLogsLeft kills an observation with SIGKILL while the general log or the slow
// log of every statement is on, on a server that goes on. Before anything else is
// observed, and by recover, every setting is put back and the log is removed.
func TestLogsLeft(t *testing.T) {
	if task := os.Getenv(leftVariable); task != "" {
		observing(t, task)
	}
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	db, err := srv.Open(t.Context(), "left")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var socket string
	if err := db.QueryRowContext(t.Context(), "SELECT @@GLOBAL.socket").Scan(&socket); err != nil {
		t.Fatal(err)
	}
	settings := func() (all string) {
		t.Helper()
		for _, name := range restorable {
			var value string
			if err := db.QueryRowContext(t.Context(), "SELECT @@GLOBAL."+name).Scan(&value); err == nil { // some servers lack some
				all += name + "=" + value + "\n"
			}
		}
		return all
	}
	before := settings()
	for i, what := range []string{"general", "slow"} {
		dir := t.TempDir()
		own := filepath.Join(dir, "slow.log")
		if err := errors.Join(os.WriteFile(own, nil, 0o666), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run", "^TestLogsLeft$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", leftVariable, what, socket, own))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(3 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(own + ".ready"); err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: the log was not turned on", what)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if settings() == before {
			t.Fatalf("%s: the killed process left nothing on: the test proves nothing", what)
		}
		if left, err := LogsLeft(host.Local{}, own); err != nil || len(left) != 1 {
			t.Errorf("%s: left are %v, %v", what, left, err)
		}
		if i == 0 { // as iikanji recover does
			if logs, err := RestoreLogs(t.Context(), host.Local{}, db, own); err != nil || len(logs) != 1 {
				t.Errorf("%s: restored %v, %v", what, logs, err)
			}
		} else { // as the next observation does
			s, err := newSlowSwitch(t.Context(), db, host.Local{}, own, observedLog)
			if err == nil {
				err = errors.Join(s.on(t.Context()), s.restore(t.Context()), os.Remove(s.path))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if now := settings(); now != before {
			t.Errorf("%s: the settings are\n%swant\n%s", what, now, before)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 2 { // the own log, and the sign of the test
			t.Errorf("%s: files are left: %v", what, files)
		}
	}
	hostileSettings(t, srv)
}

// hostileSettings: the account of the server can write the file of settings, so a
// name in it is no SQL, and a note of another server is left alone.
func hostileSettings(t *testing.T, srv *factstest.Server) {
	db, err := srv.Open(t.Context(), "hostile")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	own := filepath.Join(t.TempDir(), "slow.log")
	note := filepath.Join(filepath.Dir(own), executedLog+settingsSuffix)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server, err := serverOf(t.Context(), conn)
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{fmt.Sprintf(`{"server":%q,"settings":[{"name":"read_only = 1; --","value":"1"}]}`, server), "is not a setting of a log"},
		{fmt.Sprintf(`{"server":%q,"settings":[{"name":"secure_file_priv","value":""}]}`, server), "is not a setting of a log"},
		{"half a docu", "damaged"},
	} {
		if err := os.WriteFile(note, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := RestoreLogs(t.Context(), host.Local{}, db, own); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	if err := os.WriteFile(note, []byte(`{"server":"/another.sock 1","settings":[{"name":"general_log","value":"1"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if logs, err := RestoreLogs(t.Context(), host.Local{}, db, own); err != nil || len(logs) != 0 {
		t.Errorf("of another server: %v, %v", logs, err)
	}
}
