package stack

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/process"
)

// writeForTest writes a file and removes it at the test's end.
func writeForTest(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
	t.Cleanup(func() { _ = os.Remove(path) })
}

func has(text, line string) bool { return strings.Contains("\n"+text+"\n", "\n"+line+"\n") }

// TestEnvFile asserts that the file is read at every start, that it ranks between
// the arena's environment and the user's, and that a bad line leaves the running
// app unchanged.
func TestEnvFile(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t), Env: []string{"MINE=person"}})
	url := s.Places().URL()
	mustExist(t, s.EnvFile(app), false)
	writeForTest(t, s.EnvFile(app), "# why\n\nGOGC=400\r\n  DB_NAME = of the file \nMINE=file\nEMPTY=\nQUOTED=\"a=b\"\n")
	must(t, s.Restart(t.Context(), app))
	env := page(t, url+"/env")
	for line, want := range map[string]bool{"GOGC=400": true, "DB_NAME=of the file": true, "DB_NAME=tiny": false, "MINE=person": true, "MINE=file": false, "EMPTY=": true, `QUOTED="a=b"`: true} {
		if has(env, line) != want {
			t.Errorf("%s is there: %v, want %v", line, !want, want)
		}
	}
	own := strings.Join(s.Env(app), "\n")
	if has(own, "GOGC=400") || !has(own, "DB_NAME=tiny") || !has(own, "MINE=person") {
		t.Errorf("the environment without the file: %s", own)
	}

	pid := s.Groups()[app]
	for text, want := range map[string]string{
		"GOGC=1\nsecret words\n": ":2: want name=value",
		"=x\n":                   ":1: want name=value",
		"# c\n\nA-B=x\n":         `:3: "A-B" is not the name of a variable`,
		"1A=x\n":                 `:1: "1A" is not the name of a variable`,
	} {
		must(t, os.WriteFile(s.EnvFile(app), []byte(text), 0o644))
		err := s.Restart(t.Context(), app)
		if err == nil || !strings.Contains(err.Error(), s.EnvFile(app)+want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if now := s.Groups()[app]; len(now) != 1 || now[0] != pid[0] {
		t.Error("a bad line took the running app down")
	}
	must(t, os.WriteFile(s.EnvFile(app), []byte("GOGC=300\n"), 0o644))
	down(t, s)
	s = bring(t, tiny(), Options{Dir: s.dir.root})
	if env := page(t, s.Places().URL()+"/env"); !has(env, "GOGC=300") {
		t.Error("the file did not outlive the stack")
	}
}

// limitOf reads the soft and the hard limit of a running process.
func limitOf(t *testing.T, pid int, name string) (soft, hard string) {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	must(t, err)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			f := strings.Fields(rest)
			return f[0], f[1]
		}
	}
	t.Fatalf("no limit %q in\n%s", name, b)
	return "", ""
}

// TestLimits asserts that each service has exactly the limits in its file, still
// runs as the account and dies with the supervisor. Without the file the limits are gone.
func TestLimits(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	was, _ := limitOf(t, s.Groups()[app][0], "Max open files")
	for _, service := range []string{app, nginx, database} {
		file := s.LimitsFile(service)
		mustExist(t, file, false)
		writeForTest(t, file, "# why\nnofile = 777\ncore = 2M\nmemlock=65536\n")
		must(t, s.Restart(t.Context(), service))
		pid := s.Groups()[service][0]
		for name, want := range map[string]string{"Max open files": "777", "Max core file size": strconv.Itoa(2 << 20), "Max locked memory": "65536"} {
			if soft, hard := limitOf(t, pid, name); soft != want || hard != want {
				t.Errorf("%s: %s is %s, %s, want %s", service, name, soft, hard, want)
			}
		}
		must(t, os.Remove(file))
	}
	checkUsers(t, s)
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page: %q", got)
	}
	must(t, s.Restart(t.Context(), app))
	if soft, _ := limitOf(t, s.Groups()[app][0], "Max open files"); soft != was {
		t.Errorf("without the file: %s, was %s", soft, was)
	}
}

// TestLimitsRefused asserts that a limit the kernel would refuse is reported with
// its line before anything is stopped.
func TestLimitsRefused(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	var ours unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &ours))
	most := max(ours.Max, openFilesOfKernel())
	if !mayRaise() {
		most = ours.Max
	}
	file := s.LimitsFile(app)
	pid := s.Groups()[app]
	for text, want := range map[string]string{
		"core = 0\nnofile = " + strconv.FormatUint(most+1, 10) + "\n": ":2: nofile = " + strconv.FormatUint(most+1, 10) + ": ",
		"nofile = many\n":        ":1: nofile = many: want a number or unlimited",
		"nofile = 3\n":           ":1: nofile = 3: want 64 at least",
		"nofile = 64K\n":         ":1: nofile = 64K: want a number",
		"\nstack = 3\n":          `:2: "stack" is not a limit`,
		"nofile\n":               ":1: want name=value",
		"memlock = 99999999999G": ":1: memlock = 99999999999G: want a number",
		"memlock = ":             ":1: memlock = : want a number",
	} {
		writeForTest(t, file, text)
		err := s.Restart(t.Context(), app)
		if err == nil || !strings.Contains(err.Error(), file+want) {
			t.Errorf("%q: %v", text, err)
		}
		if strings.HasPrefix(text, "core") && (err == nil || !strings.Contains(err.Error(), strconv.FormatUint(most, 10)+"; a higher limit is not possible here")) {
			t.Errorf("%v does not say what is possible", err)
		}
	}
	if now := s.Groups()[app]; len(now) != 1 || now[0] != pid[0] {
		t.Error("a bad line took the running app down")
	}
}

// TestRefresh asserts that the app is built if and only if its source has changed.
func TestRefresh(t *testing.T) {
	l := &lines{}
	s := bring(t, tiny(), Options{Dir: shared(t), Progress: l.say})
	l.all = nil
	before := s.Groups()
	for _, service := range []string{app, nginx} {
		must(t, s.Refresh(t.Context(), service))
	}
	if l.has("building") || s.Groups()[app][0] == before[app][0] || s.Groups()[nginx][0] == before[nginx][0] {
		t.Errorf("an unchanged source: %v, processes %v, were %v", l.all, s.Groups(), before)
	}
	file := filepath.Join(s.Source(app), "main.go")
	old, err := os.ReadFile(file)
	must(t, err)
	t.Cleanup(func() { _ = os.WriteFile(file, old, 0o644) })
	must(t, os.WriteFile(file, []byte(strings.Replace(string(old), `greeting = "hello"`, `greeting = "good day"`, 1)), 0o644))
	must(t, s.Refresh(t.Context(), app))
	if got := page(t, s.Places().URL()); got != "good day 3" {
		t.Errorf("page: %q", got)
	}
	must(t, os.WriteFile(file, append(old, "\nfunc"...), 0o644))
	var build *process.BuildError
	if err := s.Refresh(t.Context(), app); !errors.As(err, &build) {
		t.Errorf("error: %v", err)
	}
	if got := page(t, s.Places().URL()); got != "good day 3" {
		t.Errorf("page after a failed build: %q", got)
	}
}
