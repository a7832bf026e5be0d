package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// busySample returns a sample with the largest numbers that a column must hold.
func busySample(services ...string) *hoststat.Sample {
	s := &hoststat.Sample{At: time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC), Cores: 2, User: 2, System: 2, IOWait: 2, Steal: 2,
		Runnable: 999, PressureCPU: 1, PressureIO: 1, PressureMemory: 1, MemTotal: 999e9, MemAvailable: 999e9, SwapUsed: 999e9, SwapIn: 999e3, SwapOut: 999e3,
		DiskIn: 999e6, DiskOut: 999e6, DiskFlushes: 9999, ReadTook: 999 * time.Millisecond, WriteTook: 999 * time.Millisecond, FlushTook: 999 * time.Millisecond,
		NetIn: 999e6, NetOut: 999e6, Switches: 999e3, ListenDrops: 9999, Retransmits: 9999}
	for _, name := range append(services, hoststat.Other) {
		s.Services = append(s.Services, hoststat.ServiceSample{Name: name, Processes: 1, User: 1, System: 1, FDs: 9999, FDLimit: 9999, Sockets: 9999})
	}
	return s
}

var fourServices = []string{"database", "app", "nginx", observe.Generator}

// TestTopFits draws the longest line at every width.
func TestTopFits(t *testing.T) {
	many := append([]string{"a-service-with-a-long-name", "日本語"}, fourServices...)
	many = append(many, many...)
	for _, services := range [][]string{fourServices, many, {}} {
		for cols := 40; cols <= 320; cols++ {
			table := &topTable{}
			text := table.lines(busySample(services...), cols, 24)
			for line := range strings.Lines(text) {
				if w := report.Width(strings.TrimSuffix(line, "\n")); w > cols && cols >= 64 {
					t.Fatalf("%d services, %d columns: a line of %d:\n%s", len(services), cols, w, text)
				}
			}
		}
	}
}

// TestTopShows tests that 80 columns hold the basic numbers and a wide screen all.
func TestTopShows(t *testing.T) {
	narrow, wide := topText(80), topText(300)
	for _, name := range []string{"usr", "sys", "wai", "stl", "database", "app", "nginx", observe.Generator, "run", "stall %", "free", "disk"} {
		if !strings.Contains(narrow, name) {
			t.Errorf("%q is missing at 80 columns:\n%s", name, narrow)
		}
	}
	for _, name := range []string{"other", "sync", "mean ms", "net", "switches", "drops", "resent", "swap", "descriptors", "sockets"} {
		if !strings.Contains(wide, name) {
			t.Errorf("%q is missing at 300 columns:\n%s", name, wide)
		}
	}
}

func topText(cols int) string { return (&topTable{}).lines(busySample(fourServices...), cols, 24) }

// TestTopHead tests that the head is drawn again when it has scrolled off or changed,
// and that marked numbers are red, with the same text without colour.
func TestTopHead(t *testing.T) {
	table := &topTable{color: true}
	heads := 0
	for range 10 {
		if text := table.lines(busySample(fourServices...), 80, 7); strings.Contains(text, "usr") {
			heads++
		}
	}
	if heads != 2 {
		t.Errorf("%d heads above 10 lines on a screen for 5", heads)
	}
	wide := table.lines(busySample(fourServices...), 120, 7)
	if !strings.Contains(wide, "usr") {
		t.Errorf("a wider screen has the old head:\n%s", wide)
	}
	plain := topText(120)
	if strings.Contains(plain, "\x1b") || !strings.Contains(wide, "\x1b[1;31m") {
		t.Errorf("colour where none was asked for, or none:\n%q\n%q", plain, wide)
	}
	if naked := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(wide, ""); naked != plain {
		t.Errorf("without colour the text differs:\n%s\n%s", naked, plain)
	}
}

// A pane is a real terminal, driven by tmux.
type pane struct {
	t      *testing.T
	socket string
}

