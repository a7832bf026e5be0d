package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

func TestWhere(t *testing.T) {
	line := func(at int, m, p string, status, size int, ua string, ms int) string {
		return fmt.Sprintf(`{"time":"2026-11-19T04:%02d:00Z","method":"%s","uri":"%s","status":%d,"size":%d,"ua":"%s","host":"h%d","user":"u","reqtime":0.%03d}`+"\n", at, m, p, status, size, ua, status/100, ms)
	}
	log := line(1, "GET", "/a?x=1", 200, 10, "curl", 5) + line(2, "POST", "/a", 302, 0, "curl", 50) +
		line(3, "GET", "/b/1", 404, 2000, "wget", 100) + line(4, "GET", "/b/2", 500, 5, "-", 900)
	for cond, want := range map[string]int64{
		"status=200": 1, "status!=200": 3, "status=2xx|5xx": 2, "status>=400": 2, "status<400": 2, "status=5XX": 1,
		"method=GET": 3, "method=GET|POST": 4, "method!=GET": 1, "method~^P": 1,
		"path=/a": 2, "path~^/b/": 2, "path!~^/b/": 2, "path~'^/b/[0-9]{1,2}$'": 2,
		"time>50ms": 2, "time>=0.05": 3, "duration<=5ms": 1, "time=900ms": 1,
		"bytes>1k": 1, "size=0": 1, "bytes>=1KiB": 1,
		"ua=curl": 2, "user-agent~get": 1, "host=h2|h3": 2, "user=u": 4,
		"at>=2026-11-19T04:03:00Z": 2, "at<2026-11-19 04:02": 1,
		"route=/a": 2, "route~^GET /b": 2, "route!=/a": 2, "route=GET /a": 1,
		"status>=400,time>=0.2": 1, " status == 404 , method = GET ": 1,
	} {
		w, err := ParseWhere(cond, time.UTC)
		if err != nil {
			t.Errorf("%s: %v", cond, err)
			continue
		}
		p := read(t, Options{Where: w}, log)
		var n int64
		for _, r := range p.Rows {
			n += r.Count
		}
		if n != want || p.Intake.Left != 4-want || p.Intake.Lines != 4 {
			t.Errorf("%s: %d lines, %d left out; want %d", cond, n, p.Intake.Left, want)
		}
	}
	for cond, want := range map[string]string{
		"status": "it has no operator =", "colour=red": "is not one of status", "status~4": "is not a text", "status=abc": "neither a status",
		"time>x": "not a time such as", "bytes>x": "not a whole number", "path~[": "error parsing", "path>x": "cannot be compared with",
		"at>x": "is not a time such as", "time~1": "is not a text", "=3": "is not a condition",
	} {
		if _, err := ParseWhere(cond, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", cond, err, want)
		}
	}
}

