/** What the workers of a drill do, each a process that is killed at any moment and prints what was acknowledged. */

export interface Workload {
  /** The file of a worker, started with the database's URL and a name that no other worker has. */
  readonly worker: string
  /** Contract: the database has the tables of the workers. */
  prepare(url: string): Promise<void>
  /** Contract: compares the database with the lines that workers printed. */
  check(url: string, acknowledged: readonly string[]): Promise<Damage>
}

export interface Damage {
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  /** Parts of one commit without the others. */
  readonly incomplete: readonly string[]
}
