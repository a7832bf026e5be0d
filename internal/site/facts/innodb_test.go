package facts_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// TestInnoDBForReal reads the status of a real server before and after writes: the
// positions of the log and of the transactions increase, and the checkpoint is
// never ahead of the log.
func TestInnoDBForReal(t *testing.T) {
	ctx := t.Context()
	db, err := server.Open(ctx, "moved")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := facts.Connect(ctx, db, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200)); INSERT INTO t SELECT seq, '' FROM seq_1_to_2000"); err != nil {
		t.Fatal(err)
	}
	before, err := s.InnoDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "UPDATE t SET v = REPEAT('v', 200); UPDATE t SET v = REPEAT('w', 200)"); err != nil {
		t.Fatal(err)
	}
	after, err := s.InnoDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	moved := map[string]fact.Moved{}
	for _, f := range facts.InnoDBFacts("database", before, after) {
		var m fact.Moved
		if f.Topic == string(fact.TopicInnoDB) {
			if err := json.Unmarshal([]byte(fact.Text(f)), &m); err != nil || !f.Moves {
				t.Errorf("%+v: %v", f, err)
			}
			moved[f.Key] = m
		}
	}
	for _, name := range []string{"history_list_length", "transaction_id", "purged_to", "purge_lag", "file_fsyncs", "pending_fsyncs", "log_sequence", "log_flushed",
		"pages_flushed", "checkpoint", "checkpoint_age", "dirty_pages", "pending_reads", "pending_writes", "read_views"} {
		if _, ok := moved[name]; !ok {
			t.Errorf("%s is missing: %v", name, slices.Sorted(maps.Keys(moved)))
		}
	}
	if m := moved["log_sequence"]; m.Grown() < 2*2000*200 {
		t.Errorf("the log went from %.0f to %.0f", m.Before, m.After)
	}
	if m := moved["transaction_id"]; m.Grown() < 2 {
		t.Errorf("transactions went from %.0f to %.0f", m.Before, m.After)
	}
	if m := moved["checkpoint_age"]; m.After != moved["log_sequence"].After-moved["checkpoint"].After {
		t.Errorf("%+v", m)
	}
	status, err := s.Status(ctx)
	if err != nil || status["innodb_page_size"] != "16384" {
		t.Errorf("the connection is not usable after it: %v", err)
	}
}

// oldStatus has the lines that MariaDB 10.11 no longer prints, and statements
// that look like lines of other sections.
const oldStatus = `
=====================================
2026-11-21 12:00:00 0x7f9f INNODB MONITOR OUTPUT
=====================================
----------
SEMAPHORES
----------
OS WAIT ARRAY INFO: reservation count 68
--Thread 1399 has waited at buf0buf.cc line 123 for 2.00 seconds the semaphore:
OS WAIT ARRAY INFO: signal count 67
RW-shared spins 0, rounds 76, OS waits 37
RW-excl spins 0, rounds 10, OS waits 5
------------
TRANSACTIONS
------------
Trx id counter 2304
Purge done for trx's n:o < 2300 undo n:o < 0 state: running but idle
History list length 12
LIST OF TRANSACTIONS FOR EACH SESSION:
---TRANSACTION 421, not started
UPDATE t SET v = '
---
LOG
---
Log sequence number 1
Modified db pages 77
'
--------
FILE I/O
--------
Pending flushes (fsync) log: 1; buffer pool: 2
1133 OS file reads, 207 OS file writes, 49 OS fsyncs
-------------------------------------
INSERT BUFFER AND ADAPTIVE HASH INDEX
-------------------------------------
Ibuf: size 1, free list len 0, seg size 2, 0 merges
12.50 hash searches/s, 1.00 non-hash searches/s
---
LOG
---
Log sequence number          39703480
Log flushed up to            39703480
Pages flushed up to          39703000
Last checkpoint at           39700000
0 pending log flushes, 3 pending chkp writes
----------------------
BUFFER POOL AND MEMORY
----------------------
Modified db pages  5
Pending reads      4
Pending writes: LRU 1, flush list 2, single page 0
----------------------
INDIVIDUAL BUFFER POOL INFO
----------------------
---BUFFER POOL 0
Modified db pages  4
--------------
ROW OPERATIONS
--------------
2 queries inside InnoDB, 6 queries in queue
1 read views open inside InnoDB
Number of rows inserted 10, updated 11, deleted 12, read 13
Number of system rows inserted 1, updated 1, deleted 1, read 1
----------------------------
END OF INNODB MONITOR OUTPUT
============================
`

func TestParseInnoDB(t *testing.T) {
	want := map[string]float64{"semaphore_waits": 68, "latch_waits": 42, "latch_waiting": 1, "transaction_id": 2304, "purged_to": 2300, "purge_lag": 4, "history_list_length": 12,
		"pending_fsyncs": 3, "file_reads": 1133, "file_writes": 207, "file_fsyncs": 49, "hash_searches_per_second": 12.5, "tree_searches_per_second": 1,
		"log_sequence": 39703480, "log_flushed": 39703480, "pages_flushed": 39703000, "checkpoint": 39700000, "checkpoint_age": 3480, "pending_log": 0, "pending_checkpoints": 3,
		"dirty_pages": 5, "pending_reads": 4, "pending_writes": 3, "queries_inside": 2, "queries_queued": 6, "read_views": 1,
		"rows_inserted": 10, "rows_updated": 11, "rows_deleted": 12, "rows_read": 13}
	if got := facts.ParseInnoDB(oldStatus); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := facts.ParseInnoDB(strings.ReplaceAll(oldStatus, "\n", "\r\n")); !maps.Equal(got, want) {
		t.Errorf("with other ends of lines: %v", got)
	}
	for _, none := range []string{"", "---\nLOG\n", "History list length 3\n", "---\nLOG\n---\nHistory list length 3\nLog sequence number x\n", "---\nLOG\n---\nLog sequence number " + strings.Repeat("9", 400) + "\n"} {
		if got := facts.ParseInnoDB(none); len(got) > 0 {
			t.Errorf("%.40q: %v", none, got)
		}
	}
	half := facts.InnoDB{Numbers: map[string]float64{"checkpoint": 1}}
	if got := facts.InnoDBFacts("database", half, facts.InnoDB{Numbers: map[string]float64{"checkpoint": 2, "read_views": 3}}); len(got) != 1 || fact.Text(got[0]) != `{"before":1,"after":2}` {
		t.Errorf("%+v", got)
	}
}

// FuzzParseInnoDB checks that any text gives only numbers with known names, and no
// negative number.
func FuzzParseInnoDB(f *testing.F) {
	f.Add(oldStatus)
	f.Add(mysqlDeadlock)
	f.Add("---\nLOG\n---\nLast checkpoint at 7\nLog sequence number 3\n")
	names := facts.ParseInnoDB(oldStatus)
	f.Fuzz(func(t *testing.T, text string) {
		for name, n := range facts.ParseInnoDB(text) {
			if _, known := names[name]; !known || !(n >= 0) || n > 1e300 {
				t.Errorf("%s = %v", name, n)
			}
		}
	})
}
