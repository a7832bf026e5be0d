// Package notice tells a team what happened, at addresses that the file of the site only
// refers to: Discord, Slack, or any server that takes JSON.
//
// A notice never fails what it tells of: it has five seconds and one retry, and a failure
// is one line without the address, which is a secret. It has no secrets and no mentions.
package notice
