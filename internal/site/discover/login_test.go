package discover

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestOwnLogin takes the account of the user's option file after the socket alone, and
// refers to its password.
func TestOwnLogin(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	svc := &service{Service: target.Service{Listen: "0.0.0.0:3307"}, proc: &process.Process{}}
	s := &search{host: host.Local{}, m: &process.Machine{}}
	if got := s.logins(svc); len(got) != 0 {
		t.Errorf("without a file and a socket: %+v", got)
	}
	path := filepath.Join(home, ".my.cnf")
	if err := os.WriteFile(path, []byte("[client]\nuser = admin\npassword = 'p w#'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := login{Login: host.Login{User: "admin", Password: "p w#", Address: "127.0.0.1:3307"}, ref: target.Ref("file:" + path + ":password"), where: "the account of " + path}
	if got := s.logins(svc); len(got) != 1 || got[0] != want {
		t.Errorf("by the port: %+v, want %+v", got, want)
	}
	svc.Socket, want.Socket, want.Address = "/run/s.sock", "/run/s.sock", ""
	if got := s.logins(svc); len(got) != 2 || got[0].User != "" || got[1] != want {
		t.Errorf("by the socket: %+v", got)
	}
	if err := os.WriteFile(path, []byte("[client]\nport=3306\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.logins(svc); len(got) != 1 {
		t.Errorf("a file without an account: %+v", got)
	}
}
