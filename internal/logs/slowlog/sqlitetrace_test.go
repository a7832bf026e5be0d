package slowlog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

// TestTraces: SQLite traces give digests with arguments as values. "x" is a name,
// line numbers are those of the file, and blocks change nothing.
func TestTraces(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"time":"2026-11-21T10:00:00.5+09:00","statement":"SELECT * FROM \"player\"\n WHERE id = ?","args":["p%d"],"query_time":%.6f,"affected_rows":2,"conn":7}`+"\n\n", i, float64(i+1)/1e6)
	}
	read := func(o Options) *iikanji.Profile {
		p, err := Read(context.Background(), []*lines.Input{lines.Bytes("t.jsonl", []byte(b.String()))}, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := read(Options{Workers: 1})
	r := row(t, p, "select * from player where id = ?")
	if r.Count != 300 || r.Max != 300*time.Microsecond || r.Query.Affected != 600 || r.Example.Line != 599 || !strings.HasSuffix(r.Example.Text, `/* args: ["p299"] */`) {
		t.Errorf("%+v %+v", r, r.Query)
	}
	if x := repeatOf(t, p, r.Key); x.Longest != 300 || x.Same != 0 {
		t.Errorf("%+v", x)
	}
	want, _ := json.Marshal(p)
	for _, size := range []int{64, 500, 5000} {
		if got, _ := json.Marshal(read(Options{Workers: 3, BlockSize: size})); string(got) != string(want) {
			t.Errorf("blocks of %d change the result", size)
		}
	}
}

// TestDigestTSV: both forms of saved digests, and one digest of two schemas.
func TestDigestTSV(t *testing.T) {
	raw := "SCHEMA_NAME\tDIGEST\tDIGEST_TEXT\tCOUNT_STAR\tSUM_TIMER_WAIT\tMIN_TIMER_WAIT\tMAX_TIMER_WAIT\tSUM_ROWS_SENT\tQUANTILE_99\tQUERY_SAMPLE_TEXT\n" +
		"a\tff\tSELECT * FROM `t` WHERE `id` IN (...)\t2\t4000000000\t1000000000\t3000000000\t5\t2900000000\tselect * from T where id in (1,2)\n" +
		"b\tff\tSELECT * FROM `t` WHERE `id` IN ( ? , ... )\t1\t1000000000\t1000000000\t1000000000\t1\t1000000000\tNULL\n" +
		"a\tfe\tINSERT INTO `t` VALUES (...) /* , ... */\t1\t1000000000\t1000000000\t1000000000\t0\t1\tNULL\n" +
		"a\tfd\tx\tnonsense\t1\t1\t1\t1\t1\tNULL\n"
	_, err := readText(t, raw, Options{})
	if err == nil || !strings.Contains(err.Error(), "1 of 4 entries") {
		t.Errorf("a bad row in four: %v", err)
	}
	p := mustRead(t, raw[:strings.Index(raw, "a\tfd")])
	r := row(t, p, "select * from t where id in (?+)")
	if r.Count != 3 || r.Total != 5*time.Millisecond || r.Min != time.Millisecond || r.Max != 3*time.Millisecond || r.P99 != 0 || r.Query.Sent != 6 || r.Query.Tables[0] != "T" {
		t.Errorf("%+v %+v", r, r.Query)
	}
	row(t, p, "insert into t values (?+)")
}

// TestTraceNote: the times of SELECT statements in traces end too early.
func TestTraceNote(t *testing.T) {
	about := func(sql string) bool {
		p := mustRead(t, `{"time":"2026-11-21T10:00:00Z","statement":"`+sql+`","query_time":0.1}`+"\n")
		return slices.Contains(p.Notes, noteTraceReads)
	}
	if !about("SELECT 1") || about("DELETE FROM t") {
		t.Error("the note must be there for reads, and only for them")
	}
}
