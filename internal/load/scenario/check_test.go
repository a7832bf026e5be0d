package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
)

func answer(status int, kind, body string) *Response {
	return &Response{Step: 3, Method: "GET", Path: "/p", Status: status, Body: []byte(body),
		Fields: []HeaderField{{Name: []byte("content-type"), Value: []byte(kind)}}}
}

func TestChecks(t *testing.T) {
	f := func(err error, want iikanji.FaultKind) {
		t.Helper()
		if KindOf(err) != want || (err == nil) != (want == iikanji.FaultUnknown) {
			t.Errorf("%v, want %v", err, want)
		}
		var fault *Fault
		if errors.As(err, &fault) && (fault.Step != 3 || fault.Example.Request != "GET /p" || fault.Example.Status == 0) {
			t.Errorf("fault %+v", fault)
		}
	}
	const none = iikanji.FaultUnknown
	f(WantStatus(answer(200, "", ""), 200), none)
	f(WantStatus(answer(500, "", ""), 200), iikanji.FaultStatus)
	f(WantType(answer(200, "application/json; charset=UTF-8", ""), "application/json"), none)
	f(WantType(answer(200, "Application/JSON", ""), "application/json"), none)
	f(WantType(answer(200, "text/html", ""), "application/json"), iikanji.FaultContentType)
	f(WantType(&Response{Step: 3, Method: "GET", Path: "/p", Status: 1}, "text/plain"), iikanji.FaultContentType)
	f(WantText(answer(400, "text/plain; charset=utf-8", "bad request\n"), 400, "bad request"), none)
	f(WantText(answer(400, "text/plain", "bad request"), 400, "bad"), iikanji.FaultCheck)
	f(WantText(answer(400, "text/html", "bad request"), 400, "bad request"), iikanji.FaultContentType)
	f(WantText(answer(200, "text/plain", "bad request"), 400, "bad request"), iikanji.FaultStatus)
	var v struct{ A int }
	f(WantJSON(answer(200, "application/json", `{"a":7}`), 200, &v), none)
	if v.A != 7 {
		t.Errorf("decoded %+v", v)
	}
	f(WantJSON(answer(200, "application/json", `{"a":`), 200, &v), iikanji.FaultBody)
	f(WantJSON(answer(200, "application/json", `{"a":"x"}`), 200, &v), iikanji.FaultBody)
	f(WantJSON(answer(200, "text/plain", `{"a":7}`), 200, &v), iikanji.FaultContentType)
	f(WantJSON(answer(201, "application/json", `{"a":7}`), 200, &v), iikanji.FaultStatus)
	var syntax *json.SyntaxError
	if err := WantJSON(answer(200, "application/json", `{`), 200, &v); !errors.As(err, &syntax) {
		t.Errorf("the cause of %v is lost", err)
	}
}

func TestFaultError(t *testing.T) {
	f := Wrong(answer(200, "", "body"), "order", "row %d", 5)
	if got := fmt.Sprint(f); got != "check order: GET /p: row 5" {
		t.Errorf("%q", got)
	}
	if got := Wrong(nil, "order", "x"); got.Step != -1 || got.Example != nil {
		t.Errorf("%+v", got)
	}
	if KindOf(fmt.Errorf("wrapped: %w", f)) != iikanji.FaultCheck || KindOf(nil) != iikanji.FaultUnknown || KindOf(errors.New("x")) != iikanji.FaultUnknown {
		t.Error("KindOf")
	}
}

func TestExcerpt(t *testing.T) {
	for _, body := range []string{"", "short", strings.Repeat("a", 199) + "あいう", strings.Repeat("あ", 500), "\xff\xfe", strings.Repeat("\x80", 500)} {
		got := Excerpt([]byte(body))
		if !utf8.ValidString(got) || len(got) > 3*exampleBytes {
			t.Errorf("%.20q: %q", body, got)
		}
		if utf8.ValidString(body) && !strings.HasPrefix(body, got) {
			t.Errorf("%.20q: %q is not its beginning", body, got)
		}
	}
}

func TestRelease(t *testing.T) {
	var none *Response
	none.Release()
	n := 0
	(&Response{Done: func(*Response) { n++ }}).Release()
	(&Response{}).Release()
	if n != 1 {
		t.Errorf("released %d times", n)
	}
}

func TestSleep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if !Sleep(ctx, time.Millisecond) || !Sleep(ctx, 0) {
		t.Error("gave up")
	}
	cancel()
	if Sleep(ctx, time.Hour) || Sleep(ctx, 0) {
		t.Error("slept on")
	}
}
