package target

import (
	"cmp"

	"github.com/iikanji/iikanji"
)

// webNames are the names of web servers whose configuration is not read, and timedLogs what a
// person writes into it so that the access log has the time of each request.
var (
	webNames = map[iikanji.Engine]string{"apache": "Apache", "caddy": "Caddy", "h2o": "H2O", "haproxy": "HAProxy", "lighttpd": "lighttpd", "litespeed": "LiteSpeed", "traefik": "Traefik"}

	timedLogs = map[iikanji.Engine]string{
		"apache":   `LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\" D=%D" timed, and CustomLog FILE timed`,
		"caddy":    `log { output file FILE }`,
		"h2o":      `access-log: { path: FILE, format: "%h %l %u %t \"%r\" %s %b \"%{Referer}i\" \"%{User-Agent}i\" %{duration}x" }`,
		"haproxy":  `option httplog`,
		"lighttpd": `server.modules += ("mod_accesslog"), accesslog.filename = "FILE", accesslog.format = "%h %V %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" D=%D"`,
		"traefik":  `accessLog: { filePath: FILE, format: json }`,
	}
)

// TimedLog is what a person writes into the configuration of a web server that iikanji does not
// configure, so that its access log has times.
func TimedLog(e iikanji.Engine) string {
	return cmp.Or(timedLogs[e], "a format with the time of each request")
}

// otherWeb says what is not done for a web server whose configuration is not read.
func otherWeb(s *Service) Limit {
	name := cmp.Or(webNames[s.Engine], string(s.Engine))
	l := Limit{s.Name, s.Engine, name + atAddress(cmp.Or(s.Listen, s.Socket)), "the configuration of " + name + " is neither diagnosed nor changed",
		"no access log of it is known: have it write one with times, " + TimedLog(s.Engine) + ", and name the file as logs.access, or no request is seen"}
	if s.Logs.Access != "" {
		l.Seen += ", which writes " + s.Logs.Access + ","
		l.Instead = "its requests are read there: if iikanji doctor says that they have no times, write " + TimedLog(s.Engine)
	}
	return l
}
