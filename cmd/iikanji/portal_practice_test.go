package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// TestPractice: from an empty folder one command gives a link; a login, a press of the button,
// and the run of a real arena has a score, its points and its log.
func TestPractice(t *testing.T) {
	tier.Slow(t)
	x := newExamples(t)
	cmd := exec.Command("sh", "-c", "exec iikanji portal up --practice isucondition --load 2s --listen 127.0.0.1:0 --dir practice --json")
	cmd.Dir, cmd.Env = x.dir, x.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} // also when the test is killed
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		_ = cmd.Wait() // its status is that of the interrupt
	})
	var at struct{ Login, Round string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&at); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(address string) string {
		t.Helper()
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v\n%s", address, answer.Status, err, text)
		}
		return string(text)
	}
	base, token, _ := strings.Cut(at.Login, "/login?token=")
	if text := get(at.Login); !strings.Contains(text, token) { // a button: the link is not used up yet
		t.Errorf("the page of the login link:\n%s", text)
	}
	signed, err := browser.PostForm(base+"/login", url.Values{"token": {token}})
	if err != nil {
		t.Fatal(err)
	}
	signed.Body.Close()
	form := regexp.MustCompile(`action="/r/[^"]+/run">\s*<input type="hidden" name="form" value="([^"]+)"`).FindStringSubmatch(get(base + "/r/" + at.Round + "/team"))
	if form == nil {
		t.Fatal("the team's page has no form")
	}
	answer, err := browser.PostForm(base+"/r/"+at.Round+"/team/run", url.Values{"form": {form[1]}, "note": {"first"}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	job := answer.Request.URL.Path[strings.LastIndexByte(answer.Request.URL.Path, '/')+1:]
	var j api.Job
	for end := time.Now().Add(3 * time.Minute); j.State != api.Done; time.Sleep(200 * time.Millisecond) {
		if err := json.Unmarshal([]byte(get(base+"/api/v1/jobs/"+job)), &j); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) || j.State == api.Broken {
			t.Fatalf("the run is %s: %s", j.State, j.Text)
		}
	}
	// On a busy machine the load generator is the limit in each of three attempts: void.
	passed := j.Result.Outcome == iikanji.Passed && j.Result.Score > 0
	if !passed && j.Result.Outcome != iikanji.Void || len(j.Result.Points) == 0 || j.Result.Seed != 0 {
		t.Errorf("the result is %+v", j.Result)
	}
	if page := get(base + "/r/" + at.Round); !strings.Contains(page, "practice") {
		t.Errorf("the board lacks the team:\n%s", page)
	}
}
