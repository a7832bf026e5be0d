package appenv

import (
	"fmt"
	"regexp"
	"strings"
)

const logLevel = "LOG_LEVEL"

// variables may be set even if the application does not have them yet.
var variables = map[string]*regexp.Regexp{
	"GOMAXPROCS": regexp.MustCompile(`^[1-9][0-9]{0,2}$`),
	"GOGC":       regexp.MustCompile(`^(off|[1-9][0-9]{0,3})$`),
	"GOMEMLIMIT": regexp.MustCompile(`^[1-9][0-9]{0,5}[KMG]iB$`),
	"GIN_MODE":   regexp.MustCompile(`^release$`),
	logLevel:     regexp.MustCompile(`^[A-Za-z]{2,10}$`),
}

var (
	nameForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
	// sizes matches names of numbers that many applications read.
	sizes = regexp.MustCompile(`(^|_)(POOL|MAX_OPEN|MAX_IDLE|MAX_CONNS|WORKERS|CONCURRENCY|BATCH_SIZE)($|_)`)
	count = regexp.MustCompile(`^[0-9]{1,6}$`)
	// switches matches values that no application interprets as a place or a
	// program.
	switches = regexp.MustCompile(`^([0-9]{1,9}(ms|s|m)?|true|false|on|off|yes|no)$`)
)

// unfit matches parts of names of variables that must never be set: secrets,
// accounts, addresses, places, programs, and controls of the loader, the Go
// runtime or a shell.
var unfit = regexp.MustCompile(`KEY|SECRET|PASS|PWD|TOKEN|CRED|AUTH|SALT|CERT|TLS|SSL|USER|UID|GID|HOST|PORT|ADDR|IP|URL|URI|SOCK|DSN|NAME|PROXY|` +
	`PATH|DIR|FILE|HOME|ROOT|TMP|TEMP|CMD|COMMAND|EXEC|SHELL|PRELOAD|EDITOR|DEBUG|TRACE|` +
	`^(LD|GO|CGO|GCC|GLIBC|MALLOC|LC|LANG|TZ|IFS|ENV|BASH|PERL|PYTHON|RUBY|NODE|JAVA|SSH|GIT|IIKANJI)($|_|[A-Z])`)

// allowed checks whether a variable may get a value. now is its present value,
// and has whether it is set.
func allowed(name, value, now string, has bool) error {
	if form, known := variables[name]; known {
		if !form.MatchString(value) {
			return fmt.Errorf("%s = %q: want %s", name, value, form)
		}
		return nil
	}
	if !nameForm.MatchString(name) || unfit.MatchString(name) {
		return fmt.Errorf("variable %q is not one that may be set", name)
	}
	if sizes.MatchString(name) {
		if !count.MatchString(value) {
			return fmt.Errorf("%s = %q: want a number", name, value)
		}
		return nil
	}
	if !has {
		return fmt.Errorf("variable %q is not one that may be set: the application does not have it", name)
	}
	// A variable that holds a switch or a number may get another one.
	if !switches.MatchString(strings.ToLower(now)) || !switches.MatchString(strings.ToLower(value)) {
		return fmt.Errorf("variable %q is not one that may be set: only switches and numbers are, to switches and numbers", name)
	}
	return nil
}
