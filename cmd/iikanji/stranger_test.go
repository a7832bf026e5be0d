package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A stranger is one who has the sheet of the contest's day, three machines and a portal.
type stranger struct {
	t      *testing.T
	sheet  string
	config string // of ssh
	portal io.Writer
	up     lockedOutput // what the portal shows
	runs   int
	done   map[string]bool // lines of the sheet that were typed
}

// startMachines brings up what the sheet has for practice, with shorter loads.
func startMachines(t *testing.T) *stranger {
	t.Helper()
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	s := &stranger{t: t, sheet: pageText(t, "docs/contest-day.md"), done: map[string]bool{}}
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	s.portal = out
	var errs lockedOutput
	ended := make(chan int, 1)
	line := "iikanji up isucondition --hosts 3 --runs 40 --trap not-enabled"
	s.inSheet(line)
	go func() {
		ended <- run(ctx, &env{Stdin: in, Stdout: &s.up, Stderr: &errs, Now: time.Now, Cols: 80}, append(strings.Fields(line)[1:], "--load", "5s", "--key", key.Path+".pub"))
	}()
	t.Cleanup(func() {
		stop()
		if status := <-ended; status != 0 {
			t.Errorf("the machines end with status %d\n%s", status, errs.String())
		}
	})
	for !strings.Contains(s.up.String(), "press Enter") {
		select {
		case status := <-ended:
			ended <- status
			t.Fatalf("status %d\n%s%s", status, s.up.String(), errs.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.config = regexp.MustCompile(`ssh -F (\S+) isu1`).FindStringSubmatch(s.up.String())[1]
	program := filepath.Join(t.TempDir(), "iikanji")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, path := range map[string]string{"iikanji": program, "key": key.Path} { // the machines' sshd has no sftp
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.ssh(0, string(file), "cat >"+name)
	}
	s.ssh(0, "", "sudo install -m 755 iikanji /usr/local/bin/iikanji && sudo install -D -m 600 key ~root/.ssh/id_ed25519 && mkdir site")
	return s
}

// inSheet checks that the sheet has a command that is typed, in a block or in a sentence.
func (s *stranger) inSheet(line string) {
	s.t.Helper()
	s.done[line] = true
	if !slices.Contains(blockLines(s.sheet), line) && !slices.Contains(spanLines(s.sheet), line) {
		s.t.Fatalf("the sheet does not have %q", line)
	}
}

// left checks that every line of the sheet's blocks was typed, but those that others stand for.
func (s *stranger) left() {
	s.t.Helper()
	for line, why := range map[string]string{
		"iikanji init --policy contest": "on several hosts its sentence has another line",
		"iikanji notify test":           "there is no receiver",
		"iikanji score 5619":            "the portal's score is given in its place",
		"iikanji score 44034":           "the portal's score is given in its place",
	} {
		if s.done[line] {
			s.t.Errorf("%s was typed, though %s", line, why)
		}
		s.done[line] = true
	}
	for _, line := range blockLines(s.sheet) {
		if !s.done[line] {
			s.t.Errorf("the sheet has %q, which was not typed", line)
		}
	}
}

// ssh runs a script on the first machine.
func (s *stranger) ssh(status int, in, script string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "ssh", "-F", s.config, "isu1", script)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if got := cmd.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) || got != status {
		s.t.Fatalf("%s: status %d, want %d\n%s", script, got, status, out)
	}
	return string(out)
}

// typed runs a command of the sheet in the site's folder, as root.
func (s *stranger) typed(line string, want string) string {
	s.t.Helper()
	s.inSheet(line)
	out := s.ssh(0, "", "cd site && sudo -H IIKANJI_WHO=aoi "+line)
	s.t.Logf("$ %s\n%s", line, out)
	if !strings.Contains(out, want) {
		s.t.Errorf("%s: no %q in\n%s", line, want, out)
	}
	return out
}

// pressed makes a run of the portal, and returns its score.
func (s *stranger) pressed() (score string) {
	s.t.Helper()
	before := len(s.up.String())
	if _, err := io.WriteString(s.portal, "\n"); err != nil {
		s.t.Fatal(err)
	}
	s.runs++
	left := fmt.Sprintf("%d runs are left", 40-s.runs)
	for end := time.Now().Add(3 * time.Minute); !strings.Contains(s.up.String()[before:], left); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the portal does not end a run\n%s", s.up.String()[before:])
		}
	}
	text := s.up.String()[before:]
	m := regexp.MustCompile(`(?i)score\D{0,20}([0-9][0-9,]*)`).FindStringSubmatch(text)
	if m == nil || strings.Contains(text, "FAILED") {
		s.t.Fatalf("the portal's run: %s", text)
	}
	return strings.ReplaceAll(m[1], ",", "")
}

