// Package facts reads the state of services: schema, sizes and variables of an SQL
// server, plans of its heavy statements, limits of processes, systemd units, the
// configuration of nginx. It reads files and processes through a host.Host. It
// judges nothing; diagnose does.
//
//  1. [Connect] takes one connection and makes it read-only, with a limit on
//     the time of each statement.
//  2. [Server.Dialect], [Server.Tables] and [Server.Variables] read the structure.
//  3. [Server.Distinct] and [Server.Selectivity] count in the rows, or in a
//     sample of them, what diagnose asked for.
//  4. [Server.Explain] and [Server.Analyze] read plans; a write is planned
//     through the SELECT that finds the same rows and is never run, and what
//     does more than read rows ([Reading]) is not even planned.
//  5. [Server.All] packs the form and sizes as Facts.
//  6. [Server.LockWaits], asked once a second during a load, and
//     [Server.InnoDB], before and after it, tell which statements wait for each
//     other, and how far the engine is behind with its log, its pages and its purge.
//  7. [UnitFacts] read the systemd units of services as a boot would, and
//     [ReadyFacts] how long databases took to start.
//  8. [NginxFacts] pack nginx's whole configuration, as a tree and as files, and
//     [NginxVersionFact] its version; [AnswerFacts] ask it for one URL of each
//     route and look whether the answer is a file in one of [FileFolders].
package facts
