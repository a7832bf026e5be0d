package unwrap

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestForms: what each form of a wrapper leaves, and its name.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct{ log, wrapper, text string }{
		"plain":               {"10.0.0.1 - - [x] \"GET / HTTP/1.1\" 200\n", "", "10.0.0.1 - - [x] \"GET / HTTP/1.1\" 200\n"},
		"docker":              {`{"log":"a \"b\"\n","stream":"stdout","time":"2026-11-19T04:04:05Z"}` + "\n", "Docker's json-file", "a \"b\"\n"},
		"docker, other order": {`{"stream": "stderr", "attrs": {"tag": "x"}, "log": "a\tb\n"}` + "\n", "Docker's json-file", "a\tb\n"},
		"docker, in parts": {`{"log":"` + strings.Repeat("x", 16<<10) + `","stream":"stdout"}` + "\n" + `{"log":"end\n","stream":"stdout"}` + "\n",
			"Docker's json-file", strings.Repeat("x", 16<<10) + "end\n"},
		"CRI": {"2026-11-19T04:04:05.9Z stdout F a b\n2026-11-19T04:04:05.9Z stdout F \n", "CRI lines", "a b\n\n"},
		"CRI, in parts": {"2026-11-19T04:04:05.9+09:00 stdout P one \n2026-11-19T04:04:05.9+09:00 stderr F of another\n2026-11-19T04:04:05.9+09:00 stdout F line\n",
			"CRI lines", "of another\none line\n"},
		"CRI, cut off":                    {"2026-11-19T04:04:05.9Z stdout F a\n2026-11-19T04:04:05.9Z stdout P b\n", "CRI lines", "a\nb\n"},
		"journald":                        {`{"__REALTIME_TIMESTAMP":"1","MESSAGE":"a/b \u3042\ud83d\ude00"}` + "\n", "journald's JSON", "a/b あ😀\n"},
		"journald, bytes":                 {`{"_PID":"1","MESSAGE":[104,105]}` + "\n", "journald's JSON", "hi\n"},
		"journald, export":                {"__CURSOR=x\nMESSAGE=a b\n_PID=7\n\n__CURSOR=y\nMESSAGE=c\n", "journald's export format", "a b\nc\n"},
		"textPayload":                     {`{"insertId":"x","textPayload":"LOG: a\n  FROM b","severity":"INFO"}` + "\n", "Cloud Logging's textPayload", "LOG: a\n  FROM b\n"},
		"jsonPayload":                     {`{"jsonPayload":{"uri":"/","status":200},"timestamp":"t"}` + "\n", "Cloud Logging's jsonPayload", `{"uri":"/","status":200}` + "\n"},
		"jsonPayload with a message only": {`{"jsonPayload":{"message":"GET /"},"timestamp":"t"}` + "\n", "Cloud Logging's jsonPayload", "GET /\n"},
		"tail -f":                         {"==> a.log <==\none\n\n==> b.log <==\ntwo\n", "", "one\n\ntwo\n"},
		"colours":                         {"\x1b[97;42m 200 \x1b[0m| x\nplain\n", "", " 200 | x\nplain\n"},
		"a single colour":                 {"a\x1b[31m\nb\nc\nd\n", "", "a\x1b[31m\nb\nc\nd\n"},
		"not a colour":                    {"\x1b]0;title\x07 x\n", "", "\x1b]0;title\x07 x\n"},
		"NUL bytes":                       {"\x00\x00\x00a\nb\n", "", "a\nb\n"},
		"byte order mark":                 {"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", "", "a\n\xef\xbb\xbfb\n"},
		"CRLF":                            {"\xef\xbb\xbfa\r\nb\r\n", "", "a\nb\n"},
		"PostgreSQL's parts": {"Nov 19 04:04:05 db postgres[9]: [8-1] LOG:  duration: 1 ms  statement: select *\nNov 19 04:04:05 db postgres[9]: [8-2] #011FROM t\n" +
			"Nov 19 04:04:05 db postgres[9]: [8-3] where a\nNov 19 04:04:05 db postgres[9]: [8-4] DETAIL:  x\n",
			"PostgreSQL's parts in syslog", "Nov 19 04:04:05 db postgres[9]: LOG:  duration: 1 ms  statement: select *\n\tFROM t\n\twhere a\nDETAIL:  x\n"},
		"CloudWatch, events": {"2026-11-19T04:04:05.000Z # Time: 1\n# Query_time: 2\nselect 1;\n2026-11-19T04:04:06.000Z # User@Host: a\nselect 2;\n",
			"a time before each event", "# Time: 1\n# Query_time: 2\nselect 1;\n# User@Host: a\nselect 2;\n"},
		"CloudWatch, a general log": {"2026-11-19T04:04:05.000Z 2026-11-19T04:04:05.1Z\t   42 Query\tselect 1\nfrom t\nwhere a\n",
			"a time before each event", "2026-11-19T04:04:05.1Z\t   42 Query\tselect 1\nfrom t\nwhere a\n"},
		"CRI around journald": {`2026-11-19T04:04:05.9Z stdout F {"_PID":"1","MESSAGE":"a"}` + "\n", "CRI lines, journald's JSON", "a\n"},
	} {
		chain := Find([]byte(c.log))
		if chain.String() != c.wrapper {
			t.Errorf("%s: wrapper %q, want %q", name, chain, c.wrapper)
		}
		if got := chain.Apply([]byte(c.log)); string(got) != c.text {
			t.Errorf("%s: applied %q, want %q", name, got, c.text)
		}
		if got, err := io.ReadAll(chain.Reader(iotest.OneByteReader(strings.NewReader(c.log)))); err != nil || string(got)+"\n" != c.text && string(got) != c.text {
			t.Errorf("%s: read %q %v, want %q", name, got, err, c.text)
		}
	}
}