// benched runs a line of the sheet with iikanji bench in portal mode: it starts the command, plays
// the run of the portal when the command asks for it, and types the score after the command.
func (s *stranger) benched(line string) {
	s.t.Helper()
	s.inSheet(line)
	cmd := exec.CommandContext(s.t.Context(), "ssh", "-F", s.config, "isu1", "cd site && sudo -H IIKANJI_WHO=aoi "+line)
	var out lockedOutput
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.await(&out, "press now")
	score := s.pressed()
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("%s: %v\n%s", line, err, out.String())
	}
	s.t.Logf("$ %s\n%s", line, out.String())
	given := s.ssh(0, "", "cd site && sudo -H IIKANJI_WHO=aoi iikanji score "+score)
	s.t.Logf("$ iikanji score %s\n%s", score, given)
}

// await waits until an output has a text.
func (s *stranger) await(out *lockedOutput, want string) {
	s.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !strings.Contains(out.String(), want); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("no %q in\n%s", want, out.String())
		}
	}
}

// TestStrangersDay: one who types the sheet's commands on three machines ends READY. A portal's
// button makes the runs, a trainer has planted a trap, the database moves to the second
// machine, and all of them reboot in every order, the one with iikanji last.
func TestStrangersDay(t *testing.T) {
	tier.Long(t, "a day on three machines that reboot several times takes minutes")
	s := startMachines(t)
	s.typed("iikanji init local ssh://isucon@isu2 ssh://isucon@isu3 --policy contest --accept-new", "wrote iikanji.toml: 3 machines")
	// What only the team knows; the app is not built, since a machine has a part of one core.
	s.ssh(0, "", `cd site && sudo sed -i 's/^how = .*//; s/^\[bench\]/[bench]\nhow = "portal"\nruns_left = 40/; s/^command = .*//; s/^\[service.app\]/[service.app]\nbuild = "true"/' iikanji.toml`)
	t.Log(s.ssh(0, "", "cat site/iikanji.toml"))
	s.typed("iikanji doctor", "none failed")
	s.typed("iikanji hosts", "isu3")
	s.benched(`iikanji bench . -m "untouched"`)
	s.typed("iikanji work keep", "is the kept state")
	s.benched("iikanji diagnose .")
	s.typed(`iikanji turn take "index test" --for 15m`, "the turn is yours")
	s.typed("iikanji plan . DB101", "DB101")
	s.typed("iikanji apply . DB101", "is applied")
	s.typed("iikanji deploy", "it serves")
	s.typed("iikanji work", "By iikanji")
	s.benched(`iikanji bench . -m "index of the history"`)
	s.typed("iikanji work keep", "is the kept state")
	for range 2 { // prepare, then switch
		s.typed("iikanji plan . topology move service=mariadb to=isu2 back=drop", "can be planned")
		s.typed("iikanji apply . topology move service=mariadb to=isu2 back=drop", "is applied")
	}
	s.typed("iikanji turn give", "given back")
	s.typed("iikanji choose", "worth")
	s.typed("iikanji work back kept --dry-run", "")
	s.typed("iikanji work", "")
	s.typed("iikanji finalize --check", "nothing was changed")
	s.left()
	s.finalized("iikanji finalize --reboot --gaps 0s")
}

// finalized leaves the site: this machine goes down several times, and the command goes on. On a
// busy machine each of the rounds takes minutes.
func (s *stranger) finalized(line string) {
	s.inSheet(line)
	down := exec.CommandContext(s.t.Context(), "ssh", "-F", s.config, "isu1", "cd site && sudo -H IIKANJI_WHO=aoi "+line)
	text, err := down.CombinedOutput() // the connection may end before the command
	s.t.Logf("$ %s\n%s%v", line, text, err)
	const log = "sudo sh -c 'cat /var/lib/iikanji/site-*/finalize-reboot.log' 2>&1 || true"
	waits := func(want ...string) string {
		said := ""
		for end := time.Now().Add(25 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
			out, err := exec.CommandContext(s.t.Context(), "ssh", "-F", s.config, "-o", "ConnectTimeout=5", "isu1", log).CombinedOutput()
			if slices.ContainsFunc(want, func(w string) bool { return strings.Contains(string(out), w) }) {
				return string(out)
			}
			if err == nil {
				said = string(out)
			}
			if time.Now().After(end) {
				s.t.Fatalf("no %q in\n%s", want, said)
			}
		}
	}
	if out := waits("press now", "NOT READY"); strings.Contains(out, "NOT READY") {
		s.t.Fatal(out)
	}
	score := s.pressed()
	s.ssh(0, "", "cd site && sudo -H IIKANJI_WHO=aoi iikanji score "+score)
	out := waits("READY")
	s.t.Log(out)
	if !strings.Contains(out, "READY, rebooted.") || strings.Contains(out, "NOT READY") {
		s.t.Errorf("the day ends with\n%s", out)
	}
	// The mend is a drop-in of the boot's target, as its undo then is one file: systemctl
	// is-enabled does not count it.
	const state = "systemctl show -P Wants multi-user.target | grep -ow isucondition.go.service; systemctl is-active isucondition.go mariadb || true"
	if got := s.ssh(0, "", state); got != "isucondition.go.service\nactive\ninactive\n" {
		s.t.Errorf("after the day: %s", got)
	}
}
