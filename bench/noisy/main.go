// Command noisy runs the search of `make demo` on this machine while something else takes a
// part of it, and appends what came of it to a record file.
//
// Usage: go run ./bench/noisy steal|busy|quota RECORD [TIME] [FLAGS OF TUNE...]
//
//   - steal: on each core a real-time process takes a share of 0 to 15 % that is drawn anew
//     every 3 s, in bursts of at most 7.5 ms. A guest cannot make steal: /proc/stat counts it
//     only when the hypervisor takes the time. The site loses the same time in the same way,
//     and the guard finds it under "other programs" instead of "steal".
//   - busy: a process in a session of its own takes one core for the whole search.
//   - quota: the search has a CPU quota of one core, by a control group (version 1 or 2).
//
// TIME is the limit of the search (13m). It needs bin/iikanji: make build.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "burst":
		err = burst(args[1])
	case len(args) == 1 && args[0] == "spin":
		for n := uint64(1); n > 0; n++ { // for 500 years
		}
	case len(args) >= 2:
		err = measure(args[0], args[1], args[2:])
	default:
		err = errors.New("usage: go run ./bench/noisy steal|busy|quota RECORD [TIME] [FLAGS OF TUNE...]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "noisy:", err)
		os.Exit(1)
	}
}

// burst takes a random share of one core until it is killed. Without the right to be a
// real-time process it has a higher priority than others, if that is allowed.
func burst(core string) error {
	runtime.LockOSThread()
	cpu, err := strconv.Atoi(core)
	if err != nil {
		return fmt.Errorf("the number of a core: %w", err)
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("staying on core %d: %w", cpu, err)
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0); err != nil {
		err = unix.Setpriority(unix.PRIO_PROCESS, 0, -10)
		fmt.Fprintf(os.Stderr, "noisy: core %d: no real-time priority; a nice value of -10 instead: %v\n", cpu, err)
	}
	const period = 50 * time.Millisecond
	for {
		share := rand.Float64() * 0.15
		for until := time.Now().Add(3 * time.Second); time.Now().Before(until); {
			work := time.Duration(share * float64(period))
			for end := time.Now().Add(work); time.Now().Before(end); {
			}
			time.Sleep(period - work)
		}
	}
}

// measure runs the search beside the noise and appends its record.
func measure(kind, record string, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	limit := "13m"
	if len(args) > 0 {
		limit, args = args[0], args[1:]
	}
	work, err := os.MkdirTemp("", "noisy")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil { // as root, the services run as another user
		return err
	}
	program := "bin/iikanji"
	tune := append([]string{"tune", "isucondition", "--time", limit,
		"--dir", filepath.Join(work, "stack"), "--history", filepath.Join(work, "history")}, args...)
	says := ""
	switch kind {
	case "steal":
		says = "on each core a share of 0 to 15 %, drawn every 3 s, in bursts of at most 7.5 ms"
		for cpu := range runtime.NumCPU() {
			if err := beside(ctx, "burst", strconv.Itoa(cpu)); err != nil {
				return err
			}
		}
	case "busy":
		says = "one process that never sleeps, in a session of its own"
		if err := beside(ctx, "spin"); err != nil {
			return err
		}
	case "quota":
		group, err := quota()
		if err != nil {
			return err
		}
		defer os.Remove(group)
		says = "a quota of one core by the control group " + group
		// The shell enters the group before it becomes the search.
		tune = append([]string{"-c", `echo $$ >"$0"; exec "$@"`, filepath.Join(group, "cgroup.procs"), program}, tune...)
		program = "sh"
	default:
		return fmt.Errorf("%q is none of steal, busy and quota", kind)
	}
	var out, log strings.Builder
	search := exec.CommandContext(ctx, program, tune...)
	search.Cancel = func() error { return search.Process.Signal(syscall.SIGTERM) } // it undoes its changes
	search.Stdout, search.Stderr = &out, &log
	began := time.Now()
	failed := search.Run()
	text := fmt.Sprintf("## %s: %s\n\n%s, %d cores; `tune isucondition --time %s %s`: %s after %.0f s.\n\n```\n%s\n%s```\n\n",
		kind, says, began.UTC().Format(time.DateOnly), runtime.NumCPU(), limit, strings.Join(args, " "), search.ProcessState,
		time.Since(began).Seconds(), strings.Join(logLine.FindAllString(log.String(), -1), "\n"), out.String())
	if failed != nil {
		failed = fmt.Errorf("the search: %w: %s", failed, strings.TrimSpace(log.String()[max(0, log.Len()-500):]))
	}
	return errors.Join(failed, appendTo(record, text))
}

// logLine is a line of the search's log that begins with a time of its own.
var logLine = regexp.MustCompile(`(?m)^[0-9][0-9]:[0-9][0-9].{0,235}`)

// beside starts this program with other arguments, in a session of its own: the guard does not
// take it for a part of the search. It ends with the context or with this process.
func beside(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the noise: %w", err)
	}
	return nil
}

// quota makes a control group with a quota of one core.
func quota() (group string, err error) {
	for _, try := range []struct{ base, file, quota string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"}, {"/sys/fs/cgroup", "cpu.max", "100000 100000"},
	} {
		group = filepath.Join(try.base, fmt.Sprintf("iikanji-noisy-%d", os.Getpid()))
		if err = os.Mkdir(group, 0o755); err != nil {
			continue
		}
		if err = os.WriteFile(filepath.Join(group, try.file), []byte(try.quota), 0o644); err == nil {
			return group, nil
		}
		_ = os.Remove(group)
	}
	return "", fmt.Errorf("this machine lets us make no control group with a quota: %w", err)
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening the record: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
