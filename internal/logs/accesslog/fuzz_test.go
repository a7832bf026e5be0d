package accesslog

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// nginxEscape escapes a value as nginx does: quotes, backslashes and bytes that
// are not printable ASCII become \xHH.
func nginxEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 32 || c > 126 || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func jsonEscape(s string) string {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "?"))
	return string(b[1 : len(b)-1])
}

// said is the content of a fuzzed line; its path is made legal first.
type said struct {
	path, agent string
	status      uint16
	bytes, ms   uint32
}

func (s *said) tidy() {
	s.status = 100 + s.status%500
	s.path = "/" + strings.Map(func(r rune) rune {
		if r <= ' ' || r == '"' || r == '\\' || r > '~' || r == '<' || r == '>' || r == '&' {
			return -1
		}
		return r
	}, s.path)
}

func (s *said) check(t *testing.T, f format, line string) {
	t.Helper()
	var rec record
	rec.clear()
	if why := f.parser(optional).parse([]byte(line), &rec); why != 0 {
		t.Fatalf("%q: %s", line, f.explain(why))
	}
	want := time.Date(2026, 11, 19, 4, 4, 5, 0, time.UTC).UnixNano()
	if string(rec.uri) != s.path || rec.status != int(s.status) || rec.took != int64(s.ms)*1e6 || rec.size != int64(s.bytes) || rec.method != 2 || rec.at != want {
		t.Fatalf("%q was read as %q %d %d %d %v %d", line, rec.uri, rec.status, rec.took, rec.size, rec.method, rec.at)
	}
}

func fuzzSeeds(f *testing.F) {
	f.Add("a/1?b=c", "curl/8", uint16(100), uint32(12), uint32(345))
	f.Add("", "", uint16(0), uint32(0), uint32(0))
	f.Add("x:y|z/../%20", "say \"hi\" \\ \t{[", uint16(404), uint32(1<<31), uint32(86_400_000))
}

// FuzzCombined: a line written by nginx is parsed to its original values.
func FuzzCombined(f *testing.F) {
	fuzzSeeds(f)
	l, err := nginxLayout(nginxCombined+" $request_time", "x")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, agent string, status uint16, bytes, ms uint32) {
		s := said{path, nginxEscape(agent), status, bytes, ms}
		s.tidy()
		s.check(t, l, fmt.Sprintf(`10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "POST %s HTTP/1.1" %d %d "%s" "%s" %d.%03d`,
			s.path, s.status, s.bytes, s.agent, s.agent, s.ms/1000, s.ms%1000))
	})
}

