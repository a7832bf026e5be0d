// Package nginx reads and edits nginx's configuration language, and tells which
// server and which location answer a request. It does no input or output: text
// in, tree out. Editing covers the grammar, not the directives; the exceptions are
// "include", blocks that hold entries instead of directives (as of "map"), and the
// Lua blocks of OpenResty.
//
// A tree is lossless: printing what was parsed gives the same bytes, and an
// edit changes only the words that it replaces, so comments, order and spacing
// stay.
//
//   - parse.go splits a text into words by the rules of nginx's
//     ngx_conf_read_token, and builds the tree (tree.go). A test gives the same
//     texts to a real nginx and compares.
//   - lua.go finds the end of a *_by_lua_block.
//   - config.go loads a main file and the files that it includes (glob.go).
//   - dump.go splits the output of nginx -T.
//   - edit.go inserts, replaces and copies directives.
//   - json.go is the tree in a history.
//
// Who answers a request:
//
//   - scope.go has the directives in effect in a block: inherited, or not.
//     defaults.go has nginx's defaults.
//   - server.go selects the server by address and Host, location.go the location by
//     a path in its normal form (uri.go).
//   - request.go follows a request from the server to what answers it. rewrite.go
//     does set, if, return, rewrite and break with the values of variables.go.
//   - Tests make configurations and requests, ask a real nginx, and compare. What the
//     configuration alone does not decide is an Undecided, or is in Answer.Assumed.
//
// The rules that are easily got wrong:
//
//   - a quote opens a quoted word only at the beginning of a word; after its
//     end only white space, ";", "{" or ")" may follow, and ")" begins a new
//     word;
//   - "#" begins a comment only at the beginning of a word;
//   - "}" closes a block only at the beginning of a directive; inside a word it
//     is a letter;
//   - "{" ends a word, except directly after "$", as in ${name};
//   - a backslash takes the next character into the word. \" \' \\ \t \r \n are
//     escapes, inside and outside of quotes; before any other character the
//     backslash stays;
//   - a byte order mark is a part of the first word.
package nginx
