package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// measured is one run of one tool.
type measured struct {
	cpu  float64 // µs per request, user and system, of the whole process
	rate float64 // requests per second
}

// compare runs all tools in rounds and prints the table.
func compare(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "iikanji-bench-load-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	nginx, err := startNginx(ctx, dir)
	if err != nil {
		return err
	}
	defer nginx.stop()
	all := available(tools(), o.only)
	j := &job{url: nginx.url, want: nginx.want, dir: dir, time: o.time}
	for round := range o.rounds {
		// Each round starts with another tool, so the order of tools varies.
		for i := range all {
			t := all[(i+round)%len(all)]
			left := o.time * time.Duration((o.rounds-round)*len(all)-i)
			fmt.Fprintf(os.Stderr, "round %d of %d, about %v left: %s\n", round+1, o.rounds, left.Round(time.Second), t.name)
			m, err := measure(ctx, t, j)
			if err != nil {
				return fmt.Errorf("running %s: %w", t.name, err)
			}
			t.runs = append(t.runs, m)
		}
	}
	printTable(all)
	return nil
}

// available builds or finds the tools. It leaves out unavailable ones and prints
// a line for each. iikanji and wrk always take part.
func available(all []*tool, only string) []*tool {
	var have []*tool
	for i, t := range all {
		if i > 1 && !strings.Contains(t.name, only) {
			continue
		}
		var err error
		if t.bin, err = t.build(); err != nil {
			fmt.Printf("%s left out: %v\n", t.name, err)
			continue
		}
		have = append(have, t)
	}
	return have
}

// measure runs a tool once on the generator's core.
func measure(ctx context.Context, t *tool, j *job) (measured, error) {
	args := append([]string{"-c", fmt.Sprint(genCore), t.bin}, t.args(j)...)
	ctx, cancel := context.WithTimeout(ctx, j.time+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "taskset", args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		return measured{}, fmt.Errorf("%w: %s", err, lastLine(errOut.Bytes()))
	}
	n, err := t.count(j, out.Bytes())
	if err != nil {
		return measured{}, err
	}
	if n < 100 {
		return measured{}, fmt.Errorf("only %d requests: %.200q", n, out.String())
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return measured{cpu: float64(cpu.Nanoseconds()) / 1e3 / float64(n), rate: float64(n) / j.time.Seconds()}, nil
}

// ratios divides the CPU per request of a by that of b, round by round.
func ratios(a, b *tool) []float64 {
	all := make([]float64, len(a.runs))
	for i := range all {
		all[i] = a.runs[i].cpu / b.runs[i].cpu
	}
	slices.Sort(all)
	return all
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func spread(sorted []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(sorted), sorted[0], sorted[len(sorted)-1])
}

func (t *tool) medianOf(value func(measured) float64) float64 {
	all := make([]float64, len(t.runs))
	for i, m := range t.runs {
		all[i] = value(m)
	}
	slices.Sort(all)
	return median(all)
}

// find returns a tool by name, nil if it was left out.
func find(all []*tool, name string) *tool {
	for _, t := range all {
		if t.name == name {
			return t
		}
	}
	return nil
}

func printTable(all []*tool) {
	wrk, iikanji := find(all, "wrk"), find(all, "iikanji")
	fmt.Printf("\n%d connections, 1 KiB, generator on core %d, nginx on core %d, medians of %d rounds\n\n", conns, genCore, targetCore, len(iikanji.runs))
	fmt.Printf("%-26s %-6s %11s %10s  %s\n", "tool", "checks", "CPU µs/req", "requests/s", "CPU over wrk's")
	for _, t := range all {
		checks, over := "no", ""
		if t.checks {
			checks = "yes"
		}
		if wrk != nil {
			over = spread(ratios(t, wrk))
		}
		cpu, rate := t.medianOf(func(m measured) float64 { return m.cpu }), t.medianOf(func(m measured) float64 { return m.rate })
		fmt.Printf("%-26s %-6s %11.2f %10.0f  %s\n", t.name, checks, cpu, rate, over)
	}
	fmt.Println("\niikanji's CPU per request over")
	for _, t := range all {
		if t.goal == 0 {
			continue
		}
		r := ratios(iikanji, t)
		word := "holds"
		if median(r) > t.goal {
			word = "DOES NOT HOLD"
		}
		fmt.Printf("  %-24s %-20s goal ≤ %.2f  %s\n", t.name, spread(r), t.goal, word)
	}
}
