package cause_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// variable and status are facts of a database.
func variable(name, value string) iikanji.Fact {
	return iikanji.Fact{Target: "database", Topic: string(fact.TopicVariable), Key: name, Value: value}
}

func status(name, value string) iikanji.Fact {
	return iikanji.Fact{Target: "database", Topic: string(fact.TopicStatus), Key: name, Value: value}
}

// statements is a Slow profile of one digest.
func statements(sql string, n int64, took, lock time.Duration) iikanji.Profile {
	return iikanji.Profile{Source: iikanji.Slow, Rows: []iikanji.Row{{Key: sql, Count: n, Total: took,
		Query: &iikanji.SQLRow{Digest: "d1", Fingerprint: sql, DB: "app", Examined: n, Sent: n, Lock: lock}}}}
}

// machine is a Host profile with one service.
func machine(who string, m iikanji.MachineRow) iikanji.Profile {
	return iikanji.Profile{Source: iikanji.Host, Rows: []iikanji.Row{
		{Key: "host", Host: &iikanji.HostRow{Machine: &m}}, {Key: who, Host: &iikanji.HostRow{Written: 1 << 30}}}}
}

// found runs all rules and returns the finding of a code, if there is one.
func found(t *testing.T, in cause.Input, code iikanji.Code) (iikanji.Finding, bool) {
	t.Helper()
	fs, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	sameElsewhere(t, in, fs)
	i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == code })
	if i < 0 {
		return iikanji.Finding{}, false
	}
	return fs[i], true
}

// TestBufferPool checks that the remedy has the size of the data, or as much as the
// memory allows, and that there is no finding if the data fits.
func TestBufferPool(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		name       string
		data, free iikanji.Bytes // free 0: not measured
		reads      string
		want       string
	}{
		{"holds it all", 400 * mega, 4000 * mega, "50000", "536870912"},
		{"memory not measured", 400 * mega, 0, "50000", "536870912"},
		{"half of what is free", 4000 * mega, 512 * mega, "50000", "402653184"},
		{"no memory left", 4000 * mega, 1, "50000", "none"},
		{"it fits", 100 * mega, 4000 * mega, "50000", ""},
		{"hardly any reads", 400 * mega, 4000 * mega, "900", ""},
		{"few of all reads", 400 * mega, 4000 * mega, "3000", ""},
	} {
		in := cause.Input{Facts: []iikanji.Fact{
			factOf(string(fact.TopicTable), "app.t", catalog.Table{Schema: "app", Name: "t"}),
			factOf(string(fact.TopicSize), "app.t", catalog.TableSize{Rows: 1000, Data: c.data}),
			variable("innodb_buffer_pool_size", "134217728"), status("innodb_buffer_pool_reads", c.reads), status("innodb_buffer_pool_read_requests", "1000000")}}
		if c.free > 0 {
			in.Profiles = append(in.Profiles, machine("database", iikanji.MachineRow{MemLeast: c.free}))
		}
		f, ok := found(t, in, "DB201")
		switch {
		case ok != (c.want != ""):
			t.Errorf("%s: found %v: %+v", c.name, ok, f)
		case c.want == "none" && f.Remedies[0].Kind != iikanji.KindPerson, c.want != "none" && ok && f.Remedies[0].Args["innodb_buffer_pool_size"] != c.want:
			t.Errorf("%s: %+v, want %s", c.name, f.Remedies, c.want)
		}
	}
}

