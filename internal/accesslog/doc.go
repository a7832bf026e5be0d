// Package accesslog counts access logs of web servers by route: log in,
// [iikanji.Profile] out. It asks for no configuration, no pattern and no
// regular expression, and never shows a table of what it did not understand.
// It opens no file and prints nothing.
//
// The steps of [Read]:
//
//  1. look at the beginning of each log and find its format (detect.go): JSON
//     lines, LTSV, W3C, Envoy, or words of the common log format's family
//     (infer.go); or take the format string that was given (layout*.go);
//  2. let workers parse blocks of lines (count.go; layoutparse.go, ltsv.go,
//     json.go): a line becomes a [record], a record is added to a row;
//  3. a row belongs to a route: a [router] finds it by the shapes of the path's
//     segments (shape.go), without keeping a string;
//  4. after the first megabytes, and again at the end, learn which words of the
//     paths are values (tree.go), fold their rows, and tell the routers;
//  5. prove that at least 99 in 100 lines were understood, and make the rows.
//
// The hot path is steps 2 and 3. It allocates nothing per line, and what it
// counts depends on neither blocks nor workers.
package accesslog
