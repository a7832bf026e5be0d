package hoststat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Host is the service name of the rows that are about the whole machine.
const Host = "host"

// A tsvColumn has values in the rows of the host, in those of services, or in
// both. The names contain the units; rates are per second of the interval.
type tsvColumn struct {
	name    string
	host    func(s *Sample) string
	service func(v *ServiceSample) string
}

func fixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
func whole[T ~int | ~int64](v T) string  { return strconv.FormatInt(int64(v), 10) }

func tsvColumns() []tsvColumn {
	host := func(name string, f func(s *Sample) string) tsvColumn { return tsvColumn{name: name, host: f} }
	service := func(name string, f func(v *ServiceSample) string) tsvColumn { return tsvColumn{name: name, service: f} }
	seconds := func(d time.Duration) string { return fixed(d.Seconds(), 6) }
	return []tsvColumn{
		{"user_cores", func(s *Sample) string { return fixed(s.User, 3) }, func(v *ServiceSample) string { return fixed(v.User, 3) }},
		{"system_cores", func(s *Sample) string { return fixed(s.System, 3) }, func(v *ServiceSample) string { return fixed(v.System, 3) }},
		host("iowait_cores", func(s *Sample) string { return fixed(s.IOWait, 3) }),
		host("idle_cores", func(s *Sample) string { return fixed(s.Idle, 3) }),
		host("steal_cores", func(s *Sample) string { return fixed(s.Steal, 3) }),
		host("runnable", func(s *Sample) string { return whole(s.Runnable) }),
		host("blocked", func(s *Sample) string { return whole(s.Blocked) }),
		host("pressure_cpu", func(s *Sample) string { return fixed(s.PressureCPU, 3) }),
		host("pressure_io", func(s *Sample) string { return fixed(s.PressureIO, 3) }),
		host("pressure_memory", func(s *Sample) string { return fixed(s.PressureMemory, 3) }),
		{"rss_bytes", func(s *Sample) string { return whole(s.MemTotal - s.MemAvailable) }, func(v *ServiceSample) string { return whole(v.RSS) }},
		host("available_bytes", func(s *Sample) string { return whole(s.MemAvailable) }),
		host("swap_used_bytes", func(s *Sample) string { return whole(s.SwapUsed) }),
		host("swap_in_pages_s", func(s *Sample) string { return fixed(s.SwapIn, 0) }),
		host("swap_out_pages_s", func(s *Sample) string { return fixed(s.SwapOut, 0) }),
		{"disk_read_bytes_s", func(s *Sample) string { return fixed(s.DiskIn, 0) }, func(v *ServiceSample) string { return fixed(v.Read, 0) }},
		{"disk_write_bytes_s", func(s *Sample) string { return fixed(s.DiskOut, 0) }, func(v *ServiceSample) string { return fixed(v.Written, 0) }},
		host("disk_reads_s", func(s *Sample) string { return fixed(s.DiskReads, 1) }),
		host("disk_writes_s", func(s *Sample) string { return fixed(s.DiskWrites, 1) }),
		host("disk_flushes_s", func(s *Sample) string { return fixed(s.DiskFlushes, 1) }),
		host("disk_read_mean_s", func(s *Sample) string { return seconds(s.ReadTook) }),
		host("disk_write_mean_s", func(s *Sample) string { return seconds(s.WriteTook) }),
		host("disk_flush_mean_s", func(s *Sample) string { return seconds(s.FlushTook) }),
		host("disk_busy", func(s *Sample) string { return fixed(s.DiskBusy, 3) }),
		host("net_in_bytes_s", func(s *Sample) string { return fixed(s.NetIn, 0) }),
		host("net_out_bytes_s", func(s *Sample) string { return fixed(s.NetOut, 0) }),
		host("listen_drops_s", func(s *Sample) string { return fixed(s.ListenDrops, 1) }),
		host("retransmits_s", func(s *Sample) string { return fixed(s.Retransmits, 1) }),
		{"context_switches_s", func(s *Sample) string { return fixed(s.Switches, 0) }, func(v *ServiceSample) string { return fixed(v.Switches, 0) }},
		service("descriptors", func(v *ServiceSample) string { return whole(v.FDs) }),
		service("descriptor_limit", func(v *ServiceSample) string { return whole(v.FDLimit) }),
		service("sockets", func(v *ServiceSample) string { return whole(v.Sockets) }),
		service("processes", func(v *ServiceSample) string { return whole(v.Processes) }),
		service("threads", func(v *ServiceSample) string { return whole(v.Threads) }),
		service("busiest_thread_cores", func(v *ServiceSample) string { return fixed(v.Busiest, 3) }),
	}
}

// TSVHead is the head of the rows that [Sample.TSV] writes.
func TSVHead() string {
	var b strings.Builder
	b.WriteString("time\tservice")
	for _, c := range tsvColumns() {
		b.WriteString("\t" + c.name)
	}
	return b.String() + "\n"
}

// TSV is one row for the host, one for each service, and one, as "other/NAME",
// for each of Others, with every number of the sample; a cell that does not apply
// to a row is empty. Times are RFC 3339 in UTC.
func (s *Sample) TSV() string {
	columns := tsvColumns()
	at := s.At.UTC().Format(time.RFC3339Nano)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\t%s", at, Host)
	for _, c := range columns {
		b.WriteByte('\t')
		if c.host != nil {
			b.WriteString(c.host(s))
		}
	}
	b.WriteByte('\n')
	for i := range s.Services {
		v := &s.Services[i]
		fmt.Fprintf(&b, "%s\t%s", at, plain.Replace(v.Name))
		for _, c := range columns {
			b.WriteByte('\t')
			if c.service != nil {
				b.WriteString(c.service(v))
			}
		}
		b.WriteByte('\n')
	}
	for _, g := range s.Others {
		fmt.Fprintf(&b, "%s\t%s/%s", at, Other, plain.Replace(g.Name))
		for _, c := range columns {
			b.WriteByte('\t')
			switch c.name {
			case "user_cores":
				b.WriteString(fixed(g.User, 3))
			case "system_cores":
				b.WriteString(fixed(g.System, 3))
			case "processes":
				b.WriteString(whole(g.Processes))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// plain removes characters from program names that would break rows; the names are
// hostile input.
var plain = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// TSV is a whole recording: the head and the rows of all samples.
func TSV(samples []Sample) []byte {
	var b strings.Builder
	b.WriteString(TSVHead())
	for i := range samples {
		b.WriteString(samples[i].TSV())
	}
	return []byte(b.String())
}
