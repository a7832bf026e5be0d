package slowlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestTags: ids in the comment of a COMMIT are folded as a whole; the route or
// controller stays.
func TestTags(t *testing.T) {
	var fp Fingerprinter
	f := func(sql, want string) {
		t.Helper()
		got := string(fp.Fingerprint([]byte(sql)))
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", sql, got, want)
		}
		if again := string(fp.Fingerprint([]byte(got))); again != got {
			t.Errorf("%q is not idempotent:\n%s\n%s", sql, got, again)
		}
	}
	// sqlcommenter
	f("COMMIT /* controller='x',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' */", "commit /* controller='x',traceparent=? */")
	f("COMMIT /*action='create',controller='isu',db_driver='mysql2',framework='rails_v7',route='%2Fapi%2Fisu%2F%3Aid',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',tracestate='congo%3Dt61rcWkgMzE'*/",
		"commit /* action='create',controller='isu',db_driver='mysql?',framework='rails_v?',route='/api/isu/:id',traceparent=?,tracestate=? */")
	f("COMMIT /*dddbs='shop',dde='prod',ddps='web',ddpv='1.2.3',traceparent='00-00000000000000007a1b2c3d4e5f6071-7a1b2c3d4e5f6071-00'*/", "commit /* dddbs='shop',dde='prod',ddps='web',ddpv='?.?.?',traceparent=? */")
	// Rails query logs and marginalia, before or after the statement
	f("COMMIT /*application:Shop,controller:orders,action:create,line:/app/models/order.rb:42:in `save!',request_id:9f0c6a2e-3c1d-4a55-9d3e-0c2b6a1f7e88*/",
		"commit /* application:Shop,controller:orders,action:create,line:/app/models/order.rb:?:in `save!',request_id:? */")
	f("/*application:Shop,controller:orders,action:create,request_id:9f0c6a2e-3c1d-4a55-9d3e-0c2b6a1f7e88*/ COMMIT", "commit /* application:Shop,controller:orders,action:create,request_id:? */")
	f("/* job:MailJob,jid:4f1e2d3c4b5a69788796a5b4 */ ROLLBACK", "rollback /* job:MailJob,jid:? */")
	// paths
	f("COMMIT /* POST /api/isu/0694e4d7-dfce-4aec-b7ca-887ac42cfb8f */", "commit /* POST /api/isu/? */")
	f("COMMIT /* POST /api/isu/0694e4d7dfce4aecb7ca887ac42cfb8f/icon */", "commit /* POST /api/isu/?/icon */")
	f("COMMIT /* GET /users/17/posts/2021-08-01 */", "commit /* GET /users/?/posts/?-?-? */")
	f("COMMIT /* order-0694e4d7-dfce-4aec-b7ca-887ac42cfb8f-paid */", "commit /* order-?-paid */")
	f("COMMIT /* req_0694e4d7dfce4aecb7ca887ac42cfb8f */", "commit /* req_? */")
	f("COMMIT /* 01ARZ3NDEKTSV4RRFFQ69G5FAV GET /a */", "commit /* ? GET /a */")
	f("COMMIT /* {\"route\":\"/a\",\"trace_id\":\"4bf92f3577\",\"X-Request-Id\": \"abc def\"} */", `commit /* {"route":"/a","trace_id":?,"X-Request-Id": ?} */`)
	f("COMMIT /* userId=a,valid=b,android=c,Root=1-5759e988-bd862e3fe1be46a994272793 */", "commit /* userId=?,valid=b,android=c,Root=? */")
	// words stay
	f("COMMIT /* grade 12 */", "commit /* grade ? */")
	f("COMMIT /* facade.decade dead-beef feedback deadbeef getUserProfileByIdentifierAndName2 */", "commit /* facade.decade dead-beef feedback deadbeef getUserProfileByIdentifierAndName? */")
	f("COMMIT /* ** / %zz %2A %25ab \x01 x */", "commit /* __ / _zz _ _ab x */")
	f("COMMIT /* */", "commit")
	f("/* x */ select 1", "select ?")
	f("COMMIT /* "+strings.Repeat("ab ", 500)+"*/", "commit /* "+strings.TrimSpace(strings.Repeat("ab ", 53))+" */")
}

// idLog fills a log of n COMMITs with new ids each time it is called.
func idLog(r *rand.Rand, log []byte) {
	for i := 0; ; {
		j := bytes.Index(log[i:], []byte("00-"))
		if j < 0 {
			return
		}
		i += j + 3
		for k := i; k < i+49; k++ {
			if log[k] != '-' {
				log[k] = "0123456789abcdef"[r.IntN(16)]
			}
		}
		i += 49
	}
}

// TestTraceIDsNeedNoMemory: two million trace ids are a few digests and no memory.
func TestTraceIDsNeedNoMemory(t *testing.T) {
	tier.Slow(t)
	const perBlock, blocks = 2000, 1000
	id := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
	log := []byte(strings.Repeat(entry(1, 10, "begin /* traceparent='"+id+"-01' */")+entry(1, 900, "COMMIT /* controller='x',traceparent='"+id+"-01' */"), perBlock/2))
	c := newCollector(Options{})
	c.begin("x", formatMariaDB)
	r := rand.New(rand.NewPCG(1, 2))
	p, b := new(parser), new(batch)
	for range blocks {
		idLog(r, log)
		blk := blockOf(log)
		b.parse(&blk, p, false)
		c.add(b)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if len(c.order) != 2 || c.intake.Lines != perBlock*blocks || len(c.shapes.byKey) != 1 {
		t.Errorf("%d digests, %d shapes of %d entries: %s", len(c.order), len(c.shapes.byKey), c.intake.Lines, c.order[len(c.order)-1].text)
	}
	if m.HeapAlloc > 16<<20 {
		t.Errorf("%d MiB in use", m.HeapAlloc>>20)
	}
}

func TestTagsAllocateNothing(t *testing.T) {
	var fp Fingerprinter
	sql := []byte("COMMIT /*controller='isu',route='%2Fapi%2Fisu%2F%3Aid',trace_id='4bf92f',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'*/")
	if n := testing.AllocsPerRun(100, func() { fp.Fingerprint(sql) }); n != 0 {
		t.Errorf("%v allocations per statement", n)
	}
}

// FuzzTag: a tag is bounded, keeps no digit, and the tag of a tag is the same.
func FuzzTag(f *testing.F) {
	for _, s := range []string{"controller='x',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'", "pArent=''0", "a%2", "%2541", "id=", "id:'", "x-1-", "_-_", "abcdefabcdefabcdx1", "?abcdefabcdefabcd", "1_1-1_1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, comment []byte) {
		if bytes.Contains(comment, []byte("*/")) || len(comment) > 0 && (comment[0] == '!' || comment[0] == '+') {
			return
		}
		var a, b Fingerprinter
		once := bytes.Clone(a.Fingerprint(fmt.Appendf(nil, "COMMIT /*%s*/", comment)))
		if twice := b.Fingerprint(once); !bytes.Equal(once, twice) {
			t.Errorf("%q: not idempotent:\n%q\n%q", comment, once, twice)
		}
		if len(once) > maxTag+20 || bytes.ContainsAny(once, "0123456789") {
			t.Errorf("%q: %q", comment, once)
		}
	})
}
