package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An app's own tests may do anything: write to the site's database, send mail. They
// run without a network, without the folders in which servers have their sockets, in
// a copy of the source, and with the account of the running app.
const (
	ownTestTime  = time.Minute     // limit of one package's tests
	ownTestsTime = 3 * time.Minute // limit of all of them, with the compiler
	// mostTestPackages is how many packages' tests run; a larger app's would take the
	// time of the search.
	mostTestPackages = 40
	ownTestBinary    = ".iikanji.test"
)

// isolate hides the folders that are its arguments up to "--", and runs the rest. The
// network that unshare made has only a loopback device, which tests of HTTP servers need.
const isolate = `ip link set lo up 2>/dev/null
while [ "$1" != -- ]; do
	[ ! -d "$1" ] || mount -t tmpfs -o mode=1777 tmpfs "$1" || exit 125
	shift
done
shift
exec "$@"`

// serverFolders hold sockets of servers, and temporary files.
var serverFolders = []string{"/run", "/tmp", "/var/lib/mysql", "/var/lib/redis"}

// A TestsError is an edit of source with which a test of the app itself fails that
// passes without.
type TestsError struct {
	Package string
	Output  string
}

func (e *TestsError) Error() string {
	return fmt.Sprintf("the app's own tests in %s fail with the edit and pass without: %s", e.Package, e.Output)
}

// OwnTests is the result of an app's own tests on an edited copy of its source.
type OwnTests struct {
	Passed int // packages
	// Unsound are packages whose tests fail on the untouched source too: they prove
	// nothing about the edit.
	Unsound []string
	// NotRun is why tests that are there did not run; "" otherwise.
	NotRun string
}

// String is a part of a sentence about a change; "" if there are no tests.
func (r OwnTests) String() string {
	switch {
	case r.NotRun != "":
		return "the app's own tests were not run: " + r.NotRun
	case r.Passed > 0 && len(r.Unsound) > 0:
		return fmt.Sprintf("the app's own tests of %d packages pass, those of %s fail without it too", r.Passed, strings.Join(r.Unsound, ", "))
	case len(r.Unsound) > 0:
		return "the app's own tests fail without it too"
	case r.Passed > 0:
		return "the app's own tests pass"
	}
	return ""
}

// RunOwnTests runs a Go app's own tests in dir, an edited copy of its source on this machine.
// A package whose tests fail there, and pass in a copy of the untouched source, is a
// *TestsError. Failures of both are noted in the result.
func (s *Site) RunOwnTests(ctx context.Context, svc Service, source, dir string) (OwnTests, error) {
	h, err := s.On("")
	if err != nil {
		return OwnTests{}, fmt.Errorf("running the app's own tests: %w", err)
	}
	if !hasTests(h, dir) {
		return OwnTests{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ownTestsTime)
	defer cancel()
	r, err := s.ownTests(ctx, h, svc, source, dir)
	if ctx.Err() == context.DeadlineExceeded && err != nil {
		return OwnTests{NotRun: "they take longer than " + ownTestsTime.String()}, nil
	}
	if failed := (*TestsError)(nil); err != nil && !errors.As(err, &failed) {
		return OwnTests{}, fmt.Errorf("running the app's own tests: %w", err)
	}
	return r, err
}

func (s *Site) ownTests(ctx context.Context, h host.Host, svc Service, source, dir string) (OwnTests, error) {
	box, why := s.testBox(ctx, h, svc)
	if why != "" {
		return OwnTests{NotRun: why}, nil
	}
	packages, err := testPackages(ctx, h, dir)
	if err != nil || len(packages) > mostTestPackages {
		return OwnTests{NotRun: fmt.Sprintf("%d packages have tests", len(packages))}, err
	}
	var result OwnTests
	failed := map[string]string{}
	for _, p := range packages {
		output, ok, err := box.run(ctx, dir, p)
		if err != nil {
			return result, err
		}
		if ok {
			result.Passed++
			continue
		}
		failed[p] = output
	}
	if len(failed) == 0 {
		return result, nil
	}
	err = s.InSourceCopy(ctx, svc, source, func(_ host.Host, untouched string) error {
		for p, output := range failed {
			_, ok, err := box.run(ctx, untouched, p)
			if err != nil {
				return err
			}
			if ok {
				return &TestsError{Package: p, Output: output}
			}
			result.Unsound = append(result.Unsound, p)
		}
		return nil
	})
	slices.Sort(result.Unsound)
	return result, err
}

// hasTests reports whether a folder has files with Go tests that the go command
// would run.
func hasTests(h host.Host, dir string) bool {
	found := errors.New("found")
	err := h.Walk(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // an unreadable folder has no tests that could run
		case d.IsDir() && path != dir && (d.Name() == "vendor" || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, "_test.go"):
			return found
		}
		return nil
	})
	return errors.Is(err, found)
}

// testPackages are the folders of the module's packages with tests, relative to dir.
func testPackages(ctx context.Context, h host.Host, dir string) ([]string, error) {
	r, err := GoCommand(ctx, h, dir, "list", "-e", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}", "./...")
	if err != nil || r.Status != 0 {
		return nil, err
	}
	var packages []string
	for line := range strings.Lines(string(r.Output)) {
		if rel, err := filepath.Rel(dir, strings.TrimSpace(line)); err == nil && filepath.IsLocal(rel) {
			packages = append(packages, rel)
		}
	}
	return packages, nil
}

