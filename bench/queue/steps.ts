/** The loop of the engine suite at many sessions, on PostgreSQL, beside engines for durable execution. */

import { type Figure, figureOf, runSubject } from '../measure.ts'
import type { Load, Order, Sample, SubjectServer } from '../meter.ts'

export const STEPPERS = {
  tireless: { title: 'Tireless, the whole engine', file: 'subjects/tireless.ts', server: 'postgres', isPeer: false },
  dbos: { title: 'DBOS', file: 'peers/dbos.mjs', server: 'postgres', isPeer: true },
  restate: { title: 'Restate, one node', file: 'peers/restate.mjs', server: 'restate', isPeer: true },
} as const

export type StepperName = keyof typeof STEPPERS

export interface StepRow extends Load {
  readonly subject: StepperName
  readonly perSecond: Figure
  readonly clientCpuMs: Figure
  readonly serverCpuMs: Figure
}

interface StepsOptions {
  readonly load: Load
  readonly rounds: number
  readonly warmUpMs: number
  readonly folder: string
  readonly servers: Readonly<Record<'postgres' | 'restate', SubjectServer | undefined>>
  readonly withoutPeers: boolean
  readonly say: (line: string) => void
}

/** Subjects take turns in rounds, so that a machine that gets slower affects all of them. */
export async function measureSteps(options: StepsOptions): Promise<readonly StepRow[]> {
  const { load, rounds, warmUpMs, folder, servers, withoutPeers, say } = options
  const samples = new Map<StepperName, Sample[]>()
  for (let round = 1; round <= rounds; round++)
    for (const [name, { title, file, server: kind, isPeer }] of Object.entries(STEPPERS)) {
      const server = servers[kind]
      if (!server || (isPeer && withoutPeers)) continue
      say(`round ${round} of ${rounds}: steps, ${title}, ${load.sessions} × ${load.steps}`)
      const order: Order = { ...load, server, folder, warmUpMs, repeat: 1 }
      const taken = await runSubject(file, order)
      samples.set(name as StepperName, [...(samples.get(name as StepperName) ?? []), ...taken])
    }
  const all = load.sessions * load.steps
  return [...samples].map(([subject, taken]) => ({
    ...{ subject, ...load },
    perSecond: figureOf(taken.map(({ seconds }) => all / seconds)),
    clientCpuMs: figureOf(taken.map(({ cpuMs }) => cpuMs / all)),
    serverCpuMs: figureOf(taken.map(({ serverCpuMs }) => serverCpuMs / all)),
  }))
}
