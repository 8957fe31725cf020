/** How to start and end a long-lived process of the owner, with or without a sandbox. Implemented by the envs. */

export interface ProcessStart {
  readonly argv: readonly string[]
  readonly cwd: string | undefined
  /** The complete environment, except `ProcessGroup.env`, which is added at the start. */
  readonly env: Readonly<Record<string, string>>
  /** Text that the process can read from descriptor 3. Secrets are passed there, so no process list shows them. */
  readonly script?: string
  /** Open file descriptors that the process gets, from 4 on. */
  readonly handles?: readonly number[]
  /** Contract: called right after the process has started. `end` ends the process and records the reason. */
  started?(pid: number, end: (reason: string) => void): void
  /** Contract: called after the process has ended or failed to start. */
  close?(): Promise<void>
}

/** The processes of one start, which can be ended together, with all their descendants. */
export interface ProcessGroup {
  /** Environment variables by which the processes are recognised; the first one must be started with them. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: called with the first pid, in the event loop turn in which that process was started. */
  track(pid: number): void
  /** Contract: ends all processes of the group, including those that an earlier process of the runtime left. */
  end(graceMs: number): Promise<void>
}