// GoCommand runs the go command in a folder. It reaches no network and runs nothing of
// the folder: cgo, whose flags can name programs, is off.
func GoCommand(ctx context.Context, h host.Host, dir string, args ...string) (host.Result, error) {
	return goCommand(ctx, h, dir, []string{"GOPROXY=off"}, args)
}

// GoCommandFor is GoCommand for another processor. Modules that are missing may be fetched, as
// by the build of an app of this machine.
func GoCommandFor(ctx context.Context, h host.Host, arch, dir string, args ...string) (host.Result, error) {
	return goCommand(ctx, h, dir, []string{"GOOS=linux", "GOARCH=" + arch}, args)
}

func goCommand(ctx context.Context, h host.Host, dir string, env, args []string) (host.Result, error) {
	program, err := exec.LookPath("go")
	if err != nil {
		return host.Result{}, err
	}
	env = append(append(os.Environ(), env...), "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "PWD="+dir)
	return h.Exec(ctx, host.Command{Path: program, Args: args, Dir: dir, Env: env})
}

// A testBox runs test programs apart from the site.
type testBox struct {
	h    host.Host
	path string   // of unshare
	args []string // up to the program
}

// testBox finds out how programs can be isolated here; why is the reason if they
// cannot.
func (s *Site) testBox(ctx context.Context, h host.Host, svc Service) (b *testBox, why string) {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return nil, "there is no program unshare to isolate them"
	}
	b = &testBox{h: h, path: unshare, args: []string{"--net", "--mount"}}
	var as []string
	if me, err := h.Account(); err != nil || me.UID != 0 {
		b.args = append([]string{"--user", "--map-root-user"}, b.args...)
	} else if as, why = asApp(h, svc); why != "" {
		return nil, why
	}
	b.args = append(b.args, "--", "/bin/sh", "-c", isolate, "sh")
	b.args = append(b.args, s.hiddenFolders()...)
	b.args = append(b.args, "--")
	b.args = append(b.args, as...)
	r, err := h.Exec(ctx, host.Command{Path: b.path, Args: append(slices.Clone(b.args), "/bin/true"), Dir: "/", Env: testEnv()})
	if err != nil || r.Status != 0 {
		return nil, "this account cannot isolate them from the network"
	}
	return b, ""
}

// hiddenFolders are the folders with sockets of the site's servers and of this machine's.
func (s *Site) hiddenFolders() []string {
	hidden := slices.Clone(serverFolders)
	for _, svc := range s.Target.Services {
		if path := strings.TrimPrefix(svc.Address, "unix:"); filepath.IsAbs(path) {
			hidden = append(hidden, filepath.Dir(path))
		}
	}
	slices.Sort(hidden)
	return slices.Compact(hidden)
}

// asApp returns the words to put before a command, so that the command runs with the account of
// the service's processes. The account is "nobody" if the processes run as root, because root
// must not run code that the app's account may have written. It is "nobody", too, if no process
// of the service is known on this machine.
func asApp(h host.Host, svc Service) (words []string, why string) {
	owner := host.Owner{}
	pids, _ := svc.Processes()
	if svc.Mirror != nil {
		pids = nil // they are of another machine
	}
	for _, pid := range pids {
		if info, err := h.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
			owner, _ = host.OwnerOf(info)
		}
	}
	if owner.UID == 0 {
		u, err := h.User("nobody")
		if err != nil || u.UID == 0 {
			return nil, "there is no account without rights"
		}
		if owner.UID = u.UID; len(u.Groups) > 0 {
			owner.GID = u.Groups[0]
		}
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return nil, "there is no program setpriv to run them without rights"
	}
	return []string{setpriv, "--reuid", strconv.Itoa(owner.UID), "--regid", strconv.Itoa(owner.GID), "--clear-groups", "--no-new-privs", "--"}, ""
}

// testEnv is the environment of a test: nothing of this process, which may have secrets.
func testEnv() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent", "TMPDIR=/tmp", "LANG=C.UTF-8"}
}

// run compiles the tests of a package and runs them. The output is its last lines.
func (b *testBox) run(ctx context.Context, dir, pkg string) (output string, ok bool, err error) {
	in := filepath.Join(dir, pkg)
	r, err := GoCommand(ctx, b.h, in, "test", "-c", "-vet=off", "-o", ownTestBinary, ".")
	if err == nil && r.Status == 0 {
		args := append(slices.Clone(b.args), "./"+ownTestBinary, "-test.timeout="+ownTestTime.String())
		r, err = b.h.Exec(ctx, host.Command{Path: b.path, Args: args, Dir: in, Env: append(testEnv(), "PWD="+in)})
	}
	if err == nil {
		err = ctx.Err()
	}
	return lastLines(r.Output), err == nil && r.Status == 0, err
}

// lastLines are the names of the tests that failed, or the last lines of the output.
func lastLines(output []byte) string {
	const most = 8
	var failed, all []string
	for line := range bytes.Lines(output) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		if strings.HasPrefix(text, "--- FAIL") {
			failed = append(failed, text)
		}
		all = append(all, text)
	}
	if len(failed) > 0 {
		return strings.Join(failed[:min(most, len(failed))], "; ")
	}
	return strings.Join(all[max(0, len(all)-most):], "; ")
}