func FuzzLTSV(f *testing.F) {
	fuzzSeeds(f)
	known := detectLTSV([][]byte{[]byte("time:19/Nov/2026:04:04:05 +0000\tua:x\tmethod:GET\turi:/\tstatus:200\tsize:1\treqtime:0.1")}, nil)
	f.Fuzz(func(t *testing.T, path, agent string, status uint16, bytes, ms uint32) {
		s := said{path, nginxEscape(agent), status, bytes, ms}
		s.tidy()
		for _, order := range []string{
			"time:19/Nov/2026:04:04:05 +0000\tua:%[1]s\tmethod:POST\turi:%[2]s\tstatus:%[3]d\tsize:%[4]d\treqtime:%[5]s",
			"reqtime:%[5]s\tnew:%[1]s\tsize:%[4]d\tstatus:%[3]d\turi:%[2]s\tmethod:POST\ttime:19/Nov/2026:04:04:05 +0000",
		} {
			s.check(t, known, fmt.Sprintf(order, s.agent, s.path, s.status, s.bytes, fmt.Sprintf("%d.%03d", s.ms/1000, s.ms%1000)))
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzzSeeds(f)
	known := detectJSON([][]byte{[]byte(`{"time":"2026-11-19T04:04:05Z","a":{"ua":"x"},"method":"GET","uri":"/","status":200,"size":1,"response_time":0.1}`)}, nil)
	f.Fuzz(func(t *testing.T, path, agent string, status uint16, bytes, ms uint32) {
		s := said{path, jsonEscape(agent), status, bytes, ms}
		s.tidy()
		for _, order := range []string{
			`{"time":"2026-11-19T04:04:05Z","a":{"ua":"%[1]s"},"method":"POST","uri":"%[2]s","status":%[3]d,"size":%[4]d,"response_time":%[5]s}`,
			` { "new" : {"x":["%[1]s",{"y":"%[1]s"}]}, "%[1]s?" : "%[1]s", "response_time": "%[5]s" , "size" :%[4]d,"status" : "%[3]d" ,"uri":"%[2]s","method":"POST","time":"2026-11-19T04:04:05Z" } `,
		} {
			s.check(t, known, fmt.Sprintf(order, s.agent, s.path, s.status, s.bytes, fmt.Sprintf("%d.%03d", s.ms/1000, s.ms%1000)))
		}
	})
}

func FuzzEnvoy(f *testing.F) {
	fuzzSeeds(f)
	l, err := envoyLayout(envoyDefault, "envoy")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, agent string, status uint16, bytes, ms uint32) {
		s := said{path, nginxEscape(agent), status, bytes, ms}
		s.tidy()
		s.check(t, l, fmt.Sprintf(`[2026-11-19T04:04:05.000Z] "POST %s HTTP/1.1" %d - 0 %d %d - "-" "%s" "id" "host" "-"`, s.path, s.status, s.bytes, s.ms, s.agent))
	})
}

// FuzzAnyLog: for any bytes, every line is counted once and the result depends
// on neither blocks nor workers.
func FuzzAnyLog(f *testing.F) {
	for _, l := range []string{combinedLine("GET", "/a", 200, 5), "time:1\turi:/\n", `{"uri":"/","status":200}` + "\n",
		"#Fields: date time cs-uri-stem\n2026-11-19 04:04:05 /\n", `[2026-11-19T04:04:05.310Z] "GET / HTTP/1.1" 200 - 0 9 0 - "-" "c" "i" "a" "-"` + "\n", "\x00\n"} {
		f.Add(strings.Repeat(l, 3) + "x")
	}
	f.Fuzz(func(t *testing.T, log string) {
		a, errA := readErr(t, Options{MaxBad: 1, Workers: 1}, log)
		b, errB := readErr(t, Options{MaxBad: 1, Workers: 3, BlockSize: 64}, log)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, and in small blocks %v", errA, errB)
		}
		if errA != nil {
			return
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Fatalf("%s\n%s", x, y)
		}
		var count int64
		for _, r := range a.Rows {
			count += r.Count
		}
		if in := a.Intake; count+in.Bad+in.Left != in.Lines {
			t.Fatalf("%d counted of %+v", count, in)
		}
	})
}

// FuzzLearn: the learned routes depend on neither order nor split, no request
// is lost, and learning the learned templates again changes nothing.
func FuzzLearn(f *testing.F) {
	f.Add("/a/1\n/a/2\n/b/c.png\n", uint8(3))
	f.Add(strings.Repeat("/x/abc\n/x/def/1\n", 80), uint8(7))
	f.Add("/w/Talk:a\n/w/a\n/w/b:c\n/o(1)/x\n/o(2)/x\n/1:go\n/2:go\n", uint8(4))
	f.Add("/0/aaaaaaaaaaaaaaaaaaaaaaaaaa\n/%40x@b.c/@y\n//\n/a;b=c/d?e=f&e=g&h\n", uint8(1))
	f.Fuzz(func(t *testing.T, list string, split uint8) {
		paths := strings.Split(list, "\n")
		join := func(order []string, parts int) map[string]int64 {
			routers := make([]*router, parts)
			for i := range routers {
				routers[i] = newRouter(uint64(split), true, nil)
			}
			for i, p := range order {
				rec := record{uri: []byte(p), method: 1, status: 200}
				routers[i%parts].find(&rec).count++
			}
			tr := newTree(1)
			counts := map[string]int64{}
			for _, r := range routers {
				tr.addRouter(r, 0)
				if r.nothing.count > 0 {
					counts[""] += r.nothing.count
				}
			}
			tr.learn()
			tr.walk(func(segs []shape, b *branch) { counts[template(segs)] += b.rows[0].sides[0].count })
			return counts
		}
		reversed := make([]string, len(paths))
		for i, p := range paths {
			reversed[len(paths)-1-i] = p
		}
		one := join(paths, 1)
		if many := join(reversed, 1+int(split)%5); fmt.Sprint(one) != fmt.Sprint(many) {
			t.Fatalf("%v\n%v", one, many)
		}
		var sum int64
		for _, n := range one {
			sum += n
		}
		if sum != int64(len(paths)) {
			t.Fatalf("%d of %d requests", sum, len(paths))
		}
	})
}