// TestPool distinguishes a starved pool from one that waits for locks, and from one
// with idle connections.
func TestPool(t *testing.T) {
	connected := func(n int) iikanji.Fact {
		f := factOf(string(fact.TopicConnection), "database", fact.Connections{TCP: n})
		f.Target = "app"
		return f
	}
	for _, c := range []struct {
		name  string
		size  int
		took  time.Duration
		lock  time.Duration
		waits string
		code  iikanji.Code
		pool  string
	}{
		{"busy", 4, 38 * time.Second, 0, "0", "APP103", "16"},
		{"busy, and no request waits", 15, 148 * time.Second, 0, "0", "", ""},
		{"idle", 40, 38 * time.Second, 0, "0", "", ""},
		{"busy with locks", 4, 38 * time.Second, 30 * time.Second, "5000", "", ""},
		{"many that wait for locks", 40, 300 * time.Second, 200 * time.Second, "5000", "APP104", "10"},
		{"as many as can be", 64, 600 * time.Second, 0, "0", "", ""},
	} {
		in := cause.Input{Run: &iikanji.Run{Took: 10 * time.Second, Place: iikanji.Placement{Cores: 2}, Steps: []iikanji.StepStat{{Count: 5000, Total: 200 * time.Second}}}, Profiles: []iikanji.Profile{statements("SELECT 1", 5000, c.took, c.lock)},
			Facts: []iikanji.Fact{connected(c.size), status("innodb_row_lock_waits", c.waits), status("innodb_row_lock_time", fmt.Sprint(c.lock.Milliseconds()))}}
		for _, code := range []iikanji.Code{"APP103", "APP104"} {
			f, ok := found(t, in, code)
			if ok != (code == c.code) {
				t.Errorf("%s: %s found %v: %+v", c.name, code, ok, f)
			}
			if !ok {
				continue
			}
			byHand := code == "APP104" // no remedy lowers a limit
			if r := f.Remedies[0]; r.Kind != map[bool]string{true: "patch", false: "appenv"}[byHand] || !byHand && r.Args["pool"] != c.pool || byHand && !strings.Contains(r.Says, "pool of "+c.pool) {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
}

// TestDiskTable checks the two causes of a temporary table on disk: its size, or a
// column type that tables in memory do not support.
func TestDiskTable(t *testing.T) {
	for _, c := range []struct{ sql, kind string }{
		{"SELECT owner, COUNT(*) FROM t GROUP BY owner + 1", "mysqlconf"},
		{"SELECT body, COUNT(*) FROM t GROUP BY owner + 1", "patch"},
	} {
		p := statements(c.sql, 500, 4*time.Second, 0)
		in := cause.Input{Profiles: []iikanji.Profile{p}, Facts: []iikanji.Fact{
			factOf(string(fact.TopicTable), "app.t", catalog.Table{Schema: "app", Name: "t", Columns: []catalog.Column{{Name: "owner", Type: "int(11)", Width: 4}, {Name: "body", Type: "text"}}}),
			factOf(string(fact.TopicSize), "app.t", catalog.TableSize{Rows: 1000})}}
		if f, ok := found(t, in, "DB109"); ok {
			t.Errorf("%s: nothing went to disk: %+v", c.sql, f)
		}
		p.Rows[0].Query.TmpDisk = 500
		if f, ok := found(t, in, "DB109"); !ok || f.Remedies[0].Kind != c.kind {
			t.Errorf("%s: %v %+v, want %s", c.sql, ok, f.Remedies, c.kind)
		}
	}
}

// TestDoublewrite checks that the finding needs the disk as the limit.
func TestDoublewrite(t *testing.T) {
	for _, c := range []struct {
		pressure float64
		set      string
		pages    string
		want     bool
	}{{0.8, "ON", "9000", true}, {0.1, "ON", "9000", false}, {0.8, "OFF", "9000", false}, {0.8, "ON", "100", false}} {
		in := cause.Input{Run: &iikanji.Run{Took: 10 * time.Second}, Profiles: []iikanji.Profile{machine("database", iikanji.MachineRow{PressureIO: c.pressure})},
			Facts: []iikanji.Fact{variable("innodb_doublewrite", c.set), status("innodb_dblwr_pages_written", c.pages)}}
		if f, ok := found(t, in, "DB209"); ok != c.want {
			t.Errorf("%+v: %v %+v", c, ok, f)
		}
	}
}

// TestBinding makes each resource the limit of a run, pinned or not. The binding must
// have the resource and a service of the site.
func TestBinding(t *testing.T) {
	usage := func(shares map[string]float64) (out []iikanji.Usage) {
		for _, who := range []string{"app", "database", "generator", "nginx", "other"} {
			out = append(out, iikanji.Usage{Who: who, Share: shares[who]})
		}
		return out
	}
	const half = 5 * time.Second
	for _, c := range []struct {
		name     string
		stack    string
		shares   map[string]float64
		profiles []iikanji.Profile
		want     string
	}{
		{"the whole machine", "all", map[string]float64{"app": 0.3, "database": 0.4, "generator": 0.2}, nil, "cpu database"},
		{"one core of four, pinned", "3", map[string]float64{"app": 0.15, "database": 0.08, "generator": 0.1}, nil, "cpu app"},
		{"a range of cores", "1-2", map[string]float64{"app": 0.15, "database": 0.08}, nil, ""},
		{"others fill the machine", "all", map[string]float64{"other": 0.7, "app": 0.1, "database": 0.15}, nil, "cpu database"},
		{"others fill the other cores", "3", map[string]float64{"other": 0.7, "app": 0.05}, nil, ""},
		{"no service of the site", "all", map[string]float64{"other": 1}, nil, ""},
		{"locks", "all", map[string]float64{"app": 0.1}, []iikanji.Profile{statements("UPDATE t SET a = 1", 100, 2*half, 2*half-time.Second)}, "locks database"},
		{"few locks", "all", map[string]float64{"app": 0.1}, []iikanji.Profile{statements("UPDATE t SET a = 1", 100, time.Second, time.Second)}, ""},
		{"the disk, by pressure", "all", map[string]float64{"app": 0.1}, []iikanji.Profile{machine("database", iikanji.MachineRow{PressureIO: 0.6})}, "disk database"},
		{"the disk, by waiting", "all", map[string]float64{"app": 0.1}, []iikanji.Profile{machine("app", iikanji.MachineRow{Wall: 2 * half, IOWait: 6 * time.Second})}, "disk app"},
		{"a little disk", "all", map[string]float64{"app": 0.1}, []iikanji.Profile{machine("database", iikanji.MachineRow{PressureIO: 0.2})}, ""},
		{"the disk, of others", "all", map[string]float64{"app": 0.1}, []iikanji.Profile{machine("other", iikanji.MachineRow{PressureIO: 0.9})}, ""},
	} {
		in := cause.Input{Profiles: c.profiles, Run: &iikanji.Run{Took: 2 * half, Usage: usage(c.shares), Place: iikanji.Placement{Cores: 4, Stack: c.stack}}}
		b := in.Binding()
		if got := strings.TrimSpace(b.Resource + " " + b.Who); b.Resource == "" && c.want != "" || b.Resource != "" && got != c.want {
			t.Errorf("%s: %+v, want %q", c.name, b, c.want)
		}
	}
	in := cause.Input{Run: &iikanji.Run{Load: iikanji.Generator{CPUShare: 0.95}, Usage: usage(map[string]float64{"app": 1})}}
	if b := in.Binding(); b.Resource != "generator" {
		t.Errorf("%+v", b)
	}
	if b := (cause.Input{}).Binding(); b != (cause.Binding{}) {
		t.Errorf("%+v", b)
	}
}

// TestCommitsWait checks that the waits of commits are bounded by the measured sync
// time of the disk, and that lock waits of a write do not count.
func TestCommitsWait(t *testing.T) {
	const us = time.Microsecond
	commit := func() iikanji.Profile { return statements("COMMIT", 10000, 10*time.Second, 0) }
	single := func(lock time.Duration) iikanji.Profile {
		return statements("UPDATE t SET n = 1 WHERE id = 1", 10000, 10*time.Second, lock)
	}
	for _, c := range []struct {
		name       string
		slow       iikanji.Profile
		disk       iikanji.MachineRow
		hi116      float64 // 0: none
		hi206      float64
		unmeasured bool // the host was not measured
	}{
		{"unknown disk", commit(), iikanji.MachineRow{}, 6, 6, true},
		{"a quick disk", commit(), iikanji.MachineRow{DiskFlushes: 9000, FlushTook: 60 * us, WriteTook: 40 * us}, 2.88, 2.88, false},
		{"a slow disk", commit(), iikanji.MachineRow{DiskFlushes: 9000, FlushTook: 900 * us, WriteTook: 400 * us}, 6, 6, false},
		{"another disk", commit(), iikanji.MachineRow{DiskFlushes: 20, FlushTook: 60 * us, WriteTook: 40 * us}, 6, 6, false},
		{"a disk that costs nothing", commit(), iikanji.MachineRow{DiskFlushes: 9000, FlushTook: 6 * us, WriteTook: 4 * us}, 0, 0, false},
		{"writes that commit themselves", single(0), iikanji.MachineRow{}, 5.994, 5.994, true},
		{"writes that wait for locks", single(9800 * time.Millisecond), iikanji.MachineRow{}, 0, 0, true},
	} {
		in := cause.Input{Run: &iikanji.Run{Took: time.Minute}, Profiles: []iikanji.Profile{c.slow},
			Facts: []iikanji.Fact{variable("innodb_flush_log_at_trx_commit", "1"), status("innodb_data_fsyncs", "9500")}}
		if !c.unmeasured {
			in.Profiles = append(in.Profiles, machine("database", c.disk))
		}
		for code, hi := range map[iikanji.Code]float64{"DB116": c.hi116, "DB206": c.hi206} {
			if f, ok := found(t, in, code); ok != (hi > 0) || math.Abs(f.Gain.Hi-hi) > 0.002 {
				t.Errorf("%s: %s found %v: %v, want %v", c.name, code, ok, f.Gain, hi)
			}
		}
	}
}
