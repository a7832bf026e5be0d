// Package accesslog counts access logs of web servers by route: log in,
// [iikanji.Profile] out. It needs no configuration, no pattern and no regular
// expression. A log that it cannot read is an error, never an empty table.
// It opens no file and prints nothing.
//
// The steps of [Read]:
//
//  1. examine the beginning of each log and detect its format (detect.go): JSON
//     lines, LTSV, W3C, Envoy, or words of the common log format's family
//     (infertext.go); or use the format string that was given (layout*.go);
//  2. workers parse blocks of lines (count.go; layoutparse.go, ltsv.go,
//     json.go): a line becomes a [record], a record is added to a row;
//  3. a [router] finds the row of a request by the shapes of the path's
//     segments (shape.go), without keeping a string;
//  4. after the first megabytes, and again at the end, learn which words of the
//     paths are values (tree.go), join their rows, and pass the result to the
//     routers;
//  5. check that at least 99 of 100 lines were parsed, and make the rows.
//
// The hot path is steps 2 and 3. It allocates nothing per line, and its result
// depends on neither blocks nor workers.
package accesslog
