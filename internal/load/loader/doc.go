// Package loader loads a site with a benchmarker that iikanji did not write: a
// command, or a person who types the score. It implements field.Loader.
//
//  1. Before each run the data are prepared, if the file asks for it (reset.go).
//  2. The command runs in a process group of its own (command.go, process.go). The
//     load phase begins and ends with marked lines of its output, or with the
//     first request in the access log that is not the site's initialize
//     (window.go).
//  3. The output is read for score, pass and faults by the patterns of the file,
//     or by those of a known load tool, or in a usual form (output.go, tools.go,
//     usual.go, jsonpath.go). Output without a score is a failed run.
//  4. The scores of earlier runs show whether scores move in steps or are capped
//     (scores.go).
package loader
