// Command slow measures iikanji slow against pt-query-digest and slp on the same
// generated logs, one core each. It prints throughput, ratios, memory, and whether
// the counts agree. It runs all programs in turn, round by round, and
// prints the worst ratio too. It skips an unavailable peer and prints a line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

type settings struct {
	dir      string
	binary   string
	size     int64
	peerSize int64
	rounds   int
	cpu      string
	least    float64
	below    []string // ratios below least
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "iikanji", "", "the program to measure (default: built from this tree)")
	flag.Int64Var(&s.size, "size", 1<<30, "bytes of each log")
	flag.Int64Var(&s.peerSize, "peer-size", 64<<20, "bytes of the smaller log for the peers")
	flag.IntVar(&s.rounds, "rounds", 5, "runs of each program, in turn; medians and the worst ratio count")
	flag.Float64Var(&s.least, "least", 0, "fail if iikanji is less than this many times as fast as pt-query-digest in the worst round")
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
	if len(s.below) > 0 {
		return fmt.Errorf("below -least %.1f: %s", s.least, strings.Join(s.below, ", "))
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
	want, err := countIikanji(ctx, s.binary, small)
	if err != nil {
		return err
	}
	if want.total != few {
		return fmt.Errorf("iikanji counts %d of %d events", want.total, few)
	}
	ps := peers(slp)
	all, err := rounds(ctx, s, ps, big, small)
	if err != nil {
		return err
	}
	show("iikanji, one core", s.size, events, median(all.ours))
	if runtime.NumCPU() > 1 {
		show("iikanji, two cores", s.size, events, median(all.twoCores))
	}
	for i, p := range ps {
		if p.path == "" {
			fmt.Printf("  %-20s skipped: not in PATH\n", p.name)
			if p.name == ptName && s.least > 0 {
				return errors.New("-least: pt-query-digest is not in PATH")
			}
			continue
		}
		show(p.name, s.peerSize, few, median(all.peers[i]))
		each := ratios(all.ours, all.peers[i], float64(s.size)/float64(s.peerSize))
		fmt.Printf("    iikanji on one core is %.1f × as fast (median of %d rounds; %.1f in the worst, %.1f in the best)\n", each[len(each)/2], len(each), each[0], each[len(each)-1])
		if p.name == ptName && each[0] < s.least {
			s.below = append(s.below, fmt.Sprintf("%s %.1f", fl, each[0]))
		}
		compare(ctx, p, small, want)
	}
	return nil
}

// timings are the runs of all programs, by round.
type timings struct {
	ours, twoCores []timing
	peers          [][]timing
}

// rounds runs all programs in turn, once per round, so that other work on the
// machine affects all of them.
func rounds(ctx context.Context, s *settings, ps []peer, big, small string) (t timings, err error) {
	t.peers = make([][]timing, len(ps))
	add := func(to *[]timing, cpu, program string, args ...string) {
		if err == nil {
			var one timing
			one, err = run1(ctx, cpu, program, args...)
			*to = append(*to, one)
		}
	}
	for range s.rounds {
		add(&t.ours, s.cpu, s.binary, "slow", big)
		if runtime.NumCPU() > 1 {
			add(&t.twoCores, "0,1", s.binary, "slow", big)
		}
		for i, p := range ps {
			if p.path != "" {
				add(&t.peers[i], s.cpu, p.path, append(slices.Clone(p.args), small)...)
			}
		}
	}
	return t, err
}

// ratios are how many times as fast as a peer ours is, by round, the worst first. size
// is the size of our log over that of the peer's.
func ratios(ours, peer []timing, size float64) (all []float64) {
	for i := range ours {
		all = append(all, size*peer[i].took.Seconds()/ours[i].took.Seconds())
	}
	slices.Sort(all)
	return all
}

// A timing is one run of a program.
type timing struct {
	took time.Duration
	rss  int64 // KiB
}

// run1 runs a program once, pinned to CPUs.
func run1(ctx context.Context, cpu, program string, args ...string) (timing, error) {
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", cpu, program}, args...)...)
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return timing{}, fmt.Errorf("running %s: %w: %.200s", filepath.Base(program), err, out)
	}
	return timing{time.Since(began), maxRSS(cmd.ProcessState)}, nil
}

// median returns the run of median length.
func median(runs []timing) timing {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b timing) int { return int(a.took - b.took) })
	return sorted[len(sorted)/2]
}

// show prints one line.
func show(name string, size, events int64, t timing) {
	mb := float64(size) / t.took.Seconds()
	fmt.Printf("  %-20s %7.1f MB/s  %9.0f events/s  %5d MiB\n", name, mb/1e6, float64(events)/t.took.Seconds(), t.rss>>10)
}
