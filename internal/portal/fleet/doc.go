// Package fleet makes one profile of the logs of many hosts.
//
//  1. An [Agent] on each host follows named logs. At the end of each minute it reads what was
//     added, as whole records, makes the profile that `access --save` or `slow --save` would make,
//     redacts it, writes it into its spool, and sends it until the portal has it.
//  2. The [Service] in the portal keeps each part once: a part is named by host, minute, file and
//     first byte, and its bytes never change.
//  3. A question merges the parts of some minutes: counts and sums are exact, percentiles within
//     1 %. It says which minutes of which host are missing, and whose clock is off.
package fleet
