package promise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// values are values that a setting may have; each is tried as the value before
// and as the value after.
var values = []string{"", "0", "1", "2", "3", "10", "20", "4096", "262144", "999999", "0.5", "ON", "OFF", "on", "off", "1s", "1h", "1024 65535", "20000 40000",
	"auto", "unlimited", "max=10", "O_DIRECT", "fsync", "O_DIRECT_NO_FSYNC", "debug", "true", "false", "64k", "8m",
	"/a.log main", "/a.log main buffer=64k flush=1s", "/a.log main buffer=64k", "/a.log other", "/b.log main", "/a.log main flush=1h"}

// tables are all tables, by a name for the test.
var tables = map[string]Table{"database": Database, "kernel": Kernel, "limits": Limits, "nginx": Nginx, "environment": Environment, "connection": Connection}

// TestEverySetting: a setting either weakens a promise by some change of its
// value, or has a sentence why none does.
func TestEverySetting(t *testing.T) {
	for of, table := range tables {
		for name, s := range table {
			weakens := false
			for _, before := range values {
				for _, after := range values {
					got := table.Of(name, before, after)
					weakens = weakens || len(got) > 0
					if before == after && before != "" && len(got) > 0 {
						t.Errorf("%s %s: %q to itself weakens %v", of, name, before, got)
					}
				}
			}
			if weakens == (s.Harmless != "") || (len(s.Rules) > 0) == (s.Harmless != "") {
				t.Errorf("%s %s: weakens %v, harmless because %q", of, name, weakens, s.Harmless)
			}
			if s.Harmless != "" && len(strings.Fields(s.Harmless)) < 4 {
				t.Errorf("%s %s: %q is no reason", of, name, s.Harmless)
			}
		}
		if got := table.Of("no_such_setting", "1", "2"); !slices.Equal(got, All) {
			t.Errorf("%s: an unknown setting weakens %v, want everything", of, got)
		}
	}
}

// TestOf has the changes that a review found unflagged, and their neighbours.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		table               Table
		name, before, after string
		want                string
	}{
		{Database, "innodb_flush_log_at_trx_commit", "1", "2", "[durability]"},
		{Database, "innodb_flush_log_at_trx_commit", "2", "0", "[durability]"},
		{Database, "innodb_flush_log_at_trx_commit", "0", "2", "[]"},
		{Database, "innodb_flush_log_at_trx_commit", "3", "1", "[]"},
		{Database, "sync_binlog", "10", "0", "[durability]"},
		{Database, "sync_binlog", "10", "100", "[durability]"},
		{Database, "sync_binlog", "0", "100", "[]"},
		{Database, "sync_binlog", "10", "1", "[]"},
		{Database, "innodb_flush_method", "fsync", "O_DIRECT", "[]"},
		{Database, "innodb_flush_method", "O_DIRECT", "O_DIRECT_NO_FSYNC", "[durability]"},
		{Database, "innodb_doublewrite", "ON", "0", "[durability]"},
		{Database, "log_bin", "0", "0", "[]"},
		{Database, "join_buffer_size", "262144", "4194304", "[row-order]"},
		{Database, "join_buffer_size", "4194304", "262144", "[row-order]"},
		{Database, "long_query_time", "10", "999999", "[observability]"},
		{Database, "long_query_time", "10", "0", "[]"},
		{Database, "max_connections", "151", "10", "[availability]"},
		{Database, "innodb_buffer_pool_size", "1", "2", "[]"},
		{Kernel, "vm.dirty_expire_centisecs", "3000", "6000", "[durability]"},
		{Kernel, "net.core.somaxconn", "4096", "128", "[availability]"},
		{Kernel, "net.ipv4.ip_local_port_range", "1024 65535", "20000 40000", "[availability]"},
		{Kernel, "net.ipv4.ip_local_port_range", "32768 60999", "1024 65535", "[]"},
		{Limits, "nofile", "1024", "65536", "[]"},
		{Limits, "nofile", "unlimited", "65536", "[availability]"},
		{Limits, "core", "unlimited", "0", "[observability]"},
		{Nginx, "access_log", "/a main", "/a main buffer=64k flush=1s", "[]"},
		{Nginx, "access_log", "/a main", "/a main buffer=64k flush=1h", "[observability]"},
		{Nginx, "access_log", "/a main", "/a main buffer=64k", "[observability]"},
		{Nginx, "access_log", "/a main", "/a combined", "[observability]"},
		{Nginx, "access_log", "/a", "/a combined buffer=64k flush=1s", "[]"},
		{Nginx, "access_log", "/a main", "off", "[observability]"},
		{Nginx, "access_log", "off", "off", "[]"},
		{Nginx, "open_file_cache_errors", "off", "on", "[freshness]"},
		{Nginx, "worker_processes", "auto", "0", "[availability]"},
		{Nginx, "worker_processes", "4", "1", "[availability]"},
		{Nginx, "worker_processes", "1", "auto", "[]"},
		{Environment, "GOGC", "100", "off", "[availability]"},
		{Environment, "GOGC", "100", "400", "[]"},
		{Connection, "checkConnLiveness", "", "false", "[availability]"},
		{Connection, "maxAllowedPacket", "", "1024", "[availability]"},
		{Connection, "maxAllowedPacket", "", "0", "[]"},
	} {
		if got := fmt.Sprint(c.table.Of(c.name, c.before, c.after)); got != c.want {
			t.Errorf("%s %s → %s weakens %s, want %s", c.name, c.before, c.after, got, c.want)
		}
	}
}

