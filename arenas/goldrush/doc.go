// Package goldrush is the arena of the HighLoad Cup of 2021: the server is given, and the
// client is what is tuned. In ten minutes it explores a field, takes licences, digs and cashes
// treasures; its score is what it earned, compared with a bound.
package goldrush
