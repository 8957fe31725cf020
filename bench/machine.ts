/** The machine that was measured on. */

import { availableParallelism, loadavg } from 'node:os'

export interface Machine {
  readonly node: string
  readonly system: string
  readonly cores: number
  /** Of the minute before it began; over half a core, something else was running. */
  readonly load: number
}

export function machineNow(): Machine {
  const [load = 0] = loadavg()
  return {
    node: process.version,
    system: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    load,
  }
}
