// Command slow measures iikanji slow against pt-query-digest and slp on the same
// generated logs, one core each. It prints throughput, ratios, memory, and whether
// the counts agree. It skips an unavailable peer and prints a line.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"
)

type settings struct {
	dir      string
	binary   string
	size     int64
	peerSize int64
	rounds   int
	cpu      string
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "iikanji", "", "the program to measure (default: built from this tree)")
	flag.Int64Var(&s.size, "size", 1<<30, "bytes of each log")
	flag.Int64Var(&s.peerSize, "peer-size", 64<<20, "bytes of the smaller log for the peers")
	flag.IntVar(&s.rounds, "rounds", 5, "runs of iikanji; the median counts")
	flag.StringVar(&s.cpu, "cpu", strconv.Itoa(runtime.NumCPU()-1), "the CPU to pin to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s); err != nil {
		fmt.Fprintf(os.Stderr, "slow: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *settings) (err error) {
	if s.dir, err = os.MkdirTemp("", "iikanji-bench-slow-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if s.binary == "" {
		s.binary = filepath.Join(s.dir, "iikanji")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", s.binary, "github.com/iikanji/iikanji/cmd/iikanji").CombinedOutput(); err != nil {
			return fmt.Errorf("building iikanji: %w: %s", err, out)
		}
	}
	slp, why := buildSLP(ctx, s.dir)
	if why != "" {
		fmt.Println("slp: skipped:", why)
	}
	for _, fl := range []flavour{mariaDB, mySQL8} {
		if err := compareOn(ctx, s, fl, slp); err != nil {
			return err
		}
	}
	return nil
}

// compareOn measures all programs on the log of one flavour.
func compareOn(ctx context.Context, s *settings, fl flavour, slp string) error {
	big, small := filepath.Join(s.dir, "big.log"), filepath.Join(s.dir, "small.log")
	defer os.Remove(big)
	events, err := generate(big, fl, s.size)
	if err != nil {
		return fmt.Errorf("generating: %w", err)
	}
	few, err := generate(small, fl, s.peerSize)
	if err != nil {
		return fmt.Errorf("generating: %w", err)
	}
	fmt.Printf("%s: %d events in %d MiB; peers read %d events in %d MiB\n", fl, events, s.size>>20, few, s.peerSize>>20)
	ours, err := median(ctx, s, s.rounds, s.cpu, s.binary, "slow", big)
	if err != nil {
		return err
	}
	show("iikanji, one core", s.size, events, ours, 0)
	if runtime.NumCPU() > 1 {
		two, err := median(ctx, s, s.rounds, "0,1", s.binary, "slow", big)
		if err != nil {
			return err
		}
		show("iikanji, two cores", s.size, events, two, 0)
	}
	rate := float64(s.size) / ours.took.Seconds()
	want, err := countIikanji(ctx, s.binary, small)
	if err != nil {
		return err
	}
	if want.total != few {
		return fmt.Errorf("iikanji counts %d of %d events", want.total, few)
	}
	for _, p := range peers(slp) {
		if p.path == "" {
			fmt.Printf("  %-20s skipped: not installed\n", p.name)
			continue
		}
		got, err := median(ctx, s, 1, s.cpu, p.path, append(p.args, small)...)
		if err != nil {
			return err
		}
		show(p.name, s.peerSize, few, got, rate)
		compare(ctx, p, small, want)
	}
	return nil
}

// A timing is one run of a program.
type timing struct {
	took time.Duration
	rss  int64 // KiB
}

// median runs a program pinned to CPUs and returns the run of median length.
func median(ctx context.Context, s *settings, rounds int, cpu, program string, args ...string) (timing, error) {
	var all []timing
	for range rounds {
		cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", cpu, program}, args...)...)
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return timing{}, fmt.Errorf("running %s: %w: %.200s", filepath.Base(program), err, out)
		}
		all = append(all, timing{time.Since(began), maxRSS(cmd.ProcessState)})
	}
	slices.SortFunc(all, func(a, b timing) int { return int(a.took - b.took) })
	return all[len(all)/2], nil
}

// show prints one line. rate is iikanji's rate in bytes per second, 0 for iikanji.
func show(name string, size, events int64, t timing, rate float64) {
	mb := float64(size) / t.took.Seconds()
	fmt.Printf("  %-20s %7.1f MB/s  %9.0f events/s  %5d MiB", name, mb/1e6, float64(events)/t.took.Seconds(), t.rss>>10)
	if rate > 0 {
		fmt.Printf("  iikanji is %.1f × as fast", rate/mb)
	}
	fmt.Println()
}
