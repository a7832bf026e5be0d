// Package final drives the final judging of a round: hands off, check, reboot, check again, runs
// in blocks, persistence, verdicts.
//
//  1. A [Driver] goes through the steps of the teams (driver.go, steps.go) and the blocks of runs
//     (runs.go). All that it finds out is kept in the portal at once, as steps with evidence: a
//     driver that was killed goes on where it was.
//  2. A machine is rebooted by a command of the organiser or through SSH with the host key that
//     the machine pinned when it joined (reboot.go). That it has rebooted is seen by its boot id.
//  3. What the runs wrote is compared over one more reboot by a command (persist.go).
//
// The driver is a client of the portal: keys of machines are where it runs, not in the portal.
package final
