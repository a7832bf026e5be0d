// Command memory measures the peak memory of iikanji access and iikanji slow on
// large logs with trace ids: ids in query strings and paths of requests, and in
// comments of statements. It streams generated logs of the given size through a
// pipe, or reads them as a file with -file, and checks that every entry is
// counted.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"
)

// limitMiB is the promise of docs/access.md and docs/slow.md.
const limitMiB = 64

type settings struct {
	binary string
	size   int64
	file   bool
	dir    string
}

// A subject is one kind of log and the command that reads it.
type subject struct {
	name    string
	command string
	write   func(w *bufio.Writer, size int64) (entries int64, err error)
}

var subjects = []subject{
	{"access, combined", "access", writeCombined},
	{"access, LTSV", "access", writeLTSV},
	{"slow, MariaDB", "slow", writeSlow},
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "iikanji", "", "the program to measure (default: built from this tree)")
	flag.Int64Var(&s.size, "size", 10<<30, "bytes of each log")
	flag.BoolVar(&s.file, "file", false, "write each log to a temporary file first; needs the space")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s); err != nil {
		fmt.Fprintf(os.Stderr, "memory: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *settings) (err error) {
	// The peak of a child includes the peak of the parent at the time of exec.
	debug.SetMemoryLimit(24 << 20)
	if s.dir, err = os.MkdirTemp("", "iikanji-bench-memory-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if s.binary == "" {
		s.binary = filepath.Join(s.dir, "iikanji")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", s.binary, "github.com/iikanji/iikanji/cmd/iikanji").CombinedOutput(); err != nil {
			return fmt.Errorf("building iikanji: %w: %s", err, out)
		}
	}
	over := 0
	for _, sub := range subjects {
		peak, err := measure(ctx, s, sub)
		if err != nil {
			return fmt.Errorf("%s: %w", sub.name, err)
		}
		if peak > limitMiB {
			over++
		}
	}
	if over > 0 {
		return fmt.Errorf("%d of %d logs needed more than %d MiB", over, len(subjects), limitMiB)
	}
	return nil
}

// measure runs iikanji on one log and prints a line; peak is in MiB.
func measure(ctx context.Context, s *settings, sub subject) (peak int64, err error) {
	entries := make(chan int64, 1)
	failed := make(chan error, 1)
	cmd := exec.CommandContext(ctx, s.binary, sub.command, "--json", "--limit=0", "-")
	if s.file {
		name := filepath.Join(s.dir, "log")
		n, err := writeFile(name, s.size, sub.write)
		if err != nil {
			return 0, err
		}
		defer os.Remove(name)
		cmd.Args[len(cmd.Args)-1] = name
		entries <- n
		failed <- nil
	} else {
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		go func() {
			w := bufio.NewWriterSize(in, 1<<20)
			n, err := sub.write(w, s.size)
			if err == nil {
				err = w.Flush()
			}
			in.Close()
			entries <- n
			failed <- err
		}()
	}
	out, err := os.Create(filepath.Join(s.dir, "out.json"))
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, io.Discard
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if err := <-failed; err != nil {
		return 0, fmt.Errorf("writing the log: %w", err)
	}
	counted, rows, err := readCounts(out.Name())
	if err != nil {
		return 0, err
	}
	if want := <-entries; counted != want {
		return 0, fmt.Errorf("%d of %d entries were counted", counted, want)
	}
	peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	fmt.Printf("%-18s %6.1f GB  %10d entries  %6d rows  %4d s  peak %d MiB\n",
		sub.name, float64(s.size)/1e9, counted, rows, int(took.Seconds()), peak)
	return peak, nil
}

func writeFile(name string, size int64, write func(*bufio.Writer, int64) (int64, error)) (int64, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	n, err := write(w, size)
	if err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	return n, f.Close()
}

// readCounts reads the number of entries and of rows from the JSON output.
func readCounts(name string) (entries int64, rows int, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, err
	}
	var out struct {
		Rows []struct {
			Count int64 `json:"count"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return 0, 0, fmt.Errorf("reading the output: %w", err)
	}
	for _, r := range out.Rows {
		entries += r.Count
	}
	return entries, len(out.Rows), nil
}