func newPane(t *testing.T, cols, rows int) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is not here: scripts/setup.sh check installs it")
	}
	p := &pane{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "env", "PS1=ready> ", tinyVariable+"=1", "sh")
	t.Cleanup(func() { p.tmux("kill-server") })
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "TMUX=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pane) typed(line string) { p.tmux("send-keys", "-l", line); p.tmux("send-keys", "Enter") }

// until waits for a screen for which ok is true, and returns it.
func (p *pane) until(what string, ok func(screen string) bool) string {
	p.t.Helper()
	screen := ""
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if screen = p.tmux("capture-pane", "-p"); ok(screen) {
			return screen
		}
	}
	p.t.Fatalf("the screen never had %s:\n%s", what, screen)
	return ""
}

var topRow = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  .*$`)

// appCell returns the cell below the head "app" in the newest row, and that row.
func appCell(screen string) (cell, row string) {
	rows := topRow.FindAllString(screen, -1)
	at := strings.LastIndex(screen, " app ")
	if len(rows) == 0 || at < 0 {
		return "", ""
	}
	at -= strings.LastIndex(screen[:at], "\n") // column of the last letter of "app", from 1
	row = rows[len(rows)-1]
	if len(row) < at+3 {
		return "", row
	}
	return strings.TrimSpace(row[at : at+3]), row
}

// TestTopInATerminal watches a stack that is up, through a restart of its app, on a
// terminal that becomes wider meanwhile.
func TestTopInATerminal(t *testing.T) {
	tier.Slow(t)
	dir := filepath.Join(workFolder(t), "tiny")
	up := startUp(t, "--dir", dir)
	up.expect(`^Ctrl-C stops it\.$`)
	p := newPane(t, 80, 12)
	p.until("a prompt", func(s string) bool { return strings.HasPrefix(s, "ready>") })
	p.typed("iikanji top tiny --dir " + dir + " --every 100ms")
	number := regexp.MustCompile(`^\d+$`)
	first := p.until("rows with the app's CPU", func(s string) bool {
		cell, _ := appCell(s)
		return len(topRow.FindAllString(s, -1)) >= 3 && number.MatchString(cell)
	})
	for line := range strings.Lines(first) {
		if strings.Contains(line, "usr") && !regexp.MustCompile(`database +app +nginx +generator +run`).MatchString(line) {
			t.Errorf("the head: %q", line)
		}
	}
	if !regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d( [ !]+\d+){4} .* - [ !]+\d+ `).MatchString(first) {
		t.Errorf("a generator without load:\n%s", first)
	}

	pid := runningApp(t, dir)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.until("the app as gone", func(s string) bool { cell, _ := appCell(s); return cell == "-" })
	up.expect(`^iikanji: the app `)
	up.order("app")
	up.expect(`^app is up again after `)
	p.until("the app's CPU after the restart", func(s string) bool { cell, _ := appCell(s); return number.MatchString(cell) })

	p.until("a head on a screen full of rows", func(s string) bool {
		return len(topRow.FindAllString(s, -1)) >= 9 && strings.Contains(s, "usr")
	})
	p.tmux("resize-window", "-x", "260", "-y", "20")
	p.until("the wide columns", func(s string) bool { return strings.Contains(s, "descriptors") && strings.Contains(s, "sockets") })

	p.tmux("send-keys", "C-c")
	p.until("a prompt in a line of its own", func(s string) bool {
		return strings.HasSuffix(strings.TrimRight(s, "\n "), "\nready>")
	})
	p.typed("echo status $?")
	p.until("status 0", func(s string) bool { return strings.Contains(s, "\nstatus 0\n") })
	if state := strings.TrimSpace(p.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{wrap_flag}")); state != "1 0 1" {
		t.Errorf("the terminal is left with cursor, alternate screen, wrap: %s", state)
	}
	if err := up.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	up.expect(`^stopping$`)
	if err := up.cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C of up: %v", err)
	}
}

// runningApp returns the process id of the app.
func runningApp(t *testing.T, dir string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "processes.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`"app": \{\s*"pid": (\d+)`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no app in %s", b)
	}
	var pid int
	if _, err := fmt.Sscan(string(bytes.TrimSpace(m[1])), &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}
