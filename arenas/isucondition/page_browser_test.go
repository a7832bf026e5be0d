package isucondition_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

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
		page := contest.Browse(t, c.URL()+"/")
		characters := apptest.All(page, `data-character="([^"]*)"`)
		slices.Sort(characters)
		apptest.WantAll(t, "characters", characters, slices.Sorted(slices.Values(Labels[:])))
		counts := 0
		for _, n := range apptest.All(page, `<li class="(?:info|warning|critical)"><b>(\d+)</b>`) {
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
		page := contest.Browse(t, c.URL()+"/isu/"+c.data.Users[0].ISUs[0].UUID)
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
		page := contest.Browse(t, c.URL()+path+mark+"jwt="+tokenFor(t, user.ID))
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
		apptest.WantAll(t, "list", apptest.All(page, `<article class="card isu" data-uuid="([^"]*)"`), uuids)
		apptest.WantAll(t, "names", apptest.All(page, `<h3>([^<]*)</h3>`), names)
		apptest.WantAll(t, "messages", apptest.All(page, `<div class="bubble \w+">([^<]*)<`), says)
	})
	t.Run("detail", func(t *testing.T) {
		page := open(t, "/isu/"+isu.UUID)
		apptest.WantAll(t, "name", apptest.All(page, `<h1>([^<]*)</h1>`), []string{isu.Name})
		apptest.WantAll(t, "message", apptest.All(page, `<div class="bubble \w+">([^<]*)<`), []string{newest.Message})
		apptest.WantAll(t, "level", apptest.All(page, `<div><span class="badge (\w+)">`), []string{newest.Level().String()})
		apptest.WantAll(t, "icon", apptest.All(page, `<img class="icon" src="([^"]*)"`), []string{"/api/isu/" + isu.UUID + "/icon"})
	})
	t.Run("history", func(t *testing.T) {
		page := open(t, "/isu/"+isu.UUID+"/condition")
		apptest.WantAll(t, "timestamps", apptest.All(page, `<tr data-timestamp="(\d+)"`), shownTimes(wanted(isu, 0, newest.Timestamp+1, "info,warning,critical")))
		older := fmt.Sprintf("end_time=%d", isu.Conditions[len(isu.Conditions)-20].Timestamp)
		if !strings.Contains(page, older) {
			t.Errorf("no way to the next page, %s", older)
		}
	})
	t.Run("filtered", func(t *testing.T) {
		end := isu.Conditions[50].Timestamp
		page := open(t, fmt.Sprintf("/isu/%s/condition?condition_level=critical,info&end_time=%d", isu.UUID, end))
		want := wanted(isu, 0, end, "critical,info")
		apptest.WantAll(t, "timestamps", apptest.All(page, `<tr data-timestamp="(\d+)"`), shownTimes(want))
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
		apptest.WantAll(t, "hours", apptest.All(page, `<circle class="dot"[^>]* data-hour="(\d+)"`), numbers(hours))
		apptest.WantAll(t, "scores", apptest.All(page, `<circle class="dot"[^>]* data-value="(\d+)"`), scores)
		apptest.WantAll(t, "sitting", apptest.All(page, `<rect class="cell sitting"[^>]* data-value="(\d+)"`), sitting)
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

func testBrowserRegisters(t *testing.T) {
	fresh(t)
	const uuid = "a0000000-0000-4000-8000-00000000000b"
	server := contest.Driven(t, `
		const wait = setInterval(() => {
			const form = document.getElementById('register')
			if (!form) return
			clearInterval(wait)
			form.elements.jia_isu_uuid.value = '`+uuid+`'
			form.elements.isu_name.value = 'ブラウザのいす'
			form.requestSubmit()
		}, 50)`)
	page := contest.Browse(t, server.URL+"/register?jwt="+tokenFor(t, "isucon"))
	apptest.WantAll(t, "after registering", apptest.All(page, `id="isu" data-uuid="([^"]*)"`), []string{uuid})
	apptest.WantAll(t, "name", apptest.All(page, `<h1>([^<]*)</h1>`), []string{"ブラウザのいす"})

	page = contest.Browse(t, server.URL+"/register?jwt="+tokenFor(t, "isucon"))
	apptest.WantAll(t, "the second time", apptest.All(page, `<p class="problem" role="alert">([^<]*)</p>`), []string{"duplicated: isu"})
}

func testBrowserSignsOut(t *testing.T) {
	fresh(t)
	server := contest.Driven(t, `
		const wait = setInterval(() => {
			const button = document.querySelector('button.plain')
			if (button) { clearInterval(wait); button.click() }
		}, 50)`)
	page := contest.Browse(t, server.URL+"/?jwt="+tokenFor(t, "isucon2"))
	if !strings.Contains(page, `id="trend"`) || strings.Contains(page, `id="me"`) {
		t.Errorf("after signing out: %.1000s", page)
	}
}
