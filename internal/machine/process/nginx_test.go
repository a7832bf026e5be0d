package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/servertest"
)

// TestWithValues reads the command lines of titles.
func TestWithValues(t *testing.T) {
	for title, want := range map[string][]string{
		"nginx":                {"nginx"},
		"nginx -g daemon off;": {"nginx", "-g", "daemon off;"},
		"nginx -gdaemon off;":  {"nginx", "-gdaemon off;"},
		"nginx -c /a b/nginx.conf -p /c -g daemon off; master_process on; -q": {"nginx", "-c", "/a b/nginx.conf", "-p", "/c", "-g", "daemon off; master_process on;", "-q"},
		"/usr/sbin/nginx -p/run -e stderr":                                    {"/usr/sbin/nginx", "-p/run", "-e", "stderr"},
	} {
		if got := withValues(strings.Fields(title)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", title, got, want)
		}
	}
}

// TestReplaceNginx starts a real nginx again that was started with directives on its
// command line, as supervisors and containers do.
func TestReplaceNginx(t *testing.T) {
	dir, address := t.TempDir(), servertest.FreeAddress(t)
	conf := fmt.Sprintf("pid %[1]s/nginx.pid;\nevents {}\nhttp {\n\taccess_log off;\n\tclient_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;\n"+
		"\tserver { listen %[2]s; return 200 \"$nginx_version\"; }\n}\n", dir, address)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-p", dir, "-c", "nginx.conf", "-e", filepath.Join(dir, "error.log"), "-g", "daemon off; worker_processes 1;"}
	cmd := exec.Command("/usr/sbin/nginx", args...)
	begin(t, cmd)
	listens(t, address)
	spec, files, end := foundAgain(t, cmd)
	if !slices.Equal(spec.Args[1:], args) {
		t.Fatalf("found as %q", spec.Args)
	}
	child := replace(t, end, spec, files)
	t.Cleanup(func() {
		_ = syscall.Kill(child.PID, syscall.SIGTERM)
		<-child.Done
	})
	listens(t, address)
}
