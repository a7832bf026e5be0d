package filter

import (
	"strings"
	"testing"
	"time"
)

type entry struct {
	status, took, bytes, at int64
	method, path            string
	scan                    bool
}

func fields() *Fields[entry] {
	return &Fields[entry]{Zone: time.UTC, All: []Field[entry]{
		{Names: []string{"status"}, Kind: Status, Number: func(e *entry) int64 { return e.status }},
		{Names: []string{"time", "duration"}, Kind: Duration, Number: func(e *entry) int64 { return e.took }},
		{Names: []string{"bytes"}, Kind: Size, Number: func(e *entry) int64 { return e.bytes }},
		{Names: []string{"at"}, Kind: Time, Number: func(e *entry) int64 { return e.at }},
		{Names: []string{"method"}, Text: func(e *entry) []byte { return []byte(e.method) }},
		{Names: []string{"path", "uri"}, Text: func(e *entry) []byte { return []byte(e.path) }},
		{Names: []string{"full_scan"}, Kind: Flag, Flag: func(e *entry) bool { return e.scan }},
	}}
}

func holds(t *testing.T, text string, e *entry) bool {
	t.Helper()
	all, err := fields().Parse(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return holdAll(all, e)
}

func TestParse(t *testing.T) {
	e := &entry{status: 503, took: 250e6, bytes: 2048, method: "POST", path: "/api/users/1,2", scan: true,
		at: time.Date(2026, 11, 19, 4, 4, 5, 0, time.UTC).UnixNano()}
	for text, want := range map[string]bool{
		"": true, "status=503": true, "status==5XX": true, "status = 4xx|5xx": true, "status!=503": false, "status>499": true, "status>5xx": false,
		"status>=500,method=POST": true, "status>=500, method=GET": false, "status>=500 and method = POST": true, "status>=500&&method=POST": true,
		"status=200 or method=POST": true, "status=200 || method=GET": false, "status=200 or method=POST and time>1s": false,
		"(status=200 or method=POST) and time>1s": false, "(status=200 or method=POST) and time>200ms": true,
		"not status=200": true, "!(status=503 and method=POST)": false, "not (status=200), bytes>=2k": true,
		"time>0.2": true, "time>=0.25,duration<=250ms": true, "bytes=2KiB": true, "bytes>1m": false,
		"path~^/api": true, "path !~ ^/api": false, "path~^/api/[a-z]{1,9}/(1|2),": false, `uri matches "^/api"`: true,
		`uri contains "users"`: true, "path not contains users": false, "path startsWith /api and path endsWith 1": false,
		`path = "/api/users/1,2"`: true, "path='/api/users/1,2'": true, `method in ["GET", POST]`: true, "method not in [GET]": true, "status in [404, 503]": true,
		"method=GET|POST": true, "method!=GET|POST": false, "full-scan=yes": true, "FULL_SCAN != true": false,
		"at>=2026-11-19 04:04 and at<2026-11-19T04:05:00Z": true, "at>2026-11-20": false,
	} {
		if strings.HasSuffix(text, ",") {
			if _, err := fields().Parse(text); err == nil {
				t.Errorf("%q: a condition is missing behind the comma", text)
			}
			continue
		}
		if got := holds(t, text, e); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	missing := &entry{status: -1, took: -1, bytes: -1, at: -1 << 63}
	for _, text := range []string{"time<1s", "time!=1s", "bytes>=0", "status!=200", "at<2027-01-01"} {
		if holds(t, text, missing) {
			t.Errorf("%q holds for an entry without the field", text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"colour=red": `"colour" is not one of status, time, bytes`, "status": "it has no operator", "=5": "is not a condition",
		"status~5": "a status is not a text", "time>fast": `"fast" is not a time such as`, "path~[": "error parsing regexp", "bytes>x": "is not a whole number",
		"status=5XY": `"5XY" is neither a status`, "(status=1": "no closing parenthesis", `path="x`: "no closing quote", "method in [GET": "no closing bracket", "method in [)": "no closing bracket",
		"full_scan=maybe": "neither yes nor no", "full_scan>yes": "is yes or no", "path>x": "a text cannot be compared with >", "status=1) x": "left over",
		"status in []": "empty", "at>1h": "is not a date and time", strings.Repeat("!", 100) + "status=1": "nests more than",
	} {
		if _, err := fields().Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestConditions: the top level is split into conditions that name their fields.
func TestConditions(t *testing.T) {
	all, err := fields().Parse("status>=500, (path~a or duration>1s), uri=/")
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if c := all[1]; c.Source != "path~a or duration>1s" || strings.Join(c.Fields, " ") != "path time" || !c.Uses("time") || c.Uses("status") {
		t.Errorf("%+v", c)
	}
	e := &entry{status: 500, path: "/a"}
	if n := testing.AllocsPerRun(10, func() { holdAll(all[:1], e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWhen(t *testing.T) {
	tokyo := time.FixedZone("", 9*3600)
	first, last := time.Date(2026, 11, 19, 22, 0, 0, 0, tokyo), time.Date(2026, 11, 20, 3, 0, 0, 0, tokyo)
	for text, want := range map[string]string{
		"2026-11-19 23:30": "2026-11-19T23:30:00+09:00", "2026-11-19T10:00:00Z": "2026-11-19T19:00:00+09:00", "2026-11-20": "2026-11-20T00:00:00+09:00",
		"22:30": "2026-11-19T22:30:00+09:00", "01:15:10": "2026-11-20T01:15:10+09:00", "21:00": "2026-11-19T21:00:00+09:00",
		"1h": "2026-11-20T02:00:00+09:00", "90m ago": "2026-11-20T01:30:00+09:00", "-2d": "2026-11-18T03:00:00+09:00", "[own]": "2026-01-01T00:00:00+09:00",
		"261119": "2026-11-19T00:00:00+09:00", "261119 04:04:05": "2026-11-19T04:04:05+09:00",
	} {
		w, err := ParseWhen(text, tokyo, func(s string) (time.Time, bool) { return time.Date(2026, 1, 1, 0, 0, 0, 0, tokyo), s == "own" })
		if got := w.Resolve(first, last).In(tokyo).Format(time.RFC3339); err != nil || got != want {
			t.Errorf("%q is %s, want %s (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{"", "yesterday", "1", "-", "25:00", "0s", "d", "1e9d"} {
		if w, err := ParseWhen(text, nil, nil); err == nil {
			t.Errorf("%q is %+v", text, w)
		}
	}
	if (When{}).IsZero() != true || At(first).IsZero() || !At(first).Absolute() {
		t.Error("zero and absolute times")
	}
}

// FuzzParse: any text is read or refused without a panic, and a condition's
// source is read as the same condition again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"status>=500,method=POST", "not (path~^/a{1,2} or time>1s)", `uri in ["a", b]`, "at<2026-11-19 04:04", "path~\\", "!!!("} {
		f.Add(s)
	}
	e := &entry{status: 404, took: 5e6, method: "GET", path: "/a"}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := fields().Parse(text)
		if err != nil {
			return
		}
		for i := range all {
			again, err := fields().Parse(all[i].Source)
			if err != nil {
				t.Fatalf("%q of %q: %v", all[i].Source, text, err)
			}
			if holdAll(again, e) != all[i].Holds(e) {
				t.Fatalf("%q of %q differs", all[i].Source, text)
			}
		}
		if w, err := ParseWhen(text, nil, nil); err == nil {
			w.Resolve(time.Unix(0, 0), time.Unix(1e9, 0))
		}
	})
}
