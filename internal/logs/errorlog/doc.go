// Package errorlog counts the messages of error logs and of the output of
// services. It turns text into an [iikanji.Profile] with one row per message: its
// count, its level, its first place and the requests that it names. It opens no
// file and rates nothing. A message with a known meaning has a kind, one of the
// constants in kind.go.
//
// The steps of [Read]:
//
//  1. workers take blocks of lines (package lines);
//  2. each line is split into a level and a message, by its form: nginx,
//     MariaDB, JSON, or any text that contains a level (form.go);
//  3. numbers, identifiers and quoted values of the message are folded
//     (fold.go), so a thousand messages about a thousand files are one row;
//  4. messages with known words get a kind (kind.go);
//  5. the workers' tables are merged into rows, the most frequent first.
//
// Lines are hostile input: the number of distinct messages and the length of
// texts are bounded, and no text contains control characters of a terminal.
package errorlog
