package hostproc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

const stat = "42 (a (b) c) S 7 42 43 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 200 18446744073709551615"

func TestParse(t *testing.T) {
	want := Stat{PID: 42, Parent: 7, Session: 43, State: 'S', Name: "a (b) c", Started: 98765}
	if s, err := ParseStat(42, stat); err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "42", "42 (a) S 1", ")(", "42 (a) S x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 y"} {
		if _, err := ParseStat(42, bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if got := ParseArgs("nginx: master process nginx -c x\x00\x00\x00"); len(got) != 1 {
		t.Errorf("a title: %q", got)
	}
	if got := ParseArgs("a\x00\x00b\x00"); !slices.Equal(got, []string{"a", "", "b"}) {
		t.Errorf("an empty argument: %q", got)
	}
	got := ParseLimits("Limit  Soft Limit\nMax open files            unlimited            4096   files\nMax cpu time  1 2\nMax processes\n")
	if !slices.Equal(got, []Limit{{"nofile", "unlimited", "4096"}}) {
		t.Errorf("limits %v", got)
	}
}

// TestChild reads a process that this one starts, before and after its end.
func TestChild(t *testing.T) {
	h := host.Local{}
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{"A=1", "B=x=y"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	s, err := ReadStat(h, pid)
	if err != nil || s.Parent != os.Getpid() || s.Started == 0 || s.Ended() || !s.Alive(h) {
		t.Fatalf("%+v, %v", s, err)
	}
	all, err := Stats(h)
	if err != nil || !slices.ContainsFunc(all, func(o Stat) bool { return o.PID == pid && o.Started == s.Started }) {
		t.Errorf("not among %d processes, %v", len(all), err)
	}
	if title, err := Title(h, pid); err != nil || title != "sleep 60" {
		t.Errorf("the title %q, %v", title, err)
	}
	if env, err := Env(h, pid); err != nil || !slices.Equal(env, []string{"A=1", "B=x=y"}) {
		t.Errorf("the environment %q, %v", env, err)
	}
	other := s
	if other.Started++; other.Alive(h) {
		t.Error("a process with another start time is taken for this one")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if _, err := ReadStat(h, pid); !errors.Is(err, fs.ErrNotExist) || s.Alive(h) {
		t.Errorf("after its end: %v", err)
	}
	if _, err := Env(h, pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the environment after its end: %v", err)
	}
}

// TestLimits compares the limits of this process with the kernel's system call.
func TestLimits(t *testing.T) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	number := func(n uint64) string {
		if n == unix.RLIM_INFINITY {
			return "unlimited"
		}
		return strconv.FormatUint(n, 10)
	}
	want := Limit{"nofile", number(files.Cur), number(files.Max)}
	for _, pid := range []int{Self, os.Getpid()} {
		if limits, err := Limits(host.Local{}, pid); err != nil || !slices.Contains(limits, want) || len(limits) != 8 {
			t.Errorf("process %d: %v, want %v among eight; %v", pid, limits, want, err)
		}
	}
}

func TestForked(t *testing.T) {
	h := &host.Fake{Root: t.TempDir()}
	for path, text := range map[string]string{"/proc/7/task/7/children": "8 9 ", "/proc/8/cmdline": "a\x00b c\x00"} {
		if err := errors.Join(os.MkdirAll(h.Root+path[:strings.LastIndexByte(path, '/')], 0o755), os.WriteFile(h.Root+path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := Forked(h, 7); err != nil || !slices.Equal(ids, []int{8, 9}) {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := Forked(h, 8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a list: %v", err)
	}
	if title, err := Title(h, 8); err != nil || title != "a b c" {
		t.Errorf("%q, %v", title, err)
	}
}

// FuzzProc checks that no text of /proc stops the readers: users choose names.
func FuzzProc(f *testing.F) {
	f.Add(stat)
	f.Add("a\x00b\x00")
	f.Add("Max open files            1024                 4096                 files\n")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseStat(1, text); err == nil && !strings.Contains(text, "("+s.Name+")") {
			t.Errorf("the name %q", s.Name)
		}
		for _, l := range ParseLimits(text) {
			if l.Name == "" || l.Soft == "" || l.Hard == "" {
				t.Errorf("%+v", l)
			}
		}
		if args := ParseArgs(text); len(args) > 0 && strings.Join(args, "\x00") != strings.TrimRight(text, "\x00") {
			t.Errorf("%q", args)
		}
	})
}
