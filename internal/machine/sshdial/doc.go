// Package sshdial reaches a shell of a machine through SSH, as the user's own ssh would.
//
//  1. `ssh -G NAME` says what the user's configuration means for a name (Include, Match,
//     tokens, jumps); golang.org/x/crypto/ssh connects. Of the configuration count host
//     name, user, port, address family, keys, agent, certificates, jumps, a proxy command,
//     files of known hosts, the alias of the host key and the time limit.
//  2. Keys of the agent come first, then key files. A passphrase is asked once, and only
//     for a key that the machine accepts. Passwords are never sent, and no agent is
//     forwarded.
//  3. A host key that is not known is refused with its fingerprint, unless new ones are
//     accepted into the site's own file. One that has changed is always refused.
package sshdial
