/** The processes of one server: lets the caller end all of them, including descendants. Implemented by the envs. */

export interface ProcessGroup {
  /** Variables in the environment of every process of the server; they identify its processes. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: called in the same turn of the event loop as the start of the process. */
  track(pid: number): void
  /** Contract: afterwards no process of the server runs, including those left by an earlier run of this program. */
  end(graceMs: number): Promise<void>
}
