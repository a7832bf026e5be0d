package boot

import (
	"regexp"
	"slices"
	"strconv"
)

// What names a port: an address that ends in one, or an option for it in a command line; a
// variable with PORT, ADDR, LISTEN or BIND in its name in an environment.
var (
	portWord   = regexp.MustCompile(`(?:^|[\s=])(?:--?(?:p|port|listen|bind|addr|address|l|b)[= ]\s*)?(?:tcp://)?(?:[0-9a-zA-Z.*\[\]:_-]*:)([0-9]{2,5})(?:\s|$|")`)
	portOption = regexp.MustCompile(`(?:^|\s)--?(?:p|port|listen-port)[= ]\s*([0-9]{2,5})(?:\s|$)`)
	// The words of systemctl are separated by blanks, the lines of a file by line feeds.
	portVariable = regexp.MustCompile(`(?m)(?:^|\s)(?:export\s+)?"?([A-Za-z0-9_]*(?:PORT|ADDR|LISTEN|BIND)[A-Za-z0-9_]*)=["']?(?:[^\s"']*:)?([0-9]{2,5})["']?(?:\s|$)`)
	// clientVariable is the name of a port that a program connects to.
	clientVariable = regexp.MustCompile(`(?i)(?:DB|MYSQL|MARIADB|POSTGRES|PG|REDIS|MEMCACHED?|SQL|CACHE|SMTP|JAEGER|TRACE|PAYMENT|SHIPMENT|API)_?`)
)

// portsIn are the ports that a command line and texts of an environment name.
func portsIn(exec string, environments ...string) (ports []int) {
	add := func(text string) {
		if port, err := strconv.Atoi(text); err == nil && port > 0 && port < 65536 && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	for _, re := range []*regexp.Regexp{portWord, portOption} {
		for _, m := range re.FindAllStringSubmatch(exec, -1) {
			add(m[1])
		}
	}
	for _, text := range environments {
		for _, m := range portVariable.FindAllStringSubmatch(text, -1) {
			if !clientVariable.MatchString(m[1]) {
				add(m[2])
			}
		}
	}
	return ports
}
