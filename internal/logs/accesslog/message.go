package accesslog

import "bytes"

// levels are words with which programs grade their messages.
var levels = map[string]bool{"trace": true, "debug": true, "info": true, "notice": true, "warn": true, "warning": true, "err": true,
	"error": true, "crit": true, "critical": true, "alert": true, "emerg": true, "fatal": true, "panic": true}

// messageLevel is how far into a line a message has its level: behind a time and a name.
const messageLevel = 80

// isMessage reports whether a line that is no request is a message of the program that
// writes the log, or of one beside it: it has a level near its beginning.
func isMessage(line []byte) bool {
	head := line[:min(len(line), messageLevel)]
	for i := 0; i < len(head); {
		for i < len(head) && !isLetter(head[i]) {
			i++
		}
		from := i
		for i < len(head) && isLetter(head[i]) {
			i++
		}
		if n := i - from; n >= 3 && n <= 8 && levels[string(bytes.ToLower(head[from:i]))] {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
