/** A process that runs cycles in a home and prints the duration of each as one JSON line. */

import { cycle, openHome } from './home.ts'

export interface CycleOrder {
  readonly home: string
  readonly warmUp: number
  readonly cycles: number
}

export interface CycleSample {
  readonly ms: number
  /** CPU time of all threads of this process; without git, which runs in child processes. */
  readonly cpuMs: number
}

const { home, warmUp, cycles } = JSON.parse(process.argv[2] ?? '') as CycleOrder
const app = await openHome(home)
const samples: CycleSample[] = []
try {
  for (let i = 0; i < warmUp + cycles; i++) {
    const cpu = process.cpuUsage()
    const began = performance.now()
    await cycle(app)
    const ms = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    if (i >= warmUp) samples.push({ ms, cpuMs: (user + system) / 1000 })
  }
} finally {
  await app.close()
}
console.log(JSON.stringify(samples))
