package redact

import (
	"bytes"
	"regexp"
)

// redacted replaces a literal that may be a secret.
const redacted = "'(redacted)'"

// sqlSecretName matches names of columns, functions and clauses whose values are
// secrets.
var sqlSecretName = regexp.MustCompile(`(?i)passw|passwd|\bpwd\b|_pwd\b|\bpwd_|passphrase|secret|token|api_?key|access_?key|private_?key|encryption_?key|credential|` +
	`\bauth(entication|orization)?(_|\b)|identified\s+(by|with)|\bsalt\b|_salt\b|cookie|session_?(id|key|data)|\bsessions?\b|\botp\b|\bcvv\b|\bcvc\b|\bpin\b|_pin\b|` +
	`card_?num|\biban\b|\bssn\b|aes_(en|de)crypt|des_(en|de)crypt|\bencrypt\(|pgp_sym|crypt\(|\bmd5\(|\bsha[12]?\(`)

// secretValue matches literals that look like a secret wherever they are: tokens
// with known beginnings, hashes of passwords, and long random texts.
var secretValue = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}|\$(2[abxy]?|argon2[a-z]*|scrypt|pbkdf2[a-z0-9-]*|[156]|apr1)\$|\{(SSHA|SHA|MD5|CRYPT)[0-9]*\}|` +
	`\b(sk|pk|rk)_(live|test)_|\bsk-[A-Za-z0-9]|\bgh[pousr]_|\bxox[abprs]-|\bAKIA[0-9A-Z]{12}|\bAIza[0-9A-Za-z_-]{20}|-----BEGIN |Bearer |Basic [A-Za-z0-9+/]{8}`)

// longHex matches hashes and tokens in hexadecimal digits. Trace ids in comments look
// like them.
var longHex = regexp.MustCompile(`\b[0-9A-Fa-f]{32,}\b`)

// minRandom is the length from which a text of letters of both cases and digits,
// without spaces, is a random token.
const minRandom = 24

// Statement replaces the literals of a statement that may be secrets. If the
// statement names a secret (a column such as password or token, or a clause such
// as IDENTIFIED BY), these are all its literals and the values of its parameters.
// Otherwise they are those that look like a token, a hash or an address of e-mail.
func Statement(sql []byte) []byte {
	all := namesSecret(sql)
	var out []byte
	last := 0
	replace := func(from, to int, by string) {
		out = append(append(out, sql[last:from]...), by...)
		last = to
	}
	for i := 0; i < len(sql); {
		end, kind := literalAt(sql, i)
		text := sql[i:end]
		switch {
		case kind == literalString && (all || looksSecret(text)):
			replace(i, end, redacted)
		case kind == literalComment && (all && hasValues(text) || secretValue.Match(text) || hasValues(text) && looksSecret(text)):
			replace(i, end, "/* (redacted) */")
		case kind == literalNumber && all:
			replace(i, end, "0")
		}
		i = end
	}
	return append(out, sql[last:]...)
}

// namesSecret reports whether a statement names a secret outside of its strings.
func namesSecret(sql []byte) bool {
	names := make([]byte, 0, len(sql))
	for i := 0; i < len(sql); {
		end, kind := literalAt(sql, i)
		if kind == literalNone {
			names = append(names, sql[i:end]...)
		} else {
			names = append(names, ' ')
		}
		i = end
	}
	return sqlSecretName.Match(names)
}

// hasValues reports whether a comment holds the values of a statement's parameters,
// as the readers of traces and of PostgreSQL's logs append them.
func hasValues(comment []byte) bool {
	return bytes.HasPrefix(comment, []byte("/* args: ")) || bytes.HasPrefix(comment, []byte("/* parameters: "))
}

// looksSecret reports whether a literal looks like a secret.
func looksSecret(text []byte) bool {
	if secretValue.Match(text) || longHex.Match(text) {
		return true
	}
	if Text(string(text)) != string(text) { // as a URL with a token, an address of e-mail
		return true
	}
	for _, word := range bytes.FieldsFunc(text, func(r rune) bool { return r <= ' ' || bytes.ContainsRune([]byte(`'"(),;:=/[]{}<>`), r) }) {
		if len(word) < minRandom {
			continue
		}
		digits, small, large := 0, 0, 0
		for _, c := range word {
			switch {
			case c >= '0' && c <= '9':
				digits++
			case c >= 'a' && c <= 'z':
				small++
			case c >= 'A' && c <= 'Z':
				large++
			}
		}
		if digits >= 2 && small >= 4 && large >= 4 {
			return true
		}
	}
	return false
}

// A literalKind is a kind of token in a statement.
type literalKind uint8

const (
	literalNone literalKind = iota
	literalString
	literalNumber
	literalComment
)

// literalAt returns the end and the kind of the token at i: a string, a number, a
// comment, or a word or byte of the statement itself. Double quotes count as a
// string, because a log may come from MySQL.
func literalAt(sql []byte, i int) (end int, kind literalKind) {
	c := sql[i]
	switch {
	case c == '\'' || c == '"':
		return endOfString(sql, i), literalString
	case c == '$' && i+1 < len(sql) && sql[i+1] == '$':
		if j := bytes.Index(sql[i+2:], []byte("$$")); j >= 0 {
			return i + 2 + j + 2, literalString
		}
		return len(sql), literalString
	case c == '/' && i+1 < len(sql) && sql[i+1] == '*' && (i+2 >= len(sql) || sql[i+2] != '!' && sql[i+2] != '+'):
		if j := bytes.Index(sql[i+2:], []byte("*/")); j >= 0 {
			return i + 2 + j + 2, literalComment
		}
		return len(sql), literalComment
	case isDigit(c):
		for i++; i < len(sql) && (inWord(sql[i]) || sql[i] == '.'); i++ {
		}
		return i, literalNumber
	case inWord(c):
		for i++; i < len(sql) && inWord(sql[i]); i++ {
		}
		return i, literalNone
	}
	return i + 1, literalNone
}

// endOfString returns the end of the string at i.
func endOfString(sql []byte, i int) int {
	q := sql[i]
	for i++; i < len(sql); i++ {
		switch sql[i] {
		case '\\':
			i++
		case q:
			if i+1 >= len(sql) || sql[i+1] != q {
				return i + 1
			}
			i++
		}
	}
	return len(sql)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// inWord reports whether a byte continues a word. Bytes of other scripts do.
func inWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '@' || c >= 0x80
}

// minNumber is the number of digits from which a number may be that of a telephone,
// a card or an account.
const minNumber = 9

// literals replaces all string literals of a statement, the values of its
// parameters, long numbers, and what looks like a secret in the rest.
func literals(sql string) string { return Text(sqlLiterals(sql)) }

// sqlLiterals replaces the string literals of a statement, which are data of users,
// and long numbers.
func sqlLiterals(sql string) string {
	var out []byte
	for b := []byte(sql); len(b) > 0; {
		end, kind := literalAt(b, 0)
		switch text := b[:end]; {
		case kind == literalString, kind == literalNumber && digitsOf(text) >= minNumber:
			out = append(out, "'?'"...)
		case kind == literalComment && hasValues(text):
			out = append(out, "/* (redacted) */"...)
		default:
			out = append(out, text...)
		}
		b = b[end:]
	}
	return string(out)
}

// digitsOf counts the digits of a number, decimal or hexadecimal.
func digitsOf(number []byte) (n int) {
	if len(number) > 2 && (number[1] == 'x' || number[1] == 'X') {
		return len(number) - 2
	}
	for _, c := range number {
		if isDigit(c) {
			n++
		}
	}
	return n
}
