// Package errorlog counts what error logs and the outputs of services say:
// text in, [iikanji.Profile] out, a row for each kind of message with how often
// it came, its level, where it first stood and which requests it names. It
// opens no file and judges nothing; a message's meaning is a word of [Kinds].
//
// The steps of [Read]:
//
//  1. workers take blocks of lines (package lines);
//  2. each line is split into a level and a message, by its form: that of
//     nginx, of MariaDB, JSON, or any text with a level's word in it (form.go);
//  3. numbers, identifiers and quoted values of the message are folded
//     (fold.go), so that a thousand messages about a thousand files are one row;
//  4. what is known by its words gets a kind (kind.go);
//  5. the workers' tables are merged into rows, the most frequent first.
//
// Lines come from strangers: memory is bounded by the number of different
// messages kept, texts by their length, and nothing that is shown can hold a
// terminal's control characters.
package errorlog
