/**
 * The injection suite: how well the policy holds against a model that obeys everything it reads, and how many questions
 * it costs in ordinary tasks. Uses goals of public data sets in tool results, and our own suite of unattended agents.
 */

import { join } from 'node:path'
import { machineNow } from '../machine.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import { adaptivePairs } from './adaptive-pairs.ts'
import { barsOf } from './bars.ts'
import { suitesIn } from './data.ts'
import { DUTIES } from './duties.ts'
import { type Play, playOf } from './gullible-model.ts'
import { INTENTS, type IntentModel } from './intents.ts'
import { measureRealTools } from './real-tools/real-tools.ts'
import { alwaysOn } from './run-duties.ts'
import { openStage, type PlayOutcome, runPlay } from './run-play.ts'
import { type Score, scoreOf } from './score.ts'
import type { Suite } from './suite.ts'

/** The bars count instead of measuring time, so they also apply to a smoke run. There are no ratios. */
export interface InjectionResults extends SuiteResults {
  readonly suite: 'injection'
  readonly seconds: number
  readonly scores: readonly Score[]
}

export interface InjectionOptions extends SuiteOptions {
  /** Folder of the public data. */
  readonly data: string
}

/** Homes that run in parallel; they mostly wait for the disk. */
const LANES = 4
/** How much of a suite runs with each intent model. */
interface Amount {
  readonly tasks: number
  readonly pairs: number
  readonly duties: number
  readonly rounds: number
  readonly hands: number
  readonly intents: readonly IntentModel[]
}
const ALL = Number.POSITIVE_INFINITY
const MOST: Readonly<Record<Scale, Amount>> = {
  full: { tasks: ALL, pairs: ALL, duties: ALL, rounds: ALL, hands: ALL, intents: INTENTS },
  quick: { tasks: ALL, pairs: 40, duties: ALL, rounds: ALL, hands: ALL, intents: INTENTS },
  smoke: { tasks: 4, pairs: 4, duties: 4, rounds: 2, hands: 3, intents: ['exact', 'lies'] },
}

export async function measureInjection({ scale, folder, data, say }: InjectionOptions): Promise<InjectionResults> {
  const machine = machineNow()
  const began = performance.now()
  const scores: Score[] = []
  const suites = suitesIn(data)
  const most = MOST[scale]
  if (suites.length === 0) say(`no attack data in ${data} (set it with --data DIR); running only our own suites`)
  for (const intent of most.intents) {
    const where = join(folder, intent)
    for (const suite of suites) {
      const { name } = suite
      const tasks = sampled(suite.tasks, most.tasks)
      const pairs = [...sampled(suite.pairs, most.pairs), ...sampled(adaptivePairs(suite), most.pairs)]
      say(`${name}, intent ${intent}: ${tasks.length} tasks, ${pairs.length} attacks`)
      scores.push(await measureSuite({ ...suite, tasks, pairs }, { folder: join(where, name), intent }))
    }
    say(`always-on, intent ${intent}`)
    const duties = DUTIES.slice(0, most.duties)
    scores.push(await alwaysOn({ folder: join(where, 'always-on'), intent, duties, rounds: most.rounds }))
    say(`real hands, intent ${intent}`)
    scores.push(await measureRealTools({ folder: join(where, 'hands'), intent, most: most.hands, say }))
  }
  const seconds = (performance.now() - began) / 1000
  const at = new Date().toISOString()
  return { suite: 'injection', scale, at, machine, seconds, scores, bars: barsOf(scores), ratios: [] }
}

export interface Staging {
  readonly folder: string
  readonly intent: IntentModel
  /** The configuration of the homes. */
  readonly yaml?: string
}

export async function measureSuite(suite: Suite, { folder, intent, yaml = '' }: Staging): Promise<Score> {
  const plays = [
    ...suite.tasks.map((task) => playOf(task, undefined, intent)),
    ...suite.pairs.map((pair) => playOf(pair.task, pair, intent)),
  ]
  const lanes = Array.from({ length: Math.min(LANES, plays.length) }, (_, lane) => join(folder, String(lane)))
  const waiting = [...plays]
  const ends = new Map<Play, PlayOutcome>()
  await Promise.all(
    lanes.map(async (home) => {
      const stage = await openStage(suite, home, yaml)
      try {
        for (let play = waiting.shift(); play; play = waiting.shift()) ends.set(play, await runPlay(stage, play))
      } finally {
        await stage.app.close()
      }
    }),
  )
  const all = plays.flatMap((play) => ends.get(play) ?? [])
  if (all.length !== plays.length) throw new Error(`${suite.name}: ${all.length} of ${plays.length} plays finished`)
  return scoreOf({ ...suite, intent }, all.slice(0, suite.tasks.length), all.slice(suite.tasks.length))
}

/** At most `most` of them, evenly spread. */
function sampled<T>(all: readonly T[], most: number): readonly T[] {
  const stride = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(most, all.length) }, (_, i) => all[Math.floor(i * stride)] as T)
}