// TestPossibleForms: forms that a log may have by itself, which a reader has to try.
func TestPossibleForms(t *testing.T) {
	for name, c := range map[string]struct{ log, wrapper, text string }{
		"compose":       {"web-1  | a b\ndb-1   | c\n", "Compose's names", "a b\nc\n"},
		"compose, JSON": {`web-1  | {"MESSAGE":"a","_PID":"1"}` + "\n", "Compose's names, journald's JSON", "a\n"},
		"RFC 3164":      {"<34>Nov 19 04:04:05 web1 nginx[7]: a#011b #12 #0x\n", "syslog lines", "a\tb #12 #0x\n"},
		"rsyslog":       {"2026-11-19T04:04:05.123456+09:00 web1 nginx: a\n", "syslog lines", "a\n"},
		"RFC 5424":      {`<165>1 2026-11-19T04:04:05.003Z host app 1 ID47 [a@1 b="]\""][c] ` + "\xef\xbb\xbfa b\n", "syslog lines", "a b\n"},
		"RFC 5424, nil": {"<165>1 2026-11-19T04:04:05.003Z host app - - - a\n", "syslog lines", "a\n"},
		"CloudWatch":    {"2026-11-19T04:04:05.000Z # Time: 1\n", "a time before each line", "# Time: 1\n"},
		"a message":     {`{"level":"info","message":"a"}` + "\n", "the key message of JSON", "a\n"},
		"ECS":           {`{"event":{"original":"a"}}` + "\n", "the key event.original of JSON", "a\n"},
		"a console":     {"2026/11/19 04:04:05.3\tINFO\thandled request\t{\"a\": {\"b\":1}}\n", "words before each object of JSON", "{\"a\": {\"b\":1}}\n"},
		"old nginx":     {`escape=json{"uri":"/"}` + "\n", "escape=json before each line", `{"uri":"/"}` + "\n"},
	} {
		if found := Find([]byte(c.log)); found.String() != "" {
			t.Errorf("%s: %q is certain", name, found)
		}
		ok := false
		for _, chain := range Find([]byte(c.log)).Possible([]byte(c.log)) {
			ok = ok || chain.String() == c.wrapper && string(chain.Apply([]byte(c.log))) == c.text
		}
		if !ok {
			t.Errorf("%s: %v", name, Find([]byte(c.log)).Possible([]byte(c.log)))
		}
	}
}

