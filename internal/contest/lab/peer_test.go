package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// farEnd makes this program the far end on a machine.
const farEnd = "IIKANJI_TEST_FAR_END"

// parentOf makes this program start a machine below a folder, print what it has started,
// and wait for its end.
const parentOf = "IIKANJI_TEST_LAB_PARENT"

func parent(dir string) {
	l, err := NewLink(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := New(dir, "web")
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Join(l, 11)
	m.Limits = Limits{CPU: 0.5, Memory: 512 << 20}
	if err := m.Boot(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.pid, l.hub, l.name)
	time.Sleep(time.Hour)
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentOf); dir != "" {
		parent(dir)
		os.Exit(1)
	}
	if os.Getenv(farEnd) == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGPIPE)
	if err := peer.Serve(context.Background(), peer.Join(os.Stdin, os.Stdout), host.Local{}, peer.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestPeer: through one stream into a machine its commands, files and database are that
// machine's, and its power cut is a lost connection.
func TestPeer(t *testing.T) {
	tier.Slow(t)
	m := machine(t, "mariadb")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Database(), m.Install(self, "far-end"), m.Boot(t.Context())); err != nil {
		t.Fatal(err)
	}
	cmd := m.Command(context.Background(), "/usr/local/bin/far-end")
	cmd.Env = append(cmd.Env, farEnd+"=1")
	stream, err := peer.Command(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p, err := peer.Connect(t.Context(), stream, peer.Setup{Name: "web", Folders: []string{"/etc/iikanji-test"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Hostname() != m.Name {
		t.Errorf("it calls itself %q, not %q", p.Hostname(), m.Name)
	}
	r, err := p.Exec(t.Context(), host.Command{Path: "/bin/systemctl", Args: []string{"show", "mariadb", "-p", "MainPID", "--value"}})
	if err != nil || strings.TrimSpace(string(r.Output)) == "0" {
		t.Errorf("%q %v", r.Output, err)
	}
	if _, err := p.Stat("/proc/" + strings.TrimSpace(string(r.Output)) + "/stat"); err != nil {
		t.Errorf("the process of the unit: %v", err)
	}
	if err := errors.Join(p.Mkdir("/etc/iikanji-test", 0o755), p.Write("/etc/iikanji-test/f", []byte("x"), 0o640)); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(m.Path("/etc/iikanji-test/f")); err != nil || string(b) != "x" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := os.Stat("/etc/iikanji-test"); !os.IsNotExist(err) {
		t.Errorf("this machine: %v", err)
	}
	if err := p.Write("/etc/hostname", nil, 0o644); !errors.Is(err, peer.ErrFenced) {
		t.Errorf("outside its folders: %v", err)
	}
	db, err := p.SQL(host.Login{Socket: "/run/mysqld/mysqld.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var user string
	if err := db.QueryRowContext(t.Context(), "SELECT CURRENT_USER()").Scan(&user); err != nil || user != "root@localhost" {
		t.Errorf("the database takes this one for %q, %v", user, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Lost()
	var lost *host.LostError
	if _, err := p.Read("/etc/hostname"); !errors.As(err, &lost) || lost.Host != "web" {
		t.Errorf("%v", err)
	}
}
