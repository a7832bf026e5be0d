// Package window prepares what was observed of a site for another place: it
// removes secrets and literals, lists the content of the folder, and compares two
// such windows per request.
package window
