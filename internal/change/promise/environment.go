package promise

import (
	"regexp"

	"github.com/iikanji/iikanji"
)

// Environment has the environment variables whose effect on an application is
// known. Any other variable may have any effect.
var Environment = Table{
	"GOMAXPROCS": harmless("it limits how many threads compute at once; every request is still answered"),
	"GOMEMLIMIT": harmless("the garbage collector works more near the limit; nothing is refused"),
	// Without collections and without a limit of memory the process ends when
	// memory ends.
	"GOGC":      on(iikanji.Availability, func(_, after string) bool { return after == "off" }),
	"GIN_MODE":  harmless("release turns off the framework's own debug output at the start"),
	"LOG_LEVEL": on(iikanji.Observability, changed),
}

// poolSize matches the variables by which applications commonly size pools.
var poolSize = regexp.MustCompile(`(^|_)(POOL|MAX_OPEN|MAX_IDLE|MAX_CONNS|WORKERS|CONCURRENCY|BATCH_SIZE)($|_)`)

// Variable lists the promises that an environment variable weakens. Zero is a
// pool without a limit for some applications and without a place for others.
func Variable(name, before, after string) []iikanji.Promise {
	if _, known := Environment[name]; !known && poolSize.MatchString(name) {
		if n, ok := number(after); ok && n > 0 {
			return nil
		}
		return []iikanji.Promise{iikanji.Availability}
	}
	return Environment.Of(name, before, after)
}

// Connection has the parameters of go-sql-driver/mysql.
var Connection = Table{
	"interpolateParams": harmless("the driver quotes the values itself; the plan refuses the character sets with which that is unsafe"),
	// A connection that the server has closed is used, and its statement fails.
	"checkConnLiveness": on(iikanji.Availability, func(_, after string) bool { return after != "true" }),
	// The driver refuses longer statements; 0 takes the server's limit.
	"maxAllowedPacket": on(iikanji.Availability, func(before, after string) bool {
		if before == "" {
			before = "67108864" // the driver's default
		}
		return after != "0" && (before == "0" || lowered(before, after))
	}),
}
