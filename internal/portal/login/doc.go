// Package login knows the ways into a portal beside the link that works once: a password with
// a code of an authenticator (RFC 6238), and the sign-in of another service (OpenID Connect).
//
//  1. [Service.Password] checks a password (argon2id) and, where the account has one, the code;
//     staff always needs it (password.go, totp.go). After three wrong ones each next try waits
//     twice as long.
//  2. [Service.Begin] sends a browser to a provider, [Service.Finish] takes it back: state,
//     nonce and PKCE, each used once, bound to the browser by a cookie (oidc.go).
//  3. [Service.Create] makes an account while a contest takes people in (account.go).
//
// Sessions are rows of SQL, of which only digests are kept.
package login
