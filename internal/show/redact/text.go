package redact

import (
	"regexp"
	"strings"
)

// Removed replaces a secret.
const Removed = "[removed]"

// secretWord matches a part of a name whose value is a secret.
const secretWord = `passw(?:or)?d|passphrase|passwd|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|` +
	`signing[-_]?key|session[-_]?key|encryption[-_]?key|authorization|cookie`

// shortWord matches a whole word of such a name; inside longer words it is common.
const shortWord = `pass|pwd|salt|auth`

// queryWord matches a whole key of a URL's query whose value is a secret, or the
// data of a person.
const queryWord = `code|sig|signature|key|apikey|sid|session|sessionid|jwt|otp|pin|e-?mail|mail|phone|tel`

var (
	secretIn = regexp.MustCompile(`(?i)` + secretWord)
	shortIn  = regexp.MustCompile(`(?i)(?:^|[_.$-])(?:` + shortWord + `)$`)
	// harmless matches names that look like a secret's but are not.
	harmless = regexp.MustCompile(`(?i)^(?:(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached)_pass|server_tokens|(?:proxy|fastcgi)_(?:cookie_\w+|ignore_headers|hide_header|pass_header))$`)
)

// settings matches names that look like a secret's with values that are none: what a cache
// of ours does with requests that have cookies, a variable of nginx in a log format, and
// variables of nginx side by side in the key of a cache.
var settings = regexp.MustCompile(`^cookies=(?:personal|ignore)$|cookie[:=]\$[a-z]|^(?:\$[a-z]\w*)+:\$[a-z]\w*$`)

// noSecret matches pairs whose value is none by the rule of names and values: those of settings,
// and numbers behind the name of a table, as in "access_token: 4.7 M rows". A password may be a
// number.
var noSecret = regexp.MustCompile(settings.String() + `|(?i)(?:token|key|cookie|credential)[\w-]*["'\x60]?: \d{1,3}(?:\.\d)?$`)

// secretPair reports whether a value is a secret by its name.
func secretPair(name, value string) bool {
	return secretName(name) && !settings.MatchString(name+"="+value)
}

// secretName reports whether the value of a name looks like a secret.
func secretName(name string) bool {
	return (secretIn.MatchString(name) || shortIn.MatchString(name)) && !harmless.MatchString(name)
}

// A rule replaces text that looks like a secret; ${keep} of its match is kept. A
// match has one of the texts in lower case: most texts have none of them, and the
// search for them is fast.
type rule struct {
	hints []string
	form  *regexp.Regexp
	with  string
	// not matches what form matches and what is not a secret; nil for nothing. A form with
	// it has no condition on the text around it.
	not *regexp.Regexp
}

// apply replaces the secrets of a text.
func (r *rule) apply(text string) string {
	if r.not == nil {
		return r.form.ReplaceAllString(text, r.with)
	}
	return r.form.ReplaceAllStringFunc(text, func(found string) string {
		if r.not.MatchString(found) {
			return found
		}
		return r.form.ReplaceAllString(found, r.with)
	})
}

// secretHints has one text of each alternative of secretWord, shortHints of
// shortWord.
var (
	secretHints = []string{"passw", "passphrase", "secret", "token", "credential", "key", "authorization", "cookie"}
	shortHints  = []string{"pass", "pwd", "salt", "auth"}
)

// hinted reports whether a text in lower case has one of the hints.
func hinted(lower string, hints []string) bool {
	for _, h := range hints {
		if strings.Contains(lower, h) {
			return true
		}
	}
	return false
}