func TestVariable(t *testing.T) {
	for _, c := range []struct{ name, after, want string }{
		{"DB_POOL", "20", "[]"},
		{"DB_POOL", "0", "[availability]"},
		{"GOMAXPROCS", "2", "[]"},
		{"LOG_LEVEL", "error", "[observability]"},
		{"FSYNC", "off", fmt.Sprint(All)}, // any switch of an application may mean anything
		{"CACHE", "on", fmt.Sprint(All)},
	} {
		if got := fmt.Sprint(Variable(c.name, "1", c.after)); got != c.want {
			t.Errorf("%s = %s weakens %s, want %s", c.name, c.after, got, c.want)
		}
	}
}

func TestKept(t *testing.T) {
	for _, c := range []struct {
		k    Kept
		want string
	}{
		{Kept{Expires: "1h"}, "[freshness]"},
		{Kept{Expires: ""}, "[]"},
		{Kept{Expires: "1h", FromApp: true, AppDecides: true}, "[freshness privacy]"},
		{Kept{Expires: "1h", Words: "private", FromApp: true, AppDecides: true}, "[freshness]"},
		{Kept{Expires: "1h", FromApp: true, AppDecides: true, SameForAll: true}, "[freshness]"},
		{Kept{Expires: "1h", FromApp: true, SameForAll: true}, "[freshness privacy]"}, // a no-store would be replaced
		{Kept{Expires: "-1", FromApp: true, AppDecides: true}, "[]"},
		{Kept{Expires: "-1", FromApp: true}, "[freshness privacy]"},
		{Kept{Expires: "-1", Words: "public, stale-while-revalidate=999999, immutable", FromApp: true, AppDecides: true}, "[freshness privacy]"},
		{Kept{Cached: true, FromApp: true, AppDecides: true}, "[freshness privacy]"},
		{Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: true}, "[freshness]"},
		{Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: true, Purged: true}, "[tested-only]"},
		{Kept{Cached: true, FromApp: true, AppDecides: true, Purged: true}, "[privacy tested-only]"},
		{Kept{Expires: "1h", FromApp: true, AppDecides: true, SameForAll: true, Purged: true}, "[freshness]"}, // clients keep it, too
		{Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: true, Reset: true, Unchanged: true}, "[tested-only]"},
		{Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: true, Reset: true}, "[freshness]"}, // a write between two resets
		{Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: true, Unchanged: true}, "[freshness]"},
		{Kept{Cached: true, FromApp: true, AppDecides: true, Reset: true, Unchanged: true}, "[privacy tested-only]"},
	} {
		if got := fmt.Sprint(c.k.Promises()); got != c.want {
			t.Errorf("%+v weakens %s, want %s", c.k, got, c.want)
		}
	}
}

// TestAll: every promise of the words is in All.
func TestAll(t *testing.T) {
	for p := iikanji.PromiseUnknown + 1; p.String() != "" && len(All) >= int(p); p++ {
		if !slices.Contains(All, p) {
			t.Errorf("%s is missing", p)
		}
	}
	if len(All) != 9 || !slices.Contains(All, iikanji.Privacy) || !slices.Contains(All, iikanji.Behaviour) {
		t.Errorf("%v", All)
	}
}
