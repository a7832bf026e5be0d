// Package turn keeps whose turn it is to measure and to change a site, in a folder of
// the site's history, for people who share one machine.
//
//	turn/turn.json   the lease of a person, and who waits for it
//	turn/work.json   the command that works now; it holds a lock on the file
//	turn/log.jsonl   who took and gave the turn, when and why; append-only
//
// There are two things to have. A lease is a person's: it ends when it is given back or
// when its time is over, and a reboot does not end it. Work is a command's: the kernel
// ends it with the process, also after kill -9, since it is a lock on a file. A command
// works if no lease is another person's and nothing else works. Every decision is made
// under a lock on the folder, so that two never see the turn free at once.
package turn
