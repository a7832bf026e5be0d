package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// portalExamples run on a portal of this test, with a contest whose benchmarker is a shell
// command, and on the small arena.
var portalExamples = []example{
	{line: `iikanji portal plan --teams 1000 --run 75s --per-hour 6`, want: "138 workers"},
	{line: `iikanji portal sim --teams 5 --workers 1 --hours 1`, want: "each job has one result"},
	{line: `iikanji portal rehearse`, want: "no answer of 500 or more", with: "--teams 3 --workers 1 --viewers 20 --for 4s --run 1s"},
	{line: `iikanji portal rehearse --teams 100 --workers 14 --viewers 5000 --for 30m`, want: "want 1 to 2000 --teams", with: "--for 1ms", status: exitUsage},
	{line: `iikanji portal contest check cup.toml`, want: "no mistake"},
	{line: `iikanji portal contest check cup.toml --json`, want: `"calendar"`},
	{line: `iikanji portal contest diff cup.toml cup2.toml`, want: "rounds.final.rules.standing: (none) → best"},
	{line: `iikanji portal contest new cup.toml`, want: "cup_final"},
	{line: `iikanji portal contest reopen cup final`, want: "are not final", status: exitFailed}, // it runs
	{line: `iikanji portal contest reopen cup final --as cup-2 --members 3 --ghosts 3 --public`, want: "are not final", status: exitFailed},
	{line: `iikanji portal team "team one" --contest cup --url http://127.0.0.1:8080`, want: "/login?token="},
	{line: `iikanji portal account new aoi --role judge`, want: "/login?token="},
	{line: `iikanji portal account forget ACCOUNT`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal export cup --to cup-public`, want: "files into"},
	{line: `iikanji portal export cup --view staff --to cup-staff`, want: "files into"},
	{line: `iikanji portal import cup-staff`, want: "all boards are equal", with: "--dir imported"},
	{line: `iikanji portal backup cup.backup`, want: "wrote"},
	{line: `iikanji portal backup - | iikanji portal restore - --dir copy`, want: "the audit log is whole"},
	{line: `iikanji portal restore cup.backup --dir restored`, want: "the audit log is whole"},
	{line: `iikanji portal rehearse --backup cup.backup --teams 5 --workers 1 --viewers 50 --for 30s`, want: "no answer of 500 or more", with: "--teams 2 --viewers 5 --for 4s --run 1s"},
	{line: `iikanji portal up --contest cup.toml --listen 127.0.0.1:9000`, want: "the portal is up", forever: true},
	{line: `iikanji portal up --practice isucondition`, want: "/login?token=", forever: true, with: "--listen 127.0.0.1:0 --dir practice"},
	{line: `iikanji portal worker --portal http://127.0.0.1:8780 --token-file worker.token`, want: "registered", forever: true, before: (*examples).portal},
	{line: `iikanji portal job enqueue cup_final -m "an index" --wait`, want: "passed 310", with: "--token-file team.token"},
	{line: `iikanji portal job list cup_final`, want: "passed 310"},
	{line: `iikanji portal job list cup_final --json`, want: `"note": "an index"`},
	{line: `iikanji portal job cancel JOB`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal check`, want: "machine"},
	{line: `iikanji portal noise cup_final --team TEAM --runs 8 --keep`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal doctor cup_final`, want: "its database answers and it has a leader"},
	{line: `iikanji portal pool list`, want: "slot"},
	{line: `iikanji portal pool hold WORKER --reason "its disk is slow"`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal pool release WORKER --reason "the benchmarker is installed"`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal check --json`, want: `"tells"`},
	{line: `iikanji portal host add cup_final s1 http://127.0.0.1:8080`, want: "/.well-known/iikanji-host", with: "--token-file team.token"},
	{line: `iikanji portal host list cup_final`, want: "not proven"},
	{line: `iikanji portal host list cup_final --json`, want: `"name": "s1"`},
	{line: `iikanji portal join --portal http://127.0.0.1:8780 --token-file host.token`, want: "waiting for a worker", forever: true, with: "--listen 127.0.0.1:0", before: (*examples).hostToken},
	{line: `iikanji portal host remove cup_final HOST`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal ghost add cup_final "last year" --csv winner.csv --public`, want: "last year", before: func(x *examples) { x.write("winner.csv", "0,100\n30,250,an index\n") }},
	{line: `iikanji portal ghost add cup_final tune --runs ./history`, want: "there is no history", status: exitFailed},
	{line: `iikanji portal ghost add cup_final "the semifinal" --from cup_semifinal --team TEAM`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal ghost list cup_final`, want: "last year  250  for everyone"},
	{line: `iikanji portal ghost list cup_final --json`, want: `"label": "an index"`},
	{line: `iikanji portal ghost remove cup_final GHOST`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal award cup_final jury TEAM --reason "the best write-up"`, want: "gives no prize", status: exitFailed},
	{line: `iikanji portal judge plan cup_final --top 30 --prizes`, want: "no final judging", status: exitFailed},
	{line: `iikanji portal judge plan cup_final --keep`, want: "no final judging", status: exitFailed},
	{line: `iikanji portal judge run cup_final --reboot ./reboot.sh`, want: "the final judging begins when it is judging", status: exitFailed},
	{line: `iikanji portal judge show cup_final`, want: "0 teams"},
	{line: `iikanji portal judge repeat cup_final TEAM reboot --reason "the switch was off"`, want: "the round is running", status: exitFailed},
	{line: `iikanji portal judge rejudge cup_final --as void --worker WORKER --reason "a broken network card"`, want: "0 results would change"},
	{line: `iikanji portal judge disqualify cup_final propose TEAM --rule 5.2 --public "load from other machines" --evidence "log of 15:02"`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji portal judge publish cup_final`, want: "a round that is running becomes ended", status: exitFailed},
	{line: `iikanji portal judge reveal cup_final`, want: "publish the provisional results first", status: exitFailed},
	{line: `iikanji portal state cup_final ready`, want: "becomes ended, not ready", status: exitFailed}, // it runs
	{line: `iikanji portal clock cup_final pause --reason "the network is down"`, want: "cup_final is running"},
	{line: `iikanji portal clock cup_final resume --reason "the network is back"`, want: "cup_final is running"},
	{line: `iikanji portal clock cup_final extend --by 30m --reason "the network was down"`, want: "an open round has no end", status: exitFailed},
	{line: `iikanji portal clock cup_final extra --team TEAM --by 10m --reason "their machine was restarted"`, want: "an open round has no end", status: exitFailed},
	{line: `iikanji fleet site shop`, want: "iikanji fleet agent --portal", before: func(x *examples) { x.write("site.token", "x") }},
	{line: `iikanji fleet agent --portal https://portal.example --token-file site.token --access /var/log/nginx/access.log`, want: "following 1 log as host", forever: true, with: "--dir agent1"},
	{line: `iikanji fleet agent --portal https://portal.example --token-file site.token --slow /var/log/mysql/slow.log --host db1`, want: "following 1 log as host db1", forever: true, with: "--dir agent2"},
	{line: `iikanji fleet show shop --since 1h`, want: "there is no such thing", status: exitFailed}, // no host has sent anything
	{line: `iikanji fleet show shop --kind slow --since 10m --save now.json`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji fleet show shop --since 2h --until 1h --save before.json`, want: "there is no such thing", status: exitFailed},
	{line: `iikanji load isuxi --url http://127.0.0.1:8080 --shards 2`, want: "--shards 99: want 2 to 64", with: "--shards 99", status: exitUsage},
	{line: `iikanji load isuxi --url http://10.20.0.3 --on 'ssh gen2 iikanji' --on 'ssh gen3 iikanji'`, want: "--shards 2: want 2 to 64, and more than machines of --on", with: "--shards 2", status: exitUsage},
	{line: `iikanji portal job cancel JOB --reason "wrong host"`, want: "there is no such thing", status: exitFailed},
}

// cupFile is a contest whose benchmarker needs no site.
const cupFile = `name = "Cup"
local = true

[[rounds]]
id = "final"
kind = "open"
problem = "shell"

[problem.shell]
command = ["sh", "-c", "echo '{\"t\":1,\"score\":5}' >&3; echo '{\"end\":true,\"pass\":true,\"score\":310,\"raw\":320,\"deducted\":10}' >&3"]
load = "1s"
`

// portalFiles writes the contest files.
func portalFiles(t *testing.T, x *examples) {
	t.Cleanup(func() {
		for _, end := range x.ends {
			end()
		}
	})
	x.target = "shop"
	x.write("cup.toml", cupFile)
	x.write("cup2.toml", cupFile+"\n[rounds.rules]\nstanding = \"best\"\n")
}

// portal starts the portal of the user's state folder, a worker, and makes a team.
func (x *examples) portal() {
	x.t.Helper()
	dir := filepath.Join(x.dir, "state", "iikanji", "portal")
	if err := os.Remove(filepath.Join(dir, "access.json")); err != nil { // of the examples before
		x.t.Fatal(err)
	}
	portal := x.portalUp(dir)
	x.shell(`iikanji portal team "team two" --contest cup --url http://127.0.0.1:1 --json | sed -n 's/.*"token": "\(.*\)".*/\1/p' > team.token`)
	x.background("iikanji portal worker --portal " + portal + " --token-file worker.token --dir w2")
	x.replacing("http://127.0.0.1:8780", portal)
}

// portalUp starts the portal whose folder is dir, and returns its address. The token of workers is
// then in worker.token.
func (x *examples) portalUp(dir string) string {
	x.t.Helper()
	x.background("iikanji portal up --listen 127.0.0.1:0")
	var a access
	for end := time.Now().Add(time.Minute); a.URL == ""; time.Sleep(50 * time.Millisecond) {
		if text, err := os.ReadFile(filepath.Join(dir, "access.json")); err == nil {
			_ = json.Unmarshal(text, &a) // half written: read again
		}
		if time.Now().After(end) {
			x.t.Fatal("the portal does not start")
		}
	}
	x.shell("cp " + filepath.Join(dir, "worker.token") + " worker.token")
	return a.URL
}

// hostToken registers a machine of the team and keeps its token.
func (x *examples) hostToken() {
	x.t.Helper()
	x.shell(`iikanji portal host add cup_final s2 http://127.0.0.1:8082 --token-file team.token --json | sed -n 's/.*"token": "\(.*\)".*/\1/p' > host.token`)
}

// background runs a line until the end of the group's tests.
func (x *examples) background(line string) {
	x.t.Helper()
	cmd := exec.Command("sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env = x.dir, x.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // also when the test is killed
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	x.ends = append(x.ends, func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		_ = cmd.Wait() // its status is that of the interrupt
	})
}
