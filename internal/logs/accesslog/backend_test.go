package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// TestByBackend: the share of each instance behind a proxy, in the formats in which its address
// is logged. Of several servers that were asked, the last one answered.
func TestByBackend(t *testing.T) {
	const nginx = `$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $request_time "$upstream_addr"`
	line := func(form, path, backend string) string {
		switch form {
		case "ltsv":
			return fmt.Sprintf("time:19/Nov/2026:04:04:05 +0900\tmethod:GET\turi:%s\tstatus:200\tsize:5\treqtime:0.010\tupstream_addr:%s\n", path, backend)
		case "json":
			return fmt.Sprintf(`{"time":"2026-11-19T04:04:05+09:00","method":"GET","uri":%q,"status":200,"size":5,"request_time":0.010,"upstream_addr":%q}`+"\n", path, backend)
		}
		return fmt.Sprintf("10.9.9.9 - - [19/Nov/2026:04:04:05 +0900] \"GET %s HTTP/1.1\" 200 5 0.010 %q\n", path, backend)
	}
	for form, format := range map[string]string{"ltsv": "", "json": "", "text": nginx} {
		var log strings.Builder
		for i := range 8 {
			backend := "10.0.0.11:3000"
			switch i {
			case 0, 1:
				backend = "10.0.0.12:3000"
			case 2:
				backend = "10.0.0.11:3000, 10.0.0.12:3000"
			case 3:
				backend = "-" // nginx itself
			}
			log.WriteString(line(form, fmt.Sprintf("/a%d", i%2), backend))
		}
		p := read(t, Options{By: ByBackend, Format: format}, log.String())
		got := map[string]int64{}
		for _, r := range p.Rows {
			got[r.Key] = int64(r.Count)
		}
		if len(got) != 3 || got["10.0.0.11:3000"] != 4 || got["10.0.0.12:3000"] != 3 || got["(none)"] != 1 {
			t.Errorf("%s: %v", form, got)
		}
	}
	if _, err := readErr(t, Options{By: ByBackend}, combinedLine("GET", "/a", 200, 1)); err == nil {
		t.Error("a log without the address of a server is grouped by it")
	}
}
