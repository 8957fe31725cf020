/** Leash: how the processes of a server are held, so that none of them outlives it. Whoever knows processes makes one. */

export interface Leash {
  /** What every process of the server has in its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Contract: called before the loop turns after the process was started. */
  hold(pid: number): void
  /** Contract: when it resolves, no process of the server is left, not even one that an earlier life of this program has left behind. */
  end(graceMs: number): Promise<void>
}
