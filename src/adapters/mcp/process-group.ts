/** The processes of one server, which can be ended together, with all their descendants. Implemented by the envs. */

export interface ProcessGroup {
  /** Environment variables by which the server's processes are recognised; the server must be started with them. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: called with the server's pid, in the event loop turn in which the server was started. */
  track(pid: number): void
  /** Contract: ends all processes of the server, including processes that an earlier process of the runtime left. */
  end(graceMs: number): Promise<void>
}
