package scenario

import "regexp"

// resets matches the path of a request that makes a site's data anew.
var resets = regexp.MustCompile(`(?i)/[\w/.-]*(?:initiali[sz]e|setup|reset|seed)\b`)

// Resets reports whether a line of an access log, or the path of a URL, is that of a
// request by which benchmarkers make the data anew.
func Resets(line []byte) bool { return resets.Match(line) }
