package accesslog

import (
	"fmt"
	"strings"
)

// apacheFields are the directives without argument of Apache's LogFormat, H2O
// and varnishncsa, by letter.
var apacheFields = map[byte]piece{
	'r': {field: request},
	'm': {field: verb},
	'U': {field: path},
	'q': {field: query},
	's': {field: status},
	'b': {field: size},
	'B': {field: size},
	'O': {field: size},
	'I': {field: reqSize},
	'D': {field: took, unit: 1e3},
	'T': {field: took, unit: 1e9},
	'v': {field: host},
	'V': {field: host},
	'u': {field: user},
	'h': {field: address}, 'l': {}, 'a': {field: address}, 'A': {}, 'p': {}, 'P': {}, 'H': {}, 'k': {}, 'f': {}, 'X': {}, 'L': {}, 'R': {}, 'S': {},
}

// apacheArgs are directives with an argument, as "argument letter".
var apacheArgs = map[string]piece{
	"host i":                   {field: host},
	"user-agent i":             {field: agent},
	"referer i":                {field: referer},
	"us T":                     {field: took, unit: 1e3},
	"ms T":                     {field: took, unit: 1e6},
	"s T":                      {field: took, unit: 1e9},
	"sec t":                    {field: stamp},
	"msec t":                   {field: stamp},
	"usec t":                   {field: stamp},
	"duration x":               {field: took, unit: 1e9}, // H2O
	"request-total-time x":     {field: took, unit: 1e9},
	"proxy.response-time x":    {field: upstream, unit: 1e9},
	"proxy.process-time x":     {field: upstream, unit: 1e9},
	"varnish:time_firstbyte x": {field: upstream, unit: 1e9},
}

// stampWidth is the width of a date and a time of day with a blank between them.
const stampWidth = len("2006-01-02 15:04:05")

// timeForms are the strftime formats whose output parseStamp reads.
var timeForms = map[string]bool{"%d/%b/%Y:%H:%M:%S %z": true, "%Y-%m-%dT%H:%M:%S%z": true, "%F %T": true,
	"%FT%T%z": true, "%Y-%m-%d %H:%M:%S": true, "%Y-%m-%dT%H:%M:%S": true, "%s": true}

// apacheLayout reads a LogFormat string. Its \" may still be escaped.
func apacheLayout(format, title string) (*layout, error) {
	var b builder
	s := strings.NewReplacer(`\"`, `"`, `\t`, "\t", `\n`, "").Replace(format)
	for s != "" {
		at := strings.IndexByte(s, '%')
		if at < 0 {
			b.literal(s)
			break
		}
		b.literal(s[:at])
		rest, err := b.directive(s[at:])
		if err != nil {
			return nil, err
		}
		s = rest
	}
	return b.done(title)
}

// directive adds one "%…" of an Apache format and returns what follows it.
func (b *builder) directive(s string) (string, error) {
	i := 1
	for i < len(s) && (s[i] == '<' || s[i] == '>' || s[i] == '!' || s[i] == ',' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	arg := ""
	if i < len(s) && s[i] == '{' {
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has no closing brace", s)
		}
		arg, i = s[i+1:i+end], i+end+1
	}
	if i < len(s) && s[i] == '^' { // %{name}^ti, a trailer
		i += 2
	}
	if i >= len(s) {
		return "", fmt.Errorf("%q ends in the middle of a directive", s)
	}
	letter, name, rest := s[i], s[:i+1], s[i+1:]
	if letter == '%' && i == 1 {
		b.literal("%")
		return rest, nil
	}
	if letter == 't' && arg == "" {
		b.literal("[")
		err := b.field(piece{field: stamp}, name)
		b.literal("]")
		return rest, err
	}
	p, known := apacheFields[letter]
	if arg != "" {
		p = apacheArgs[strings.ToLower(arg)+" "+string(letter)]
		if letter == 't' && timeForms[arg] {
			p = piece{field: stamp}
			if strings.Contains(arg, " ") && !strings.Contains(arg, "%z") {
				p.width = stampWidth
			}
		}
		if letter == 'T' && p.field == skipped {
			return "", fmt.Errorf("%s is not a unit of time", name)
		}
	} else if !known {
		return "", fmt.Errorf("%s is not a directive", name)
	}
	return rest, b.field(p, name)
}

// envoyFields are the command operators of Envoy's access log that are counted.
var envoyFields = map[string]piece{
	"START_TIME":                          {field: stamp},
	"REQ(:METHOD)":                        {field: verb},
	"REQ(X-ENVOY-ORIGINAL-PATH?:PATH)":    {field: uri},
	"REQ(:PATH)":                          {field: uri},
	"PATH":                                {field: uri},
	"RESPONSE_CODE":                       {field: status},
	"BYTES_RECEIVED":                      {field: reqSize},
	"BYTES_SENT":                          {field: size},
	"DURATION":                            {field: took, unit: 1e6},
	"RESPONSE_DURATION":                   {field: upstream, unit: 1e6},
	"RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)": {field: upstream, unit: 1e6},
	"REQ(:AUTHORITY)":                     {field: host},
	"REQ(USER-AGENT)":                     {field: agent},
	"REQ(REFERER)":                        {field: referer},
}

// envoyDefault is Envoy's built-in format.
const envoyDefault = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ` +
	`%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ` +
	`%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ` +
	`"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"`

// istioDefault is the format of Istio's sidecars: Envoy's with details of the
// response and the connection.
const istioDefault = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ` +
	`%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% ` +
	`"%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ` +
	`%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ` +
	`"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER% ` +
	`%UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% ` +
	`%REQUESTED_SERVER_NAME% %ROUTE_NAME%`

// envoyLayout reads a format string of Envoy.
func envoyLayout(format, title string) (*layout, error) {
	var b builder
	s := strings.TrimSuffix(strings.ReplaceAll(format, `\n`, ""), "\n")
	for s != "" {
		text, rest, ok := strings.Cut(s, "%")
		b.literal(text)
		if !ok {
			break
		}
		op, rest, ok := strings.Cut(rest, "%")
		if !ok {
			return nil, fmt.Errorf("%%%s has no closing percent sign", op)
		}
		key := op
		if strings.HasPrefix(op, "START_TIME") {
			key = "START_TIME"
		}
		if n := strings.LastIndexByte(op, ')'); n > 0 && n < len(op)-1 {
			key = op[:n+1] // without ":MAXLENGTH"
		}
		if err := b.field(envoyFields[key], "%"+op+"%"); err != nil {
			return nil, err
		}
		s = rest
	}
	return b.done(title)
}

// A dialect parses format strings of one server.
type dialect func(format, title string) (*layout, error)

// dialectOf recognises the language of a format string by operators that only
// this language has.
func dialectOf(format string) (dialect, string) {
	switch {
	case strings.Contains(format, "$"):
		return nginxLayout, "nginx"
	case strings.Contains(format, "%START_TIME") || strings.Contains(format, "%REQ(") || strings.Contains(format, "%RESPONSE_CODE%"):
		return envoyLayout, "envoy"
	case strings.Contains(format, "%"):
		return apacheLayout, "apache"
	}
	return nil, ""
}
