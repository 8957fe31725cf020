/** Describes the machine of the measurement. */

import { availableParallelism, loadavg } from 'node:os'

export interface Machine {
  readonly node: string
  readonly system: string
  readonly cores: number
  /** Load average of the minute before; above 0.5, other programs were running. */
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
