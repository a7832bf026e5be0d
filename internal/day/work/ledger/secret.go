package ledger

import (
	"path"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/show/redact"
)

// secretWord is a part of a name whose value is a secret.
const secretWord = `(?:passw(?:or)?d|passphrase|pass|pwd|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|signing[-_]?key|encryption[-_]?key|session[-_]?key|salt|webhook)`

var (
	mail = regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)

	// sourceRules are what a secret in source looks like: a literal beside a name, not the
	// name alone, which every login form has.
	sourceRules = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b[\w.-]*` + secretWord + `\w*["'\x60]?\]?\s*(?::=|=>|==?|:|,)\s*[a-z]?["'\x60][^"'\x60\s$%{}<>]{4,}["'\x60]`),
		regexp.MustCompile(`[\w.%-]+:[^\s'"@/:]{3,}@(?:tcp|unix|udp)?[(/]`),                   // a DSN of Go
		regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/'"@:]*:[^\s/'"@$%{}<>]{3,}@`),      // an address with a password
		regexp.MustCompile(`(?i)\bidentified\s+(?:by|via|with)\s+(?:password\s+)?["'][^"']+`), // SQL
		regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}|\bsk-[\w-]{16,}|\bAIza[\w-]{30,}`),
		regexp.MustCompile(`\$(?:2[abxy]|argon2\w*|[156y])\$[\w./$=,+-]{16,}`), // hashes of passwords
		regexp.MustCompile(`https://(?:\w+\.)?(?:discord(?:app)?\.com/api/webhooks|hooks\.slack\.com/services)/\S+`),
		regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`),
	}
	// randomText matches a long word of the alphabet of keys.
	randomText = regexp.MustCompile(`["'\x60=:\s][A-Za-z0-9+/_-]{40,}={0,2}["'\x60\s;,]?$`)
)

// checksums are files full of digests, which are no secrets.
var checksums = map[string]bool{"go.sum": true, "package-lock.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "Gemfile.lock": true, "composer.lock": true, "Cargo.lock": true,
	"poetry.lock": true, "uv.lock": true, "Pipfile.lock": true, "requirements.txt": true, "cpanfile.snapshot": true, "mix.lock": true}

// sourceEnds are endings of source, in which the name of a secret is no secret.
var sourceEnds = map[string]bool{".go": true, ".rb": true, ".ru": true, ".erb": true, ".py": true, ".js": true, ".mjs": true, ".cjs": true, ".ts": true, ".tsx": true, ".jsx": true,
	".php": true, ".pl": true, ".pm": true, ".psgi": true, ".rs": true, ".java": true, ".kt": true, ".scala": true, ".ex": true, ".exs": true, ".c": true, ".h": true, ".cpp": true,
	".sql": true, ".html": true, ".css": true, ".tmpl": true, ".mod": true, ".diff": true}

// SecretLine returns the first line of a text, from 1, that looks as if it had a secret; 0
// for none.
func SecretLine(name, text string) int {
	base := path.Base(name)
	source := sourceEnds[strings.ToLower(path.Ext(base))]
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if looksSecret(line, source, checksums[base]) {
			return n
		}
	}
	return 0
}

func looksSecret(line string, source, sums bool) bool {
	for _, r := range sourceRules {
		if r.MatchString(line) {
			return true
		}
	}
	if sums {
		return false
	}
	if source {
		return randomText.MatchString(line) && mixed(line)
	}
	plain := mail.ReplaceAllString(line, "mail")
	return redact.Text(plain) != plain
}

// mixed reports whether a text has digits and letters of both cases close together, as keys
// have and words and paths have not.
func mixed(text string) bool {
	best, run, kinds, last := 0, 0, 0, -1
	for _, c := range text {
		kind := -1
		switch {
		case c >= '0' && c <= '9':
			kind = 0
		case c >= 'a' && c <= 'z':
			kind = 1
		case c >= 'A' && c <= 'Z':
			kind = 2
		}
		if kind < 0 {
			best, run, kinds, last = max(best, kinds*boolInt(run >= 20)), 0, 0, -1
			continue
		}
		run++
		if last >= 0 && kind != last {
			kinds++
		}
		last = kind
	}
	return max(best, kinds*boolInt(run >= 20)) >= 8
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
