// Package facts reads the state of services: schema, sizes and variables of an SQL
// server, plans of its heavy statements, limits of processes, systemd units, the
// configuration of nginx. It reads files and processes through a host.Host. It
// evaluates nothing; package diagnose does.
//
//  1. [Connect] opens one connection and makes it read-only, with a limit on
//     the time of each statement.
//  2. [Server.Dialect], [Server.Tables] and [Server.Variables] read the structure.
//  3. [Server.Distinct] and [Server.Selectivity] count, in the rows or in a
//     sample of them, the values that diagnose needs.
//  4. [Server.Explain] and [Server.Analyze] read plans. A write is never run; its
//     plan is that of the SELECT that finds the same rows. A statement that does
//     more than read rows is not even planned (see [Reading]).
//  5. [Server.All] returns the definitions and sizes of tables as Facts.
//  6. [Server.LockWaits], called once a second during a load, reads which
//     statements wait for each other. [Server.InnoDB], called before and after
//     the load, reads the backlog of the engine's redo log, dirty pages and purge.
//  7. [UnitFacts] are the systemd units of services as a boot would load them;
//     [ReadyFacts] are the start times of databases.
//  8. [NginxFacts] are nginx's whole configuration, as a tree and as files, and
//     [NginxVersionFact] is its version. [AnswerFacts] request one URL of each
//     route and compare the answer with the files in [FileFolders].
package facts
