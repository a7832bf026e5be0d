package node_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// isuxFrame is a frame of the isuxbench contract: finished, passed, score, raw and deduction.
func isuxFrame(finished, passed bool, score, raw, deduction int64, reason string) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), protowire.EncodeBool(finished))
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), protowire.EncodeBool(passed))
	b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(score))
	parts := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(raw))
	parts = protowire.AppendVarint(protowire.AppendTag(parts, 2, protowire.VarintType), uint64(deduction))
	b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), parts)
	b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), reason))
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
}

// TestKinds runs benchmarkers of each kind as jobs of a portal: what the portal keeps is what the
// child itself said.
func TestKinds(t *testing.T) {
	tier.Slow(t)
	s := newSystem(t, 0, 0)
	write := func(name, text string, perm os.FileMode) string {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, []byte(text), perm); err != nil {
			t.Fatal(err)
		}
		return path
	}
	frames := string(isuxFrame(false, false, 10, 10, 0, "")) + string(isuxFrame(true, true, 12345, 12400, 55, "pass"))
	kinds := []struct {
		id, script, report string
		want               api.Report
	}{
		{"lines", `test "$IIKANJI_SECONDS" = 1 && test -n "$IIKANJI_SEED$IIKANJI_TARGET" || exit 9
echo '{"t":0.5,"score":100,"phase":"load"}' >&3
echo '{"end":true,"pass":true,"score":310,"raw":320,"deducted":10,"reasons":["one"],"faults":[{"kind":"check","step":"GET /","message":"wrong total","count":3}]}' >&3`, "lines",
			api.Report{Outcome: iikanji.Passed, Score: 310, Raw: 320, Deducted: 10, Reasons: []string{"one"}, Faults: []iikanji.Fault{{Step: "GET /", Message: "wrong total", Count: 3}}}},
		{"failed", `echo '{"end":true,"pass":false,"score":310,"reasons":["initialize took too long"]}' >&3`, "lines",
			api.Report{Outcome: iikanji.Failed, Reasons: []string{"initialize took too long"}}},
		{"wrk", `printf 'Running 1s test @ %s\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.23ms    0.50ms   9.87ms   88.00%%\n    Req/Sec     4.10k   200.00     4.50k    70.00%%\n  8214 requests in 1.00s, 1.50MB read\nRequests/sec:   8190.12\nTransfer/sec:      1.50MB\n' "$IIKANJI_TARGET"`, "",
			api.Report{Outcome: iikanji.Passed, Score: 8190.12, Raw: 8190.12}},
		{"k6", `printf '\n     checks.........................: 100.00%% 120 out of 120\n     data_received..................: 1.2 MB 120 kB/s\n     http_req_duration..............: avg=12.3ms  min=1.2ms   med=9.8ms   max=99.1ms  p(90)=30.1ms  p(95)=41.2ms \n     http_req_failed................: 0.00%%   0 out of 120\n     http_reqs......................: 120     11.987654/s\n     iterations.....................: 120     11.987654/s\n'`, "",
			api.Report{Outcome: iikanji.Passed, Score: 11.987654, Raw: 11.987654}},
		{"isuxbench", "test -n \"$ISUXBENCH_TARGET\" && cat " + write("frames", frames, 0o600) + ` >&$ISUXBENCH_REPORT_FD`, "isuxbench",
			api.Report{Outcome: iikanji.Passed, Score: 12345, Raw: 12400, Deducted: 55, Reasons: []string{"pass"}}},
		{"exit", `echo "no route to host" >&2; exit 4`, "", api.Report{Outcome: iikanji.Failed, Reasons: []string{"the benchmarker ended with status 4: no route to host"}}},
	}
	text := "name = \"Kinds\"\nlocal = true\n"
	for _, k := range kinds {
		text += fmt.Sprintf("[[rounds]]\nid = %q\nkind = \"open\"\nproblem = %q\n", k.id, k.id)
	}
	for _, k := range kinds {
		text += fmt.Sprintf("[problem.%s]\ncommand = [\"sh\", %q]\nreport = %q\nload = \"1s\"\ntimeout = \"30s\"\n", k.id, write(k.id+".sh", k.script, 0o700), k.report)
	}
	if _, err := s.core.AddContest(t.Context(), []byte(text), "kinds.toml"); err != nil {
		t.Fatal(err)
	}
	team, err := s.core.NewTeam(t.Context(), lead.NewTeam{Contest: "kinds", Name: "t"}, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	s.startWorker("w0")
	jobs := map[string]string{}
	for _, k := range kinds {
		j, err := s.core.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "kinds_" + k.id, Team: team.Team})
		if err != nil {
			t.Fatal(err)
		}
		jobs[k.id] = j.ID
	}
	for _, k := range kinds {
		var got *api.Job
		s.until(k.id, func() bool {
			got, err = s.core.Job(t.Context(), jobs[k.id])
			return err == nil && !got.State.Open()
		})
		if got.State != api.Done {
			t.Errorf("%s is %s: %s", k.id, got.State, got.Text)
			continue
		}
		r := got.Result
		have := fmt.Sprint(r.Outcome, r.Score, r.Raw, r.Deducted, r.Reasons)
		want := fmt.Sprint(k.want.Outcome, k.want.Score, k.want.Raw, k.want.Deducted, k.want.Reasons)
		if have != want {
			t.Errorf("%s: %s, the child said %s\n%s", k.id, have, want, r.Log)
		}
		if len(r.Faults) != len(k.want.Faults) || len(r.Faults) == 1 && (r.Faults[0].Message != k.want.Faults[0].Message || r.Faults[0].Count != k.want.Faults[0].Count) {
			t.Errorf("%s: faults %+v", k.id, r.Faults)
		}
	}
}

// TestDatabaseAway: the database takes no write for 20 s: no job is lost or run twice at once, and
// results that could not be kept are sent again.
func TestDatabaseAway(t *testing.T) {
	tier.Long(t, "the database is away for 20 s")
	s := newSystem(t, 4, 2)
	s.play(16, func(tenth int) {
		if tenth != 3 {
			return
		}
		free := s.lockDatabase()
		time.Sleep(20 * time.Second)
		free()
	})
	s.check(16)
}
