package isucondition_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/arena/arenatest"
)

// all lists the matches of a pattern's group, in order.
func all(page, pattern string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

func wantAll(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the page shows %q, want %q", what, got, want)
	}
}

func numbers[T ~int | ~int64](list []T) []string {
	var texts []string
	for _, n := range list {
		texts = append(texts, strconv.FormatInt(int64(n), 10))
	}
	return texts
}

func testBrowserGuest(t *testing.T) {
	c := fresh(t)
	t.Run("trend", func(t *testing.T) {
		page := arenatest.Browse(t, c.stack.Places().URL()+"/")
		characters := all(page, `data-character="([^"]*)"`)
		slices.Sort(characters)
		wantAll(t, "characters", characters, slices.Sorted(slices.Values(Labels[:])))
		counts := 0
		for _, n := range all(page, `<li class="(?:info|warning|critical)"><b>(\d+)</b>`) {
			k, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			counts += k
		}
		if counts != 28 {
			t.Errorf("the trend counts %d ISUs, want 28", counts)
		}
		if !strings.Contains(page, `id="login"`) || !strings.Contains(page, ":5000/?callback=") || strings.Contains(page, `class="problem"`) {
			t.Error("no way to log in, or a problem is shown")
		}
	})
	t.Run("closed", func(t *testing.T) {
		page := arenatest.Browse(t, c.stack.Places().URL()+"/isu/"+c.data.Users[0].ISUs[0].UUID)
		if !strings.Contains(page, "ログインしてください") {
			t.Errorf("a guest is shown %.2000s", page)
		}
	})
}

func testBrowserOwner(t *testing.T) {
	c := fresh(t)
	user := c.data.Users[0]
	isu := user.ISUs[3]
	newest := isu.Conditions[len(isu.Conditions)-1]
	open := func(t *testing.T, path string) string {
		t.Helper()
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		page := arenatest.Browse(t, c.stack.Places().URL()+path+mark+"jwt="+tokenFor(t, user.ID))
		if !strings.Contains(page, `id="me">`+user.ID) || strings.Contains(page, `class="problem">`) {
			t.Errorf("%s is not signed in, or a problem is shown", user.ID)
		}
		return page
	}
	t.Run("list", func(t *testing.T) {
		page := open(t, "/")
		var uuids, names, says []string
		for _, isu := range slices.Backward(user.ISUs) {
			uuids = append(uuids, isu.UUID)
			names = append(names, isu.Name)
			says = append(says, isu.Conditions[len(isu.Conditions)-1].Message)
		}
		wantAll(t, "list", all(page, `<article class="card isu" data-uuid="([^"]*)"`), uuids)
		wantAll(t, "names", all(page, `<h3>([^<]*)</h3>`), names)
		wantAll(t, "messages", all(page, `<div class="bubble \w+">([^<]*)<`), says)
	})
	t.Run("detail", func(t *testing.T) {
		page := open(t, "/isu/"+isu.UUID)
		wantAll(t, "name", all(page, `<h1>([^<]*)</h1>`), []string{isu.Name})
		wantAll(t, "message", all(page, `<div class="bubble \w+">([^<]*)<`), []string{newest.Message})
		wantAll(t, "level", all(page, `<div><span class="badge (\w+)">`), []string{newest.Level().String()})
		wantAll(t, "icon", all(page, `<img class="icon" src="([^"]*)"`), []string{"/api/isu/" + isu.UUID + "/icon"})
	})
	t.Run("history", func(t *testing.T) {
		page := open(t, "/isu/"+isu.UUID+"/condition")
		wantAll(t, "timestamps", all(page, `<tr data-timestamp="(\d+)"`), shownTimes(wanted(isu, 0, newest.Timestamp+1, "info,warning,critical")))
		older := fmt.Sprintf("end_time=%d", isu.Conditions[len(isu.Conditions)-20].Timestamp)
		if !strings.Contains(page, older) {
			t.Errorf("no way to the next page, %s", older)
		}
	})
	t.Run("filtered", func(t *testing.T) {
		end := isu.Conditions[50].Timestamp
		page := open(t, fmt.Sprintf("/isu/%s/condition?condition_level=critical,info&end_time=%d", isu.UUID, end))
		want := wanted(isu, 0, end, "critical,info")
		wantAll(t, "timestamps", all(page, `<tr data-timestamp="(\d+)"`), shownTimes(want))
		if len(want) == 0 || strings.Contains(page, `data-level="warning"`) {
			t.Error("the filter lets warnings pass, or nothing")
		}
	})
	t.Run("graph", func(t *testing.T) {
		day := time.Unix(isu.Conditions[30].Timestamp, 0).In(JST)
		midnight := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, JST)
		var hours []int
		var scores, sitting []string
		for _, k := range isu.Conditions { // one per hour
			at := time.Unix(k.Timestamp, 0).In(JST)
			if at.YearDay() != day.YearDay() {
				continue
			}
			hours = append(hours, at.Hour())
			scores = append(scores, map[Level]string{Info: "100", Warning: "66", Critical: "33"}[k.Level()])
			sitting = append(sitting, map[bool]string{true: "100", false: "0"}[k.IsSitting])
		}
		page := open(t, fmt.Sprintf("/isu/%s/graph?datetime=%d", isu.UUID, midnight.Unix()))
		wantAll(t, "hours", all(page, `<circle class="dot"[^>]* data-hour="(\d+)"`), numbers(hours))
		wantAll(t, "scores", all(page, `<circle class="dot"[^>]* data-value="(\d+)"`), scores)
		wantAll(t, "sitting", all(page, `<rect class="cell sitting"[^>]* data-value="(\d+)"`), sitting)
		if !strings.Contains(page, midnight.Format("2006年1月2日")) || strings.Count(page, `class="night"`) != 2 {
			t.Error("the graph lacks its date or its nights")
		}
	})
}

