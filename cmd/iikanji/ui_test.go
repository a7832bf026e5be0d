package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
)

// serveUI runs iikanji ui in this process and returns the text that it printed first.
func serveUI(t *testing.T, lines int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	e := &env{Stdin: strings.NewReader(""), Stdout: w, Stderr: t.Output(), Now: time.Now, Cols: 80}
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, e, append([]string{"ui", "isucondition"}, args...)) }()
	t.Cleanup(func() {
		cancel()
		if status := <-ended; status != exitDone {
			t.Errorf("status %d", status)
		}
	})
	text, in := "", bufio.NewScanner(r)
	for range lines {
		if !in.Scan() {
			t.Fatalf("it printed only %q", text)
		}
		text += in.Text() + "\n"
	}
	return text
}

func fetch(t *testing.T, method, address, media, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// TestUI: the command serves pages and receives traces until it is interrupted, and
// its token opens the actions.
func TestUI(t *testing.T) {
	text := serveUI(t, 3, "--history", summarytest.Make(t), "--listen", "127.0.0.1:0", "--otlp", ":0")
	m := regexp.MustCompile(`^pages: (http://127\.0\.0\.1:\d+)/\ntraces \(OTLP/HTTP\): (http://127\.0\.0\.1:\d+)/v1/traces\ntoken for actions: (\w{26})\n$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("it printed %q", text)
	}
	if status, page := fetch(t, "GET", m[1]+"/", "", ""); status != http.StatusOK || !strings.Contains(page, "× the untouched score") {
		t.Errorf("status %d: %.200s", status, page)
	}
	const span = `{"traceId":"07070707070707070707070707070707","spanId":"0101010101010101","name":"GET","kind":2,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000050000000","attributes":[{"key":"http.route","value":{"stringValue":"/here"}}]}`
	if status, answer := fetch(t, "POST", m[2]+"/v1/traces", "application/json", fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}`, span)); status != http.StatusOK {
		t.Errorf("status %d: %s", status, answer)
	}
	if status, page := fetch(t, "GET", m[1]+"/traces", "", ""); status != http.StatusOK || !strings.Contains(page, "/here") || !strings.Contains(page, "50.0ms") {
		t.Errorf("status %d: %.3000s", status, page)
	}
	if status, _ := fetch(t, "POST", m[1]+"/actions/revert", "application/x-www-form-urlencoded", "change=1"); status != http.StatusForbidden {
		t.Errorf("an action without the token: status %d", status)
	}
	if status, page := fetch(t, "POST", m[1]+"/session", "application/x-www-form-urlencoded", url.Values{"token": {m[3]}}.Encode()); status != http.StatusOK || strings.Contains(page, "That is not the token") {
		t.Errorf("with the token: status %d: %.3000s", status, page)
	}
}

// TestUIRefuses: mistakes are usage errors with a way out.
func TestUIRefuses(t *testing.T) {
	for _, args := range [][]string{{"--listen", "8765"}, {"--otlp", "x"}, {"--listen", "127.0.0.1:0", "--check", "--history", t.TempDir() + "/nothing"}} {
		out, errs, status := invoke(t, append([]string{"ui", "isucondition"}, args...)...)
		if status == exitDone || errs == "" {
			t.Errorf("%q: status %d, %s%s", args, status, out, errs)
		}
	}
}