// TestWithTimes: the time of the wrapper stands before a line, and in an object.
func TestWithTimes(t *testing.T) {
	log := []byte("2026-11-19T04:04:05Z stdout F a b\n2026-11-19T04:04:06Z stdout F {\"c\":1}\n2026-11-19T04:04:07Z stdout F {}\n")
	want := "2026-11-19T04:04:05Z a b\n{\"time\":\"2026-11-19T04:04:06Z\",\"c\":1}\n{\"time\":\"2026-11-19T04:04:07Z\"}\n"
	c := Find(log)
	if got := c.WithTimes().Apply(log); string(got) != want || !c.HasTimes() {
		t.Errorf("%q", got)
	}
}

// TestLineNumbers: the line of a text is found in the log, of which lines were joined
// and left out.
func TestLineNumbers(t *testing.T) {
	var log strings.Builder
	want := map[string]int64{} // line of the log, by text
	for n := int64(1); n < 90; n++ {
		switch n % 7 {
		case 3:
			log.WriteString("==> x.log <==\n")
		case 5, 6, 0:
			log.WriteString("\x1b[0m")
			fallthrough
		default:
			text := strings.Repeat("l", int(n))
			log.WriteString(text + "\n")
			want[text] = n
		}
	}
	r := Find([]byte(log.String())).Reader(strings.NewReader(log.String()))
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line != "" && r.Line(int64(i+1)) != want[line] {
			t.Errorf("line %d of the text: %d, want %d", i+1, r.Line(int64(i+1)), want[line])
		}
	}
	if r.Consumed() != int64(log.Len()) {
		t.Errorf("consumed %d of %d", r.Consumed(), log.Len())
	}
}

// TestBrokenSource: an error of the source comes behind the text before it.
func TestBrokenSource(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("\x00a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, err := io.ReadAll(Find([]byte("\x00a\n")).Reader(broken))
	if string(got) != "a\nb" || err != io.ErrUnexpectedEOF {
		t.Errorf("%q %v", got, err)
	}
}

// FuzzReader: no input crashes a layer, the text does not depend on how the source is
// cut, and Apply gives what Reader gives.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"2026-11-19T04:04:05.9Z stdout P a\n", `{"log":"a\n","stream":"x"}`, `{"_PID":1,"MESSAGE":[1,2]}`, "<1>1 - - - - - - a",
		"==> a <==\n\x1b[1ma", "\x00\x00a\n", "Nov 19 04:04:05 a b[1]: [1-2] #011a\n", `{"jsonPayload":{"message":"\ud800"}}`, "a | b\n", "MESSAGE=a\n", "2026-11-19T04:04:05Z # Time: 1\na\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		c := Find(log)
		for _, chain := range append(c.Possible(log), c, c.WithTimes()) {
			if chain.Empty() {
				continue
			}
			one, err1 := io.ReadAll(chain.Reader(bytes.NewReader(log)))
			two, err2 := io.ReadAll(chain.Reader(iotest.HalfReader(bytes.NewReader(log))))
			if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
				t.Fatalf("%v: %q %v, %q %v", chain, one, err1, two, err2)
			}
			if bytes.HasSuffix(log, []byte{'\n'}) {
				if got := chain.Apply(log); !bytes.Equal(bytes.TrimSuffix(got, []byte{'\n'}), bytes.TrimSuffix(one, []byte{'\n'})) {
					t.Fatalf("%v: applied %q, read %q", chain, got, one)
				}
			}
		}
	})
}
