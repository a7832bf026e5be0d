// Package ui serves a history as web pages: what was measured, found and changed,
// and what a search does now.
//
//  1. [New] makes a [Server] for one history; [Server.Handler] is its route table.
//  2. A page reads the history through a store, which reads it again when its
//     journal changed, so that another process may write it. Progress comes from the
//     file of package progress.
//  3. Each page works without script. The script only sends live updates into the
//     page and filters a table while a filter is typed.
//  4. Actions run this program as a child process, for a session that gave the
//     token.
//
// Requests pass the guard first: the Host header must be a known one, a request
// that changes something must come from a page of this server with the session's
// form token, and answers carry a content security policy without inline code.
// Texts of the history are hostile: html/template escapes them, and package redact
// removes what may be a secret.
package ui
