package change

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A module with tests in two packages.
const (
	ownGo      = "package own\n\nfunc Double(n int) int { return 2 * n }\n"
	ownWrongGo = "package own\n\nfunc Double(n int) int { return 2*n + 1 }\n"
	ownTestGo  = `package own

import "testing"

func TestDouble(t *testing.T) {
	if Double(2) != 4 {
		t.Error("not 4")
	}
}
`
	brokenTestGo = "package sub\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) { t.Error(\"always\") }\n"
	// apartTestGo passes if it can neither reach the servers of the parent test nor act as
	// root, and sees none of its variables.
	apartTestGo = `package own

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

func TestApart(t *testing.T) {
	if c, err := net.Dial("tcp", %q); err == nil {
		c.Close()
		t.Error("reached the TCP server")
	}
	if c, err := net.Dial("unix", %q); err == nil {
		c.Close()
		t.Error("reached the unix socket")
	}
	if v := os.Getenv("IIKANJI_TEST_SECRET"); v != "" {
		t.Error("sees the secret")
	}
	if %v && os.Getuid() == 0 {
		t.Error("runs as root")
	}
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := http.Get(s.URL); err != nil {
		t.Errorf("a server of the test's own: %%v", err)
	}
}
`
)

// ownModule writes a module and returns its folder.
func ownModule(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	files["go.mod"] = "module example.org/own\n\ngo 1.24\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	// The tests run with another account, which must reach their folder.
	for dir := dir; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ownTestsOf runs the tests of a module with an edit of own.go.
func ownTestsOf(t *testing.T, source, edited string) (r OwnTests, err error) {
	t.Helper()
	s := &Site{}
	path := filepath.Join(source, "own.go")
	build := func(ctx context.Context, dir string) error {
		if r, err = s.RunOwnTests(ctx, Service{}, source, dir); r.NotRun != "" && os.Getuid() != 0 {
			t.Skip("not run: " + r.NotRun)
		}
		return err
	}
	if e := s.Compile(t.Context(), Service{Running: acting{build: build}}, source, []Edit{{Path: path, New: []byte(edited)}}); e != nil && err == nil {
		t.Fatal(e)
	}
	return r, err
}

// TestOwnTests: an edit with which a test fails that passes without it is refused; a
// test that fails either way proves nothing.
func TestOwnTests(t *testing.T) {
	tier.Slow(t)
	source := ownModule(t, map[string]string{"own.go": ownGo, "own_test.go": ownTestGo, "sub/sub_test.go": brokenTestGo})
	r, err := ownTestsOf(t, source, ownGo+"\n// A comment.\n")
	if err != nil || r.Passed != 1 || !slices.Equal(r.Unsound, []string{"sub"}) || r.NotRun != "" {
		t.Errorf("an edit that changes nothing: %+v, %v", r, err)
	}
	if want := "pass, those of sub fail without it too"; !strings.Contains(r.String(), want) {
		t.Errorf("%q, want %q in it", r, want)
	}
	_, err = ownTestsOf(t, source, ownWrongGo)
	var failed *TestsError
	if !errors.As(err, &failed) || failed.Package != "." || !strings.Contains(failed.Output, "TestDouble") {
		t.Errorf("a wrong edit: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(source)); err != nil || len(entries) != 1 {
		t.Errorf("left beside the source: %v, %v", entries, err)
	}
}

// TestOwnTestsApart: the tests cannot reach the site, nor act as root.
func TestOwnTestsApart(t *testing.T) {
	t.Setenv("IIKANJI_TEST_SECRET", "hunter2")
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	socket := filepath.Join(t.TempDir(), "s")
	unix, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	text := fmt.Sprintf(apartTestGo, tcp.Addr().String(), socket, os.Getuid() == 0)
	source := ownModule(t, map[string]string{"own.go": ownGo, "own_test.go": text})
	if r, err := ownTestsOf(t, source, ownGo); err != nil || r.Passed != 1 || len(r.Unsound) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNoOwnTests: an app without tests has no result.
func TestNoOwnTests(t *testing.T) {
	source := ownModule(t, map[string]string{"own.go": ownGo, "testdata/x_test.go": brokenTestGo})
	if r, err := ownTestsOf(t, source, ownGo); err != nil || r.String() != "" || r.Passed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
