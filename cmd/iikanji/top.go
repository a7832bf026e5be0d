package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/report"
)

type topCmd struct {
	Service []string      `short:"s" help:"Service by its root process (default: every process that listens on TCP)." placeholder:"NAME=PID"`
	Every   time.Duration `help:"Length of an interval." default:"1s"`
	Count   int           `short:"n" help:"Intervals to show; 0 means until Ctrl-C." default:"0"`
	Format  string        `help:"table, tsv or json (one document a line)." enum:"table,tsv,json" default:"table"`
	JSON    bool          `help:"The same as --format json."`
}

// Help is the long help of the command.
func (topCmd) Help() string {
	return `One line per interval: CPU of all cores (user, system, wait for disk, stolen),
runnable processes, pressure (share of the time in which some process waited
for CPU or I/O), free memory, disk and network bytes a second, and the CPU of
each service in percent of one core, the busiest first. --format tsv and json
have much more: descriptors, sockets, context switches, latencies of the disk.

Examples:
  iikanji top
  iikanji top -n 60 --format tsv > host.tsv
  iikanji top -s app=1234 -s db=987

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run prints until the count or Ctrl-C ends it.
func (c *topCmd) Run(ctx context.Context, e *env) error {
	if c.Every < 100*time.Millisecond || c.Every > time.Hour {
		return usageError("--every %v: want 100ms to 1h", c.Every)
	}
	if c.JSON {
		c.Format = "json"
	}
	named, err := parseServices(c.Service)
	if err != nil {
		return err
	}
	s, err := hoststat.NewSampler(e.Now())
	if err != nil {
		return err
	}
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for n := 0; c.Count == 0 || n < c.Count; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		services := named
		if len(named) == 0 { // services come and go
			if services, err = hoststat.Discover(); err != nil {
				return err
			}
		}
		sample, err := s.Sample(e.Now(), services)
		if err != nil {
			return err
		}
		if err := c.show(e, n, sample); err != nil {
			return err
		}
	}
	return nil
}

// parseServices reads NAME=PID pairs; one name may have several.
func parseServices(pairs []string) ([]hoststat.Service, error) {
	var out []hoststat.Service
	at := map[string]int{}
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		pid, err := strconv.Atoi(value)
		if !ok || err != nil || pid < 1 || name == "" {
			return nil, usageError("--service %q: want NAME=PID, as in app=1234", p)
		}
		i, known := at[name]
		if !known {
			i = len(out)
			at[name] = i
			out = append(out, hoststat.Service{Name: name})
		}
		out[i].PIDs = append(out[i].PIDs, pid)
	}
	return out, nil
}

const (
	topHead1 = "          cpu %, all cores      waits %"
	topHead2 = "time      usr sys wai stl  run  cpu  io  free disk  net  % of a core by service"
	// headEvery lines the heads are shown again.
	headEvery = 20
)

func (c *topCmd) show(e *env, n int, s *hoststat.Sample) error {
	switch c.Format {
	case "json":
		return json.NewEncoder(e.Stdout).Encode(s)
	case "tsv":
		return c.showTSV(e, n, s)
	}
	if n%headEvery == 0 {
		if _, err := fmt.Fprintf(e.Stdout, "%s\n%s\n", report.Shorten(topHead1, e.Cols), report.Shorten(topHead2, e.Cols)); err != nil {
			return err
		}
	}
	pct := func(v float64) float64 { return 100 * v / float64(max(s.Cores, 1)) }
	line := fmt.Sprintf("%s  %3.0f %3.0f %3.0f %3.0f %4d %4.0f %3.0f %5s %4s %4s  ",
		s.At.Format("15:04:05"), pct(s.User), pct(s.System), pct(s.IOWait), pct(s.Steal), s.Runnable,
		100*s.PressureCPU, 100*s.PressureIO, report.Size(s.MemAvailable),
		report.Short(s.DiskIn+s.DiskOut), report.Short(s.NetIn+s.NetOut))
	services := slices.SortedFunc(slices.Values(s.Services), func(a, b hoststat.ServiceSample) int {
		return cmp.Compare(b.User+b.System, a.User+a.System)
	})
	var names []string
	var cores []float64
	for _, sv := range services {
		names, cores = append(names, sv.Name), append(cores, sv.User+sv.System)
	}
	_, err := fmt.Fprintln(e.Stdout, line+report.Shorten(report.ServiceCPU(names, cores), max(e.Cols-report.Width(line), 12)))
	return err
}

// showTSV prints one row per interval and service, with the host's figures on
// the rows of the service "host".
func (c *topCmd) showTSV(e *env, n int, s *hoststat.Sample) error {
	if n == 0 {
		if _, err := fmt.Fprintln(e.Stdout, "time\tservice\tuser_cores\tsystem_cores\tiowait_cores\tsteal_cores\trss_bytes\tdisk_read_bytes_s\tdisk_write_bytes_s\tcontext_switches_s\tdescriptors\tdescriptor_limit\tsockets\tthreads"); err != nil {
			return err
		}
	}
	at := s.At.Format(time.RFC3339Nano)
	if _, err := fmt.Fprintf(e.Stdout, "%s\thost\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%.0f\t%.0f\t%.0f\t\t\t\t\n", at, s.User, s.System, s.IOWait, s.Steal,
		s.MemTotal-s.MemAvailable, s.DiskIn, s.DiskOut, s.Switches); err != nil {
		return err
	}
	for _, sv := range s.Services {
		if _, err := fmt.Fprintf(e.Stdout, "%s\t%s\t%.3f\t%.3f\t\t\t%d\t%.0f\t%.0f\t%.0f\t%d\t%d\t%d\t%d\n", at, report.Clean(sv.Name), sv.User, sv.System,
			sv.RSS, sv.Read, sv.Written, sv.Switches, sv.FDs, sv.FDLimit, sv.Sockets, sv.Threads); err != nil {
			return err
		}
	}
	return nil
}