// longestRun is the length of the longest run of bytes that in accepts.
func longestRun(text string, in func(c byte) bool) (most int) {
	run := 0
	for i := range len(text) {
		if run++; !in(text[i]) {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

// rules are applied in order: a later rule would match only a part of what an
// earlier one matches.
var rules = []rule{
	{[]string{"-----begin"}, regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|$)`), Removed, nil},
	// user:password@ of an address, and of a DSN as go-sql-driver reads it.
	{[]string{"://"}, regexp.MustCompile(`(?P<keep>[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/'"]+@`), "${keep}" + Removed + "@", nil},
	{[]string{"@"}, regexp.MustCompile(`(?P<keep>[\w.%-]+:)[^\s'"]+(?P<at>@(?:tcp|unix|udp)?[(/])`), "${keep}" + Removed + "${at}", nil},
	{[]string{"identified"}, regexp.MustCompile(`(?i)(?P<keep>\bidentified\s+(?:by|via|with)\s+)[^;\n]+`), "${keep}" + Removed, nil},
	{[]string{"authorization"}, regexp.MustCompile(`(?i)(?P<keep>\b(?:proxy-)?authorization["']?\s*[:=]+\s*)[^\r\n,;]+`), "${keep}" + Removed, nil},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)(?P<keep>\bbearer\s+)[\w.~+/=-]{8,}`), "${keep}" + Removed, nil},
	// A variable of nginx (cookie:$http_cookie in a log format) is not a value; $Version is.
	{[]string{"cookie"}, regexp.MustCompile(`(?i)(?P<keep>\b(?:set-)?cookie["']?\s*[:=]+\s*)(?:\$(?-i:[^a-z])|[^\r\n$\s])[^\r\n]*`), "${keep}" + Removed, nil},
	// name = value, "name": "value", NAME=value, name => 'value'; not name = ?.
	{secretHints, regexp.MustCompile(`(?i)(?P<keep>[\w.$-]*(?:` + secretWord + `)[\w-]*["'\x60]?\s*(?:=>|:=|[=:]|\blike\b)\s*)(?:\[removed\]|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&)}\]?][^\s,;&)}\]]*)`), "${keep}" + Removed, noSecret},
	{shortHints, regexp.MustCompile(`(?i)(?P<keep>(?:^|[\s;,&{(_])(?:` + shortWord + `)\s*=\s*)(?:\[removed\]|"[^"]*"?|'[^']*'?|[^\s,;&)}\]]+)`), "${keep}" + Removed, nil},
	// A flag begins its word: X-Auth-Token is a header and has no flag -Token.
	{append(shortHints, secretHints...), regexp.MustCompile(`(?i)(?P<keep>(?:^|[\s"'\x60=(\[,])--?(?:[\w-]*-)?(?:` + secretWord + `|pass)[= ])\S+`), "${keep}" + Removed, nil},
	// A directive of nginx that sets a secret: proxy_set_header X-Api-Token "…". An empty
	// value and a variable are none.
	{secretHints, regexp.MustCompile(`(?i)(?P<keep>\b(?:set|\w+_header|\w+_param|secure_link\w*)\s+\$?[\w-]*(?:` + secretWord + `)[\w-]*\s+)(?:"(?:[^"\\$]|\\.)(?:[^"\\]|\\.)*"?|'(?:[^'\\$]|\\.)(?:[^'\\]|\\.)*'?|[^\s;{}"'$][^\s;{}]*)`), "${keep}" + Removed, nil},
	// Values of a query whose names are too common elsewhere.
	{[]string{"=", "%3d"}, regexp.MustCompile(`(?i)(?P<keep>[?&;](?:` + shortWord + `|` + queryWord + `)(?:=|%3d))[^\s&;"'<>#)]+`), "${keep}" + Removed, nil},
	// Tokens with a known prefix: JWT, and those of clouds and forges.
	{[]string{"eyj"}, regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`), Removed, nil},
	{[]string{"akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "aiza"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}|\bsk-[\w-]{16,}|\bAIza[\w-]{30,}`), Removed, nil},
	// Hashes of passwords.
	{[]string{"$"}, regexp.MustCompile(`\$(?:2[abxy]|argon2\w*|[156y])\$[\w./$=,+-]{16,}`), Removed, nil},
}

// Text replaces the parts of a text that look like secrets, and addresses of e-mail.
func Text(text string) string {
	lower := strings.ToLower(text)
	for i := range rules {
		if r := &rules[i]; hinted(lower, r.hints) {
			text = r.apply(text)
		}
	}
	if longestRun(lower, isHex) >= minHex {
		text = longHex.ReplaceAllString(text, Removed)
	}
	if strings.Contains(lower, "@") || strings.Contains(lower, "%40") {
		text = withoutMail(text)
	}
	if longestRun(lower, inRandom) < minMixed {
		return text
	}
	return random.ReplaceAllStringFunc(text, func(s string) string {
		if mixed(s) {
			return Removed
		}
		return s
	})
}

// minHex and minMixed are the least lengths of hexadecimal and of other keys.
const (
	minHex   = 32
	minMixed = 40
)

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' }

func inRandom(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c == '+' || c == '/' || c == '_' || c == '-'
}

// withoutMail replaces addresses of e-mail.
func withoutMail(text string) string {
	return mail.ReplaceAllStringFunc(text, func(s string) string {
		if notMail.MatchString(s) {
			return s
		}
		return Removed
	})
}

// random matches long words, with the text before the name of a file in a diff. mixed
// reports whether a word has upper and lower case and digits, as random keys have and
// names do not.
var random = regexp.MustCompile(`(?m)(?:^(?:---|\+\+\+) [ab]/|^Binary files a/|^Binary files \S+ \(\d+ bytes\) and b/)?[A-Za-z0-9+/_-]{40,}={0,2}`)

func mixed(s string) bool {
	return !strings.HasPrefix(s, "/") && !strings.Contains(s, " ") && // not a path
		strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "0123456789")
}

// mail matches an address of e-mail, also with an encoded @. notMail matches units
// of systemd and pictures of double density, which have the same form.
var (
	mail    = regexp.MustCompile(`(?i)[\w.+-]+(?:@|%40)(?:[a-z0-9-]+\.)+[a-z]{2,24}\b`)
	notMail = regexp.MustCompile(`\.(?:service|socket|timer|target|slice|scope|mount|path|device)$|@[0-9]+x\.\w+$`)
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
