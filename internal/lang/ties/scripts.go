package ties

import (
	"path"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A pattern is how a tie looks in a line.
type pattern struct {
	kind Kind
	line *regexp.Regexp
	// within: only in a function: what is written at the begin of a line runs at start.
	within bool
	// unless is what the same line has where it is no tie.
	unless *regexp.Regexp
}

// A language has the patterns of one language. Values in memory are told by another package,
// which follows their names.
type language struct {
	app      bool // answers requests; false for scripts that an app calls
	comment  string
	patterns []pattern
	// without is what a file has where a kind is no tie.
	without map[Kind]*regexp.Regexp
}

func in(kind Kind, line string) pattern { return pattern{kind: kind, line: regexp.MustCompile(line)} }

func inFunction(kind Kind, line string) pattern {
	return pattern{kind: kind, line: regexp.MustCompile(line), within: true, unless: logOrTemporary}
}

var (
	logOrTemporary = regexp.MustCompile(`(?i)\.log["'\x60]|tempfile|mkdtemp|tmpdir|tmpfile|tmp_name|/dev/null`)
	fromEnv        = regexp.MustCompile(`(?i)environ|getenv|ENV\[|ENV\.|process\.env|default|listen|bind|\brun\(|host_name|server_name`)
)

// local is an address of the host in any of these languages.
var local = pattern{kind: Local, line: regexp.MustCompile(`["'\x60](?:(?:https?|redis|amqp)://)?(?:localhost|127\.0\.0\.1):\d{2,5}(?:/[^"'\x60]*)?["'\x60]`), unless: fromEnv}

var python = &language{app: true, comment: "#", patterns: []pattern{
	inFunction(Files, `\bopen\([^)\n]*["'][rbt]*[wax]\+?[bt]*["']|\bshutil\.(?:copy\w*|move|rmtree|copytree)\(|\bos\.(?:makedirs|mkdir|rename|replace|remove|unlink|rmdir)\(|\.write_(?:text|bytes)\(|\b(?:file|upload|image|icon|f|photo)\.save\(`),
	in(SQLite, `\bsqlite3\.connect\(\s*(?:["'][^:]|[^"'])|sqlite(?:\+\w+)?:///[^:]`),
	inFunction(Lock, `\bfcntl\.(?:flock|lockf)\(|\bFileLock\(`),
	in(Job, `\b(?:Background|AsyncIO|Gevent)Scheduler\(|\bschedule\.every\(|@repeat_every\(|\bthreading\.Timer\(`),
	in(Key, `(?i)secret_?key\W{0,4}\s*[:=]\s*(?:os\.urandom|secrets\.|uuid)`),
	in(Sessions, `SESSION_TYPE\W{0,3}\s*[:=]\s*["']filesystem|FileSystemCache\(`),
	in(Socket, `unix_socket["']?\s*[=:]\s*["']/|redis\.Redis\([^)]*unix_socket_path`),
	local,
}}

var ruby = &language{app: true, comment: "#", patterns: []pattern{
	inFunction(Files, `\bFile\.(?:write|binwrite|delete|rename|unlink)\b|\bFile\.open\([^)\n]*["'][wax]|\bIO\.(?:write|binwrite)\b|\bFileUtils\.(?:cp|mv|rm|mkdir|copy|move|touch)\w*|\bDir\.mkdir\b`),
	in(SQLite, `\bSQLite3::Database\.(?:new|open)\(?\s*(?:["'][^:]|[^"'])|adapter["']?\s*(?:=>|:)\s*["']sqlite`),
	inFunction(Lock, `\.flock\(|\bFile::LOCK_EX\b`),
	in(Job, `\bRufus::Scheduler\b|\bConcurrent::TimerTask\.new\b`),
	in(Key, `(?i)secret\W.{0,40}SecureRandom\.`),
	in(Socket, `\bsocket["']?\s*(?:=>|:)\s*["']/`),
	local,
}}

var javascript = &language{app: true, comment: "//", patterns: []pattern{
	inFunction(Files, `\bfs(?:p|Promises|\.promises)?\.(?:writeFile|appendFile|createWriteStream|rename|unlink|rm|mkdir|copyFile)(?:Sync)?\(`),
	in(Files, `\bmulter\(\{\s*dest\b|\bmulter\.diskStorage\(`),
	in(SQLite, `\bnew\s+(?:sqlite3?\.|sqlite3\.verbose\(\)\.)?Database\(\s*(?:["'\x60][^:]|[^"'\x60)])`),
	inFunction(Lock, `\blockfile\.lock|\bproperLockfile\.lock`),
	in(Job, `\bcron\.schedule\(|\bnew\s+CronJob\(|\bschedule\.scheduleJob\(|^setInterval\(`),
	in(Key, `(?i)secret\s*:\s*(?:crypto\.random|uuid|nanoid)`),
	in(Socket, `\bsocketPath\s*:\s*["'\x60]/`),
	local,
}}

var php = &language{app: true, comment: "//", patterns: []pattern{
	in(Files, `\bfile_put_contents\(|\bmove_uploaded_file\(|\bfopen\([^)\n]*["'][wax]|->moveTo\(`),
	in(Sessions, `\bsession_start\(`),
	in(Memory, `\bapcu_(?:store|add|inc|dec|cas)\(|\bshm_put_var\(`),
	in(SQLite, `["']sqlite:[^:]`),
	in(Lock, `\bflock\(|\bsem_acquire\(`),
	in(Socket, `unix_socket=/`),
	local,
}, without: map[Kind]*regexp.Regexp{Sessions: regexp.MustCompile(`session\.save_handler|session_set_save_handler|SessionHandler`)}}

// shell are scripts that the app calls, as at initialize.
var shell = &language{comment: "#", patterns: []pattern{
	{kind: Files, line: regexp.MustCompile(`(?:^|[;&|]\s*|\bthen\s+)(?:sudo\s+)?(?:cp|mv|rm|mkdir|rsync|tar|unzip)\s`), unless: regexp.MustCompile(`(?i)/tmp/|\$TMP|mktemp|/var/log/`)},
	{kind: SQLite, line: regexp.MustCompile(`(?:^|[;&|]\s*)sqlite3\s`)},
}}

// languageOf is the language of a file, nil for one that is read in another way or not.
func languageOf(name string) *language {
	switch path.Ext(name) {
	case ".py":
		return python
	case ".rb", ".ru":
		return ruby
	case ".js", ".mjs", ".cjs", ".ts", ".mts":
		return javascript
	case ".php":
		return php
	case ".sh":
		return shell
	}
	return nil
}

// inText lists the ties of one file. named are the texts of an app, which name the scripts
// that it calls; a script that nothing names is no part of the app.
func inText(f settings.File, named string) (out []Tie) {
	l := languageOf(f.Path)
	if l.app && tools.MatchString(path.Base(f.Path)) {
		return nil
	}
	if !l.app && !strings.Contains(named, path.Base(f.Path)) {
		return nil
	}
	heredoc, n := "", 0
	for line := range strings.Lines(f.Text) {
		n++
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		if heredoc != "" { // the input of another program
			if text == heredoc {
				heredoc = ""
			}
			continue
		}
		if text == "" || strings.HasPrefix(text, l.comment) || strings.HasPrefix(text, "*") || len(line) > mostLine {
			continue
		}
		if m := hereBegin.FindStringSubmatch(line); !l.app && m != nil {
			heredoc = m[1]
		}
		for _, p := range l.patterns {
			m := p.line.FindString(line)
			within := !p.within || text != line || strings.Contains(text, "{ ")
			if m == "" || !within || p.unless != nil && p.unless.MatchString(line) || l.without[p.kind] != nil && l.without[p.kind].MatchString(f.Text) {
				continue
			}
			out = append(out, Tie{Kind: p.kind, File: f.Path, Line: n, Name: plain.Cut(strings.TrimSpace(m), mostName)})
			break
		}
	}
	return out
}

// bounds of what is read: minified sources have one long line.
const (
	mostLine = 2000
	mostName = 40
)

// tools are files that make an app, and are no part of it.
var tools = regexp.MustCompile(`(?i)^(?:build|gulpfile|gruntfile|webpack|rollup|vite|esbuild|seed|migrat|deploy|setup|manage|conftest|rakefile)[.\w-]*\.\w+$`)

var hereBegin = regexp.MustCompile(`<<-?\s*["']?(\w+)["']?`)