func shownTimes(page []apiCondition) []string {
	var times []int64
	for _, c := range page {
		times = append(times, c.Timestamp)
	}
	return numbers(times)
}

// driven serves the contest's pages with an added script that performs a user's
// actions.
func driven(t *testing.T, script string) *httptest.Server {
	t.Helper()
	target, err := url.Parse(contest.stack.Places().URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			return nil
		}
		page, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		page = append(page, "<script type=module>"+script+"</script>"...)
		r.Body = io.NopCloser(bytes.NewReader(page))
		r.ContentLength = int64(len(page))
		r.Header.Set("Content-Length", strconv.Itoa(len(page)))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server
}

func testBrowserRegisters(t *testing.T) {
	fresh(t)
	const uuid = "a0000000-0000-4000-8000-00000000000b"
	server := driven(t, `
		const wait = setInterval(() => {
			const form = document.getElementById('register')
			if (!form) return
			clearInterval(wait)
			form.elements.jia_isu_uuid.value = '`+uuid+`'
			form.elements.isu_name.value = 'ブラウザのいす'
			form.requestSubmit()
		}, 50)`)
	page := arenatest.Browse(t, server.URL+"/register?jwt="+tokenFor(t, "isucon"))
	wantAll(t, "after registering", all(page, `id="isu" data-uuid="([^"]*)"`), []string{uuid})
	wantAll(t, "name", all(page, `<h1>([^<]*)</h1>`), []string{"ブラウザのいす"})

	page = arenatest.Browse(t, server.URL+"/register?jwt="+tokenFor(t, "isucon"))
	wantAll(t, "the second time", all(page, `<p class="problem" role="alert">([^<]*)</p>`), []string{"duplicated: isu"})
}

func testBrowserSignsOut(t *testing.T) {
	fresh(t)
	server := driven(t, `
		const wait = setInterval(() => {
			const button = document.querySelector('button.plain')
			if (button) { clearInterval(wait); button.click() }
		}, 50)`)
	page := arenatest.Browse(t, server.URL+"/?jwt="+tokenFor(t, "isucon2"))
	if !strings.Contains(page, `id="trend"`) || strings.Contains(page, `id="me"`) {
		t.Errorf("after signing out: %.1000s", page)
	}
}