// FuzzParts: a segment of a template that is read is written again to the byte, and the
// parts of a segment of a path are inside it, in order.
func FuzzParts(f *testing.F) {
	for _, s := range []string{"Talk::any", ":id:publish", "Orders(:id)", "Talk:X", "a:b:c", "x()", ":any:describe", "@:name:x", ":id.png:y", "(", ":", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, seg string) {
		if seg == "" || strings.ContainsAny(seg, "/?#;") {
			return
		}
		var segs []shape
		for _, s := range parseParts(seg) {
			segs = append(segs, s.shape)
		}
		if got := template(segs); got != "/"+seg {
			t.Errorf("%q is written as %q", seg, got)
		}
		first, glue, second := parts([]byte(seg))
		if glue != literal && !strings.HasPrefix(seg[len(first)+1:], string(second)) {
			t.Errorf("%q has the parts %q and %q", seg, first, second)
		}
	})
}

// FuzzNumbers: decimal and timeValue agree with strconv.
func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"0", "0.123", "12.5", "1e-3", "-", "", "0.1, 0.2", "999999999999999999999", "1.", ".5", "1.2.3", "0.0000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
			ns, ok := timeValue([]byte(s), unit)
			if !ok {
				continue
			}
			if ns < -1 || ns > maxTook+unit {
				t.Fatalf("%q is %d", s, ns)
			}
			var v float64
			if n, err := fmt.Sscanf(s+"\n", "%g\n", &v); n == 1 && err == nil && v >= 0 && !strings.ContainsAny(s, "_xXpP+nNiI ,:;-") {
				if diff := math.Abs(v*float64(unit) - float64(ns)); diff > 1 && diff > 1e-9*v*float64(unit) {
					t.Fatalf("%q × %d is %d", s, unit, ns)
				}
			}
		}
		durationValue([]byte(s))
		parseStamp([]byte(s))
		if at, ok := parseStamp([]byte(s)); ok && asTime(at).Year() < 1969 {
			t.Fatalf("%q is %v", s, asTime(at))
		}
	})
}

// FuzzNginxConf: any configuration is read or rejected without a panic.
func FuzzNginxConf(f *testing.F) {
	f.Add(nginxConf, "log_format x '$request'; access_log /a x;")
	f.Add("log_format a \"\\\"$request\\\"\"; access_log off; include *.conf; # x\n{}", "include *.conf;")
	f.Fuzz(func(t *testing.T, text, included string) {
		n, err := ReadNginxConf("nginx.conf", func(p string) ([]string, error) {
			if p == "nginx.conf" {
				return []string{text}, nil
			}
			return []string{included}, nil
		})
		if err != nil {
			return
		}
		for _, c := range n.candidates("/a") {
			if f := fromDescription(c.Text); f == nil {
				nginxLayout(c.Text, c.Name)
			}
		}
	})
}

// FuzzPatterns: an accepted pattern matches without a panic, and a router
// pattern of literals matches itself.
func FuzzPatterns(f *testing.F) {
	f.Add("/api/:id/x.:ext", "/api/1/x.png")
	f.Add("/{a}/*", "/b/c")
	f.Add("GET /<int:id>", "/1")
	f.Fuzz(func(t *testing.T, text, path string) {
		p, err := Route(text)
		if err == nil {
			p.match(1, []byte(path))
			if !strings.ContainsAny(text, ":{<* ") && !p.match(1, []byte(text)) {
				t.Fatalf("%q does not match itself", text)
			}
		}
		if all, err := Matches(text); err == nil {
			for i := range all {
				all[i].match(1, []byte(path))
			}
		}
		ParseWhere(text, time.UTC)
		ParseWhen(text, time.UTC)
	})
}