func TestTimeRange(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		b.WriteString(strings.Replace(combinedLine("GET", "/", 200, 1), "04:04:05", fmt.Sprintf("04:%02d:05", i), 1))
	}
	at := func(s string) time.Time {
		v, err := ParseWhen(s, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		return v.Resolve(time.Time{}, time.Time{})
	}
	since := func(s string) filter.When {
		w, err := ParseWhen(at(s).Format(time.RFC3339), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	p := read(t, Options{Since: since("2026-11-19 04:10:05"), Until: since("19/Nov/2026:13:20:05 +0900")}, b.String())
	if p.Rows[0].Count != 10 || p.Intake.Left != 50 || p.First != at("2026-11-19 04:10:05") || p.Last != at("2026-11-19 04:19:05") || p.Intake.Last != at("2026-11-19T04:59:05Z") {
		t.Errorf("%d counted, %s to %s, %+v", p.Rows[0].Count, p.First, p.Last, p.Intake)
	}
	if _, err := readErr(t, Options{Since: since("2027-01-01")}, b.String()); err == nil || !strings.Contains(err.Error(), "no line of 60 meets the conditions") {
		t.Errorf("nothing left: %v", err)
	}
	if _, err := readErr(t, Options{Since: since("2027-01-01")}, `{"uri":"/","status":200}`+"\n"); err == nil || !strings.Contains(err.Error(), "needs the timestamp") {
		t.Errorf("no times: %v", err)
	}
}

// TestRelativeRange: times of day and durations refer to the log.
func TestRelativeRange(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		b.WriteString(strings.Replace(combinedLine("GET", "/", 200, 1), "04:04:05", fmt.Sprintf("04:%02d:05", i), 1))
	}
	for text, want := range map[string]int64{"10m": 11, "04:50": 10, "04:50:05": 10, "30m ago": 31} {
		w, err := ParseWhen(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if p := read(t, Options{Since: w}, b.String()); p.Rows[0].Count != want {
			t.Errorf("since %s: %d lines, want %d", text, p.Rows[0].Count, want)
		}
		// The end of a stream is the present time.
		in, err := lines.Stream("standard input", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(t.Context(), []*lines.Input{in}, Options{Since: w, Now: time.Date(2026, 11, 19, 4, 59, 5, 0, time.UTC)})
		if err != nil || p.Rows[0].Count != want {
			t.Errorf("since %s of a stream: %v, %v", text, p, err)
		}
	}
	early, _ := ParseWhen("2026-11-19 04:00", time.UTC)
	late, _ := ParseWhen("2026-11-19 04:30", time.UTC)
	if _, err := readErr(t, Options{Since: late, Until: early}, b.String()); err == nil || !strings.Contains(err.Error(), "the time range is empty") {
		t.Errorf("an empty range: %v", err)
	}
}

func TestBy(t *testing.T) {
	log := combinedLine("GET", "/a", 200, 1) + combinedLine("POST", "/b", 503, 2) + combinedLine("GET", "/c", 200, 3)
	for by, want := range map[By]string{
		ByStatus: "200 2, 503 1", ByMethod: "GET 2, POST 1", ByAgent: "curl/8 3", ByUser: "(none) 3", ByMinute: "2026-11-19 13:04 3",
	} {
		p := read(t, Options{By: by, Zone: time.FixedZone("JST", 9*3600)}, log)
		var got []string
		for _, r := range p.Rows {
			got = append(got, fmt.Sprintf("%s %d", r.Key, r.Count))
		}
		if by == ByStatus || by == ByMethod {
			if strings.HasPrefix(got[0], "503") || strings.HasPrefix(got[0], "POST") {
				got[0], got[1] = got[1], got[0]
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("by %v: %s, want %s", by, s, want)
		}
	}
	if p := read(t, Options{By: ByURL}, combinedLine("GET", "/a/1?x=1", 200, 1)+combinedLine("GET", "/a/2", 200, 1)+combinedLine("GET", "/a/2", 200, 1)); len(p.Rows) != 2 ||
		p.Rows[0].Key != "GET /a/2" || p.Rows[1].Key != "GET /a/1?x=1" {
		t.Errorf("by url: %+v", p.Rows)
	}
	// More keys than fit: totals stay exact, and the rest is in a row of its
	// own with a note.
	var b strings.Builder
	for i := range 20_000 {
		b.WriteString(strings.Replace(combinedLine("GET", "/", 200, 1), "curl/8", fmt.Sprint("agent", i), 1))
	}
	p := read(t, Options{By: ByAgent}, b.String())
	var sum int64
	for _, r := range p.Rows {
		sum += r.Count
	}
	if sum != 20_000 || len(p.Rows) != maxRoutes+1 || p.Rows[0].Key != "(others)" || len(p.Notes) < 2 {
		t.Errorf("%d counted in %d rows, first %s, notes %q", sum, len(p.Rows), p.Rows[0].Key, p.Notes)
	}
}

// TestExamples: the slowest request, the earliest of equals, with its line.
func TestExamples(t *testing.T) {
	log := combinedLine("GET", "/a/1", 200, 5) + "\n" + combinedLine("GET", "/a/2", 200, 9) + combinedLine("GET", "/a/3", 200, 9)
	for range 20 {
		log += combinedLine("GET", "/b", 200, 1)
	}
	for _, size := range []int{0, 100} {
		for _, r := range read(t, Options{BlockSize: size}, log).Rows {
			want := "GET /a/2 3 9ms access.log"
			if r.Key == "GET /b" {
				want = "GET /b 5 1ms access.log"
			}
			if got := fmt.Sprintf("%s %d %v %s", r.Example.Text, r.Example.Line, r.Example.Took, r.Example.File); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}
