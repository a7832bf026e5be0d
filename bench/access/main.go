// Command access compares iikanji access with kataribe, alp and GoAccess on the
// same generated logs of a busy site (package gen), on one core, in interleaved
// rounds. `make bench` runs it. It is not a test: it prints a table of MB/s,
// ratios, memory and whether the counts agree.
//
//  1. A log of each format is generated. The peers read a part of it: their
//     speed does not depend on the size, and the slowest would need minutes.
//  2. The peers are built at exact versions into .cache/peers. A peer that
//     cannot be built is left out, with a message.
//  3. Rounds: each tool runs once per round, in turn, so that other load on the
//     machine affects all tools alike. Ratios are taken within a round.
//  4. Every tool's counts by route are compared with iikanji's on the same part.
//  5. The combined log is read in the wrappers of containers and syslog, too: what
//     unwrapping costs.
//
// With -hostile it reads logs of ten million different paths instead and prints
// time and memory.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/bench/access/gen"
)

type settings struct {
	dir       string
	binary    string
	lines     int
	peerLines int
	rounds    int
	cpu       string
	hostile   bool
	least     float64
	slow      []string // ratios below least
}

func main() {
	var s settings
	flag.StringVar(&s.dir, "cache", "", "keep the logs in this folder (default: a temporary one)")
	flag.StringVar(&s.binary, "iikanji", "", "the program to measure (default: built from this tree)")
	flag.IntVar(&s.lines, "lines", 5_000_000, "lines of each log")
	flag.IntVar(&s.peerLines, "peer-lines", 200_000, "lines of the cut that the peers read")
	flag.IntVar(&s.rounds, "rounds", 5, "how often each tool runs; medians are shown")
	flag.StringVar(&s.cpu, "cpu", strconv.Itoa(runtime.NumCPU()-1), "the CPU of all tools")
	flag.Float64Var(&s.least, "least", 0, "fail if iikanji is less than this many times as fast as kataribe in the worst round")
	flag.BoolVar(&s.hostile, "hostile", false, "read logs of ten million different paths instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &s); err != nil {
		fmt.Fprintf(os.Stderr, "bench/access: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *settings) error {
	scratch, err := os.MkdirTemp("", "iikanji-bench-access-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if s.dir == "" {
		s.dir = scratch
	}
	if s.binary == "" {
		s.binary = filepath.Join(scratch, "iikanji")
		out, err := exec.CommandContext(ctx, "go", "build", "-o", s.binary, "github.com/iikanji/iikanji/cmd/iikanji").CombinedOutput()
		if err != nil {
			return fmt.Errorf("building iikanji: %w: %s", err, out)
		}
	}
	if s.hostile {
		return hostile(ctx, s)
	}
	tools := peers(ctx, scratch)
	for _, f := range gen.Formats {
		if err := compareOn(ctx, s, f, tools); err != nil {
			return err
		}
	}
	if err := compareWrapped(ctx, s); err != nil {
		return err
	}
	if s.least > 0 && !slices.ContainsFunc(tools, func(p *peer) bool { return p.name == "kataribe" }) {
		return errors.New("-least: kataribe is missing")
	}
	if len(s.slow) > 0 {
		return fmt.Errorf("below -least %.1f: %s", s.least, strings.Join(s.slow, ", "))
	}
	return nil
}

// log generates a log unless it is in the cache, and returns its path and size.
func (s *settings) log(name string, write func(w io.Writer) error) (string, int64, error) {
	path := filepath.Join(s.dir, name)
	if st, err := os.Stat(path); err == nil {
		return path, st.Size(), nil
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return "", 0, fmt.Errorf("generating %s: %w", name, err)
	}
	st, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	return path, st.Size(), os.Rename(path+".part", path)
}

func (s *settings) generated(f gen.Format, lines int) (string, int64, error) {
	return s.log(fmt.Sprintf("%s-%d.log", f, lines), func(w io.Writer) error {
		return gen.Write(w, gen.Options{Format: f, Lines: lines, Seed: 1})
	})
}

// A contender is a row of the table.
type contender struct {
	name  string
	cpu   string
	log   string
	bytes int64
	lines int
	cmd   []string
	stdin bool // the log comes on standard input
	runs  []timing
}

// A timing is one run of a program.
type timing struct {
	took, cpu time.Duration
	rss       int64 // KiB
}

// compareOn measures all tools that read a format.
func compareOn(ctx context.Context, s *settings, f gen.Format, tools []*peer) error {
	whole, size, err := s.generated(f, s.lines)
	if err != nil {
		return err
	}
	cut, cutSize, err := s.generated(f, s.peerLines)
	if err != nil {
		return err
	}
	all := []*contender{{name: "iikanji", cpu: s.cpu, log: whole, bytes: size, lines: s.lines, cmd: []string{s.binary, "access", whole}}}
	if runtime.NumCPU() > 1 {
		all = append(all, &contender{name: "iikanji, two cores", cpu: "0,1", log: whole, bytes: size, lines: s.lines, cmd: all[0].cmd})
	}
	for _, p := range tools {
		args, stdin := p.args(f, cut)
		if args == nil {
			continue
		}
		all = append(all, &contender{name: p.name, cpu: s.cpu, log: cut, bytes: cutSize, lines: s.peerLines, cmd: append([]string{p.path}, args...), stdin: stdin})
	}
	for range s.rounds {
		for _, c := range all {
			if err := c.run(ctx); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%s: %d lines, %d MB; peers read %d lines, %d MB\n", f, s.lines, size/1e6, s.peerLines, cutSize/1e6)
	show(all)
	for _, c := range all {
		if worst := all[0].ratios(c)[0]; c.name == "kataribe" && worst < s.least {
			s.slow = append(s.slow, fmt.Sprintf("%s %.1f", f, worst))
		}
	}
	return agree(ctx, s, f, cut, tools)
}

// run runs the tool once, pinned to its CPUs.
func (c *contender) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", c.cpu}, c.cmd...)...)
	if c.stdin {
		f, err := os.Open(c.log)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	began := time.Now()
	if out, err := cmd.Output(); err != nil {
		return fmt.Errorf("running %s: %w: %.300s", c.name, err, out)
	}
	t := timing{took: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.rss = u.Maxrss
	}
	c.runs = append(c.runs, t)
	return nil
}

// ratios are how many times as fast as another contender c is, by round, the worst first.
func (c *contender) ratios(other *contender) (all []float64) {
	for i, t := range other.runs {
		all = append(all, t.took.Seconds()/float64(other.bytes)/(c.runs[i].took.Seconds()/float64(c.bytes)))
	}
	slices.Sort(all)
	return all
}

// show prints the table: medians, and our speed divided by that of each tool in
// the same round.
func show(all []*contender) {
	fmt.Printf("  %-20s %9s %12s %9s %9s  %s\n", "", "MB/s", "lines/s", "MB/CPU s", "peak MiB", "iikanji is")
	for _, c := range all {
		took := median(c.runs, func(t timing) float64 { return t.took.Seconds() })
		cpu := median(c.runs, func(t timing) float64 { return t.cpu.Seconds() })
		rss := median(c.runs, func(t timing) float64 { return float64(t.rss) })
		ratio := ""
		if c != all[0] {
			each := all[0].ratios(c)
			ratio = fmt.Sprintf("%.1f × as fast in the worst round (median %.1f, best %.1f)", each[0], each[len(each)/2], each[len(each)-1])
			if c.cmd[0] == all[0].cmd[0] {
				ratio = fmt.Sprintf("%.2f × one core (%.2f–%.2f)", 1/each[len(each)/2], 1/each[len(each)-1], 1/each[0])
			}
		}
		fmt.Printf("  %-20s %9.0f %12.0f %9.0f %9.0f  %s\n", c.name, float64(c.bytes)/took/1e6, float64(c.lines)/took, float64(c.bytes)/cpu/1e6, rss/1024, ratio)
	}
}

func median(runs []timing, of func(timing) float64) float64 {
	var all []float64
	for _, t := range runs {
		all = append(all, of(t))
	}
	slices.SortFunc(all, cmp.Compare[float64])
	return all[len(all)/2]
}

// hostile prints time and memory for logs that were generated to exhaust them.
func hostile(ctx context.Context, s *settings) error {
	for _, shape := range gen.Shapes {
		lines := 10_000_000
		if shape == "long" {
			lines = 300_000
		}
		path, size, err := s.log("hostile-"+shape+".log", func(w io.Writer) error { return gen.WriteHostile(w, shape, lines, 7) })
		if err != nil {
			return err
		}
		c := &contender{name: shape, cpu: "0-" + strconv.Itoa(runtime.NumCPU()-1), log: path, bytes: size, lines: lines, cmd: []string{s.binary, "access", "--limit", "3", path}}
		for range s.rounds {
			if err := c.run(ctx); err != nil {
				return err
			}
		}
		fmt.Printf("%s: %d lines, %d MB\n", shape, lines, size/1e6)
		show([]*contender{c})
		if filepath.Dir(path) == s.dir && s.dir != "" {
			os.Remove(path)
		}
	}
	return nil
}
